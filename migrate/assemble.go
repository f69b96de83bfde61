package migrate

import (
	"fmt"
	"slices"

	"ckpt/pytree"
	"ckpt/report"
)

// spot is a place of the new tree that the rules make or replace.
type spot struct {
	key  pytree.Key
	part pytree.Part
	// node is the leaf that goes here; nil for a container.
	node pytree.Node
	src  int32 // which old leaf it is, and by which rule
	by   int32
	// like is the old container that goes here, if one does.
	like  *pytree.Container
	kids  map[pytree.Key]*spot
	order []*spot
	// after is the key of the same container in whose place the spot comes.
	after    pytree.Key
	anchored bool
}

// kid finds or makes a child.
func (s *spot) kid(k pytree.Key) *spot {
	if c, ok := s.kids[k]; ok {
		return c
	}
	c := &spot{key: k, src: -1}
	if s.kids == nil {
		s.kids = make(map[pytree.Key]*spot)
	}
	s.kids[k] = c
	s.order = append(s.order, c)
	return c
}

// under finds a child, of no spot too.
func (s *spot) under(k pytree.Key) *spot {
	if s == nil {
		return nil
	}
	return s.kids[k]
}

// assembler builds a new tree whose paths are not the template's.
type assembler struct {
	filler
	root  spot
	parts map[pytree.Path]pytree.Part
	// containers is the old ones by their paths, went where they are now.
	containers map[pytree.Path]*pytree.Container
	went       map[pytree.Path]pytree.Path
	old        map[*pytree.Ref]bool // loops that come from the old tree
}

// structure assembles the new tree where rules make or remove paths, and finds
// what cannot be: two things at one place, a list with a gap.
func (p *Plan) structure() {
	if !p.structural {
		return
	}
	if _, ok := p.newTree.Root.(*pytree.Container); !ok && len(p.rules) == 0 {
		p.assembled = p.newTree // a checkpoint that is a single value
		return
	}
	a := &assembler{
		filler: filler{p: p}, root: spot{src: -1},
		parts: make(map[pytree.Path]pytree.Part), containers: make(map[pytree.Path]*pytree.Container),
		went: make(map[pytree.Path]pytree.Path), old: make(map[*pytree.Ref]bool),
	}
	a.spread()
	root := a.build(p.newTree.Root, &a.root, pytree.Root)
	if root == nil {
		root = pytree.NewDict()
	}
	tree, err := a.Finish(root, func(r *pytree.Ref) pytree.Path {
		if to, ok := a.went[r.Path]; ok && (p.bare || a.old[r]) {
			return to
		}
		return r.Path
	})
	if err != nil {
		p.find(report.Finding{Code: "no-destination", B: report.Place{Path: pytree.Root}, Detail: err.Error()})
		return
	}
	p.assembled = tree
}

// spread makes the spots, in the old tree's file order.
func (a *assembler) spread() {
	i := int32(-1)
	a.p.oldTree.Walk(pytree.Visitor{
		Enter: func(path pytree.Path, c *pytree.Container) bool {
			a.containers[path] = c
			if c.Kind == pytree.Object {
				for _, e := range c.Entries {
					a.parts[path.Child(e.Key)] = e.Part
				}
			}
			a.spreadContainer(path, c)
			return true
		},
		Leaf: func(path pytree.Path, n pytree.Node) bool {
			if _, empty := n.(*pytree.Container); empty {
				return true
			}
			i++
			s := a.p.cover.spans[i]
			for _, r := range a.p.cover.rulesOf(s) {
				if !a.p.makes(r) {
					continue
				}
				to := a.p.placer.place(path, r, &a.p.rules[r])
				j, ok := a.p.madeAt[to]
				if !ok {
					// The template has the leaf, perhaps under other keys.
					if j, _ = a.p.destination(i, &a.p.rules[r]); j < 0 {
						continue
					}
					to = a.p.new.leaves[j].path
				}
				if end := a.p.ends[j]; end.how == created && end.src == i {
					sp := a.spot(path, to)
					sp.node, sp.src, sp.by = n, i, r
				}
			}
			return true
		},
	})
}

