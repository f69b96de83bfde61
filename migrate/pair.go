package migrate

import (
	"slices"
	"strings"

	"ckpt/pytree"
	"ckpt/report"
)

// pair is an old leaf and the unfilled new leaf that it probably became.
type pair struct{ a, b int32 }

// twinned tells leaves that shape and dtype alone can speak for: those of which
// either side has no other one like it.
type twinned struct{ a, b map[string]int }

// twinned counts the leaves without a partner by what they hold.
func (s *suggester) twinned(lost, hollow []int32, doneA, doneB map[int32]bool) twinned {
	count := func(sd *side, leaves []int32, done map[int32]bool) map[string]int {
		m := make(map[string]int)
		for _, i := range leaves {
			if !done[i] {
				m[holds(sd.leaves[i].node)]++
			}
		}
		return m
	}
	return twinned{count(s.p.old, lost, doneA), count(s.p.new, hollow, doneB)}
}

// holds is what must be equal for a value to fit.
func holds(n pytree.Node) string { return kind(n) + " " + report.Describe(n) }

// only reports whether n leaves are all those of either side that hold the same.
func (t twinned) only(node pytree.Node, n int) bool {
	key := holds(node)
	return t.a[key] == n && t.b[key] == n
}

// guessed reports whether two names have nothing in common at their ends but
// numbers, so that only shape and dtype speak for the pair.
func (s *suggester) guessed(q pair) bool {
	a := strings.Split(s.p.old.leaves[q.a].dotted, ".")
	b := strings.Split(s.p.new.leaves[q.b].dotted, ".")
	shorter := min(len(a), len(b))
	for k := 0; k < shorter && a[k] == b[k]; k++ {
		if !isNumber(a[k]) {
			return false
		}
	}
	for k := 1; k <= shorter && a[len(a)-k] == b[len(b)-k]; k++ {
		if !isNumber(a[len(a)-k]) {
			return false
		}
	}
	return true
}

// family is leaves whose dotted paths differ in numbers only.
type family struct {
	comps  []string // with numbers as "*"
	ints   int      // how many numbers there are
	leaves []int32
	at     map[string]int32 // by their numbers
}

// maxComparisons bounds the work of looking for pairs; beyond it, leaves are
// left without a partner.
const maxComparisons = 4 << 20

// maxMeant is how many names a finding suggests at most.
const maxMeant = 3

// pair finds partners among unmapped old and unfilled new leaves: of the same
// kind, shape and dtype, with names that agree in most of their components, and
// each the only best choice of the other. Whole families are paired first, so
// that layers keep their numbers.
func (s *suggester) pair(lost, hollow []int32) []pair {
	p := s.p
	var pairs []pair
	doneA, doneB := make(map[int32]bool), make(map[int32]bool)
	budget := maxComparisons
	for range 4 {
		fa, fb := s.families(p.old, s.from, lost, doneA), s.families(p.new, s.to, hollow, doneB)
		like := s.twinned(lost, hollow, doneA, doneB)
		found := s.bestPairs(len(fa), len(fb), &budget, func(a, b int) int {
			n := s.kinship(fa[a], fb[b])
			if n == 1 && !like.only(p.old.leaves[fa[a].leaves[0]].node, len(fa[a].leaves)) {
				return 0
			}
			return n
		})
		before := len(pairs)
		for _, f := range found {
			for key, i := range fa[f.a].at {
				if j, ok := fb[f.b].at[key]; ok && s.alike(i, j) {
					pairs = append(pairs, pair{i, j})
					doneA[i], doneB[j] = true, true
				}
			}
		}
		if len(pairs) == before {
			break
		}
	}
	pairs = append(pairs, s.pairSingly(lost, hollow, doneA, doneB, &budget)...)
	slices.SortFunc(pairs, func(x, y pair) int { return int(x.a) - int(y.a) })
	return pairs
}

// families groups leaves by their paths without numbers, in file order.
func (s *suggester) families(sd *side, t *prefixes, leaves []int32, done map[int32]bool) []*family {
	byName := make(map[string]*family)
	var list []*family
	for _, i := range leaves {
		if _, ok := t.member[i]; !ok || done[i] {
			continue
		}
		name, numbers, n := withoutNumbers(sd.leaves[i].dotted)
		f, ok := byName[name]
		if !ok {
			f = &family{comps: strings.Split(name, "."), ints: n, at: make(map[string]int32)}
			byName[name] = f
			list = append(list, f)
		}
		f.leaves = append(f.leaves, i)
		f.at[numbers] = i
	}
	return list
}

// withoutNumbers replaces the components that are numbers by "*".
func withoutNumbers(dotted string) (name, numbers string, n int) {
	comps := strings.Split(dotted, ".")
	var nums []string
	for i, c := range comps {
		if isNumber(c) {
			nums = append(nums, c)
			comps[i] = "*"
		}
	}
	return strings.Join(comps, "."), strings.Join(nums, "."), len(nums)
}

func isNumber(s string) bool {
	for i := range len(s) {
		if s[i] < '0' || s[i] > '9' {
			return false
		}
	}
	return s != ""
}

