package pytree

import (
	"encoding/binary"
	"io"
	"slices"
	"sync"
)

// Open reads the tensor's logical bytes: its elements in C order,
// little-endian, strides and offset applied. It holds ten MiB at most, whatever
// the tensor's size. A strided view of a source that is not [Ranged] is slow: it
// starts the source again for every few MiB.
func (t *Tensor) Open() (io.ReadCloser, error) {
	var rc io.ReadCloser
	switch {
	case t.Elements() == 0:
		return Bytes(nil).Open()
	case t.Contiguous():
		off, n := t.Extent()
		var err error
		if rc, err = Slice(t.Storage.Source, off, n).Open(); err != nil {
			return nil, err
		}
	default:
		rc = newGather(t, gatherBlock)
	}
	if t.Storage.BigEndian {
		if units := t.swapUnits(); units != nil {
			rc = newSwap(rc, units, t.Bytes())
		}
	}
	if t.Signs != 0 {
		rc = newSigns(rc, t)
	}
	return rc, nil
}

// swapUnits is the widths to reverse for another byte order, again and again
// through the bytes, or nil where there is nothing to reverse.
func (t *Tensor) swapUnits() []int {
	units := t.Swap
	if len(units) == 0 {
		units = []int{t.unit()}
	}
	if slices.Max(units) == 1 {
		return nil
	}
	return units
}

// swapReader reverses units of bytes in a stream.
type swapReader struct {
	rc      io.ReadCloser
	units   []int
	pattern int // bytes that all units make together
	buf     []byte
	ready   []byte
	err     error
}

// newSwap reverses units, again and again, in the n bytes that rc gives.
func newSwap(rc io.ReadCloser, units []int, n int64) *swapReader {
	pattern := 0
	for _, w := range units {
		pattern += w
	}
	size := max(1, min(swapBlock, n)/int64(pattern)) * int64(pattern)
	return &swapReader{rc: rc, units: units, pattern: pattern, buf: make([]byte, size)}
}

// swapBlock is how many bytes are swapped at a time.
const swapBlock = 64 << 10

func (s *swapReader) Close() error { return s.rc.Close() }

func (s *swapReader) Read(p []byte) (int, error) {
	if len(p) == 0 {
		return 0, nil
	}
	if len(s.ready) == 0 {
		if s.err != nil {
			return 0, s.err
		}
		n, err := io.ReadFull(s.rc, s.buf)
		if err == io.ErrUnexpectedEOF && n%s.pattern == 0 {
			err = io.EOF // the source ends where an element does
		}
		s.err = err
		s.ready = s.buf[:n-n%s.pattern]
		swapBytes(s.ready, s.units)
		if len(s.ready) == 0 {
			return 0, s.err
		}
	}
	n := copy(p, s.ready)
	s.ready = s.ready[n:]
	return n, nil
}

func swapBytes(b []byte, units []int) {
	le, be := binary.LittleEndian, binary.BigEndian
	switch {
	case len(units) == 1 && units[0] == 2:
		for ; len(b) > 0; b = b[2:] {
			le.PutUint16(b, be.Uint16(b))
		}
	case len(units) == 1 && units[0] == 4:
		for ; len(b) > 0; b = b[4:] {
			le.PutUint32(b, be.Uint32(b))
		}
	case len(units) == 1 && units[0] == 8:
		for ; len(b) > 0; b = b[8:] {
			le.PutUint64(b, be.Uint64(b))
		}
	}
	for len(b) > 0 {
		for _, w := range units {
			slices.Reverse(b[:w])
			b = b[w:]
		}
	}
}

// ReaderAt gives random access to src: directly where its bytes lie in one
// piece, else through a reader that starts again when asked to go back. Close
// must be called.
func ReaderAt(src Source) (r io.ReaderAt, off int64, done func() error) {
	if rs, ok := src.(Ranged); ok {
		at, base := rs.Range()
		return at, base, func() error { return nil }
	}
	s := &replay{src: src}
	return s, 0, s.close
}

// replay is an io.ReaderAt over a source that can only be read in order.
type replay struct {
	mu  sync.Mutex
	src Source
	rc  io.ReadCloser
	pos int64
}

func (s *replay) close() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.reset()
}

func (s *replay) reset() error {
	if s.rc == nil {
		return nil
	}
	err := s.rc.Close()
	s.rc, s.pos = nil, 0
	return err
}

func (s *replay) ReadAt(p []byte, off int64) (int, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if off < s.pos {
		if err := s.reset(); err != nil {
			return 0, err
		}
	}
	if s.rc == nil {
		rc, err := s.src.Open()
		if err != nil {
			return 0, err
		}
		s.rc, s.pos = rc, 0
	}
	n, err := io.CopyN(io.Discard, s.rc, off-s.pos)
	s.pos += n
	if err != nil {
		return 0, err
	}
	m, err := io.ReadFull(s.rc, p)
	s.pos += int64(m)
	if err == io.ErrUnexpectedEOF {
		err = io.EOF
	}
	return m, err
}
