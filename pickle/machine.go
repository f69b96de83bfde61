package pickle

import (
	"encoding/binary"
	"fmt"
	"hash/maphash"
	"io"
	"math"
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
	drops      []Value
	extensions map[int64]*Object
	emptyTuple *Object
	scratch    []byte
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
			m.dropRest()
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
				v := *m.nth(1)
				m.drop(1)
				m.dropped(v)
			} else {
				return m.underflow()
			}
		case opPopMark:
			vals, _, ok := m.aboveMark()
			if !ok {
				return m.failf("there is no MARK")
			}
			for _, v := range vals {
				m.dropped(v)
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
