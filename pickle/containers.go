package pickle

func (m *machine) newEmptyTuple() Value {
	if m.emptyTuple == nil { // Python has only one, too
		m.emptyTuple = m.object(Tuple)
	}
	return objectValue(m.emptyTuple)
}

func (m *machine) tupleOf(n int) error {
	if !m.has(n) {
		return m.underflow()
	}
	o := m.objectOf(Tuple, n)
	copy(o.Items, m.top[len(m.top)-n:])
	m.drop(n - 1)
	*m.nth(1) = objectValue(o)
	return nil
}

// collect makes a container of the values above the mark.
func (m *machine) collect(op byte) error {
	vals, own, ok := m.aboveMark()
	if !ok {
		return m.failf("there is no MARK")
	}
	var o *Object
	switch op {
	case opTuple:
		if len(vals) == 0 {
			m.push(m.newEmptyTuple())
			return nil
		}
		o = m.object(Tuple)
		o.Items = m.keep(vals, own)
	case opList:
		o = m.object(List)
		o.Items = m.keep(vals, own)
	case opDict:
		o = m.object(Dict)
		if err := m.setKeys(o, vals); err != nil {
			return err
		}
	case opFrozenSet:
		o = m.object(FrozenSet)
		if err := m.addKeys(o, vals); err != nil {
			return err
		}
	}
	m.push(objectValue(o))
	return nil
}

// keep gives values of the stack a place of their own.
func (m *machine) keep(vals []Value, own bool) []Value {
	if own {
		return vals
	}
	items := m.alloc.values(len(vals))
	copy(items, vals)
	return items
}

// add appends values to items that may already be there.
func (m *machine) add(items, vals []Value) []Value {
	if items == nil {
		return m.keep(vals, false)
	}
	return append(grow(items, len(vals)), vals...)
}

// opaque says whether v stands for an object that only Python could make, so
// that nobody knows here what methods it has.
func opaque(v Value) bool {
	switch v.Kind() {
	case Global, Call, New, Inst, Persistent, Extension, Buffer:
		return true
	}
	return false
}

func (m *machine) appendOne() error {
	if !m.has(2) {
		return m.underflow()
	}
	err := m.appendTo(*m.nth(2), m.top[len(m.top)-1:])
	m.drop(1)
	return err
}

func (m *machine) appendMarked() error {
	vals, _, ok := m.aboveMark()
	if !ok {
		return m.failf("there is no MARK")
	}
	if !m.has(1) {
		return m.underflow()
	}
	return m.appendTo(*m.nth(1), vals)
}

// The three functions below accept anything if there is nothing to add, as
// CPython does.

func (m *machine) appendTo(list Value, vals []Value) error {
	o := list.Obj()
	switch {
	case len(vals) == 0:
	case list.Kind() == List:
		o.Items = m.add(o.Items, vals)
	case opaque(list):
		p := o.addPart(partList)
		p.vals = m.add(p.vals, vals)
	default:
		return m.failf("cannot append to %s", list.Kind().one())
	}
	return nil
}

func (m *machine) setOne() error {
	if !m.has(3) {
		return m.underflow()
	}
	err := m.setOn(*m.nth(3), m.top[len(m.top)-2:])
	m.drop(2)
	return err
}

func (m *machine) setMarked() error {
	vals, _, ok := m.aboveMark()
	if !ok {
		return m.failf("there is no MARK")
	}
	if !m.has(1) {
		return m.underflow()
	}
	return m.setOn(*m.nth(1), vals)
}

func (m *machine) setOn(dict Value, kv []Value) error {
	o := dict.Obj()
	switch {
	case len(kv) == 0:
	case dict.Kind() == Dict:
		return m.setKeys(o, kv)
	case opaque(dict):
		if len(kv)%2 != 0 {
			return m.failf("a key has no value")
		}
		p := o.addPart(partDict)
		p.vals = m.add(p.vals, kv)
	default:
		return m.failf("cannot set items of %s", dict.Kind().one())
	}
	return nil
}

func (m *machine) addMarked() error {
	vals, _, ok := m.aboveMark()
	if !ok {
		return m.failf("there is no MARK")
	}
	if !m.has(1) {
		return m.underflow()
	}
	return m.addTo(*m.nth(1), vals)
}

func (m *machine) addTo(set Value, vals []Value) error {
	o := set.Obj()
	switch {
	case len(vals) == 0:
	case set.Kind() == Set:
		return m.addKeys(o, vals)
	case opaque(set):
		p := o.addPart(partSet)
		p.vals = m.add(p.vals, vals)
	default:
		return m.failf("cannot add to %s", set.Kind().one())
	}
	return nil
}
