package pt_test

import (
	"archive/zip"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"ckpt/formats"
	"ckpt/formats/pt"
	"ckpt/pytree"
)

// zeros is so many zero bytes that nobody holds.
type zeros int64

func (z zeros) Size() int64 { return int64(z) }

func (z zeros) Open() (io.ReadCloser, error) {
	return io.NopCloser(io.LimitReader(zeroReader{}, int64(z))), nil
}

type zeroReader struct{}

func (zeroReader) Read(p []byte) (int, error) {
	clear(p)
	return len(p), nil
}

// sparse writes to a file, and leaves holes where there are only zeros.
type sparse struct{ f *os.File }

func (s sparse) Write(p []byte) (int, error) {
	if bytes.Equal(p, hole[:min(len(p), len(hole))]) {
		_, err := s.f.Seek(int64(len(p)), io.SeekCurrent)
		return len(p), err
	}
	return s.f.Write(p)
}

var hole [1 << 20]byte

// TestZip64 writes a storage of more than 4 GiB, and one behind it, and has
// Go's reader and Python's read the file.
func TestZip64(t *testing.T) {
	size := int64(5 << 30)
	if testing.Short() {
		size = 4 << 20
	}
	path := filepath.Join(t.TempDir(), "big.pt")
	f, err := os.Create(path)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	tensor := func(src pytree.Source) pytree.Node {
		return &pytree.Tensor{DType: pytree.Uint8, Shape: []int64{src.Size()}, Storage: &pytree.Storage{Source: src}}
	}
	tree := &pytree.Tree{Root: pytree.NewDict(
		pytree.Entry{Key: pytree.StringKey("big"), Value: tensor(zeros(size))},
		pytree.Entry{Key: pytree.StringKey("behind"), Value: tensor(pytree.Bytes("behind"))},
	)}
	o := formats.NewOutput(context.Background(), sparse{f}, nil)
	if err := errors.Join(pt.Format.Write(o, tree), o.Flush()); err != nil {
		t.Fatal(err)
	}
	if err := f.Truncate(o.Offset()); err != nil {
		t.Fatal(err)
	}

	c, err := formats.List{pt.Format}.Open(f, o.Offset(), "")
	if err != nil {
		t.Fatal(err)
	}
	if err := pytree.Same(tree, c.Tree); err != nil {
		t.Error(err)
	}
	if got := contentOf(t, tensorAt(t, c.Tree, "behind")); string(got) != "behind" {
		t.Errorf("behind the large storage there is %q", got)
	}
	z, err := zip.OpenReader(path)
	if err != nil {
		t.Fatal(err)
	}
	defer z.Close()
	for _, m := range z.File {
		if off, err := m.DataOffset(); err != nil || off%64 != 0 {
			t.Errorf("%s begins at byte %d (%v)", m.Name, off, err)
		}
		if m.Name == "archive/data/0" && m.UncompressedSize64 != uint64(size) {
			t.Errorf("the large storage has %d bytes", m.UncompressedSize64)
		}
	}
	python, err := exec.LookPath("python3")
	if err != nil {
		return // a second opinion, where there is one
	}
	script := `import sys, zipfile
z = zipfile.ZipFile(sys.argv[1])
print(z.getinfo("archive/data/0").file_size, z.read("archive/data/1").decode(), z.read("archive/version").decode().strip())`
	out, err := exec.Command(python, "-c", script, path).CombinedOutput()
	if want := fmt.Sprintf("%d behind 3\n", size); err != nil || string(out) != want {
		t.Errorf("python's zipfile: %v: %s, want %s", err, out, want)
	}
}
