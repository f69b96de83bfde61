package pytree

import (
	"encoding/json"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"unicode/utf16"
	"unicode/utf8"
)

func TestPathForms(t *testing.T) {
	tests := []struct {
		reason string
		keys   []Key
		path   Path
		dotted string
		json   string // where it is not the path
	}{
		{"the root", nil, `[]`, "", ""},
		{"the contract's first example", []Key{StringKey("model"), StringKey("layers.0.weight")}, `["model","layers.0.weight"]`, "model.layers.0.weight", ""},
		{"the contract's second example", []Key{StringKey("clients"), IntKey(0), StringKey("epoch")}, `["clients",0,"epoch"]`, "clients.0.epoch", ""},
		{"an empty key is a key", []Key{StringKey("")}, `[""]`, "", ""},
		{"two empty keys", []Key{StringKey(""), StringKey("")}, `["",""]`, ".", ""},
		{"the extremes of an integer", []Key{IntKey(math.MinInt64), IntKey(math.MaxInt64)}, `[-9223372036854775808,9223372036854775807]`, "-9223372036854775808.9223372036854775807", ""},
		{"a digit string is not an integer", []Key{StringKey("0")}, `["0"]`, "0", ""},
		{"list syntax inside a key", []Key{StringKey(`a,b]["`)}, `["a,b][\""]`, `a,b]["`, ""},
		{"a backslash", []Key{StringKey(`\`), StringKey(`\n`)}, `["\\","\\n"]`, `\.\n`, ""},
		{"controls", []Key{StringKey("\x00\t\n\r\x1b\x7f")}, `["\u0000\t\n\r\u001b` + "\x7f" + `"]`, "\x00\t\n\r\x1b\x7f", ""},
		{"text beyond ASCII is written as it is", []Key{StringKey("é\u2028😀\uFFFD")}, Path(`["é` + "\u2028" + `😀` + "\uFFFD" + `"]`), "é\u2028😀\uFFFD", ""},
		{"a lone surrogate can only be escaped", []Key{StringKey("a\xed\xa0\x80b"), StringKey("\xed\xbf\xbf")}, `["a\ud800b","\udfff"]`, "a\xed\xa0\x80b.\xed\xbf\xbf", ""},
		{"the halves of a pair in the wrong order are both lone", []Key{StringKey("\xed\xb8\x80\xed\xa0\xbd")}, `["\ude00\ud83d"]`, "\xed\xb8\x80\xed\xa0\xbd", ""},
		{"HTML is not JSON's concern", []Key{StringKey("<&>/'")}, `["<&>/'"]`, "<&>/'", ""},
		{"a tilde in a string", []Key{StringKey("~"), StringKey("~x")}, `["~","~x"]`, "~.~x", ""},
		{"a tuple as key", []Key{OtherKey(`(1, "a")`), IntKey(3)}, `[~"(1, \"a\")",3]`, `(1, "a").3`, `["(1, \"a\")",3]`},
		{"the same text as string and as other key", []Key{StringKey("None"), OtherKey("None")}, `["None",~"None"]`, "None.None", `["None","None"]`},
		{"bytes that are no text", []Key{StringKey("a\xffb"), StringKey("\xfe")}, `[~"\"a\\xffb\"",~"\"\\xfe\""]`, `"a\xffb"."\xfe"`, `["\"a\\xffb\"","\"\\xfe\""]`},
		{"and the text that spells them", []Key{StringKey(`"a\xffb"`)}, `["\"a\\xffb\""]`, `"a\xffb"`, ""},
		{"a pair in halves is not the character", []Key{StringKey("\xed\xa0\xbd\xed\xb8\x80")}, `[~"\"\\ud83d\\ude00\""]`, `"\ud83d\ude00"`, `["\"\\ud83d\\ude00\""]`},
	}
	for _, tt := range tests {
		p := MakePath(tt.keys...)
		if p != tt.path {
			t.Errorf("%s: path %s, want %s", tt.reason, p, tt.path)
		}
		if got := p.Dotted(); got != tt.dotted {
			t.Errorf("%s: dotted %q, want %q", tt.reason, got, tt.dotted)
		}
		want := tt.json
		if want == "" {
			want = string(tt.path)
		}
		if got := p.JSON(); got != want {
			t.Errorf("%s: JSON %s, want %s", tt.reason, got, want)
		}
		if got := p.Keys(); !slices.Equal(got, tt.keys) {
			t.Errorf("%s: keys %v, want %v", tt.reason, got, tt.keys)
		}
	}
}

// TestKeysApart has keys that an escape without care would make one.
func TestKeysApart(t *testing.T) {
	seen := make(map[Path]Key)
	for _, k := range []Key{
		StringKey("\xff\xff"), StringKey("\xff\\xff"), StringKey("\xff"), StringKey(`\xff`), StringKey("\uFFFD"), StringKey("\xfe"),
		OtherKey("\xff\xff"), OtherKey(`\xff`), OtherKey("\uFFFD"), OtherKey("None"), StringKey("None"), StringKey(`~"None"`),
		StringKey("0"), IntKey(0), OtherKey("0"), StringKey("\xed\xa0\xbd\xed\xb8\x80"), StringKey("😀"), StringKey(`\ud83d\ude00`),
	} {
		p := MakePath(k)
		// A text that is none gives the same key, whoever makes it.
		if was, ok := seen[p]; ok && was != k || ok && k.Addressable() {
			t.Errorf("%s stands for %q and for %q", p, was, k)
		}
		seen[p] = k
	}
	if len(seen) != 17 {
		t.Errorf("%d paths, want 17", len(seen))
	}
}

// hostileTexts are pieces that a wrong scanner of paths trips over.
var hostileTexts = []string{
	"", ".", "a", "0", "-1", `"`, `\`, `\"`, `\u0041`, `\ud800`, ",", "[", "]", "~", `~"`, "],[", "\n", "\r", "\t", "\b", "\f", "\x00", "\x1f", "\x7f",
	"é", "😀", "\uFFFD", "\u2028", "\u202e", "\xed\xa0\xbd", "\xed\xb8\x80", "\xed\xa0\x80", "\xed\xbf\xbf", "/", "<", "'", " ",
}

// notText are pieces that no text has.
var notText = []string{"\xff", "\x80", "\xc0\x80", "\xed\xa0", "\xed\xa0\xbd\xed\xb8\x80", "\xf4\x90\x80\x80", "\xed"}

func hostileText(rng *rand.Rand) string {
	var b strings.Builder
	for range rng.IntN(5) {
		b.WriteString(hostileTexts[rng.IntN(len(hostileTexts))])
	}
	if rng.IntN(20) == 0 {
		b.WriteString(notText[rng.IntN(len(notText))])
	}
	return b.String()
}

func hostileKey(rng *rand.Rand) Key {
	switch rng.IntN(6) {
	case 0:
		return IntKey(rng.Int64N(12) - 2)
	case 1:
		return IntKey(int64(rng.Uint64()))
	case 2:
		return OtherKey(hostileText(rng))
	}
	return StringKey(hostileText(rng))
}

// TestPathProperties holds for any keys whatever.
func TestPathProperties(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	seen := make(map[Path][]Key)
	for range 50_000 {
		keys := make([]Key, rng.IntN(5))
		p := Root
		for i := range keys {
			keys[i] = hostileKey(rng)
			p = p.Child(keys[i])
		}
		if got := MakePath(keys...); got != p {
			t.Fatalf("%v: MakePath gives %s, Child %s", keys, got, p)
		}
		if got := p.Keys(); !slices.Equal(got, keys) {
			t.Fatalf("%s: keys %q, want %q", p, got, keys)
		}
		if was, ok := seen[p]; ok && !slices.Equal(was, keys) {
			t.Fatalf("%s stands for %q and for %q", p, was, keys)
		}
		seen[p] = keys
		if !utf8.ValidString(string(p)) {
			t.Fatalf("%q is not UTF-8", string(p))
		}
		checkForms(t, p, keys)
	}
}

func checkForms(t *testing.T, p Path, keys []Key) {
	t.Helper()
	texts := make([]string, len(keys))
	addressable := true
	for i, k := range keys {
		texts[i] = k.String()
		addressable = addressable && k.Addressable()
	}
	if got, want := p.Dotted(), strings.Join(texts, "."); got != want {
		t.Fatalf("%s: dotted %q, want %q", p, got, want)
	}
	if got := p.Addressable(); got != addressable {
		t.Fatalf("%s: addressable %v, want %v", p, got, addressable)
	}
	var list []any
	if err := json.Unmarshal([]byte(p.JSON()), &list); err != nil || len(list) != len(keys) {
		t.Fatalf("%s: JSON() is %s: %v", p, p.JSON(), err)
	}
	for i, v := range list {
		if s, ok := v.(string); ok && s != jsonText(texts[i]) {
			t.Fatalf("%s: JSON() reads as %q at %d, want %q", p, s, i, texts[i])
		}
	}
	if !addressable {
		if got, err := ParsePath(string(p)); err == nil {
			t.Fatalf("%s can be written in a rule, and reads as %s", p, got)
		}
		return
	}
	for _, text := range []string{string(p), p.JSON(), spaced(keys), escaped(keys)} {
		if got, err := ParsePath(text); err != nil || got != p {
			t.Fatalf("%s reads as %s, want %s (%v)", text, got, p, err)
		}
	}
}

// jsonText is what a JSON reader without surrogates makes of s.
func jsonText(s string) string {
	var b strings.Builder
	for len(s) > 0 {
		if _, ok := surrogate(s); ok {
			b.WriteString("\uFFFD")
			s = s[3:]
			continue
		}
		r, n := utf8.DecodeRuneInString(s)
		b.WriteRune(r)
		s = s[n:]
	}
	return b.String()
}

// spaced is the exact form with all the space that JSON allows.
func spaced(keys []Key) string {
	var parts []string
	for _, k := range keys {
		parts = append(parts, strings.TrimSuffix(string(MakePath(k)[1:]), "]"))
	}
	return " \n[\t" + strings.Join(parts, "\r\n , ") + " ]\n"
}

// escaped is the exact form with every character escaped.
func escaped(keys []Key) string {
	var parts []string
	for _, k := range keys {
		s, ok := k.IsString()
		if !ok {
			parts = append(parts, k.String())
			continue
		}
		var b strings.Builder
		for len(s) > 0 {
			if sur, ok := surrogate(s); ok {
				fmt.Fprintf(&b, `\u%04X`, sur)
				s = s[3:]
				continue
			}
			r, n := utf8.DecodeRuneInString(s)
			for _, u := range utf16.Encode([]rune{r}) {
				fmt.Fprintf(&b, `\u%04X`, u)
			}
			s = s[n:]
		}
		parts = append(parts, `"`+b.String()+`"`)
	}
	return "[" + strings.Join(parts, ",") + "]"
}

func TestParsePath(t *testing.T) {
	good := []struct{ reason, text, path string }{
		{"canonical", `["a",0]`, `["a",0]`},
		{"JSON's short escapes", `["\b\f\n\r\t\/\\\""]`, `["\u0008\u000c\n\r\t/\\\""]`},
		{"an escaped pair is its character", `["\ud83d\ude00"]`, `["😀"]`},
		{"a pair after a lone half", `["\ud83d\ud83d\ude00"]`, `["\ud83d😀"]`},
		{"an escape that is no second half", `["\ud83d\u0041"]`, `["\ud83dA"]`},
		{"a half at the very end", `["\ud83d\\"]`, `["\ud83d\\"]`},
		{"negative zero is zero", `[-0]`, `[0]`},
		{"a tilde inside a string", `["~"]`, `["~"]`},
		{"nothing", ` [ ] `, `[]`},
	}
	for _, tt := range good {
		if p, err := ParsePath(tt.text); err != nil || string(p) != tt.path {
			t.Errorf("%s: %s reads as %s, want %s (%v)", tt.reason, tt.text, p, tt.path, err)
		}
	}
	bad := []struct{ reason, text, want string }{
		{"nothing", ``, "not a JSON list"},
		{"null is no list, though a decoder takes it for one", `null`, "not a JSON list"},
		{"an object", `{"a":1}`, "not a JSON list"},
		{"a dotted path", `a.b`, "not a JSON list"},
		{"no end", `["a"`, "not a JSON list"},
		{"a bracket too many", `["a"]]`, "not a JSON list"},
		{"a brace after the list", `["a"]}`, "not a JSON list"},
		{"two lists", `["a"]["b"]`, "not a JSON list"},
		{"a comma at the end", `["a",]`, "not a JSON list"},
		{"a key that cannot be addressed", `[~"None"]`, "not a JSON list"},
		{"a control character", "[\"a\nb\"]", "not a JSON list"},
		{"bytes that are no text", "[\"\xff\"]", "not UTF-8"},
		{"a raw surrogate", "[\"\xed\xa0\x80\"]", "not UTF-8"},
		{"a fraction", `["a",1.0]`, "key 1: \"1.0\" is not a 64-bit integer"},
		{"an exponent", `[1e2]`, "key 0"},
		{"beyond 64 bits", `[9223372036854775808]`, "key 0"},
		{"null as key", `[null]`, "key 0: \"null\" is neither a string nor an integer"},
		{"a bool", `[true]`, "key 0"},
		{"a list in the list", `[["a"]]`, "key 0"},
		{"an object in the list", `["a",{}]`, "key 1"},
		{"nesting without end", strings.Repeat("[", 100_000), "not a JSON list"},
	}
	for _, tt := range bad {
		p, err := ParsePath(tt.text)
		if err == nil || !strings.Contains(err.Error(), tt.want) {
			t.Errorf("%s: %.40q gives %s and error %v, want %q", tt.reason, tt.text, p, err, tt.want)
		} else if len(err.Error()) > 1500 {
			t.Errorf("%s: the message takes %d bytes", tt.reason, len(err.Error()))
		}
	}
}

// TestParsePathLinear ends only if the time does not grow with the square.
func TestParsePathLinear(t *testing.T) {
	const n = 300_000
	p, err := ParsePath("[" + strings.Repeat(`"k",`, n) + `1]`)
	if err != nil {
		t.Fatal(err)
	}
	if got := len(p.Keys()); got != n+1 {
		t.Fatalf("%d keys, want %d", got, n+1)
	}
}

// TestPathTotal gives the methods what no path is: they may answer anything.
func TestPathTotal(t *testing.T) {
	for _, text := range []string{"", "[", "]", "~", "[~", "[~]", "[]x", "[]]]", "[,,", `["`, `["\`, `["\u`, `["\u12`, `["\ud800\u`, "[1", "[x]", `["a"`, `["a"~]`, "[1 2]"} {
		p := Path(text)
		p.Keys()
		p.Dotted()
		p.JSON()
		p.Addressable()
		p.Child(StringKey("a")).Keys()
	}
	if got := Path("").Child(StringKey("a")); got != `["a"]` {
		t.Errorf("a child of the zero path is %s", got)
	}
}

func FuzzParsePath(f *testing.F) {
	for _, s := range []string{`[]`, `["a",0]`, `["\ud800","\ud83d\ude00"]`, `[ -0 ]`, `null`, `["a"]]`, `[~"x"]`, "[\"\xff\"]", `["\/\b"]`} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, text string) {
		garbage := Path(text)
		garbage.Keys()
		garbage.Dotted()
		garbage.JSON()
		garbage.Addressable()
		p, err := ParsePath(text)
		if err != nil {
			return
		}
		keys := p.Keys()
		if again := MakePath(keys...); again != p {
			t.Fatalf("%q reads as %s, whose keys make %s", text, p, again)
		}
		checkForms(t, p, keys)
		var list []any
		if err := json.Unmarshal([]byte(text), &list); err != nil || len(list) != len(keys) {
			t.Fatalf("%q reads as %s, but JSON says %v, %v", text, p, list, err)
		}
		for i, v := range list {
			if s, ok := v.(string); ok && s != jsonText(keys[i].String()) {
				t.Fatalf("%q: key %d is %q, but JSON says %q", text, i, keys[i], s)
			}
		}
	})
}

func FuzzKeys(f *testing.F) {
	for i, s := range append(slices.Clone(hostileTexts), notText...) {
		f.Add(s, hostileTexts[i%7], int64(i))
	}
	f.Fuzz(func(t *testing.T, a, b string, n int64) {
		keys := []Key{StringKey(a), IntKey(n), OtherKey(b), StringKey(b)}
		p := MakePath(keys...)
		if got := p.Keys(); !slices.Equal(got, keys) {
			t.Fatalf("%s: keys %q, want %q", p, got, keys)
		}
		checkForms(t, p, keys)
		if (MakePath(StringKey(a)) == MakePath(StringKey(b))) != (a == b) {
			t.Fatalf("%q and %q: paths %s and %s", a, b, MakePath(StringKey(a)), MakePath(StringKey(b)))
		}
		if s, ok := StringKey(a).IsString(); ok && s != a {
			t.Fatalf("%q became %q", a, s)
		}
	})
}
