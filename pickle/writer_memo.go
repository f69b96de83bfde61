package pickle

import "math"

// Put stores the value on top of the stack in the memo and gives its index.
func (w *Writer) Put() uint32 {
	i := w.next
	switch {
	case i == math.MaxUint32:
		w.fail("the memo is full")
		return i
	case i < 1<<8:
		w.emit(opBinPut, byte(i))
	default:
		w.emitUint32(opLongBinPut, i)
	}
	w.next++
	return i
}

// Get pushes what Put stored.
func (w *Writer) Get(i uint32) {
	if i < 1<<8 {
		w.emit(opBinGet, byte(i))
	} else {
		w.emitUint32(opLongBinGet, i)
	}
}

// Memo tells where SetMemo stored obj.
func (w *Writer) Memo(obj any) (i uint32, ok bool) {
	if o, is := obj.(*Object); is {
		if e := w.objects[o]; e != nil {
			return e.memo, e.done
		}
		return 0, false
	}
	i, ok = w.others[obj]
	return i, ok
}

// SetMemo stores the value on top of the stack as that of obj, which must be
// comparable. WriteValue does so with each *Object that it writes.
func (w *Writer) SetMemo(obj any) { w.Alias(obj, w.Put()) }

// Alias lets obj stand for what is in the memo at i.
func (w *Writer) Alias(obj any, i uint32) {
	if o, is := obj.(*Object); is {
		e := w.entry(o)
		e.memo, e.done = i, true
		return
	}
	w.others[obj] = i
}

func (w *Writer) entry(o *Object) *written {
	e := w.objects[o]
	if e == nil {
		if len(w.free) == 0 {
			w.free = make([]written, 128)
		}
		e, w.free = &w.free[0], w.free[1:]
		w.objects[o] = e
	}
	return e
}
