package pickle

import (
	"encoding/binary"
	"errors"
	"fmt"
	"hash/maphash"
	"io"
	"math"
	"strconv"
)

// machine runs the opcodes of one pickle.
type machine struct {
	window
	stack
	memo   memo
	alloc  alloc
	result Pickle

	op byte  // the opcode being run
	at int64 // and its offset

	seed    maphash.Seed
	indexes map[*Object]*keyIndex // of the dicts and sets that have many keys
	lastObj *Object               // whose index is lastIdx
	lastIdx *keyIndex

	globals    map[globalName]*Object
	mentions   []*[mentionBlock]mention
	mentioned  int
	extensions map[int64]*Object
	emptyTuple *Object
	scratch    []byte
}

// Read reads the one pickle that starts at the absolute offset off of r, whose
// readable bytes end at the absolute offset size. What follows the pickle's STOP
// does not matter. All positions in the result are absolute, too.
//
// The error is a [*SyntaxError] if the pickle is malformed, truncated or beyond
// a limit; one that is truncated also matches [io.ErrUnexpectedEOF]. Errors of r
// are returned wrapped.
func Read(r io.ReaderAt, off, size int64) (*Pickle, error) {
	if off < 0 || off > size {
		return nil, &SyntaxError{Pos: off, Msg: fmt.Sprintf("outside the input of %d bytes", size), Err: io.ErrUnexpectedEOF}
	}
	m := machine{window: newWindow(r, off, size), seed: maphash.MakeSeed()}
	m.result.Start = off
	if err := m.run(); err != nil {
		return nil, m.located(err)
	}
	m.result.End = m.pos()
	m.result.Nodes = m.alloc.made
	m.result.Globals = m.globalRefs()
	p := m.result // a copy, so that the machine can be collected
	return &p, nil
}

// located gives an error of the window or of a decoder its place in the pickle.
func (m *machine) located(err error) error {
	if _, ok := errors.AsType[*SyntaxError](err); ok {
		return err
	}
	name := opNames[m.op]
	switch {
	case err == io.ErrUnexpectedEOF:
		return &SyntaxError{m.at, name, "the pickle ends early", io.ErrUnexpectedEOF}
	case errors.Is(err, errLongLine):
		return &SyntaxError{m.at, name, fmt.Sprintf("a line of more than %d bytes", maxLine), nil}
	}
	return err
}

func (m *machine) failf(format string, args ...any) error {
	return &SyntaxError{Pos: m.at, Op: opNames[m.op], Msg: fmt.Sprintf(format, args...)}
}

// underflow is the error of an opcode that finds too little on the stack.
func (m *machine) underflow() error {
	if m.depth() > 0 && len(m.marks) > 0 {
		return m.failf("takes more values than there are above the latest MARK")
	}
	return m.failf("takes more values than the stack has")
}

// opBytes is how much of the input is seen when an opcode begins, at least: the
// opcode itself and the argument of the longest fixed length.
const opBytes = 9

