package pt

import (
	"errors"
	"fmt"
	"strconv"
	"strings"

	"ckpt/pickle"
	"ckpt/pytree"
)

// npType is a NumPy dtype.
type npType struct {
	// name is str(dtype) of the little-endian form.
	name pytree.DType
	item int // bytes an element
	// swap is the widths of the units to reverse for another byte order, again
	// and again to the element's end; nil where there is nothing to reverse.
	swap   []int
	big    bool
	object bool // elements are Python objects
	kind   byte // NumPy's kind: b i u f c S U V M m O
	record bool // elements are numpy.record
	value  pickle.Value
}

const (
	maxItem      = 1 << 30
	maxName      = 16 << 10 // of a type's printed name
	maxNestTypes = 32
	// maxUnits is how large a big-endian record may be: its fields' byte order is
	// undone by a list of their widths.
	maxUnits = 1024
)

// npTypeOf reads a pickled dtype: a call of numpy.dtype(code, align, copy) with
// the state (version, byte order, subarray, names, fields, item size, alignment,
// flags[, metadata]).
func (b *builder) npTypeOf(v pickle.Value, depth int) (*npType, error) {
	if v.Kind() != pickle.Call || callee(v.Obj()) != "numpy.dtype" {
		return nil, fmt.Errorf("a numpy.dtype expected, not %s", repr(v, 0))
	}
	if depth > maxNestTypes {
		return nil, errors.New("dtype nested too deep")
	}
	o := v.Obj()
	if t, ok := b.dtypes[o]; ok {
		return t, nil
	}
	args, _ := tuple(o.Items[1])
	if len(args) == 0 {
		return nil, badCall(o, "no type code")
	}
	t := &npType{value: v}
	if err := t.code(args[0]); err != nil {
		return nil, badCall(o, "%v", err)
	}
	if len(o.State()) > 0 {
		state, ok := tuple(o.State()[0])
		if !ok || len(state) < 5 {
			return nil, badCall(o, "its state is malformed")
		}
		if err := t.state(b, state, depth); err != nil {
			return nil, badCall(o, "%v", err)
		}
	}
	b.dtypes[o] = t
	const entry = 64 // bytes, about
	return t, b.spend((len(t.name) + 8*len(t.swap)) / entry)
}

// code reads a type code such as "f4" or "U5", or a class of an extension.
func (t *npType) code(v pickle.Value) error {
	if v.Kind() == pickle.Global {
		module, name := v.Obj().Global()
		if module == "numpy" && name == "record" {
			t.kind, t.record = 'V', true
			return nil
		}
		d := pytree.DType(name)
		if name == "bool_" {
			d = pytree.Bool
		}
		if d.Size() == 0 {
			return fmt.Errorf("dtype %s.%s is not known", module, name)
		}
		t.name, t.item, t.kind, t.swap = d, d.Size(), 'V', []int{d.Size()}
		return nil
	}
	s, ok := str(v)
	if !ok || s == "" {
		return fmt.Errorf("type code %s is not known", repr(v, 0))
	}
	s = strings.TrimLeft(s, "<>|=")
	if s == "?" {
		s = "b1"
	}
	n := 0
	if len(s) > 1 {
		var err error
		if n, err = strconv.Atoi(s[1:]); err != nil || n < 0 || n > maxItem {
			return fmt.Errorf("type code %q is not known", s)
		}
	}
	t.kind, t.item = s[0], n
	names := map[string]pytree.DType{
		"b1": pytree.Bool, "i1": pytree.Int8, "i2": pytree.Int16, "i4": pytree.Int32, "i8": pytree.Int64,
		"u1": pytree.Uint8, "u2": pytree.Uint16, "u4": pytree.Uint32, "u8": pytree.Uint64,
		"f2": pytree.Float16, "f4": pytree.Float32, "f8": pytree.Float64, "f12": "float96", "f16": "float128",
		"c8": pytree.Complex64, "c16": pytree.Complex128, "c24": "complex192", "c32": "complex256",
		"M8": "datetime64", "m8": "timedelta64",
	}
	name, ok := names[s]
	switch {
	case ok:
		t.name = name
		t.swap = []int{n}
		if t.kind == 'c' {
			t.swap = []int{n / 2}
		}
	case t.kind == 'O':
		t.name, t.item, t.object = "object", 8, true
	case t.kind == 'U' && n <= maxItem/4:
		t.name, t.item = pytree.DType(fmt.Sprintf("<U%d", n)), 4*n
		t.swap = []int{4}
	case t.kind == 'S' || t.kind == 'a':
		t.kind, t.name = 'S', pytree.DType(fmt.Sprintf("|S%d", n))
	case t.kind == 'V':
		t.name = pytree.DType(fmt.Sprintf("|V%d", n))
	default:
		return fmt.Errorf("type code %q is not known", s)
	}
	return nil
}

