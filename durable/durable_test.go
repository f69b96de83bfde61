package durable

import (
	"context"
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

const oldText, newText = "the old content\n", "the new content, which is longer\n"

func put(text string) func(*os.File) error {
	return func(f *os.File) error {
		_, err := f.WriteString(text)
		return err
	}
}

func wants(text string) func(*os.File) error {
	return func(f *os.File) error {
		got, err := io.ReadAll(f)
		if err == nil && string(got) != text {
			err = errors.New("unexpected content")
		}
		return err
	}
}

// seed creates a file with the old content in a new directory.
func seed(t *testing.T) (path string) {
	t.Helper()
	path = filepath.Join(t.TempDir(), "x.pt")
	if err := os.WriteFile(path, []byte(oldText), 0o644); err != nil {
		t.Fatal(err)
	}
	return path
}

// expect fails the test unless path has the content and its directory holds
// nothing else; no content stands for no file.
func expect(t *testing.T, path, content string) {
	t.Helper()
	entries, err := os.ReadDir(filepath.Dir(path))
	if err != nil {
		t.Fatal(err)
	}
	var names, want []string
	for _, e := range entries {
		names = append(names, e.Name())
	}
	if content != "" {
		want = []string{filepath.Base(path)}
		if got, err := os.ReadFile(path); err != nil || string(got) != content {
			t.Errorf("content of %s: %.60q, %v; want %.60q", path, got, err, content)
		}
	}
	if !slices.Equal(names, want) {
		t.Errorf("directory holds %q, want %q", names, want)
	}
}

func TestWriteFile(t *testing.T) {
	errWrite, errVerify := errors.New("cannot write"), errors.New("bad checksum")
	fails := func(err error) func(*os.File) error { return func(*os.File) error { return err } }
	tests := []struct {
		name, reason  string
		exists        bool
		opts          Options
		write, verify func(*os.File) error
		want          error
		text          string // contained in the error's text
	}{
		{name: "new", reason: "the plain case", write: put(newText), verify: wants(newText)},
		{name: "new-overwrite", reason: "overwriting needs nothing to overwrite", opts: Options{Overwrite: true}, write: put(newText)},
		{name: "replace", exists: true, reason: "the old content is gone whole, even where longer",
			opts: Options{Overwrite: true}, write: put(newText), verify: wants(newText)},
		{name: "exists", exists: true, reason: "nothing is replaced unasked", write: put(newText), want: ErrExists, text: "already exists"},
		{name: "exists-std", exists: true, reason: "callers may ask in the terms of io/fs", write: put(newText), want: fs.ErrExist},
		{name: "write-fails", reason: "no half-written file", write: fails(errWrite), want: errWrite},
		{name: "write-fails-over", exists: true, reason: "the old file survives", opts: Options{Overwrite: true},
			write: func(f *os.File) error { return errors.Join(put(newText)(f), errWrite) }, want: errWrite},
		{name: "short-write", exists: true, reason: "a writer that reports a short write", opts: Options{Overwrite: true},
			write: fails(io.ErrShortWrite), want: io.ErrShortWrite},
		{name: "silent-short-write", exists: true, reason: "a writer that loses the tail unnoticed is caught by verify",
			opts: Options{Overwrite: true}, write: put(newText[:9]), verify: wants(newText), text: "verifying what was written: unexpected content"},
		{name: "verify-fails", reason: "what does not verify gets no name", write: put(newText), verify: fails(errVerify), want: errVerify},
		{name: "verify-fails-over", exists: true, reason: "nor does it replace anything",
			opts: Options{Overwrite: true}, write: put(newText), verify: fails(errVerify), want: errVerify},
		{name: "verify-writes", reason: "the handle to verify with is read-only",
			write: put(newText), verify: put("x"), text: "verifying what was written: write: "},
		{name: "closes", reason: "a writer that closes the file gets an error, not an unsynced file",
			write: (*os.File).Close, want: os.ErrClosed},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			path, before := seed(t), oldText
			if !tt.exists {
				before = ""
				os.Remove(path)
			}
			err := WriteFile(t.Context(), path, tt.opts, tt.write, tt.verify)
			if tt.want == nil && tt.text == "" {
				if err != nil {
					t.Fatalf("%v (%s)", err, tt.reason)
				}
				expect(t, path, newText)
				return
			}
			var typed *Error
			if !errors.As(err, &typed) || typed.Path != path {
				t.Fatalf("error %v is not an Error about %s (%s)", err, path, tt.reason)
			}
			if tt.want != nil && !errors.Is(err, tt.want) {
				t.Errorf("error %v, want %v (%s)", err, tt.want, tt.reason)
			}
			text := err.Error()
			if !strings.HasPrefix(text, path+": ") || !strings.Contains(text, tt.text) || strings.Contains(text, tempMark) {
				t.Errorf("error %q: want the destination's path, %q, and no temporary name (%s)", text, tt.text, tt.reason)
			}
			expect(t, path, before)
		})
	}
}

