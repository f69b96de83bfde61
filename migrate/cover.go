package migrate

import "slices"

// coverage is, for every old leaf, the longest rules whose from_path covers it.
type coverage struct {
	spans []span
	list  []int32  // the rules of all spans, each distinct run once
	used  []bool   // for each rule: its from_path covers something
	heads []string // for each twofold rule: how its from_path reads in full
	// empties is the same for the empty containers.
	empties []span
	trie    trie
}

// span is a run of rules, all of the same length.
type span struct {
	at, n int32
	depth int32 // their length in dotted components, or -1 without any
}

func newCoverage(s *side, rules []rule) *coverage {
	c := &coverage{
		spans: make([]span, len(s.leaves)), empties: make([]span, len(s.empties)),
		used: make([]bool, len(rules)), heads: make([]string, len(rules)),
	}
	for i := range rules {
		if rules[i].from.set() {
			c.trie.add(rules[i].from, int32(i))
		}
	}
	for i := range s.leaves {
		c.spans[i] = c.longest(&s.leaves[i], rules)
	}
	for i := range s.empties {
		c.empties[i] = c.longest(&s.empties[i], rules)
	}
	return c
}

// several is the head of a dotted path that reads in more than one way.
const several = "?"

// note notes how the path of a twofold rule reads in a leaf that it covers.
func note(heads []string, l *leaf, rules []rule, r int32, pick func(*rule) pattern) {
	if !rules[r].twofold() {
		return
	}
	switch head, _ := cut(l.path, pick(&rules[r]).depth); heads[r] {
	case "":
		heads[r] = head
	case head:
	default:
		heads[r] = several
	}
}

func fromOf(r *rule) pattern { return r.from }
func toOf(r *rule) pattern   { return r.to }

// longest finds the longest rules that cover a leaf.
func (c *coverage) longest(l *leaf, rules []rule) span {
	s := span{depth: -1}
	begin := len(c.list)
	c.trie.covering(l, rules, fromOf, func(depth int, r int32) {
		c.used[r] = true
		note(c.heads, l, rules, r, fromOf)
		if int32(depth) > s.depth {
			s.depth = int32(depth)
			c.list = c.list[:begin]
		}
		c.list = append(c.list, r)
	})
	got := c.list[begin:]
	if len(got) == 0 {
		return s
	}
	s.at, s.n = int32(begin), int32(len(got))
	// Neighbours mostly follow the same rules.
	if prev := begin - len(got); prev >= 0 && slices.Equal(c.list[prev:begin], got) {
		c.list = c.list[:begin]
		s.at = int32(prev)
	}
	return s
}

// find is the longest rules that cover a container.
func (c *coverage) find(l *leaf, rules []rule) []int32 {
	var found []int32
	longest := -1
	c.trie.covering(l, rules, fromOf, func(depth int, r int32) {
		if depth > longest {
			longest, found = depth, found[:0]
		}
		found = append(found, r)
	})
	return found
}

// rulesOf is the rules of a span.
func (c *coverage) rulesOf(s span) []int32 { return c.list[s.at : s.at+s.n] }

// targets is, for every new leaf, the longest rules whose to_path covers it.
type targets struct {
	trie    trie
	rules   []rule
	leaves  []target
	empties []target
	used    []bool   // for each rule: its to_path covers something
	heads   []string // for each twofold rule: how its to_path reads in full
}

// target is what rules say about one new leaf: rules are -1 for none, depths
// are theirs.
type target struct {
	keep, create           int32
	keepDepth, createDepth int32
}

func newTargets(s *side, rules []rule) *targets {
	t := &targets{
		leaves: make([]target, len(s.leaves)), empties: make([]target, len(s.empties)),
		used: make([]bool, len(rules)), heads: make([]string, len(rules)), rules: rules,
	}
	for i := range rules {
		if rules[i].to.set() {
			t.trie.add(rules[i].to, int32(i))
		}
	}
	for i := range s.leaves {
		t.leaves[i] = t.longest(&s.leaves[i])
	}
	for i := range s.empties {
		t.empties[i] = t.longest(&s.empties[i])
	}
	return t
}

// longest finds what the longest rules say about a leaf.
func (t *targets) longest(l *leaf) target {
	got := target{-1, -1, -1, -1}
	t.trie.covering(l, t.rules, toOf, func(depth int, r int32) {
		t.used[r] = true
		note(t.heads, l, t.rules, r, toOf)
		switch {
		case !t.rules[r].from.set():
			if int32(depth) > got.keepDepth {
				got.keep, got.keepDepth = r, int32(depth)
			}
		case t.rules[r].create:
			if int32(depth) > got.createDepth {
				got.create, got.createDepth = r, int32(depth)
			}
		}
	})
	return got
}