// state applies the byte order, the unit of a date, and the fields.
func (t *npType) state(b *builder, state []pickle.Value, depth int) error {
	order, _ := str(state[1])
	if len(state) > 8 && (t.kind == 'M' || t.kind == 'm') {
		t.name = pytree.DType(string(t.name) + dateUnit(state[8]))
	}
	if state[2].Kind() == pickle.Tuple {
		return t.subarray(b, state[2].Obj().Items, depth)
	}
	if state[3].Kind() == pickle.Tuple && state[4].Kind() == pickle.Dict {
		return t.fields(b, state[3].Obj().Items, state[4].Obj().Items, state, depth)
	}
	// The size of a type without a fixed one is in the state.
	if t.item == 0 && len(state) > 5 && state[5].Kind() == pickle.Int && state[5].Int() > 0 {
		n := state[5].Int()
		if n > maxItem {
			return fmt.Errorf("item size %d is beyond reason", n)
		}
		t.item = int(n)
		switch t.kind {
		case 'U':
			t.name, t.swap = pytree.DType(fmt.Sprintf("<U%d", n/4)), []int{4}
		case 'S', 'V':
			t.name = pytree.DType(fmt.Sprintf("|%c%d", t.kind, n))
		}
	}
	t.big = order == ">" && len(t.swap) > 0
	return nil
}

// dateUnit is "[ns]" from the metadata (dict, (unit, number, divisor, events)).
func dateUnit(v pickle.Value) string {
	outer, _ := tuple(v)
	if len(outer) != 2 {
		return ""
	}
	unit, _ := tuple(outer[1])
	if len(unit) < 2 || unit[1].Kind() != pickle.Int {
		return ""
	}
	name := unit[0].Str()
	if unit[0].Kind() == pickle.Call && isLatin1Call(unit[0]) {
		args, _ := tuple(unit[0].Obj().Items[1])
		name = args[0].Str()
	}
	switch {
	case name == "generic" || name == "":
		return ""
	case unit[1].Int() != 1:
		return fmt.Sprintf("[%d%s]", unit[1].Int(), name)
	}
	return "[" + name + "]"
}

// subarray is a field type that repeats another: (type, shape).
func (t *npType) subarray(b *builder, sub []pickle.Value, depth int) error {
	if len(sub) != 2 {
		return errors.New("its subarray is malformed")
	}
	base, err := b.npTypeOf(sub[0], depth+1)
	if err != nil {
		return err
	}
	shape, ok := ints(sub[1])
	if !ok && sub[1].Kind() == pickle.Int {
		shape, ok = []int64{sub[1].Int()}, true
	}
	n := int64(base.item)
	for _, d := range shape {
		if d < 0 || d > maxItem || n*d > maxItem {
			return fmt.Errorf("subarray shape %s is beyond reason", pytree.ShapeString(shape))
		}
		n *= d
	}
	if !ok || base.object {
		return errors.New("its subarray is malformed")
	}
	dims := make([]string, len(shape))
	for i, d := range shape {
		dims[i] = strconv.FormatInt(d, 10)
	}
	tail := ""
	if len(dims) == 1 {
		tail = ","
	}
	t.name = pytree.DType(fmt.Sprintf("(%s, (%s%s))", base.fieldName(), strings.Join(dims, ", "), tail))
	if len(t.name) > maxName {
		return fmt.Errorf("its name takes more than %d bytes", maxName)
	}
	t.item, t.big, t.swap = int(n), base.big, base.swap
	return nil
}
