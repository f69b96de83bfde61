package report

import (
	"cmp"
	"slices"
	"strconv"
	"strings"

	"ckpt/pytree"
)

// Severity tells whether a finding blocks.
type Severity string

const (
	// Error findings block: nothing is written, and the exit status is 1.
	Error Severity = "error"
	// Warning findings are shown and counted, and block nothing.
	Warning Severity = "warning"
)

// Position is a place in a text file, counted from 1; the column counts characters.
type Position struct {
	File   string `json:"file"`
	Line   int    `json:"line,omitempty"`
	Column int    `json:"column,omitempty"`
}

// String is FILE:LINE:COLUMN, without what is not known.
func (p Position) String() string {
	s := p.File
	if p.Line > 0 {
		s += ":" + strconv.Itoa(p.Line)
		if p.Column > 0 {
			s += ":" + strconv.Itoa(p.Column)
		}
	}
	return s
}

// Compare orders positions of one file from top to bottom.
func (p Position) Compare(q Position) int {
	return cmp.Or(strings.Compare(p.File, q.File), cmp.Compare(p.Line, q.Line), cmp.Compare(p.Column, q.Column))
}

// Place is a leaf of one side. The zero Place is none.
type Place struct {
	Path pytree.Path
	// Node is what sits there; nil where the side has nothing at the path.
	Node pytree.Node
	// Exact asks for the exact form in text, because the dotted one would not
	// tell the leaf from another.
	Exact bool
}

// None reports whether p is no place at all.
func (p Place) None() bool { return p.Path == "" }

// Name is how text reports call the place: its dotted path, or the exact one
// where the dotted one is ambiguous or could be taken for an exact one.
func (p Place) Name() string {
	dotted := p.Path.Dotted()
	if p.Exact || dotted == "" || strings.HasPrefix(dotted, "[") {
		return string(p.Path)
	}
	return dotted
}

// RuleRef is a rule that a finding is about.
type RuleRef struct {
	Position
	// Text is the rule, or the field of it that is to blame.
	Text string
}

// Finding is one thing that is wrong or worth a word.
type Finding struct {
	// Code is one of [Codes]; it never changes its meaning.
	Code     string
	Severity Severity
	// A and B are the places concerned on the old and on the new side.
	A, B Place
	// More are further places concerned: other sources of one destination, the
	// leaves that a dotted path could mean.
	More []Place
	// Rules are those to blame, if any.
	Rules []RuleRef
	// Detail says what is wrong in a few words, without a final period.
	Detail string
	// DidYouMean are names that may have been meant instead.
	DidYouMean []string
	// Fix is the rules that would remove the finding.
	Fix []string
}

// Findings is every finding of a run.
type Findings []Finding

// Count is how many findings have the severity.
func (fs Findings) Count(s Severity) int {
	n := 0
	for i := range fs {
		if fs[i].Severity == s {
			n++
		}
	}
	return n
}

// name is what the finding is about, for ordering and for the TENSOR column.
func (f *Finding) name() string {
	switch {
	case !f.B.None():
		return f.B.Name()
	case !f.A.None():
		return f.A.Name()
	}
	return ""
}

// Sort puts findings into the order of reports: by code (those about rules
// last, as the registry lists them), then by name in natural order, then by where
// their rules stand in the file, from top to bottom. The order does not depend on
// how the findings came about.
func (fs Findings) Sort() {
	type keyed struct {
		f    *Finding
		rank int
		name string
	}
	keys := make([]keyed, len(fs))
	for i := range fs {
		slices.SortStableFunc(fs[i].Rules, func(a, b RuleRef) int { return compareRules([]RuleRef{a}, []RuleRef{b}) })
		keys[i] = keyed{&fs[i], rank(fs[i].Code), fs[i].name()}
	}
	slices.SortStableFunc(keys, func(a, b keyed) int {
		return cmp.Or(cmp.Compare(a.rank, b.rank), pytree.NaturalCompare(a.name, b.name),
			strings.Compare(string(a.f.A.Path), string(b.f.A.Path)), strings.Compare(string(a.f.B.Path), string(b.f.B.Path)),
			compareRules(a.f.Rules, b.f.Rules), strings.Compare(a.f.Detail, b.f.Detail))
	})
	sorted := make(Findings, len(fs))
	for i := range keys {
		sorted[i] = *keys[i].f
	}
	copy(fs, sorted)
}

func compareRules(a, b []RuleRef) int {
	return slices.CompareFunc(a, b, func(x, y RuleRef) int {
		return cmp.Or(x.Compare(y.Position), strings.Compare(x.Text, y.Text))
	})
}

// Describe says in a few words what a leaf holds: "float32 [8,4]", "int",
// "datetime.datetime".
func Describe(n pytree.Node) string {
	switch n := n.(type) {
	case *pytree.Tensor:
		return string(n.DType) + " " + pytree.ShapeString(n.Shape)
	case *pytree.Scalar:
		return n.Type()
	case *pytree.Opaque:
		return n.Type
	case *pytree.Ref:
		return "loop to " + n.Path.Dotted()
	case *pytree.Container:
		if len(n.Entries) == 0 {
			return "empty " + n.Type
		}
		return n.Type
	}
	return "-"
}
