package pt

import (
	"slices"
	"strings"

	"ckpt/pickle"
	"ckpt/pytree"
)

// callee is the dotted name of the class or function that makes o.
func callee(o *pickle.Object) string {
	if len(o.Items) == 0 {
		return o.Kind.String()
	}
	return className(o.Items[0])
}

// className is the dotted name of a class.
func className(v pickle.Value) string {
	switch v.Kind() {
	case pickle.Global:
		return python3Name(v.Obj().Global())
	case pickle.Persistent:
		if class, ok := persistentClass(v); ok {
			return className(class)
		}
	case pickle.Call:
		// getattr(class, "name"): a nested class, or an enum member.
		if owner, attr, ok := getattr(v); ok {
			return className(owner) + "." + attr
		}
	}
	return v.Kind().String()
}

// persistentClass is the class that a persistent id names: the legacy format
// saves a module's class as ('module', class, source file, source), the tar as
// (class, source file, source).
func persistentClass(v pickle.Value) (pickle.Value, bool) {
	id, _ := tuple(v.Obj().Items[0])
	if len(id) > 0 {
		if kind, _ := str(id[0]); kind == "module" {
			id = id[1:]
		}
	}
	if len(id) == 0 || id[0].Kind() != pickle.Global {
		return pickle.Value{}, false
	}
	return id[0], true
}

// constructed builds what a call of a class or function stands for.
func (b *builder) constructed(v pickle.Value, o *pickle.Object) (pytree.Node, error) {
	args, ok := tuple(o.Items[1])
	if !ok {
		return nil, badCall(o, "the arguments are %s, not a tuple", kindOf(o.Items[1]))
	}
	if len(o.Effects()) > 0 {
		return b.generic(o, args)
	}
	if o.Kind == pickle.Call || callee(o) == "torch.Size" {
		if f, ok := known[callee(o)]; ok {
			if n, err := f(b, v, o, args); n != nil || err != nil {
				return n, err
			}
		}
	}
	if text, ok := knownText(o, 0); ok {
		return &pytree.Opaque{Type: typeName(o.Items[0]), Text: text, Payload: v}, nil
	}
	if text, ok := smallCall(o, args); ok {
		return &pytree.Opaque{Type: typeName(o.Items[0]), Text: text, Payload: v}, nil
	}
	return b.generic(o, args)
}

// typeName is the name of a class as reports show it: without the module for
// Python's own.
func typeName(class pickle.Value) string {
	return strings.TrimPrefix(className(class), "builtins.")
}

// smallCall prints a call with one plain argument and nothing else, which is how
// enum members and much else that is a single value is pickled: Color(1).
func smallCall(o *pickle.Object, args []pickle.Value) (string, bool) {
	const longest = 200
	if o.Kind != pickle.Call || len(args) != 1 || o.Items[0].Kind() != pickle.Global ||
		len(o.State())+len(o.ListItems())+len(o.SetItems())+len(o.DictItems())+len(o.Effects()) > 0 {
		return "", false
	}
	switch a := args[0]; a.Kind() {
	case pickle.None, pickle.Bool, pickle.Int, pickle.Float:
	case pickle.Text, pickle.Raw:
		if len(a.Str()) > longest {
			return "", false
		}
	default:
		return "", false
	}
	_, name := o.Items[0].Obj().Global()
	return name + "(" + repr(args[0], 0) + ")", true
}

// maker turns a call into a node. It returns neither node nor error for
// arguments that make the call an ordinary one.
type maker func(b *builder, v pickle.Value, o *pickle.Object, args []pickle.Value) (pytree.Node, error)

// known is the calls with a meaning of their own, filled in by init in the
// files that hold the makers, because a maker may need the table.
var known map[string]maker

