package pickle

import (
	"hash/maphash"
	"math"
	"math/big"
)

// Keys of dicts and items of sets are the same if Python says so: numbers by
// value whatever their type (1 == 1.0 == True, -0.0 == 0), NaN never, texts by
// content, tuples by their items. Three rules are ours. Python 2's str equals
// a str of the same bytes, as when it is loaded with encoding="utf-8". Texts and
// bytes that were left in the input, very large tuples and integers, frozensets
// and what only Python could make are the same if they are the same object.
// Lists, dicts, sets and bytearrays are no keys: Python raises TypeError.

const (
	// scanKeys is how many keys are searched one by one, without an index.
	scanKeys = 8
	// A tuple is compared by value if it has at most this much inside: a point
	// for each value and each 16 bytes of text, and this many levels.
	maxKeyCost  = 64
	maxKeyDepth = 8
	// A BigInt is compared by value up to this many bits.
	maxKeyBits = 1024
)

// setKeys sets keys and values on a dict. The last value of a key wins, and the
// key keeps its first place.
func (m *machine) setKeys(o *Object, kv []Value) error {
	if len(kv)%2 != 0 {
		return m.failf("a key has no value")
	}
	return m.insert(o, kv, 2)
}

// addKeys adds items to a set.
func (m *machine) addKeys(o *Object, vals []Value) error { return m.insert(o, vals, 1) }

// insert adds entries of step values each, of which the first is the key.
func (m *machine) insert(o *Object, entries []Value, step int) error {
	o.Items = m.room(o.Items, len(entries))
	for ; len(entries) > 0; entries = entries[step:] {
		key := entries[0]
		cost, depth := maxKeyCost, maxKeyDepth
		if bad := unhashable(key, &cost, depth); bad != Invalid {
			return m.failf("%s cannot be a key or the item of a set", bad.one())
		}
		at := -1
		if len(o.Items) <= scanKeys*step {
			for i := 0; i < len(o.Items); i += step {
				if sameKey(o.Items[i], key) {
					at = i
					break
				}
			}
		} else {
			at = m.index(o, step).find(m, o.Items, key, step)
		}
		if at < 0 {
			o.Items = append(o.Items, entries[:step]...)
		} else if step == 2 {
			m.dropped(o.Items[at+1])
			o.Items[at+1] = entries[1]
		}
	}
	return nil
}

// room makes sure that n more values fit into items.
func (m *machine) room(items []Value, n int) []Value {
	if items == nil && n > 0 {
		return m.alloc.values(n)[:0]
	}
	return grow(items, n)
}

// keyIndex finds keys in a long list of items: a hash table with open
// addressing, whose slots hold half a hash and the number of the entry plus one.
// The hash is seeded anew for each pickle, so that nobody can make keys collide.
type keyIndex struct {
	slots []uint64
	used  int
}

func (m *machine) index(o *Object, step int) *keyIndex {
	if m.lastObj == o {
		return m.lastIdx
	}
	x := m.indexes[o]
	if x == nil {
		if m.indexes == nil {
			m.indexes = make(map[*Object]*keyIndex)
		}
		x = &keyIndex{}
		x.rebuild(m, o.Items, step)
		m.indexes[o] = x
	}
	m.lastObj, m.lastIdx = o, x
	return x
}

// find gives the place of key in items, or -1: then key is expected to be
// appended, and is entered as such.
func (x *keyIndex) find(m *machine, items []Value, key Value, step int) int {
	if 4*x.used >= 3*len(x.slots) {
		x.rebuild(m, items, step)
	}
	entry := uint64(len(items) / step)
	h := m.hashKey(key, entry)
	mask := uint64(len(x.slots) - 1)
	tag := h &^ (1<<32 - 1)
	for i := h & mask; ; i = (i + 1) & mask {
		s := x.slots[i]
		if s == 0 {
			x.slots[i] = tag | (entry + 1)
			x.used++
			return -1
		}
		if s&^(1<<32-1) == tag {
			at := int(s&(1<<32-1)-1) * step
			if sameKey(items[at], key) {
				return at
			}
		}
	}
}

func (x *keyIndex) rebuild(m *machine, items []Value, step int) {
	n := len(items) / step
	size := 32
	for size < 3*n {
		size *= 2
	}
	x.slots = make([]uint64, size)
	x.used = n
	mask := uint64(size - 1)
	for e := range n {
		h := m.hashKey(items[e*step], uint64(e))
		i := h & mask
		for x.slots[i] != 0 {
			i = (i + 1) & mask
		}
		x.slots[i] = h&^(1<<32-1) | uint64(e+1)
	}
}

