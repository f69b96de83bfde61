package pickle

import (
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"math"
	"math/big"
	"slices"
	"strings"
)

// FromMark is the argument of [Writer.Tuple] for the values above the mark.
const FromMark = 0

// Writer writes one pickle of protocol 2, opcode by opcode. It keeps to the
// opcodes that torch.load(weights_only=True) accepts, as long as they can say
// what is to be said. The same calls give the same bytes.
//
// The methods named after an opcode write it and do not check that the stack has
// what it takes. After an error the Writer writes no more; Err and Close tell it.
type Writer struct {
	w   io.Writer
	buf []byte
	n   int64 // flushed
	err error

	next    uint32 // memo index
	objects map[*Object]*written
	free    []written // for objects
	others  map[any]uint32
	strings map[stringKey]uint32
	globals map[globalName]uint32

	depth     int // of WriteValue
	reentered int // how often it came to an object that it was in the middle of
}

// written is what a Writer knows about an object.
type written struct {
	memo uint32
	done bool // memo is valid
	open int  // how often WriteValue is in the middle of it
}

// stringKey is a string that was memoised, or the bytes or Python 2 str of the
// same content.
type stringKey struct {
	kind Kind
	s    string
}

const writeBuffer = 64 << 10

// NewWriter begins a pickle on w. The caller must Close it.
func NewWriter(w io.Writer) *Writer {
	p := &Writer{
		w:       w,
		buf:     make([]byte, 0, writeBuffer),
		objects: make(map[*Object]*written),
		others:  make(map[any]uint32),
		strings: make(map[stringKey]uint32),
		globals: make(map[globalName]uint32),
	}
	p.emit(opProto, 2)
	return p
}

// Err is the first error, or nil.
func (w *Writer) Err() error { return w.err }

// Close ends the pickle with STOP and flushes it; it does not close the
// underlying writer. n is the length of the whole pickle.
func (w *Writer) Close() (n int64, err error) {
	w.emit(opStop)
	w.flush()
	if w.err != nil {
		return w.n, w.err
	}
	w.err = errWriterClosed
	return w.n, nil
}

var errWriterClosed = errors.New("pickle: write after Close")

func (w *Writer) fail(format string, args ...any) {
	if w.err == nil {
		w.err = fmt.Errorf("pickle: "+format, args...)
	}
}

func (w *Writer) flush() {
	if w.err != nil || len(w.buf) == 0 {
		return
	}
	n, err := w.w.Write(w.buf)
	if err == nil && n < len(w.buf) {
		err = io.ErrShortWrite
	}
	w.n += int64(n)
	w.buf = w.buf[:0]
	w.err = err
}

func (w *Writer) emit(b ...byte) {
	if len(w.buf)+len(b) > cap(w.buf) {
		w.flush()
	}
	if w.err == nil {
		w.buf = append(w.buf, b...)
	}
}

func (w *Writer) emitString(s string) {
	for w.err == nil && len(s) > 0 {
		n := copy(w.buf[len(w.buf):cap(w.buf)], s)
		w.buf = w.buf[:len(w.buf)+n]
		if s = s[n:]; len(s) > 0 {
			w.flush()
		}
	}
}

func (w *Writer) emitUint32(op byte, v uint32) {
	w.emit(op, byte(v), byte(v>>8), byte(v>>16), byte(v>>24))
}

// The opcodes without an argument.

func (w *Writer) Mark()       { w.emit(opMark) }
func (w *Writer) None()       { w.emit(opNone) }
func (w *Writer) EmptyTuple() { w.emit(opEmptyTuple) }
func (w *Writer) EmptyList()  { w.emit(opEmptyList) }
func (w *Writer) EmptyDict()  { w.emit(opEmptyDict) }
func (w *Writer) Append()     { w.emit(opAppend) }
func (w *Writer) Appends()    { w.emit(opAppends) }
func (w *Writer) SetItem()    { w.emit(opSetItem) }
func (w *Writer) SetItems()   { w.emit(opSetItems) }
func (w *Writer) Reduce()     { w.emit(opReduce) }
func (w *Writer) NewObj()     { w.emit(opNewObj) }
func (w *Writer) Build()      { w.emit(opBuild) }

