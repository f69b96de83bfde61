package pickle

import (
	"bytes"
	"errors"
	"io"
	"math"
	"math/big"
	"slices"
	"strings"
	"testing"
	"testing/iotest"
)

func TestWriterOpcodes(t *testing.T) {
	for _, c := range []struct {
		why   string
		write func(w *Writer)
		want  string // between PROTO and STOP
	}{
		{"nothing", func(w *Writer) {}, ""},
		{"constants", func(w *Writer) { w.None(); w.Bool(true); w.Bool(false) }, "N\x88\x89"},
		{"small integers", func(w *Writer) { w.Int(0); w.Int(255); w.Int(256); w.Int(65535) }, "K\x00K\xffM\x00\x01M\xff\xff"},
		{"middle integers", func(w *Writer) { w.Int(65536); w.Int(-1); w.Int(math.MinInt32) }, "J\x00\x00\x01\x00J\xff\xff\xff\xffJ\x00\x00\x00\x80"},
		{"large integers are as short as they can be", func(w *Writer) { w.Int(1 << 31); w.Int(-1<<31 - 1); w.Int(math.MinInt64) },
			"\x8a\x05\x00\x00\x00\x80\x00\x8a\x05\xff\xff\xff\x7f\xff\x8a\x08\x00\x00\x00\x00\x00\x00\x00\x80"},
		{"big integers", func(w *Writer) {
			b := new(big.Int).Lsh(big.NewInt(1), 63)
			w.BigInt(b)
			w.BigInt(b.Neg(b))
			w.BigInt(big.NewInt(5))
			w.BigInt(b.Lsh(b, 1))
		}, "\x8a\x09\x00\x00\x00\x00\x00\x00\x00\x80\x00\x8a\x08\x00\x00\x00\x00\x00\x00\x00\x80K\x05\x8a\x09\x00\x00\x00\x00\x00\x00\x00\x00\xff"},
		{"an integer of 256 bytes", func(w *Writer) { w.BigInt(new(big.Int).Lsh(big.NewInt(1), 2040)) },
			"\x8b\x00\x01\x00\x00" + strings.Repeat("\x00", 255) + "\x01"},
		{"floats", func(w *Writer) { w.Float(1.5); w.Float(math.Copysign(0, -1)) }, "G\x3f\xf8\x00\x00\x00\x00\x00\x00G\x80\x00\x00\x00\x00\x00\x00\x00"},
		{"a text is written once", func(w *Writer) { w.Text("é"); w.Text("é"); w.Text("") }, "X\x02\x00\x00\x00\xc3\xa9q\x00h\x00X\x00\x00\x00\x00q\x01"},
		{"a long text is not remembered", func(w *Writer) { w.Text(k); w.Text(k) }, "X\x00\x04\x00\x00" + k + "X\x00\x04\x00\x00" + k},
		{"Python 2 text", func(w *Writer) { w.Raw("\xff"); w.Raw("\xff"); w.Raw(k[:256]) }, "U\x01\xffq\x00h\x00T\x00\x01\x00\x00" + k[:256] + "q\x01"},
		{"bytes", func(w *Writer) { w.BytesP2([]byte("a\xff")); w.BytesP2([]byte("a\xff")) },
			"c_codecs\nencode\nq\x00X\x03\x00\x00\x00a\xc3\xbfX\x06\x00\x00\x00latin1q\x01\x86Rq\x02h\x02"},
		{"no bytes", func(w *Writer) { w.BytesP2(nil) }, "c_codecs\nencode\nq\x00X\x00\x00\x00\x00X\x06\x00\x00\x00latin1q\x01\x86R" + "q\x02"},
		{"globals are written once", func(w *Writer) { w.Global("m", "C"); w.Global("m", "C") }, "cm\nC\nq\x00h\x00"},
		{"a nested class is of protocol 4", func(w *Writer) { w.Global("m", "A.B") }, "\x80\x04cm\nA.B\n\x80\x02q\x00"},
		{"a name with a newline is of protocol 4", func(w *Writer) { w.Global("m", "\n") }, "X\x01\x00\x00\x00mq\x00X\x01\x00\x00\x00\nq\x01\x93q\x02"},
		{"tuples", func(w *Writer) { w.Tuple(FromMark); w.Tuple(1); w.Tuple(2); w.Tuple(3) }, "t\x85\x86\x87"},
		{"containers", func(w *Writer) {
			w.Mark()
			w.EmptyDict()
			w.EmptyList()
			w.EmptyTuple()
			w.Append()
			w.Appends()
			w.SetItem()
			w.SetItems()
		}, "(}])aesu"},
		{"objects", func(w *Writer) { w.Reduce(); w.NewObj(); w.Build(); w.PersID() }, "R\x81bQ"},
		{"opcodes beyond weights_only", func(w *Writer) { w.Pop(); w.PopMark(); w.NewObjEx(); w.AddItems() }, "01\x92\x90"},
		{"another name in the memo", func(w *Writer) {
			w.Alias("a", w.Put())
			i, _ := w.Memo("a")
			w.Get(i)
		}, "q\x00h\x00"},
		{"memo by object", func(w *Writer) {
			w.None()
			w.SetMemo(w)
			i, ok := w.Memo(w)
			if !ok {
				panic("not in the memo")
			}
			w.Get(i)
		}, "Nq\x00h\x00"},
		{"memo beyond 255", func(w *Writer) {
			for range 256 {
				w.Put()
			}
			w.buf = w.buf[:2]
			w.Get(w.Put())
		}, "r\x00\x01\x00\x00j\x00\x01\x00\x00"},
		{"text from a reader", func(w *Writer) { w.TextFrom(3, strings.NewReader("abcdef")) }, "X\x03\x00\x00\x00abc"},
	} {
		var b bytes.Buffer
		w := NewWriter(&b)
		c.write(w)
		n, err := w.Close()
		if err != nil || n != int64(b.Len()) {
			t.Errorf("%s: %d bytes, %v", c.why, n, err)
		}
		if got := b.String(); got != "\x80\x02"+c.want+"." {
			t.Errorf("%s:\n got %q\nwant %q", c.why, got, c.want)
		}
	}
}

