package pt

import (
	"errors"
	"fmt"
	"io"
	"math/big"
	"strconv"
	"strings"
	"unicode/utf8"

	"ckpt/pickle"
	"ckpt/pytree"
)

func (b *builder) scalar(v pickle.Value) (pytree.Node, error) {
	switch v.Kind() {
	case pickle.None:
		return b.shared(256, nil), nil
	case pickle.Bool:
		if v.Bool() {
			return b.shared(257, true), nil
		}
		return b.shared(258, false), nil
	case pickle.Int:
		if i := v.Int(); i >= 0 && i < 256 {
			return b.shared(int(i), i), nil
		}
		return &pytree.Scalar{V: v.Int()}, nil
	case pickle.Float:
		return &pytree.Scalar{V: v.Float()}, nil
	case pickle.Text:
		return &pytree.Scalar{V: v.Str()}, nil
	case pickle.Bytes:
		return &pytree.Scalar{V: []byte(v.Str())}, nil
	case pickle.Raw:
		// Python 2's str. torch.load decodes it as UTF-8.
		if utf8.ValidString(v.Str()) {
			return &pytree.Scalar{V: v.Str()}, nil
		}
		return &pytree.Scalar{V: []byte(v.Str()), Payload: v}, nil
	}
	return nil, fmt.Errorf("pickle value of unknown kind %v", v.Kind())
}

// shared hands out one node for each of the commonest scalars.
func (b *builder) shared(slot int, v any) *pytree.Scalar {
	if b.small[slot] == nil {
		b.small[slot] = &pytree.Scalar{V: v}
	}
	return b.small[slot]
}

func (b *builder) object(v pickle.Value, o *pickle.Object) (pytree.Node, error) {
	if len(o.State()) > 0 {
		switch o.Kind {
		case pickle.Call, pickle.New, pickle.Inst, pickle.Persistent, pickle.Global:
		default:
			return nil, fmt.Errorf("byte %d of the pickle: BUILD sets the state of %s", o.Pos, kindOf(v))
		}
	}
	switch o.Kind {
	case pickle.LongText, pickle.LongBytes, pickle.LongRaw:
		return longScalar(v, o)
	case pickle.BigInt:
		return &pytree.Scalar{V: o.Big()}, nil
	case pickle.List:
		return b.sequence(o, "list", o.Items, nil)
	case pickle.Tuple:
		return b.sequence(o, "tuple", o.Items, nil)
	case pickle.Set:
		return b.set(o, "set", o.Items)
	case pickle.FrozenSet:
		return b.set(o, "frozenset", o.Items)
	case pickle.Dict:
		return b.mapping(o, "dict", o.Items, nil)
	case pickle.ByteArray:
		return b.byteArray(o.Items)
	case pickle.Global:
		return globalNode(v, o), nil
	case pickle.Persistent:
		return b.persistentNode(v, o)
	case pickle.Call, pickle.New, pickle.Inst:
		return b.constructed(v, o)
	case pickle.Extension:
		return &pytree.Opaque{Type: "copyreg extension", Text: strconv.FormatInt(o.Items[0].Int(), 10), Payload: v}, nil
	case pickle.Buffer:
		return &pytree.Opaque{Type: "out-of-band buffer", Text: "its bytes are not in the file", Payload: v}, nil
	}
	return nil, fmt.Errorf("byte %d of the pickle: object of unknown kind %v", o.Pos, o.Kind)
}

// sequence builds a list-like container.
func (b *builder) sequence(o *pickle.Object, typ string, items []pickle.Value, m *meta) (pytree.Node, error) {
	c := &pytree.Container{Kind: pytree.Sequence, Type: typ}
	setMeta(c, m)
	defer b.begin(o, c)()
	return c, b.addItems(c, items)
}

func (b *builder) addItems(c *pytree.Container, items []pickle.Value) error {
	if err := b.spend(len(items)); err != nil {
		return err
	}
	c.Entries = make([]pytree.Entry, 0, len(items))
	for i, item := range items {
		k := pytree.IntKey(int64(i))
		n, err := b.child(k, item)
		if err != nil {
			return err
		}
		c.Entries = append(c.Entries, pytree.Entry{Key: k, Value: n})
	}
	return nil
}

