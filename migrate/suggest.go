package migrate

import (
	"cmp"
	"slices"
	"strings"

	"ckpt/pytree"
	"ckpt/report"
)

// suggester works out the rules that would remove findings. Every rule that it
// names is safe beside all the others and beside those that there are: it
// decides about nothing but the leaves of the findings.
type suggester struct {
	p        *Plan
	from, to *prefixes
	// lost and bare are the leaves that findings say are not mapped or filled.
	lost, hollow []int32
	// rules is the suggestions by their text, ofA and ofB those for each leaf.
	rules    map[string]*report.Fix
	order    []string
	ofA, ofB map[int32][]string
	meant    map[int32][]string // did-you-mean names, by old leaf
	meantB   map[int32][]string // and by new leaf
}

// suggest adds to the findings what would remove them.
func (p *Plan) suggest() {
	p.suggestNames()
	s := &suggester{
		p: p, from: newPrefixes(), to: newPrefixes(), rules: make(map[string]*report.Fix),
		ofA: make(map[int32][]string), ofB: make(map[int32][]string),
		meant: make(map[int32][]string), meantB: make(map[int32][]string),
	}
	dropA, keepB := s.collect()
	if len(s.lost)+len(s.hollow)+len(dropA)+len(keepB) == 0 {
		return
	}
	s.count()
	lost := s.creations()
	hollow := s.copies()
	pairs := s.pair(lost, hollow)
	lost, hollow = s.moves(pairs, lost, hollow)
	s.waive(s.from, p.old, append(lost, dropA...), report.Drop, s.ofA)
	if !p.bare {
		s.waive(s.to, p.new, append(hollow, keepB...), report.Keep, s.ofB)
	}
	s.attach()
}

// memberOf reports whether a leaf can be named by a dotted path of its own.
func memberOf(s *side, i int32) bool {
	path, ok := s.rulePath(i)
	return ok && path == s.leaves[i].dotted
}

// collect finds the leaves that findings are about: those to be mapped or
// filled, and those of mismatches, which can only be given up on both sides.
func (s *suggester) collect() (dropA, keepB []int32) {
	p := s.p
	for i := range p.fates {
		if p.fates[i] == unmapped || p.fates[i] == unplaced {
			s.lost = append(s.lost, int32(i))
		}
	}
	if !p.bare {
		for j := range p.new.leaves {
			if p.ends[j].how == unfilled {
				s.hollow = append(s.hollow, int32(j))
			}
		}
	}
	for i := range p.report.Findings {
		f := &p.report.Findings[i]
		switch f.Code {
		case "kind-mismatch", "shape-mismatch", "dtype-mismatch":
			a, b := p.leafAt(p.old, f.A.Path), p.leafAt(p.new, f.B.Path)
			if a < 0 || b < 0 || !s.waivable(a, b) {
				continue
			}
			if p.fates[a] != mapped {
				dropA = append(dropA, a)
			}
			keepB = append(keepB, b)
		case "destination-collision":
			if a := p.leafAt(p.old, f.A.Path); p.bare && a >= 0 && p.cover.spans[a].n == 0 && len(f.More) == 1 {
				dropA = append(dropA, a)
			}
		}
	}
	for _, list := range [][]int32{s.lost, dropA} {
		for _, i := range list {
			if memberOf(p.old, i) {
				s.from.add(p.old, i)
			}
		}
	}
	for _, list := range [][]int32{s.hollow, keepB} {
		for _, j := range list {
			if memberOf(p.new, j) {
				s.to.add(p.new, j)
			}
		}
	}
	return dropA, keepB
}

func (p *Plan) leafAt(s *side, path pytree.Path) int32 {
	if path == "" {
		return -1
	}
	return s.at(path, path.Dotted())
}

// waivable reports whether two longer rules can give up a value that does not
// fit: the rule that sends it must be about more than this leaf alone, and send
// it nowhere else.
func (s *suggester) waivable(a, b int32) bool {
	p := s.p
	sp := p.cover.spans[a]
	if p.fates[a] != mapped {
		if sp.n > 1 || sp.n == 1 && int(sp.depth) >= components(p.old.leaves[a].dotted) {
			return false
		}
	}
	return int(p.floorB(b)) < components(p.new.leaves[b].dotted)
}

// floorA is the length of the rules that decide about an old leaf, 0 for none.
func (p *Plan) floorA(i int32) int32 { return max(p.cover.spans[i].depth, 0) }

// floorB is the same for a new leaf. What rules cover without deciding about it
// does not count.
func (p *Plan) floorB(j int32) int32 {
	floor := int32(0)
	for c := p.head[j]; c >= 0; c = p.claims[c].next {
		if r := p.claims[c].rule; r >= 0 {
			floor = max(floor, int32(p.rules[r].to.depth))
		}
	}
	if p.ends[j].how == replaced {
		floor = max(floor, p.to.leaves[j].createDepth)
	}
	return floor
}

