package pickle

import (
	"errors"
	"fmt"
)

// maxDepth is how deeply values may be nested for WriteValue.
const maxDepth = 10_000

// batch is how many items Python's picklers give to one APPENDS or SETITEMS.
const batch = 1000

var errDepth = errors.New("pickle: values are nested too deeply to be written")

// WriteValue writes v and all that it refers to, so that Python loads from it
// what it would load from the pickle that v was read from: an object that is
// reached twice is one object, cycles are kept, and objects get their arguments,
// items and state in the order in which they got them. What only later protocols
// have is written as CPython does at protocol 2: bytes, sets and bytearrays as
// calls. Where protocol 2 has no way at all, a later opcode is used, which Python
// accepts anywhere: for __new__ with keyword arguments, for items added to a set
// that holds itself or that a call made. An out-of-band buffer cannot be written.
//
// hook, unless nil, is asked about each value before it is written, except for
// objects that are in the Writer's memo. If it has written one value in place of
// v, it returns true. It may call WriteValue.
//
// WriteValue fails with the Writer's error, with the hook's, and if values are
// nested more than 10,000 deep.
func WriteValue(w *Writer, v Value, hook func(w *Writer, v Value) (handled bool, err error)) error {
	g := graphWriter{w, hook}
	if err := g.value(v); err != nil {
		if w.err == nil {
			w.err = err
		}
		return err
	}
	return w.err
}

type graphWriter struct {
	*Writer
	hook func(w *Writer, v Value) (bool, error)
}

func (g graphWriter) value(v Value) error {
	o := v.Obj()
	if o != nil && g.written(o) {
		return nil
	}
	if g.err != nil {
		return g.err
	}
	if g.hook != nil {
		if done, err := g.hook(g.Writer, v); done || err != nil {
			return err
		}
	}
	switch v.Kind() {
	case None:
		g.None()
	case Bool:
		g.Bool(v.Bool())
	case Int:
		g.Int(v.Int())
	case Float:
		g.Float(v.Float())
	case Text:
		g.Text(v.Str())
	case Raw:
		g.Raw(v.Str())
	case Bytes:
		g.BytesP2(viewBytes(v.Str()))
	case Invalid:
		return errors.New("pickle: there is no value to write")
	default:
		if g.depth >= maxDepth {
			return errDepth
		}
		g.depth++
		err := g.object(o)
		g.depth--
		return err
	}
	return nil
}

// written writes a reference to o if it is in the memo.
func (g graphWriter) written(o *Object) bool {
	i, ok := g.objects[o]
	if ok {
		g.Get(i)
	}
	return ok
}

// object writes o and puts it into the memo.
//
// A list, a dict and an object's items and state are written after the object
// was put there, so a cycle through them ends at a reference. Other parts must
// come first. If a cycle leads through them, o is reached a second time before
// it is written, and is written there, inside its own parts; when these are
// done, the outer o is found in the memo, and they are dropped.
func (g graphWriter) object(o *Object) error {
	var inside bool // o was written inside its own parts
	var err error
	switch o.Kind {
	case BigInt:
		g.BigInt(o.Big())
	case LongText:
		g.TextBlob(o.Blob())
	case LongRaw:
		g.RawBlob(o.Blob())
	case LongBytes:
		g.BytesBlob(o.Blob())
	case Global:
		g.Global(o.Global())
	case Extension:
		g.extension(o.Items[0].Int())
	case Tuple:
		inside, err = g.tuple(o)
	case List:
		g.EmptyList()
		g.SetMemo(o)
		err = g.appends(o.Items)
	case Dict:
		g.EmptyDict()
		g.SetMemo(o)
		err = g.setItems(o.Items)
	case Set, FrozenSet:
		inside, err = g.set(o)
	case ByteArray:
		err = g.byteArray(o)
	case Call:
		inside, err = g.construct(o, opReduce)
	case New:
		op := byte(opNewObj)
		if len(o.Items) == 3 {
			op = opNewObjEx
		}
		inside, err = g.construct(o, op)
	case Inst:
		inside, err = g.inst(o)
	case Persistent:
		inside, err = g.construct(o, opBinPersID)
	default:
		return fmt.Errorf("pickle: a %s cannot be written", o.Kind)
	}
	if err != nil || inside {
		return err
	}
	if _, early := g.objects[o]; !early && hasIdentity(o) {
		g.SetMemo(o)
	}
	return g.extras(o)
}

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

// construct writes the items of o and then op, which takes them all.
func (g graphWriter) construct(o *Object, op byte) (inside bool, err error) {
	for i, v := range o.Items {
		if err := g.value(v); err != nil {
			return false, err
		}
		if memo, ok := g.overtaken(o, v); ok {
			for range i + 1 {
				g.emit(opPop)
			}
			g.Get(memo)
			return true, nil
		}
	}
	g.emit(op)
	return false, nil
}

// constructMarked is construct for any number of items above a mark.
func (g graphWriter) constructMarked(o *Object, items []Value, op byte) (inside bool, err error) {
	for _, v := range items {
		if err := g.value(v); err != nil {
			return false, err
		}
		if memo, ok := g.overtaken(o, v); ok {
			g.emit(opPopMark)
			g.Get(memo)
			return true, nil
		}
	}
	g.emit(op)
	return false, nil
}

// overtaken says whether o was written while its part v was.
func (g graphWriter) overtaken(o *Object, v Value) (memo uint32, ok bool) {
	if v.Obj() == nil {
		return 0, false
	}
	return g.Memo(o)
}

func (g graphWriter) tuple(o *Object) (inside bool, err error) {
	switch n := len(o.Items); n {
	case 0:
		g.EmptyTuple()
		return false, nil
	case 1, 2, 3:
		return g.construct(o, opTuple1+byte(n-1))
	}
	g.Mark()
	return g.constructMarked(o, o.Items, opTuple)
}

func (g graphWriter) inst(o *Object) (inside bool, err error) {
	g.Mark()
	parts := append([]Value{o.Items[0]}, o.Items[1].Obj().Items...)
	return g.constructMarked(o, parts, opObj)
}

// set writes a set as the call of its type with a list of its items. A set that
// is reached a third time before it is written holds itself with nothing between
// that is in the memo; then it is made empty and filled.
func (g graphWriter) set(o *Object) (inside bool, err error) {
	if o.Kind == Set && g.open[o] >= 2 {
		g.emit(opEmptySet)
		g.SetMemo(o)
		return false, g.batches(o.Items, 1, opAddItems, opAddItems)
	}
	g.open[o]++
	defer func() {
		if g.open[o]--; g.open[o] == 0 {
			delete(g.open, o)
		}
	}()
	name := "set"
	if o.Kind == FrozenSet {
		name = "frozenset"
	}
	g.Global("__builtin__", name)
	g.EmptyList()
	if err := g.appends(o.Items); err != nil {
		return false, err
	}
	if memo, ok := g.Memo(o); ok {
		g.emit(opPop, opPop)
		g.Get(memo)
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
		}
		if err != nil {
			return err
		}
	}
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
