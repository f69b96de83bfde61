package pt_test

import (
	"archive/zip"
	"bytes"
	"io"
	"os"
	"strings"
	"testing"
	"testing/iotest"

	"ckpt/formats"
	"ckpt/formats/pt"
	"ckpt/pytree"
)

// TestLong reads texts and bytes that are too long to hold, in every way that a
// pickle has to write them, and writes them back.
func TestLong(t *testing.T) {
	const n = 200_000 // more than any buffer
	text := strings.Repeat("zwölf\n", n/7)
	raw := strings.Repeat("\x00\xff'\\a", n/5)
	escaped := strings.NewReplacer("ö", `\u00f6`, "\n", `\u000a`).Replace(text)
	quoted := strings.NewReplacer("\x00", `\x00`, "\xff", `\xff`, "'", `\'`, `\`, `\\`).Replace(raw)
	latin := func(s string) string { // each byte as a character
		var b strings.Builder
		for i := range len(s) {
			b.WriteRune(rune(s[i]))
		}
		return b.String()
	}
	sized := func(op byte, s string) string {
		return string([]byte{op, byte(len(s)), byte(len(s) >> 8), byte(len(s) >> 16), 0}) + s
	}
	sized8 := func(op byte, s string) string {
		return string([]byte{op, byte(len(s)), byte(len(s) >> 8), byte(len(s) >> 16), 0, 0, 0, 0, 0}) + s
	}
	for _, tt := range []struct {
		why    string
		pickle string
		want   string
		text   bool
		class  string
	}{
		{"UNICODE, protocol 0", "V" + escaped + "\n.", text, true, ""},
		{"STRING, protocol 0, of text", "S'" + strings.ReplaceAll(text, "\n", `\n`) + "'\n.", text, true, ""},
		{"STRING, protocol 0, of bytes", "S'" + quoted + "'\n.", raw, false, ""},
		{"BINSTRING, protocol 1", sized('T', text) + ".", text, true, ""},
		{"BINSTRING of bytes", sized('T', raw) + ".", raw, false, ""},
		{"BINUNICODE, protocol 2", "\x80\x02" + sized('X', text) + ".", text, true, ""},
		{"bytes, protocol 2", "\x80\x02c_codecs\nencode\n" + sized('X', latin(raw)) + "X\x06\x00\x00\x00latin1\x86R.", raw, false, ""},
		{"BINBYTES, protocol 3", "\x80\x03" + sized('B', raw) + ".", raw, false, ""},
		{"BINUNICODE8, protocol 4", "\x80\x04" + sized8('\x8d', text) + ".", text, true, ""},
		{"BINBYTES8, protocol 4", "\x80\x04" + sized8('\x8e', raw) + ".", raw, false, ""},
		{"BYTEARRAY8, protocol 5", "\x80\x05" + sized8('\x96', raw) + ".", raw, false, "bytearray"},
		{"a bytearray, protocol 2", "\x80\x02c__builtin__\nbytearray\n" + sized('X', latin(raw)) + "X\x07\x00\x00\x00latin-1\x86R.", raw, false, "bytearray"},
	} {
		data := zipped(t, zip.Store, part{"a/data.pkl", []byte(tt.pickle)})
		for _, generation := range []string{"", ", rewritten"} {
			c := mustOpen(t, data)
			s, ok := c.Tree.Root.(*pytree.Scalar)
			if !ok {
				t.Fatalf("%s%s: a %T", tt.why, generation, c.Tree.Root)
			}
			long, ok := s.V.(*pytree.Long)
			if !ok || long.Text != tt.text || s.Class != tt.class || long.Size() != int64(len(tt.want)) {
				t.Errorf("%s%s: %s %T of class %q, want text %v of %d bytes", tt.why, generation, s.Type(), s.V, s.Class, tt.text, len(tt.want))
				break
			}
			rc, err := long.Open()
			if err != nil {
				t.Fatal(err)
			}
			if err := iotest.TestReader(io.LimitReader(rc, 3000), []byte(tt.want[:3000])); err != nil {
				t.Errorf("%s%s: %v", tt.why, generation, err)
			}
			rc.Close()
			if rc, err = long.Open(); err != nil {
				t.Fatal(err)
			}
			got, err := io.ReadAll(rc)
			if err != nil || string(got) != tt.want {
				t.Errorf("%s%s: %d bytes that are not those written (%v)", tt.why, generation, len(got), err)
			}
			rc.Close()
			again := rewritten(t, c.Tree)
			if generation != "" && !bytes.Equal(again, data) {
				t.Errorf("%s: a rewrite of the rewrite differs", tt.why)
			}
			data = again
		}
	}
}

// TestBigPickle writes a pickle of so many bytes of arrays that its length is
// counted before it is written.
func TestBigPickle(t *testing.T) {
	if testing.Short() {
		return
	}
	file, size := pickleOfArrays(t, 5, 4)
	c, err := formats.List{pt.Format}.Open(file, size, "")
	if err != nil {
		t.Fatal(err)
	}
	out, err := os.Create(t.TempDir() + "/out.pt")
	if err != nil {
		t.Fatal(err)
	}
	defer out.Close()
	o := formats.NewOutput(t.Context(), sparse{out}, nil)
	if err := pt.Format.Write(o, c.Tree); err != nil {
		t.Fatal(err)
	}
	if err := o.Flush(); err != nil {
		t.Fatal(err)
	}
	frugally(t, "reading it back", 1<<20, func() {
		back, err := formats.List{pt.Format}.Open(out, o.Offset(), "")
		if err != nil {
			t.Error(err)
			return
		}
		if err := pytree.Same(c.Tree, back.Tree); err != nil {
			t.Error(err)
		}
	})
}

// TestOldObjects reads what protocols 0 and 1 make of objects.
func TestOldObjects(t *testing.T) {
	for _, tt := range []struct {
		why    string
		pickle string
		want   []string
	}{
		{"copy_reg._reconstructor", "ccopy_reg\n_reconstructor\n(cmy\nC\nc__builtin__\nobject\nNtR(dS'a'\nI1\nsb.", []string{": my.C", "a: 1"}},
		{"of a subclass of list", "ccopy_reg\n_reconstructor\n(cmy\nL\nc__builtin__\nlist\n(lI5\natR(dS'a'\nI1\nsb.", nil},
		{"an old class, by INST", "(imy\nOld\n(dS'a'\nI1\nsb.", []string{": my.Old", "a: 1"}},
		{"an old class, by OBJ", "(cmy\nOld\nI7\no}U\x01aK\x01sb.", []string{": my.Old", "0: 7", "a: 1"}},
		{"an OrderedDict of Python 2", "ccollections\nOrderedDict\n((l(lS'a'\naI1\naatR.", []string{": collections.OrderedDict", "a: 1"}},
		{"text that is UTF-8", "(lS'zw\\xc3\\xb6lf'\na.", []string{"0: zwölf"}},
		{"text that is not", "(lS'\\xff'\na.", []string{"0: [255]"}},
		{"a long", "(lL123456789012345678901234567890L\na.", []string{"0: 123456789012345678901234567890"}},
		{"booleans", "(lI01\naI00\na.", []string{"0: true", "1: false"}},
	} {
		c, err := open(zipped(t, zip.Store, part{"a/data.pkl", []byte(tt.pickle)}))
		if err != nil {
			t.Errorf("%s: %v", tt.why, err)
			continue
		}
		if tt.want == nil {
			tt.want = lines(t, c.Tree)
		}
		checkLines(t, tt.why, c.Tree, tt.want...)
		first := rewritten(t, c.Tree)
		back := mustOpen(t, first)
		checkLines(t, tt.why+", rewritten", back.Tree, tt.want...)
		if second := rewritten(t, back.Tree); !bytes.Equal(first, second) {
			t.Errorf("%s: a rewrite of the rewrite differs", tt.why)
		}
	}
}
