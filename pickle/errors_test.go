package pickle

import (
	"bytes"
	"errors"
	"io"
	"strings"
	"testing"
	"testing/iotest"
)

func TestReadErrors(t *testing.T) {
	for _, c := range []struct {
		why, in string
		pos     int64
		op      string
		msg     string // part of it
		early   bool   // the pickle ends early
	}{
		{"nothing at all", "", 0, "", "ends early", true},
		{"no STOP", "N", 1, "", "ends early", true},
		{"half an argument", "J\x00\x00", 0, "BININT", "ends early", true},
		{"half a text", "N\x8c\x05ab", 1, "SHORT_BINUNICODE", "5 bytes are announced but 2 remain", true},
		{"half a long text", "X\x00\x04\x00\x00ab", 0, "BINUNICODE", "1024 bytes are announced", true},
		{"half a line", "cos\nsys", 0, "GLOBAL", "ends early", true},
		{"half a long line", "V" + k, 0, "UNICODE", "ends early", true},
		{"half an integer", "\x8a\x05\x01", 0, "LONG1", "5 bytes are announced but 1 remain", true},
		{"half a frame", "\x80\x04\x95\x09\x00\x00\x00\x00\x00\x00\x00N.", 2, "FRAME", "9 bytes are announced but 2 remain", true},
		{"a frame at the end", "\x95\x01\x00\x00\x00\x00\x00\x00\x00", 0, "FRAME", "1 bytes are announced but 0 remain", true},

		{"not an opcode", "N\xff.", 1, "", "byte 0xff is not an opcode", false},
		{"a protocol to come", "\x80\x06N.", 0, "PROTO", "protocol 6 is not known", false},
		{"text is not UTF-8", "\x8c\x01\xff.", 0, "SHORT_BINUNICODE", "not UTF-8", false},
		{"text with an overlong form", "\x8c\x02\xc0\x80.", 0, "SHORT_BINUNICODE", "not UTF-8", false},
		{"text with half a surrogate", "\x8c\x02\xed\xa0.", 0, "SHORT_BINUNICODE", "not UTF-8", false},
		{"name is not UTF-8", "c\xff\nx\n.", 0, "GLOBAL", "not UTF-8", false},

		{"an integer with letters", "I12a\n.", 0, "INT", `"12a" is not a decimal integer`, false},
		{"an integer of nothing", "I\n.", 0, "INT", "not a decimal integer", false},
		{"an integer of a sign", "L-L\n.", 0, "LONG", "not a decimal integer", false},
		{"an integer with underscores", "I1_000\n.", 0, "INT", "not a decimal integer", false},
		{"an integer of too many digits", "L" + strings.Repeat("9", maxDigits+1) + "\n.", 0, "LONG", "more than 10000 digits", false},
		{"an integer of too many bytes", "\x8b\x01\x00\x10\x00" + strings.Repeat("9", 1<<20+1) + ".", 0, "LONG4", "the limit is 1048576", false},
		{"an integer of negative length", "\x8b\xff\xff\xff\xff.", 0, "LONG4", "the length -1 is negative", false},
		{"a float with letters", "F1.x\n.", 0, "FLOAT", "not a float", false},
		{"a float too large", "F1e999\n.", 0, "FLOAT", "not a float", false},
		{"a hexadecimal float", "F0x1p4\n.", 0, "FLOAT", "not a float", false},
		{"a text without quotes", "Sab\n.", 0, "STRING", "not in quotes", false},
		{"a text with two sorts of quotes", "S'ab\"\n.", 0, "STRING", "not in quotes", false},
		{"a text of one quote", "S'\n.", 0, "STRING", "not in quotes", false},
		{"a long text without quotes", "S" + k + "\n.", 0, "STRING", "not in quotes", false},
		{"a text with a bad escape", `S'a\xzz'` + "\n.", 0, "STRING", "hexadecimal at byte 3", false},
		{"a text with half an escape", `NV\u12` + "\n.", 1, "UNICODE", "cut off at byte 2", false},
		{"an escape beyond Unicode", `V\U00110000` + "\n.", 0, "UNICODE", "beyond the last", false},
		{"Python 2 text of negative length", "T\xff\xff\xff\xff.", 0, "BINSTRING", "negative", false},
		{"a line that never ends", "c" + strings.Repeat("a", maxLine+1) + "\nb\n.", 0, "GLOBAL", "a line of more than 65536 bytes", false},
		{"a memo index with letters", "gx\n.", 0, "GET", "not a memo index", false},
		{"a negative memo index", "Np-1\n.", 1, "PUT", "not a memo index", false},

		{"STOP on nothing", ".", 0, "STOP", "takes more values than the stack has", false},
		{"POP on nothing", "0.", 0, "POP", "than the stack has", false},
		{"DUP on nothing", "2.", 0, "DUP", "than the stack has", false},
		{"DUP of a mark", "N(2.", 2, "DUP", "above the latest MARK", false},
		{"TUPLE2 on one", "N\x86.", 1, "TUPLE2", "than the stack has", false},
		{"TUPLE2 across a mark", "N(N\x86.", 3, "TUPLE2", "above the latest MARK", false},
		{"STOP above a mark", "N(.", 2, "STOP", "above the latest MARK", false},
		{"PUT on nothing", "q\x00.", 0, "BINPUT", "than the stack has", false},
		{"PUT of a mark", "N(\x94.", 2, "MEMOIZE", "above the latest MARK", false},
		{"TUPLE without a mark", "NNt.", 2, "TUPLE", "there is no MARK", false},
		{"POP_MARK without a mark", "N1.", 1, "POP_MARK", "there is no MARK", false},
		{"APPENDS without a mark", "]Ne.", 2, "APPENDS", "there is no MARK", false},
		{"APPENDS to nothing", "(Ne.", 2, "APPENDS", "than the stack has", false},
		{"SETITEMS without a mark", "}NNu.", 3, "SETITEMS", "there is no MARK", false},
		{"ADDITEMS without a mark", "\x8fN\x90.", 2, "ADDITEMS", "there is no MARK", false},
		{"SETITEM of one value", "}Ns.", 2, "SETITEM", "than the stack has", false},
		{"INST without a mark", "im\nC\n.", 0, "INST", "there is no MARK", false},
		{"OBJ without a mark", "No.", 1, "OBJ", "there is no MARK", false},
		{"memo entry missing", "h\x07.", 0, "BINGET", "memo entry 7 does not exist", false},
		{"memo entry missing, far", "]q\x00j\xff\xff\xff\xff.", 3, "LONG_BINGET", "memo entry 4294967295 does not exist", false},
		{"memo entry missing, between", "]q\x00]q\x02h\x01.", 6, "BINGET", "memo entry 1 does not exist", false},

		{"append to a dict", "}Na.", 2, "APPEND", "cannot append to a dict", false},
		{"append to None", "NNa.", 2, "APPEND", "cannot append to None", false},
		{"set on a list", "]NNs.", 3, "SETITEM", "cannot set items of a list", false},
		{"add to a frozenset", "(\x91(N\x90.", 4, "ADDITEMS", "cannot add to a frozenset", false},
		{"a key without a value", "}(NNNu.", 5, "SETITEMS", "a key has no value", false},
		{"a key of a call without a value", "cm\nC\n)R(Nu.", 9, "SETITEMS", "a key has no value", false},
		{"a key without a value in DICT", "(Nd.", 2, "DICT", "a key has no value", false},
		{"a list as key", "}]Ns.", 3, "SETITEM", "a list cannot be a key", false},
		{"a list in a tuple as key", "}]\x85Ns.", 4, "SETITEM", "a list cannot be a key", false},
		{"a dict in a set", "\x8f(}\x90.", 3, "ADDITEMS", "a dict cannot be a key", false},
		{"a bytearray in a frozenset", "(\x96\x00\x00\x00\x00\x00\x00\x00\x00\x91.", 10, "FROZENSET", "a bytearray cannot be a key", false},

		{"call of a text", "\x8c\x01a)R.", 4, "REDUCE", "a str cannot be called", false},
		{"call of a tuple", "))R.", 2, "REDUCE", "a tuple cannot be called", false},
		{"call with a list", "cm\nC\n]R.", 6, "REDUCE", "the arguments are a list, not a tuple", false},
		{"new of None", "N)\x81.", 2, "NEWOBJ", "None cannot be called", false},
		{"new with None", "cm\nC\nN\x81.", 6, "NEWOBJ", "the arguments are None,", false},
		{"new with keywords in a tuple", "cm\nC\n))\x92.", 7, "NEWOBJ_EX", "the keyword arguments are a tuple", false},
		{"state for a text", "\x8c\x01a}b.", 4, "BUILD", "a str has no state", false},
		{"state for a big integer", "\x8a\x09\x00\x00\x00\x00\x00\x00\x00\x80\x00}b.", 12, "BUILD", "a big int has no state", false},
		{"a name that is a number", "\x8c\x01mK\x01\x93.", 5, "STACK_GLOBAL", "a name is an int, not a short str", false},
		{"a name that is long", "X\x00\x04\x00\x00" + k + "\x8c\x01m\x93.", 1032, "STACK_GLOBAL", "a name is a long str", false},
		{"extension 0", "\x82\x00.", 0, "EXT1", "code 0 is not positive", false},
		{"extension -1", "\x84\xff\xff\xff\xff.", 0, "EXT4", "code -1 is not positive", false},
		{"OBJ of no class", "(o.", 1, "OBJ", "there is no class", false},
		{"OBJ of a number", "(K\x01o.", 3, "OBJ", "an int is no class", false},
	} {
		// The same at an offset, so that positions are seen to be absolute.
		const off = 10
		in := strings.Repeat("x", off) + c.in
		_, err := Read(strings.NewReader(in), off, int64(len(in)))
		e, ok := errors.AsType[*SyntaxError](err)
		if !ok {
			t.Errorf("%s: %v", c.why, err)
			continue
		}
		pos, msg := e.Pos-off, e.Msg
		if strings.Contains(msg, "at byte") {
			msg = shiftAtByte(msg, off)
		}
		if pos != c.pos || e.Op != c.op || !strings.Contains(msg, c.msg) || errors.Is(err, io.ErrUnexpectedEOF) != c.early {
			t.Errorf("%s: got %v (at %d, early %v)\nwant byte %d: %s: … %s", c.why, err, pos, errors.Is(err, io.ErrUnexpectedEOF), c.pos, c.op, c.msg)
		}
	}
}