type idleReader struct{}

func (idleReader) Read([]byte) (int, error) { return 0, nil }

type errWriter struct {
	n   int
	err error
}

func (e *errWriter) Write(p []byte) (int, error) {
	if e.n -= len(p); e.n < 0 {
		return 0, e.err
	}
	return len(p), nil
}

func TestWriterErrors(t *testing.T) {
	open := func(s string, err error) func() (io.ReadCloser, error) {
		return func() (io.ReadCloser, error) { return io.NopCloser(strings.NewReader(s)), err }
	}
	calls := 0
	for _, c := range []struct {
		why   string
		write func(w *Writer)
		msg   string
	}{
		{"text is not UTF-8", func(w *Writer) { w.Text("\xff") }, "is not UTF-8"},
		{"text beyond 32 bits", func(w *Writer) { w.TextFrom(1<<32, nil) }, "too long for protocol 2; the limit is 4294967295"},
		{"text of negative length", func(w *Writer) { w.TextFrom(-1, nil) }, "too long"},
		{"Python 2 text beyond 31 bits", func(w *Writer) { w.rawHead(1 << 31) }, "the limit is 2147483647"},
		{"source is too short", func(w *Writer) { w.TextFrom(5, strings.NewReader("abc")) }, "unexpected EOF"},
		{"source fails", func(w *Writer) { w.TextFrom(5, iotest.ErrReader(iotest.ErrTimeout)) }, "timeout"},
		{"source gives nothing", func(w *Writer) { w.TextFrom(5, idleReader{}) }, "multiple Read calls return no data"},
		{"bytes are too short", func(w *Writer) { w.BytesLatin1From(5, open("abc", nil)) }, "unexpected EOF"},
		{"bytes cannot be opened", func(w *Writer) { w.BytesLatin1From(5, open("", iotest.ErrTimeout)) }, "timeout"},
		{"bytes change in between", func(w *Writer) {
			w.BytesLatin1From(2, func() (io.ReadCloser, error) {
				calls++
				return open([]string{"", "ab", "a\xff"}[calls], nil)()
			})
		}, "changed while it was read"},
		{"bytes whose text is beyond 32 bits", func(w *Writer) { w.encodeHead(1<<32 + 5) }, "too long for protocol 2"},
		{"a tuple of four", func(w *Writer) { w.Tuple(4) }, "needs a mark"},
		{"escaped text is malformed", func(w *Writer) { w.TextBlob(blobOf(RawUnicodeEscape, `\u`)) }, "cut off"},
		{"long text is malformed", func(w *Writer) { w.TextBlob(blobOf(Plain, "\xff")) }, "not UTF-8"},
		{"no value", func(w *Writer) { WriteValue(w, Value{}, nil) }, "no value"},
		{"hook fails", func(w *Writer) {
			WriteValue(w, noneValue(), func(*Writer, Value) (bool, error) { return false, iotest.ErrTimeout })
		}, "timeout"},
	} {
		var b bytes.Buffer
		w := NewWriter(&b)
		c.write(w)
		first := w.Err()
		w.None()
		w.Text("more")
		if _, err := w.Close(); err == nil || !strings.Contains(err.Error(), c.msg) || err != first {
			t.Errorf("%s: %v, then %v; want %s", c.why, first, err, c.msg)
		}
	}
	for _, limit := range []int{0, 1, 100_000} {
		w := NewWriter(&errWriter{limit, iotest.ErrTimeout})
		for range 10 {
			w.Text(strings.Repeat("x", 30_000))
			w.BytesP2(bytes.Repeat([]byte{0xff}, 30_000))
			w.TextFrom(30_000, strings.NewReader(strings.Repeat("y", 30_000)))
		}
		if _, err := w.Close(); !errors.Is(err, iotest.ErrTimeout) {
			t.Errorf("no room after %d bytes: %v", limit, err)
		}
	}
	w := NewWriter(io.Discard)
	w.None()
	w.Close()
	w.None()
	if _, err := w.Close(); err == nil {
		t.Error("a second Close is no error")
	}
}

