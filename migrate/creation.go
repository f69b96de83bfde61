package migrate

import (
	"strings"

	"ckpt/pytree"
	"ckpt/report"
)

// hole is a place that the template holds empty: a container without entries, or
// a null, which is how programs that have not run yet hold what comes later.
type hole struct {
	path pytree.Path
	leaf int32 // the new leaf that is null, or -1
}

// holes is those places by their dotted paths.
type holes struct {
	at      map[string]hole
	lengths map[int]bool // of the paths, so that few prefixes need a look
	// crowded is the paths that read in another way, too: a dotted rule would
	// replace what is there.
	crowded map[string]bool
}

func (p *Plan) holes(hollow []int32) *holes {
	h := &holes{at: make(map[string]hole), lengths: make(map[int]bool), crowded: make(map[string]bool)}
	add := func(l *leaf, j int32) {
		if l.addressable() && isText(l.dotted) && l.dotted != "" && l.dotted[0] != '[' {
			h.at[l.dotted] = hole{l.path, j}
			h.lengths[len(l.dotted)] = true
		}
	}
	for k := range p.new.empties {
		if t := p.to.empties[k]; t.keep < 0 && t.create < 0 {
			add(&p.new.empties[k], -1)
		}
	}
	for _, j := range hollow {
		if n, ok := p.new.leaves[j].node.(*pytree.Scalar); ok && n.V == nil && !p.new.shared(j) {
			add(&p.new.leaves[j], j)
		}
	}
	if len(h.at) == 0 {
		return h
	}
	for _, list := range [][]leaf{p.new.leaves, p.old.empties} {
		for i := range list {
			h.above(list[i].dotted, func(prefix string, x hole) {
				if !(pattern{path: x.path}).holds(list[i].path) {
					h.crowded[prefix] = true
				}
			})
		}
	}
	return h
}

// above visits the holes at or above a dotted path.
func (h *holes) above(dotted string, visit func(prefix string, x hole)) {
	for end := len(dotted); end >= 0; end = strings.LastIndexByte(dotted[:end], '.') {
		if h.lengths[end] {
			if x, ok := h.at[dotted[:end]]; ok {
				visit(dotted[:end], x)
			}
		}
	}
}

// creations suggests to take subtrees whole that the template holds empty. It
// gives the lost and the unfilled leaves that remain.
func (s *suggester) creations() (lost, hollow []int32) {
	p := s.p
	if p.bare {
		return s.lost, nil
	}
	h := p.holes(s.hollow)
	if len(h.at) == 0 {
		return s.lost, s.hollow
	}
	// Every leaf that the rule would cover must be inside the old container, by
	// whole keys.
	climb := func(i int32, visit func(n int32, x hole)) {
		at, ok := s.from.member[i]
		for ; ok && s.from.nodes[at].depth > p.floorA(i); at = s.from.nodes[at].parent {
			n := &s.from.nodes[at]
			if n.whole || !h.lengths[int(n.end)] {
				continue
			}
			if x, ok := h.at[s.from.text(p.old, at)]; ok && (pattern{path: x.path}).holds(p.old.leaves[i].path) {
				visit(at, x)
			}
		}
	}
	inside := make(map[int32]int32)
	for _, i := range s.lost {
		climb(i, func(n int32, _ hole) { inside[n]++ })
	}
	whole := make(map[int32]bool) // by prefix: the subtree can be taken
	for n, count := range inside {
		whole[n] = s.from.clean(n) && count == s.from.nodes[n].members &&
			(s.from.nodes[n].longer == 0 || !p.hasSequence(h.at[s.from.text(p.old, n)].path))
	}
	filled := make(map[int32]bool)
	for _, i := range s.lost {
		found, at := int32(0), hole{}
		climb(i, func(n int32, x hole) {
			if whole[n] {
				found, at = n, x
			}
		})
		if found == 0 {
			lost = append(lost, i)
			continue
		}
		path := s.from.text(p.old, found)
		if h.crowded[path] {
			path = string(at.path)
		}
		rule := s.fix(path, path, report.Create, i, -1)
		if at.leaf >= 0 && !filled[at.leaf] {
			filled[at.leaf] = true
			s.ofB[at.leaf] = append(s.ofB[at.leaf], rule)
		}
	}
	for _, j := range s.hollow {
		if !filled[j] {
			hollow = append(hollow, j)
		}
	}
	return lost, hollow
}

// hasSequence reports whether the old tree has a list at or under path: what
// longer rules take out of one could leave a gap.
func (p *Plan) hasSequence(path pytree.Path) bool {
	n, ok := p.oldTree.Find(path)
	if !ok {
		return false
	}
	found := false
	(&pytree.Tree{Root: n}).Walk(pytree.Visitor{Enter: func(_ pytree.Path, c *pytree.Container) bool {
		found = found || c.Kind == pytree.Sequence
		return !found
	}})
	return found
}