func shiftAtByte(msg string, off int) string {
	head, n, _ := strings.Cut(msg, "at byte ")
	v := 0
	for _, c := range n {
		v = v*10 + int(c-'0')
	}
	return head + "at byte " + string(rune('0'+v-off))
}

func TestReadOutsideInput(t *testing.T) {
	for _, c := range []struct{ off, size int64 }{{-1, 10}, {11, 10}, {5, -1}} {
		_, err := Read(strings.NewReader("N........."), c.off, c.size)
		if _, ok := errors.AsType[*SyntaxError](err); !ok {
			t.Errorf("from %d of %d: %v", c.off, c.size, err)
		}
	}
}

// failAt is an input whose reads fail from an offset on.
type failAt struct {
	in  string
	off int64
	err error
}

func (f failAt) ReadAt(p []byte, off int64) (int, error) {
	if end := off + int64(len(p)); end > f.off {
		n, _ := strings.NewReader(f.in[:f.off]).ReadAt(p, off)
		return n, f.err
	}
	return strings.NewReader(f.in).ReadAt(p, off)
}

// An input that cannot be read is not called a bad pickle.
func TestReadIOErrors(t *testing.T) {
	in := "(" + strings.Repeat("X\x10\x27\x00\x00"+strings.Repeat("a", 10_000), 20) + strings.Repeat("V"+k+"\n", 20) + "t."
	for _, off := range []int64{0, 1, 4096, 100_000, int64(len(in)) - 1} {
		_, err := Read(failAt{in, off, iotest.ErrTimeout}, 0, int64(len(in)))
		if _, ok := errors.AsType[*SyntaxError](err); ok || !errors.Is(err, iotest.ErrTimeout) {
			t.Errorf("reads fail at %d: %v", off, err)
		}
	}
	// An input that is shorter than its size says is truncated.
	_, err := Read(strings.NewReader("NN"), 0, 100)
	if _, ok := errors.AsType[*SyntaxError](err); !ok || !errors.Is(err, io.ErrUnexpectedEOF) {
		t.Errorf("an input of 2 bytes that says 100: %v", err)
	}
	_, err = Read(readerAtFunc(func(p []byte, off int64) (int, error) { return 0, nil }), 0, 100)
	if !errors.Is(err, io.ErrNoProgress) {
		t.Errorf("an input that gives nothing: %v", err)
	}
	_, err = Read(readerAtFunc(func(p []byte, off int64) (int, error) { return len(p) + 1, nil }), 0, 100)
	if err == nil {
		t.Error("an input that gives more than there is room for was believed")
	}
	// io.EOF beside the last byte is no error.
	_, err = Read(readerAtFunc(func(p []byte, off int64) (int, error) { return copy(p, "N."), io.EOF }), 0, 2)
	if err != nil {
		t.Errorf("an input that ends with io.EOF at once: %v", err)
	}
}

