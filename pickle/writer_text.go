package pickle

import (
	"encoding/binary"
	"fmt"
	"io"
	"math"
	"math/bits"
)

// recall writes a reference to a string that was written before.
func (w *Writer) recall(k Kind, s string) bool {
	i, ok := w.strings[stringKey{k, s}]
	if ok {
		w.Get(i)
	}
	return ok
}

// remember stores the string on top of the stack, unless it is long.
func (w *Writer) remember(k Kind, s string) {
	if len(s) < LongFrom {
		w.strings[stringKey{k, s}] = w.Put()
	}
}

// Text writes a str, in UTF-8 in which surrogates are allowed; a short one the
// second time as a reference to the first.
func (w *Writer) Text(s string) {
	if w.recall(Text, s) {
		return
	}
	if !validText(viewBytes(s)) {
		w.fail("the text %.40q is not UTF-8", s)
		return
	}
	if w.textHead(int64(len(s))) {
		w.emitString(s)
		w.remember(Text, s)
	}
}

func (w *Writer) textHead(n int64) bool {
	if n < 0 || n > math.MaxUint32 {
		w.fail("a text of %d bytes is too long for protocol 2; the limit is %d", n, uint32(math.MaxUint32))
		return false
	}
	w.emitUint32(opBinUnicode, uint32(n))
	return w.err == nil
}

// Raw writes a Python 2 str.
func (w *Writer) Raw(s string) {
	if w.recall(Raw, s) {
		return
	}
	if len(s) < 256 {
		w.emit(opShortBinString, byte(len(s)))
	} else if !w.rawHead(int64(len(s))) {
		return
	}
	w.emitString(s)
	w.remember(Raw, s)
}

func (w *Writer) rawHead(n int64) bool {
	if n < 0 || n > math.MaxInt32 {
		w.fail("a Python 2 str of %d bytes is too long for a pickle; the limit is %d", n, math.MaxInt32)
		return false
	}
	w.emitUint32(opBinString, uint32(n))
	return w.err == nil
}

// BytesP2 writes bytes the way that protocol 2 has for them: as the call
// _codecs.encode(text, "latin1"). Unlike CPython it does so for empty bytes, too,
// because torch's weights_only loader knows this call and not bytes().
func (w *Writer) BytesP2(b []byte) {
	if w.recall(Bytes, viewString(b)) {
		return
	}
	if w.encodeHead(int64(len(b)) + highBytes(b)) {
		w.latin1Text(b)
		w.encodeTail()
		w.remember(Bytes, string(b))
	}
}

// encodeHead begins bytes whose text takes n bytes as UTF-8; encodeTail ends them.
func (w *Writer) encodeHead(n int64) bool {
	w.Global("_codecs", "encode")
	return w.textHead(n)
}

func (w *Writer) encodeTail() {
	w.Text("latin1")
	w.Tuple(2)
	w.Reduce()
}

// latin1Text writes bytes as the UTF-8 of the characters of the same numbers.
func (w *Writer) latin1Text(b []byte) {
	for len(b) > 0 && w.err == nil {
		room := (cap(w.buf) - len(w.buf)) / 2
		if room < 16 {
			w.flush()
			continue
		}
		n := min(room, len(b))
		w.buf = appendLatin1(w.buf, b[:n])
		b = b[n:]
	}
}

// appendLatin1 appends b, read as Latin-1, as UTF-8. dst must have room for
// twice as many bytes.
func appendLatin1(dst, b []byte) []byte {
	const high = 0x8080808080808080
	o := len(dst)
	dst = dst[:o+2*len(b)]
	for len(b) >= 8 {
		if u := binary.LittleEndian.Uint64(b); u&high == 0 {
			binary.LittleEndian.PutUint64(dst[o:], u)
			o += 8
		} else {
			for _, c := range b[:8] {
				o += putLatin1(dst[o:o+2], c)
			}
		}
		b = b[8:]
	}
	for _, c := range b {
		o += putLatin1(dst[o:o+2], c)
	}
	return dst[:o]
}