// count tells the prefix trees what the leaves of both sides are to them.
func (s *suggester) count() {
	p := s.p
	for i := range p.old.leaves {
		_, member := s.from.member[int32(i)]
		s.from.cover(&p.old.leaves[i], p.floorA(int32(i)), member)
	}
	if p.bare {
		return
	}
	for j := range p.new.leaves {
		if p.ends[j].how == kept {
			continue // to keep it once more changes nothing
		}
		_, member := s.to.member[int32(j)]
		s.to.cover(&p.new.leaves[j], p.floorB(int32(j)), member)
	}
}

// fix notes a rule, and that it is for a leaf of either side (-1: none).
func (s *suggester) fix(text string, effect report.Effect, a, b int32) {
	f, ok := s.rules[text]
	if !ok {
		f = &report.Fix{Rule: text, Effect: effect}
		s.rules[text] = f
		s.order = append(s.order, text)
		text = f.Rule
	}
	f.Leaves++
	if a >= 0 {
		s.ofA[a] = append(s.ofA[a], f.Rule)
	}
	if b >= 0 {
		s.ofB[b] = append(s.ofB[b], f.Rule)
	}
}

// creations suggests to take subtrees whole that the template holds empty. It
// gives the lost leaves that remain.
func (s *suggester) creations() (rest []int32) {
	p := s.p
	if p.bare {
		return s.lost
	}
	empty := make(map[string]int, len(p.new.empties))
	for k := range p.new.empties {
		l := &p.new.empties[k]
		t := p.to.empties[k]
		if l.addressable() && isText(l.dotted) && l.dotted != "" && l.dotted[0] != '[' && t.keep < 0 && t.create < 0 {
			empty[l.dotted] = k
		}
	}
	if len(empty) == 0 {
		return s.lost
	}
	// A dotted path that reads in another way too would replace what is there.
	crowded := make(map[string]bool)
	for _, list := range [][]leaf{p.new.leaves, p.old.empties} {
		for i := range list {
			d := list[i].dotted
			for end := len(d); end >= 0; end = strings.LastIndexByte(d[:end], '.') {
				if k, ok := empty[d[:end]]; ok && !(pattern{path: p.new.empties[k].path}).holds(list[i].path) {
					crowded[d[:end]] = true
				}
			}
		}
	}
	// Every leaf that the rule would cover must be inside the old container, by
	// whole keys.
	climb := func(i int32, visit func(n int32)) {
		at, ok := s.from.member[i]
		for ; ok && s.from.nodes[at].depth > p.floorA(i); at = s.from.nodes[at].parent {
			k, isEmpty := empty[s.from.text(p.old, at)]
			if isEmpty && !s.from.nodes[at].whole && (pattern{path: p.new.empties[k].path}).holds(p.old.leaves[i].path) {
				visit(at)
			}
		}
	}
	inside := make(map[int32]int32)
	for _, i := range s.lost {
		climb(i, func(n int32) { inside[n]++ })
	}
	whole := make(map[int32]bool) // by prefix: the subtree can be taken
	for n, count := range inside {
		whole[n] = s.from.clean(n) && count == s.from.nodes[n].members &&
			(s.from.nodes[n].longer == 0 || !p.hasSequence(p.new.empties[empty[s.from.text(p.old, n)]].path))
	}
	for _, i := range s.lost {
		found := int32(0)
		climb(i, func(n int32) {
			if whole[n] {
				found = n
			}
		})
		if found == 0 {
			rest = append(rest, i)
			continue
		}
		x := s.from.text(p.old, found)
		if crowded[x] {
			x = string(p.new.empties[empty[x]].path)
		}
		s.fix(ruleText(x, x, true), report.Create, i, -1)
	}
	return rest
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

// copies suggests to copy a value that a rule moves away to its old place too,
// where the new tree has that place still: one tensor that becomes two. It gives
// the unfilled leaves that remain.
func (s *suggester) copies() (rest []int32) {
	p := s.p
	for _, j := range s.hollow {
		l := &p.new.leaves[j]
		i := p.old.at(l.path, l.dotted)
		n, ok := s.to.member[j]
		if i < 0 || !ok || p.fates[i] != mapped || p.ends[j].how != unfilled ||
			int(p.floorA(i)) != components(l.dotted) || !memberOf(p.old, i) || !s.to.clean(n) || s.to.nodes[n].members != 1 {
			rest = append(rest, j)
			continue
		}
		if code, _ := mismatch(p.old.leaves[i].node, l.node); code != "" {
			rest = append(rest, j)
			continue
		}
		path := string(l.path)
		s.fix(ruleText(path, path, true), report.Create, -1, j)
	}
	return rest
}

// moves turns pairs into rules, as few as will do. It gives the leaves that
// remain.
func (s *suggester) moves(pairs []pair, lost, hollow []int32) (restA, restB []int32) {
	p := s.p
	type ends struct{ a, b int32 }
	count := make(map[ends]int32)
	climb := func(q pair, visit func(e ends)) {
		a, b := s.from.member[q.a], s.to.member[q.b]
		for s.from.nodes[a].depth > p.floorA(q.a) && b > 0 {
			visit(ends{a, b})
			if s.lastComp(s.from, p.old, a) != s.lastComp(s.to, p.new, b) {
				return
			}
			a, b = s.from.nodes[a].parent, s.to.nodes[b].parent
		}
	}
	for _, q := range pairs {
		climb(q, func(e ends) { count[e]++ })
	}
	doneA, doneB := make(map[int32]bool), make(map[int32]bool)
	for _, q := range pairs {
		best := ends{}
		climb(q, func(e ends) {
			from, to := s.from.text(p.old, e.a), s.to.text(p.new, e.b)
			if s.from.clean(e.a) && count[e] == s.from.nodes[e.a].members && from != "" && to != "" && from != to {
				best = e
			}
		})
		if best.a == 0 {
			continue
		}
		s.fix(ruleText(s.from.text(p.old, best.a), s.to.text(p.new, best.b), false), report.Move, q.a, q.b)
		doneA[q.a], doneB[q.b] = true, true
	}
	left := func(list []int32, done map[int32]bool) (rest []int32) {
		for _, i := range list {
			if !done[i] {
				rest = append(rest, i)
			}
		}
		return rest
	}
	return left(lost, doneA), left(hollow, doneB)
}

func (s *suggester) lastComp(t *prefixes, sd *side, n int32) string {
	text := t.text(sd, n)
	return text[strings.LastIndexByte(text, '.')+1:]
}

// waive suggests to drop or keep leaves, by as few rules as will do.
func (s *suggester) waive(t *prefixes, sd *side, leaves []int32, effect report.Effect, of map[int32][]string) {
	t.unmark()
	slices.Sort(leaves)
	leaves = slices.Compact(leaves)
	floorOf := s.p.floorA
	if effect == report.Keep {
		floorOf = s.p.floorB
	}
	for _, i := range leaves {
		if _, ok := t.member[i]; ok {
			t.mark(i, floorOf(i))
		}
	}
	for _, i := range leaves {
		path := ""
		if _, ok := t.member[i]; ok {
			if n := t.widest(sd, i, floorOf(i)); n > 0 {
				path = t.text(sd, n)
			}
		}
		if path == "" {
			// No dotted path is about this leaf alone; the exact one is.
			l := &sd.leaves[i]
			if !l.addressable() || !isText(string(l.path)) || int(floorOf(i)) >= components(l.dotted) || l.path == pytree.Root {
				continue
			}
			path = string(l.path)
		}
		if effect == report.Drop {
			s.fix(ruleText(path, "", false), effect, i, -1)
		} else {
			s.fix(ruleText("", path, false), effect, -1, i)
		}
	}
}

// attach puts the suggestions into the findings and the report.
func (s *suggester) attach() {
	p := s.p
	for i := range p.report.Findings {
		f := &p.report.Findings[i]
		a, b := int32(-1), int32(-1)
		switch f.Code {
		case "source-unmapped", "no-destination":
			a = p.leafAt(p.old, f.A.Path)
		case "destination-unfilled":
			b = p.leafAt(p.new, f.B.Path)
		case "kind-mismatch", "shape-mismatch", "dtype-mismatch":
			a, b = p.leafAt(p.old, f.A.Path), p.leafAt(p.new, f.B.Path)
		case "destination-collision":
			if p.bare {
				a = p.leafAt(p.old, f.A.Path)
			}
		}
		if a >= 0 {
			f.Fix = append(f.Fix, s.ofA[a]...)
			f.DidYouMean = append(f.DidYouMean, s.meant[a]...)
		}
		if b >= 0 {
			f.Fix = append(f.Fix, s.ofB[b]...)
			f.DidYouMean = append(f.DidYouMean, s.meantB[b]...)
		}
	}
	rank := func(e report.Effect) int {
		return slices.Index([]report.Effect{report.Move, report.Create, report.Keep, report.Drop}, e)
	}
	fixes := make([]report.Fix, 0, len(s.order))
	for _, text := range s.order {
		fixes = append(fixes, *s.rules[text])
	}
	slices.SortStableFunc(fixes, func(x, y report.Fix) int {
		return cmp.Or(cmp.Compare(rank(x.Effect), rank(y.Effect)), pytree.NaturalCompare(x.Rule, y.Rule))
	})
	p.report.Fixes = fixes
}
