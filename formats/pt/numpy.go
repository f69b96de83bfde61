package pt

import (
	"encoding/binary"
	"fmt"
	"math/bits"
	"strings"
	"unicode/utf8"

	"ckpt/pickle"
	"ckpt/pytree"
)

// NumPy's modules for the functions that make arrays, before and since 2.0.
var npCores = []string{"numpy.core.", "numpy._core."}

func addNumpyMakers(m map[string]maker) {
	for _, core := range npCores {
		m[core+"multiarray._reconstruct"] = npReconstruct
		m[core+"multiarray.scalar"] = npScalar
		m[core+"numeric._frombuffer"] = npFromBuffer
	}
	m["numpy.dtype"] = npDType
}

// npArray is what NumPy makes of an array.
type npArray struct {
	// module is where _reconstruct is: "numpy.core.multiarray" or
	// "numpy._core.multiarray".
	module string
	// class is the array's class, numpy.ndarray or one below it.
	class pickle.Value
	dtype *npType
	// shape is an object array's, whose elements are the container's entries.
	shape   []int64
	fortran bool
	// buffered tells that the array came from a buffer, which keeps its byte order
	// when it is loaded.
	buffered bool
}

func npDType(b *builder, v pickle.Value, o *pickle.Object, _ []pickle.Value) (pytree.Node, error) {
	t, err := b.npTypeOf(v, 0)
	if err != nil {
		return nil, nil // an ordinary call: nothing hangs on it here
	}
	text := string(t.name)
	if t.big {
		text += " (big-endian)"
	}
	return &pytree.Opaque{Type: "numpy.dtype", Text: text, Payload: v}, nil
}

// npReconstruct is _reconstruct(class, (0,), b"b") with the state (version,
// shape, dtype, is_fortran, data).
func npReconstruct(b *builder, _ pickle.Value, o *pickle.Object, args []pickle.Value) (pytree.Node, error) {
	if len(args) != 3 {
		return nil, badCall(o, "3 arguments expected, not %d", len(args))
	}
	if len(o.State()) == 0 {
		return nil, nil // not an array yet: shown as the call it is
	}
	state, ok := tuple(o.State()[0])
	if len(state) == 4 { // before there was a version
		state = append([]pickle.Value{{}}, state...)
	}
	if !ok || len(o.State()) != 1 || len(state) != 5 || state[3].Kind() != pickle.Bool && state[3].Kind() != pickle.Int {
		// A subclass with a state of its own.
		return nil, nil
	}
	module, _ := o.Items[0].Obj().Global()
	arr := &npArray{module: module, class: args[0]}
	fortran := state[3].Kind() == pickle.Bool && state[3].Bool() || state[3].Kind() == pickle.Int && state[3].Int() != 0
	return b.npArrayOf(o, arr, state[1], state[2], fortran, state[4])
}

// npFromBuffer is _frombuffer(buffer, dtype, shape, order[, axis_order]), which
// protocol 5 uses.
func npFromBuffer(b *builder, _ pickle.Value, o *pickle.Object, args []pickle.Value) (pytree.Node, error) {
	if len(args) == 5 && args[4].Kind() == pickle.None {
		args = args[:4]
	}
	if len(args) != 4 || len(o.State()) > 0 {
		return nil, nil
	}
	if args[0].Kind() == pickle.Buffer {
		return nil, nil // out of band: its bytes are not in the file
	}
	order, ok := str(args[3])
	if !ok || order != "C" && order != "F" {
		return nil, badCall(o, "order %s is neither 'C' nor 'F'", repr(args[3], 0))
	}
	module, _ := o.Items[0].Obj().Global()
	arr := &npArray{module: strings.TrimSuffix(module, "numeric") + "multiarray", buffered: true}
	return b.npArrayOf(o, arr, args[2], args[1], order == "F", args[0])
}

func (b *builder) npArrayOf(o *pickle.Object, arr *npArray, shapeV, dtypeV pickle.Value, fortran bool, data pickle.Value) (pytree.Node, error) {
	dtype, err := b.npTypeOf(dtypeV, 0)
	if err != nil {
		return nil, nil // a type that cannot be one dense array: shown as its parts
	}
	shape, ok := ints(shapeV)
	if !ok {
		return nil, badCall(o, "the shape must be a tuple of at most %d integers, not %s", maxDims, repr(shapeV, 0))
	}
	arr.dtype = dtype
	elements := uint64(1)
	for _, d := range shape {
		hi, lo := bits.Mul64(elements, uint64(max(d, 0)))
		if d < 0 || hi != 0 || lo > 1<<62/uint64(max(dtype.item, 1)) {
			return nil, badCall(o, "shape %s is negative or overflows", pytree.ShapeString(shape))
		}
		elements = lo
	}
	if dtype.object {
		return b.objectArray(o, arr, shape, fortran, int64(elements), data)
	}
	if dtype.item == 0 {
		// Strings or records of no length: nothing is stored.
		return &pytree.Opaque{Type: "numpy.ndarray", Text: fmt.Sprintf("%s %s", dtype.name, pytree.ShapeString(shape)), Payload: pickle.ValueOf(o)}, nil
	}
	src, err := content(data, int64(elements)*int64(dtype.item))
	if err != nil {
		return nil, badCall(o, "%s %s: %v", dtype.name, pytree.ShapeString(shape), err)
	}
	t := &pytree.Tensor{
		DType: dtype.name, Shape: shape, Wrapper: arr,
		Storage: &pytree.Storage{Source: src, BigEndian: dtype.big, Key: fmt.Sprintf("array at byte %d of the pickle", o.Pos)},
	}
	if dtype.name.Size() == 0 {
		t.ItemSize, t.Swap = dtype.item, dtype.swap
	}
	if fortran && len(shape) > 1 {
		t.Strides = make([]int64, len(shape))
		step := int64(1)
		for i, d := range shape {
			t.Strides[i] = step
			step *= max(d, 1)
		}
		if t.Contiguous() {
			t.Strides = nil
		}
	}
	if err := t.Check(); err != nil {
		return nil, badCall(o, "%v", err)
	}
	return t, nil
}

