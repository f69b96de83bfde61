package pickle

import "strconv"

// memo is what PUT stored. A pickler puts nearly every object there as soon as
// it is made, and reads few again, so the entries are small and without pointers:
// numbers of objects, or of values kept beside. Picklers number them densely from
// 0 or 1; an index far beyond the number of entries, as only hostile pickles
// have, goes to a map and costs no more than its own entry.
type memo struct {
	pages  []*[memoPage]memoEntry
	sparse map[uint32]memoEntry
	n      int // entries

	values  []*[valueBlock]Value
	nValues int
}

const (
	memoPage   = 1024
	valueBlock = 128
)

// memoEntry is 0 if absent, or twice an object's number plus 1, or twice a
// value's number plus 2.
type memoEntry uint32

// maxMemo bounds the numbers, so that they fit into a memoEntry.
const maxMemo = 1<<31 - 2

// slot is the place of i in the pages, or nil.
func (m *memo) slot(i uint32) *memoEntry {
	if p := i / memoPage; int64(p) < int64(len(m.pages)) && m.pages[p] != nil {
		return &m.pages[p][i%memoPage]
	}
	return nil
}

func (m *memo) get(a *alloc, i uint32) (v Value, ok bool) {
	var e memoEntry
	if s := m.slot(i); s != nil {
		e = *s
	}
	if e == 0 && m.sparse != nil {
		e = m.sparse[i]
	}
	switch {
	case e == 0:
		return Value{}, false
	case e%2 == 1:
		return objectValue(a.nth(int(e / 2))), true
	}
	n := e/2 - 1
	return m.values[n/valueBlock][n%valueBlock], true
}

// put stores v, and says whether there was room.
func (m *memo) put(a *alloc, i uint32, v Value) bool {
	var e memoEntry
	switch {
	case a.made > 0 && v.p == a.latest() && a.made <= maxMemo:
		e = memoEntry(a.made-1)*2 + 1
	case m.nValues < maxMemo:
		at := m.nValues % valueBlock
		if at == 0 {
			m.values = append(m.values, new([valueBlock]Value))
		}
		m.values[len(m.values)-1][at] = v
		m.nValues++
		e = memoEntry(m.nValues) * 2
	default:
		return false
	}
	s := m.slot(i)
	if s == nil && int64(i) <= 2*int64(m.n)+memoPage {
		p := int(i / memoPage)
		for len(m.pages) <= p {
			m.pages = append(m.pages, nil)
		}
		m.pages[p] = new([memoPage]memoEntry)
		s = &m.pages[p][i%memoPage]
	}
	old := s != nil && *s != 0
	if m.sparse != nil && !old {
		_, old = m.sparse[i]
	}
	if !old {
		m.n++
	}
	if s != nil {
		*s = e // hides an entry of sparse, if there is one
		return true
	}
	if m.sparse == nil {
		m.sparse = make(map[uint32]memoEntry)
	}
	m.sparse[i] = e
	return true
}

func (m *machine) getMemo(i uint32) error {
	v, ok := m.memo.get(&m.alloc, i)
	if !ok {
		return m.failf("memo entry %d does not exist", i)
	}
	m.push(v)
	return nil
}

func (m *machine) putMemo(i uint32) error {
	if !m.has(1) {
		return m.underflow()
	}
	if !m.memo.put(&m.alloc, i, *m.nth(1)) {
		return m.failf("the memo is full")
	}
	return nil
}

// memoLine reads the index of a GET or PUT from a line.
func (m *machine) memoLine(put bool) error {
	line, err := m.line()
	if err != nil {
		return err
	}
	i, err := strconv.ParseUint(string(line), 10, 32)
	if err != nil {
		return m.failf("%.40q is not a memo index", line)
	}
	if put {
		return m.putMemo(uint32(i))
	}
	return m.getMemo(uint32(i))
}
