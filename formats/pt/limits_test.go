package pt_test

import (
	"bytes"
	"runtime"
	"runtime/metrics"
	"strconv"
	"strings"
	"testing"
	"time"

	"ckpt/formats"
	"ckpt/formats/pt"
	"ckpt/pytree"
)

// frugally runs f and checks that the heap never grows by more than most bytes,
// and that it does not take long: a second, but ten times that for machines that
// are busy or look for races.
func frugally(t *testing.T, why string, most uint64, f func()) {
	t.Helper()
	runtime.GC()
	before := heap()
	stop, peak := make(chan struct{}), make(chan uint64)
	go func() {
		top := heap()
		for {
			select {
			case <-stop:
				peak <- max(top, heap())
				return
			case <-time.After(time.Millisecond):
				top = max(top, heap())
			}
		}
	}()
	start := time.Now()
	f()
	took := time.Since(start)
	close(stop)
	if top := <-peak; top > before+most {
		t.Errorf("%s: the heap grows by %d MiB, more than %d", why, (top-before)>>20, most>>20)
	}
	if took > 10*time.Second {
		t.Errorf("%s: takes %v", why, took)
	}
}

// heap is the bytes of objects on the heap, dead ones included.
func heap() uint64 {
	s := []metrics.Sample{{Name: "/memory/classes/heap/objects:bytes"}}
	metrics.Read(s)
	return s[0].Value.Uint64()
}

// TestQuadraticTraps reads and writes structures that an algorithm which is not
// linear would never be done with.
func TestQuadraticTraps(t *testing.T) {
	const many = 100_000
	items := func(n int, item func(i int) py) []py {
		out := make([]py, n)
		for i := range out {
			out[i] = item(i)
		}
		return out
	}
	pairs := items(2*many, func(i int) py {
		if i%2 == 0 {
			return str("key" + strconv.Itoa(i))
		}
		return num(int64(i))
	})
	shared := once(list(num(1)))
	for _, tt := range []struct {
		why     string
		value   py
		entries int
	}{
		{"an OrderedDict of many keys", ordered(pairs...), many},
		{"a dict of many keys", dict(pairs...), many},
		{"the same key again and again", ordered(items(2*many, func(i int) py { return num(int64(i % 2)) })...), 1},
		{"keys that print alike", dict(items(2000, func(i int) py {
			if i%2 == 0 {
				return object("my.Key")
			}
			return num(1)
		})...), 1000},
		{"one container at many places", list(items(many, func(int) py { return shared })...), many},
		{"many containers", list(items(many, func(i int) py { return list(num(int64(i % 7))) })...), many},
		{"a large set", call("builtins.set", list(items(many, func(i int) py { return num(int64(i)) })...)), many},
		{"a long named tuple", call("my.Point", items(many, func(i int) py { return num(1) })...), many},
		{"many tensors of one storage", list(items(20_000, func(i int) py { return floats("0", 6, int64(i%6), []int64{1}, []int64{1}) })...), 20_000},
		{"a state of many attributes", object("my.Args", pairs...), many},
		{"a name of a million letters", dict(str(strings.Repeat("n", 1<<20)), num(1)), 1},
	} {
		data := archive(t, tt.value, float32s(6))
		var c *formats.Checkpoint
		frugally(t, tt.why, 400<<20, func() {
			var err error
			if c, err = open(data); err != nil {
				t.Errorf("%s: %v", tt.why, err)
			}
		})
		if c == nil {
			continue
		}
		n := 0
		for range c.Tree.Leaves() {
			n++
		}
		if n != tt.entries {
			t.Errorf("%s: %d leaves, want %d", tt.why, n, tt.entries)
		}
		frugally(t, tt.why+", written", 400<<20, func() { rewritten(t, c.Tree) })
	}
}

