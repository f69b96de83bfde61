package pt

import (
	"ckpt/pickle"
	"ckpt/pytree"
)

// meta is what a container carries for its rewrite beside its entries. A
// container that came from elsewhere, or a plain dict or list, has none.
type meta struct {
	// keys holds the mapping keys that are neither strings nor integers.
	keys map[pytree.Key]pytree.Node
	// call makes an object: nil for plain containers.
	call *call
	// state is the arguments of BUILD that are not shown as entries.
	state []pytree.Node
	// array tells that the container is an array of objects.
	array *npArray
	// view tells that the entries are a view of another container.
	view *view
}

// call is how an object is constructed.
type call struct {
	kind   pickle.Kind  // Call, New, Inst or Persistent
	callee pickle.Value // the class or function
	// hidden is the tuple of arguments for a call that does not show them as
	// entries, else nil.
	hidden *pytree.Container
	kwargs bool // the class takes keyword arguments (NEWOBJ_EX)
	// form tells how the Arg entries become arguments where they are not simply
	// those in order, and hiddenArgs holds arguments that are not shown.
	form       argForm
	hiddenArgs []pytree.Node
	// sets tells that the items were added as a set's.
	sets bool
	// state is how the Attr entries were given.
	state stateForm
	// slots is which attributes of a bothState are in slots.
	slots map[pytree.Key]bool
	// setters is the functions that the Effect entries were given to.
	setters []pickle.Value
}

// argForm is how an object's Arg entries become the arguments of its call.
type argForm uint8

const (
	plainForm    argForm = iota
	sparseForm           // _rebuild_sparse_tensor(layout, (the other entries))
	quantForm            // _rebuild_qtensor: see quantized.go
	fromTypeForm         // _rebuild_from_type_v2(function, type, (tensor's arguments), state)
	dictForm             // Counter({entries})
	tupleForm            // torch.Size((entries))
	dequeForm            // deque((), hidden arguments) with the entries as items
)

// stateForm is the shape of the argument of BUILD.
type stateForm uint8

const (
	noState    stateForm = iota
	dictState            // {attribute: value}
	slotsState           // (None, {slot: value})
	bothState            // ({attribute: value}, {slot: value})
	otherState           // anything else, under the key stateKey
)

const (
	// stateKey is the attribute under which a state that names no attributes is
	// shown, funcKey a callable that is not known by name. The others hold the
	// arguments and attributes of an object of which two parts share a key.
	stateKey = "__state__"
	funcKey  = "__call__"
	// setterKey is the state that a function set.
	setterKey = "__setstate__"
	argsKey   = "__args__"
	kwargsKey = "__kwargs__"
	dictKey   = "__dict__"
)

func (m *meta) key(k pytree.Key, n pytree.Node) {
	if m.keys == nil {
		m.keys = make(map[pytree.Key]pytree.Node)
	}
	m.keys[k] = n
}

// metaOf is c's meta, made if it has none.
func metaOf(c *pytree.Container) *meta {
	m, ok := c.Payload.(*meta)
	if !ok {
		m = &meta{}
		c.Payload = m
	}
	return m
}

// setMeta gives c a meta, or none where m is nil: a nil *meta in an interface
// would not be nil.
func setMeta(c *pytree.Container, m *meta) {
	if m != nil {
		c.Payload = m
	}
}

// peekMeta is c's meta or an empty one that is not c's.
func peekMeta(c *pytree.Container) *meta {
	if m, ok := c.Payload.(*meta); ok {
		return m
	}
	return &meta{}
}
