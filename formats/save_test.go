package formats_test

import (
	"bytes"
	"context"
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"

	"ckpt/formats"
	"ckpt/formats/pt"
	"ckpt/pytree"
)

// checkpoint is a tree with a tensor large enough to be copied in the kernel.
func checkpoint() *pytree.Tree {
	w := &pytree.Tensor{DType: pytree.Float32, Shape: []int64{256, 256}, Storage: &pytree.Storage{Source: pytree.Bytes(pattern(1 << 18))}}
	return &pytree.Tree{Root: pytree.NewDict(
		pytree.Entry{Key: pytree.StringKey("w"), Value: w},
		pytree.Entry{Key: pytree.StringKey("tied"), Value: w},
		pytree.Entry{Key: pytree.StringKey("step"), Value: &pytree.Scalar{V: int64(7)}},
	)}
}

// open opens a file with the PyTorch format. The file is closed with the test.
func open(t *testing.T, path string) *formats.Checkpoint {
	t.Helper()
	f, err := os.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { f.Close() })
	info, err := f.Stat()
	if err != nil {
		t.Fatal(err)
	}
	c, err := formats.List{pt.Format}.Open(f, info.Size(), "")
	if err != nil {
		t.Fatal(err)
	}
	return c
}

// only checks that dir holds nothing but the named files.
func only(t *testing.T, dir string, names ...string) {
	t.Helper()
	entries, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, e := range entries {
		got = append(got, e.Name())
	}
	if strings.Join(got, " ") != strings.Join(names, " ") {
		t.Errorf("the folder holds %q, want %q", got, names)
	}
}

func TestSave(t *testing.T) {
	ctx := context.Background()
	dir := t.TempDir()
	path := filepath.Join(dir, "x.pt")
	var done atomic.Int64
	tree := checkpoint()
	c, err := formats.Save(ctx, path, pt.Format, tree, formats.SaveOptions{Progress: func(n int64) { done.Add(n) }})
	if err != nil {
		t.Fatal(err)
	}
	first, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if c.Size != int64(len(first)) || c.Format != pt.Format || done.Load() < c.Size+1<<18 {
		t.Errorf("size %d of %d, progress %d: it should count what is written and what is read back", c.Size, len(first), done.Load())
	}
	if err := pytree.Same(tree, open(t, path).Tree); err != nil {
		t.Error(err)
	}
	only(t, dir, "x.pt")

	if _, err := formats.Save(ctx, path, pt.Format, tree, formats.SaveOptions{}); !errors.Is(err, fs.ErrExist) {
		t.Errorf("an existing file: error %v", err)
	}

	// The file is rewritten from itself: its bytes are read while the new ones are
	// written, and are the same.
	own := open(t, path)
	if _, err := formats.Save(ctx, path, pt.Format, own.Tree, formats.SaveOptions{Overwrite: true}); err != nil {
		t.Fatal(err)
	}
	if second, err := os.ReadFile(path); err != nil || !bytes.Equal(first, second) {
		t.Errorf("rewritten from itself, the file changed (%v)", err)
	}
	only(t, dir, "x.pt")
}

// TestSaveLeavesNothing checks that whatever goes wrong, there is neither a new
// file nor a leftover, and an old file stays as it was.
func TestSaveLeavesNothing(t *testing.T) {
	dir := t.TempDir()
	source := filepath.Join(t.TempDir(), "source.pt")
	if _, err := formats.Save(context.Background(), source, pt.Format, checkpoint(), formats.SaveOptions{}); err != nil {
		t.Fatal(err)
	}
	data, err := os.ReadFile(source)
	if err != nil {
		t.Fatal(err)
	}
	at := bytes.Index(data, pattern(1 << 18)[:64])
	data[at+1000] ^= 1
	if err := os.WriteFile(source, data, 0o666); err != nil {
		t.Fatal(err)
	}
	corrupt := open(t, source).Tree

	lossy := *pt.Format
	lossy.Write = func(o *formats.Output, tree *pytree.Tree) error {
		c := tree.Root.(*pytree.Container)
		return pt.Format.Write(o, &pytree.Tree{Root: pytree.NewDict(c.Entries[1:]...)})
	}
	flips := *pt.Format
	flips.Write = func(o *formats.Output, tree *pytree.Tree) error {
		var b bytes.Buffer
		inner := formats.NewOutput(context.Background(), &b, nil)
		if err := errors.Join(pt.Format.Write(inner, tree), inner.Flush()); err != nil {
			return err
		}
		b.Bytes()[b.Len()/2] ^= 1
		_, err := o.Write(b.Bytes())
		return err
	}
	readOnly := *pt.Format
	readOnly.Write = nil
	canceled, cancel := context.WithCancel(context.Background())
	cancel()
	for _, tt := range []struct {
		why    string
		ctx    context.Context
		format *formats.Format
		tree   *pytree.Tree
		want   string
	}{
		{"a checksum of the source does not hold", nil, pt.Format, corrupt, "the bytes are corrupt"},
		{"a leaf is lost", nil, &lossy, checkpoint(), "reads back different"},
		{"a bit is lost", nil, &flips, checkpoint(), "verify what was written: member"},
		{"the format does not write", nil, &readOnly, checkpoint(), "is only read"},
		{"interrupted", canceled, pt.Format, checkpoint(), "canceled"},
		{"what the format cannot hold", nil, pt.Format, &pytree.Tree{Root: &pytree.Opaque{Type: "elsewhere.Thing"}}, "a elsewhere.Thing cannot be written"},
	} {
		ctx := tt.ctx
		if ctx == nil {
			ctx = context.Background()
		}
		if _, err := formats.Save(ctx, filepath.Join(dir, "x.pt"), tt.format, tt.tree, formats.SaveOptions{}); err == nil || !strings.Contains(err.Error(), tt.want) {
			t.Errorf("%s: error %v, want %q", tt.why, err, tt.want)
		}
		only(t, dir)
	}
	if after, err := os.ReadFile(source); err != nil || !bytes.Equal(after, data) {
		t.Errorf("the source has changed (%v)", err)
	}
}

// TestVerifyChecksums checks that every part is read, and that all that fail are
// named at once.
func TestVerifyChecksums(t *testing.T) {
	file := tempFile(t, pattern(1<<12))
	c := &formats.Checkpoint{}
	for i := range 5 {
		c.Checked = append(c.Checked, failsAt{summed{Section: pytree.Section{R: file, N: 1 << 12}}, i})
	}
	err := formats.VerifyChecksums(context.Background(), c, nil)
	for i := range 5 {
		want := i%2 == 1
		if got := err != nil && strings.Contains(err.Error(), failsAt{n: i}.message()); got != want {
			t.Errorf("part %d: reported %v, want %v: %v", i, got, want, err)
		}
	}
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	if err := formats.VerifyChecksums(ctx, c, nil); !errors.Is(err, context.Canceled) {
		t.Errorf("interrupted: error %v", err)
	}
}

// failsAt is the n-th part; those with odd numbers cannot be read.
type failsAt struct {
	summed
	n int
}

func (f failsAt) message() string { return "part " + string(rune('0'+f.n)) + " is corrupt" }

func (f failsAt) Open() (io.ReadCloser, error) {
	if f.n%2 == 1 {
		return nil, errors.New(f.message())
	}
	return f.summed.Open()
}
