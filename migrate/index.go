package migrate

import (
	"hash/maphash"
	"math/bits"
)

// index finds leaves by their dotted paths. It is a plain hash table of the
// leaves' numbers: a map of a million strings takes several times the memory.
type index struct {
	seed  maphash.Seed
	slots []slot
	shift int // the hash's top bits choose the slot
}

// slot is one entry; tag zero is none.
type slot struct {
	tag  uint32
	leaf int32
}

// newIndex makes room for n leaves.
func newIndex(n int) index {
	width := bits.Len(uint(n + n/2))
	return index{seed: maphash.MakeSeed(), slots: make([]slot, 1<<width), shift: 64 - width}
}

// find is the slot of a dotted path: that of the leaf that has it, or the free
// one where it belongs.
func (x *index) find(leaves []leaf, dotted string) (*slot, uint32) {
	h := maphash.String(x.seed, dotted)
	tag := uint32(h) | 1
	for i := h >> x.shift; ; i++ {
		s := &x.slots[i&uint64(len(x.slots)-1)]
		if s.tag == 0 || s.tag == tag && leaves[s.leaf].dotted == dotted {
			return s, tag
		}
	}
}
