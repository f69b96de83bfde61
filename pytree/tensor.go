package pytree

import (
	"slices"
	"strconv"
	"strings"
)

// Storage is a run of bytes that tensors view. Its identity is its pointer: two
// tensors with one storage are tied.
type Storage struct {
	Source
	// BigEndian tells that the elements are stored most significant byte first.
	BigEndian bool
	// Key names the storage in its file, for messages.
	Key string
	// Payload is the format's own, for a faithful rewrite.
	Payload any
}

// Tensor is a dense array: a view of a storage.
type Tensor struct {
	DType DType
	// Shape is the length of each dimension; none for a single element.
	Shape []int64
	// Strides count elements, one for each dimension; nil means C order.
	Strides []int64
	// Offset is the first element's, in elements from the storage's begin.
	Offset  int64
	Storage *Storage
	// ItemSize is the bytes an element takes where DType's name does not say,
	// and Swap the widths of the units to reverse for another byte order, again
	// and again to the element's end (nil: what DType's name says, else one unit
	// an element).
	ItemSize int
	Swap     []int
	// Signs says which components are read with the opposite sign.
	Signs Signs
	// Wrapper is what the format makes of the array: a Parameter, an ndarray. It
	// belongs to the place in the tree, the rest to the value.
	Wrapper any
}

// Size is the bytes an element takes.
func (t *Tensor) Size() int {
	if t.ItemSize > 0 {
		return t.ItemSize
	}
	return t.DType.Size()
}

// Elements is the product of the shape. [Tensor.Check] has ruled out overflow.
func (t *Tensor) Elements() int64 {
	n := int64(1)
	for _, d := range t.Shape {
		n *= d
	}
	return n
}

// Bytes is the length of the tensor's logical bytes.
func (t *Tensor) Bytes() int64 { return t.Elements() * int64(t.Size()) }

// Contiguous reports whether the elements lie in C order without gaps. No
// elements always do.
func (t *Tensor) Contiguous() bool {
	if t.Strides == nil || slices.Contains(t.Shape, 0) {
		return true
	}
	want := int64(1)
	for i := len(t.Shape) - 1; i >= 0; i-- {
		if t.Shape[i] != 1 && t.Strides[i] != want {
			return false
		}
		want *= t.Shape[i]
	}
	return true
}

// Extent is the part of the storage that the view touches, in bytes from the
// storage's begin. An empty tensor touches nothing.
func (t *Tensor) Extent() (off, n int64) {
	size := int64(t.Size())
	if t.Elements() == 0 {
		return 0, 0
	}
	if t.Strides == nil {
		return t.Offset * size, t.Bytes()
	}
	low, high := t.Offset, t.Offset
	for i, d := range t.Shape {
		if s := t.Strides[i]; s < 0 {
			low += (d - 1) * s
		} else {
			high += (d - 1) * s
		}
	}
	return low * size, (high - low + 1) * size
}

// ShapeString prints a shape as reports show it: [8,4].
func ShapeString(shape []int64) string {
	return "[" + joinInts(shape, ",") + "]"
}

func joinInts(ns []int64, sep string) string {
	var b strings.Builder
	for i, n := range ns {
		if i > 0 {
			b.WriteString(sep)
		}
		b.WriteString(strconv.FormatInt(n, 10))
	}
	return b.String()
}
