package pickle

import (
	"bytes"
	"errors"
	"fmt"
	"io"
)

const (
	minWindow = 4 << 10   // the first read, and the first one after a skip
	maxWindow = 256 << 10 // reads double up to this
	// maxLine bounds the lines that must be seen whole: names, numbers, ids.
	maxLine = 64 << 10
)

// window is the part of the input that is in memory. Its one buffer is used
// again and again, so nothing may keep a slice of it.
type window struct {
	r    io.ReaderAt
	size int64  // absolute end of the input
	off  int64  // absolute offset of buf[0]
	buf  []byte // what was read
	i    int    // the next byte, in buf
	next int    // how much to read next
}

func newWindow(r io.ReaderAt, off, size int64) window {
	return window{r: r, off: off, size: size, next: minWindow}
}

// pos is the absolute offset of the next byte.
func (w *window) pos() int64 { return w.off + int64(w.i) }

// remaining is how many bytes there are from the next one on.
func (w *window) remaining() int64 { return w.size - w.pos() }

// atEnd says whether the window reaches the end of the input.
func (w *window) atEnd() bool { return w.off+int64(len(w.buf)) >= w.size }

// fill reads on until at least n bytes lie ahead, or the end of the input. What
// lies ahead already is kept. n is at most maxLine.
func (w *window) fill(n int) error {
	for len(w.buf)-w.i < n && !w.atEnd() {
		if err := w.read(); err != nil {
			return err
		}
	}
	return nil
}

// read moves what lies ahead to the front and reads once behind it.
func (w *window) read() error {
	ahead := len(w.buf) - w.i
	want := min(int64(w.next), w.size-w.off-int64(len(w.buf)))
	need := ahead + int(want)
	if need <= cap(w.buf) {
		copy(w.buf[:ahead], w.buf[w.i:])
		w.buf = w.buf[:need]
	} else {
		b := make([]byte, need)
		copy(b, w.buf[w.i:])
		w.buf = b
	}
	w.off += int64(w.i)
	w.i = 0
	w.next = min(w.next*2, maxWindow)

	n, err := w.r.ReadAt(w.buf[ahead:], w.off+int64(ahead))
	if n < 0 || n > need-ahead {
		return errors.New("pickle: the input's ReadAt returned an impossible count")
	}
	w.buf = w.buf[:ahead+n]
	switch {
	case int64(n) == want:
		return nil
	case err == nil:
		return io.ErrNoProgress // ReadAt must not do this
	case errors.Is(err, io.EOF):
		return io.ErrUnexpectedEOF // the input is shorter than its size says
	}
	return fmt.Errorf("pickle: reading at byte %d: %w", w.off+int64(ahead+n), err)
}

// skip moves n bytes ahead, at most remaining, without reading what is skipped.
func (w *window) skip(n int64) {
	if n <= int64(len(w.buf)-w.i) {
		w.i += int(n)
		return
	}
	w.off = w.pos() + n
	w.i = 0
	w.buf = w.buf[:0]
	w.next = minWindow
}

// line returns the bytes up to the next newline and moves behind it. They are
// valid until the next call of any method. It fails with errNoLine if the input
// ends first and with errLongLine if there are more than maxLine.
func (w *window) line() ([]byte, error) {
	for seen := 0; ; {
		ahead := w.buf[w.i:]
		if at := bytes.IndexByte(ahead[seen:], '\n'); at >= 0 {
			at += seen
			if at > maxLine {
				return nil, errLongLine
			}
			w.i += at + 1
			return ahead[:at], nil
		}
		if seen = len(ahead); seen > maxLine {
			return nil, errLongLine
		}
		if w.atEnd() {
			return nil, io.ErrUnexpectedEOF
		}
		if err := w.read(); err != nil {
			return nil, err
		}
	}
}

var errLongLine = errors.New("line too long")

// findLine is line for a text of any length. A text of at least LongFrom bytes
// is passed over: then short is nil, and long tells its length.
func (w *window) findLine() (short []byte, long int64, last byte, err error) {
	for {
		ahead := w.buf[w.i:]
		at := bytes.IndexByte(ahead, '\n')
		switch {
		case at >= 0 && long == 0 && at < LongFrom:
			w.i += at + 1
			return ahead[:at], 0, 0, nil
		case at >= 0:
			if at > 0 {
				last = ahead[at-1]
			}
			w.i += at + 1
			return nil, long + int64(at), last, nil
		case w.atEnd():
			return nil, 0, 0, io.ErrUnexpectedEOF
		}
		// Keep up to LongFrom bytes in sight, as the text may yet be short; what
		// is long already is let go.
		if long > 0 || len(ahead) >= LongFrom {
			long += int64(len(ahead))
			last = ahead[len(ahead)-1]
			w.i = len(w.buf)
		}
		if err := w.read(); err != nil {
			return nil, 0, 0, err
		}
	}
}