// Long values are the same whatever blocks they are read and written in.
func TestWriterLong(t *testing.T) {
	raw, _ := randomLatin1(200_000)
	var b bytes.Buffer
	w := NewWriter(&b)
	w.Mark()
	w.BytesLatin1From(int64(len(raw)), func() (io.ReadCloser, error) {
		return io.NopCloser(iotest.OneByteReader(bytes.NewReader(raw))), nil
	})
	w.BytesP2(raw)
	w.TextBlob(blobOf(Plain, latin1(string(raw))))
	w.TextBlob(blobOf(RawUnicodeEscape, strings.ReplaceAll(string(raw), `\`, `\u005c`)))
	w.BytesBlob(blobOf(Plain, string(raw)))
	w.RawBlob(blobOf(Plain, string(raw)))
	w.RawBlob(blobOf(StringEscape, strings.ReplaceAll(string(raw), `\`, `\\`)))
	w.Raw(string(raw))
	w.Tuple(FromMark)
	if _, err := w.Close(); err != nil {
		t.Fatal(err)
	}
	p := mustRead(t, "long", b.Bytes())
	for i, v := range p.Root.Obj().Items {
		want := string(raw)
		switch i {
		case 0, 1, 4:
			v = v.Obj().Items[1].Obj().Items[0] // of _codecs.encode
			fallthrough
		case 2, 3:
			want = latin1(want)
		}
		if got := content(v); got != want {
			t.Errorf("value %d: %d bytes differ from %d", i, len(got), len(want))
		}
	}
}

// The hook replaces values wherever they are, and what it put into the memo is
// referred to.
func TestWriteValueHook(t *testing.T) {
	p, err := readString("(K\x01Q(K\x02Qq\x00h\x00lX\x01\x00\x00\x00aNd.")
	if err != nil {
		t.Fatal(err)
	}
	var asked []string
	hook := func(w *Writer, v Value) (bool, error) {
		asked = append(asked, v.Kind().String())
		switch v.Kind() {
		case Persistent:
			w.Text("storage")
			w.SetMemo(v.Obj())
			return true, nil
		case Text:
			w.Mark()
			for range 2 {
				if err := WriteValue(w, intValue(7), nil); err != nil {
					return true, err
				}
			}
			w.Tuple(FromMark)
			return true, nil
		}
		return false, nil
	}
	var b bytes.Buffer
	w := NewWriter(&b)
	if err := WriteValue(w, p.Root, hook); err != nil {
		t.Fatal(err)
	}
	w.Close()
	q := mustRead(t, "hook", b.Bytes())
	if got, want := dump(q.Root), `{"storage":["storage" "storage"] (7 7):None}`; got != want {
		t.Errorf("got %s, want %s", got, want)
	}
	want := []string{"dict", "persistent object", "list", "persistent object", "str", "None"}
	if !slices.Equal(asked, want) {
		t.Errorf("asked about %q, not %q", asked, want)
	}
}

// What torch.load(weights_only=True) understands is all that plain data and
// tensors are written with.
func TestWriteValueForWeightsOnly(t *testing.T) {
	// From torch/_weights_only_unpickler.py, with the lengths of arguments that
	// have a fixed one.
	accepted := map[byte]int{
		opProto: 1, opMark: 0, opStop: 0, opNone: 0, opNewTrue: 0, opNewFalse: 0, opBinInt: 4, opBinInt1: 1,
		opBinInt2: 2, opBinFloat: 8, opLong1: -1, opBinUnicode: -4, opBinPut: 1, opLongBinPut: 4, opBinGet: 1,
		opLongBinGet: 4, opEmptyDict: 0, opEmptyList: 0, opEmptyTuple: 0, opTuple: 0, opTuple1: 0, opTuple2: 0,
		opTuple3: 0, opAppend: 0, opAppends: 0, opSetItem: 0, opSetItems: 0, opReduce: 0, opNewObj: 0, opBuild: 0,
		opBinPersID: 0,
	}
	inputs := []sample{{"state dict", stateDict(1200)}}
	for _, s := range samples(t) {
		if strings.HasPrefix(s.name, "py3-") && !strings.HasSuffix(s.name, "-extensions") &&
			!strings.HasSuffix(s.name, "-cycles") && !strings.HasSuffix(s.name, "-buffers") && s.name < "py3-p4-objects" ||
			strings.HasSuffix(s.name, "p5-containers") {
			inputs = append(inputs, s)
		}
	}
	for _, s := range inputs {
		out, err := writeBytes(mustRead(t, s.name, s.data).Root)
		if err != nil {
			t.Fatal(err)
		}
		for i := 0; i < len(out); {
			op := out[i]
			n, ok := accepted[op]
			at := i
			i++
			switch {
			case op == opGlobal:
				for range 2 {
					i += bytes.IndexByte(out[i:], '\n') + 1
				}
			case op == opLong4 && strings.HasSuffix(s.name, "scalars"): // nothing shorter has room
				i += 4 + (int(out[i]) | int(out[i+1])<<8)
			case op == opPop && strings.HasSuffix(s.name, "objects"): // a function sets the state
			case !ok:
				t.Fatalf("%s: byte %d: %s", s.name, at, opNames[op])
			case n == -1:
				i += 1 + int(out[i])
			case n == -4:
				i += 4 + (int(out[i]) | int(out[i+1])<<8)
			default:
				i += n
			}
		}
	}
}
