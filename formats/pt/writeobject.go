package pt

import (
	"strings"

	"ckpt/formats"
	"ckpt/pickle"
	"ckpt/pytree"
)

// object writes an object: its construction, its items, its state, in the order
// in which CPython's pickler does.
func (e *encoder) object(c *pytree.Container, how *call) error {
	if err := e.construct(c, how); err != nil {
		return err
	}
	if i, ok := e.w.Memo(c); ok {
		// Its arguments lead back to it, so it has been written below itself.
		e.w.Pop()
		e.w.Get(i)
		return nil
	}
	e.w.SetMemo(c)
	if how.kind == pickle.Persistent {
		return nil
	}
	if how.form == dictForm || how.form == tupleForm {
		return nil
	}
	if err := e.items(c, how); err != nil {
		return err
	}
	if err := e.setItems(c, pytree.DictItem); err != nil {
		return err
	}
	if err := e.state(c, how); err != nil {
		return err
	}
	return e.effects(c, how)
}

// effects writes the calls that set the object's state: setter(object, state),
// whose result is dropped.
func (e *encoder) effects(c *pytree.Container, how *call) error {
	states := e.part(c, pytree.Effect, "")
	if len(states) != len(how.setters) {
		return e.errorf("the state of a %s cannot be left out", c.Type)
	}
	for i, at := range states {
		if err := e.value(how.setters[i]); err != nil {
			return err
		}
		if !e.recall(c) {
			return e.errorf("a %s is not in the memo", c.Type)
		}
		if err := e.entryOf(at); err != nil {
			return err
		}
		e.w.Tuple(2)
		e.w.Reduce()
		e.w.Pop()
	}
	return nil
}

// items writes the Item entries: a mapping's, a list-like or a set-like object's.
func (e *encoder) items(c *pytree.Container, how *call) error {
	switch {
	case c.Kind == pytree.Mapping:
		return e.setItems(c, pytree.Item)
	case how.sets:
		return e.list(c, e.w.AddItems)
	}
	return e.list(c, e.w.Appends)
}

// construct writes what makes the object.
func (e *encoder) construct(c *pytree.Container, how *call) error {
	args := e.part(c, pytree.Arg, argsKey)
	if strings.HasPrefix(c.Type, "__torch__.") {
		return formats.WithHint(e.errorf("a TorchScript module %s cannot be written: its code would be lost", c.Type),
			"save its state_dict() with torch.save, and work on that")
	}
	if how.kind == pickle.Persistent {
		if len(args) != 1 {
			return e.errorf("a persistent id takes one part, not %d", len(args))
		}
		if namesStorage(args[0]) {
			return e.errorf("a storage that is not in the file cannot be written")
		}
		if err := e.entryOf(args[0]); err != nil {
			return err
		}
		e.w.PersID()
		return nil
	}
	if len(args) > 0 && args[0].in.Entries[args[0].index].Key == pytree.StringKey(funcKey) {
		if err := e.entryOf(args[0]); err != nil {
			return err
		}
		args = args[1:]
	} else if err := e.value(how.callee); err != nil {
		return err
	}
	if err := e.arguments(c, how, args); err != nil {
		return err
	}
	switch {
	case how.kwargs:
		if err := e.attributes(e.part(c, pytree.KeywordArg, kwargsKey)); err != nil {
			return err
		}
		e.w.NewObjEx()
	case how.kind == pickle.New:
		e.w.NewObj()
	default:
		e.w.Reduce()
	}
	return nil
}

// namesStorage reports whether a persistent id that was not resolved would be
// taken for that of a storage.
func namesStorage(id slot) bool {
	c, ok := id.in.Entries[id.index].Value.(*pytree.Container)
	if !ok || len(c.Entries) == 0 {
		return false
	}
	s, ok := c.Entries[0].Value.(*pytree.Scalar)
	return ok && s.V == "storage"
}

// arguments writes the tuple of arguments.
func (e *encoder) arguments(c *pytree.Container, how *call, args []slot) error {
	switch how.form {
	case dictForm:
		e.w.EmptyDict()
		if err := e.setItems(c, pytree.Item); err != nil {
			return err
		}
		e.w.Tuple(1)
		return nil
	case tupleForm:
		e.w.Mark()
		for i := range c.Entries {
			if err := e.entry(c, i); err != nil {
				return err
			}
		}
		e.w.Tuple(pickle.FromMark)
		e.w.Tuple(1)
		return nil
	case dequeForm:
		e.w.EmptyTuple()
		return e.tupleWith(1, how.hiddenArgs)
	case sparseForm:
		if err := e.nodes(how.hiddenArgs); err != nil {
			return err
		}
		if err := e.tupleOf(args); err != nil {
			return err
		}
		e.w.Tuple(2)
		return nil
	case quantForm:
		return e.quantized(c, how)
	case fromTypeForm:
		return e.subclass(c, how)
	}
	if how.hidden != nil {
		return e.container(how.hidden)
	}
	return e.tupleOf(args)
}