// module is a pickled nn.Module.
func module(class string, parameters, modules []py, more ...py) py {
	attrs := []py{
		str("training"), boolean(true),
		str("_parameters"), ordered(parameters...),
		str("_buffers"), ordered(str("mean"), none()),
		str("_modules"), ordered(modules...),
	}
	return object(class, append(attrs, more...)...)
}

// TestModules checks that a pickled module is shown as its state_dict(), however
// deep and however shared, and written back as what it was.
func TestModules(t *testing.T) {
	w := floats("0", 6, 0, []int64{2}, []int64{1})
	leaf := func() py { return module("my.Linear", []py{str("weight"), w, str("bias"), none()}, nil) }
	tied := once(leaf())
	v := module("my.Net", nil, []py{str("a"), leaf(), str("b"), tied, str("c"), tied, str("gone"), none()}, str("name"), str("net"))
	c := mustOpen(t, archive(t, v, float32s(6)))
	pair := "float32 [2] 000000000000803f"
	want := []string{
		": my.Net",
		"a.weight: " + pair, "a.bias: <nil>", "a.mean: <nil>", "a.training: true",
		"b.weight: " + pair, "b.bias: <nil>", "b.mean: <nil>", "b.training: true",
		"c.weight: " + pair, "c.bias: <nil>", "c.mean: <nil>", "c.training: true",
		"gone: <nil>", "mean: <nil>", "training: true", "name: net",
	}
	checkLines(t, "a module", c.Tree, want...)
	keys := c.Tree.Root.(*pytree.Container).Entries
	if s, ok := keys[0].Key.IsString(); !ok || s != "a.weight" {
		t.Errorf("the first key is %v, want the one string a.weight", keys[0].Key)
	}
	first := rewritten(t, c.Tree)
	back := mustOpen(t, first)
	checkLines(t, "a module, rewritten", back.Tree, want...)
	if second := rewritten(t, back.Tree); !bytes.Equal(first, second) {
		t.Error("a rewrite of the rewrite differs")
	}

	chain := leaf()
	for range 900 {
		chain = module("my.Seq", nil, []py{str("0"), chain})
	}
	data := archive(t, chain, float32s(6))
	frugally(t, "a chain of modules", 400<<20, func() {
		c, err := open(data)
		if err != nil {
			// Three levels of the pickle for each: deeper than a tree may be.
			if !strings.Contains(err.Error(), "nested deeper than 1000 levels") {
				t.Errorf("a chain of modules: %v", err)
			}
			return
		}
		rewritten(t, c.Tree)
	})

	// Each module twice in the next one: 2^60 names.
	swelling := once(leaf())
	for range 60 {
		swelling = once(module("my.Seq", nil, []py{str("x"), swelling, str("y"), swelling}))
	}
	data = archive(t, swelling, float32s(6))
	frugally(t, "modules that double", 400<<20, func() {
		if _, err := open(data); err == nil || !strings.Contains(err.Error(), "beyond reason for a file of its size") {
			t.Errorf("modules that double: error %v", err)
		}
	})
}

// TestSharedGraphs checks that a graph whose listing would never end is listed
// once, and written back as the graph it was.
func TestSharedGraphs(t *testing.T) {
	double := func(make func(a, b py) py, n int) py {
		v := once(list(num(1)))
		for range n {
			v = once(make(v, v))
		}
		return v
	}
	for _, tt := range []struct {
		why   string
		value py
	}{
		{"tuples", double(func(a, b py) py { return tuple(a, b) }, 100)},
		{"lists", double(func(a, b py) py { return list(a, b) }, 100)},
		{"dicts", double(func(a, b py) py { return dict(str("a"), a, str("b"), b) }, 100)},
		{"objects", double(func(a, b py) py { return object("my.Pair", str("a"), a, str("b"), b) }, 100)},
		{"calls", double(func(a, b py) py { return call("my.pair", a, b) }, 100)},
		{"states unseen", double(func(a, b py) py { return with(ordered(), dict(str("a"), a, str("b"), b)) }, 100)},
	} {
		data := archive(t, tt.value)
		frugally(t, tt.why, 100<<20, func() {
			c, err := open(data)
			if err != nil {
				t.Errorf("%s: %v", tt.why, err)
				return
			}
			n := 0
			for range c.Tree.Entries() {
				n++
			}
			if n > 1000 {
				t.Errorf("%s: %d entries", tt.why, n)
			}
			first := rewritten(t, c.Tree)
			if len(first) > 100<<10 {
				t.Errorf("%s: %d bytes became %d", tt.why, len(data), len(first))
			}
			back := mustOpen(t, first)
			if err := pytree.Same(c.Tree, back.Tree); err != nil {
				t.Errorf("%s: %v", tt.why, err)
			}
		})
	}
}

