package durable

import (
	"bytes"
	"errors"
	"io"
	"os"
	"runtime"
	"strings"
	"testing"
)

// The source of a rewrite may be its destination: it can be read to the end, and
// until the rename under its name too.
func TestOverSelf(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Log("Windows replaces no file that is open; see the package documentation")
		return
	}
	path := seed(t)
	src, err := os.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer src.Close()
	info, err := src.Stat()
	if err != nil {
		t.Fatal(err)
	}
	write := func(f *os.File) error {
		b, err := io.ReadAll(src)
		if err != nil {
			return err
		}
		_, err = f.Write(append([]byte("<"), append(b, '>')...))
		return err
	}
	verify := func(f *os.File) error {
		b := make([]byte, len(oldText))
		if _, err := src.ReadAt(b, 0); err != nil || string(b) != oldText {
			t.Errorf("the source reads %q, %v", b, err)
		}
		if b, err := os.ReadFile(path); err != nil || string(b) != oldText {
			t.Errorf("before the rename the destination reads %q, %v", b, err)
		}
		return wants("<" + oldText + ">")(f)
	}
	if err := WriteFile(t.Context(), path, Options{Overwrite: true, Replaces: info}, write, verify); err != nil {
		t.Fatal(err)
	}
	expect(t, path, "<"+oldText+">")
	b := make([]byte, len(oldText))
	if _, err := src.ReadAt(b, 0); err != nil || string(b) != oldText {
		t.Errorf("after the rename the source reads %q, %v", b, err)
	}
}

func TestReplaces(t *testing.T) {
	rewrite := func(path string) {
		if err := os.WriteFile(path, []byte("written by another program"), 0o644); err != nil {
			t.Error(err)
		}
	}
	swap := func(path string) { // the same size and time, but another file
		info, err := os.Stat(path)
		if err == nil {
			err = errors.Join(os.WriteFile(path+"2", bytes.ToUpper([]byte(oldText)), 0o644),
				os.Chtimes(path+"2", info.ModTime(), info.ModTime()), os.Rename(path+"2", path))
		}
		if err != nil {
			t.Error(err)
		}
	}
	grow := func(path string) { // in place, with its time put back
		info, err := os.Stat(path)
		if err == nil {
			err = errors.Join(os.WriteFile(path, []byte(newText), 0o644), os.Chtimes(path, info.ModTime(), info.ModTime()))
		}
		if err != nil {
			t.Error(err)
		}
	}
	for _, tt := range []struct {
		name          string
		before, while func(path string)
		content       string
	}{
		{"rewritten before", rewrite, nil, "written by another program"},
		{"rewritten meanwhile", nil, rewrite, "written by another program"},
		{"swapped meanwhile", nil, swap, strings.ToUpper(oldText)},
		{"grown meanwhile", nil, grow, newText},
		{"removed meanwhile", nil, func(path string) { os.Remove(path) }, ""},
	} {
		t.Run(tt.name, func(t *testing.T) {
			path := seed(t)
			info, err := os.Stat(path)
			if err != nil {
				t.Fatal(err)
			}
			if tt.before != nil {
				tt.before(path)
			}
			err = WriteFile(t.Context(), path, Options{Overwrite: true, Replaces: info}, func(f *os.File) error {
				if tt.while == nil {
					t.Error("write was called for a file that had changed before")
				} else {
					tt.while(path)
				}
				return put(newText)(f)
			}, nil)
			if !errors.Is(err, ErrChanged) {
				t.Errorf("error %v, want %v", err, ErrChanged)
			}
			expect(t, path, tt.content)
		})
	}
}

// The destination appears after the check at the start.
func TestAppears(t *testing.T) {
	path := seed(t)
	os.Remove(path)
	err := WriteFile(t.Context(), path, Options{}, put(newText), func(*os.File) error {
		return os.WriteFile(path, []byte(oldText), 0o644)
	})
	if !errors.Is(err, ErrExists) {
		t.Errorf("error %v, want %v", err, ErrExists)
	}
	expect(t, path, oldText)
}
