package pickle

import (
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"unicode/utf8"
)

// A decodeFunc appends to dst what src says, at most twice as long. Unless end
// is true it leaves at the end of src what may be cut off, fewer than maxEscape
// bytes. used is how much of src it took; with an error, what lies before the
// malformed part.
type decodeFunc func(dst, src []byte, end bool) (out []byte, used int, err error)

// decodeBlock is how much of the input a decoder reads at once.
const decodeBlock = 64 << 10

// decoder reads src through a decodeFunc, block by block.
type decoder struct {
	src    io.ReadCloser
	decode decodeFunc
	off    int64 // of in[0] in the input, or negative if src is decoded itself

	buf   []byte
	in    []byte // of buf: what is not yet decoded
	out   []byte // decoded; up to outAt delivered
	outAt int
	err   error // to be returned after out
}

func (d *decoder) Read(p []byte) (int, error) {
	if len(p) == 0 {
		return 0, nil
	}
	for d.outAt == len(d.out) {
		if d.err != nil {
			return 0, d.err
		}
		d.next()
	}
	n := copy(p, d.out[d.outAt:])
	d.outAt += n
	return n, nil
}

// next decodes a block.
func (d *decoder) next() {
	if d.buf == nil {
		d.buf = make([]byte, decodeBlock)
		d.out = make([]byte, 0, 2*decodeBlock+wordSlack)
	}
	n := copy(d.buf, d.in)
	var err error
	for n < len(d.buf) && err == nil {
		var k int
		if k, err = d.src.Read(d.buf[n:]); k == 0 && err == nil {
			err = io.ErrNoProgress
		}
		n += k
	}
	out, used, bad := d.decode(d.out[:0], d.buf[:n], err == io.EOF)
	d.out, d.outAt = out, 0
	d.in = d.buf[used:n]
	switch {
	case bad != nil && d.off < 0:
		d.err = fmt.Errorf("pickle: in an escaped text: %w", bad)
	case bad != nil:
		d.err = fmt.Errorf("pickle: byte %d: %w", d.off+int64(used), bad)
	default:
		d.err = err
	}
	if d.off >= 0 {
		d.off += int64(used)
	}
}

// Close releases the source. Reads after it fail.
func (d *decoder) Close() error {
	d.err, d.out, d.outAt = errClosed, nil, 0
	return d.src.Close()
}

var (
	errClosed    = errors.New("pickle: read after Close")
	errUTF8      = errors.New("the text is not UTF-8")
	errNotLatin1 = errors.New("the text has a character beyond U+00FF")
)

// passText copies UTF-8 that it has checked.
func passText(dst, src []byte, end bool) ([]byte, int, error) {
	n := len(src)
	if !end {
		n -= cutRune(src)
	}
	if utf8.Valid(src[:n]) {
		return append(dst, src[:n]...), n, nil
	}
	i := 0
	for i < n {
		_, size := utf8.DecodeRune(src[i:n])
		if size == 1 && src[i] >= utf8.RuneSelf {
			if size = surrogateLen(src[i:n]); size == 0 {
				return append(dst, src[:i]...), i, errUTF8
			}
		}
		i += size
	}
	return append(dst, src[:n]...), n, nil
}

// cutRune tells how many bytes at the end of b begin a character whose other
// bytes are missing.
func cutRune(b []byte) int {
	for n := 1; n <= 3 && n <= len(b); n++ {
		switch c := b[len(b)-n]; {
		case c >= 0xf0:
			return n // of 4
		case c >= 0xe0 && n < 3, c >= 0xc0 && n < 2:
			return n
		case c >= 0xc0 || c < 0x80:
			return 0
		}
	}
	return 0
}

// wordSlack is how much room utf8ToLatin1 needs in dst beyond what it writes.
const wordSlack = 12

// utf8ToLatin1 gives each character of UTF-8 one byte. Array data is a mixture of
// ASCII and others that no branch predictor follows, so it works on eight bytes
// at once: it checks them, computes the result of each byte that ends a
// character, and stores these in two halves.
func utf8ToLatin1(dst, src []byte, end bool) ([]byte, int, error) {
	o := len(dst)
	if cap(dst)-o < len(src)+wordSlack {
		dst = append(make([]byte, 0, o+len(src)+wordSlack), dst...)
	}
	out := dst[:o+len(src)+wordSlack]
	i := 0
	if len(src) > 0 && src[0] < utf8.RuneSelf { // so that there is a byte before
		out[o] = src[0]
		o, i = o+1, 1
	} else if len(src) > 1 && src[0]&0xfe == 0xc2 && src[1]&0xc0 == 0x80 {
		out[o] = src[0]<<6 | src[1]&0x3f
		o, i = o+1, 2
	}
	for ; i > 0 && i+8 <= len(src); i += 8 {
		const high = 0x8080808080808080
		u := binary.LittleEndian.Uint64(src[i:])
		before := binary.LittleEndian.Uint64(src[i-1:])
		w := (*[wordSlack]byte)(out[o:])
		if (u|before)&high == 0 {
			binary.LittleEndian.PutUint64(w[:], u)
			o += 8
			continue
		}
		begins := u & (u << 1) & high
		follows := u &^ (u << 1) & high
		b := begins >> 7
		// 110000 1x is all that begins a character up to U+00FF.
		wrong := (u ^ 0xc2c2c2c2c2c2c2c2) & (b<<8 - b) & 0xfefefefefefefefe
		if follows^(before&(before<<1)&high)|wrong != 0 {
			break
		}
		top := follows | follows>>1
		v := u&^top | before<<6&top
		// Close up each pair of bytes if its first begins a character, then each
		// four if their first pair has lost one.
		m := b & 0x0001000100010001
		v ^= (v ^ v>>8) & (m<<8 - m)
		lost := (b | b>>8) & 0x0001000100010001
		m = lost & 0x0000000100000001
		v ^= (v ^ (v&0x000000ff000000ff | v>>8&0x00ffff0000ffff00)) & (m<<32 - m)
		lost += lost >> 16
		n := int(lost & 3)
		binary.LittleEndian.PutUint32(w[:], uint32(v))
		binary.LittleEndian.PutUint32(w[(4-n)&7:], uint32(v>>32))
		o += 8 - n - int(lost>>32&3)
	}
	// The word before may have ended within a character.
	if i > 0 && src[i-1] >= 0xc0 {
		i--
	}
	for i < len(src) {
		c := src[i]
		switch {
		case c < utf8.RuneSelf:
			out[o] = c
			i++
		case i+1 < len(src) && c&0xfe == 0xc2 && src[i+1]&0xc0 == 0x80:
			out[o] = c<<6 | src[i+1]&0x3f
			i += 2
		case !end && cutRune(src[i:]) == len(src)-i:
			return out[:o], i, nil
		default:
			return out[:o], i, latin1Error(src[i:])
		}
		o++
	}
	return out[:o], i, nil
}

// latin1Error says why b does not begin with a character up to U+00FF.
func latin1Error(b []byte) error {
	if _, n := utf8.DecodeRune(b); n > 1 || surrogateLen(b) > 0 {
		return errNotLatin1
	}
	return errUTF8
}
