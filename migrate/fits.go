package migrate

import (
	"fmt"
	"slices"
	"strings"

	"ckpt/pytree"
	"ckpt/report"
)

// fit gives destination j the value of a claim if it fits there: the same kind
// of leaf, the same shape and the same dtype.
func (p *Plan) fit(j int32, c claim, how how) {
	code, detail := mismatch(p.old.leaves[c.src].node, p.new.leaves[j].node)
	if code != "" {
		f := report.Finding{Code: code, A: p.a(c.src), B: p.b(j), Detail: detail}
		if c.rule >= 0 {
			f.Rules = []report.RuleRef{p.rules[c.rule].ref()}
		}
		p.find(f)
		if f.Code != "scalar-type" {
			p.stop(j, c.src)
			return
		}
	}
	p.fill(j, c, how)
}

// mismatch says why the value from does not fit where to is, or "" if it does.
// A scalar of another type fits; the code is then that of the warning.
func mismatch(from, to pytree.Node) (code, detail string) {
	switch from := from.(type) {
	case *pytree.Tensor:
		if to, ok := to.(*pytree.Tensor); ok {
			return mismatchTensor(from, to)
		}
	case *pytree.Scalar:
		if to, ok := to.(*pytree.Scalar); ok {
			if from.Type() != to.Type() {
				return "scalar-type", from.Type() + " instead of " + to.Type()
			}
			return "", ""
		}
	case *pytree.Opaque:
		if to, ok := to.(*pytree.Opaque); ok {
			if from.Type != to.Type {
				return "scalar-type", from.Type + " instead of " + to.Type
			}
			return "", ""
		}
	case *pytree.Ref:
		if _, ok := to.(*pytree.Ref); ok {
			return "", ""
		}
	}
	return "kind-mismatch", kind(from) + " instead of " + kind(to)
}

func kind(n pytree.Node) string {
	switch n.(type) {
	case *pytree.Tensor:
		return "tensor"
	case *pytree.Scalar:
		return "scalar"
	case *pytree.Opaque:
		return "opaque value"
	case *pytree.Ref:
		return "loop"
	}
	return "container"
}

func mismatchTensor(from, to *pytree.Tensor) (code, detail string) {
	if !slices.Equal(from.Shape, to.Shape) {
		detail = shapeChange(from.Shape, to.Shape)
		if from.DType != to.DType {
			detail += ", " + dtypeChange(from, to)
		}
		return "shape-mismatch", detail
	}
	if from.DType != to.DType || from.Size() != to.Size() {
		return "dtype-mismatch", dtypeChange(from, to)
	}
	return "", ""
}

func dtypeChange(from, to *pytree.Tensor) string {
	return string(from.DType) + " instead of " + string(to.DType)
}

// shapeChange says what became of each axis: "axis 0 +2".
func shapeChange(from, to []int64) string {
	if len(from) != len(to) {
		return fmt.Sprintf("%s instead of %d", report.Plural(len(from), "axis", "axes"), len(to))
	}
	var parts []string
	for i := range from {
		if from[i] != to[i] {
			parts = append(parts, fmt.Sprintf("axis %d %+d", i, to[i]-from[i]))
		}
	}
	return strings.Join(parts, ", ")
}
