package formattest

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"runtime"
	"runtime/metrics"
	"testing"
	"time"

	"ckpt/formats"
	"ckpt/pytree"
)

// patience is how long reading a sample may take at most, on a busy machine
// under the race detector. What hangs is not waited for: it ends the test.
const patience = 20 * time.Second

// watch runs f and panics, with all goroutines' stacks, if f does not end.
func watch(what string, f func()) {
	timer := time.AfterFunc(patience, func() {
		buf := make([]byte, 1<<20)
		panic(fmt.Sprintf("%s takes more than %v\n%s", what, patience, buf[:runtime.Stack(buf, true)]))
	})
	defer timer.Stop()
	f()
}

// allocated is how many bytes have been allocated since the program's start.
func allocated() uint64 {
	s := []metrics.Sample{{Name: "/gc/heap/allocs:bytes"}}
	metrics.Read(s)
	return s[0].Value.Uint64()
}

// exercise reads a file that may be anything, and does with it what the program
// might. It gives the listing, or the first error.
func exercise(f *formats.Format, data []byte) ([]string, error) {
	c, err := read(f, data)
	if err != nil {
		if formats.Hint(err) != "" && err.Error() == "" {
			return nil, errors.New("a hint without a message")
		}
		return nil, err
	}
	lines, err := list(c, valuesOnly)
	if err != nil {
		return nil, err
	}
	if err := formats.VerifyChecksums(context.Background(), c, nil); err != nil {
		return nil, err
	}
	return lines, nil
}

// testDamage flips bytes in the samples, and reads the broken files beside them:
// whatever comes, it takes little time and memory and ends in an error or a
// checkpoint. What still reads is written, too.
func (s *suite) testDamage(t *testing.T) {
	flips := 100
	if testing.Short() {
		flips = 20
	}
	for _, x := range s.samples {
		rnd := newRandom(x.name)
		for range flips {
			data := append([]byte(nil), x.data...)
			at := rnd.IntN(len(data))
			was := data[at]
			switch rnd.IntN(3) {
			case 0:
				data[at] ^= 1 << rnd.IntN(8)
			case 1:
				data[at] = byte(rnd.Uint32())
			default:
				data[at] = []byte{0, 1, 0x7F, 0x80, 0xFF, '(', 'R', '.'}[rnd.IntN(8)]
			}
			s.endure(t, fmt.Sprintf("%s with byte %d changed from %#x to %#x", x.name, at, was, data[at]), data)
		}
	}
	dir := filepath.Join(s.opt.Samples, "bad")
	if _, err := os.Stat(dir); err != nil {
		return
	}
	for _, x := range load(t, s.format, dir) {
		s.endure(t, "bad/"+x.name, x.data)
	}
}

// endure reads data and writes what was read, within bounds.
func (s *suite) endure(t *testing.T, what string, data []byte) {
	watch(what, func() {
		before := allocated()
		c, err := read(s.format, data)
		if n := allocated() - before; n > s.opt.Budget {
			t.Errorf("%s: reading it allocates %d bytes", what, n)
		}
		if err != nil || s.format.Write == nil {
			return
		}
		o := formats.NewOutput(context.Background(), io.Discard, nil)
		if err := s.format.Write(o, c.Tree); err == nil {
			return
		}
		for _, n := range c.Tree.Leaves() {
			if x, ok := n.(*pytree.Tensor); ok && x.Bytes() < 1<<20 {
				x.Digest()
			}
		}
	})
}

// testTruncation cuts samples at every place, or with -short at some: the rest
// is an error, or what was cut off did not matter, and it reads the same.
func (s *suite) testTruncation(t *testing.T) {
	for _, x := range s.samples {
		t.Run(x.name, func(t *testing.T) {
			t.Parallel()
			whole, err := list(s.mustRead(t, x), valuesOnly)
			if err != nil {
				t.Fatal(err)
			}
			step := 1
			if testing.Short() {
				step = 1 + len(x.data)/32
			}
			for n := len(x.data) - 1; n >= 0; n -= step {
				watch(fmt.Sprintf("%s cut to %d bytes", x.name, n), func() {
					rest, err := exercise(s.format, x.data[:n:n])
					if d := difference(whole, rest); err == nil && d != "" {
						t.Errorf("cut to %d of %d bytes, it reads without an error, but not the same: %s", n, len(x.data), d)
					}
				})
			}
		})
	}
}