func init() {
	known = map[string]maker{
		"collections.OrderedDict":         orderedDict,
		"collections.defaultdict":         defaultDict,
		"collections.Counter":             counter,
		"collections.deque":               deque,
		"torch.Size":                      torchSize,
		"_codecs.encode":                  encoded,
		"builtins.getattr":                attribute,
		"builtins.set":                    setOf,
		"builtins.frozenset":              setOf,
		"builtins.bytearray":              byteArrayOf,
		"builtins.bytes":                  bytesOf,
		"torch.device":                    device,
		"copyreg._reconstructor":          reconstructor,
		"torch.serialization._get_layout": layout,
	}
	addTensorMakers(known)
	addNumpyMakers(known)
}

// generic builds an object of a class that is not known: its constructor
// arguments under integers, its attributes under their names, its items under
// their keys.
func (b *builder) generic(o *pickle.Object, args []pickle.Value) (pytree.Node, error) {
	return b.instance(o, typeName(o.Items[0]), &call{kind: o.Kind, callee: o.Items[0]}, args)
}

// instance builds an object. names, if given, are the arguments' names.
func (b *builder) instance(o *pickle.Object, typ string, how *call, args []pickle.Value, names ...string) (pytree.Node, error) {
	c := &pytree.Container{Kind: pytree.Object, Type: typ}
	c.Payload = &meta{call: how}
	defer b.begin(o, c)()
	if k := how.callee.Kind(); k != pickle.Global && k != pickle.Invalid && className(how.callee) == how.callee.Kind().String() {
		if err := b.addParts(c, pytree.Arg, []pytree.Key{pytree.StringKey(funcKey)}, []pickle.Value{how.callee}); err != nil {
			return nil, err
		}
	}
	if err := b.addArgs(c, args, names); err != nil {
		return nil, err
	}
	if err := b.addKeywords(c, o, how); err != nil {
		return nil, err
	}
	if err := b.addState(c, o, how); err != nil {
		return nil, err
	}
	how.sets = len(o.SetItems()) > 0
	items := append(slices.Clip(o.ListItems()), o.SetItems()...)
	if err := b.addParts(c, pytree.Item, indices(len(items)), items); err != nil {
		return nil, err
	}
	if err := b.addPairs2(c, o.DictItems(), pytree.DictItem); err != nil {
		return nil, err
	}
	if err := b.addEffects(c, o, how); err != nil {
		return nil, err
	}
	separate(c)
	b.modules = b.modules || isModule(c)
	return c, nil
}

// getattr takes a call getattr(class, "name") apart, if the class is one by name.
func getattr(v pickle.Value) (owner pickle.Value, name string, ok bool) {
	if v.Kind() != pickle.Call || v.Obj().Items[0].Kind() != pickle.Global || className(v.Obj().Items[0]) != "builtins.getattr" {
		return owner, "", false
	}
	args, _ := tuple(v.Obj().Items[1])
	if len(args) != 2 {
		return owner, "", false
	}
	owner = args[0]
	if owner.Kind() == pickle.Persistent {
		if owner, ok = persistentClass(owner); !ok {
			return owner, "", false
		}
	}
	name, ok = str(args[1])
	return owner, name, ok && owner.Kind() == pickle.Global
}

// attribute is getattr(class, "name"): something nested in a class, by name. That
// of anything but a class, such as a bound method, is an ordinary call.
func attribute(_ *builder, v pickle.Value, o *pickle.Object, _ []pickle.Value) (pytree.Node, error) {
	if _, _, ok := getattr(v); !ok || len(o.State()) > 0 {
		return nil, nil
	}
	return &pytree.Opaque{Type: "global", Text: className(v), Payload: v}, nil
}

// reconstructor is copyreg._reconstructor(class, base, state), by which
// protocols 0 and 1 make an instance. With the base object there is nothing to
// show but the class.
func reconstructor(b *builder, _ pickle.Value, o *pickle.Object, args []pickle.Value) (pytree.Node, error) {
	if len(args) != 3 || args[2].Kind() != pickle.None {
		return nil, nil
	}
	if base := className(args[1]); base != "builtins.object" {
		return nil, nil
	}
	hidden, err := b.hiddenTuple(o.Items[1])
	if err != nil {
		return nil, err
	}
	return b.instance(o, typeName(args[0]), &call{kind: pickle.Call, callee: o.Items[0], hidden: hidden}, nil)
}
