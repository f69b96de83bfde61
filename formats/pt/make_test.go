package pt_test

import (
	"archive/zip"
	"bytes"
	"context"
	"encoding/binary"
	"fmt"
	"io"
	"math"
	"slices"
	"strconv"
	"strings"
	"testing"

	"ckpt/formats"
	"ckpt/formats/pt"
	"ckpt/pickle"
	"ckpt/pytree"
)

// py writes one value into a pickle. The functions below make such values, so
// that a test can say what Python would have saved.
type py func(w *pickle.Writer)

func none() py            { return func(w *pickle.Writer) { w.None() } }
func boolean(b bool) py   { return func(w *pickle.Writer) { w.Bool(b) } }
func num(i int64) py      { return func(w *pickle.Writer) { w.Int(i) } }
func real(f float64) py   { return func(w *pickle.Writer) { w.Float(f) } }
func str(s string) py     { return func(w *pickle.Writer) { w.Text(s) } }
func bytesP2(s string) py { return func(w *pickle.Writer) { w.BytesP2([]byte(s)) } }

// global is a class or function: "torch.Size".
func global(name string) py {
	i := strings.LastIndexByte(name, '.')
	return func(w *pickle.Writer) { w.Global(name[:i], name[i+1:]) }
}

func tuple(items ...py) py {
	return func(w *pickle.Writer) {
		w.Mark()
		each(w, items)
		w.Tuple(pickle.FromMark)
	}
}

func list(items ...py) py {
	return func(w *pickle.Writer) {
		w.EmptyList()
		w.Mark()
		each(w, items)
		w.Appends()
	}
}

// dict is a dict of keys and values in turn.
func dict(pairs ...py) py {
	return func(w *pickle.Writer) {
		w.EmptyDict()
		w.Mark()
		each(w, pairs)
		w.SetItems()
	}
}

// ordered is an OrderedDict of keys and values in turn.
func ordered(pairs ...py) py {
	return func(w *pickle.Writer) {
		call("collections.OrderedDict")(w)
		w.Mark()
		each(w, pairs)
		w.SetItems()
	}
}

// call is a call of a function.
func call(name string, args ...py) py { return apply(global(name), args...) }

func apply(f py, args ...py) py {
	return func(w *pickle.Writer) {
		f(w)
		tuple(args...)(w)
		w.Reduce()
	}
}

// callOf is a call of a function with the tuple of its arguments.
func callOf(name string, args py) py {
	return func(w *pickle.Writer) {
		global(name)(w)
		args(w)
		w.Reduce()
	}
}

// newEx is an instance of a class made with the dict of its keyword arguments.
func newEx(class string, kwargs py) py {
	return func(w *pickle.Writer) {
		global(class)(w)
		w.EmptyTuple()
		kwargs(w)
		w.NewObjEx()
	}
}

// object is an instance of a class whose __dict__ is of keys and values in turn.
func object(class string, pairs ...py) py {
	return func(w *pickle.Writer) {
		global(class)(w)
		w.EmptyTuple()
		w.NewObj()
		if len(pairs) > 0 {
			dict(pairs...)(w)
			w.Build()
		}
	}
}

// with is a value that is then given a state.
func with(v, state py) py {
	return func(w *pickle.Writer) {
		v(w)
		state(w)
		w.Build()
	}
}

// once is a value that is the same object wherever it occurs.
func once(v py) py {
	key := new(int)
	return func(w *pickle.Writer) {
		if i, ok := w.Memo(key); ok {
			w.Get(i)
			return
		}
		v(w)
		w.SetMemo(key)
	}
}

func each(w *pickle.Writer, items []py) {
	for _, v := range items {
		v(w)
	}
}

// storage is a reference to a storage: "FloatStorage" and so on.
func storage(class, key string, numel int64) py {
	return persistent(tuple(str("storage"), global("torch."+class), str(key), str("cpu"), num(numel)))
}

func persistent(id py) py {
	return func(w *pickle.Writer) {
		id(w)
		w.PersID()
	}
}

func ints(ns ...int64) py {
	items := make([]py, len(ns))
	for i, n := range ns {
		items[i] = num(n)
	}
	return tuple(items...)
}

// floats is a plain float32 tensor of a storage of n elements.
func floats(key string, n, offset int64, shape, strides []int64) py {
	return call("torch._utils._rebuild_tensor_v2", storage("FloatStorage", key, n), num(offset), ints(shape...), ints(strides...), boolean(false), call("collections.OrderedDict"))
}

