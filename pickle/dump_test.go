package pickle

import (
	"crypto/sha256"
	"fmt"
	"io"
	"strconv"
	"strings"
)

// dump prints the graph of v in one line, so that isomorphic graphs and only
// those print alike: an object that is reached more than once is labelled #n
// where it is first reached, and is @n afterwards.
func dump(v Value) string { return dumpWith(v, false) }

// dumpFolded prints what protocol 2 has no opcodes for, and says by calls, like
// the values that the calls return; and long texts like short ones.
func dumpFolded(v Value) string { return dumpWith(v, true) }

func dumpWith(v Value, folded bool) string {
	d := dumper{folded: folded, refs: make(map[*Object]int), labels: make(map[*Object]int)}
	d.count(v)
	d.value(v)
	return d.b.String()
}

type dumper struct {
	folded bool
	b      strings.Builder
	refs   map[*Object]int
	labels map[*Object]int
	folds  map[*Object]*Object
}

// parts gives all values that o holds, under the name of each group.
func parts(o *Object, f func(name string, vals []Value)) {
	f("", o.Items)
	for m := o.more; m != nil; m = m.next {
		switch m.what {
		case partState:
			f("state", m.vals)
		case partList:
			f("list", m.vals)
		case partDict:
			f("dict", m.vals)
		case partSet:
			f("set", m.vals)
		case partEffect:
			f("effect", m.vals)
		}
	}
}

// labelled says whether the identity of o matters: that of immutable leaves, of
// globals and of the one empty tuple does not.
func labelled(o *Object) bool {
	switch o.Kind {
	case LongText, LongBytes, LongRaw:
		return false
	}
	return hasIdentity(o)
}

func (d *dumper) count(v Value) {
	for todo := []Value{v}; len(todo) > 0; {
		o := d.fold(todo[len(todo)-1]).Obj()
		todo = todo[:len(todo)-1]
		if o == nil || !labelled(o) {
			continue
		}
		if d.refs[o]++; d.refs[o] == 1 {
			parts(o, func(_ string, vals []Value) { todo = append(todo, vals...) })
		}
	}
}

// fold gives the value that a call returns, if that is known and wanted.
func (d *dumper) fold(v Value) Value {
	o := v.Obj()
	if !d.folded || o == nil || o.Kind != Call || o.Items[0].Kind() != Global || o.Items[1].Kind() != Tuple {
		return v
	}
	if o := d.folds[o]; o != nil {
		return ValueOf(o)
	}
	module, name := o.Items[0].Obj().Global()
	args := o.Items[1].Obj().Items
	one := Value{}
	if len(args) == 1 {
		one = d.fold(args[0])
	}
	f := &Object{more: o.more}
	switch strings.TrimPrefix(strings.TrimPrefix(module, "__"), "builtin") + "." + name {
	case "__.set", "s.set", "__.frozenset", "s.frozenset":
		if one.Kind() != List {
			return v
		}
		f.Kind, f.Items = Set, one.Obj().Items
		if name != "set" {
			f.Kind = FrozenSet
		}
	case "__.bytearray", "s.bytearray":
		f.Kind, f.Items = ByteArray, []Value{one}
		if len(args) == 0 {
			f.Items[0] = stringValue(Bytes, "")
		} else if k := one.Kind(); k != Bytes && k != LongBytes {
			return v
		}
	case "__.bytes", "s.bytes":
		if len(args) != 0 {
			return v
		}
		return stringValue(Bytes, "")
	case "_codecs.encode":
		if len(args) != 2 || args[0].Kind() != Text && args[0].Kind() != LongText {
			return v
		}
		text := content(args[0])
		b, _, err := utf8ToLatin1(nil, []byte(text), true)
		if err != nil || args[1].Str() != "latin1" {
			return v
		}
		return stringValue(Bytes, string(b))
	default:
		return v
	}
	if d.folds == nil {
		d.folds = make(map[*Object]*Object)
	}
	d.folds[o] = f
	return ValueOf(f)
}

