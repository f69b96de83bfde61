package pytree

import (
	"bytes"
	"fmt"
	"math"
	"math/big"
	"slices"
	"strings"
)

// Difference is one place where two trees differ.
type Difference struct {
	Path Path
	What string
}

// NotSame is the error of [Same].
type NotSame struct {
	// First is the first ten differences or fewer.
	First []Difference
	// Count is how many there are.
	Count int
}

const listedDifferences = 10

func (e *NotSame) Error() string {
	var b strings.Builder
	fmt.Fprintf(&b, "%d differences: ", e.Count)
	if e.Count == 1 {
		b.Reset()
	}
	for i, d := range e.First {
		if i > 0 {
			b.WriteString("; ")
		}
		b.WriteString(shownPath(d.Path) + ": " + d.What)
	}
	if more := e.Count - len(e.First); more > 0 {
		fmt.Fprintf(&b, "; and %d more", more)
	}
	return b.String()
}

// Same compares the structure of two trees, such as the one that was to be
// written and the one that the file then holds. It wants the same paths in the
// same order; containers of the same kind, type and attributes; the same dtypes,
// shapes and signs, and tensors that share a storage in one tree to share one in the
// other; equal scalars, where NaN equals NaN, 0.0 and -0.0 differ and a [Long] is
// known by its size; opaques of the same type and text. It reads no bytes of
// tensors, and does not look at strides, offsets, wrappers and payloads. Its
// error is a [*NotSame].
func Same(a, b *Tree) error {
	c := comparison{
		there: make(map[*Storage]tie),
		back:  make(map[*Storage]tie),
	}
	c.nodes(rootOf(a), rootOf(b))
	if c.diff.Count > 0 {
		return &c.diff
	}
	return nil
}

func rootOf(t *Tree) Node {
	if t == nil {
		return nil
	}
	return t.Root
}

// tie is the storage that one of the other tree stands for, and where it was
// first seen.
type tie struct {
	to   *Storage
	path Path
}

type comparison struct {
	diff        NotSame
	keys        []Key
	there, back map[*Storage]tie
}

func (c *comparison) differ(format string, args ...any) {
	if c.diff.Count++; c.diff.Count <= listedDifferences {
		c.diff.First = append(c.diff.First, Difference{MakePath(c.keys...), fmt.Sprintf(format, args...)})
	}
}

// differAt is differ for the child k.
func (c *comparison) differAt(k Key, format string, args ...any) {
	c.keys = append(c.keys, k)
	c.differ(format, args...)
	c.keys = c.keys[:len(c.keys)-1]
}

func (c *comparison) nodes(a, b Node) {
	switch x := a.(type) {
	case *Container:
		if y, ok := b.(*Container); ok {
			c.containers(x, y)
			return
		}
	case *Tensor:
		if y, ok := b.(*Tensor); ok {
			c.tensors(x, y)
			return
		}
	case *Scalar:
		if y, ok := b.(*Scalar); ok {
			if x.Class != y.Class || !sameValue(x.V, y.V) {
				c.differ("%s became %s", describe(a), describe(b))
			}
			return
		}
	case *Opaque:
		if y, ok := b.(*Opaque); ok && x.Type == y.Type && x.Text == y.Text {
			return
		}
	case *Ref:
		if y, ok := b.(*Ref); ok && x.Path == y.Path {
			return
		}
	case nil:
		if b == nil {
			return
		}
	}
	c.differ("%s became %s", describe(a), describe(b))
}

func (c *comparison) containers(a, b *Container) {
	if a.Kind != b.Kind || a.Type != b.Type {
		c.differ("%s became %s", describe(a), describe(b))
	}
	if !slices.Equal(a.Attrs, b.Attrs) {
		c.differ("attributes %q became %q", a.Attrs, b.Attrs)
	}
	if slices.EqualFunc(a.Entries, b.Entries, func(x, y Entry) bool { return x.Key == y.Key }) {
		for i := range a.Entries {
			c.entries(&a.Entries[i], &b.Entries[i])
		}
		return
	}
	c.unlike(a, b)
}

func (c *comparison) entries(a, b *Entry) {
	if a.Part != b.Part {
		c.differAt(a.Key, "%s became %s", partNames[a.Part], partNames[b.Part])
	}
	c.keys = append(c.keys, a.Key)
	c.nodes(a.Value, b.Value)
	c.keys = c.keys[:len(c.keys)-1]
}

// unlike compares containers whose keys differ, or come in another order.
func (c *comparison) unlike(a, b *Container) {
	at := make(map[Key][]int)
	for i := range b.Entries {
		at[b.Entries[i].Key] = append(at[b.Entries[i].Key], i)
	}
	order, last := true, -1
	for i := range a.Entries {
		k := a.Entries[i].Key
		if len(at[k]) == 0 {
			c.differAt(k, "%s is missing", describe(a.Entries[i].Value))
			continue
		}
		j := at[k][0]
		at[k] = at[k][1:]
		order, last = order && j > last, j
		c.entries(&a.Entries[i], &b.Entries[j])
	}
	for i := range b.Entries {
		if k := b.Entries[i].Key; len(at[k]) > 0 && at[k][0] == i {
			at[k] = at[k][1:]
			c.differAt(k, "%s is new", describe(b.Entries[i].Value))
		}
	}
	if !order {
		c.differ("entries are in another order")
	}
}

func (c *comparison) tensors(a, b *Tensor) {
	if a.Signs != b.Signs {
		c.differ("signs %b became %b", a.Signs, b.Signs)
	}
	if a.DType != b.DType || a.Size() != b.Size() || !slices.Equal(a.Shape, b.Shape) {
		c.differ("%s became %s", describe(a), describe(b))
	}
	was, ok := c.there[a.Storage]
	if ok && was.to != b.Storage {
		c.differ("no longer shares its storage with %s", shownPath(was.path))
		return
	}
	is, ok2 := c.back[b.Storage]
	if ok2 && is.to != a.Storage {
		c.differ("now shares its storage with %s", shownPath(is.path))
		return
	}
	if !ok || !ok2 {
		p := MakePath(c.keys...)
		c.there[a.Storage], c.back[b.Storage] = tie{b.Storage, p}, tie{a.Storage, p}
	}
}

func sameValue(a, b any) bool {
	switch x := a.(type) {
	case nil, bool, int64, string:
		return a == b
	case float64:
		y, ok := b.(float64)
		return ok && (math.Float64bits(x) == math.Float64bits(y) || x != x && y != y)
	case *big.Int:
		y, ok := b.(*big.Int)
		return ok && x.Cmp(y) == 0
	case []byte:
		y, ok := b.([]byte)
		return ok && bytes.Equal(x, y)
	case *Long:
		y, ok := b.(*Long)
		return ok && x.Text == y.Text && x.Size() == y.Size()
	}
	return false
}

var partNames = map[Part]string{
	Item: "an item", Arg: "an argument", KeywordArg: "a keyword argument", Attr: "an attribute", DictItem: "a dict item",
}