func TestWriteBytes(t *testing.T) {
	for _, content := range []string{"", "x", strings.Repeat("long ", 1e5)} {
		path := seed(t)
		if err := WriteBytes(t.Context(), path, Options{Overwrite: true}, []byte(content)); err != nil {
			t.Fatal(err)
		}
		if got, err := os.ReadFile(path); err != nil || string(got) != content {
			t.Errorf("wrote %d bytes, read %d, %v", len(content), len(got), err)
		}
	}
}

// A destination in another kind of trouble: what is said, and that nothing
// happens to it.
func TestDestination(t *testing.T) {
	dir := t.TempDir()
	file := filepath.Join(dir, "file")
	if err := os.WriteFile(file, []byte(oldText), 0o644); err != nil {
		t.Fatal(err)
	}
	for _, tt := range []struct {
		name, path, text string
		want             error
	}{
		{"directory", dir, "is a directory", nil},
		{"dot", dir + "/.", "is a directory", nil},
		{"slash", dir + "/x/", "names no file", nil},
		{"empty", "", "names no file", nil},
		{"missing parent", filepath.Join(dir, "no", "x.pt"), "directory " + filepath.Join(dir, "no"), fs.ErrNotExist},
		{"parent is a file", filepath.Join(file, "x.pt"), "", nil},
	} {
		err := WriteFile(t.Context(), tt.path, Options{Overwrite: true}, put(newText), nil)
		if err == nil || !strings.Contains(err.Error(), tt.text) || tt.want != nil && !errors.Is(err, tt.want) {
			t.Errorf("%s: error %v, want %q, %v", tt.name, err, tt.text, tt.want)
		}
	}
	expect(t, file, oldText)
}

func TestHints(t *testing.T) {
	for _, tt := range []struct {
		err  error
		hint string
	}{
		{ErrExists, "--overwrite"},
		{ErrChanged, "another program"},
		{fs.ErrExist, ""}, // of some other file
		{context.Canceled, ""},
	} {
		got := (&Error{Path: "x", Err: tt.err}).Hint()
		if !strings.Contains(got, tt.hint) || tt.hint == "" && got != "" {
			t.Errorf("hint for %v: %q, want %q", tt.err, got, tt.hint)
		}
	}
}

func TestCancel(t *testing.T) {
	for _, when := range []string{"before", "write", "verify"} {
		for _, overwrite := range []bool{false, true} {
			path, before := seed(t), oldText
			if !overwrite {
				before = ""
				os.Remove(path)
			}
			ctx, cancel := context.WithCancel(t.Context())
			at := func(what string) func(*os.File) error {
				return func(*os.File) error {
					if when == "before" || when == "write" && what == "verify" {
						t.Errorf("cancelled at %s, but %s was called", when, what)
					}
					if when == what {
						cancel()
					}
					return nil
				}
			}
			if when == "before" {
				cancel()
			}
			err := WriteFile(ctx, path, Options{Overwrite: overwrite}, at("write"), at("verify"))
			if !errors.Is(err, context.Canceled) {
				t.Errorf("cancelled at %s: error %v", when, err)
			}
			expect(t, path, before)
			cancel()
		}
	}
}

func TestPanic(t *testing.T) {
	path := seed(t)
	boom := func(*os.File) error { panic("boom") }
	for _, f := range [][2]func(*os.File) error{{boom, nil}, {put(newText), boom}} {
		func() {
			defer func() {
				if recover() != "boom" {
					t.Error("the panic did not come through")
				}
			}()
			_ = WriteFile(t.Context(), path, Options{Overwrite: true}, f[0], f[1])
		}()
		expect(t, path, oldText)
	}
}