// unhashable gives the kind of the value that makes v no key, or Invalid. Beyond
// the limits it does not look, and cost is negative afterwards.
func unhashable(v Value, cost *int, depth int) Kind {
	switch v.Kind() {
	case List, Dict, Set, ByteArray:
		return v.Kind()
	case Tuple:
		if depth == 0 {
			*cost = -1
		}
		for _, item := range v.Obj().Items {
			if *cost -= 1 + len(item.Str())/16; *cost < 0 {
				return Invalid
			}
			if bad := unhashable(item, cost, depth-1); bad != Invalid {
				return bad
			}
		}
	}
	return Invalid
}

// byValue says whether a tuple is small enough to be compared by its items.
func byValue(v Value) bool {
	cost := maxKeyCost
	return unhashable(v, &cost, maxKeyDepth) == Invalid && cost >= 0
}

// The classes of keys that may be equal to each other.
type keyClass uint8

const (
	keyNone keyClass = iota
	keyInt
	keyFloat // neither NaN nor a 64-bit integer
	keyNaN
	keyBig
	keyText
	keyBytes
	keyTuple
	keyObject
)

// normal gives the class of a key, and a Value that is the same for all equal
// keys of the classes keyNone to keyFloat.
func normal(v Value) (keyClass, Value) {
	switch v.Kind() {
	case None:
		return keyNone, v
	case Bool:
		if v.Bool() {
			return keyInt, intValue(1)
		}
		return keyInt, intValue(0)
	case Int:
		return keyInt, v
	case Float:
		f := v.Float()
		if f != f {
			return keyNaN, v
		}
		if f >= -1<<63 && f < 1<<63 && f == math.Trunc(f) {
			return keyInt, intValue(int64(f))
		}
		return keyFloat, v
	case BigInt:
		b := v.Obj().Big()
		if b.BitLen() > maxKeyBits {
			return keyObject, v
		}
		if f, acc := new(big.Float).SetInt(b).Float64(); acc == big.Exact {
			return keyFloat, floatValue(f)
		}
		return keyBig, v
	case Text, Raw:
		return keyText, v
	case Bytes:
		return keyBytes, v
	case Tuple:
		if byValue(v) {
			return keyTuple, v
		}
	}
	return keyObject, v
}

func sameKey(a, b Value) bool {
	if a.Kind() == Text && b.Kind() == Text { // nearly all
		return a.Str() == b.Str()
	}
	ca, a := normal(a)
	cb, b := normal(b)
	if ca != cb {
		return false
	}
	switch ca {
	case keyNone:
		return true
	case keyInt, keyFloat:
		return a.bits == b.bits
	case keyBig:
		return a.Obj().Big().Cmp(b.Obj().Big()) == 0
	case keyText, keyBytes:
		return a.Str() == b.Str()
	case keyTuple:
		x, y := a.Obj().Items, b.Obj().Items
		if len(x) != len(y) {
			return false
		}
		for i := range x {
			if !sameKey(x[i], y[i]) {
				return false
			}
		}
		return true
	case keyObject:
		return a.p == b.p
	}
	return false // NaN
}

// hashKey hashes a key so that equal ones hash alike. salt tells apart those
// that are equal to none.
func (m *machine) hashKey(v Value, salt uint64) uint64 {
	if v.Kind() == Text {
		return maphash.String(m.seed, v.Str())
	}
	c, v := normal(v)
	switch c {
	case keyText:
		return maphash.String(m.seed, v.Str())
	case keyBytes:
		return maphash.String(m.seed, v.Str()) + 1
	case keyNaN:
		return m.hashWords(uint64(c), salt)
	case keyBig:
		return maphash.Bytes(m.seed, v.Obj().Big().Bytes()) // the sign hardly matters
	case keyTuple:
		h := uint64(c)
		for _, item := range v.Obj().Items {
			h = m.hashWords(h, m.hashKey(item, salt))
		}
		return h
	case keyObject:
		return maphash.Comparable(m.seed, v.p)
	}
	return m.hashWords(uint64(c), v.bits)
}

func (m *machine) hashWords(a, b uint64) uint64 {
	return maphash.Comparable(m.seed, [2]uint64{a, b})
}
