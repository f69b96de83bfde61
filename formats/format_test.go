package formats_test

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"strings"
	"testing"

	"ckpt/formats"
	"ckpt/pytree"
)

func TestUnrecognised(t *testing.T) {
	for _, tt := range []struct{ why, data, want, hint string }{
		{"nothing at all", "", "the file is empty (0 bytes)", ""},
		{"a pointer that git left", "version https://git-lfs.github.com/spec/v1\noid sha256:4d7a\nsize 437985387\n",
			"this is a Git LFS pointer, not the checkpoint, which has 437985387 bytes", "git lfs pull"},
		{"a pointer without its size", "version https://git-lfs.github.com/spec/v1\n",
			"this is a Git LFS pointer, not the checkpoint", "git lfs pull"},
		{"a login page", "<!DOCTYPE html>\n<html>", "this is an HTML or XML page, not a checkpoint", "login"},
		{"a page behind a byte order mark and blanks", "\xef\xbb\xbf \r\n\t<HTML>", "this is an HTML or XML page", "login"},
		{"an object store's error", `<?xml version="1.0"?><Error><Code>NoSuchKey</Code>`, "this is an HTML or XML page", "login"},
		{"compressed", "\x1f\x8b\x08\x00", "this is a gzip file, which ckpt does not read", ""},
		{"compressed by zstd", "\x28\xb5\x2f\xfd\x00", "this is a Zstandard file", ""},
		{"Keras", "\x89HDF\r\n\x1a\n", "this is an HDF5 file (Keras)", ""},
		{"llama.cpp", "GGUF\x03\x00\x00\x00", "this is a GGUF file", ""},
		{"a single array", "\x93NUMPY\x01\x00", "this is a NumPy .npy file", ""},
		{"never written", strings.Repeat("\x00", 5000), "the first 1024 bytes are all zero", "preallocated"},
		{"short and zero", "\x00", "the first 1 bytes are all zero", "preallocated"},
		{"a service's message", `{"error":"Repository not found"}`, `it begins with "{\"error\":\"Reposi"`, "--as FORMAT"},
		{"what would harm a terminal", "\x1b]0;title\a\u202e", `it begins with "\x1b]0;title\a`, "ckpt formats"},
	} {
		err := formats.Unrecognised(strings.NewReader(tt.data), int64(len(tt.data)))
		if err == nil || !strings.Contains(err.Error(), tt.want) {
			t.Errorf("%s: error %q, want %q", tt.why, err, tt.want)
		}
		if hint := formats.Hint(err); !strings.Contains(hint, tt.hint) || tt.hint == "" && hint != "" {
			t.Errorf("%s: hint %q, want %q", tt.why, hint, tt.hint)
		}
	}
}

func TestUnrecognisedCannotRead(t *testing.T) {
	broken := errors.New("input/output error")
	if err := formats.Unrecognised(readerAt(func([]byte, int64) (int, error) { return 0, broken }), 10); !errors.Is(err, broken) {
		t.Errorf("error %v, want one that wraps %v", err, broken)
	}
}

type readerAt func(p []byte, off int64) (int, error)

func (f readerAt) ReadAt(p []byte, off int64) (int, error) { return f(p, off) }

func TestHint(t *testing.T) {
	base := errors.New("it is broken")
	inner := formats.WithHint(base, "mend %s", "it")
	for _, tt := range []struct {
		why  string
		err  error
		want string
	}{
		{"no error", nil, ""},
		{"no hint", base, ""},
		{"a hint", inner, "mend it"},
		{"wrapped", fmt.Errorf("x.pt: %w", inner), "mend it"},
		{"the innermost knows best", formats.WithHint(fmt.Errorf("x.pt: %w", inner), "buy another"), "mend it"},
		{"among several", errors.Join(base, inner), "mend it"},
	} {
		if got := formats.Hint(tt.err); got != tt.want {
			t.Errorf("%s: hint %q, want %q", tt.why, got, tt.want)
		}
	}
	if !errors.Is(inner, base) || inner.Error() != base.Error() {
		t.Errorf("a hint changes the error: %v", inner)
	}
}

// text is a format of files that begin with a word.
func text(name, ext string, write bool) *formats.Format {
	f := &formats.Format{
		Name: name, Exts: []string{ext},
		Match: func(r io.ReaderAt, size int64) bool {
			b := make([]byte, len(name))
			n, _ := r.ReadAt(b, 0)
			return string(b[:n]) == name
		},
		Read: func(r io.ReaderAt, size int64) (*formats.Checkpoint, error) {
			b, err := io.ReadAll(io.NewSectionReader(r, 0, size))
			if !bytes.HasPrefix(b, []byte(name)) {
				return nil, errors.Join(err, errors.New("not a "+name))
			}
			return &formats.Checkpoint{Tree: &pytree.Tree{Root: &pytree.Scalar{V: string(b)}}, Variant: name, Title: name}, err
		},
	}
	if write {
		f.Write = func(o *formats.Output, t *pytree.Tree) error {
			s, _ := t.Root.(*pytree.Scalar)
			_, err := io.WriteString(o, s.V.(string))
			return err
		}
	}
	return f
}

func TestList(t *testing.T) {
	l := formats.List{text("one", ".a", false), text("two", ".a", true), text("three", ".b", true)}
	for _, tt := range []struct{ why, data, as, want, err string }{
		{"the first", "one!", "", "one", ""},
		{"a later one", "three!", "", "three", ""},
		{"nobody's", "four!", "", "", `begins with "four!"`},
		{"told what it is", "two!", "two", "two", ""},
		{"told wrongly", "two!", "one", "", "not a one"},
		{"told of what there is not", "two!", "five", "", `no format "five"; there are one, two, three`},
	} {
		c, err := l.Open(strings.NewReader(tt.data), int64(len(tt.data)), tt.as)
		switch {
		case tt.err != "" && (err == nil || !strings.Contains(err.Error(), tt.err)):
			t.Errorf("%s: error %v, want %q", tt.why, err, tt.err)
		case tt.err == "" && (err != nil || c.Format.Name != tt.want || c.Size != int64(len(tt.data))):
			t.Errorf("%s: opened as %+v, %v; want %s", tt.why, c, err, tt.want)
		}
	}
	for _, tt := range []struct{ path, want string }{
		{"dir/x.a", "two"}, // the first does not write
		{"x.B", "three"},
		{"x.c", ""},
		{"x", ""},
		{"x.b.c", ""},
	} {
		got := ""
		if f := l.ByExt(tt.path); f != nil {
			got = f.Name
		}
		if got != tt.want {
			t.Errorf("ByExt(%q) = %q, want %q", tt.path, got, tt.want)
		}
	}
}