// kinship is how well two families' names agree, or 0 if they cannot be one.
func (s *suggester) kinship(a, b *family) int {
	if a.ints != b.ints || len(a.leaves) == 0 {
		return 0
	}
	shared := false
	for k, i := range a.leaves {
		if k == 4 {
			break
		}
		_, numbers, _ := withoutNumbers(s.p.old.leaves[i].dotted)
		if j, ok := b.at[numbers]; ok && s.alike(i, j) {
			shared = true
			break
		}
	}
	if !shared {
		return 0
	}
	return s.agreement(a.comps, b.comps, s.p.old.leaves[a.leaves[0]].node)
}

// agreement counts the components that two names share at both ends. It is 0
// for names that may not be paired: a single number or text says too little to
// be recognised by its type, so its own name must be the same.
func (s *suggester) agreement(a, b []string, n pytree.Node) int {
	head, tail := 0, 0
	shorter := min(len(a), len(b))
	for head < shorter && a[head] == b[head] {
		head++
	}
	for tail < shorter-head && a[len(a)-1-tail] == b[len(b)-1-tail] {
		tail++
	}
	t, ok := n.(*pytree.Tensor)
	if tail == 0 && (!ok || head == 0 && t.Elements() < 2) {
		return 0
	}
	return 1 + head + tail
}

// alike reports whether a value would fit without a word.
func (s *suggester) alike(i, j int32) bool {
	code, _ := mismatch(s.p.old.leaves[i].node, s.p.new.leaves[j].node)
	return code == ""
}

// pairSingly pairs leaves whose numbers are others too, such as conv1 and
// features.0. Leaves that differ in numbers only are never paired: that would be
// to renumber them.
func (s *suggester) pairSingly(lost, hollow []int32, doneA, doneB map[int32]bool, budget *int) []pair {
	p := s.p
	type single struct {
		leaf  int32
		comps []string
		name  string
	}
	type bucket struct{ a, b []single }
	buckets := make(map[string]*bucket)
	var order []string
	file := func(sd *side, t *prefixes, leaves []int32, done map[int32]bool, add func(*bucket, single)) {
		for _, i := range leaves {
			if _, ok := t.member[i]; !ok || done[i] {
				continue
			}
			key := holds(sd.leaves[i].node)
			if buckets[key] == nil {
				buckets[key] = &bucket{}
				order = append(order, key)
			}
			name, _, _ := withoutNumbers(sd.leaves[i].dotted)
			add(buckets[key], single{i, strings.Split(sd.leaves[i].dotted, "."), name})
		}
	}
	file(p.old, s.from, lost, doneA, func(b *bucket, x single) { b.a = append(b.a, x) })
	file(p.new, s.to, hollow, doneB, func(b *bucket, x single) { b.b = append(b.b, x) })
	like := s.twinned(lost, hollow, doneA, doneB)
	var pairs []pair
	for _, key := range order {
		b := buckets[key]
		found := s.bestPairs(len(b.a), len(b.b), budget, func(x, y int) int {
			if b.a[x].name == b.b[y].name || !s.alike(b.a[x].leaf, b.b[y].leaf) {
				return 0
			}
			n := s.agreement(b.a[x].comps, b.b[y].comps, p.old.leaves[b.a[x].leaf].node)
			if n == 1 && !like.only(p.old.leaves[b.a[x].leaf].node, 1) {
				return 0
			}
			return n
		})
		for _, f := range found {
			pairs = append(pairs, pair{b.a[f.a].leaf, b.b[f.b].leaf})
		}
		if len(b.a)*len(b.b) <= 1<<12 {
			paired := make(map[int32]bool)
			for _, q := range pairs {
				paired[q.a], paired[^q.b] = true, true
			}
			for _, x := range b.a {
				for _, y := range b.b {
					if paired[x.leaf] || paired[^y.leaf] || x.name == y.name ||
						s.agreement(x.comps, y.comps, p.old.leaves[x.leaf].node) < 2 {
						continue
					}
					s.mean(s.meant, x.leaf, p.new.leaves[y.leaf].dotted)
					s.mean(s.meantB, y.leaf, p.old.leaves[x.leaf].dotted)
				}
			}
		}
	}
	return pairs
}

func (s *suggester) mean(m map[int32][]string, i int32, name string) {
	if len(m[i]) < maxMeant {
		m[i] = append(m[i], name)
	}
}

// bestPairs finds those of na and nb things that are each the only best choice
// of the other, by a score that is 0 for those that do not go together.
func (s *suggester) bestPairs(na, nb int, budget *int, score func(a, b int) int) []struct{ a, b int } {
	if na == 0 || nb == 0 || na > *budget/nb {
		return nil
	}
	*budget -= na * nb
	type choice struct{ score, who, ties int }
	bestA, bestB := make([]choice, na), make([]choice, nb)
	consider := func(c *choice, score, who int) {
		switch {
		case score > c.score:
			*c = choice{score, who, 0}
		case score == c.score:
			c.ties++
		}
	}
	for a := range na {
		for b := range nb {
			if n := score(a, b); n > 0 {
				consider(&bestA[a], n, b)
				consider(&bestB[b], n, a)
			}
		}
	}
	var found []struct{ a, b int }
	for a, c := range bestA {
		if c.score > 0 && c.ties == 0 && bestB[c.who].ties == 0 && bestB[c.who].who == a {
			found = append(found, struct{ a, b int }{a, c.who})
		}
	}
	return found
}
