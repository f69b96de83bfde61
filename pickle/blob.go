package pickle

import "io"

// LongFrom is the length in the input from which a text or bytes is left there
// and referred to by its offset.
const LongFrom = 1 << 10

// Encoding is how the content of a long text or bytes is written in the input.
type Encoding uint8

const (
	// Plain bytes are the content itself: UTF-8 for a LongText.
	Plain Encoding = iota
	// RawUnicodeEscape is protocol 0's UNICODE: Latin-1 with \uXXXX escapes.
	RawUnicodeEscape
	// StringEscape is protocol 0's STRING: the inside of a Python 2 string literal.
	StringEscape
)

// Blob is where a long text or bytes lies in the input. Its content was not
// looked at when the pickle was read, so the readers below may find that it is
// malformed; their errors tell the absolute offset. They work in bounded memory,
// and any number of them may be in use at once if R allows it.
type Blob struct {
	// R and Off and Len are the input and the range of it, as encoded.
	R        io.ReaderAt
	Off, Len int64
	Encoding Encoding
}

// OpenRaw reads the content as it is encoded in the input, Len bytes.
func (b *Blob) OpenRaw() io.ReadCloser { return io.NopCloser(b.section()) }

// OpenUTF8 reads a text as UTF-8, with lone surrogates in three bytes each as
// Python's "surrogatepass" writes them. Of a LongRaw it reads the bytes and
// fails if they are not UTF-8.
func (b *Blob) OpenUTF8() io.ReadCloser {
	if b.Encoding == RawUnicodeEscape { // gives nothing but UTF-8
		return b.decoder(decodeRawUnicode)
	}
	if b.Encoding == StringEscape {
		return &decoder{src: b.OpenBytes(), off: -1, decode: passText}
	}
	return b.decoder(passText)
}

// OpenLatin1 reads a text as one byte for each character, which is how NumPy's
// data is written at protocols 0 to 2. It fails at a character beyond U+00FF. A
// LongRaw is taken for UTF-8; for its bytes as they are, use OpenBytes.
func (b *Blob) OpenLatin1() io.ReadCloser {
	if b.Encoding == Plain {
		return b.decoder(utf8ToLatin1)
	}
	return &decoder{src: b.OpenUTF8(), off: -1, decode: utf8ToLatin1}
}

// OpenBytes reads the bytes of a LongBytes or LongRaw. Of a LongText it reads
// the UTF-8.
func (b *Blob) OpenBytes() io.ReadCloser {
	switch b.Encoding {
	case RawUnicodeEscape:
		return b.OpenUTF8()
	case StringEscape:
		return b.decoder(decodeStringEscape)
	}
	return b.OpenRaw()
}

func (b *Blob) section() io.Reader {
	return &exactReader{io.NewSectionReader(b.R, b.Off, b.Len), b.Len}
}

func (b *Blob) decoder(f decodeFunc) *decoder {
	return &decoder{src: b.OpenRaw(), off: b.Off, decode: f}
}

// exactReader makes an input that ends early an error.
type exactReader struct {
	r    io.Reader
	left int64
}

func (e *exactReader) Read(p []byte) (int, error) {
	n, err := e.r.Read(p)
	e.left -= int64(n)
	if err == io.EOF && e.left > 0 {
		err = io.ErrUnexpectedEOF
	}
	return n, err
}