// tupleWith makes a tuple of the n values on the stack and further nodes.
func (e *encoder) tupleWith(n int, rest []pytree.Node) error {
	if err := e.nodes(rest); err != nil {
		return err
	}
	e.w.Tuple(n + len(rest))
	return nil
}

func (e *encoder) nodes(nodes []pytree.Node) error {
	for _, n := range nodes {
		if err := e.node(n); err != nil {
			return err
		}
	}
	return nil
}

func (e *encoder) tupleOf(args []slot) error {
	if len(args) == 0 {
		e.w.EmptyTuple()
		return nil
	}
	e.w.Mark()
	for _, a := range args {
		if err := e.entryOf(a); err != nil {
			return err
		}
	}
	e.w.Tuple(pickle.FromMark)
	return nil
}

func (e *encoder) entryOf(s slot) error { return e.entry(s.in, s.index) }

// part lists the entries of one part of an object, wherever they are shown.
func (e *encoder) part(c *pytree.Container, part pytree.Part, holder string) []slot {
	var out []slot
	for i, x := range c.Entries {
		if x.Part != part {
			continue
		}
		if h, ok := x.Value.(*pytree.Container); ok && x.Key == pytree.StringKey(holder) && h.Type == holder {
			for j := range h.Entries {
				out = append(out, slot{h, j})
			}
			continue
		}
		out = append(out, slot{c, i})
	}
	return out
}

// state writes the attributes as the argument of BUILD.
func (e *encoder) state(c *pytree.Container, how *call) error {
	attrs := e.part(c, pytree.Attr, dictKey)
	switch how.state {
	case noState:
		if len(attrs) > 0 {
			return e.errorf("a %s that had no attributes cannot be given any", c.Type)
		}
		return nil
	case otherState:
		if len(attrs) != 1 {
			return e.errorf("the state of a %s cannot be left out", c.Type)
		}
		if err := e.entryOf(attrs[0]); err != nil {
			return err
		}
	case dictState:
		if err := e.attributes(attrs); err != nil {
			return err
		}
	case slotsState:
		e.w.None()
		if err := e.attributes(attrs); err != nil {
			return err
		}
		e.w.Tuple(2)
	case bothState:
		var own, slots []slot
		for _, a := range attrs {
			if how.slots[a.in.Entries[a.index].Key] {
				slots = append(slots, a)
			} else {
				own = append(own, a)
			}
		}
		if err := e.attributes(own); err != nil {
			return err
		}
		if err := e.attributes(slots); err != nil {
			return err
		}
		e.w.Tuple(2)
	}
	e.w.Build()
	return nil
}

// attributes writes a dict of attributes.
func (e *encoder) attributes(attrs []slot) error {
	e.w.EmptyDict()
	for i, a := range attrs {
		if i%batch == 0 {
			if i > 0 {
				e.w.SetItems()
			}
			e.w.Mark()
		}
		if err := e.key(a.in, a.in.Entries[a.index].Key); err != nil {
			return err
		}
		if err := e.entryOf(a); err != nil {
			return err
		}
	}
	if len(attrs) > 0 {
		e.w.SetItems()
	}
	return nil
}

// view writes the object that a view shows, with the view's entries in the
// places that they stand for.
func (e *encoder) view(c *pytree.Container, v *view) error {
	var added []slot
	for i := range c.Entries {
		at, ok := v.slots[c.Entries[i].Key]
		if !ok {
			return e.errorf("%s is no part of the %s", pytree.Printable(c.Entries[i].Key.String()), c.Type)
		}
		if at.in.Entries[at.index].Value != c.Entries[i].Value {
			e.views[at] = c.Entries[i].Value
			added = append(added, at)
		}
	}
	if len(c.Entries) != len(v.slots) {
		return e.errorf("nothing can be left out of a pickled %s: %d of its %d entries are given", c.Type, len(c.Entries), len(v.slots))
	}
	err := e.container(v.raw)
	for _, at := range added {
		delete(e.views, at)
	}
	if i, ok := e.w.Memo(v.raw); ok && err == nil {
		e.w.Alias(c, i)
	}
	return err
}
