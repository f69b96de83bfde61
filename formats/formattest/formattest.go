// Package formattest is the suite that every format passes. A format calls it
// with one short test, and with one fuzz target:
//
//	func TestFormat(t *testing.T) {
//		formattest.Run(t, pt.Format, formattest.Options{Samples: "../../testdata/pt"})
//	}
//
//	func FuzzRead(f *testing.F) { formattest.Fuzz(f, pt.Format, "../../testdata/pt") }
//
// It checks what design promises of all formats alike: a file is recognised by
// its own format and no other; its structure is read without its tensors; every
// source keeps the contract of [io.Reader] and may be opened by many at once;
// what is cut off or damaged is an error or reads the same, and never costs
// more than a moment and a few MiB; what was written reads back equal, has the
// same bytes each time, and is not accepted if a bit of it was lost; and the
// samples hold what the golden file says.
//
// The samples are the files in one folder that have an extension of the format;
// broken ones are in its folder "bad". With -short, some of the work is left
// out, always the same; with -update, the golden file is written.
package formattest

import (
	"bytes"
	"context"
	"flag"
	"io"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"ckpt/formats"
	"ckpt/formats/all"
)

var update = flag.Bool("update", false, "write the golden files instead of comparing with them")

// Options says what [Run] needs to know of a format.
type Options struct {
	// Samples is the folder of sound files. It holds golden.txt, what they hold,
	// and may hold a folder "bad" of broken ones.
	Samples string
	// Unwritable tells for a checkpoint that this format cannot write what the
	// error says, and is "" for all others. Nil stands for none.
	Unwritable func(c *formats.Checkpoint) string
	// Budget is how many bytes reading one sample's structure may allocate; 64
	// MiB if zero.
	Budget uint64
}

// suite is one run.
type suite struct {
	format  *formats.Format
	opt     Options
	samples []sample
}

// sample is one file.
type sample struct {
	name string
	data []byte
}

// Run runs the whole suite.
func Run(t *testing.T, f *formats.Format, opt Options) {
	s := &suite{format: f, opt: opt, samples: load(t, f, opt.Samples)}
	if len(s.samples) == 0 {
		t.Fatalf("there are no samples in %s", opt.Samples)
	}
	if opt.Budget == 0 {
		s.opt.Budget = 64 << 20
	}
	t.Run("Listed", s.testListed)
	t.Run("Detection", s.testDetection)
	t.Run("Golden", s.testGolden)
	t.Run("Laziness", s.testLaziness)
	t.Run("Sources", s.testSources)
	t.Run("Concurrency", s.testConcurrency)
	t.Run("Damage", s.testDamage)
	t.Run("Truncation", s.testTruncation)
	if f.Write == nil {
		return
	}
	t.Run("Rewrite", s.testRewrite)
	t.Run("Verification", s.testVerification)
	t.Run("WriteErrors", s.testWriteErrors)
}

// load reads the samples in dir, in the order of their names.
func load(tb testing.TB, f *formats.Format, dir string) []sample {
	tb.Helper()
	entries, err := os.ReadDir(dir)
	if err != nil {
		tb.Fatal(err)
	}
	var out []sample
	for _, e := range entries {
		if !e.Type().IsRegular() || !slices.Contains(f.Exts, filepath.Ext(e.Name())) {
			continue
		}
		data, err := os.ReadFile(filepath.Join(dir, e.Name()))
		if err != nil {
			tb.Fatal(err)
		}
		out = append(out, sample{e.Name(), data})
	}
	return out
}

// read reads a file in memory as the program would, with the format given.
func read(f *formats.Format, data []byte) (*formats.Checkpoint, error) {
	return formats.List{f}.Open(bytes.NewReader(data), int64(len(data)), f.Name)
}

func (s *suite) mustRead(t *testing.T, x sample) *formats.Checkpoint {
	t.Helper()
	c, err := read(s.format, x.data)
	if err != nil {
		t.Fatalf("%s: %v", x.name, err)
	}
	return c
}

