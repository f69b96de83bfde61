package pt

import (
	"fmt"
	"math/big"

	"ckpt/formats"
	"ckpt/pickle"
	"ckpt/pytree"
)

// encoder writes nodes into a pickle.
type encoder struct {
	w    *pickle.Writer
	plan *storagePlan
	path []pytree.Key
	// views is what stands in place of the entries of a container that is shown
	// by a view.
	views map[slot]pytree.Node
	// sets is the sets that calls in pickled values stand for.
	sets map[*pickle.Object]*pickle.Object
}

func (e *encoder) errorf(format string, args ...any) error {
	return &located{pytree.MakePath(e.path...), fmt.Errorf(format, args...)}
}

// child writes the node under key k of the container at hand.
func (e *encoder) child(k pytree.Key, n pytree.Node) error {
	e.path = append(e.path, k)
	if err := e.node(n); err != nil {
		return err
	}
	e.path = e.path[:len(e.path)-1]
	return nil
}

// node writes a node, or a reference to it if it has been written.
func (e *encoder) node(n pytree.Node) error {
	switch n := n.(type) {
	case *pytree.Scalar:
		return e.scalar(n)
	case *pytree.Opaque:
		v, ok := n.Payload.(pickle.Value)
		if !ok {
			return e.errorf("a %s cannot be written into a PyTorch file", n.Type)
		}
		return e.value(v)
	case *pytree.Ref:
		if n.To == nil {
			return e.errorf("a reference to what is no container cannot be written")
		}
		return e.container(n.To)
	case *pytree.Tensor:
		if e.recall(n) {
			return nil
		}
		return e.tensor(n)
	case *pytree.Container:
		return e.container(n)
	}
	return e.errorf("a node of type %T cannot be written", n)
}

// recall writes a reference to something that was written before.
func (e *encoder) recall(obj any) bool {
	i, ok := e.w.Memo(obj)
	if ok {
		e.w.Get(i)
	}
	return ok
}

// value writes a pickled value back as it was.
func (e *encoder) value(v pickle.Value) error {
	return pickle.WriteValue(e.w, v, e.special)
}

// special writes the values inside pickled ones that are not written as they
// were: classes that the legacy format names by persistent ids, and the calls by
// which protocol 2 expresses bytes and sets. A file written from a newer
// protocol, read and written again is then the same.
func (e *encoder) special(w *pickle.Writer, v pickle.Value) (bool, error) {
	switch v.Kind() {
	case pickle.Persistent:
		if class, ok := persistentClass(v); ok {
			w.Global(class.Obj().Global())
			return true, nil
		}
		return false, formats.WithHint(e.errorf("a tensor inside a value that is known by its text only cannot be written"),
			"save the state_dict() instead")
	case pickle.Call:
		o := v.Obj()
		if isLatin1Call(v) {
			return true, e.content(v)
		}
		args, _ := tuple(o.Items[1])
		if len(o.State())+len(o.SetItems()) > 0 || len(args) != 1 || args[0].Kind() != pickle.List {
			return false, nil
		}
		kind := map[string]pickle.Kind{"builtins.set": pickle.Set, "builtins.frozenset": pickle.FrozenSet}[callee(o)]
		if kind == pickle.Invalid {
			return false, nil
		}
		set := e.sets[o]
		if set == nil {
			set = &pickle.Object{Kind: kind, Items: args[0].Obj().Items}
			e.sets[o] = set
		}
		return true, pickle.WriteValue(w, pickle.ValueOf(set), e.special)
	}
	return false, nil
}

// content writes bytes.
func (e *encoder) content(v pickle.Value) error {
	src, err := content(v, -1)
	if err != nil {
		return e.errorf("%v", err)
	}
	if m, ok := src.(pytree.Bytes); ok {
		e.w.BytesP2(m)
	} else {
		e.w.BytesLatin1From(src.Size(), src.Open)
	}
	return e.w.Err()
}

func (e *encoder) scalar(s *pytree.Scalar) error {
	if v, ok := s.Payload.(pickle.Value); ok {
		return e.value(v)
	}
	switch v := s.V.(type) {
	case nil:
		e.w.None()
	case bool:
		e.w.Bool(v)
	case int64:
		e.w.Int(v)
	case *big.Int:
		e.w.BigInt(v)
	case float64:
		e.w.Float(v)
	case string:
		e.w.Text(v)
	case []byte:
		e.bytes(s, func() { e.w.BytesP2(v) })
	case *pytree.Long:
		if !v.Text {
			e.bytes(s, func() { e.w.BytesLatin1From(v.Size(), v.Open) })
			break
		}
		rc, err := v.Open()
		if err != nil {
			return err
		}
		defer rc.Close()
		e.w.TextFrom(v.Size(), rc)
	default:
		return e.errorf("a scalar of type %T cannot be written", v)
	}
	return e.w.Err()
}