// makes reports whether rule r makes destinations that do not exist.
func (p *Plan) makes(r int32) bool {
	return p.rules[r].moves() && (p.bare || p.rules[r].create)
}

// spreadContainer sends a container where the rules that cover it send its
// leaves, so that its type goes along even where it is empty.
func (a *assembler) spreadContainer(path pytree.Path, c *pytree.Container) {
	l := makeLeaf(path, c)
	s := a.p.cover.find(&l, a.p.rules)
	for _, r := range s {
		if !a.p.makes(r) {
			continue
		}
		to := a.p.placer.place(path, r, &a.p.rules[r])
		if !a.p.bare {
			dest := makeLeaf(to, nil)
			if t := a.p.to.longest(&dest); t.keep >= 0 && int(t.keepDepth) >= a.p.rules[r].to.depth {
				continue
			}
		}
		sp := a.spot(path, to)
		if sp.like == nil {
			sp.like = c
		} else if sp.like != c && (sp.like.Kind != c.Kind || sp.like.Type != c.Type) {
			a.p.find(report.Finding{
				Code: "destination-collision", A: report.Place{Path: path, Node: c},
				Detail: fmt.Sprintf("a %s and a %s would become one container, %s", sp.like.Type, c.Type, to.Dotted()),
				Rules:  []report.RuleRef{a.p.rules[r].ref()},
			})
		}
		if _, ok := a.went[path]; !ok {
			a.went[path] = to
		}
	}
}

// spot is the spot at a path of the new tree for what comes from a path of the
// old one.
func (a *assembler) spot(from, to pytree.Path) *spot {
	s := &a.root
	toKeys := to.Keys()
	for _, k := range toKeys {
		s = s.kid(k)
	}
	s.part = a.parts[from]
	if a.p.bare && len(toKeys) > 0 {
		fromKeys := from.Keys()
		if n := len(toKeys) - 1; len(fromKeys) == n+1 && slices.Equal(fromKeys[:n], toKeys[:n]) {
			s.after, s.anchored = fromKeys[n], true
		}
	}
	return s
}

// build is the node at path of the new tree, or nil for none: what the template
// has there, n, less what rules took away, and with what s puts there.
func (a *assembler) build(n pytree.Node, s *spot, path pytree.Path) pytree.Node {
	c, ok := n.(*pytree.Container)
	if !ok {
		stays := a.stays(n)
		switch {
		case s == nil:
			return stays
		case stays == nil:
			return a.grow(s, path)
		}
		a.clash(s, path)
		return stays
	}
	vacated := a.vacated(path, c)
	var entries []pytree.Entry
	anchors := s.anchors()
	own := s.keysOf(c)
	for _, e := range c.Entries {
		child := path.Child(e.Key)
		if v := a.build(e.Value, s.under(e.Key), child); v != nil {
			part := e.Part
			if k := s.under(e.Key); k != nil && k.like != nil {
				part = k.part
			}
			entries = append(entries, pytree.Entry{Key: e.Key, Value: v, Part: part})
		}
		for _, k := range anchors[e.Key] {
			if !own[k.key] {
				entries = a.put(entries, k, path)
			}
		}
	}
	like := c
	if s != nil {
		if s.node != nil {
			if len(entries) > 0 || len(s.order) > 0 || !vacated {
				a.clash(s, path)
				return a.finish(c, entries, path)
			}
			return a.old1(s)
		}
		entries = a.rest(entries, own, s, path)
		if s.like != nil && (vacated || len(c.Entries) == 0) {
			like = s.like
			entries = s.sorted(entries)
		}
	}
	if len(entries) == 0 && vacated && (s == nil || s.like == nil) {
		return nil
	}
	return a.finish(like, entries, path)
}

// rest adds the spots that the template's container has no entry for and that
// are not anchored to one.
func (a *assembler) rest(entries []pytree.Entry, own map[pytree.Key]bool, s *spot, path pytree.Path) []pytree.Entry {
	for _, k := range s.order {
		if own[k.key] || k.anchored && own[k.after] {
			continue
		}
		entries = a.put(entries, k, path)
	}
	return entries
}