// encode writes a checkpoint's tree into memory.
func encode(f *formats.Format, c *formats.Checkpoint) ([]byte, error) {
	var buf bytes.Buffer
	o := formats.NewOutput(context.Background(), &buf, nil)
	if err := f.Write(o, c.Tree); err != nil {
		return nil, err
	}
	err := o.Flush()
	return buf.Bytes(), err
}

// unwritable is what the error of writing c says, or "".
func (s *suite) unwritable(c *formats.Checkpoint) string {
	if s.opt.Unwritable == nil {
		return ""
	}
	return s.opt.Unwritable(c)
}

// some is one in every n samples with -short, and all without.
func (s *suite) some(n int) []sample {
	if !testing.Short() {
		return s.samples
	}
	var out []sample
	for i := 0; i < len(s.samples); i += n {
		out = append(out, s.samples[i])
	}
	return out
}

// testListed checks that the program knows the format, under a name and with
// extensions of its own.
func (s *suite) testListed(t *testing.T) {
	got, err := all.Formats.ByName(s.format.Name)
	if err != nil || got != s.format {
		t.Fatalf("formats/all does not list %q: %v", s.format.Name, err)
	}
	if s.format.Doc == "" || len(s.format.Exts) == 0 || len(s.format.Variants) == 0 {
		t.Errorf("a format takes a Doc, Exts and Variants")
	}
	for _, f := range all.Formats {
		if f != s.format && f.Name == s.format.Name {
			t.Errorf("two formats are named %q", f.Name)
		}
	}
}

// testDetection checks that each sample is recognised by this format, and by no
// other, and that other files are not.
func (s *suite) testDetection(t *testing.T) {
	for _, x := range s.samples {
		r, size := bytes.NewReader(x.data), int64(len(x.data))
		for _, f := range all.Formats {
			if got, want := f.Match(r, size), f == s.format; got != want {
				t.Errorf("%s: %s.Match = %v, want %v", x.name, f.Name, got, want)
			}
		}
		c, err := all.Formats.Open(r, size, "")
		if err != nil {
			t.Errorf("%s: %v", x.name, err)
			continue
		}
		known := func(v formats.Variant) bool { return v.Name == c.Variant && v.Read }
		if !slices.ContainsFunc(s.format.Variants, known) || c.Title == "" || c.Format != s.format || c.Size != size {
			t.Errorf("%s: opened as %q (%q), which the format's variants do not list", x.name, c.Variant, c.Title)
		}
	}
	for _, x := range junk() {
		if s.format.Match(bytes.NewReader(x.data), int64(len(x.data))) {
			t.Errorf("%s is taken for a checkpoint", x.name)
		}
		if c, err := read(s.format, x.data); err == nil {
			t.Errorf("%s reads as a checkpoint of %T", x.name, c.Tree.Root)
		}
	}
	if s.format.Match(failing{}, 1<<20) {
		t.Error("a file that cannot be read is taken for a checkpoint")
	}
	if _, err := s.format.Read(failing{}, 1<<20); err == nil {
		t.Error("a file that cannot be read is no error")
	}
}

// junk is files that are no checkpoint of any format.
func junk() []sample {
	noise := make([]byte, 4096)
	newRandom("junk").fill(noise)
	return []sample{
		{"an empty file", nil},
		{"one byte", []byte{0}},
		{"a letter", []byte("A")},
		{"text", []byte("The quick brown fox jumps over the lazy dog.\n")},
		{"a web page", []byte("<!DOCTYPE html>\n<html><body>404 Not Found</body></html>\n")},
		{"a Git LFS pointer", []byte("version https://git-lfs.github.com/spec/v1\noid sha256:0\nsize 12\n")},
		{"zeros", make([]byte, 4096)},
		{"ones", bytes.Repeat([]byte{0xFF}, 4096)},
		{"noise", noise},
		{"a picture", append([]byte("\x89PNG\r\n\x1a\n\x00\x00\x00\rIHDR"), noise...)},
		{"a gzip file", append([]byte("\x1f\x8b\x08\x00"), noise...)},
	}
}

// failing is a file on a broken disk.
type failing struct{}

func (failing) ReadAt([]byte, int64) (int, error) { return 0, io.ErrClosedPipe }
