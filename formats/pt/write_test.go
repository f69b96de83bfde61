package pt_test

import (
	"archive/zip"
	"bytes"
	"context"
	"errors"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"ckpt/formats"
	"ckpt/formats/pt"
	"ckpt/pytree"
)

// unzip is the members of an archive, by Go's own reader, which verifies every
// CRC.
func unzip(t testing.TB, data []byte) map[string][]byte {
	t.Helper()
	z, err := zip.NewReader(bytes.NewReader(data), int64(len(data)))
	if err != nil {
		t.Fatal(err)
	}
	out := make(map[string][]byte)
	for _, f := range z.File {
		rc, err := f.Open()
		if err != nil {
			t.Fatal(err)
		}
		b, err := io.ReadAll(rc)
		if err = errors.Join(err, rc.Close()); err != nil {
			t.Fatalf("%s: %v", f.Name, err)
		}
		out[f.Name] = b
	}
	return out
}

// TestLayout checks what torch's own files look like: members stored, each at a
// multiple of 64 bytes, no times, the pickle first and the version last.
func TestLayout(t *testing.T) {
	v := dict(str("a"), floats("0", 5, 0, []int64{5}, []int64{1}), str("b"), floats("1", 33, 0, []int64{33}, []int64{1}))
	data := rewritten(t, mustOpen(t, archive(t, v, float32s(5), float32s(33))).Tree)
	z, err := zip.NewReader(bytes.NewReader(data), int64(len(data)))
	if err != nil {
		t.Fatal(err)
	}
	var names []string
	for _, f := range z.File {
		names = append(names, f.Name)
		off, err := f.DataOffset()
		if err != nil || off%64 != 0 {
			t.Errorf("%s begins at byte %d, which is no multiple of 64 (%v)", f.Name, off, err)
		}
		if f.Method != zip.Store || f.Flags != 0x808 || f.ModifiedTime != 0 || f.ModifiedDate != 0 {
			t.Errorf("%s: method %d, flags %#x, time %d %d", f.Name, f.Method, f.Flags, f.ModifiedDate, f.ModifiedTime)
		}
	}
	want := []string{"archive/data.pkl", "archive/byteorder", "archive/data/0", "archive/data/1", "archive/version"}
	if !slices.Equal(names, want) {
		t.Errorf("members %q, want %q", names, want)
	}
	m := unzip(t, data)
	if string(m["archive/version"]) != "3\n" || string(m["archive/byteorder"]) != "little" {
		t.Errorf("version %q, byteorder %q", m["archive/version"], m["archive/byteorder"])
	}
}

// TestCompaction checks which bytes of a storage are written.
func TestCompaction(t *testing.T) {
	whole := float32s(100)
	view := func(offset int64, shape, strides []int64) py { return floats("0", 100, offset, shape, strides) }
	slice := func(from, to int) []byte { return whole[4*from : 4*to] }
	for _, tt := range []struct {
		why   string
		value py
		want  []byte // of storage 0
	}{
		{"a slice does not drag its storage along", view(10, []int64{5}, []int64{1}), slice(10, 15)},
		{"a strided view takes what lies between, too", view(10, []int64{3}, []int64{4}), slice(10, 19)},
		{"a transposed matrix keeps its layout", view(20, []int64{2, 3}, []int64{1, 2}), slice(20, 26)},
		{"an expanded element is one", view(7, []int64{1000}, []int64{0}), slice(7, 8)},
		{"an empty tensor takes nothing", view(7, []int64{0}, []int64{1}), nil},
		{"two views keep the storage whole, so that they stay tied",
			dict(str("a"), view(10, []int64{2}, []int64{1}), str("b"), view(50, []int64{2}, []int64{1})), whole},
		{"one tensor at two places is one view",
			func() py { x := once(view(10, []int64{5}, []int64{1})); return dict(str("a"), x, str("b"), x) }(), slice(10, 15)},
		{"a storage by itself is shared with its view",
			list(storage("FloatStorage", "0", 100), view(10, []int64{5}, []int64{1})), whole},
		{"a tensor in what is carried unseen counts",
			dict(str("a"), view(10, []int64{2}, []int64{1}), str("b"), with(ordered(), dict(str("_metadata"), view(50, []int64{2}, []int64{1})))), whole},
	} {
		c := mustOpen(t, archive(t, tt.value, whole))
		out := rewritten(t, c.Tree)
		if got := unzip(t, out)["archive/data/0"]; !bytes.Equal(got, tt.want) {
			t.Errorf("%s: %d bytes are kept, want %d", tt.why, len(got), len(tt.want))
		}
		back := mustOpen(t, out)
		if err := pytree.Same(c.Tree, back.Tree); err != nil {
			t.Errorf("%s: %v", tt.why, err)
		}
		for p, n := range c.Tree.Leaves() {
			x, ok := n.(*pytree.Tensor)
			if !ok {
				continue
			}
			other, _ := back.Tree.Find(p)
			y := other.(*pytree.Tensor)
			if !bytes.Equal(contentOf(t, x), contentOf(t, y)) || !slices.Equal(x.Strides, y.Strides) {
				t.Errorf("%s: %s: the values or strides differ", tt.why, p)
			}
		}
	}
}

