package durable

import (
	"errors"
	"fmt"
	"os"
	"strings"
	"syscall"
	"testing"
	"time"
)

// A file that was removed while open has a path under /proc, but no name that
// another file could take.
func TestNameless(t *testing.T) {
	path := seed(t)
	f, err := os.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	if err := os.Remove(path); err != nil {
		t.Fatal(err)
	}
	err = WriteBytes(t.Context(), fmt.Sprint("/proc/self/fd/", f.Fd()), Options{Overwrite: true}, nil)
	if err == nil || !strings.Contains(err.Error(), "without a name") {
		t.Errorf("error %v", err)
	}
	expect(t, path, "")
}

// The real error of a full disk, from a device that always is.
func TestNoSpace(t *testing.T) {
	full, err := os.OpenFile("/dev/full", os.O_WRONLY, 0)
	if err != nil {
		t.Fatal(err)
	}
	defer full.Close()
	path := seed(t)
	err = WriteFile(t.Context(), path, Options{Overwrite: true}, func(*os.File) error { return put(newText)(full) }, nil)
	var typed *Error
	if !errors.Is(err, syscall.ENOSPC) || !errors.As(err, &typed) || !strings.Contains(typed.Hint(), "room for the whole new file") {
		t.Errorf("error %v", err)
	}
	expect(t, path, oldText)
}

// Early writing goes on beside a slow writer and after the file was closed
// under its feet, and changes nothing.
func TestWriteEarly(t *testing.T) {
	path := seed(t)
	slow := func(f *os.File) error {
		for range 4 {
			if err := put(bulk("new"))(f); err != nil {
				return err
			}
			time.Sleep(flushEvery)
		}
		return nil
	}
	want := strings.Repeat(bulk("new"), 4)
	if err := WriteFile(t.Context(), path, Options{Overwrite: true}, slow, wants(want)); err != nil {
		t.Fatal(err)
	}
	expect(t, path, want)
	err := WriteFile(t.Context(), path, Options{Overwrite: true}, func(f *os.File) error {
		err := f.Close()
		time.Sleep(3 * flushEvery)
		return err
	}, nil)
	if !errors.Is(err, os.ErrClosed) {
		t.Errorf("error %v, want %v", err, os.ErrClosed)
	}
	expect(t, path, want)
}
