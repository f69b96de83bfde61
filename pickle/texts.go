package pickle

import (
	"encoding/binary"
	"io"
	"unicode/utf8"
)

// counted reads a text or bytes behind its length. At LongFrom bytes and more it
// is passed over unread.
func (m *machine) counted(k Kind, arg []byte) error {
	var n uint64
	var width int
	switch m.op {
	case opShortBinUnicode, opShortBinBytes, opShortBinString:
		width = 1
		if len(arg) >= width {
			n = uint64(arg[0])
		}
	case opBinUnicode, opBinBytes, opBinString:
		width = 4
		if len(arg) >= width {
			n = uint64(binary.LittleEndian.Uint32(arg))
		}
	default:
		width = 8
		if len(arg) >= width {
			n = binary.LittleEndian.Uint64(arg)
		}
	}
	if len(arg) < width {
		return io.ErrUnexpectedEOF
	}
	if m.op == opBinString && int32(n) < 0 {
		return m.failf("the length %d is negative", int32(n))
	}
	m.i += width

	var v Value
	if n < LongFrom {
		b, err := m.take(int(n))
		if err != nil {
			return err
		}
		if k == Text && !validText(b) {
			return m.failf("the text %.40q is not UTF-8", b)
		}
		v = stringValue(k, m.alloc.text(viewString(b)))
	} else {
		size, err := m.checkLen(n)
		if err != nil {
			return err
		}
		v = m.long(k, Blob{R: m.r, Off: m.pos(), Len: size})
		m.skip(size)
	}
	if m.op == opByteArray8 {
		o := m.objectOf(ByteArray, 1)
		o.Items[0] = v
		v = objectValue(o)
	}
	m.push(v)
	return nil
}

// take gives the next n bytes, fewer than LongFrom, until the window moves.
func (m *machine) take(n int) ([]byte, error) {
	if len(m.buf)-m.i < n {
		if _, err := m.checkLen(uint64(n)); err != nil {
			return nil, err
		}
		if err := m.fill(n); err != nil {
			return nil, err
		}
	}
	b := m.buf[m.i : m.i+n]
	m.i += n
	return b, nil
}

// long makes the object for a text or bytes that stays in the input.
func (m *machine) long(short Kind, b Blob) Value {
	o := m.object(short - Text + LongText)
	o.addPart(partBlob).ref = &b
	return objectValue(o)
}

// unicodeLine reads protocol 0's UNICODE.
func (m *machine) unicodeLine() error {
	off := m.pos()
	line, n, _, err := m.findLine()
	if err != nil {
		return err
	}
	if n > 0 {
		m.push(m.long(Text, Blob{m.r, off, n, RawUnicodeEscape}))
		return nil
	}
	b, used, err := decodeRawUnicode(m.scratch[:0], line, true)
	m.scratch = b
	if err != nil {
		return m.failf("%v at byte %d", err, off+int64(used))
	}
	m.push(stringValue(Text, m.alloc.text(viewString(b))))
	return nil
}

// stringLine reads protocol 0's STRING: Python 2's repr of a str.
func (m *machine) stringLine() error {
	off := m.pos()
	line, n, last, err := m.findLine()
	if err != nil {
		return err
	}
	if n > 0 {
		first, err := readByteAt(m.r, off)
		if err != nil {
			return err
		}
		if first != last || !isQuote(first) {
			return m.failf("the text is not in quotes")
		}
		m.push(m.long(Raw, Blob{m.r, off + 1, n - 2, StringEscape}))
		return nil
	}
	if n := len(line); n < 2 || line[0] != line[n-1] || !isQuote(line[0]) {
		return m.failf("the text is not in quotes")
	}
	b, used, err := decodeStringEscape(m.scratch[:0], line[1:len(line)-1], true)
	m.scratch = b
	if err != nil {
		return m.failf("%v at byte %d", err, off+1+int64(used))
	}
	m.push(stringValue(Raw, m.alloc.text(viewString(b))))
	return nil
}

func isQuote(c byte) bool { return c == '\'' || c == '"' }

func readByteAt(r io.ReaderAt, off int64) (byte, error) {
	var b [1]byte
	if n, err := r.ReadAt(b[:], off); n < 1 {
		if err == nil || err == io.EOF {
			err = io.ErrUnexpectedEOF
		}
		return 0, err
	}
	return b[0], nil
}

// validText says whether b is UTF-8 as Python's "surrogatepass" reads it: lone
// surrogates are allowed, in three bytes each.
func validText(b []byte) bool {
	if utf8.Valid(b) {
		return true
	}
	for len(b) > 0 {
		r, n := utf8.DecodeRune(b)
		if r == utf8.RuneError && n == 1 {
			if n = surrogateLen(b); n == 0 {
				return false
			}
		}
		b = b[n:]
	}
	return true
}

// surrogateLen is 3 if b begins with a surrogate in UTF-8, and 0 otherwise.
func surrogateLen(b []byte) int {
	if len(b) >= 3 && b[0] == 0xed && b[1]&0xe0 == 0xa0 && b[2]&0xc0 == 0x80 {
		return 3
	}
	return 0
}
