package inspect

import (
	"flag"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"ckpt/pytree"
)

var update = flag.Bool("update", false, "rewrite the expected texts")

// model is a flat state dict of four layers, the last of which is odd.
func model() *pytree.Container {
	c := typed("collections.OrderedDict", dict(e("embed.weight", f32(10, 8))), "_metadata")
	for i := range 4 {
		p := "layers." + strconv.Itoa(i)
		norm := f32(8)
		if i == 2 {
			norm = f32(8, 1)
		}
		c.Entries = append(c.Entries, e(p+".attn.q.weight", f32(8, 8)), e(p+".norm.scale", norm))
	}
	tied := *c.Entries[0].Value.(*pytree.Tensor)
	c.Entries = append(c.Entries, e("head.weight", &tied))
	return c
}

func textTree() pytree.Node {
	state := dict()
	for i := range 5 {
		shape := []int64{8, 8}
		if i == 3 {
			shape = []int64{10, 8}
		}
		state.Entries = append(state.Entries, e(i, dict(e("step", f32()), e("exp_avg", f32(shape...)))))
	}
	betas := pytree.NewList(scalar(0.9), scalar(0.999))
	betas.Type = "tuple"
	params := pytree.NewList()
	for i := range 100 {
		params.Entries = append(params.Entries, e(i, scalar(int64(i))))
	}
	return dict(
		e("version", scalar("2.0")),
		e("model", model()),
		e("optimizer", dict(e("state", state), e("param_groups", pytree.NewList(dict(e("betas", betas), e("params", params), e("foreach", scalar(nil))))))),
		e("rng", typed("some.Generator", dict(e("seed", scalar([]byte("0123456789abcdef")))))),
		e("clients", dict(e(10, dict(e("n", scalar(int64(1))))), e(2, dict(e("n", scalar(int64(2))))))),
		e("device", &pytree.Opaque{Type: "torch.device", Text: "cuda:0"}),
		e("empty", pytree.NewList()),
		e("loop", &pytree.Ref{Path: pytree.MakePath(pytree.StringKey("model"))}),
		e("a.b", scalar(int64(1))),
		e("a", dict(e("b", scalar(int64(2))))),
		e("evil\x1b[31m\u202e", scalar("text\n\x1b[0m")),
		e("", scalar(true)),
		e("long", scalar(strings.Repeat("long ", 100))),
	)
}

func TestText(t *testing.T) {
	for _, c := range []struct {
		file string
		opt  Options
	}{
		{"tree", Options{}},
		{"full", Options{Full: true}},
		{"at", Options{At: "optimizer.state"}},
		{"depth", Options{Depth: 2}},
		{"match", Options{Match: "**.weight"}},
		{"digest", Options{Match: "model.**", Digest: true}},
		{"stats", Options{Match: "model.**", Stats: true}},
	} {
		t.Run(c.file, func(t *testing.T) {
			r := run(t, textTree(), c.opt)
			r.Unreferenced = 5000
			r.Checkpoint.Notes = []string{"3 bytes after the end are not read"}
			got := text(t, r)
			name := filepath.Join("testdata", c.file+".txt")
			if *update {
				if err := os.WriteFile(name, []byte(got), 0o666); err != nil {
					t.Fatal(err)
				}
				return
			}
			want, err := os.ReadFile(name)
			if err != nil {
				t.Fatal(err)
			}
			if got != string(want) {
				t.Errorf("got:\n%s\nwant:\n%s", got, want)
			}
		})
	}
}

