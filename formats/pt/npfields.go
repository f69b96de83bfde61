package pt

import (
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"ckpt/pickle"
	"ckpt/pytree"
)

// fields is a structured type. Its units say how a change of byte order
// reverses a whole element.
func (t *npType) fields(b *builder, names, dict, state []pickle.Value, depth int) error {
	if err := b.spend(len(names) + len(dict)/2); err != nil {
		return err
	}
	byName, err := fieldsByName(dict)
	if err != nil {
		return err
	}
	if len(state) > 5 && state[5].Kind() == pickle.Int && state[5].Int() >= 0 && state[5].Int() <= maxItem {
		t.item = int(state[5].Int())
	}
	r := fieldList{t: t, packed: true}
	for _, v := range names {
		name, _ := str(v)
		f, ok := byName[name]
		if !ok {
			return fmt.Errorf("field %q is not described", name)
		}
		ft, err := b.npTypeOf(f[0], depth+1)
		if err != nil {
			return err
		}
		if err := r.add(name, f, ft); err != nil {
			return err
		}
	}
	const alignedFlag = 0x80
	aligned := len(state) > 7 && state[7].Kind() == pickle.Int && state[7].Int()&alignedFlag != 0
	return r.finish(aligned)
}

// fieldsByName takes a dict of name: (type, offset[, title]) apart.
func fieldsByName(dict []pickle.Value) (map[string][]pickle.Value, error) {
	byName := make(map[string][]pickle.Value, len(dict)/2)
	for i := 0; i+1 < len(dict); i += 2 {
		name, ok := str(dict[i])
		f, ok2 := tuple(dict[i+1])
		if !ok || !ok2 || len(f) < 2 || f[1].Kind() != pickle.Int {
			return nil, errors.New("its fields are malformed")
		}
		byName[name] = f
	}
	return byName, nil
}

// fieldList gathers the fields of a structured type.
type fieldList struct {
	t                             *npType
	at                            int // the end of the last field
	packed                        bool
	little, big                   bool // there are fields of that byte order
	titled                        bool
	units                         []int
	list, names, formats, offsets []string
	length                        int // of the printed name
}

func (r *fieldList) add(name string, f []pickle.Value, ft *npType) error {
	off := f[1].Int()
	if ft.object || off < int64(r.at) || off+int64(ft.item) > int64(r.t.item) {
		return fmt.Errorf("field %q (%s at byte %d) does not fit an element of %d bytes, or holds objects", name, ft.name, off, r.t.item)
	}
	r.packed = r.packed && off == int64(r.at)
	if r.t.item <= maxUnits {
		r.units = append(r.units, slices.Repeat([]int{1}, int(off)-r.at)...)
		r.units = append(r.units, ft.units()...)
	}
	r.at = int(off) + ft.item
	if len(ft.swap) > 0 && slices.Max(ft.swap) > 1 {
		r.big, r.little = r.big || ft.big, r.little || !ft.big
	}
	q := reprString(name, false)
	r.names, r.formats, r.offsets = append(r.names, q), append(r.formats, ft.fieldName()), append(r.offsets, strconv.FormatInt(off, 10))
	if len(f) > 2 {
		title, ok := str(f[2])
		if !ok {
			return fmt.Errorf("field %q has a title that is no text", name)
		}
		q, r.titled = fmt.Sprintf("(%s, %s)", reprString(title, false), q), true
	}
	r.list = append(r.list, fmt.Sprintf("(%s, %s)", q, ft.listName()))
	if r.length += 2*len(q) + 2*len(ft.name) + 16; r.length > maxName {
		return fmt.Errorf("its name takes more than %d bytes", maxName)
	}
	return nil
}

func (r *fieldList) finish(aligned bool) error {
	t := r.t
	switch {
	case r.big && r.little:
		return errors.New("its fields have different byte orders")
	case r.big && t.item > maxUnits:
		return fmt.Errorf("big-endian elements of %d bytes; at most %d are supported", t.item, maxUnits)
	}
	t.big, t.kind = r.big, 'V'
	if r.big {
		t.swap = append(r.units, slices.Repeat([]int{1}, t.item-r.at)...)
	}
	name := "[" + strings.Join(r.list, ", ") + "]"
	if !r.packed || r.at != t.item || aligned {
		if r.titled {
			return errors.New("its fields have titles and gaps")
		}
		name = fmt.Sprintf("{'names': [%s], 'formats': [%s], 'offsets': [%s], 'itemsize': %d",
			strings.Join(r.names, ", "), strings.Join(r.formats, ", "), strings.Join(r.offsets, ", "), t.item)
		if aligned {
			name += ", 'aligned': True"
		}
		name += "}"
	}
	if t.record {
		name = "(numpy.record, " + name + ")"
	}
	t.name = pytree.DType(name)
	return nil
}

// units is swap for a whole element of at most maxUnits bytes.
func (t *npType) units() []int {
	if len(t.swap) == 0 {
		return slices.Repeat([]int{1}, t.item)
	}
	var units []int
	for n := 0; n < t.item; n += units[len(units)-1] {
		units = append(units, t.swap[len(units)%len(t.swap)])
	}
	return units
}

// fieldName is the type as it stands in a structured type's name: quoted, with
// its byte order.
func (t *npType) fieldName() string {
	n := string(t.name)
	if n[0] == '[' || n[0] == '{' || n[0] == '(' {
		return n
	}
	return "'" + t.codeName() + "'"
}

// listName is fieldName in a list of fields, where a subarray is two items.
func (t *npType) listName() string {
	n := t.fieldName()
	if n[0] == '(' {
		return n[1 : len(n)-1]
	}
	return n
}

// codeName is the type code with its byte order, as it stands in a structured
// type's name: '<f4', 'i1', '?', 'S3'.
func (t *npType) codeName() string {
	n := string(t.name)
	switch t.kind {
	case 'U':
		return n
	case 'S', 'V':
		return strings.TrimPrefix(n, "|")
	case 'b':
		return "?"
	case 'M', 'm':
		_, unit, _ := strings.Cut(n, "[")
		if unit != "" {
			unit = "[" + unit
		}
		return fmt.Sprintf("<%c8%s", t.kind, unit)
	}
	if t.item == 1 {
		return fmt.Sprintf("%c1", t.kind)
	}
	return fmt.Sprintf("<%c%d", t.kind, t.item)
}