func pickled(t testing.TB, v py) []byte {
	t.Helper()
	var b bytes.Buffer
	w := pickle.NewWriter(&b)
	v(w)
	if _, err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

// float32s is so many floats, 0, 1, 2, and so on.
func float32s(n int) []byte {
	var b []byte
	for i := range n {
		b = binary.LittleEndian.AppendUint32(b, math.Float32bits(float32(i)))
	}
	return b
}

// part is a member of an archive.
type part struct {
	name string
	data []byte
}

// archive is a torch zip of a value and storages with the keys 0, 1, ….
func archive(t testing.TB, v py, storages ...[]byte) []byte {
	t.Helper()
	parts := []part{{"archive/data.pkl", pickled(t, v)}}
	for i, s := range storages {
		parts = append(parts, part{"archive/data/" + strconv.Itoa(i), s})
	}
	return zipped(t, zip.Store, append(parts, part{"archive/version", []byte("3\n")})...)
}

func zipped(t testing.TB, method uint16, parts ...part) []byte {
	t.Helper()
	var b bytes.Buffer
	z := zip.NewWriter(&b)
	for _, p := range parts {
		w, err := z.CreateHeader(&zip.FileHeader{Name: p.name, Method: method})
		if err != nil {
			t.Fatal(err)
		}
		if _, err := w.Write(p.data); err != nil {
			t.Fatal(err)
		}
	}
	if err := z.Close(); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

func open(data []byte) (*formats.Checkpoint, error) {
	return formats.List{pt.Format}.Open(bytes.NewReader(data), int64(len(data)), "pt")
}

func mustOpen(t testing.TB, data []byte) *formats.Checkpoint {
	t.Helper()
	c, err := open(data)
	if err != nil {
		t.Fatal(err)
	}
	return c
}

// rewritten is what the format writes of a tree.
func rewritten(t testing.TB, tree *pytree.Tree) []byte {
	t.Helper()
	var b bytes.Buffer
	o := formats.NewOutput(context.Background(), &b, nil)
	if err := pt.Format.Write(o, tree); err != nil {
		t.Fatal(err)
	}
	if err := o.Flush(); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

// lines is what a checkpoint holds, a line for each leaf and each container that
// is not plain; a tensor of up to 16 bytes with its elements' bytes in hex.
func lines(t testing.TB, tree *pytree.Tree) []string {
	t.Helper()
	var out []string
	add := func(p pytree.Path, format string, args ...any) {
		out = append(out, p.Dotted()+": "+fmt.Sprintf(format, args...))
	}
	tree.Walk(pytree.Visitor{
		Enter: func(p pytree.Path, c *pytree.Container) bool {
			if !c.Plain() {
				add(p, "%s%s", c.Type, strings.TrimSuffix(fmt.Sprintf(" %s", c.Attrs), " []"))
			}
			return true
		},
		Leaf: func(p pytree.Path, n pytree.Node) bool {
			switch n := n.(type) {
			case *pytree.Tensor:
				add(p, "%s %s%s", n.DType, pytree.ShapeString(n.Shape), hexOf(t, n))
			case *pytree.Scalar:
				add(p, "%s%s", strings.TrimPrefix(n.Class+" ", " "), fmt.Sprint(n.V))
			case *pytree.Opaque:
				add(p, "<%s %s>", n.Type, n.Text)
			case *pytree.Ref:
				add(p, "-> %s", n.Path)
			}
			return true
		},
	})
	return out
}

func hexOf(t testing.TB, x *pytree.Tensor) string {
	if x.Bytes() > 16 {
		return ""
	}
	return fmt.Sprintf(" %x", contentOf(t, x))
}

func contentOf(t testing.TB, x *pytree.Tensor) []byte {
	t.Helper()
	rc, err := x.Open()
	if err != nil {
		t.Fatal(err)
	}
	defer rc.Close()
	b, err := io.ReadAll(rc)
	if err != nil {
		t.Fatal(err)
	}
	return b
}

// tensorAt is the tensor at a dotted path.
func tensorAt(t testing.TB, tree *pytree.Tree, path string) *pytree.Tensor {
	t.Helper()
	for p, n := range tree.Leaves() {
		if x, ok := n.(*pytree.Tensor); ok && p.Dotted() == path {
			return x
		}
	}
	t.Fatalf("there is no tensor %s among %q", path, lines(t, tree))
	return nil
}

func checkLines(t *testing.T, why string, tree *pytree.Tree, want ...string) {
	t.Helper()
	if got := lines(t, tree); !slices.Equal(got, want) {
		t.Errorf("%s:\n\tgot  %s\n\twant %s", why, strings.Join(got, "\n\t     "), strings.Join(want, "\n\t     "))
	}
}
