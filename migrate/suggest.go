package migrate

import (
	"cmp"
	"slices"

	"ckpt/pytree"
	"ckpt/report"
)

// suggester works out the rules that would remove findings. Every rule that it
// names is safe beside all the others and beside those that there are: it
// decides about nothing but the leaves of the findings.
type suggester struct {
	p        *Plan
	from, to *prefixes
	// lost and hollow are the leaves that findings say are not mapped or filled.
	lost, hollow []int32
	// rules is the suggestions by their text, ofA and ofB those for each leaf.
	rules    map[string]*report.Fix
	order    []string
	ofA, ofB map[int32][]string
	meant    map[int32][]string // did-you-mean names, by old leaf
	meantB   map[int32][]string // and by new leaf
	// spokenA and spokenB are the leaves that mistyped rules are probably about,
	// amendedA and amendedB those that corrected ones would see to.
	spokenA, spokenB   map[int32]bool
	amendedA, amendedB map[int32]bool
}

// suggest adds to the findings what would remove them.
func (p *Plan) suggest() {
	s := &suggester{
		p: p, from: newPrefixes(), to: newPrefixes(), rules: make(map[string]*report.Fix),
		ofA: make(map[int32][]string), ofB: make(map[int32][]string),
		meant: make(map[int32][]string), meantB: make(map[int32][]string),
		spokenA: make(map[int32]bool), spokenB: make(map[int32]bool),
		amendedA: make(map[int32]bool), amendedB: make(map[int32]bool),
	}
	s.amend()
	dropA, keepB := s.collect()
	if len(s.lost)+len(s.hollow)+len(dropA)+len(keepB)+len(s.order) == 0 {
		return
	}
	s.count()
	lost, hollow := s.creations()
	hollow = s.copies(hollow)
	pairs := s.pair(lost, hollow)
	lost, hollow = s.moves(pairs, lost, hollow)
	s.waive(s.from, p.old, without(append(lost, dropA...), s.spokenA), report.Drop, s.ofA)
	if !p.bare {
		s.waive(s.to, p.new, without(append(hollow, keepB...), s.spokenB), report.Keep, s.ofB)
	}
	s.attach()
}

// without is the leaves that are not in a set.
func without(leaves []int32, set map[int32]bool) []int32 {
	return slices.DeleteFunc(leaves, func(i int32) bool { return set[i] })
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
		if (p.fates[i] == unmapped || p.fates[i] == unplaced) && !s.amendedA[int32(i)] {
			s.lost = append(s.lost, int32(i))
		}
	}
	if !p.bare {
		contested := p.contested()
		for j := range p.new.leaves {
			if p.ends[j].how == unfilled && !s.amendedB[int32(j)] && !contested[int32(j)] {
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

// contested is the unfilled leaves that values might fill once the findings that
// stop these are seen to: to keep what the template has there would give the
// values up for another fault.
func (p *Plan) contested() map[int32]bool {
	set := make(map[int32]bool)
	for i := range p.fates {
		if p.fates[i] != blocked {
			continue
		}
		l := &p.old.leaves[i]
		names := []string{l.dotted}
		for _, r := range p.cover.rulesOf(p.cover.spans[i]) {
			if p.rules[r].moves() {
				names = append(names, p.target(int32(i), &p.rules[r]))
			}
		}
		for _, name := range names {
			for j := p.new.named(name); j >= 0; j = p.new.next[j] {
				set[j] = true
			}
		}
	}
	return set
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

// fix notes a rule, and that it is for a leaf of either side (-1: none). It gives
// the rule's text.
func (s *suggester) fix(from, to string, effect report.Effect, a, b int32) string {
	text := ruleText(from, to, effect == report.Create)
	f, ok := s.rules[text]
	if !ok {
		f = &report.Fix{Rule: text, From: from, To: to, Effect: effect}
		s.rules[text] = f
		s.order = append(s.order, text)
	}
	f.Leaves++
	if a >= 0 {
		s.ofA[a] = append(s.ofA[a], f.Rule)
	}
	if b >= 0 {
		s.ofB[b] = append(s.ofB[b], f.Rule)
	}
	return f.Rule
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
		return slices.Index([]report.Effect{report.Move, report.Create, report.Drop, report.Keep}, e)
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
