package pt

import (
	"fmt"

	"ckpt/pickle"
	"ckpt/pytree"
)

// encoded is _codecs.encode(text, "latin1"): how protocols below 3 write bytes.
func encoded(b *builder, v pickle.Value, o *pickle.Object, _ []pickle.Value) (pytree.Node, error) {
	if !isLatin1Call(v) {
		return nil, nil
	}
	src, err := b.content(v)
	if err != nil {
		return nil, badCall(o, "%v", err)
	}
	return bytesScalar(src, ""), nil
}

func bytesScalar(src pytree.Source, class string) *pytree.Scalar {
	if m, ok := src.(pytree.Bytes); ok {
		return &pytree.Scalar{V: []byte(m), Class: class}
	}
	return &pytree.Scalar{V: &pytree.Long{Source: src}, Class: class}
}

// bytesOf is bytes(), which protocols below 3 write for empty bytes.
func bytesOf(_ *builder, _ pickle.Value, o *pickle.Object, args []pickle.Value) (pytree.Node, error) {
	if len(args) > 0 || len(o.State()) > 0 {
		return nil, nil
	}
	return &pytree.Scalar{V: []byte{}}, nil
}

// byteArrayOf is bytearray(), bytearray(bytes) or bytearray(text, "latin-1").
func byteArrayOf(b *builder, _ pickle.Value, o *pickle.Object, args []pickle.Value) (pytree.Node, error) {
	if len(o.State()) > 0 {
		return nil, nil
	}
	switch {
	case len(args) == 0:
		return bytesScalar(pytree.Bytes{}, "bytearray"), nil
	case len(args) == 2 && !isLatin1(args[1]), len(args) > 2:
		return nil, nil
	}
	src, err := b.content(args[0])
	if err != nil {
		return nil, badCall(o, "%v", err)
	}
	return bytesScalar(src, "bytearray"), nil
}

func isLatin1(v pickle.Value) bool {
	s, _ := str(v)
	return s == "latin1" || s == "latin-1"
}

func isLatin1Call(v pickle.Value) bool {
	if v.Kind() != pickle.Call || callee(v.Obj()) != "_codecs.encode" || len(v.Obj().State()) > 0 {
		return false
	}
	args, _ := tuple(v.Obj().Items[1])
	return len(args) == 2 && isLatin1(args[1]) && isText(args[0])
}

// isByteArrayCall reports whether v is bytearray(bytes), as protocols below 5
// write it.
func isByteArrayCall(v pickle.Value) bool {
	if v.Kind() != pickle.Call || callee(v.Obj()) != "builtins.bytearray" || len(v.Obj().State()) > 0 {
		return false
	}
	args, _ := tuple(v.Obj().Items[1])
	return len(args) == 1
}

func isText(v pickle.Value) bool {
	k := v.Kind()
	return k == pickle.Text || k == pickle.LongText || k == pickle.Raw || k == pickle.LongRaw
}

// content is the bytes that v stands for: bytes, Python 2's str, or text of
// which each character is one byte. size is how many there must be, or -1 where
// nothing says; a long text then has to be read through to know.
func content(v pickle.Value, size int64) (pytree.Source, error) {
	v = unwrapped(v)
	var src pytree.Source
	switch v.Kind() {
	case pickle.Bytes, pickle.Raw:
		src = pytree.Bytes(v.Str())
	case pickle.Text:
		raw, err := latin1(v.Str())
		if err != nil {
			return nil, err
		}
		src = pytree.Bytes(raw)
	case pickle.LongText, pickle.LongBytes, pickle.LongRaw:
		s, err := newByteSource(v.Obj(), size)
		if err != nil {
			return nil, err
		}
		src = s
	case pickle.ByteArray:
		if len(v.Obj().Items) == 0 {
			src = pytree.Bytes{}
			break
		}
		return content(v.Obj().Items[0], size)
	case pickle.Call:
		if name := callee(v.Obj()); name == "builtins.bytes" {
			if args, _ := tuple(v.Obj().Items[1]); len(args) == 0 {
				src = pytree.Bytes{}
				break
			}
		}
		return nil, fmt.Errorf("bytes expected, not a call of %s", callee(v.Obj()))
	default:
		return nil, fmt.Errorf("bytes expected, not %s", kindOf(v))
	}
	if size >= 0 && src.Size() != size {
		return nil, fmt.Errorf("%d bytes expected, there are %d", size, src.Size())
	}
	return src, nil
}

// unwrapped is what a bytearray or the encoding of a text was made of.
func unwrapped(v pickle.Value) pickle.Value {
	for range 2 { // bytearray(encode(text))
		if isLatin1Call(v) || isByteArrayCall(v) {
			args, _ := tuple(v.Obj().Items[1])
			v = args[0]
		}
	}
	return v
}

// content is content where nothing says how many bytes there are. A long text is
// read through once, however many objects are made of it.
func (b *builder) content(v pickle.Value) (pytree.Source, error) {
	o := unwrapped(v).Obj()
	size, known := b.lengths[o]
	if o == nil || !known {
		size = -1
	}
	src, err := content(v, size)
	if err == nil && o != nil && !known {
		b.lengths[o] = src.Size()
	}
	return src, err
}

// latin1 undoes the decoding of bytes as Latin-1.
func latin1(s string) ([]byte, error) {
	out := make([]byte, 0, len(s))
	for i, r := range s {
		if r > 0xFF {
			return nil, fmt.Errorf("character %q at byte %d of a text that stands for bytes", r, i)
		}
		out = append(out, byte(r))
	}
	return out, nil
}

// device is torch.device("cuda", 0).
func device(_ *builder, v pickle.Value, o *pickle.Object, args []pickle.Value) (pytree.Node, error) {
	if len(args) == 0 || len(args) > 2 || len(o.State()) > 0 {
		return nil, nil
	}
	text, ok := str(args[0])
	if !ok {
		return nil, nil
	}
	if len(args) == 2 {
		text += ":" + repr(args[1], 0)
	}
	return &pytree.Opaque{Type: "torch.device", Text: text, Payload: v}, nil
}

// layout is torch.serialization._get_layout("torch.strided").
func layout(_ *builder, v pickle.Value, o *pickle.Object, args []pickle.Value) (pytree.Node, error) {
	if len(args) != 1 || len(o.State()) > 0 {
		return nil, nil
	}
	text, ok := str(args[0])
	if !ok {
		return nil, nil
	}
	return &pytree.Opaque{Type: "torch.layout", Text: text, Payload: v}, nil
}
