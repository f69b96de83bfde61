package durable

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

func TestTempNames(t *testing.T) {
	long := strings.Repeat("é", 127)
	names := []string{"x", "x.pt", ".x", "a.ckpt-tmp-1-0123456789abcdef", long, long[:252] + "x", strings.Repeat("n", 255)}
	for _, name := range names {
		d := dest{dir: t.TempDir() + string(filepath.Separator), name: name}
		tmp, err := createTemp(d, 0o600)
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		made := filepath.Base(tmp.path)
		for _, other := range names {
			if got := isTemp(made, tempPrefix(other)); got != (other == name) {
				t.Errorf("is %s a temporary file of %s: %v", made, other, got)
			}
		}
		if err := tmp.discard(); err != nil {
			t.Error(err)
		}
	}
}

// Only what bears the exact name of a leftover is removed.
func TestClearLeftovers(t *testing.T) {
	path := seed(t)
	dir := filepath.Dir(path)
	const id = "0123456789abcdef"
	leftovers := []string{".x.pt.ckpt-tmp-1-" + id, ".x.pt.ckpt-tmp-99999999-" + strings.Repeat("0", 16)}
	others := []string{
		"x.pt.ckpt-tmp-1-" + id, ".x.pt.ckpt-tmp-1-" + id + "0", ".x.pt.ckpt-tmp-1-" + id[1:], ".x.pt.ckpt-tmp--" + id,
		".x.pt.ckpt-tmp-1a-" + id, ".x.pt.ckpt-tmp-1-" + strings.ToUpper(id), ".x.pt.ckpt-tmp-", ".y.pt.ckpt-tmp-1-" + id,
		".x.pt.ckpt-tmp-1-" + id + ".ckpt-tmp-1-" + id,
	}
	for _, name := range append(leftovers, others...) {
		if err := os.WriteFile(filepath.Join(dir, name), nil, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	subdir := filepath.Join(dir, ".x.pt.ckpt-tmp-2-"+id) // not a file, so not ours
	if err := os.Mkdir(subdir, 0o700); err != nil {
		t.Fatal(err)
	}
	if err := WriteBytes(t.Context(), path, Options{}, nil); err == nil {
		t.Fatal("replaced unasked")
	}
	for _, name := range leftovers {
		if _, err := os.Lstat(filepath.Join(dir, name)); err != nil {
			t.Errorf("a refused write has touched %s: %v", name, err)
		}
	}
	if err := WriteBytes(t.Context(), path, Options{Overwrite: true}, []byte(newText)); err != nil {
		t.Fatal(err)
	}
	for _, name := range leftovers {
		if _, err := os.Lstat(filepath.Join(dir, name)); err == nil {
			t.Errorf("leftover %s is still there", name)
		}
	}
	for _, name := range append(others, filepath.Base(subdir)) {
		if _, err := os.Lstat(filepath.Join(dir, name)); err != nil {
			t.Errorf("%s is gone: %v", name, err)
		}
	}
}
