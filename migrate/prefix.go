package migrate

import "strings"

// prefixes is a tree of the dotted prefixes of some leaves of one side: those
// that suggestions are wanted for, its members. It tells for each prefix what a
// new rule for it would cover.
type prefixes struct {
	next   map[edge]int32
	nodes  []prefix
	member map[int32]int32 // leaf to node
}

type edge struct {
	parent int32
	comp   string
}

// prefix is one node.
type prefix struct {
	parent int32
	depth  int32
	end    int32 // where the prefix ends in leaf's dotted path
	leaf   int32 // one that has it
	// members is how many members a new rule for the prefix would decide about,
	// others how many leaves that it should not touch.
	// And below how many leaves have longer rules.
	members, others, longer int32
	// marked is how many of the members one and the same suggestion is for.
	marked int32
	// whole tells that a member's path ends here.
	whole bool
}

func newPrefixes() *prefixes {
	return &prefixes{next: make(map[edge]int32), nodes: []prefix{{parent: -1, leaf: -1}}, member: make(map[int32]int32)}
}

// add makes the nodes of a member's prefixes.
func (t *prefixes) add(s *side, i int32) {
	if _, ok := t.member[i]; ok {
		return
	}
	at := int32(0)
	dotted := s.leaves[i].dotted
	for begin := 0; ; {
		end := len(dotted)
		if n := strings.IndexByte(dotted[begin:], '.'); n >= 0 {
			end = begin + n
		}
		e := edge{at, dotted[begin:end]}
		n, ok := t.next[e]
		if !ok {
			n = int32(len(t.nodes))
			t.next[e] = n
			t.nodes = append(t.nodes, prefix{parent: at, depth: t.nodes[at].depth + 1, end: int32(end), leaf: i})
		}
		at = n
		if end == len(dotted) {
			break
		}
		begin = end + 1
	}
	t.member[i] = at
	t.nodes[at].whole = true
}

// cover counts a leaf at every prefix that it has. A new rule decides about a
// leaf if it is longer than the rules that do so far (floor); as long as one of
// those, it would contradict it. Without any, floor is 0.
func (t *prefixes) cover(l *leaf, floor int32, member bool) {
	if len(t.nodes) == 1 {
		return
	}
	at, dotted := int32(0), l.dotted
	for begin := 0; ; {
		end := len(dotted)
		if n := strings.IndexByte(dotted[begin:], '.'); n >= 0 {
			end = begin + n
		}
		n, ok := t.next[edge{at, dotted[begin:end]}]
		if !ok {
			return
		}
		at = n
		p := &t.nodes[at]
		switch {
		case int(p.depth) > l.limit:
		case p.depth < floor:
			p.longer++
		case member && p.depth > floor:
			p.members++
		default:
			p.others++
		}
		if end == len(dotted) {
			return
		}
		begin = end + 1
	}
}

// mark counts a member at those of its prefixes at which a new rule would decide
// about it.
func (t *prefixes) mark(i, floor int32) {
	for n := t.member[i]; t.nodes[n].depth > floor; n = t.nodes[n].parent {
		t.nodes[n].marked++
	}
}

// unmark forgets all marks.
func (t *prefixes) unmark() {
	for i := range t.nodes {
		t.nodes[i].marked = 0
	}
}

// clean reports whether a rule for the prefix would touch members only.
func (t *prefixes) clean(n int32) bool {
	return t.nodes[n].others == 0 && t.nodes[n].members > 0
}

// widest is a prefix of a member that covers marked members and nothing else,
// as many as any such prefix; among equals it is the longest, which says best
// what it is about. It is 0 for none.
func (t *prefixes) widest(s *side, i, floor int32) int32 {
	found := int32(0)
	for n := t.member[i]; t.nodes[n].depth > floor; n = t.nodes[n].parent {
		p := &t.nodes[n]
		if t.clean(n) && p.marked == p.members && t.text(s, n) != "" && (found == 0 || p.marked > t.nodes[found].marked) {
			found = n
		}
	}
	return found
}

// text is the prefix as a rule writes it.
func (t *prefixes) text(s *side, n int32) string {
	return s.leaves[t.nodes[n].leaf].dotted[:t.nodes[n].end]
}
