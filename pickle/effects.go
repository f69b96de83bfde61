package pickle

// Python's pickler drops a value in two cases. Where a class has a function to
// set the state of its objects, it calls that with the object and the state, and
// drops at once what it returns, which leaves the object on top of the stack. And
// where a tuple or the arguments of a call hold what they are for, it drops parts
// of a second copy; the first is in the memo. Any other call that is dropped is made
// for its effect alone, and must not go unseen.

// dropped takes note of a value that the opcode being run has taken off the stack.
func (m *machine) dropped(v Value) {
	o := v.Obj()
	if o == nil || o.Kind < List {
		return
	}
	if o.Kind == Call && o.Pos == m.at-1 && m.op == opPop && m.has(1) { // just made, and in no memo
		if args := o.Items[1]; args.Kind() == Tuple && len(args.Obj().Items) > 0 {
			it := args.Obj().Items[0].Obj()
			if it != nil && called(it) && it == m.nth(1).Obj() {
				p := it.addPart(partEffect)
				p.vals = append(grow(p.vals, 1), v)
				return
			}
		}
	}
	if len(o.Items) > 0 || o.more != nil {
		m.drops = append(grow(m.drops, 1), v)
	}
}

// dropRest drops what STOP leaves on the stack.
func (m *machine) dropRest() {
	for _, vals := range append(m.spilt, m.top) {
		for _, v := range vals {
			m.dropped(v)
		}
	}
}

// called says whether making o calls something.
func called(o *Object) bool { return o.Kind == Call || o.Kind == New || o.Kind == Inst }

// droppedCalls gives the calls that were dropped, or are inside what was, and
// that the root does not lead to.
func (m *machine) droppedCalls() (calls []Value) {
	if len(m.drops) == 0 {
		return nil
	}
	m.reach(m.result.Root, func(Value) {})
	for _, v := range m.drops {
		m.reach(v, func(v Value) {
			if called(v.Obj()) {
				calls = append(calls, v)
			}
		})
	}
	return calls
}

// reach marks all objects that v leads to and gives f those that were not marked
// before.
func (m *machine) reach(v Value, f func(Value)) {
	var todo []Value
	push := func(vals []Value) {
		for _, v := range vals {
			if o := v.Obj(); o != nil && !o.seen {
				o.seen = true
				todo = append(todo, v)
				f(v)
			}
		}
	}
	push([]Value{v})
	for len(todo) > 0 {
		o := todo[len(todo)-1].Obj()
		todo = todo[:len(todo)-1]
		push(o.Items)
		for p := o.more; p != nil; p = p.next {
			push(p.vals)
		}
	}
}