type readerAtFunc func(p []byte, off int64) (int, error)

func (f readerAtFunc) ReadAt(p []byte, off int64) (int, error) { return f(p, off) }

// countingReader counts what is read through it.
type countingReader struct {
	r io.ReaderAt
	n int64
}

func (c *countingReader) ReadAt(p []byte, off int64) (int, error) {
	n, err := c.r.ReadAt(p, off)
	c.n += int64(n)
	return n, err
}

// A pickle of arrays opens by reading what is between them.
func TestReadIsLazy(t *testing.T) {
	var b bytes.Buffer
	b.WriteString("(")
	for range 100 {
		b.WriteString("B\x00\x00\x10\x00" + strings.Repeat("x", 1<<20))
	}
	b.WriteString("l.")
	r := &countingReader{r: bytes.NewReader(b.Bytes())}
	p, err := Read(r, 0, int64(b.Len()))
	if err != nil {
		t.Fatal(err)
	}
	if len(p.Root.Obj().Items) != 100 {
		t.Error("items are missing")
	}
	if limit := int64(101 * minWindow); r.n > limit {
		t.Errorf("%d of %d bytes were read; the limit is %d", r.n, b.Len(), limit)
	}
	for i, v := range p.Root.Obj().Items {
		if blob := v.Obj().Blob(); blob.Len != 1<<20 || blob.Off != int64(6+i*(5+1<<20)) {
			t.Errorf("item %d is at %d, %d bytes long", i, blob.Off, blob.Len)
		}
	}
}
