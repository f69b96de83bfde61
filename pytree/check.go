package pytree

import (
	"errors"
	"fmt"
	"math/bits"
)

// Check verifies that the view makes sense and lies within its storage, without
// overflow. Every reader calls it for each tensor it builds; the other methods
// rely on it.
func (t *Tensor) Check() error {
	if err := t.checkElement(); err != nil {
		return err
	}
	if t.Storage == nil {
		return errors.New("tensor has no storage")
	}
	if t.Strides != nil && len(t.Strides) != len(t.Shape) {
		return fmt.Errorf("shape %s has %d dimensions but %d strides are given", ShapeString(t.Shape), len(t.Shape), len(t.Strides))
	}
	elements, empty := uint64(1), false
	for _, d := range t.Shape {
		if d < 0 {
			return fmt.Errorf("shape %s has a negative dimension", ShapeString(t.Shape))
		}
		empty = empty || d == 0
	}
	if t.Offset < 0 {
		return fmt.Errorf("offset %d is negative", t.Offset)
	}
	if empty {
		return nil
	}
	for _, d := range t.Shape {
		hi, lo := bits.Mul64(elements, uint64(d))
		if hi != 0 || lo > 1<<62/uint64(t.Size()) {
			return fmt.Errorf("shape %s overflows", ShapeString(t.Shape))
		}
		elements = lo
	}
	stored := t.Storage.Size() / int64(t.Size())
	first, last, err := t.span(int64(elements))
	if err != nil {
		return err
	}
	if first < 0 || last >= stored {
		return fmt.Errorf("view of elements %d to %d reaches outside its storage, which holds %d (%d bytes)", first, last, stored, t.Storage.Size())
	}
	return nil
}

// maxUnit is the width of the widest number that has a byte order.
const maxUnit = 16

// checkElement verifies that an element's size and units agree.
func (t *Tensor) checkElement() error {
	if t.Size() <= 0 {
		return fmt.Errorf("dtype %s has no known size", t.DType)
	}
	if known := t.DType.Size(); known > 0 && t.Size() != known {
		return fmt.Errorf("elements of %s take %d bytes, not %d", t.DType, known, t.Size())
	}
	if t.Signs != 0 && !t.signed() {
		return fmt.Errorf("dtype %s has no sign bit to flip", t.DType)
	}
	units := t.Swap
	if len(units) == 0 {
		if t.Storage == nil || !t.Storage.BigEndian {
			return nil
		}
		units = []int{t.unit()}
	}
	sum := 0
	for _, w := range units {
		if w < 1 || w > maxUnit {
			return fmt.Errorf("dtype %s: bytes in units of %d have no order to change", t.DType, w)
		}
		sum += w
	}
	if sum == 0 || t.Size()%sum != 0 {
		return fmt.Errorf("dtype %s: units of %d bytes together do not fill an element of %d", t.DType, sum, t.Size())
	}
	return nil
}

// unit is the width of the units that make up an element if Swap does not say.
func (t *Tensor) unit() int {
	if w := dtypeSizes[t.DType].swap; w > 0 {
		return w
	}
	return t.Size()
}

// signed reports whether the highest bit of a number is its sign and nothing
// else; in the "fnuz" types the negative zero is the NaN.
func (t *Tensor) signed() bool {
	switch t.DType {
	case Float8E4M3FNU, Float8E5M2FNU, Float8E8M0FNU:
		return false
	}
	return t.DType.IsFloat() || t.DType.IsComplex() || t.ItemSize > 0 && len(t.Swap) == 2
}

var errSpan = errors.New("offset and strides overflow")

// span is the lowest and highest element that the view touches.
func (t *Tensor) span(elements int64) (first, last int64, err error) {
	const limit = 1 << 62
	if t.Offset > limit {
		return 0, 0, errSpan
	}
	first, last = t.Offset, t.Offset
	if t.Strides == nil {
		if last > limit-elements {
			return 0, 0, errSpan
		}
		return first, last + elements - 1, nil
	}
	for i, d := range t.Shape {
		s := t.Strides[i]
		mag := uint64(s)
		if s < 0 {
			mag = -mag
		}
		hi, reach := bits.Mul64(mag, uint64(d-1))
		if hi != 0 || reach > limit {
			return 0, 0, errSpan
		}
		if s < 0 {
			first -= int64(reach) // at least -1<<62 - 1<<62, which fits
		} else if last > limit-int64(reach) {
			return 0, 0, errSpan
		} else {
			last += int64(reach)
		}
		if first < -limit {
			return 0, 0, errSpan
		}
	}
	return first, last, nil
}
