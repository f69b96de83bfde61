package pickle

// hasIdentity says whether it matters that o is one object. A name, a number and
// the empty tuple are written again each time, unless they were given state.
func hasIdentity(o *Object) bool {
	switch o.Kind {
	case BigInt:
		return false
	case Global:
		return o.more.next != nil
	case Extension:
		return o.more != nil
	case Tuple:
		return len(o.Items) > 0 || o.more != nil
	}
	return true
}

// construct writes the items of o and then op, which takes them all. e is nil for
// what has no items.
func (g graphWriter) construct(o *Object, e *written, op byte) (inside bool, err error) {
	before := g.reentered
	for i, v := range o.Items {
		if err := g.value(v); err != nil {
			return false, err
		}
		if g.reentered != before && e.done {
			for range i + 1 {
				g.Pop()
			}
			g.Get(e.memo)
			return true, nil
		}
	}
	g.emit(op)
	return false, nil
}

// constructMarked is construct for any number of items above a mark.
func (g graphWriter) constructMarked(e *written, items []Value, op byte) (inside bool, err error) {
	before := g.reentered
	for _, v := range items {
		if err := g.value(v); err != nil {
			return false, err
		}
		if g.reentered != before && e.done {
			g.PopMark()
			g.Get(e.memo)
			return true, nil
		}
	}
	g.emit(op)
	return false, nil
}

func (g graphWriter) tuple(o *Object, e *written) (inside bool, err error) {
	switch n := len(o.Items); n {
	case 0:
		g.EmptyTuple()
		return false, nil
	case 1, 2, 3:
		return g.construct(o, e, opTuple1+byte(n-1))
	}
	g.Mark()
	return g.constructMarked(e, o.Items, opTuple)
}

func (g graphWriter) inst(o *Object, e *written) (inside bool, err error) {
	g.Mark()
	parts := append([]Value{o.Items[0]}, o.Items[1].Obj().Items...)
	return g.constructMarked(e, parts, opObj)
}

// set writes a set as the call of its type with a list of its items. A set that
// is reached a third time before it is written holds itself with nothing between
// that is in the memo; then it is made empty and filled.
func (g graphWriter) set(o *Object, e *written) (inside bool, err error) {
	if o.Kind == Set && e.open > 2 {
		g.emit(opEmptySet)
		g.store(e)
		return false, g.batches(o.Items, 1, opAddItems, opAddItems)
	}
	name := "set"
	if o.Kind == FrozenSet {
		name = "frozenset"
	}
	g.Global("__builtin__", name)
	g.EmptyList()
	if err := g.appends(o.Items); err != nil {
		return false, err
	}
	if e.done {
		g.Pop()
		g.Pop()
		g.Get(e.memo)
		return true, nil
	}
	g.Tuple(1)
	g.Reduce()
	return false, nil
}

func (g graphWriter) byteArray(o *Object) error {
	g.Global("__builtin__", "bytearray")
	if v := o.Items[0]; v.Kind() == Bytes && v.Str() == "" {
		g.EmptyTuple()
	} else {
		if err := g.value(v); err != nil {
			return err
		}
		g.Tuple(1)
	}
	g.Reduce()
	return nil
}

func (g graphWriter) extension(code int64) {
	switch {
	case code < 1<<8:
		g.emit(opExt1, byte(code))
	case code < 1<<16:
		g.emit(opExt2, byte(code), byte(code>>8))
	default:
		g.emitUint32(opExt4, uint32(code))
	}
}

// extras writes the items and state that an object was given after it was made.
func (g graphWriter) extras(o *Object) error {
	for m := o.more; m != nil; m = m.next {
		var err error
		switch m.what {
		case partList:
			err = g.appends(m.vals)
		case partDict:
			err = g.setItems(m.vals)
		case partSet:
			err = g.batches(m.vals, 1, opAddItems, opAddItems)
		case partState:
			for _, v := range m.vals {
				if err = g.value(v); err != nil {
					break
				}
				g.Build()
			}
		case partEffect:
			for _, v := range m.vals {
				if err = g.effect(v.Obj()); err != nil {
					break
				}
			}
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// effect makes a call and drops at once what it returns, which nothing refers to.
func (g graphWriter) effect(call *Object) error {
	for _, v := range call.Items {
		if err := g.value(v); err != nil {
			return err
		}
	}
	g.Reduce()
	g.Pop()
	return nil
}

func (g graphWriter) appends(items []Value) error {
	return g.batches(items, 1, opAppend, opAppends)
}

func (g graphWriter) setItems(kv []Value) error {
	return g.batches(kv, 2, opSetItem, opSetItems)
}

// batches writes entries of step values each and the opcode that adds them to
// the object below: one for a single entry, many for those above a mark.
func (g graphWriter) batches(vals []Value, step int, one, many byte) error {
	for len(vals) > 0 {
		n := min(len(vals), batch*step)
		single := n == step && one != many
		if !single {
			g.Mark()
		}
		for _, v := range vals[:n] {
			if err := g.value(v); err != nil {
				return err
			}
		}
		if single {
			g.emit(one)
		} else {
			g.emit(many)
		}
		vals = vals[n:]
	}
	return nil
}
