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
	if o != nil {
		if i, ok := g.Memo(o); ok {
			g.Get(i)
			return nil
		}
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

// object writes o and puts it into the memo.
//
// A list, a dict and an object's items and state are written after the object
// was put there, so a cycle through them ends at a reference. Other parts must
// come first. If a cycle leads through them, o is reached a second time before
// it is written, and is written there, inside its own parts; when these are
// done, the outer o is found in the memo, and they are dropped.
func (g graphWriter) object(o *Object) error {
	var e *written
	if hasIdentity(o) {
		e = g.entry(o)
		if e.open++; e.open > 1 {
			g.reentered++
		}
		defer func() { e.open-- }()
	}
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
		inside, err = g.tuple(o, e)
	case List:
		g.EmptyList()
		g.store(e)
		err = g.appends(o.Items)
	case Dict:
		g.EmptyDict()
		g.store(e)
		err = g.setItems(o.Items)
	case Set, FrozenSet:
		inside, err = g.set(o, e)
	case ByteArray:
		err = g.byteArray(o)
	case Call:
		inside, err = g.construct(o, e, opReduce)
	case New:
		op := byte(opNewObj)
		if len(o.Items) == 3 {
			op = opNewObjEx
		}
		inside, err = g.construct(o, e, op)
	case Inst:
		inside, err = g.inst(o, e)
	case Persistent:
		inside, err = g.construct(o, e, opBinPersID)
	default:
		return fmt.Errorf("pickle: %s cannot be written", o.Kind.one())
	}
	if err != nil || inside {
		return err
	}
	if e != nil && !e.done {
		g.store(e)
	}
	return g.extras(o)
}

// store puts the value on top of the stack into the memo.
func (g graphWriter) store(e *written) { e.memo, e.done = g.Put(), true }