// objectArray is an array of Python objects: its elements under their indices in
// C order.
func (b *builder) objectArray(o *pickle.Object, arr *npArray, shape []int64, fortran bool, elements int64, data pickle.Value) (pytree.Node, error) {
	items, ok := tuple(data)
	if !ok || int64(len(items)) != elements {
		return nil, badCall(o, "an object array of shape %s takes a list of %d objects", pytree.ShapeString(shape), elements)
	}
	arr.shape, arr.fortran = shape, fortran
	n, err := b.sequence(o, "numpy.ndarray", items, &meta{array: arr})
	if c, ok := n.(*pytree.Container); ok {
		c.Attrs = []string{"dtype object", "shape " + pytree.ShapeString(shape)}
		if fortran {
			c.Attrs = append(c.Attrs, "Fortran order")
		}
	}
	return n, err
}

// npScalar is scalar(dtype, bytes).
func npScalar(b *builder, v pickle.Value, o *pickle.Object, args []pickle.Value) (pytree.Node, error) {
	if len(args) != 2 || len(o.State()) > 0 {
		return nil, nil
	}
	t, err := b.npTypeOf(args[0], 0)
	if err != nil || t.object || t.item > 1<<20 {
		return nil, nil
	}
	src, err := content(args[1], int64(t.item))
	if err != nil {
		return nil, badCall(o, "%s: %v", t.name, err)
	}
	st := &pytree.Storage{Source: src, BigEndian: t.big}
	tensor := &pytree.Tensor{DType: t.name, Storage: st, ItemSize: t.item, Swap: t.swap}
	raw, err := readAll(tensor)
	if err != nil {
		return nil, badCall(o, "%s: %v", t.name, err)
	}
	class := "numpy." + scalarClass(t)
	if val, ok := npValue(t, raw); ok {
		return &pytree.Scalar{V: val, Class: class, Payload: v}, nil
	}
	text := ""
	if t.kind == 'M' || t.kind == 'm' {
		text = dateValue(t, int64(binary.LittleEndian.Uint64(raw)))
	} else if re, im, ok := complexValue(t, raw); ok {
		text = complexText(re, im)
	}
	return &pytree.Opaque{Type: class, Text: text, Payload: v}, nil
}

// scalarClass is the name of the scalar type of t.
func scalarClass(t *npType) string {
	switch t.kind {
	case 'U':
		return "str_"
	case 'S':
		return "bytes_"
	case 'V':
		if t.name.Size() > 0 {
			return string(t.name)
		}
		return "void"
	case 'M':
		return "datetime64"
	case 'm':
		return "timedelta64"
	case 'b':
		return "bool_"
	}
	return string(t.name)
}

// npValue is the value of a scalar that Python has a plain type for.
func npValue(t *npType, raw []byte) (any, bool) {
	switch t.kind {
	case 'b':
		return raw[0] != 0, true
	case 'i':
		shift := 64 - 8*t.item
		var buf [8]byte
		copy(buf[:], raw)
		return int64(binary.LittleEndian.Uint64(buf[:])) << shift >> shift, true
	case 'u':
		var buf [8]byte
		copy(buf[:], raw)
		return unsigned(binary.LittleEndian.Uint64(buf[:])), true
	case 'U':
		var s []byte
		for ; len(raw) >= 4; raw = raw[4:] {
			s = utf8.AppendRune(s, rune(binary.LittleEndian.Uint32(raw)))
		}
		return strings.TrimRight(string(s), "\x00"), true
	case 'S':
		return []byte(strings.TrimRight(string(raw), "\x00")), true
	}
	if t.name.IsFloat() {
		return pytree.Float(t.name, raw), true
	}
	return nil, false
}

func complexValue(t *npType, raw []byte) (re, im float64, ok bool) {
	half := map[pytree.DType]pytree.DType{pytree.Complex64: pytree.Float32, pytree.Complex128: pytree.Float64}[t.name]
	if half == "" {
		return 0, 0, false
	}
	n := half.Size()
	return pytree.Float(half, raw[:n]), pytree.Float(half, raw[n:]), true
}
