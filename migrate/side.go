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
	empties []leaf // containers without entries
	first   map[string]int32
	next    []int32 // the next leaf with the same dotted path, or -1
}

// newSide lists a tree.
func newSide(t *pytree.Tree) *side {
	s := &side{}
	for p, n := range t.Entries() {
		if c, ok := n.(*pytree.Container); ok && len(c.Entries) == 0 {
			s.empties = append(s.empties, makeLeaf(p, n))
			continue
		}
		s.leaves = append(s.leaves, makeLeaf(p, n))
	}
	s.first = make(map[string]int32, len(s.leaves))
	s.next = make([]int32, len(s.leaves))
	// Backwards, so that each chain is in file order.
	for i := len(s.leaves) - 1; i >= 0; i-- {
		d := s.leaves[i].dotted
		if j, ok := s.first[d]; ok {
			s.next[i] = j
		} else {
			s.next[i] = -1
		}
		s.first[d] = int32(i)
	}
	return s
}

// named is the first leaf with a dotted path, or -1; s.next has the others.
func (s *side) named(dotted string) int32 {
	if i, ok := s.first[dotted]; ok {
		return i
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
func (s *side) shared(i int32) bool {
	j := s.first[s.leaves[i].dotted]
	return s.next[j] >= 0
}

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
