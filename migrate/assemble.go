package migrate

import (
	"fmt"
	"slices"

	"ckpt/pytree"
	"ckpt/report"
)

// assembler builds a new tree whose paths are not the template's.
type assembler struct {
	filler
	root  spot
	parts map[pytree.Path]pytree.Part
	// containers is the old ones by their paths, went where they are now.
	containers map[pytree.Path]*pytree.Container
	went       map[pytree.Path]pytree.Path
	old        map[*pytree.Ref]bool // loops that come from the old tree
	gaps       int                  // lists with a gap so far
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
	root := a.build(p.newTree.Root, &a.root, &trail{})
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

// maxGaps is how many lists with a gap are looked into.
const maxGaps = 16

// gapRules is the rules behind a list's gap: those that take the missing item
// away, and those that send something to the item after the gap.
func (a *assembler) gapRules(list pytree.Path, missing int, next pytree.Key) []report.RuleRef {
	p := a.p
	if a.gaps++; a.gaps > maxGaps {
		return nil
	}
	gone, after := pattern{path: list.Child(pytree.IntKey(int64(missing)))}, pattern{path: list.Child(next)}
	var refs []report.RuleRef
	blame := func(r int32) {
		if r >= 0 && !slices.Contains(refs, p.rules[r].ref()) {
			refs = append(refs, p.rules[r].ref())
		}
	}
	for j := range p.ends {
		end := p.ends[j]
		path := p.b(int32(j)).Path
		switch {
		case end.how == created && after.holds(path), end.how == replaced && !p.bare && gone.holds(path):
			blame(end.by)
		case end.how == replaced && gone.holds(path):
			for _, r := range p.cover.rulesOf(p.cover.spans[j]) {
				blame(r)
			}
		}
	}
	return refs
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
// old one. Without a template, what stays in a container takes the place of the
// entry that it comes from.
func (a *assembler) spot(from, to pytree.Path) *spot {
	s := &a.root
	toKeys, fromKeys := to.Keys(), from.Keys()
	parent := len(fromKeys) - 1
	anchored := a.p.bare && parent >= 0 && len(toKeys) > parent && slices.Equal(fromKeys[:parent], toKeys[:parent])
	for depth, k := range toKeys {
		s = s.kid(k)
		if anchored && depth == parent && !s.anchored {
			s.after, s.anchored = fromKeys[parent], true
		}
	}
	s.part = a.parts[from]
	return s
}