// PersID turns the value on top of the stack into the persistent object that it
// identifies (BINPERSID).
func (w *Writer) PersID() { w.emit(opBinPersID) }

// Tuple makes a tuple of the n topmost values, 1 to 3, or of those above the
// mark if n is FromMark.
func (w *Writer) Tuple(n int) {
	switch n {
	case FromMark:
		w.emit(opTuple)
	case 1, 2, 3:
		w.emit(opTuple1 + byte(n-1))
	default:
		w.fail("a tuple of %d values needs a mark", n)
	}
}

// Bool writes True or False.
func (w *Writer) Bool(b bool) {
	if b {
		w.emit(opNewTrue)
	} else {
		w.emit(opNewFalse)
	}
}

// Int writes an integer as CPython does.
func (w *Writer) Int(i int64) {
	switch {
	case 0 <= i && i < 1<<8:
		w.emit(opBinInt1, byte(i))
	case 0 <= i && i < 1<<16:
		w.emit(opBinInt2, byte(i), byte(i>>8))
	case math.MinInt32 <= i && i <= math.MaxInt32:
		w.emitUint32(opBinInt, uint32(i))
	default:
		var b [8]byte
		binary.LittleEndian.PutUint64(b[:], uint64(i))
		w.long(b[:])
	}
}

// BigInt writes an integer of any size.
func (w *Writer) BigInt(b *big.Int) {
	if b.IsInt64() {
		w.Int(b.Int64())
		return
	}
	n := b.BitLen()/8 + 1
	v := b
	if b.Sign() < 0 {
		v = new(big.Int).Add(b, new(big.Int).Lsh(big.NewInt(1), uint(8*n)))
	}
	le := v.FillBytes(make([]byte, n))
	slices.Reverse(le)
	w.long(le)
}

// long writes an integer in two's complement, without the bytes that only
// repeat the sign.
func (w *Writer) long(le []byte) {
	for n := len(le) - 1; n > 0; n-- {
		top, next := le[n], le[n-1]
		if !(top == 0 && next < 0x80 || top == 0xff && next >= 0x80) {
			break
		}
		le = le[:n]
	}
	switch {
	case len(le) < 256:
		w.emit(opLong1, byte(len(le)))
	case len(le) <= math.MaxInt32:
		w.emitUint32(opLong4, uint32(len(le)))
	default:
		w.fail("an integer of %d bytes is too large for a pickle", len(le))
	}
	w.emitString(viewString(le))
}

// Float writes a float.
func (w *Writer) Float(f float64) {
	var b [9]byte
	b[0] = opBinFloat
	binary.BigEndian.PutUint64(b[1:], math.Float64bits(f))
	w.emit(b[:]...)
}

// Global writes a class or function by name, the second time as a reference to
// the first.
func (w *Writer) Global(module, name string) {
	key := globalName{module, name}
	if i, ok := w.globals[key]; ok {
		w.Get(i)
		return
	}
	switch {
	case strings.Contains(module, "\n") || strings.Contains(name, "\n"):
		// Only protocol 4 can say it, and Python understands it here, too.
		w.Text(module)
		w.Text(name)
		w.emit(opStackGlobal)
	case strings.Contains(name, "."):
		// Python looks into a class only from protocol 4 on. At protocol 2 its
		// own pickler calls getattr, which would make the name unreadable and the
		// file look like an attack; so the protocol is raised for one opcode.
		w.emit(opProto, 4)
		w.globalLines(module, name)
		w.emit(opProto, 2)
	default:
		w.globalLines(module, name)
	}
	w.globals[key] = w.Put()
}

func (w *Writer) globalLines(module, name string) {
	w.emit(opGlobal)
	w.emitString(module)
	w.emit('\n')
	w.emitString(name)
	w.emit('\n')
}
