package durable

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
)

// Two writers have both found no destination: one of them gets the name, and
// the other is told.
func TestTwoCreate(t *testing.T) {
	path := filepath.Join(t.TempDir(), "x.pt")
	var both, done sync.WaitGroup
	both.Add(2)
	errs := make([]error, 2)
	for i := range errs {
		done.Go(func() {
			errs[i] = WriteFile(t.Context(), path, Options{}, func(f *os.File) error {
				both.Done()
				both.Wait()
				return put(fmt.Sprint("writer ", i))(f)
			}, wants(fmt.Sprint("writer ", i)))
		})
	}
	done.Wait()
	winner := 0
	if errs[0] != nil {
		winner = 1
	}
	if errs[winner] != nil || !errors.Is(errs[1-winner], ErrExists) {
		t.Errorf("errors %v; want one success and one %v", errs, ErrExists)
	}
	expect(t, path, fmt.Sprint("writer ", winner))
}

// Many replace one file over and over: each succeeds, since nobody takes the
// file of a living writer for a leftover, and readers see whole files only.
func TestManyReplace(t *testing.T) {
	path := filepath.Join(t.TempDir(), "x.pt")
	content := func(i int) string { return strings.Repeat(fmt.Sprintf("writer %d\n", i), 5000) }
	if err := os.WriteFile(path, []byte(content(0)), 0o644); err != nil {
		t.Fatal(err)
	}
	var writers, readers sync.WaitGroup
	done := make(chan struct{})
	for i := range 8 {
		writers.Go(func() {
			for range 10 {
				err := WriteFile(t.Context(), path, Options{Overwrite: true}, put(content(i)), wants(content(i)))
				if err != nil {
					t.Error(err)
				}
			}
		})
	}
	readers.Go(func() {
		for {
			select {
			case <-done:
				return
			default:
			}
			got, err := os.ReadFile(path)
			var i int
			if _, scan := fmt.Sscanf(string(got), "writer %d\n", &i); err != nil || scan != nil || string(got) != content(i) {
				t.Errorf("a reader saw %d bytes that no writer wrote, %v, %v", len(got), err, scan)
			}
		}
	})
	writers.Wait()
	close(done)
	readers.Wait()
	got, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	expect(t, path, string(got))
}

// A writer starts and ends while another is at work on the same destination.
func TestNested(t *testing.T) {
	path := seed(t)
	opts := Options{Overwrite: true}
	err := WriteFile(t.Context(), path, opts, func(f *os.File) error {
		if err := WriteFile(t.Context(), path, opts, put("inner"), wants("inner")); err != nil {
			return err
		}
		return put(newText)(f)
	}, wants(newText))
	if err != nil {
		t.Fatal(err)
	}
	expect(t, path, newText)
}