// mapping builds a dict-like container from alternating keys and values.
func (b *builder) mapping(o *pickle.Object, typ string, items []pickle.Value, m *meta) (*pytree.Container, error) {
	c := &pytree.Container{Kind: pytree.Mapping, Type: typ}
	setMeta(c, m)
	defer b.begin(o, c)()
	return c, b.addPairs(c, items, pytree.Item)
}

func (b *builder) addPairs(c *pytree.Container, items []pickle.Value, part pytree.Part) error {
	if err := b.spend(len(items) / 2); err != nil {
		return err
	}
	c.Entries = make([]pytree.Entry, 0, len(items)/2)
	keys := newKeySet(len(items) / 2)
	for i := 0; i+1 < len(items); i += 2 {
		k, at := keys.add(b.keyOf(items[i]), items[i])
		n, err := b.child(k, items[i+1])
		if err != nil {
			return err
		}
		e := pytree.Entry{Key: k, Value: n, Part: part}
		if !k.Addressable() {
			const entry = 8 // bytes of a text, so that a path of it has its price
			if err := b.spend(len(k.String()) / entry); err != nil {
				return err
			}
			key, err := b.hidden(items[i])
			if err != nil {
				return err
			}
			metaOf(c).key(k, key[0])
		}
		if at >= 0 { // set twice: the last value stays, in the first one's place
			c.Entries[at] = e
			continue
		}
		c.Entries = append(c.Entries, e)
	}
	return nil
}

// longScalar is a text or bytes that stays in the file.
func longScalar(v pickle.Value, o *pickle.Object) (pytree.Node, error) {
	src, err := newBlobSource(o)
	if err != nil {
		return nil, err
	}
	if o.Kind == pickle.LongBytes {
		return bytesScalar(src, ""), nil
	}
	isText := o.Kind == pickle.LongText
	if o.Kind == pickle.LongRaw {
		// Python 2's str is text if it is UTF-8, as a short one is.
		rc := o.Blob().OpenUTF8()
		_, err := io.Copy(io.Discard, rc)
		isText = errors.Join(err, rc.Close()) == nil
	}
	return &pytree.Scalar{V: &pytree.Long{Source: src, Text: isText}, Payload: v}, nil
}

// byteArray is a bytearray, whose content is given as bytes or as Latin-1 text.
func (b *builder) byteArray(items []pickle.Value) (pytree.Node, error) {
	s := &pytree.Scalar{V: []byte{}, Class: "bytearray"}
	if len(items) == 0 {
		return s, nil
	}
	src, err := b.content(items[0])
	if err != nil {
		return nil, err
	}
	if m, ok := src.(pytree.Bytes); ok {
		s.V = []byte(m)
	} else {
		s.V = &pytree.Long{Source: src}
	}
	return s, nil
}

// globalNode is a class or function by name, or one of the names that stand for
// a value.
func globalNode(v pickle.Value, o *pickle.Object) pytree.Node {
	module, name := o.Global()
	typ, full := "global", module+"."+name
	if module == "torch" {
		if _, ok := torchDTypes[name]; ok {
			typ = "torch.dtype"
		} else if name == "strided" || strings.HasPrefix(name, "sparse_") {
			typ = "torch.layout"
		} else if strings.HasSuffix(name, "_format") || strings.HasPrefix(name, "channels_last") {
			typ = "torch.memory_format"
		}
	}
	return &pytree.Opaque{Type: typ, Text: full, Payload: v}
}

// bigOf is v as an integer of any size.
func bigOf(v pickle.Value) (*big.Int, bool) {
	switch v.Kind() {
	case pickle.Int:
		return big.NewInt(v.Int()), true
	case pickle.BigInt:
		return v.Obj().Big(), true
	}
	return nil, false
}

// str is v as a string, if it is a short one.
func str(v pickle.Value) (string, bool) {
	switch v.Kind() {
	case pickle.Text, pickle.Raw:
		return v.Str(), true
	}
	return "", false
}

// tuple is the items of v if it is a tuple or a list.
func tuple(v pickle.Value) ([]pickle.Value, bool) {
	if k := v.Kind(); k == pickle.Tuple || k == pickle.List {
		return v.Obj().Items, true
	}
	return nil, false
}
