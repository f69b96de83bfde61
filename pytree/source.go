package pytree

import (
	"bytes"
	"fmt"
	"io"
)

// Source is bytes that somebody can open: on demand, concurrently, as often as
// needed. A source may have further abilities: [Ranged], [Checksummed].
type Source interface {
	// Size is how many bytes a reader from Open gives, known up front.
	Size() int64
	// Open returns a reader of exactly Size bytes. It fails, or the reader does,
	// rather than give fewer.
	Open() (io.ReadCloser, error)
}

// Ranged is a source whose bytes lie in one piece in something that can be read
// at any place, so that they can be copied from file to file unread.
type Ranged interface {
	Source
	// Range gives the bytes' home and the offset at which they begin there.
	Range() (r io.ReaderAt, off int64)
}

// Checksummed is a source whose file records a CRC-32 (IEEE) of its bytes. A
// reader from Open that reaches the end has verified it.
type Checksummed interface {
	Source
	CRC32() uint32
}

// Bytes is a source in memory.
type Bytes []byte

// Size is the number of bytes.
func (b Bytes) Size() int64 { return int64(len(b)) }

// Open reads them.
func (b Bytes) Open() (io.ReadCloser, error) { return io.NopCloser(bytes.NewReader(b)), nil }

// Range gives the bytes themselves.
func (b Bytes) Range() (io.ReaderAt, int64) { return bytes.NewReader(b), 0 }

// Section is a source that is N bytes of R from Off.
type Section struct {
	R      io.ReaderAt
	Off, N int64
}

// Size is N.
func (s Section) Size() int64 { return s.N }

// Open reads the section. Where R ends early the reader says so.
func (s Section) Open() (io.ReadCloser, error) {
	return io.NopCloser(&exactReader{r: io.NewSectionReader(s.R, s.Off, s.N), left: s.N}), nil
}

// Range gives R and Off.
func (s Section) Range() (io.ReaderAt, int64) { return s.R, s.Off }

// Exactly wraps r so that it gives n bytes or an error: fewer bytes end in
// io.ErrUnexpectedEOF, further ones are not read.
func Exactly(r io.Reader, n int64) io.Reader { return &exactReader{r: r, left: n} }

type exactReader struct {
	r    io.Reader
	left int64
}

func (e *exactReader) Read(p []byte) (int, error) {
	if e.left <= 0 {
		return 0, io.EOF
	}
	if int64(len(p)) > e.left {
		p = p[:e.left]
	}
	n, err := e.r.Read(p)
	e.left -= int64(n)
	switch {
	case err != io.EOF: // none, or one that came with the last bytes, such as a wrong checksum
	case e.left == 0:
		err = nil // the end is reported by the next call
	default:
		err = fmt.Errorf("%d bytes missing: %w", e.left, io.ErrUnexpectedEOF)
	}
	return n, err
}

// Slice is n bytes of src from off. It keeps a range a range. Opening it fails
// where src does not have as many.
func Slice(src Source, off, n int64) Source {
	size := src.Size()
	if off == 0 && n == size {
		return src
	}
	inside := 0 <= off && off <= size && 0 <= n && n <= size-off
	if r, ok := src.(Ranged); ok && inside {
		at, base := r.Range()
		return Section{at, base + off, n}
	}
	return slice{src, off, n}
}

type slice struct {
	src    Source
	off, n int64
}

func (s slice) Size() int64 { return s.n }

func (s slice) Open() (io.ReadCloser, error) {
	if size := s.src.Size(); s.off < 0 || s.off > size || s.n < 0 || s.n > size-s.off {
		return nil, fmt.Errorf("%d bytes from byte %d are not within %d bytes", s.n, s.off, size)
	}
	rc, err := s.src.Open()
	if err != nil {
		return nil, err
	}
	if _, err := io.CopyN(io.Discard, rc, s.off); err != nil {
		rc.Close()
		return nil, fmt.Errorf("skip to byte %d: %w", s.off, noEOF(err))
	}
	return readCloser{Exactly(rc, s.n), rc}, nil
}

type readCloser struct {
	io.Reader
	io.Closer
}

func noEOF(err error) error {
	if err == io.EOF {
		return io.ErrUnexpectedEOF
	}
	return err
}
