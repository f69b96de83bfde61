package pickle

import (
	"strings"
	"unsafe"
)

// Sizes of the blocks that objects, items and short texts are cut from. The last
// two begin small, for small pickles, and double.
const (
	objectBlock        = 128
	minItems, maxItems = 64, 1024
	minChars, maxChars = 512, 32 << 10
)

// alloc hands out the parts of the graph from blocks, which costs a fraction of
// one allocation each, in time and in the collector's work.
type alloc struct {
	made   int                    // objects
	blocks []*[objectBlock]Object // all of them, by number
	items  []Value                // what is free in the latest block
	chars  []byte                 // likewise

	nextItems, nextChars int
}

func (a *alloc) object(k Kind, pos int64) *Object {
	n := a.made % objectBlock
	if n == 0 {
		a.blocks = append(a.blocks, new([objectBlock]Object))
	}
	o := &a.blocks[len(a.blocks)-1][n]
	a.made++
	o.Kind, o.Pos = k, pos
	return o
}

// nth gives an object by its number, from 0.
func (a *alloc) nth(n int) *Object { return &a.blocks[n/objectBlock][n%objectBlock] }

// latest points to the object that was made last. There must be one.
func (a *alloc) latest() unsafe.Pointer { return unsafe.Pointer(a.nth(a.made - 1)) }

// values gives n zero values, with no room to grow.
func (a *alloc) values(n int) []Value {
	if n > len(a.items) {
		if n > maxItems/8 {
			return make([]Value, n)
		}
		a.nextItems = min(max(2*a.nextItems, minItems), maxItems)
		a.items = make([]Value, max(n, a.nextItems))
	}
	s := a.items[:n:n]
	a.items = a.items[n:]
	return s
}

// text keeps a copy of s.
func (a *alloc) text(s string) string {
	n := len(s)
	if n == 0 {
		return ""
	}
	if n > len(a.chars) {
		if n > maxChars/8 {
			return strings.Clone(s)
		}
		a.nextChars = min(max(2*a.nextChars, minChars), maxChars)
		a.chars = make([]byte, max(n, a.nextChars))
	}
	copy(a.chars, s)
	kept := unsafe.String(&a.chars[0], n)
	a.chars = a.chars[n:]
	return kept
}

func (m *machine) object(k Kind) *Object { return m.alloc.object(k, m.at) }

// objectOf makes an object with n items, to be set.
func (m *machine) objectOf(k Kind, n int) *Object {
	o := m.alloc.object(k, m.at)
	o.Items = m.alloc.values(n)
	return o
}

// grow returns s with room for n more values, at least doubled so that growing
// one by one costs constant time each. The room beyond len is zero.
func grow(s []Value, n int) []Value {
	if cap(s)-len(s) >= n {
		return s
	}
	t := make([]Value, len(s), max(len(s)+n, 2*cap(s), 4))
	copy(t, s)
	return t
}
