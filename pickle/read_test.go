package pickle

import (
	"errors"
	"io"
	"strings"
	"testing"
)

func readString(s string) (*Pickle, error) {
	return Read(strings.NewReader(s), 0, int64(len(s)))
}

var k = strings.Repeat("k", LongFrom)

// Each case is what the opcodes mean, not what a pickler writes.
var opcodeCases = []struct{ why, in, want string }{
	{"constants", "(N\x88\x89t.", "(None true false)"},
	{"integers by width", "(K\xffM\xff\xffJ\xff\xff\xff\xffJ\x00\x00\x00\x80t.", "(255 65535 -1 -2147483648)"},
	{"INT has bools of two digits only", "(I00\nI01\nI0\nI1\nI-12\nI001\nt.", "(false true 0 1 -12 1)"},
	{"INT beyond 64 bits", "I18446744073709551616\n.", "18446744073709551616L"},
	{"LONG with and without L", "(L12L\nL-7\nL-9223372036854775808L\nt.", "(12 -7 -9223372036854775808)"},
	{"LONG1 is two's complement", "(\x8a\x00\x8a\x01\xff\x8a\x02\xff\x00\x8a\x08\x00\x00\x00\x00\x00\x00\x00\x80t.", "(0 -1 255 -9223372036854775808)"},
	{"LONG1 beyond 64 bits", "\x8a\x09\x00\x00\x00\x00\x00\x00\x00\x80\x00.", "9223372036854775808L"},
	{"LONG1 negative beyond 64 bits", "\x8a\x09\x00\x00\x00\x00\x00\x00\x00\x00\xff.", "-18446744073709551616L"},
	{"LONG1 of needless length", "\x8a\x0a\x05\x00\x00\x00\x00\x00\x00\x00\x00\x00.", "5"},
	{"LONG4", "\x8b\x03\x00\x00\x00\x01\x02\x03.", "197121"},
	{"FLOAT as Python prints it", "(F1.5\nF-0.0\nF1e+300\nFinf\nF-inf\nFnan\nF1e-400\nt.", "(1.5f -0f 1e+300f +Inff -Inff NaNf 0f)"},
	{"BINFLOAT is big-endian", "G\x3f\xf8\x00\x00\x00\x00\x00\x00.", "1.5f"},
	{"texts by length of length", "(\x8c\x01aX\x01\x00\x00\x00b\x8d\x01\x00\x00\x00\x00\x00\x00\x00ct.", `("a" "b" "c")`},
	{"bytes by length of length", "(C\x01aB\x01\x00\x00\x00b\x8e\x01\x00\x00\x00\x00\x00\x00\x00ct.", `(b"a" b"b" b"c")`},
	{"Python 2 strings", "(U\x02\xff\x00T\x01\x00\x00\x00at.", `(r"\xff\x00" r"a")`},
	{"empty texts", "(\x8c\x00C\x00U\x00V\nS''\nt.", `("" b"" r"" "" r"")`},
	{"surrogates stay", "X\x03\x00\x00\x00\xed\xa0\x80.", `"\xed\xa0\x80"`},
	{"STRING escapes", `S'a\n\t\\\'\x41\101\0\q"'` + "\n.", `r"a\n\t\\'AA\x00\\q\""`},
	{"STRING in double quotes", "S\"it's\"\n.", `r"it's"`},
	{"octal beyond a byte wraps", `S'\777'` + "\n.", `r"\xff"`},
	{"an octal escape ends at three digits", `S'\1234'` + "\n.", `r"S4"`},
	{"UNICODE is Latin-1", "V\xe9t\xe9\n.", `"été"`},
	{"UNICODE escapes", `V\u20ac\U0001f600\n\\u0041\\\u0041` + "\n.", `"€😀\\n\\\\u0041\\\\A"`},
	{"UNICODE ends in a backslash", "Va\\\n.", `"a\\"`},
	{"UNICODE surrogates are not joined", `V\ud83d\ude00` + "\n.", `"\xed\xa0\xbd\xed\xb8\x80"`},
	{"long text stays in the input", "X\x00\x04\x00\x00" + k + ".", `long"kkkkkkkkkkkkkkkkkkkk"+1024`},
	{"long bytes stay in the input", "B\x00\x04\x00\x00" + k + ".", `longb"kkkkkkkkkkkkkkkkkkkk"+1024`},
	{"long Python 2 string", "T\x00\x04\x00\x00" + k + ".", `longr"kkkkkkkkkkkkkkkkkkkk"+1024`},
	{"long STRING", "S'\\x41" + k + "'\n.", `longr"Akkkkkkkkkkkkkkkkkkk"+1025`},
	{"long UNICODE", "V\\u0041" + k + "\n.", `long"Akkkkkkkkkkkkkkkkkkk"+1025`},
	{"bytearray", "\x96\x01\x00\x00\x00\x00\x00\x00\x00a.", `bytearray(b"a")`},
	{"long bytearray", "\x96\x00\x04\x00\x00\x00\x00\x00\x00" + k + ".", `bytearray(longb"kkkkkkkkkkkkkkkkkkkk"+1024)`},

	{"tuples", "(()K\x01\x85K\x01K\x02\x86K\x01K\x02K\x03\x87(K\x04ttt.", "((() (1) (1 2) (1 2 3) (4)))"},
	{"an empty TUPLE is the one empty tuple", "()(t\x86.", "(() ())"},
	{"lists", "(lK\x01a(K\x02K\x03e.", "[1 2 3]"},
	{"LIST takes what is above the mark", "(K\x01K\x02l.", "[1 2]"},
	{"EMPTY_LIST", "](e.", "[]"},
	{"DICT and SETITEM", "(K\x01K\x02dK\x03K\x04s(K\x05K\x06u.", "{1:2 3:4 5:6}"},
	{"the last value of a key wins, in its first place", "}K\x01NsK\x02NsK\x01\x88s.", "{1:true 2:None}"},
	{"equal numbers are one key", "}(K\x01NI01\n\x88F1.0\n\x89u.", "{1:false}"},
	{"negative zero is zero", "}(K\x00NF-0.0\n\x88u.", "{0:true}"},
	{"NaN is no key twice", "}(Fnan\nNFnan\nNu.", "{NaNf:None NaNf:None}"},
	{"text is not bytes", "}(\x8c\x01aNC\x01aNu.", `{"a":None b"a":None}`},
	{"Python 2 text is text", "}(\x8c\x01aNU\x01a\x88u.", `{"a":true}`},
	{"tuples are keys by value", "}(K\x01\x85NI01\n\x85\x88u.", "{(1):true}"},
	{"sets", "\x8f(K\x01K\x02F1.0\n\x90(K\x02K\x02\x91\x86.", "(set(1 2) frozenset(2))"},
	{"a big int is the float of the same value", "}(\x8a\x09\x00\x00\x00\x00\x00\x00\x00\x80\x00NF9223372036854775808\n\x88u.", "{9223372036854775808L:true}"},

	{"memo by every opcode", "]p0\nq\x01r\x02\x00\x00\x00\x94(g0\nh\x01j\x02\x00\x00\x00h\x03t\x86.", "(#1=[] (@1 @1 @1 @1))"},
	{"MEMOIZE counts entries", "]q\x05N\x94h\x01\x86.", "(None None)"},
	{"PUT may replace", "K\x01q\x00K\x02q\x00h\x00\x87.", "(1 2 2)"},
	{"far memo index", "]r\xff\xff\xff\xffj\xff\xff\xff\xff\x86.", "(#1=[] @1)"},
	{"a list in itself", "]q\x00h\x00a.", "#1=[@1]"},
	{"POP, DUP, POP_MARK", "K\x01K\x020(K\x031]2\x87.", "(1 #1=[] @1)"},
	{"POP takes a mark", "K\x01(0.", "1"},
	{"objects below STOP's do not matter", "K\x01K\x02.", "2"},

	{"GLOBAL", "cos\nsystem\n.", "<os system>"},
	{"STACK_GLOBAL", "\x8c\x02os\x8c\x06system\x93.", "<os system>"},
	{"REDUCE", "cos\nsystem\n\x8c\x02id\x85R.", `call-result(<os system> ("id"))`},
	{"NEWOBJ", "cm\nC\n)\x81.", "new-object(<m C> ())"},
	{"NEWOBJ_EX", "cm\nC\n)}\x92.", "new-object(<m C> () {})"},
	{"INST", "(K\x01im\nC\n.", "instance(<m C> (1))"},
	{"OBJ", "(cm\nC\nK\x01o.", "instance(<m C> (1))"},
	{"BUILD twice", "cm\nC\n)\x81NbK\x01b.", "new-object(<m C> ())+state[None 1]"},
	{"what an object was given, in order", "cm\nC\n)\x81K\x01aK\x02K\x03s(K\x04\x90Nb.", "new-object(<m C> ())+list[1]+dict{2:3}+set[4]+state[None]"},
	{"items of a call keep every key", "cm\nC\n)R(K\x01NK\x01Nu.", "call-result(<m C> ())+dict{1:None 1:None}"},
	{"state of a list", "]Nb.", "[]+state[None]"},
	{"nothing added to what holds nothing", "N(e(u(\x90.", "None"},
	{"no state for a number", "K\x01Nb.", "1"},
	{"persistent ids", "(Pabc\nK\x01Qt.", `(persistent-object("abc") persistent-object(1))`},
	{"extensions", "(\x82\x01\x83\x00\x01\x84\x00\x00\x01\x00t.", "(extension(1) extension(256) extension(65536))"},
	{"buffers", "\x97\x98.", "buffer()"},
	{"frames mean nothing", "\x80\x04\x95\x02\x00\x00\x00\x00\x00\x00\x00N.", "None"},
}

func TestReadOpcodes(t *testing.T) {
	for _, c := range opcodeCases {

		p, err := readString(c.in)
		if err != nil {
			t.Errorf("%s: %q: %v", c.why, c.in, err)
			continue
		}
		if got := dump(p.Root); got != c.want {
			t.Errorf("%s: %q\n got %s\nwant %s", c.why, c.in, got, c.want)
		}
		if p.End != int64(len(c.in)) {
			t.Errorf("%s: End is %d, not %d", c.why, p.End, len(c.in))
		}
		for i := range c.in {
			_, err := readString(c.in[:i])
			if !errors.Is(err, io.ErrUnexpectedEOF) {
				t.Errorf("%s: %q: truncated, it gives %v", c.why, c.in[:i], err)
			}
		}
	}
}