// bytes writes bytes, or a bytearray of them.
func (e *encoder) bytes(s *pytree.Scalar, content func()) {
	if s.Class != "bytearray" {
		content()
		return
	}
	if e.recall(s) {
		return
	}
	e.w.Global("__builtin__", "bytearray")
	content()
	e.w.Tuple(1)
	e.w.Reduce()
	e.w.SetMemo(s)
}

// key writes a mapping key.
func (e *encoder) key(c *pytree.Container, k pytree.Key) error {
	if s, ok := k.IsString(); ok {
		e.w.Text(s)
		return nil
	}
	if i, ok := k.IsInt(); ok {
		e.w.Int(i)
		return nil
	}
	n, ok := peekMeta(c).keys[k]
	if !ok {
		return e.errorf("the key %s cannot be written: only its printed form is known", pytree.Printable(k.String()))
	}
	return e.node(n)
}

// container writes a container with what it carries.
func (e *encoder) container(c *pytree.Container) error {
	if e.recall(c) {
		return nil
	}
	m := peekMeta(c)
	switch {
	case m.view != nil:
		return e.view(c, m.view)
	case m.array != nil:
		return e.objectArray(c, m.array)
	case m.call != nil:
		return e.object(c, m.call)
	}
	switch c.Type {
	case "tuple":
		return e.tuple(c)
	case "set", "frozenset":
		return e.set(c)
	case "collections.OrderedDict":
		return e.orderedDict(c, m)
	}
	switch c.Kind {
	case pytree.Mapping:
		e.w.EmptyDict()
		e.w.SetMemo(c)
		return e.setItems(c, pytree.Item)
	case pytree.Sequence:
		e.w.EmptyList()
		e.w.SetMemo(c)
		return e.list(c, e.w.Appends)
	}
	return e.errorf("an object of class %s that was not read from a PyTorch file cannot be written", c.Type)
}

// batch is how many items CPython's pickler sets at a time.
const batch = 1000

// setItems writes the entries of one part as the items of the dict-like object
// on the stack.
func (e *encoder) setItems(c *pytree.Container, part pytree.Part) error {
	n := 0
	for i := range c.Entries {
		if c.Entries[i].Part != part {
			continue
		}
		if n%batch == 0 {
			if n > 0 {
				e.w.SetItems()
			}
			e.w.Mark()
		}
		n++
		if err := e.key(c, c.Entries[i].Key); err != nil {
			return err
		}
		if err := e.entry(c, i); err != nil {
			return err
		}
	}
	if n > 0 {
		e.w.SetItems()
	}
	return nil
}

// entry writes the value of c's i-th entry, or what a view has put there.
func (e *encoder) entry(c *pytree.Container, i int) error {
	n := c.Entries[i].Value
	if len(e.views) > 0 {
		if other, ok := e.views[slot{c, i}]; ok {
			n = other
		}
	}
	return e.child(c.Entries[i].Key, n)
}

// list writes the Item entries in batches, each of which end ends.
func (e *encoder) list(c *pytree.Container, end func()) error {
	n := 0
	for i := range c.Entries {
		if c.Entries[i].Part != pytree.Item {
			continue
		}
		if n%batch == 0 {
			if n > 0 {
				end()
			}
			e.w.Mark()
		}
		n++
		if err := e.entry(c, i); err != nil {
			return err
		}
	}
	if n > 0 {
		end()
	}
	return nil
}

// tuple writes a tuple. One that contains itself, by way of a list in it, has
// been written when its items have; CPython drops the items then.
func (e *encoder) tuple(c *pytree.Container) error {
	if len(c.Entries) == 0 {
		e.w.EmptyTuple()
		return nil
	}
	e.w.Mark()
	for i := range c.Entries {
		if err := e.entry(c, i); err != nil {
			return err
		}
	}
	if i, ok := e.w.Memo(c); ok {
		e.w.PopMark()
		e.w.Get(i)
		return nil
	}
	e.w.Tuple(pickle.FromMark)
	e.w.SetMemo(c)
	return nil
}

// set writes a set as protocols below 4 do: a call with a list of its items.
func (e *encoder) set(c *pytree.Container) error {
	e.w.Global("__builtin__", c.Type)
	e.w.EmptyList()
	if err := e.list(c, e.w.Appends); err != nil {
		return err
	}
	e.w.Tuple(1)
	e.w.Reduce()
	e.w.SetMemo(c)
	return nil
}

func (e *encoder) orderedDict(c *pytree.Container, m *meta) error {
	e.w.Global("collections", "OrderedDict")
	e.w.EmptyTuple()
	e.w.Reduce()
	e.w.SetMemo(c)
	if err := e.setItems(c, pytree.Item); err != nil {
		return err
	}
	for _, s := range m.state {
		if err := e.node(s); err != nil {
			return err
		}
		e.w.Build()
	}
	return nil
}