func (m *machine) run() error {
	for {
		if len(m.buf)-m.i < opBytes {
			m.at, m.op = m.pos(), 0
			if err := m.fill(opBytes); err != nil {
				return err
			}
			if m.i == len(m.buf) {
				return io.ErrUnexpectedEOF
			}
		}
		m.at = m.off + int64(m.i)
		op := m.buf[m.i]
		m.op = op
		m.i++
		arg := m.buf[m.i:]

		var err error
		switch op {
		case opStop:
			if !m.has(1) {
				return m.underflow()
			}
			m.result.Root = m.pop()
			return nil

		// Numbers and constants.
		case opNone:
			m.push(noneValue())
		case opNewTrue:
			m.push(boolValue(true))
		case opNewFalse:
			m.push(boolValue(false))
		case opBinInt1:
			if len(arg) < 1 {
				return io.ErrUnexpectedEOF
			}
			m.i++
			m.push(intValue(int64(arg[0])))
		case opBinInt2:
			if len(arg) < 2 {
				return io.ErrUnexpectedEOF
			}
			m.i += 2
			m.push(intValue(int64(binary.LittleEndian.Uint16(arg))))
		case opBinInt:
			if len(arg) < 4 {
				return io.ErrUnexpectedEOF
			}
			m.i += 4
			m.push(intValue(int64(int32(binary.LittleEndian.Uint32(arg)))))
		case opBinFloat:
			if len(arg) < 8 {
				return io.ErrUnexpectedEOF
			}
			m.i += 8
			m.push(floatValue(math.Float64frombits(binary.BigEndian.Uint64(arg))))
		case opInt:
			err = m.intLine()
		case opLong:
			err = m.longLine()
		case opFloat:
			err = m.floatLine()
		case opLong1, opLong4:
			err = m.longBytes(arg)

		// Texts and bytes.
		case opBinUnicode, opShortBinUnicode, opBinUnicode8:
			err = m.counted(Text, arg)
		case opBinBytes, opShortBinBytes, opBinBytes8, opByteArray8:
			err = m.counted(Bytes, arg)
		case opBinString, opShortBinString:
			err = m.counted(Raw, arg)
		case opUnicode:
			err = m.unicodeLine()
		case opString:
			err = m.stringLine()

		// The memo.
		case opBinGet:
			if len(arg) < 1 {
				return io.ErrUnexpectedEOF
			}
			m.i++
			err = m.getMemo(uint32(arg[0]))
		case opLongBinGet:
			if len(arg) < 4 {
				return io.ErrUnexpectedEOF
			}
			m.i += 4
			err = m.getMemo(binary.LittleEndian.Uint32(arg))
		case opBinPut:
			if len(arg) < 1 {
				return io.ErrUnexpectedEOF
			}
			m.i++
			err = m.putMemo(uint32(arg[0]))
		case opLongBinPut:
			if len(arg) < 4 {
				return io.ErrUnexpectedEOF
			}
			m.i += 4
			err = m.putMemo(binary.LittleEndian.Uint32(arg))
		case opMemoize:
			err = m.putMemo(uint32(m.memo.n))
		case opGet, opPut:
			err = m.memoLine(op == opPut)

		// The stack.
		case opMark:
			m.mark()
		case opPop:
			if len(m.marks) > 0 && m.marks[len(m.marks)-1] == m.depth() {
				m.marks = m.marks[:len(m.marks)-1] // POP also takes a MARK
				m.setFence()
			} else if m.has(1) {
				m.drop(1)
			} else {
				return m.underflow()
			}
		case opPopMark:
			if _, _, ok := m.aboveMark(); !ok {
				return m.failf("there is no MARK")
			}
		case opDup:
			if !m.has(1) {
				return m.underflow()
			}
			m.push(*m.nth(1))

		// Containers.
		case opEmptyTuple:
			m.push(m.newEmptyTuple())
		case opTuple1:
			err = m.tupleOf(1)
		case opTuple2:
			err = m.tupleOf(2)
		case opTuple3:
			err = m.tupleOf(3)
		case opEmptyList:
			m.push(objectValue(m.object(List)))
		case opEmptyDict:
			m.push(objectValue(m.object(Dict)))
		case opEmptySet:
			m.push(objectValue(m.object(Set)))
		case opTuple, opList, opDict, opFrozenSet:
			err = m.collect(op)
		case opAppend:
			err = m.appendOne()
		case opAppends:
			err = m.appendMarked()
		case opSetItem:
			err = m.setOne()
		case opSetItems:
			err = m.setMarked()
		case opAddItems:
			err = m.addMarked()

		// Objects.
		case opGlobal:
			err = m.globalLines()
		case opStackGlobal:
			err = m.stackGlobal()
		case opExt1, opExt2, opExt4:
			err = m.extension(arg)
		case opReduce:
			err = m.reduce()
		case opNewObj:
			err = m.newObj()
		case opNewObjEx:
			err = m.newObjEx()
		case opBuild:
			err = m.build()
		case opInst:
			err = m.inst()
		case opObj:
			err = m.obj()
		case opPersID:
			err = m.persIDLine()
		case opBinPersID:
			if !m.has(1) {
				return m.underflow()
			}
			o := m.objectOf(Persistent, 1)
			o.Items[0] = *m.nth(1)
			*m.nth(1) = objectValue(o)
		case opNextBuffer:
			m.push(objectValue(m.object(Buffer)))
		case opReadOnlyBuffer: // changes how Python sees the buffer, not what it holds
			if !m.has(1) {
				return m.underflow()
			}

		// Framing.
		case opProto:
			if len(arg) < 1 {
				return io.ErrUnexpectedEOF
			}
			m.i++
			if arg[0] > maxProtocol {
				return m.failf("protocol %d is not known (the newest is %d)", arg[0], maxProtocol)
			}
			m.result.Protocol = max(m.result.Protocol, int(arg[0]))
		case opFrame:
			// A frame promises where reads may stop; nothing depends on it here.
			if len(arg) < 8 {
				return io.ErrUnexpectedEOF
			}
			m.i += 8
			_, err = m.checkLen(binary.LittleEndian.Uint64(arg))

		default:
			return m.failf("byte 0x%02x is not an opcode", op)
		}
		if err != nil {
			return err
		}
	}
}

// checkLen checks a length in the pickle against what remains of the input.
func (m *machine) checkLen(n uint64) (int64, error) {
	if rest := m.remaining(); n > uint64(rest) {
		return 0, &SyntaxError{m.at, opNames[m.op],
			fmt.Sprintf("%d bytes are announced but %d remain", n, rest), io.ErrUnexpectedEOF}
	}
	return int64(n), nil
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
