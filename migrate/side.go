package migrate

import (
	"math"
	"strings"

	"ckpt/pytree"
)

// leaf is a leaf of either tree, or an empty container.
type leaf struct {
	path   pytree.Path
	dotted string
	node   pytree.Node
	// limit is how many dotted components a rule can cover: those before the
	// first key that cannot be addressed.
	limit int
}

// addressable reports whether a dotted path can name the leaf at all.
func (l *leaf) addressable() bool { return l.limit == math.MaxInt }

func makeLeaf(path pytree.Path, n pytree.Node) leaf {
	l := leaf{path: path, dotted: path.Dotted(), node: n, limit: math.MaxInt}
	if path.Addressable() {
		return l
	}
	l.limit = 0
	for _, k := range path.Keys() {
		if !k.Addressable() {
			break
		}
		l.limit += components(k.String())
	}
	return l
}

// side is the leaves of one tree, and where they are.
type side struct {
	leaves  []leaf
	empties []leaf  // containers without entries
	first   index   // the first leaf with each dotted path
	next    []int32 // the next leaf with the same dotted path, or -1
	twin    []bool  // another leaf has the same dotted path
}

// newSide lists a tree.
func newSide(t *pytree.Tree) *side {
	s := &side{}
	leaves, empties := countLeaves(t.Root)
	s.leaves, s.empties = make([]leaf, 0, leaves), make([]leaf, 0, empties)
	for p, n := range t.Entries() {
		if _, empty := n.(*pytree.Container); empty {
			s.empties = append(s.empties, makeLeaf(p, n))
			continue
		}
		s.leaves = append(s.leaves, makeLeaf(p, n))
	}
	s.first = newIndex(len(s.leaves))
	s.next = make([]int32, len(s.leaves))
	s.twin = make([]bool, len(s.leaves))
	// Backwards, so that each chain is in file order.
	for i := len(s.leaves) - 1; i >= 0; i-- {
		slot, tag := s.first.find(s.leaves, s.leaves[i].dotted)
		s.next[i] = -1
		if slot.tag != 0 {
			s.next[i] = slot.leaf
			s.twin[i], s.twin[slot.leaf] = true, true
		}
		slot.tag, slot.leaf = tag, int32(i)
	}
	return s
}

// countLeaves counts the leaves and the empty containers at and under n.
func countLeaves(n pytree.Node) (leaves, empties int) {
	c, ok := n.(*pytree.Container)
	switch {
	case n == nil:
		return 0, 0
	case !ok:
		return 1, 0
	case len(c.Entries) == 0:
		return 0, 1
	}
	for i := range c.Entries {
		l, e := countLeaves(c.Entries[i].Value)
		leaves, empties = leaves+l, empties+e
	}
	return leaves, empties
}

// named is the first leaf with a dotted path, or -1; s.next has the others.
func (s *side) named(dotted string) int32 {
	if len(s.leaves) == 0 {
		return -1
	}
	if slot, _ := s.first.find(s.leaves, dotted); slot.tag != 0 {
		return slot.leaf
	}
	return -1
}

// at is the leaf at an exact path, or -1.
func (s *side) at(path pytree.Path, dotted string) int32 {
	i := s.named(dotted)
	for i >= 0 && s.leaves[i].path != path {
		i = s.next[i]
	}
	return i
}

// shared reports whether another leaf has the same dotted path.
func (s *side) shared(i int32) bool { return s.twin[i] }

// cut splits a canonical path after its first depth dotted components. It gives
// how the first part reads (the canonical text up to there), and the rest; two
// rests are equal if the keys that remain are. A rest that begins inside a key
// begins with that key's dot.
func cut(path pytree.Path, depth int) (head, rest string) {
	s := string(path)
	if depth == 0 {
		return "", s[1:]
	}
	in := false
	for i := 1; i < len(s)-1; i++ {
		switch c := s[i]; {
		case c == '\\' && in:
			i++
			continue
		case c == '"':
			in = !in
			continue
		case c == '.' && in || c == ',' && !in:
		default:
			continue
		}
		if depth--; depth == 0 {
			if s[i] == ',' {
				return s[:i], s[i+1:]
			}
			return s[:i], s[i:]
		}
	}
	return s[:len(s)-1], "]"
}

// tail is what follows the first depth components of a dotted path, without the
// dot between, and whether there is anything.
func tail(dotted string, depth int) (string, bool) {
	if depth == 0 {
		return dotted, true
	}
	for i := 0; i < len(dotted); i++ {
		n := strings.IndexByte(dotted[i:], '.')
		if n < 0 {
			break
		}
		i += n
		if depth--; depth == 0 {
			return dotted[i+1:], true
		}
	}
	return "", false
}
