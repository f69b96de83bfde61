package inspect

import (
	"math/rand/v2"
	"testing"

	"ckpt/pytree"
)

func TestTotals(t *testing.T) {
	s := storage(100)
	expanded := func(s *pytree.Storage) *pytree.Tensor {
		return &pytree.Tensor{DType: pytree.Uint8, Shape: []int64{1000}, Strides: []int64{0}, Storage: s}
	}
	numpy := f32(4)
	numpy.Storage.Payload = nil
	for _, c := range []struct {
		name         string
		tensors      []*pytree.Tensor
		elements     uint64
		stored, left int64
		why          string
	}{
		{"none", nil, 0, 0, 0, "a file without tensors"},
		{"two", []*pytree.Tensor{f32(2, 3), f32()}, 7, 28, 0, "a zero-dimensional tensor has one element"},
		{"tie", []*pytree.Tensor{slice(s, 0, 100), slice(s, 0, 100)}, 100, 100, 0, "a tied weight is stored, and so counted, once"},
		{"parts", []*pytree.Tensor{slice(s, 60, 40), slice(s, 0, 60)}, 100, 100, 0, "the parts of one flat buffer (an LSTM's weights on a GPU) are all parameters"},
		{"part first", []*pytree.Tensor{slice(s, 10, 5), slice(s, 0, 100)}, 100, 100, 0, "a view listed before the whole must not hide the rest"},
		{"overlap", []*pytree.Tensor{slice(s, 0, 60), slice(s, 40, 60)}, 100, 100, 0, "only what is new counts"},
		{"nested", []*pytree.Tensor{slice(s, 0, 50), slice(s, 10, 5), slice(s, 40, 20)}, 60, 100, 40, "a short view inside must not shrink what is covered"},
		{"gap", []*pytree.Tensor{slice(s, 0, 10), slice(s, 90, 10)}, 20, 100, 80, "a small view of a big storage leaves bytes that no tensor refers to"},
		{"expanded", []*pytree.Tensor{expanded(storage(1))}, 1000, 1, 0, "logical elements count, however few are stored"},
		{"empty", []*pytree.Tensor{slice(s, 0, 0), slice(s, 0, 0)}, 0, 100, 100, "nothing covers nothing"},
		{"numpy", []*pytree.Tensor{numpy}, 4, 0, 0, "an array inside the pickle is not among the stored bytes"},
	} {
		t.Run(c.name, func(t *testing.T) {
			l := pytree.NewList()
			for i, x := range c.tensors {
				l.Entries = append(l.Entries, e(i, x))
			}
			q, err := NewQuery(Options{})
			if err != nil {
				t.Fatal(err)
			}
			ck := checkpoint(l)
			ck.Stored = c.stored
			r, err := q.Run(t.Context(), "x", ck, nil)
			if err != nil {
				t.Fatal(err)
			}
			if r.Total.Parameters != c.elements || r.Total.Tensors != len(c.tensors) {
				t.Errorf("%+v, want %d parameters: %s", r.Total, c.elements, c.why)
			}
			if r.Unreferenced != c.left {
				t.Errorf("%d bytes unreferenced, want %d: %s", r.Unreferenced, c.left, c.why)
			}
		})
	}
}

// What a file holds must not depend on the order in which it lists it.
func TestTotalsIgnoreOrder(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	for range 300 {
		s := storage(100)
		l := dict()
		for i := range 1 + rng.IntN(8) {
			off := rng.IntN(90)
			l.Entries = append(l.Entries, e(i, slice(s, int64(off), int64(rng.IntN(100-off)))))
		}
		want := Summary(&pytree.Tree{Root: l})
		rng.Shuffle(len(l.Entries), func(i, j int) { l.Entries[i], l.Entries[j] = l.Entries[j], l.Entries[i] })
		if got := Summary(&pytree.Tree{Root: l}); got != want {
			t.Fatalf("%+v in one order, %+v in another", want, got)
		}
	}
}

// Elements beyond any bound must not wrap around to a small number.
func TestTotalsSaturate(t *testing.T) {
	l := dict()
	for i := range 20 {
		x := &pytree.Tensor{DType: pytree.Uint8, Shape: []int64{1 << 61}, Strides: []int64{0}, Storage: storage(1)}
		l.Entries = append(l.Entries, e(i, x))
	}
	if got := Summary(&pytree.Tree{Root: l}); got.Parameters != 1<<64-1 {
		t.Errorf("%d", got.Parameters)
	}
}
