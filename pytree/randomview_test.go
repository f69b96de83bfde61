package pytree

import (
	"bytes"
	"fmt"
	"io"
	"math/rand/v2"
	"slices"
	"sync/atomic"
	"testing"
	"testing/iotest"
)

// inOrder is a source that can only be read from its begin, like a compressed
// member of an archive.
type inOrder struct {
	b     []byte
	opens *atomic.Int64
}

func (s inOrder) Size() int64 { return int64(len(s.b)) }

func (s inOrder) Open() (io.ReadCloser, error) {
	if s.opens != nil {
		s.opens.Add(1)
	}
	// One byte at a time where bytes are few: readers may give less than asked.
	var r io.Reader = bytes.NewReader(s.b)
	if len(s.b) < 1000 {
		r = iotest.OneByteReader(r)
	}
	return io.NopCloser(r), nil
}

// element is a type of elements for random views.
type element struct {
	dtype DType
	item  int
	swap  []int
}

var elements = []element{
	{Uint8, 0, nil}, {Int16, 0, nil}, {Float32, 0, nil}, {Int64, 0, nil}, {Complex32, 0, nil}, {Complex64, 0, nil}, {Complex128, 0, nil},
	{"|V3", 3, nil}, {"<U5", 20, []int{4}}, {"[('a', '<i2'), ('b', '|u1'), ('c', '<f4')]", 7, []int{2, 1, 4}}, {"|S6", 6, []int{1}},
}

// randomView makes a view of random bytes: dims dimensions of up to most each,
// with strides of any order and sign, with gaps, overlaps and zeros.
func randomView(rng *rand.Rand, dims, most int) *Tensor {
	e := elements[rng.IntN(len(elements))]
	t := &Tensor{DType: e.dtype, ItemSize: e.item, Swap: e.swap}
	rank := rng.IntN(dims + 1)
	for range rank {
		d := 1 + rng.Int64N(int64(most))
		if rng.IntN(30) == 0 {
			d = 0
		}
		t.Shape = append(t.Shape, d)
	}
	if rng.IntN(6) > 0 {
		t.Strides = randomStrides(rng, t.Shape)
	}
	low, high := reach(t)
	t.Offset = -low + rng.Int64N(4)
	raw := make([]byte, (t.Offset+high+1+rng.Int64N(4))*int64(t.Size())+rng.Int64N(int64(t.Size())))
	for i := range raw {
		raw[i] = byte(rng.Uint32())
	}
	t.Storage = &Storage{BigEndian: rng.IntN(3) == 0}
	switch rng.IntN(3) {
	case 0:
		t.Storage.Source = Bytes(raw)
	case 1:
		t.Storage.Source = Section{R: bytes.NewReader(append([]byte("before"), raw...)), Off: 6, N: int64(len(raw))}
	case 2:
		t.Storage.Source = inOrder{b: raw}
	}
	return t
}

func randomStrides(rng *rand.Rand, shape []int64) []int64 {
	strides := make([]int64, len(shape))
	step := int64(1)
	for _, i := range rng.Perm(len(shape)) {
		strides[i] = step
		switch rng.IntN(12) {
		case 0:
			strides[i] = 0
		case 1:
			strides[i] = rng.Int64N(4)
		case 2, 3:
			strides[i] = -step
		case 4:
			strides[i] += rng.Int64N(3)
		}
		step *= max(shape[i], 1)
	}
	if rng.IntN(3) == 0 { // C order, or nearly
		step = 1
		for i := len(shape) - 1; i >= 0; i-- {
			strides[i] = step
			step *= max(shape[i], 1)
			if rng.IntN(6) == 0 {
				step += rng.Int64N(3)
			}
		}
	}
	return strides
}

// reach is the lowest and highest element from the offset.
func reach(t *Tensor) (low, high int64) {
	if t.Strides == nil {
		return 0, max(t.Elements()-1, 0)
	}
	for i, d := range t.Shape {
		r := max(d-1, 0) * t.Strides[i]
		low, high = low+min(r, 0), high+max(r, 0)
	}
	return low, high
}

// elementIndices is where in the storage each element is, in C order.
func elementIndices(t *Tensor) []int64 {
	strides := t.Strides
	if strides == nil {
		strides = make([]int64, len(t.Shape))
		step := int64(1)
		for i := len(t.Shape) - 1; i >= 0; i-- {
			strides[i] = step
			step *= t.Shape[i]
		}
	}
	indices := []int64{t.Offset}
	for i, d := range t.Shape {
		var next []int64
		for _, at := range indices {
			for x := range d {
				next = append(next, at+x*strides[i])
			}
		}
		indices = next
	}
	return indices
}

// naive is the logical bytes of t, element by element.
func naive(t *testing.T, x *Tensor) []byte {
	rc, err := x.Storage.Open()
	if err != nil {
		t.Fatal(err)
	}
	raw, err := io.ReadAll(rc)
	if err != nil {
		t.Fatal(err)
	}
	size := int64(x.Size())
	units := x.Swap
	if units == nil {
		units = []int{int(size)}
		if x.DType.IsComplex() {
			units = []int{int(size) / 2}
		}
	}
	out := []byte{}
	for _, at := range elementIndices(x) {
		e := slices.Clone(raw[at*size : (at+1)*size])
		if x.Storage.BigEndian {
			for n, i := 0, 0; n < len(e); i++ {
				w := units[i%len(units)]
				slices.Reverse(e[n : n+w])
				n += w
			}
		}
		out = append(out, e...)
	}
	return out
}

func describeView(x *Tensor) string {
	return fmt.Sprintf("%s shape %v strides %v offset %d of %T, big-endian %v", x.DType, x.Shape, x.Strides, x.Offset, x.Storage.Source, x.Storage.BigEndian)
}
