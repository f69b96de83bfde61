package pt

import (
	"fmt"
	"io"
	"strconv"

	"ckpt/pytree"
)

// storagePlan decides which bytes of which storages are written, and under
// which class and key.
//
// A storage that several tensors view is written whole, so that they stay tied
// as they were. Of one that a single tensor views, only what the view covers is
// written: a slice of a large array does not drag the array along.
type storagePlan struct {
	storages map[*pytree.Storage]*outStorage
	order    []*outStorage // in the order of their keys
	inline   int64         // bytes of arrays inside the pickle
}

// outStorage is a storage to be written.
type outStorage struct {
	of       *pytree.Storage
	begin, n int64 // the bytes of it that are kept
	dtype    pytree.DType
	item     int // bytes an element of dtype
	swap     []int
	location string
	key      string // given out when the pickle first refers to it
	views    int
	// untyped tells that no class of storages fits all its views: they have
	// different dtypes, or one that has no class.
	untyped bool
}

// untypedClass is the class of a storage of bytes.
const untypedClass = "UntypedStorage"

func planStorages(t *pytree.Tree) (*storagePlan, error) {
	p := &storagePlan{storages: make(map[*pytree.Storage]*outStorage)}
	w := &tensorWalker{seen: make(map[pytree.Node]bool), visit: p.count}
	w.node(t.Root)
	for _, s := range p.storages {
		if s.views > 1 {
			s.begin, s.n = 0, s.of.Size()
			s.n -= s.n % int64(s.item)
		}
	}
	return p, nil
}

// count takes note of a tensor.
func (p *storagePlan) count(t *pytree.Tensor) {
	if inline(t) {
		p.inline += t.Bytes()
		return
	}
	dtype, item := t.DType, t.Size()
	if class := bareClass(t); class != "" {
		dtype = storageTypes[class]
		item = elementSize(dtype)
	}
	s := p.storages[t.Storage]
	if s == nil {
		s = &outStorage{of: t.Storage, dtype: dtype, item: item, swap: t.Swap, location: "cpu"}
		if m, ok := t.Storage.Payload.(*storageMeta); ok {
			s.location = m.location
		}
		s.begin, s.n = t.Extent()
		p.storages[t.Storage] = s
	}
	s.views++
	s.untyped = s.untyped || s.dtype != dtype || storageClass[dtype] == ""
}

// inline reports whether t's bytes are in the pickle: it is a NumPy array.
func inline(t *pytree.Tensor) bool {
	if w, ok := t.Wrapper.(*wrapper); ok {
		return w.array != nil
	}
	_, ok := t.Wrapper.(*npArray)
	return ok
}

// bareClass is the class of a reference to a storage that says it itself: one
// that stands alone, or below a quantized tensor.
func bareClass(t *pytree.Tensor) string {
	if w, ok := t.Wrapper.(*wrapper); ok && w.bare {
		return w.class
	}
	return ""
}

// class is the class by which t refers to s.
func (s *outStorage) class(t *pytree.Tensor) string {
	if class := bareClass(t); class != "" {
		return class
	}
	if s.untyped {
		return untypedClass
	}
	return storageClass[s.dtype]
}

// storage is where t's bytes will be. The first call for a storage gives out its
// key.
func (p *storagePlan) storage(t *pytree.Tensor) (*outStorage, error) {
	s := p.storages[t.Storage]
	if s == nil {
		return nil, fmt.Errorf("storage %q was not planned for", t.Storage.Key)
	}
	if s.key == "" {
		s.key = strconv.Itoa(len(p.order))
		p.order = append(p.order, s)
	}
	return s, nil
}

// reset takes all keys back.
func (p *storagePlan) reset() {
	for _, s := range p.order {
		s.key = ""
	}
	p.order = nil
}

// rebuild is the function that rebuilds t: the third version for a storage whose
// class does not tell the dtype.
func (p *storagePlan) rebuild(t *pytree.Tensor) string {
	if s := p.storages[t.Storage]; s != nil && s.untyped {
		return rebuildV3
	}
	return rebuildV2
}

// source is the bytes to be written: a range of the old ones, or, from a
// big-endian file, those in little-endian order.
func (s *outStorage) source() pytree.Source {
	if !s.of.BigEndian {
		return pytree.Slice(s.of.Source, s.begin, s.n)
	}
	whole := &pytree.Tensor{DType: s.dtype, Shape: []int64{s.n / int64(s.item)}, Offset: s.begin / int64(s.item), Storage: s.of, Swap: s.swap}
	if s.dtype.Size() == 0 {
		whole.ItemSize = s.item
	}
	return logical{whole}
}

// logical is a tensor's logical bytes as a source.
type logical struct{ t *pytree.Tensor }

func (l logical) Size() int64                  { return l.t.Bytes() }
func (l logical) Open() (io.ReadCloser, error) { return l.t.Open() }

// tensorWalker visits every tensor that the writer will meet, each once: also
// those in what containers carry unseen.
type tensorWalker struct {
	seen  map[pytree.Node]bool
	visit func(*pytree.Tensor)
}

func (w *tensorWalker) node(n pytree.Node) {
	switch n := n.(type) {
	case *pytree.Tensor:
		if w.seen[n] {
			return
		}
		w.seen[n] = true
		w.visit(n)
		w.wrapper(n)
	case *pytree.Ref:
		if n.To != nil {
			w.node(n.To)
		}
	case *pytree.Container:
		if w.seen[n] {
			return
		}
		w.seen[n] = true
		w.container(n)
	}
}

func (w *tensorWalker) container(c *pytree.Container) {
	m := peekMeta(c)
	for i := range c.Entries {
		w.node(c.Entries[i].Value)
	}
	if m.view != nil {
		w.behind(c, m.view)
	}
	w.hidden(c)
}

// hidden walks what a container carries unseen.
func (w *tensorWalker) hidden(c *pytree.Container) {
	m := peekMeta(c)
	w.nodes(m.state)
	if len(m.keys) > 0 {
		for i := range c.Entries {
			w.node(m.keys[c.Entries[i].Key])
		}
	}
	if m.call != nil {
		w.nodes(m.call.hiddenArgs)
		if m.call.hidden != nil {
			w.node(m.call.hidden)
		}
	}
}

// behind walks the containers that a view shows, but for the entries that the
// view puts others in place of.
func (w *tensorWalker) behind(c *pytree.Container, v *view) {
	skip := make(map[slot]bool, len(v.slots))
	for _, at := range v.slots {
		skip[at] = true
	}
	w.rest(v.raw, skip)
}

func (w *tensorWalker) rest(c *pytree.Container, skip map[slot]bool) {
	if w.seen[c] {
		return
	}
	w.seen[c] = true
	for i := range c.Entries {
		if skip[slot{c, i}] {
			continue
		}
		if child, ok := c.Entries[i].Value.(*pytree.Container); ok && viewOf(child) == nil {
			w.rest(child, skip)
			continue
		}
		w.node(c.Entries[i].Value)
	}
	w.hidden(c)
}

func (w *tensorWalker) nodes(nodes []pytree.Node) {
	for _, n := range nodes {
		w.node(n)
	}
}

func (w *tensorWalker) wrapper(t *pytree.Tensor) {
	tw, ok := t.Wrapper.(*wrapper)
	if !ok {
		return
	}
	if tw.hooks != nil {
		w.node(tw.hooks)
	}
	for _, p := range tw.params {
		w.nodes(p.before)
		w.nodes(p.after)
	}
}
