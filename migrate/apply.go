package migrate

import (
	"errors"
	"fmt"

	"ckpt/pytree"
	"ckpt/report"
)

// ErrFindings is why a plan cannot be applied.
var ErrFindings = errors.New("the plan has errors")

// Apply gives the new tree. It changes neither the old tree nor the template;
// what of them did not change is shared with the result. A plan with errors
// fails with [ErrFindings].
func (p *Plan) Apply() (*pytree.Tree, error) {
	if n := p.report.Findings.Count(report.Error); n > 0 {
		return nil, fmt.Errorf("%w: %s", ErrFindings, report.Plural(n, "finding", "findings"))
	}
	if p.structural {
		return p.assembled, nil
	}
	f := filler{p: p}
	root := f.node(p.newTree.Root)
	return f.Finish(root, func(r *pytree.Ref) pytree.Path { return r.Path })
}

// filler fills a template whose paths stay as they are.
type filler struct {
	pytree.Rebuild
	p    *Plan
	leaf int32 // the next one, in file order
}

func (f *filler) node(n pytree.Node) pytree.Node {
	c, ok := n.(*pytree.Container)
	if !ok {
		j := f.leaf
		f.leaf++
		return f.value(n, f.p.ends[j])
	}
	var entries []pytree.Entry
	for i := range c.Entries {
		v := f.node(c.Entries[i].Value)
		if entries == nil && v != c.Entries[i].Value {
			entries = append(make([]pytree.Entry, 0, len(c.Entries)), c.Entries[:i]...)
		}
		if entries != nil {
			e := c.Entries[i]
			e.Value = v
			entries = append(entries, e)
		}
	}
	if entries == nil {
		return c
	}
	return f.Container(c, entries)
}

// value is what stands where the template has leaf n.
func (f *filler) value(n pytree.Node, end ending) pytree.Node {
	if ref, ok := n.(*pytree.Ref); ok {
		return f.Ref(ref)
	}
	if end.src < 0 {
		return n
	}
	from := f.p.old.leaves[end.src].node
	if place, ok := n.(*pytree.Tensor); ok {
		if t, ok := from.(*pytree.Tensor); ok {
			return f.Tensor(place, t)
		}
	}
	return from
}
