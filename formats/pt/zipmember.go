package pt

import (
	"bufio"
	"compress/flate"
	"errors"
	"fmt"
	"hash/crc32"
	"io"
	"sync"

	"ckpt/formats"
	"ckpt/pytree"
)

// member is one file of the archive: a source of its bytes.
type member struct {
	record
	a *archive
	r io.ReaderAt

	once sync.Once
	off  int64
	err  error
}

// open readies m: it finds the begin of its bytes, and checks that the header
// there is that of m and leaves room for them.
func (m *member) open() (int64, error) {
	m.once.Do(func() {
		m.off, m.err = m.locate()
		if m.err != nil {
			m.err = m.wrap(m.err)
		}
	})
	return m.off, m.err
}

func (m *member) wrap(err error) error { return fmt.Errorf("member %q: %w", m.name, err) }

func (m *member) locate() (int64, error) {
	if m.flags&flagEncrypted != 0 {
		return 0, errors.New("it is encrypted")
	}
	h, err := readLocal(m.r, m.header)
	switch {
	case err != nil:
		return 0, fmt.Errorf("local header at byte %d: %w", m.header, err)
	case h.name != m.name:
		return 0, fmt.Errorf("the local header at byte %d is that of %q", m.header, h.name)
	case h.method != m.method:
		return 0, fmt.Errorf("the local header at byte %d tells compression method %d, the central directory %d", m.header, h.method, m.method)
	case h.sizes && (h.crc != m.crc || h.packed != m.packed || h.size != m.size):
		return 0, fmt.Errorf("the local header at byte %d tells %d bytes, %d uncompressed, with crc-32 %08x; the central directory %d, %d and %08x",
			m.header, h.packed, h.size, h.crc, m.packed, m.size, m.crc)
	case m.packed > m.limit-h.data:
		return 0, fmt.Errorf("its %d bytes from byte %d reach into what begins at byte %d", m.packed, h.data, m.limit)
	}
	return h.data, nil
}

func (m *member) stored() bool { return m.method == methodStored }

// maxInflate is how many bytes one compressed byte stands for at most: deflate
// has no shorter way to say something than 258 bytes in two bits.
const maxInflate = 1032

// source is m's bytes: a range of the file, or what they inflate to.
func (m *member) source() (pytree.Source, error) {
	switch {
	case m.stored() && m.packed != m.size:
		return nil, m.wrap(fmt.Errorf("stored, but its two sizes differ: %d and %d", m.packed, m.size))
	case m.stored() && m.a.unchecked:
		return unchecked{stored{m}}, nil
	case m.stored():
		return stored{m}, nil
	case m.method != methodDeflate:
		return nil, m.wrap(fmt.Errorf("compression method %d is not supported", m.method))
	case m.size/maxInflate > m.packed:
		return nil, m.wrap(fmt.Errorf("%d compressed bytes cannot hold the %d that are announced", m.packed, m.size))
	}
	if m.a.unchecked {
		return struct{ pytree.Source }{deflated{m}}, nil
	}
	return deflated{m}, nil
}

// stored is a member that is not compressed.
type stored struct{ m *member }

func (s stored) Size() int64   { return s.m.size }
func (s stored) CRC32() uint32 { return s.m.crc }

// Open reads the member whole and verifies its CRC at the end.
func (s stored) Open() (io.ReadCloser, error) {
	off, err := s.m.open()
	if err != nil {
		return nil, err
	}
	return io.NopCloser(s.m.checked(io.NewSectionReader(s.m.r, off, s.m.packed))), nil
}

func (s stored) Range() (io.ReaderAt, int64) {
	off, err := s.m.open()
	if err != nil {
		return failing{err}, 0
	}
	return s.m.r, off
}

// unchecked is a stored member without a CRC.
type unchecked struct{ s stored }

func (u unchecked) Size() int64                 { return u.s.Size() }
func (u unchecked) Range() (io.ReaderAt, int64) { return u.s.Range() }

func (u unchecked) Open() (io.ReadCloser, error) {
	r, off := u.Range()
	return pytree.Section{R: r, Off: off, N: u.Size()}.Open()
}

// failing is an io.ReaderAt that cannot read.
type failing struct{ err error }

func (f failing) ReadAt([]byte, int64) (int, error) { return 0, f.err }

// checked reads m's bytes from r: all of them, and no others than the CRC is of.
func (m *member) checked(r io.Reader) io.Reader {
	return &crcReader{r: pytree.Exactly(r, m.size), m: m, left: m.size}
}

// crcReader compares the CRC of all it has read with the recorded one. Its
// errors name the member.
type crcReader struct {
	r    io.Reader
	m    *member
	left int64
	crc  uint32
}

func (c *crcReader) Read(p []byte) (int, error) {
	n, err := c.r.Read(p)
	c.crc = crc32.Update(c.crc, crc32.IEEETable, p[:n])
	c.left -= int64(n)
	switch {
	case c.left == 0 && c.crc != c.m.crc && !c.m.a.unchecked:
		return 0, formats.WithHint(c.m.wrap(&formats.ChecksumError{Want: c.m.crc, Got: c.crc}),
			"the file was damaged after it was written: copy or download it again")
	case err != nil && err != io.EOF:
		return n, c.m.wrap(err)
	}
	return n, err
}

// deflated is a compressed member.
type deflated struct{ m *member }

func (d deflated) Size() int64   { return d.m.size }
func (d deflated) CRC32() uint32 { return d.m.crc }

// Open inflates the member and verifies its CRC at the end.
func (d deflated) Open() (io.ReadCloser, error) {
	off, err := d.m.open()
	if err != nil {
		return nil, err
	}
	in := flate.NewReader(bufio.NewReader(io.NewSectionReader(d.m.r, off, d.m.packed)))
	return struct {
		io.Reader
		io.Closer
	}{d.m.checked(in), in}, nil
}
