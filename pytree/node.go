package pytree

import "math/big"

// MaxDepth is how deep a tree may nest. CPython's own pickler gives up at about
// a third of this.
const MaxDepth = 1000

// Node is a [*Container], a [*Tensor], a [*Scalar], an [*Opaque] or a [*Ref].
type Node interface{ isNode() }

func (*Container) isNode() {}
func (*Tensor) isNode()    {}
func (*Scalar) isNode()    {}
func (*Opaque) isNode()    {}
func (*Ref) isNode()       {}

// ContainerKind tells how a container's children are keyed.
type ContainerKind uint8

const (
	// Mapping children are under their keys.
	Mapping ContainerKind = iota
	// Sequence children are under their indices.
	Sequence
	// Object children are an instance's constructor arguments, attributes and
	// items; Entry.Part tells which.
	Object
)

// Part tells what an entry is to an [Object].
type Part uint8

const (
	// Item is an entry of a mapping or a sequence, or an object's list item.
	Item Part = iota
	// Arg is a constructor argument of an object.
	Arg
	// KeywordArg is one given by name.
	KeywordArg
	// Attr is part of an object's state.
	Attr
	// DictItem is a key and value that a dict-like object was given.
	DictItem
	// Effect is an argument of a function that was called with the object after it
	// was made, to set its state.
	Effect
)

// Container is a mapping, sequence or object with its children in file order.
type Container struct {
	Kind ContainerKind
	// Type is the container's own name: "dict", "list", "tuple",
	// "collections.OrderedDict", or a class.
	Type    string
	Entries []Entry
	// Attrs names what the container carries besides its entries and a rewrite
	// keeps, such as an OrderedDict's "_metadata".
	Attrs []string
	// Payload is the format's own, for a faithful rewrite.
	Payload any
}

// Entry is one child.
type Entry struct {
	Key   Key
	Value Node
	Part  Part
}

// Get finds a child by its key.
func (c *Container) Get(k Key) (Node, bool) {
	for i := range c.Entries {
		if c.Entries[i].Key == k {
			return c.Entries[i].Value, true
		}
	}
	return nil, false
}

// Plain reports whether c's type is that of a plain mapping or sequence, which
// is not worth a word.
func (c *Container) Plain() bool { return c.Type == "dict" || c.Type == "list" }

// Scalar is a single value.
type Scalar struct {
	// V is nil, bool, int64, *big.Int (beyond 64 bits), float64, string, []byte
	// or *Long.
	V any
	// Class is the value's class where it is not the plain one ("numpy.float32",
	// "bytearray"), else empty.
	Class   string
	Payload any
}

// Type is the name of a scalar's type in reports: null, bool, int, float,
// string or bytes.
func (s *Scalar) Type() string {
	switch v := s.V.(type) {
	case nil:
		return "null"
	case bool:
		return "bool"
	case int64, *big.Int:
		return "int"
	case float64:
		return "float"
	case string:
		return "string"
	case *Long:
		if v.Text {
			return "string"
		}
	}
	return "bytes"
}

// Long is a string (UTF-8) or bytes too long to hold: it stays in the file.
type Long struct {
	Source
	Text bool
}

// Opaque is a value with no parts to show: a class or function by name, a date,
// an enum member. It is never executed.
type Opaque struct {
	// Type is the value's class, Text a short printed form where one is safe.
	Type, Text string
	Payload    any
}

// Ref stands for a container that is listed elsewhere: where a graph loops, or
// where listing every occurrence would swell beyond reason.
type Ref struct {
	To *Container
	// Path is where To is listed.
	Path Path
}

// Tree is a whole checkpoint.
type Tree struct{ Root Node }
