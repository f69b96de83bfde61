package inspect

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"io"
	"math"
	"math/big"
	"math/rand/v2"
	"strconv"
	"testing"

	"ckpt/formats"
	"ckpt/pytree"
)

var testFormat = &formats.Format{Name: "test"}

func checkpoint(root pytree.Node) *formats.Checkpoint {
	return &formats.Checkpoint{
		Tree: &pytree.Tree{Root: root}, Format: testFormat, Variant: "test-zip", Title: "Test zip", Size: 4321,
	}
}

func run(t *testing.T, root pytree.Node, opt Options) *Result {
	t.Helper()
	q, err := NewQuery(opt)
	if err != nil {
		t.Fatal(err)
	}
	r, err := q.Run(context.Background(), "x.pt", checkpoint(root), nil)
	if err != nil {
		t.Fatal(err)
	}
	return r
}

func text(t *testing.T, r *Result) string {
	t.Helper()
	var b bytes.Buffer
	if err := r.WriteText(&b, TextOptions{}); err != nil {
		t.Fatal(err)
	}
	return b.String()
}

func jsonText(t *testing.T, r *Result) string {
	t.Helper()
	var b bytes.Buffer
	if err := r.WriteJSON(&b); err != nil {
		t.Fatal(err)
	}
	if !json.Valid(b.Bytes()) {
		t.Fatalf("not JSON: %s", b.String())
	}
	return b.String()
}

func e(key any, n pytree.Node) pytree.Entry {
	if i, ok := key.(int); ok {
		return pytree.Entry{Key: pytree.IntKey(int64(i)), Value: n}
	}
	return pytree.Entry{Key: pytree.StringKey(key.(string)), Value: n}
}

func dict(entries ...pytree.Entry) *pytree.Container { return pytree.NewDict(entries...) }

func typed(typ string, c *pytree.Container, attrs ...string) *pytree.Container {
	c.Type, c.Attrs = typ, attrs
	return c
}

func scalar(v any) *pytree.Scalar { return &pytree.Scalar{V: v} }

// storage is n bytes that are a part of the file.
func storage(n int) *pytree.Storage {
	b := make(pytree.Bytes, n)
	for i := range b {
		b[i] = byte(i)
	}
	return &pytree.Storage{Source: b, Payload: "in the file"}
}

// f32 is a tensor of its own.
func f32(shape ...int64) *pytree.Tensor {
	t := &pytree.Tensor{DType: pytree.Float32, Shape: shape}
	t.Storage = storage(int(t.Bytes()))
	return t
}

// slice is n bytes of a storage from the given one on.
func slice(s *pytree.Storage, off, n int64) *pytree.Tensor {
	return &pytree.Tensor{DType: pytree.Uint8, Shape: []int64{n}, Offset: off, Storage: s}
}

// long is a value that stays in the file, given in small pieces.
type long []byte

func (l long) Size() int64 { return int64(len(l)) }

func (l long) Open() (io.ReadCloser, error) {
	return io.NopCloser(&dribble{bytes.NewReader(l)}), nil
}

// dribble gives seven bytes at a time.
type dribble struct{ r *bytes.Reader }

func (d *dribble) Read(p []byte) (int, error) { return d.r.Read(p[:min(7, len(p))]) }

// broken is a source that cannot be read to its end.
type broken struct{ n int64 }

var errBroken = errors.New("the disk is gone")

func (b broken) Size() int64                  { return b.n }
func (b broken) Open() (io.ReadCloser, error) { return io.NopCloser(errReader{}), nil }

type errReader struct{}

func (errReader) Read([]byte) (int, error) { return 0, errBroken }

// randomTree is a tree with nearly everything in it.
func randomTree(rng *rand.Rand) pytree.Node {
	pool := []*pytree.Storage{storage(64), storage(64), storage(0)}
	var node func(depth int) pytree.Node
	node = func(depth int) pytree.Node {
		if depth > 0 && rng.IntN(3) > 0 {
			c := dict()
			integers := rng.IntN(2) == 0
			for i := range rng.IntN(7) {
				key := any(i)
				if !integers {
					key = []string{"a", "b.c", "layers.0.w", "layers.1.w", "layers.2.w", "", "x"}[i]
				}
				c.Entries = append(c.Entries, e(key, node(depth-1)))
			}
			if integers && rng.IntN(2) == 0 {
				c.Kind, c.Type = pytree.Sequence, "list"
			}
			if rng.IntN(4) == 0 {
				c.Type = "some.Class"
			}
			return c
		}
		switch rng.IntN(8) {
		case 0:
			return scalar(int64(rng.IntN(3)))
		case 1:
			return scalar([]any{nil, true, math.Inf(1), 0.5, big.NewInt(7), "text", []byte{1, 2}}[rng.IntN(7)])
		case 2:
			return &pytree.Opaque{Type: "torch.device", Text: "cpu"}
		case 3:
			n := int64(rng.IntN(16))
			return slice(pool[rng.IntN(2)], int64(rng.IntN(48)), n)
		case 4:
			return slice(pool[2], 0, 0)
		}
		return f32(int64(rng.IntN(3)), 2)
	}
	c := dict()
	for i := range 2 + rng.IntN(4) {
		c.Entries = append(c.Entries, e("top"+strconv.Itoa(i), node(3)))
	}
	return c
}
