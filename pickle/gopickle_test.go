package pickle

import (
	"fmt"
	"math/big"
	"reflect"
	"sort"
	"strconv"
	"strings"
	"testing"

	gopickle "github.com/nlpodyssey/gopickle/pickle"
	"github.com/nlpodyssey/gopickle/types"
)

// A second opinion: another unpickler, written by others, sees in each sample
// what Read sees.
//
// Where it is known to be wrong or says less, the comparison says less, too: it
// has one type for str and Python 2's str; it leaves the escapes of protocol 0's
// texts; it keeps the order of no set; and it runs copy_reg._reconstructor.
func TestAgainstGopickle(t *testing.T) {
	compared := 0
	for _, s := range samples(t) {
		name := strings.Split(s.name, "-") // PYTHON-pPROTOCOL-GROUP
		python, protocol, group := name[0], name[1], name[2]
		switch {
		case protocol == "p0" && (group == "texts" || group == "byteses"): // escapes
			continue
		case group == "scalars" && strconv.IntSize < 64: // integers as int
			continue
		case group == "cycles": // items of sets by address; _reconstructor
			continue
		case group == "objects" && (python != "py3" || protocol <= "p1"):
			continue // _reconstructor; an OrderedDict of arguments is refused
		}
		u := gopickle.NewUnpickler(strings.NewReader(string(s.data)))
		u.FindClass = func(module, name string) (any, error) {
			return &otherObject{what: "<" + module + " " + name + ">"}, nil
		}
		u.PersistentLoad = func(id any) (any, error) { return &otherObject{"persistent", []any{id}}, nil }
		u.GetExtension = func(code int) (any, error) { return &otherObject{what: fmt.Sprint("extension ", code)}, nil }
		u.NextBuffer = func() (any, error) { return &otherObject{what: "buffer"}, nil }
		u.MakeReadOnly = func(v any) (any, error) { return v, nil }
		theirs, err := u.Load()
		if err != nil {
			t.Errorf("%s: gopickle: %v", s.name, err)
			continue
		}
		compared++
		got := oursAsOther(mustRead(t, s.name, s.data).Root)
		if want := printOther(theirs, printDepth); got != want {
			t.Errorf("%s:\n got %.2000s\nwant %.2000s", s.name, got, want)
		}
	}
	if compared < 50 {
		t.Errorf("only %d samples were compared", compared)
	}
}

// printDepth ends the printing of cycles.
const printDepth = 10

// otherObject records what gopickle does with a class or an instance.
type otherObject struct {
	what  string
	parts []any
}

func (o *otherObject) add(what string, parts ...any) {
	o.parts = append(o.parts, &otherObject{what, parts})
}
func (o *otherObject) Call(args ...any) (any, error) {
	return &otherObject{"call", append([]any{o}, args...)}, nil
}
func (o *otherObject) PyNew(args ...any) (any, error) {
	return &otherObject{"new", append([]any{o}, args...)}, nil
}
func (o *otherObject) PySetState(state any) error { o.add("state", state); return nil }
func (o *otherObject) Append(v any)               { o.add("append", v) }
func (o *otherObject) Set(k, v any)               { o.add("set", k, v) }
func (o *otherObject) Add(v any)                  { o.add("add", v) }

