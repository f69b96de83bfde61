package pytree

import (
	"bytes"
	"encoding/json"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"unicode/utf8"
)

// stdJSON is s as encoding/json writes it, less what it escapes for the sake of
// JavaScript and of brevity.
func stdJSON(t *testing.T, s string) string {
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(s); err != nil {
		t.Fatal(err)
	}
	out := strings.TrimSuffix(b.String(), "\n")
	// A backslash is escaped itself, so an odd number of them starts an escape;
	// after doubled ones are set aside, these texts are escapes.
	out = strings.ReplaceAll(out, `\\`, "\xff")
	out = strings.NewReplacer(`\u2028`, "\u2028", `\u2029`, "\u2029", `\b`, `\u0008`, `\f`, `\u000c`).Replace(out)
	return strings.ReplaceAll(out, "\xff", `\\`)
}

func checkJSONString(t *testing.T, s string) {
	t.Helper()
	got := string(AppendJSONString(nil, s))
	var back string
	if err := json.Unmarshal([]byte(got), &back); err != nil || !utf8.ValidString(got) {
		t.Fatalf("%q becomes %q, which is not JSON: %v", s, got, err)
	}
	if utf8.ValidString(s) {
		if want := stdJSON(t, s); got != want {
			t.Fatalf("%q becomes %s, want %s", s, got, want)
		}
		if back != s {
			t.Fatalf("%q comes back as %q", s, back)
		}
	}
	if isWTF8(s) {
		if back := unescape(got[1 : len(got)-1]); back != s {
			t.Fatalf("%q comes back as %q", s, back)
		}
	}
}

func TestAppendJSONString(t *testing.T) {
	tests := []struct{ reason, in, want string }{
		{"a lone surrogate, as Python's json.dumps writes it", "\xed\xa0\x80", `"\ud800"`},
		{"a pair in halves reads as one character, in Python too", "\xed\xa0\xbd\xed\xb8\x80", `"\ud83d\ude00"`},
		{"a byte that is no text", "a\xffb", "\"a\uFFFDb\""},
		{"the start of a surrogate", "\xed\xa0", "\"\uFFFD\uFFFD\""},
		{"a true U+FFFD", "\uFFFD", "\"\uFFFD\""},
		{"delete is no control in JSON", "\x7f", "\"\x7f\""},
	}
	for _, tt := range tests {
		if got := string(AppendJSONString([]byte("x"), tt.in)); got != "x"+tt.want {
			t.Errorf("%s: %q, want %q", tt.reason, got, tt.want)
		}
	}
	for r := rune(0); r < 0x300; r++ {
		checkJSONString(t, string(r))
	}
	rng := rand.New(rand.NewPCG(3, 4))
	for range 20_000 {
		checkJSONString(t, hostileText(rng))
	}
}

func FuzzJSONString(f *testing.F) {
	for _, s := range append(slices.Clone(hostileTexts), notText...) {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		checkJSONString(t, s)
		checkPrintable(t, s)
	})
}

func TestWTF8(t *testing.T) {
	tests := []struct {
		reason, s string
		want      bool
	}{
		{"text", "aé😀", true},
		{"a first half alone", "\xed\xa0\x80", true},
		{"a second half alone", "\xed\xbf\xbf", true},
		{"two first halves", "\xed\xa0\x80\xed\xa0\x80", true},
		{"second, then first", "\xed\xb0\x80\xed\xa0\x80", true},
		{"halves apart", "\xed\xa0\x80 \xed\xb0\x80", true},
		{"a pair in halves", "\xed\xa0\x80\xed\xb0\x80", false},
		{"a pair after a half", "\xed\xa0\x80\xed\xa0\x80\xed\xb0\x80", false},
		{"an overlong NUL", "\xc0\x80", false},
		{"beyond Unicode", "\xf4\x90\x80\x80", false},
		{"cut off", "\xed\xa0", false},
		{"a half with a wrong tail", "\xed\xa0A", false},
	}
	for _, tt := range tests {
		if got := isWTF8(tt.s); got != tt.want {
			t.Errorf("%s: %v, want %v", tt.reason, got, tt.want)
		}
	}
	for r := rune(0xD800); r <= 0xDFFF; r++ {
		s := string(appendWTF8(nil, r))
		if got, ok := surrogate(s); !ok || got != r || len(s) != 3 {
			t.Fatalf("U+%04X is encoded as %q", r, s)
		}
	}
}

