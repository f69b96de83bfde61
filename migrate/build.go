package migrate

import (
	"fmt"
	"slices"

	"ckpt/pytree"
	"ckpt/report"
)

// trail is where the walk over the new tree is. Its path is needed for
// containers and for findings only.
type trail struct {
	above *trail
	key   pytree.Key
}

func (t *trail) path() pytree.Path {
	var keys []pytree.Key
	for ; t.above != nil; t = t.above {
		keys = append(keys, t.key)
	}
	slices.Reverse(keys)
	return pytree.MakePath(keys...)
}

// build is the node at a place of the new tree, or nil for none: what the
// template has there, n, less what rules took away, and with what s puts there.
func (a *assembler) build(n pytree.Node, s *spot, at *trail) pytree.Node {
	c, ok := n.(*pytree.Container)
	if !ok {
		stays := a.stays(n)
		switch {
		case s == nil:
			return stays
		case stays == nil:
			return a.grow(s, at)
		}
		a.clash(s, at)
		return stays
	}
	vacated := a.vacated(at, c)
	whole := s != nil && s.like != nil && (vacated || len(c.Entries) == 0)
	var entries []pytree.Entry
	anchors := s.meet(c)
	for _, e := range c.Entries {
		k := s.under(e.Key)
		if v := a.build(e.Value, k, &trail{at, e.Key}); v != nil {
			part := e.Part
			if whole && k != nil {
				part = k.part
			}
			entries = append(entries, pytree.Entry{Key: e.Key, Value: v, Part: part})
		}
		for k := anchors[e.Key]; k != nil; k = k.next {
			if !k.placed {
				k.placed = true
				entries = a.put(entries, k, at)
			}
		}
	}
	if s != nil && s.node != nil {
		if len(entries) > 0 || len(s.order) > 0 || !vacated {
			a.clash(s, at)
			return a.finish(c, entries, at)
		}
		return a.oldLeaf(s)
	}
	if s != nil {
		for _, k := range s.order {
			if !k.placed {
				entries = a.put(entries, k, at)
			}
		}
	}
	switch {
	case whole:
		return a.finish(s.like, s.sorted(entries), at)
	case len(entries) == 0 && vacated:
		return nil
	}
	return a.finish(c, entries, at)
}

// put appends what a spot alone makes.
func (a *assembler) put(entries []pytree.Entry, k *spot, at *trail) []pytree.Entry {
	if v := a.grow(k, &trail{at, k.key}); v != nil {
		entries = append(entries, pytree.Entry{Key: k.key, Value: v, Part: k.part})
	}
	return entries
}

// grow builds a spot where the template has nothing, or nothing any more.
func (a *assembler) grow(s *spot, at *trail) pytree.Node {
	if s.node != nil {
		if len(s.order) > 0 {
			a.clash(s, at)
		}
		return a.oldLeaf(s)
	}
	var entries []pytree.Entry
	for _, k := range s.order {
		entries = a.put(entries, k, at)
	}
	like := s.like
	if like == nil {
		if len(entries) == 0 {
			return nil
		}
		like = a.model(at)
	}
	return a.finish(like, entries, at)
}

// model is the container to make at a place where none is sent: like the old one
// there, else a plain mapping.
func (a *assembler) model(at *trail) *pytree.Container {
	if c, ok := a.containers[at.path()]; ok && !a.p.bare && c.Kind != pytree.Object {
		return c
	}
	return pytree.NewDict()
}

// oldLeaf is the value of a spot: the old leaf as it is.
func (a *assembler) oldLeaf(s *spot) pytree.Node {
	if ref, ok := s.node.(*pytree.Ref); ok {
		a.old[ref] = true
		return a.Ref(ref)
	}
	return s.node
}

// stays is what becomes of the template's next leaf: its value, or nil where it
// is gone.
func (a *assembler) stays(n pytree.Node) pytree.Node {
	end := a.p.ends[a.leaf]
	a.leaf++
	switch end.how {
	case replaced, created:
		return nil
	}
	if a.p.bare {
		if ref, ok := n.(*pytree.Ref); ok {
			return a.Ref(ref)
		}
		return n
	}
	return a.value(n, end)
}

// vacated reports whether rules take the template's container at path away, so
// that it goes when nothing of it stays.
func (a *assembler) vacated(at *trail, c *pytree.Container) bool {
	l := makeLeaf(at.path(), c)
	if a.p.bare {
		return len(a.p.cover.find(&l, a.p.rules)) > 0
	}
	t := a.p.to.longest(&l)
	return t.create >= 0 && t.createDepth > t.keepDepth
}

// clash is two things at one place.
func (a *assembler) clash(s *spot, at *trail) {
	f := report.Finding{Code: "destination-collision", Detail: "a value and a container for one place"}
	place := report.Place{Path: at.path()}
	if leaf := s.first(); leaf != nil {
		f.A = a.p.a(leaf.src)
		f.Rules = []report.RuleRef{a.p.rules[leaf.by].ref()}
	}
	f.B = place
	a.p.find(f)
}

// finish makes a container like another one. The items of a sequence must be
// numbered from 0 without a gap.
func (a *assembler) finish(like *pytree.Container, entries []pytree.Entry, at *trail) pytree.Node {
	if like.Kind != pytree.Object {
		for i := range entries {
			entries[i].Part = pytree.Item
		}
	}
	if like.Kind == pytree.Sequence {
		index := func(e pytree.Entry) int64 { n, _ := e.Key.IsInt(); return n }
		slices.SortStableFunc(entries, func(x, y pytree.Entry) int { return int(min(max(index(x)-index(y), -1), 1)) })
		for i, e := range entries {
			if n, ok := e.Key.IsInt(); ok && n == int64(i) {
				continue
			}
			a.p.find(report.Finding{
				Code: "no-destination", B: report.Place{Path: at.path(), Node: like},
				Detail: fmt.Sprintf("the rules leave its items with a gap: there is no item %d, but there is %s", i, e.Key),
				Rules:  a.gapRules(at.path(), i, e.Key),
			})
			break
		}
	}
	return a.Container(like, entries)
}
