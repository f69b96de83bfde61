package pytree

import "iter"

// Visitor is called by [Tree.Walk] for every node.
type Visitor struct {
	// Leaf is called for tensors, scalars, opaques and refs, and for containers
	// without entries. The path is made anew for each call.
	Leaf func(p Path, n Node) bool
	// Enter is called for every container, empty or not, before its entries.
	Enter func(p Path, c *Container) bool
}

// Walk visits the tree in file order. It stops when a callback returns false.
func (t *Tree) Walk(v Visitor) {
	if t == nil || t.Root == nil {
		return
	}
	w := walker{v: v, buf: []byte{'['}}
	w.walk(t.Root)
}

type walker struct {
	v   Visitor
	buf []byte // the path of the node at hand, without the closing bracket
}

func (w *walker) path() Path {
	w.buf = append(w.buf, ']')
	p := Path(w.buf)
	w.buf = w.buf[:len(w.buf)-1]
	return p
}

func (w *walker) walk(n Node) bool {
	c, ok := n.(*Container)
	if !ok {
		return w.v.Leaf == nil || w.v.Leaf(w.path(), n)
	}
	if w.v.Enter != nil && !w.v.Enter(w.path(), c) {
		return false
	}
	if len(c.Entries) == 0 {
		return w.v.Leaf == nil || w.v.Leaf(w.path(), n)
	}
	mark := len(w.buf)
	for i := range c.Entries {
		w.buf = appendKey(w.buf, c.Entries[i].Key)
		if !w.walk(c.Entries[i].Value) {
			return false
		}
		w.buf = w.buf[:mark]
	}
	return true
}

// Leaves yields every leaf with its path in file order: tensors, scalars,
// opaques and refs. Empty containers are not leaves; [Tree.Entries] has them.
func (t *Tree) Leaves() iter.Seq2[Path, Node] {
	return func(yield func(Path, Node) bool) {
		t.Walk(Visitor{Leaf: func(p Path, n Node) bool {
			if _, empty := n.(*Container); empty {
				return true
			}
			return yield(p, n)
		}})
	}
}

// Entries yields every leaf and every empty container in file order: all that a
// listing must show so that nothing in a file is invisible.
func (t *Tree) Entries() iter.Seq2[Path, Node] {
	return func(yield func(Path, Node) bool) {
		t.Walk(Visitor{Leaf: yield})
	}
}

// Find is the node at p.
func (t *Tree) Find(p Path) (Node, bool) {
	if t == nil {
		return nil, false
	}
	n := t.Root
	for _, k := range p.Keys() {
		c, ok := n.(*Container)
		if !ok {
			return nil, false
		}
		if n, ok = c.Get(k); !ok {
			return nil, false
		}
	}
	return n, n != nil
}

// NewDict is a plain mapping.
func NewDict(entries ...Entry) *Container {
	return &Container{Kind: Mapping, Type: "dict", Entries: entries}
}

// NewList is a plain sequence.
func NewList(items ...Node) *Container {
	c := &Container{Kind: Sequence, Type: "list"}
	for i, n := range items {
		c.Entries = append(c.Entries, Entry{Key: IntKey(int64(i)), Value: n})
	}
	return c
}