// putLatin1 writes one character and tells its length. It has no branches:
// those of array data cannot be predicted.
func putLatin1(dst []byte, c byte) int {
	wide := c >> 7
	mask := -wide
	dst[0] = c&^mask | (0xc0|c>>6)&mask
	dst[1] = 0x80 | c&0x3f
	return 1 + int(wide)
}

// highBytes counts the bytes from 0x80 on.
func highBytes(b []byte) (n int64) {
	const high = 0x8080808080808080
	for len(b) >= 8 {
		n += int64(bits.OnesCount64(binary.LittleEndian.Uint64(b) & high))
		b = b[8:]
	}
	for _, c := range b {
		n += int64(c >> 7)
	}
	return n
}

// TextFrom writes a str of exactly n bytes of UTF-8 that r gives.
func (w *Writer) TextFrom(n int64, r io.Reader) {
	if w.textHead(n) {
		w.copyFrom(n, r)
	}
}

// maxIdle is how often in a row a source may give nothing.
const maxIdle = 100

func (w *Writer) copyFrom(n int64, r io.Reader) {
	idle := 0
	for n > 0 && w.err == nil {
		if len(w.buf) == cap(w.buf) {
			w.flush()
			continue
		}
		free := w.buf[len(w.buf):cap(w.buf)]
		if int64(len(free)) > n {
			free = free[:n]
		}
		k, err := r.Read(free)
		if k == 0 && err == nil {
			if idle++; idle > maxIdle {
				err = io.ErrNoProgress
			}
		} else {
			idle = 0
		}
		w.buf = w.buf[:len(w.buf)+k]
		if n -= int64(k); n > 0 && err != nil {
			w.sourceError(err)
		}
	}
}

func (w *Writer) sourceError(err error) {
	if err == io.EOF {
		err = io.ErrUnexpectedEOF
	}
	if w.err == nil {
		w.err = fmt.Errorf("pickle: reading a long value: %w", err)
	}
}

// BytesLatin1From writes n bytes as BytesP2 does. It opens them twice, because
// the length of their text must be known before its first byte.
func (w *Writer) BytesLatin1From(n int64, open func() (io.ReadCloser, error)) {
	var high int64
	w.eachBlock(n, open, func(b []byte) { high += highBytes(b) })
	if w.err != nil || !w.encodeHead(n+high) {
		return
	}
	w.eachBlock(n, open, func(b []byte) {
		high -= highBytes(b)
		w.latin1Text(b)
	})
	if high != 0 {
		w.fail("a long value changed while it was read")
	}
	w.encodeTail()
}

// eachBlock gives the n bytes of what it opens to f, piece by piece.
func (w *Writer) eachBlock(n int64, open func() (io.ReadCloser, error), f func([]byte)) {
	if w.err != nil {
		return
	}
	r, err := open()
	if err != nil {
		w.sourceError(err)
		return
	}
	defer r.Close()
	buf := make([]byte, min(n, decodeBlock))
	for n > 0 && w.err == nil {
		k, err := io.ReadFull(r, buf[:min(n, int64(len(buf)))])
		if n -= int64(k); err != nil {
			w.sourceError(err)
			return
		}
		f(buf[:k])
	}
}

// TextBlob writes a LongText.
func (w *Writer) TextBlob(b *Blob) {
	w.decoded(b.OpenUTF8, b.Len, b.Encoding == Plain, w.textHead)
}

// BytesBlob writes a LongBytes as BytesP2 does.
func (w *Writer) BytesBlob(b *Blob) {
	w.BytesLatin1From(b.Len, func() (io.ReadCloser, error) { return b.OpenBytes(), nil })
}

// RawBlob writes a LongRaw.
func (w *Writer) RawBlob(b *Blob) {
	w.decoded(b.OpenBytes, b.Len, b.Encoding == Plain, w.rawHead)
}

// decoded writes what open gives behind a head with its length, which is n if
// known says so.
func (w *Writer) decoded(open func() io.ReadCloser, n int64, known bool, head func(int64) bool) {
	if w.err != nil {
		return
	}
	if !known {
		r := open()
		var err error
		n, err = io.Copy(io.Discard, r)
		r.Close()
		if err != nil {
			w.sourceError(err)
			return
		}
	}
	r := open()
	defer r.Close()
	if head(n) {
		w.copyFrom(n, r)
	}
}
