package formattest_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"ckpt/formats"
	"ckpt/formats/formattest"
	"ckpt/formats/pt"
	"ckpt/pytree"
)

// The suite is worth what it notices: it is run, in a process of its own, on a
// sound format and on copies of it that are each broken in one way.

const (
	subjectVar = "FORMATTEST_SUBJECT" // which of the subjects is to be tested
	samplesVar = "FORMATTEST_SAMPLES"
)

// few is samples enough for every test to have something to do.
var few = []string{"zip-bare.torch2.15.pt", "zip-deflated.torch2.15.pt", "legacy-views.torch1.5.pt", "containers.torch2.15.pt", "numpy-arrays-p2.torch2.15.pt"}

// subjects is the broken formats: the test of the suite that notices, and what
// it says.
var subjects = []struct {
	name  string
	test  string
	says  string
	spoil func(f *formats.Format)
}{
	{"reads the whole file", "Laziness", "bytes are read to tell the structure", func(f *formats.Format) {
		read := f.Read
		f.Read = func(r io.ReaderAt, size int64) (*formats.Checkpoint, error) {
			if _, err := io.Copy(io.Discard, io.NewSectionReader(r, 0, size)); err != nil {
				return nil, err
			}
			return read(r, size)
		}
	}},
	{"reads what is none", "Detection", "reads as a checkpoint", lenient},
	{"reads what is cut off", "Truncation", "it reads without an error, but not the same", lenient},
	{"takes memory", "Damage", "reading it allocates", func(f *formats.Format) {
		read := f.Read
		f.Read = func(r io.ReaderAt, size int64) (*formats.Checkpoint, error) {
			hoard = make([]byte, 100<<20)
			return read(r, size)
		}
	}},
	{"mistakes a shape", "Golden", "want [\"", altered(func(x *pytree.Tensor) { x.Shape = append([]int64{1}, x.Shape...); x.Strides = nil })},
	{"mistakes a dtype", "Golden", "want [\"", altered(func(x *pytree.Tensor) {
		if x.DType == pytree.Float32 {
			x.DType = pytree.Int32
		}
	})},
	{"has sources that end early", "Sources", "but its size is", altered(func(x *pytree.Tensor) {
		s := *x.Storage
		s.Source = short{s.Source}
		x.Storage = &s
	})},
	{"drops a leaf", "Rewrite", "reads back different", func(f *formats.Format) {
		write := f.Write
		f.Write = func(o *formats.Output, t *pytree.Tree) error {
			if c, ok := t.Root.(*pytree.Container); ok && len(c.Entries) > 1 {
				d := *c
				d.Entries = d.Entries[1:]
				t = &pytree.Tree{Root: &d}
			}
			return write(o, t)
		}
	}},
	{"never writes the same", "Rewrite", "written twice, the files differ", func(f *formats.Format) {
		write, n := f.Write, 0
		f.Write = func(o *formats.Output, t *pytree.Tree) error {
			n++
			_, err := fmt.Fprintf(o, "PK\x03\x04 %d", n)
			return errors.Join(err, write(o, t))
		}
	}},
	{"has no checksums", "Verification", "byte ", func(f *formats.Format) {
		read := f.Read
		f.Read = func(r io.ReaderAt, size int64) (*formats.Checkpoint, error) {
			c, err := read(r, size)
			if err == nil {
				c.Checked = nil
			}
			return c, err
		}
	}},
	{"ignores errors of writing", "WriteErrors", "a tensor that cannot be read", func(f *formats.Format) {
		write := f.Write
		f.Write = func(o *formats.Output, t *pytree.Tree) error {
			write(o, t)
			return nil
		}
	}},
	{"is in no list", "Listed", "does not list", func(*formats.Format) {}},
}

var hoard []byte

// lenient makes an empty checkpoint of what cannot be read.
func lenient(f *formats.Format) {
	read := f.Read
	f.Read = func(r io.ReaderAt, size int64) (*formats.Checkpoint, error) {
		if c, err := read(r, size); err == nil {
			return c, nil
		}
		return &formats.Checkpoint{Tree: &pytree.Tree{Root: pytree.NewDict()}}, nil
	}
}

// altered changes every tensor that is read.
func altered(change func(x *pytree.Tensor)) func(f *formats.Format) {
	return func(f *formats.Format) {
		read := f.Read
		f.Read = func(r io.ReaderAt, size int64) (*formats.Checkpoint, error) {
			c, err := read(r, size)
			if err != nil {
				return nil, err
			}
			for _, n := range c.Tree.Leaves() {
				if x, ok := n.(*pytree.Tensor); ok {
					change(x)
				}
			}
			return c, nil
		}
	}
}

// short is a source that is one byte shorter than it says.
type short struct{ pytree.Source }

func (s short) Open() (io.ReadCloser, error) {
	rc, err := s.Source.Open()
	if err != nil {
		return nil, err
	}
	b, err := io.ReadAll(rc)
	if err = errors.Join(err, rc.Close()); err != nil {
		return nil, err
	}
	return io.NopCloser(bytes.NewReader(b[:max(len(b)-1, 0)])), nil
}

// TestSubject is what the process of its own runs; without its variables set it
// tests nothing.
func TestSubject(t *testing.T) {
	name := os.Getenv(subjectVar)
	if name == "" {
		return
	}
	f := *pt.Format
	for _, s := range subjects {
		if s.name == name {
			s.spoil(&f)
		}
	}
	formattest.Run(t, &f, formattest.Options{Samples: os.Getenv(samplesVar)})
}

func TestSuiteNotices(t *testing.T) {
	dir := t.TempDir()
	for _, name := range few {
		b, err := os.ReadFile(filepath.Join("../../testdata/pt", name))
		if err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(dir, name), b, 0o666); err != nil {
			t.Fatal(err)
		}
	}
	run := func(subject, pattern string, flags ...string) (string, error) {
		args := append([]string{"-test.short", "-test.run", "^TestSubject$/^(" + pattern + ")$"}, flags...)
		cmd := exec.CommandContext(context.Background(), os.Args[0], args...)
		cmd.Env = append(os.Environ(), subjectVar+"="+subject, samplesVar+"="+dir)
		out, err := cmd.CombinedOutput()
		return string(out), err
	}
	if out, err := run("sound", "Golden", "-update"); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	if out, err := run("sound", "Golden|Laziness|Sources|Concurrency|Damage|Truncation|Rewrite|Verification|WriteErrors"); err != nil {
		t.Fatalf("a sound format fails: %v\n%s", err, out)
	}
	for _, s := range subjects {
		out, err := run(s.name, s.test)
		if err == nil || !strings.Contains(out, s.says) || !regexp.MustCompile(`--- FAIL: TestSubject/`+s.test).MatchString(out) {
			t.Errorf("a format that %s passes %s (%v); it should say %q:\n%s", s.name, s.test, err, s.says, out)
		}
	}
}

// TestNoSamples checks that a suite without samples does not pass.
func TestNoSamples(t *testing.T) {
	cmd := exec.CommandContext(context.Background(), os.Args[0], "-test.run", "^TestSubject$")
	cmd.Env = append(os.Environ(), subjectVar+"=sound", samplesVar+"="+t.TempDir())
	if out, err := cmd.CombinedOutput(); err == nil || !strings.Contains(string(out), "there are no samples") {
		t.Errorf("a suite without samples passes (%v):\n%s", err, out)
	}
}