// content is all of a text or bytes, or what reading it fails with.
func content(v Value) string {
	o := v.Obj()
	if o == nil {
		return v.Str()
	}
	open := o.Blob().OpenBytes
	if o.Kind == LongText {
		open = o.Blob().OpenUTF8
	}
	r := open()
	defer r.Close()
	b, err := io.ReadAll(r)
	if err != nil {
		return err.Error()
	}
	return string(b)
}

func (d *dumper) value(v Value) {
	v = d.fold(v)
	if d.folded {
		switch v.Kind() {
		case Text, Bytes, Raw, LongText, LongBytes, LongRaw:
			k := v.Kind()
			if k >= LongText {
				k -= LongText - Text
			}
			s := content(v)
			if len(s) > 40 {
				s = fmt.Sprintf("%.20s+%d %x", s, len(s), sha256.Sum256([]byte(s)))
			}
			fmt.Fprintf(&d.b, "%s%q", []string{"", "b", "r"}[k-Text], s)
			return
		}
	}
	switch v.Kind() {
	case None:
		d.b.WriteString("None")
	case Bool:
		fmt.Fprintf(&d.b, "%t", v.Bool())
	case Int:
		fmt.Fprintf(&d.b, "%d", v.Int())
	case Float:
		fmt.Fprintf(&d.b, "%sf", strconv.FormatFloat(v.Float(), 'g', -1, 64))
	case Text:
		fmt.Fprintf(&d.b, "%q", v.Str())
	case Bytes:
		fmt.Fprintf(&d.b, "b%q", v.Str())
	case Raw:
		fmt.Fprintf(&d.b, "r%q", v.Str())
	case LongText:
		d.long("long", v.Obj().Blob().OpenUTF8())
	case LongBytes:
		d.long("longb", v.Obj().Blob().OpenBytes())
	case LongRaw:
		d.long("longr", v.Obj().Blob().OpenBytes())
	case Invalid:
		d.b.WriteString("INVALID")
	default:
		d.object(v.Obj())
	}
}

func (d *dumper) long(name string, r io.ReadCloser) {
	defer r.Close()
	b, err := io.ReadAll(r)
	switch {
	case err != nil:
		fmt.Fprintf(&d.b, "%s!%v", name, err)
	case len(b) > 40:
		fmt.Fprintf(&d.b, "%s%q+%d", name, b[:20], len(b))
	default:
		fmt.Fprintf(&d.b, "%s%q", name, b)
	}
}

func (d *dumper) object(o *Object) {
	if d.refs[o] > 1 {
		if n := d.labels[o]; n > 0 {
			fmt.Fprintf(&d.b, "@%d", n)
			return
		}
		d.labels[o] = len(d.labels) + 1
		fmt.Fprintf(&d.b, "#%d=", d.labels[o])
	}
	switch o.Kind {
	case BigInt:
		fmt.Fprintf(&d.b, "%dL", o.Big())
	case Global:
		module, name := o.Global()
		fmt.Fprintf(&d.b, "<%s %s>", module, name)
	case Tuple:
		d.list("(", o.Items, ")")
	case List:
		d.list("[", o.Items, "]")
	case Dict:
		d.pairs("{", o.Items, "}")
	default:
		d.list(strings.ReplaceAll(o.Kind.String(), " ", "-")+"(", o.Items, ")")
	}
	parts(o, func(name string, vals []Value) {
		switch name {
		case "":
		case "dict":
			d.pairs("+dict{", vals, "}")
		default:
			d.list("+"+name+"[", vals, "]")
		}
	})
}

func (d *dumper) list(open string, vals []Value, end string) {
	d.b.WriteString(open)
	for i, v := range vals {
		if i > 0 {
			d.b.WriteString(" ")
		}
		d.value(v)
	}
	d.b.WriteString(end)
}

func (d *dumper) pairs(open string, vals []Value, end string) {
	d.b.WriteString(open)
	for i, v := range vals {
		if i > 0 {
			d.b.WriteString([]string{" ", ":"}[i%2])
		}
		d.value(v)
	}
	d.b.WriteString(end)
}
