package pickle

import (
	"bytes"
	"encoding/binary"
	"io"
	"math/big"
	"slices"
	"strconv"
)

const (
	// maxDigits bounds the decimal integers of protocol 0, because converting
	// them costs more than linear time. CPython itself refuses those of more than
	// 4300 digits unless told otherwise (sys.set_int_max_str_digits).
	maxDigits = 10_000
	// maxIntBytes bounds the binary integers.
	maxIntBytes = 1 << 20
)

// intLine reads INT: a decimal integer, or a bool as 00 and 01.
func (m *machine) intLine() error {
	line, err := m.line()
	if err != nil {
		return err
	}
	switch string(line) {
	case "00":
		m.push(boolValue(false))
		return nil
	case "01":
		m.push(boolValue(true))
		return nil
	}
	return m.decimal(line)
}

// longLine reads LONG: a decimal integer, with an L behind it since Python 2.
func (m *machine) longLine() error {
	line, err := m.line()
	if err != nil {
		return err
	}
	return m.decimal(bytes.TrimSuffix(line, []byte("L")))
}

func (m *machine) decimal(line []byte) error {
	if len(line) > maxDigits {
		return m.failf("an integer of more than %d digits", maxDigits)
	}
	digits := line
	if len(digits) > 0 && (digits[0] == '-' || digits[0] == '+') {
		digits = digits[1:]
	}
	if len(digits) == 0 {
		return m.failf("%.40q is not a decimal integer", line)
	}
	for _, c := range digits {
		if c < '0' || c > '9' {
			return m.failf("%.40q is not a decimal integer", line)
		}
	}
	if i, err := strconv.ParseInt(string(line), 10, 64); err == nil {
		m.push(intValue(i))
		return nil
	}
	b, ok := new(big.Int).SetString(string(line), 10)
	if !ok {
		return m.failf("%.40q is not a decimal integer", line)
	}
	m.pushBig(b)
	return nil
}

func (m *machine) pushBig(b *big.Int) {
	if b.IsInt64() {
		m.push(intValue(b.Int64()))
		return
	}
	o := m.object(BigInt)
	o.addPart(partBig).ref = b
	m.push(objectValue(o))
}

// floatLine reads FLOAT: what Python's repr of a float gives.
func (m *machine) floatLine() error {
	line, err := m.line()
	if err != nil {
		return err
	}
	// What strconv takes beyond Python, hexadecimal, is shut out.
	if bytes.ContainsAny(line, "xX_pP") {
		return m.failf("%.40q is not a float", line)
	}
	f, err := strconv.ParseFloat(string(line), 64)
	if err != nil {
		return m.failf("%.40q is not a float", line)
	}
	m.push(floatValue(f))
	return nil
}

// longBytes reads LONG1 and LONG4: two's complement, little-endian.
func (m *machine) longBytes(arg []byte) error {
	var n int
	if m.op == opLong1 {
		if len(arg) < 1 {
			return io.ErrUnexpectedEOF
		}
		m.i++
		n = int(arg[0])
	} else {
		if len(arg) < 4 {
			return io.ErrUnexpectedEOF
		}
		m.i += 4
		n = int(int32(binary.LittleEndian.Uint32(arg)))
	}
	if n < 0 {
		return m.failf("the length %d is negative", n)
	}
	if _, err := m.checkLen(uint64(n)); err != nil {
		return err
	}
	if n > maxIntBytes {
		return m.failf("an integer of %d bytes; the limit is %d", n, maxIntBytes)
	}
	if err := m.fill(n); err != nil {
		return err
	}
	b := m.buf[m.i:]
	b = b[:n]
	m.i += n
	if n <= 8 {
		var u uint64
		for i, c := range b {
			u |= uint64(c) << (8 * i)
		}
		if n > 0 && b[n-1] >= 0x80 && n < 8 {
			u |= ^uint64(0) << (8 * n)
		}
		m.push(intValue(int64(u)))
		return nil
	}
	be := slices.Clone(b)
	slices.Reverse(be)
	v := new(big.Int).SetBytes(be)
	if be[0] >= 0x80 {
		v.Sub(v, new(big.Int).Lsh(big.NewInt(1), uint(8*n)))
	}
	m.pushBig(v)
	return nil
}
