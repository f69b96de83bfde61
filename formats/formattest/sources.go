package formattest

import (
	"bytes"
	"io"
	"sync"
	"testing"
	"testing/iotest"

	"ckpt/formats"
	"ckpt/pytree"
)

// named is a source and what a message calls it.
type named struct {
	pytree.Source
	what string
}

// logical is a tensor's logical bytes as a source.
type logical struct{ *pytree.Tensor }

func (l logical) Size() int64 { return l.Bytes() }

// sources lists everything in a checkpoint that can be opened, each once.
func sources(c *formats.Checkpoint) []named {
	var out []named
	seen := make(map[any]bool)
	add := func(key any, what string, src pytree.Source) {
		if !seen[key] {
			seen[key] = true
			out = append(out, named{src, what})
		}
	}
	for p, n := range c.Tree.Leaves() {
		switch n := n.(type) {
		case *pytree.Tensor:
			add(n, string(p), logical{n})
			add(n.Storage, "storage of "+string(p), n.Storage.Source)
		case *pytree.Scalar:
			if long, ok := n.V.(*pytree.Long); ok {
				add(long, string(p), long)
			}
		}
	}
	for i, src := range c.Checked {
		add(i, "checked part", src)
	}
	return out
}

// testSources checks every source of every sample: that it has the size that it
// claims, the same bytes each time, and readers that behave.
func (s *suite) testSources(t *testing.T) {
	const most = 1 << 20 // iotest reads byte by byte
	for _, x := range s.some(4) {
		for _, src := range sources(s.mustRead(t, x)) {
			if src.Size() > most {
				continue
			}
			want, err := readSource(src)
			if err != nil {
				t.Errorf("%s: %s: %v", x.name, src.what, err)
				continue
			}
			if int64(len(want)) != src.Size() {
				t.Errorf("%s: %s: %d bytes, but its size is %d", x.name, src.what, len(want), src.Size())
			}
			if err := testReader(src, want); err != nil {
				t.Errorf("%s: %s: %v", x.name, src.what, err)
			}
			if r, ok := src.Source.(pytree.Ranged); ok {
				at, off := r.Range()
				got := make([]byte, src.Size())
				if _, err := io.ReadFull(io.NewSectionReader(at, off, src.Size()), got); err != nil || !bytes.Equal(got, want) {
					t.Errorf("%s: %s: the bytes of its range are not its bytes: %v", x.name, src.what, err)
				}
			}
		}
	}
}

func readSource(src pytree.Source) ([]byte, error) {
	rc, err := src.Open()
	if err != nil {
		return nil, err
	}
	b, err := io.ReadAll(rc)
	if err != nil {
		rc.Close()
		return nil, err
	}
	return b, rc.Close()
}

func testReader(src pytree.Source, want []byte) error {
	rc, err := src.Open()
	if err != nil {
		return err
	}
	if err := iotest.TestReader(rc, want); err != nil {
		rc.Close()
		return err
	}
	if err := rc.Close(); err != nil {
		return err
	}
	// Closed in the middle, and unread.
	for _, n := range []int{1, 0} {
		if rc, err = src.Open(); err != nil {
			return err
		}
		if n > len(want) {
			n = len(want)
		}
		if _, err := io.ReadFull(rc, make([]byte, n)); err != nil {
			return err
		}
		if err := rc.Close(); err != nil {
			return err
		}
	}
	return nil
}

// testConcurrency opens a checkpoint's sources, and the file itself, in many
// goroutines at once; the race detector does the rest.
func (s *suite) testConcurrency(t *testing.T) {
	for _, x := range s.some(4) {
		c := s.mustRead(t, x)
		want, err := list(c, valuesOnly)
		if err != nil {
			t.Errorf("%s: %v", x.name, err)
			continue
		}
		var wg sync.WaitGroup
		for range 4 {
			wg.Go(func() {
				got, err := list(c, valuesOnly)
				if d := difference(want, got); err != nil || d != "" {
					t.Errorf("%s: read by several at once: %v %s", x.name, err, d)
				}
				for _, src := range sources(c) {
					if _, err := readSource(src); err != nil {
						t.Errorf("%s: %s: opened by several at once: %v", x.name, src.what, err)
					}
				}
			})
		}
		wg.Wait()
	}
}
