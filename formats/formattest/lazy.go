package formattest

import (
	"bytes"
	"context"
	"io"
	"sync/atomic"
	"testing"

	"ckpt/formats"
	"ckpt/pytree"
)

// counting counts the bytes that are read.
type counting struct {
	io.ReaderAt
	n atomic.Int64
}

func (c *counting) ReadAt(p []byte, off int64) (int, error) {
	n, err := c.ReaderAt.ReadAt(p, off)
	c.n.Add(int64(n))
	return n, err
}

// testLaziness checks that the structure is read without the tensors: of each
// sample, no more than a few times what is not tensors; and of a large file, as
// the format writes it, next to nothing.
func (s *suite) testLaziness(t *testing.T) {
	const slack = 256 << 10 // for signatures at the end of a file, and buffers
	for _, x := range s.samples {
		r := &counting{ReaderAt: bytes.NewReader(x.data)}
		c, err := s.format.Read(r, int64(len(x.data)))
		if err != nil {
			t.Errorf("%s: %v", x.name, err)
			continue
		}
		if c.Stored < 0 || c.Stored > int64(len(x.data)) && !compressed(c) {
			t.Errorf("%s: %d bytes of tensors in a file of %d", x.name, c.Stored, len(x.data))
		}
		if n, most := r.n.Load(), 4*int64(len(x.data))+slack; n > most {
			t.Errorf("%s: %d bytes are read to tell the structure of a file of %d", x.name, n, len(x.data))
		}
	}
	if s.format.Write == nil {
		return
	}
	const tensors, each = 64, 1 << 20
	big := s.bigFile(t, tensors, each)
	r := &counting{ReaderAt: bytes.NewReader(big)}
	c, err := s.format.Read(r, int64(len(big)))
	if err != nil {
		t.Fatal(err)
	}
	count := 0
	for range c.Tree.Leaves() {
		count++
	}
	if count != tensors || c.Stored != tensors*each {
		t.Errorf("%d leaves with %d stored bytes, want %d with %d", count, c.Stored, tensors, tensors*each)
	}
	if n, most := r.n.Load(), 4*(int64(len(big))-c.Stored)+slack; n > most {
		t.Errorf("%d bytes are read to tell the structure of a file of %d, which is %d without its tensors", n, len(big), int64(len(big))-c.Stored)
	}
}

func compressed(c *formats.Checkpoint) bool {
	for _, x := range c.Checked {
		if _, ranged := x.(pytree.Ranged); !ranged {
			return true
		}
	}
	return false
}

// bigFile is a file as the format writes it, with so many tensors of so many
// bytes.
func (s *suite) bigFile(t *testing.T, tensors, each int) []byte {
	t.Helper()
	root := pytree.NewDict()
	for i := range tensors {
		data := bytes.Repeat([]byte{byte(i)}, each)
		x := &pytree.Tensor{DType: pytree.Float32, Shape: []int64{int64(each / 4)}, Storage: &pytree.Storage{Source: pytree.Bytes(data)}}
		root.Entries = append(root.Entries, pytree.Entry{Key: pytree.StringKey("w" + string(rune('A'+i))), Value: x})
	}
	var buf bytes.Buffer
	o := formats.NewOutput(context.Background(), &buf, nil)
	if err := s.format.Write(o, &pytree.Tree{Root: root}); err != nil {
		t.Fatal(err)
	}
	if err := o.Flush(); err != nil {
		t.Fatal(err)
	}
	return buf.Bytes()
}
