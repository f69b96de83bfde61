package pt

import (
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"math/big"
	"strings"

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

// knownText is a short printed form of an object of the standard library that
// has no parts to show. It is at the given depth of what is being printed.
func knownText(o *pickle.Object, depth int) (string, bool) {
	if o.Kind != pickle.Call && o.Kind != pickle.New || len(o.Items) < 2 {
		return "", false
	}
	args, ok := tuple(o.Items[1])
	if !ok {
		return "", false
	}
	name := callee(o)
	if name == "uuid.UUID" {
		return uuidText(o)
	}
	if len(o.State()) > 0 || len(o.ListItems()) > 0 || len(o.DictItems()) > 0 || len(o.SetItems()) > 0 {
		return "", false
	}
	switch name {
	case "datetime.datetime", "datetime.date", "datetime.time":
		return dateText(name, args, depth)
	case "datetime.timedelta":
		return timedeltaText(args)
	case "datetime.timezone":
		if len(args) >= 1 {
			if zone := offsetText(args[0]); zone == "+00:00" {
				return "UTC", true
			} else if zone != "" {
				return "UTC" + zone, true
			}
		}
	case "decimal.Decimal", "fractions.Fraction", "_pydecimal.Decimal":
		if len(args) == 1 {
			return str(args[0])
		}
		if len(args) == 2 && args[0].Kind() == pickle.Int && args[1].Kind() == pickle.Int {
			return repr(args[0], 0) + "/" + repr(args[1], 0), true
		}
	case "builtins.complex":
		if len(args) == 2 && args[0].Kind() == pickle.Float && args[1].Kind() == pickle.Float {
			return complexText(args[0].Float(), args[1].Float()), true
		}
	case "builtins.range", "builtins.slice":
		return simpleCall(name[strings.LastIndexByte(name, '.')+1:], args)
	}
	if module, class, _ := strings.Cut(name, "."); module == "pathlib" || strings.HasPrefix(name, "pathlib.") {
		if strings.HasSuffix(class, "Path") {
			return pathText(class, args)
		}
	}
	return "", false
}

func simpleCall(name string, args []pickle.Value) (string, bool) {
	if len(args) > 3 {
		return "", false
	}
	for _, a := range args {
		if !plainKey(a) || a.Kind() == pickle.Tuple {
			return "", false
		}
	}
	return name + reprArgs(args, 0), true
}

func complexText(re, im float64) string {
	trim := func(f float64) string { return strings.TrimSuffix(reprFloat(f), ".0") }
	if re == 0 && 1/re > 0 {
		return trim(im) + "j"
	}
	sign := "+"
	if im < 0 || im == 0 && 1/im < 0 {
		sign = ""
	}
	return "(" + trim(re) + sign + trim(im) + "j)"
}

func pathText(class string, args []pickle.Value) (string, bool) {
	sep := "/"
	if strings.Contains(class, "Windows") {
		sep = `\`
	}
	const longest, most = 4096, 256
	if len(args) > most {
		return "", false
	}
	var b strings.Builder
	for i, a := range args {
		part, ok := str(a)
		if !ok || b.Len()+len(part) > longest {
			return "", false
		}
		if i > 0 && !strings.HasSuffix(b.String(), sep) {
			b.WriteString(sep)
		}
		b.WriteString(part)
	}
	if b.Len() == 0 {
		return ".", true
	}
	return b.String(), true
}

// uuidText prints a UUID, which is pickled by its state {"int": n}.
func uuidText(o *pickle.Object) (string, bool) {
	const few = 8 // "int", and "is_safe" since Python 3.8
	if len(o.State()) != 1 || stateSize(o.State()[0]) > few {
		return "", false
	}
	pairs, form := stateItems(o.State()[0])
	if form == otherState {
		return "", false
	}
	for i := 0; i+1 < len(pairs); i += 2 {
		n, ok := bigOf(pairs[i+1])
		if !ok || n.Sign() < 0 || n.BitLen() > 128 {
			continue
		}
		if k, _ := str(pairs[i]); k == "int" {
			b := n.FillBytes(make([]byte, 16))
			return fmt.Sprintf("%x-%x-%x-%x-%x", b[:4], b[4:6], b[6:8], b[8:10], b[10:]), true
		}
	}
	return "", false
}

// dateText prints the packed bytes by which the datetime module pickles itself.
func dateText(name string, args []pickle.Value, depth int) (string, bool) {
	if len(args) == 0 || len(args) > 2 {
		return "", false
	}
	var raw []byte
	switch v := args[0]; v.Kind() {
	case pickle.Bytes, pickle.Raw:
		raw = []byte(v.Str())
	case pickle.Call:
		if !isLatin1Call(v) {
			return "", false
		}
		inner, _ := tuple(v.Obj().Items[1])
		b, err := latin1(inner[0].Str())
		if err != nil {
			return "", false
		}
		raw = b
	default:
		return "", false
	}
	text := ""
	switch {
	case name == "datetime.date" && len(raw) == 4:
		text = fmt.Sprintf("%04d-%02d-%02d", binary.BigEndian.Uint16(raw), raw[2], raw[3])
	case name == "datetime.time" && len(raw) == 6:
		text = clock(raw[0]&0x7F, raw[1:])
	case name == "datetime.datetime" && len(raw) == 10:
		text = fmt.Sprintf("%04d-%02d-%02d %s", binary.BigEndian.Uint16(raw), raw[2]&0x7F, raw[3], clock(raw[4], raw[5:]))
	default:
		return "", false
	}
	if len(args) == 2 && args[1].Kind() != pickle.None {
		text += zoneText(args[1], depth)
	}
	return text, true
}

// clock prints an hour and the bytes of minute, second and microsecond.
func clock(hour byte, rest []byte) string {
	s := fmt.Sprintf("%02d:%02d:%02d", hour, rest[0], rest[1])
	if us := int(rest[2])<<16 | int(rest[3])<<8 | int(rest[4]); us > 0 {
		s += fmt.Sprintf(".%06d", us)
	}
	return s
}

// zoneText is the offset of a timezone as it ends a date, or its name.
func zoneText(v pickle.Value, depth int) string {
	if v.Kind() == pickle.Call && callee(v.Obj()) == "datetime.timezone" {
		if args, _ := tuple(v.Obj().Items[1]); len(args) >= 1 {
			if text := offsetText(args[0]); text != "" {
				return text
			}
		}
	}
	return " " + repr(v, depth+1)
}

// offsetText prints a timedelta as an offset from UTC, or is "".
func offsetText(v pickle.Value) string {
	if v.Kind() != pickle.Call {
		return ""
	}
	d, ok := timedelta(v.Obj())
	if !ok {
		return ""
	}
	sign := "+"
	if d.Sign() < 0 {
		sign, d = "-", d.Neg(d)
	}
	minutes := new(big.Int).Div(d, big.NewInt(60_000_000)).Int64()
	return fmt.Sprintf("%s%02d:%02d", sign, minutes/60, minutes%60)
}

// timedelta is a timedelta(days, seconds, microseconds) in microseconds.
func timedelta(o *pickle.Object) (*big.Int, bool) {
	args, ok := tuple(o.Items[1])
	if !ok || callee(o) != "datetime.timedelta" || len(args) != 3 {
		return nil, false
	}
	total := new(big.Int)
	for i, unit := range []int64{86_400_000_000, 1_000_000, 1} {
		if args[i].Kind() != pickle.Int {
			return nil, false
		}
		total.Add(total, new(big.Int).Mul(big.NewInt(args[i].Int()), big.NewInt(unit)))
	}
	return total, true
}

func timedeltaText(args []pickle.Value) (string, bool) {
	if len(args) != 3 || args[0].Kind() != pickle.Int || args[1].Kind() != pickle.Int || args[2].Kind() != pickle.Int {
		return "", false
	}
	d, s, us := args[0].Int(), args[1].Int(), args[2].Int()
	text := fmt.Sprintf("%d:%02d:%02d", s/3600, s/60%60, s%60)
	if us != 0 {
		text += fmt.Sprintf(".%06d", us)
	}
	switch d {
	case 0:
		return text, true
	case 1, -1:
		return fmt.Sprintf("%d day, %s", d, text), true
	}
	return fmt.Sprintf("%d days, %s", d, text), true
}

// byteSource is a long text or bytes that stands for bytes.
type byteSource struct {
	blob *pickle.Blob
	text bool
	size int64
}

func (s byteSource) Size() int64 { return s.size }

func (s byteSource) Open() (io.ReadCloser, error) {
	open := s.blob.OpenBytes
	if s.text {
		open = s.blob.OpenLatin1
	}
	rc := open()
	return &endingReader{pytree.Exactly(rc, s.size), rc}, nil
}

// endingReader is a reader of a known number of bytes over one that must end
// there.
type endingReader struct {
	io.Reader
	rc io.ReadCloser
}

func (e *endingReader) Close() error { return e.rc.Close() }

func (e *endingReader) Read(p []byte) (int, error) {
	n, err := e.Reader.Read(p)
	if err == io.EOF {
		if m, _ := io.ReadFull(e.rc, make([]byte, 1)); m > 0 {
			return n, errors.New("more bytes than the array takes")
		}
	}
	return n, err
}

// newByteSource is the source of a long value that stands for size bytes.
func newByteSource(o *pickle.Object, size int64) (pytree.Source, error) {
	blob := o.Blob()
	text := o.Kind == pickle.LongText
	if !text && blob.Encoding == pickle.Plain {
		return pytree.Section{R: blob.R, Off: blob.Off, N: blob.Len}, nil
	}
	s := byteSource{blob, text, size}
	if size >= 0 {
		return s, nil
	}
	n, err := countBytes(s)
	s.size = n
	return s, err
}

// newBlobSource is the source of a long value as it stands: text as UTF-8.
func newBlobSource(o *pickle.Object) (pytree.Source, error) {
	blob := o.Blob()
	if blob.Encoding == pickle.Plain {
		return pytree.Section{R: blob.R, Off: blob.Off, N: blob.Len}, nil
	}
	if o.Kind != pickle.LongText {
		return newByteSource(o, -1)
	}
	rc := blob.OpenUTF8()
	defer rc.Close()
	n, err := io.Copy(io.Discard, rc)
	return utf8Source{blob, n}, err
}

type utf8Source struct {
	blob *pickle.Blob
	size int64
}

func (s utf8Source) Size() int64                  { return s.size }
func (s utf8Source) Open() (io.ReadCloser, error) { return s.blob.OpenUTF8(), nil }

func countBytes(s byteSource) (int64, error) {
	open := s.blob.OpenBytes
	if s.text {
		open = s.blob.OpenLatin1
	}
	rc := open()
	defer rc.Close()
	return io.Copy(io.Discard, rc)
}
