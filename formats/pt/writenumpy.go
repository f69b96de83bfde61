package pt

import (
	"strings"

	"ckpt/pickle"
	"ckpt/pytree"
)

// array writes a NumPy array into the pickle: _reconstruct(class, (0,), b"b")
// and the state (1, shape, dtype, is_fortran, bytes).
func (e *encoder) array(t *pytree.Tensor, arr *npArray) error {
	if t.DType != arr.dtype.name {
		return e.errorf("an array of %s cannot hold %s", arr.dtype.name, t.DType)
	}
	content := t
	if arr.dtype.big {
		// The bytes in the array's own order. Reversing is its own inverse.
		raw := *t
		st := *t.Storage
		st.BigEndian = !st.BigEndian
		raw.Storage = &st
		content = &raw
		if t.Signs != 0 {
			return e.errorf("a negated view cannot become a big-endian array")
		}
	}
	fortran := fortranOrder(t)
	if fortran {
		plain := *content
		plain.Shape = make([]int64, len(t.Shape))
		for i, d := range t.Shape {
			plain.Shape[len(t.Shape)-1-i] = d
		}
		plain.Strides = nil
		content = &plain
	}
	if arr.buffered && arr.dtype.big {
		return e.fromBuffer(t, arr, content, fortran)
	}
	if err := e.reconstruct(arr); err != nil {
		return err
	}
	e.w.Mark()
	e.w.Int(1)
	e.ints(t.Shape)
	if err := e.value(arr.dtype.value); err != nil {
		return err
	}
	e.w.Bool(fortran)
	e.w.BytesLatin1From(content.Bytes(), content.Open)
	e.w.Tuple(pickle.FromMark)
	e.w.Build()
	return e.w.Err()
}

// fromBuffer writes an array as _frombuffer(bytearray, dtype, shape, order), which
// alone keeps another byte order than the machine's when it is loaded.
func (e *encoder) fromBuffer(t *pytree.Tensor, arr *npArray, content *pytree.Tensor, fortran bool) error {
	e.w.Global(strings.TrimSuffix(arr.module, "multiarray")+"numeric", "_frombuffer")
	e.w.Mark()
	e.w.Global("__builtin__", "bytearray")
	e.w.BytesLatin1From(content.Bytes(), content.Open)
	e.w.Tuple(1)
	e.w.Reduce()
	if err := e.value(arr.dtype.value); err != nil {
		return err
	}
	e.ints(t.Shape)
	order := "C"
	if fortran {
		order = "F"
	}
	e.w.Text(order)
	e.w.Tuple(pickle.FromMark)
	e.w.Reduce()
	return e.w.Err()
}

// fortranOrder reports whether t's elements lie in Fortran order.
func fortranOrder(t *pytree.Tensor) bool {
	if len(t.Shape) < 2 || t.Contiguous() {
		return false
	}
	step := int64(1)
	for i, d := range t.Shape {
		if d > 1 && t.Strides[i] != step {
			return false
		}
		step *= d
	}
	return true
}

func (e *encoder) reconstruct(arr *npArray) error {
	e.w.Global(arr.module, "_reconstruct")
	if arr.class.Kind() == pickle.Invalid {
		e.w.Global("numpy", "ndarray")
	} else if err := e.value(arr.class); err != nil {
		return err
	}
	e.w.Int(0)
	e.w.Tuple(1)
	e.w.BytesP2([]byte("b"))
	e.w.Tuple(3)
	e.w.Reduce()
	return nil
}

// objectArray writes an array of objects, whose bytes are a list of them.
func (e *encoder) objectArray(c *pytree.Container, arr *npArray) error {
	n := int64(1)
	for _, d := range arr.shape {
		n *= d
	}
	if int64(len(c.Entries)) != n {
		return e.errorf("an array of shape %s takes %d objects, not %d", pytree.ShapeString(arr.shape), n, len(c.Entries))
	}
	if err := e.reconstruct(arr); err != nil {
		return err
	}
	e.w.SetMemo(c)
	e.w.Mark()
	e.w.Int(1)
	e.ints(arr.shape)
	if err := e.value(arr.dtype.value); err != nil {
		return err
	}
	e.w.Bool(arr.fortran)
	e.w.EmptyList()
	if err := e.list(c, e.w.Appends); err != nil {
		return err
	}
	e.w.Tuple(pickle.FromMark)
	e.w.Build()
	return nil
}