// put appends what a spot alone makes.
func (a *assembler) put(entries []pytree.Entry, k *spot, path pytree.Path) []pytree.Entry {
	if v := a.grow(k, path.Child(k.key)); v != nil {
		entries = append(entries, pytree.Entry{Key: k.key, Value: v, Part: k.part})
	}
	return entries
}

// grow builds a spot where the template has nothing, or nothing any more.
func (a *assembler) grow(s *spot, path pytree.Path) pytree.Node {
	if s.node != nil {
		if len(s.order) > 0 {
			a.clash(s, path)
		}
		return a.old1(s)
	}
	var entries []pytree.Entry
	for _, k := range s.order {
		entries = a.put(entries, k, path)
	}
	like := s.like
	if like == nil {
		if len(entries) == 0 {
			return nil
		}
		like = a.model(path)
	}
	return a.finish(like, entries, path)
}

// model is the container to make at a path where none is sent: like the old one
// there, else a plain mapping.
func (a *assembler) model(path pytree.Path) *pytree.Container {
	if c, ok := a.containers[path]; ok && !a.p.bare && c.Kind != pytree.Object {
		return c
	}
	return pytree.NewDict()
}

// old1 is the value of a spot: the old leaf as it is.
func (a *assembler) old1(s *spot) pytree.Node {
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
func (a *assembler) vacated(path pytree.Path, c *pytree.Container) bool {
	l := makeLeaf(path, c)
	if a.p.bare {
		return len(a.p.cover.find(&l, a.p.rules)) > 0
	}
	t := a.p.to.longest(&l)
	return t.create >= 0 && t.createDepth > t.keepDepth
}

// clash is two things at one place.
func (a *assembler) clash(s *spot, path pytree.Path) {
	f := report.Finding{Code: "destination-collision", Detail: "a value and a container for one place"}
	place := report.Place{Path: path}
	if leaf := s.first(); leaf != nil {
		f.A = a.p.a(leaf.src)
		f.Rules = []report.RuleRef{a.p.rules[leaf.by].ref()}
	}
	f.B = place
	a.p.find(f)
}

// first is a spot at or under s that holds a leaf.
func (s *spot) first() *spot {
	for s.node == nil {
		if len(s.order) == 0 {
			return nil
		}
		s = s.order[0]
	}
	return s
}

// keysOf is the keys of the template's container, where they matter.
func (s *spot) keysOf(c *pytree.Container) map[pytree.Key]bool {
	if s == nil || len(s.order) == 0 {
		return nil
	}
	own := make(map[pytree.Key]bool, len(c.Entries))
	for i := range c.Entries {
		own[c.Entries[i].Key] = true
	}
	return own
}

// anchors files the children that come in another entry's place.
func (s *spot) anchors() map[pytree.Key][]*spot {
	if s == nil {
		return nil
	}
	var m map[pytree.Key][]*spot
	for _, k := range s.order {
		if k.anchored {
			if m == nil {
				m = make(map[pytree.Key][]*spot)
			}
			m[k.after] = append(m[k.after], k)
		}
	}
	return m
}

// sorted puts entries into the order in which the spot got its children; others
// come after them.
func (s *spot) sorted(entries []pytree.Entry) []pytree.Entry {
	rank := make(map[pytree.Key]int, len(s.order))
	for i, k := range s.order {
		rank[k.key] = i - len(s.order)
	}
	slices.SortStableFunc(entries, func(a, b pytree.Entry) int { return rank[a.Key] - rank[b.Key] })
	return entries
}

// finish makes a container like another one. The items of a sequence must be
// numbered from 0 without a gap.
func (a *assembler) finish(like *pytree.Container, entries []pytree.Entry, path pytree.Path) pytree.Node {
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
				Code: "no-destination", B: report.Place{Path: path, Node: like},
				Detail: fmt.Sprintf("the rules leave its items with a gap: there is no item %d, but there is %s", i, e.Key),
			})
			break
		}
	}
	return a.Container(like, entries)
}
