package migrate

import (
	"slices"
	"strings"

	"ckpt/pytree"
	"ckpt/report"
)

// copies suggests to copy a value that a rule moves away to its old place too,
// where the new tree has that place still: one tensor that becomes two. It gives
// those of the unfilled leaves that remain.
func (s *suggester) copies(hollow []int32) (rest []int32) {
	p := s.p
	for _, j := range hollow {
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
		s.fix(path, path, report.Create, -1, j)
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
		guess := s.guessed(q)
		f := s.rules[s.fix(s.from.text(p.old, best.a), s.to.text(p.new, best.b), report.Move, q.a, q.b)]
		f.Guess = guess && (f.Guess || f.Leaves == 1) // one name that agrees speaks for all
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
			s.fix(path, "", effect, i, -1)
		} else {
			s.fix("", path, effect, -1, i)
		}
	}
}
