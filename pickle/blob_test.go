package pickle

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"strings"
	"testing"
	"testing/iotest"
	"unicode/utf8"
)

func blobOf(enc Encoding, s string) *Blob {
	return &Blob{R: strings.NewReader("12345" + s + "after"), Off: 5, Len: int64(len(s)), Encoding: enc}
}

// latin1 reads s as Latin-1, slowly.
func latin1(s string) string {
	var b strings.Builder
	for _, c := range []byte(s) {
		b.WriteRune(rune(c))
	}
	return b.String()
}

// randomText is n characters up to max, with runs of ASCII between.
func randomText(rng *rand.Rand, n int, max rune) string {
	var b strings.Builder
	for b.Len() < n {
		if rng.IntN(4) == 0 {
			b.WriteString(strings.Repeat("a", rng.IntN(40)))
		}
		r := rune(rng.Int32N(max + 1))
		if 0xd800 <= r && r < 0xe000 {
			r = 'x'
		}
		b.WriteRune(r)
	}
	return b.String()
}

func TestBlobReaders(t *testing.T) {
	rng := rand.New(rand.NewPCG(9, 10))
	raw := make([]byte, 300_000)
	for i := range raw {
		raw[i] = byte(rng.Uint32())
	}
	wide := randomText(rng, 300_000, 0x10ffff)
	escapes := func(s string, code func(r rune) string) string {
		var b strings.Builder
		for _, r := range s {
			b.WriteString(code(r))
		}
		return b.String()
	}
	rawUnicode := escapes(wide, func(r rune) string {
		switch {
		case r > 0xffff:
			return fmt.Sprintf(`\U%08x`, r)
		case r > 0xff || r == '\\' || r == '\n':
			return fmt.Sprintf(`\u%04X`, r)
		}
		return string([]byte{byte(r)})
	})
	var stringEscape strings.Builder
	for i, c := range raw {
		switch {
		case c == '\\' || c == '\'' || c == '\n':
			stringEscape.WriteString(map[byte]string{'\\': `\\`, '\'': `\'`, '\n': `\n`}[c])
		case i%3 == 0:
			fmt.Fprintf(&stringEscape, `\x%02x`, c)
		case i%3 == 1:
			fmt.Fprintf(&stringEscape, `\%03o`, c)
		default:
			stringEscape.WriteByte(c)
		}
	}
	for _, c := range []struct {
		why  string
		open io.ReadCloser
		want string
	}{
		{"raw", blobOf(Plain, string(raw)).OpenRaw(), string(raw)},
		{"bytes", blobOf(Plain, string(raw)).OpenBytes(), string(raw)},
		{"text", blobOf(Plain, wide).OpenUTF8(), wide},
		{"text with surrogates", blobOf(Plain, wide+"\xed\xa0\x80\xed\xbf\xbf"+wide).OpenUTF8(), wide + "\xed\xa0\x80\xed\xbf\xbf" + wide},
		{"Latin-1 of a text", blobOf(Plain, latin1(string(raw))).OpenLatin1(), string(raw)},
		{"Latin-1 of ASCII", blobOf(Plain, strings.Repeat("ascii", 50_000)).OpenLatin1(), strings.Repeat("ascii", 50_000)},
		{"escaped text", blobOf(RawUnicodeEscape, rawUnicode).OpenUTF8(), wide},
		{"escaped text as bytes", blobOf(RawUnicodeEscape, rawUnicode).OpenBytes(), wide},
		{"escaped text, raw", blobOf(RawUnicodeEscape, rawUnicode).OpenRaw(), rawUnicode},
		{"Latin-1 of an escaped text", blobOf(RawUnicodeEscape, strings.ReplaceAll(string(raw), `\`, `\u005c`)).OpenLatin1(), string(raw)},
		{"escaped bytes", blobOf(StringEscape, stringEscape.String()).OpenBytes(), string(raw)},
		{"escaped bytes as UTF-8", blobOf(StringEscape, `caf\xc3\xa9`).OpenUTF8(), "café"},
		{"nothing", blobOf(Plain, "").OpenLatin1(), ""},
	} {
		if err := iotest.TestReader(c.open, []byte(c.want)); err != nil {
			t.Errorf("%s: %v", c.why, err)
		}
		if err := c.open.Close(); err != nil {
			t.Errorf("%s: Close: %v", c.why, err)
		}
	}
}

func TestBlobErrors(t *testing.T) {
	pad := strings.Repeat("p", 100_000)
	for _, c := range []struct {
		why  string
		open io.ReadCloser
		msg  string
		good int // bytes before the error
	}{
		{"text is not UTF-8", blobOf(Plain, pad+"\xff"+pad).OpenUTF8(), "byte 100005: the text is not UTF-8", 100_000},
		{"text is cut off", blobOf(Plain, pad+"\xe2\x82").OpenUTF8(), "byte 100005: the text is not UTF-8", 100_000},
		{"half a surrogate", blobOf(Plain, pad+"\xed\xa0x").OpenUTF8(), "byte 100005: the text is not UTF-8", 100_000},
		{"beyond Latin-1", blobOf(Plain, pad+"€"+pad).OpenLatin1(), "byte 100005: the text has a character beyond U+00FF", 100_000},
		{"U+0100", blobOf(Plain, pad+"Ā").OpenLatin1(), "beyond U+00FF", 100_000},
		{"surrogate is beyond Latin-1", blobOf(Plain, "a\xed\xa0\x80").OpenLatin1(), "byte 6: the text has a character beyond U+00FF", 1},
		{"overlong", blobOf(Plain, "aaaaaaaaaaaaaaaa\xc1\x80").OpenLatin1(), "byte 21: the text is not UTF-8", 16},
		{"follows nothing", blobOf(Plain, "aaaaaaaaaaaaaaaa\x80aaaaaaaa").OpenLatin1(), "byte 21: the text is not UTF-8", 16},
		{"begins and does not follow", blobOf(Plain, "aaaaaaaaaaaaaaaa\xc3aaaaaaaaa").OpenLatin1(), "byte 21: the text is not UTF-8", 16},
		{"Latin-1 is cut off", blobOf(Plain, "aaaaaaaaaaaaaaaa\xc3").OpenLatin1(), "byte 21: the text is not UTF-8", 16},
		{"escape is cut off", blobOf(RawUnicodeEscape, pad+`\u12`).OpenUTF8(), "byte 100005: an escape is cut off", 100_000},
		{"escape is no number", blobOf(RawUnicodeEscape, pad+`\u12x4`+pad).OpenUTF8(), "byte 100005: an escape has a digit", 100_000},
		{"bytes escape is cut off", blobOf(StringEscape, pad+`\x1`).OpenBytes(), "byte 100005: an escape is cut off", 100_000},
		{"bytes end in a backslash", blobOf(StringEscape, pad+`\`).OpenBytes(), "byte 100005: an escape is cut off", 100_000},
		{"escaped character beyond Latin-1", blobOf(RawUnicodeEscape, `ab\u0100`).OpenLatin1(), "in an escaped text: the text has a character beyond", 2},
	} {
		got, err := io.ReadAll(c.open)
		if err == nil || !strings.Contains(err.Error(), c.msg) || len(got) != c.good {
			t.Errorf("%s: %d bytes and %v; want %d and %s", c.why, len(got), err, c.good, c.msg)
		}
		if _, again := c.open.Read(make([]byte, 1)); again == nil || again.Error() != err.Error() {
			t.Errorf("%s: the next read gives %v", c.why, again)
		}
	}
	short := &Blob{R: strings.NewReader("short"), Len: 100}
	for _, r := range []io.ReadCloser{short.OpenRaw(), short.OpenUTF8(), short.OpenLatin1()} {
		if _, err := io.ReadAll(r); !errors.Is(err, io.ErrUnexpectedEOF) {
			t.Errorf("an input that is too short: %v", err)
		}
	}
	bad := &Blob{R: failAt{"abcdef", 3, iotest.ErrTimeout}, Len: 6}
	if _, err := io.ReadAll(bad.OpenLatin1()); !errors.Is(err, iotest.ErrTimeout) {
		t.Errorf("an input that fails: %v", err)
	}
	r := blobOf(Plain, pad).OpenUTF8()
	r.Read(make([]byte, 1))
	r.Close()
	if _, err := r.Read(make([]byte, 1)); err == nil || err == io.EOF {
		t.Errorf("a read after Close: %v", err)
	}
}

// However the input is cut into pieces, a decoder gives the same.
func TestDecodersPiecewise(t *testing.T) {
	rng := rand.New(rand.NewPCG(11, 12))
	decoders := map[string]decodeFunc{
		"raw-unicode-escape": decodeRawUnicode, "string-escape": decodeStringEscape,
		"text": passText, "latin1": utf8ToLatin1,
	}
	pieces := []string{`\`, `\\`, `\u00e9`, `\U0001f600`, `\u`, `\x41`, `\x4`, `\101`, `\7`, `\'`, `\q`, "\\\n", "a", "é",
		"é", "é", "€", "😀", "\xff", "\xed\xa0\x80", "abcdefghijklmnop", "ÿÿÿÿÿÿÿÿ", "aéaéaéa"}
	for name, decode := range decoders {
		for range 3000 {
			var src []byte
			for range rng.IntN(12) {
				p := pieces[rng.IntN(len(pieces))]
				if name == "latin1" && p[0] >= 0xe0 && rng.IntN(8) > 0 || name != "string-escape" && p == "\xff" && rng.IntN(8) > 0 {
					continue
				}
				src = append(src, p...)
			}
			want, wantUsed, wantErr := decode(nil, src, true)
			var got []byte
			var err error
			used, at := 0, 0
			for {
				at = min(len(src), max(at, used)+1+rng.IntN(6))
				var n int
				got, n, err = decode(got, src[used:at], at == len(src))
				if at-used-n >= maxEscape && err == nil {
					t.Fatalf("%s: %q: left %d bytes", name, src, at-used-n)
				}
				if used += n; err != nil || at == len(src) {
					break
				}
			}
			if !bytes.Equal(got, want) || used != wantUsed || !errors.Is(err, wantErr) {
				t.Fatalf("%s: %q\n got %q, %d, %v\nwant %q, %d, %v", name, src, got, used, err, want, wantUsed, wantErr)
			}
			if len(want) > 2*len(src) {
				t.Fatalf("%s: %d bytes became %d", name, len(src), len(want))
			}
		}
	}
}

// utf8ToLatin1 does what decoding and encoding rune by rune does.
func TestLatin1AgainstRunes(t *testing.T) {
	rng := rand.New(rand.NewPCG(13, 14))
	for range 20_000 {
		max := rune(0xff)
		if rng.IntN(4) == 0 {
			max = 0x17f
		}
		src := []byte(randomText(rng, rng.IntN(40), max))
		if len(src) > 0 && rng.IntN(3) == 0 {
			src[rng.IntN(len(src))] = byte(rng.Uint32())
		}
		var want []byte
		var wantErr error
		i := 0
		for i < len(src) {
			r, n := utf8.DecodeRune(src[i:])
			if r > 0xff || r == utf8.RuneError {
				wantErr = errNotLatin1
				if n == 1 && surrogateLen(src[i:]) == 0 {
					wantErr = errUTF8
				}
				break
			}
			want = append(want, byte(r))
			i += n
		}
		got, used, err := utf8ToLatin1([]byte("before"), src, true)
		if string(got) != "before"+string(want) || used != i || err != wantErr {
			t.Fatalf("%q\n got %q, %d, %v\nwant %q, %d, %v", src, got, used, err, want, i, wantErr)
		}
		if wantErr == nil {
			if back := appendLatin1(make([]byte, 0, 2*len(want)), want); !bytes.Equal(back, src) {
				t.Fatalf("%q was encoded as %q", want, back)
			}
			if n := highBytes(want); n != int64(len(src)-len(want)) {
				t.Fatalf("%q has %d high bytes, not %d", want, n, len(src)-len(want))
			}
		}
	}
}