// Lines must stand for every entry exactly once, folded or not, and their sizes
// and parameters add up to the totals.
func TestTextComplete(t *testing.T) {
	rng := rand.New(rand.NewPCG(9, 10))
	for range 500 {
		root := randomTree(rng)
		for _, opt := range []Options{{}, {Depth: 1}, {Depth: 2}, {Match: "**.w"}, {Full: true}} {
			q, err := NewQuery(opt)
			if err != nil {
				t.Fatal(err)
			}
			r, err := q.Run(t.Context(), "x", checkpoint(root), nil)
			if err != nil {
				continue // the pattern matches nothing
			}
			entries := 0
			for p := range (&pytree.Tree{Root: root}).Entries() {
				if q.selects(p, p.Dotted()) {
					entries++
				}
			}
			o, err := newOutline(r)
			if err != nil {
				t.Fatal(err)
			}
			var got Totals
			sum := 0
			nest(o.fold()).each(0, func(_ int, w *row) {
				if w.heading {
					return
				}
				sum += w.entries
				got.Tensors += w.tensors
				got.Parameters += w.count.elements
				got.TensorBytes += w.count.bytes
			})
			if sum != entries || got != r.Selected {
				t.Fatalf("%+v: lines stand for %d entries, %+v; there are %d, %+v\n%s", opt, sum, got, entries, r.Selected, text(t, r))
			}
		}
	}
}

// What is under a heading must be true of it: the sums are the heading's.
func TestHeadingSums(t *testing.T) {
	rng := rand.New(rand.NewPCG(11, 12))
	for range 500 {
		o, err := newOutline(run(t, randomTree(rng), Options{}))
		if err != nil {
			t.Fatal(err)
		}
		var sum func(w *row) (entries, tensors int)
		sum = func(w *row) (entries, tensors int) {
			if !w.heading && w.local != "root" {
				return w.entries, w.tensors
			}
			for _, c := range w.children {
				e, n := sum(c)
				entries, tensors = entries+e, tensors+n
			}
			if w.heading && (entries != w.entries || tensors != w.tensors) {
				t.Fatalf("%s: %d entries, %d tensors; below it %d, %d", w.name, w.entries, w.tensors, entries, tensors)
			}
			return entries, tensors
		}
		root := nest(o.fold())
		root.local = "root"
		sum(root)
	}
}

func TestNumbers(t *testing.T) {
	for _, c := range []struct {
		n           uint64
		size, count string
	}{
		{0, "0 B", "0"},
		{1023, "1023 B", "1023"},
		{1024, "1.0 KiB", "1024"},
		{99_999, "97.6 KiB", "99999"},
		{100_000, "97.6 KiB", "100 K"},
		{1<<20 - 1, "1023 KiB", "1.0 M"},
		{312_456_789, "297 MiB", "312 M"},
		{math.MaxUint64, "16.0 EiB", "18.4 E"},
	} {
		if got := Size(c.n); got != c.size {
			t.Errorf("size of %d: %s, want %s", c.n, got, c.size)
		}
		if got := Count(c.n); got != c.count {
			t.Errorf("count of %d: %s, want %s", c.n, got, c.count)
		}
	}
}

func TestLongPreview(t *testing.T) {
	for _, c := range []struct {
		l    *pytree.Long
		want string
		why  string
	}{
		{&pytree.Long{Source: long(strings.Repeat("ab", 500)), Text: true}, `"abababababababababab…" of 1000 B`, "the begin, and how long it is"},
		{&pytree.Long{Source: long(strings.Repeat("\x01", 500))}, "0x0101010101… of 500 B", "bytes"},
		{&pytree.Long{Source: broken{500}, Text: true}, "of 500 B", "a preview is not worth an error"},
	} {
		if got := valueText(c.l, 20); got != c.want {
			t.Errorf("%s, want %s: %s", got, c.want, c.why)
		}
	}
}

var escape = regexp.MustCompile("\x1b\\[[0-9]*m")

// Colour adds nothing but colour.
func TestColor(t *testing.T) {
	r := run(t, textTree(), Options{})
	var plain, colored strings.Builder
	if err := r.WriteText(&plain, TextOptions{Width: 100}); err != nil {
		t.Fatal(err)
	}
	if err := r.WriteText(&colored, TextOptions{Width: 100, Color: true}); err != nil {
		t.Fatal(err)
	}
	if plain.String() == colored.String() || escape.ReplaceAllString(colored.String(), "") != plain.String() {
		t.Errorf("%s\nis not in colour what this is without:\n%s", colored.String(), plain.String())
	}
	if escape.MatchString(plain.String()) {
		t.Error("an escape sequence of the file's, or colour that nobody asked for")
	}
}