// TestDeepNesting checks what may nest how deep, and that deeper is an error
// that says so: also where the recursion is not through containers.
func TestDeepNesting(t *testing.T) {
	nest := func(n int, wrap func(v py) py) py {
		v := num(1)
		for range n {
			v = wrap(v)
		}
		return v
	}
	for _, tt := range []struct {
		why  string
		wrap func(v py) py
	}{
		{"lists", func(v py) py { return list(v) }},
		{"dicts", func(v py) py { return dict(str("k"), v) }},
		{"calls of calls", func(v py) py { return apply(apply(global("my.f"), v)) }},
		{"arguments", func(v py) py { return call("my.f", v) }},
		{"states", func(v py) py { return object("my.C", str("a"), v) }},
		{"states unseen", func(v py) py { return with(ordered(), dict(str("a"), v)) }},
		{"Parameters", func(v py) py { return call("torch._utils._rebuild_parameter", v, boolean(true), none()) }},
		{"subclasses", func(v py) py {
			return call("torch._tensor._rebuild_from_type_v2", global("torch._utils._rebuild_parameter"), global("my.T"), tuple(v, boolean(true), none()), none())
		}},
		{"persistent ids", func(v py) py { return persistent(tuple(v)) }},
		{"dtypes", func(v py) py {
			return with(call("numpy.dtype", str("V4"), boolean(false), boolean(true)), tuple(num(3), str("|"), tuple(v, ints(1)), none(), none(), num(4), num(1), num(0)))
		}},
	} {
		if _, err := open(archive(t, nest(100, tt.wrap))); err != nil && strings.Contains(err.Error(), "nested") {
			t.Errorf("%s, 100 deep: %v", tt.why, err)
		}
		data := archive(t, nest(20_000, tt.wrap))
		frugally(t, tt.why, 300<<20, func() {
			if _, err := open(data); err == nil || !strings.Contains(err.Error(), "nested") {
				t.Errorf("%s, 20,000 deep: error %v", tt.why, err)
			} else if len(err.Error()) > 600 {
				t.Errorf("%s, 20,000 deep: an error of %d bytes", tt.why, len(err.Error()))
			}
		})
	}
}

// TestManyMembers opens an archive of very many storages, of which none is read.
func TestManyMembers(t *testing.T) {
	const many = 20_000
	items := make([]py, many)
	parts := []part{{}}
	for i := range items {
		key := strconv.Itoa(i)
		items[i] = floats(key, 6, 0, []int64{6}, []int64{1})
		parts = append(parts, part{"m/data/" + key, float32s(6)})
	}
	parts[0] = part{"m/data.pkl", pickled(t, list(items...))}
	data := zipped(t, 0, parts...)
	f := &reads{r: bytes.NewReader(data)}
	frugally(t, "an archive of many members", 200<<20, func() {
		_, err := formats.List{pt.Format}.Open(f, int64(len(data)), "")
		if err != nil {
			t.Error(err)
		}
	})
	directory := int64(len(data)) - int64(bytes.Index(data, []byte("PK\x01\x02")))
	if most := directory + 3*int64(len(parts[0].data)) + 1<<20; f.n > most {
		t.Errorf("%d bytes are read of a file of %d, %d of them directory", f.n, len(data), directory)
	}
}