func printOther(v any, depth int) string {
	if depth == 0 {
		return "…"
	}
	list := func(name string, vals []any) string {
		var b strings.Builder
		for _, v := range vals {
			b.WriteString(" " + printOther(v, depth-1))
		}
		return name + "(" + b.String() + ")"
	}
	sorted := func(name string, set reflect.Value) string {
		var all []string
		for _, k := range set.MapKeys() {
			all = append(all, printOther(k.Interface(), depth-1))
		}
		sort.Strings(all)
		return name + fmt.Sprint(all)
	}
	switch v := v.(type) {
	case nil:
		return "None"
	case bool, int, int64:
		return fmt.Sprint(v)
	case float64:
		return fmt.Sprintf("%vf", v)
	case *big.Int:
		return v.String()
	case string:
		return fmt.Sprintf("%q", v)
	case []byte:
		return fmt.Sprintf("b%q", v)
	case *types.ByteArray:
		return fmt.Sprintf("bytearray%q", string(*v))
	case *types.List:
		return list("list", *v)
	case *types.Tuple:
		return list("tuple", *v)
	case *types.Dict:
		var all []any
		for _, e := range *v {
			all = append(all, e.Key, e.Value)
		}
		return list("dict", all)
	case *types.Set:
		return sorted("set", reflect.ValueOf(*v))
	case *types.FrozenSet:
		return sorted("frozenset", reflect.ValueOf(*v))
	case *types.OrderedDictClass:
		return "<collections OrderedDict>()"
	case *types.ObjectClass:
		return "<__builtin__ object>()"
	case *types.OrderedDict:
		parts := []any{&types.OrderedDictClass{}}
		for e := v.List.Front(); e != nil; e = e.Next() {
			entry := e.Value.(*types.OrderedDictEntry)
			parts = append(parts, &otherObject{"set", []any{entry.Key, entry.Value}})
		}
		return list("call", parts)
	case *otherObject:
		return list(v.what, v.parts)
	}
	return fmt.Sprintf("?%T", v)
}

// oursAsOther prints a value as printOther does.
func oursAsOther(v Value) string { return printOther(toOther(v, 2*printDepth), printDepth) }

func toOther(v Value, depth int) any {
	if depth == 0 {
		return nil
	}
	all := func(vals []Value) (out []any) {
		for _, v := range vals {
			out = append(out, toOther(v, depth-1))
		}
		return out
	}
	o := v.Obj()
	switch v.Kind() {
	case None:
		return nil
	case Bool:
		return v.Bool()
	case Int:
		return v.Int()
	case BigInt:
		return o.Big()
	case Float:
		return v.Float()
	case Text, Raw, LongText, LongRaw:
		return content(v)
	case Bytes, LongBytes:
		return []byte(content(v))
	case ByteArray:
		b := types.ByteArray(content(o.Items[0]))
		return &b
	case List:
		return types.NewListFromSlice(all(o.Items))
	case Tuple:
		return types.NewTupleFromSlice(all(o.Items))
	case Dict:
		d := types.NewDict()
		for i := 0; i < len(o.Items); i += 2 {
			d.Set(toOther(o.Items[i], depth-1), toOther(o.Items[i+1], depth-1))
		}
		return d
	case Set:
		return types.NewSetFromSlice(all(o.Items))
	case FrozenSet:
		return types.NewFrozenSetFromSlice(all(o.Items))
	}
	var r otherObject
	switch o.Kind {
	case Global:
		module, name := o.Global()
		r.what = "<" + module + " " + name + ">"
	case Call, New, Inst:
		r.what = map[Kind]string{Call: "call", New: "new", Inst: "call"}[o.Kind]
		r.parts = append([]any{toOther(o.Items[0], depth-1)}, all(o.Items[1].Obj().Items)...)
		if len(o.Items) == 3 { // gopickle passes the keywords on as a last argument
			r.parts = append(r.parts, toOther(o.Items[2], depth-1))
		}
	case Persistent:
		r.what, r.parts = "persistent", all(o.Items)
	case Extension:
		r.what = fmt.Sprint("extension ", o.Items[0].Int())
	case Buffer:
		r.what = "buffer"
	}
	for _, v := range o.ListItems() {
		r.add("append", toOther(v, depth-1))
	}
	for i, kv := 0, o.DictItems(); i < len(kv); i += 2 {
		r.add("set", toOther(kv[i], depth-1), toOther(kv[i+1], depth-1))
	}
	for _, v := range o.SetItems() {
		r.add("add", toOther(v, depth-1))
	}
	for _, v := range o.State() {
		r.add("state", toOther(v, depth-1))
	}
	return &r
}