func checkPrintable(t *testing.T, s string) {
	t.Helper()
	p := Printable(s)
	if !utf8.ValidString(p) {
		t.Fatalf("%q is printed as %q, which is not UTF-8", s, p)
	}
	clean := utf8.ValidString(s)
	for _, r := range p {
		if !shown(r) {
			t.Fatalf("%q is printed with %U", s, r)
		}
	}
	for _, r := range s {
		clean = clean && shown(r)
	}
	if clean && p != s {
		t.Fatalf("%q needs no escape and is printed as %q", s, p)
	}
	if Printable(p) != p {
		t.Fatalf("%q is printed as %q, and that as %q", s, p, Printable(p))
	}
}

func TestPrintable(t *testing.T) {
	tests := []struct{ reason, in, want string }{
		{"plain text", "model.layers.0 é 漢 😀", "model.layers.0 é 漢 😀"},
		{"an escape sequence", "\x1b[31mred", `\x1b[31mred`},
		{"lines and tabs", "a\nb\rc\td", `a\nb\rc\td`},
		{"other controls", "\x00\x7f\u0085", `\x00\x7f\u0085`},
		{"a right-to-left override", "a\u202eb", `a\u202eb`},
		{"isolates", "\u2066x\u2069", `\u2066x\u2069`},
		{"a zero-width space and joiner", "a\u200bb\u200dc", `a\u200bb\u200dc`},
		{"a no-break space looks like a space", "a\u00a0b", `a\u00a0b`},
		{"a soft hyphen", "a\u00adb", `a\u00adb`},
		{"fillers, which are letters to Unicode", "\u115f\u3164\uffa0", `\u115f\u3164\uffa0`},
		{"an invisible joiner, a mark", "a\u034fb", `a\u034fb`},
		{"variation selectors", "a\ufe0f\U000e0100", `a\ufe0f\U000e0100`},
		{"a blank of Braille", "\u2800", `\u2800`},
		{"tags", "\U000e0041", `\U000e0041`},
		{"private use", "\ue000", `\ue000`},
		{"line separators", "\u2028\u2029", `\u2028\u2029`},
		{"a byte that is no text", "a\xffb", `a\xffb`},
		{"a true U+FFFD", "\uFFFD", "\uFFFD"},
		{"a lone surrogate", "\xed\xa0\x80", `\ud800`},
		{"a backslash stays", `a\x00`, `a\x00`},
	}
	for _, tt := range tests {
		if got := Printable(tt.in); got != tt.want {
			t.Errorf("%s: %q, want %q", tt.reason, got, tt.want)
		}
		checkPrintable(t, tt.in)
	}
}

func TestNaturalOrder(t *testing.T) {
	sorted := []string{
		"", "-1", "0", "1", "2", "10", "a", "h", "h.", "h.0", "h.2", "h.2.a", "h.10", "h.10.a",
		"h.9999999999999999999999", "h.10000000000000000000000", "h.x", "h2", "h2a10", "h2a10b", "h10", "h10a2", "é",
	}
	for i, a := range sorted {
		for j, b := range sorted {
			if got, want := sign(NaturalCompare(a, b)), sign(i-j); got != want {
				t.Errorf("%q to %q: %d, want %d", a, b, got, want)
			}
			if NaturalLess(a, b) != (NaturalCompare(a, b) < 0) {
				t.Errorf("%q to %q: less and compare disagree", a, b)
			}
		}
	}
	if NaturalCompare("h.007.b", "h.7.a") <= 0 || NaturalCompare("h.07", "h.7") == 0 {
		t.Error("leading zeros count only where all else is equal")
	}
}

func sign(n int) int { return max(-1, min(1, n)) }

// TestNaturalOrderTotal checks the laws of a total order on many names that are
// much alike.
func TestNaturalOrderTotal(t *testing.T) {
	rng := rand.New(rand.NewPCG(5, 6))
	const alphabet = "0012a./\xff"
	name := func() string {
		b := make([]byte, rng.IntN(7))
		for i := range b {
			b[i] = alphabet[rng.IntN(len(alphabet))]
		}
		return string(b)
	}
	for range 300_000 {
		a, b, c := name(), name(), name()
		ab, bc, ac := NaturalCompare(a, b), NaturalCompare(b, c), NaturalCompare(a, c)
		if sign(ab) != -sign(NaturalCompare(b, a)) {
			t.Fatalf("%q, %q: not antisymmetric", a, b)
		}
		if (ab == 0) != (a == b) {
			t.Fatalf("%q, %q: equal, but not the same", a, b)
		}
		if ab <= 0 && bc <= 0 && ac > 0 {
			t.Fatalf("%q <= %q <= %q, but not %q <= %q", a, b, c, a, c)
		}
	}
}