// TestIdentity checks that what was one object stays one, and what was two stays
// two.
func TestIdentity(t *testing.T) {
	w := floats("0", 6, 0, []int64{6}, []int64{1})
	shared := once(list(num(1), w))
	c := mustOpen(t, archive(t, dict(str("a"), shared, str("b"), shared, str("c"), list(num(1), w), str("t"), w, str("u"), w), float32s(6)))
	for range 2 {
		at := func(k string) pytree.Node {
			n, ok := c.Tree.Find(pytree.MakePath(pytree.StringKey(k)))
			if !ok {
				t.Fatalf("there is no %q", k)
			}
			return n
		}
		if at("a") != at("b") || at("a") == at("c") {
			t.Error("lists that were one object, and others that were not, are not kept apart")
		}
		if tensor := func(k string) *pytree.Tensor { return at(k).(*pytree.Tensor) }; tensor("t") == tensor("u") || tensor("t").Storage != tensor("u").Storage {
			t.Error("two tensors with one storage became one tensor, or lost their tie")
		}
		c = mustOpen(t, rewritten(t, c.Tree))
	}
}

// TestOtherVariants checks that every kind of archive, and the older formats,
// become the same zip.
func TestOtherVariants(t *testing.T) {
	base := read(t, "zip-bare")
	for _, name := range []string{"zip-no-crc", "zip-64", "zip-64-local", "zip-comment", "zip-prefix", "zip-reordered", "zip-root-name", "zip-unaligned", "zip-alignment-512"} {
		if got := read(t, name); !bytes.Equal(got, base) {
			t.Errorf("%s is not rewritten as zip-bare is: %d bytes, %d", name, len(got), len(base))
		}
	}
}

// read is the rewrite of a sample by torch 2.15.
func read(t *testing.T, name string) []byte {
	t.Helper()
	data, err := os.ReadFile(filepath.Join(samples, name+".torch2.15.pt"))
	if err != nil {
		t.Fatal(err)
	}
	return rewritten(t, mustOpen(t, data).Tree)
}

// TestCannotWrite checks what torch has no way to hold.
func TestCannotWrite(t *testing.T) {
	tensor := func(d pytree.DType, item int) *pytree.Tensor {
		return &pytree.Tensor{DType: d, ItemSize: item, Shape: []int64{1}, Storage: &pytree.Storage{Source: make(pytree.Bytes, 16)}}
	}
	at := func(n pytree.Node) *pytree.Tree {
		return &pytree.Tree{Root: pytree.NewDict(pytree.Entry{Key: pytree.StringKey("x"), Value: n})}
	}
	for _, tt := range []struct {
		why  string
		tree *pytree.Tree
		want string
	}{
		{"a dtype of another world", at(tensor("<U4", 16)), "x: torch has no dtype <U4"},
		{"an opaque of another format", at(&pytree.Opaque{Type: "arrow.Union"}), "x: a arrow.Union cannot be written into a PyTorch file"},
		{"an object without its construction", at(&pytree.Container{Kind: pytree.Object, Type: "my.Thing"}), "x: an object of class my.Thing that was not read from a PyTorch file cannot be written"},
		{"a scalar of an unknown type", at(&pytree.Scalar{V: struct{}{}}), "x: a scalar of type struct {} cannot be written"},
		{"a reference to nothing", at(&pytree.Ref{}), "x: a reference to what is no container"},
		{"a key known only by its looks", &pytree.Tree{Root: pytree.NewDict(pytree.Entry{Key: pytree.OtherKey("(1, 2)"), Value: &pytree.Scalar{}})}, "the key (1, 2) cannot be written: only its printed form is known"},
		{"a storage that is elsewhere", mustOpen(t, pickled(t, dict(str("x"), storage("FloatStorage", "0", 1)))).Tree, "x: a storage that is not in the file cannot be written"},
		{"nothing at all", &pytree.Tree{}, "a node of type <nil> cannot be written"},
	} {
		err := write(tt.tree)
		if err == nil || !strings.Contains(err.Error(), tt.want) {
			t.Errorf("%s: error %v, want %q", tt.why, err, tt.want)
		}
	}
}

func write(tree *pytree.Tree) error {
	o := formats.NewOutput(context.Background(), io.Discard, nil)
	return errors.Join(pt.Format.Write(o, tree), o.Flush())
}
