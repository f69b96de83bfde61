package pt_test

import (
	"bytes"
	"strings"
	"testing"

	"ckpt/pickle"
)

// set is an object whose state a function sets, as pickle writes the sixth item
// of what __reduce__ returns.
func set(obj, setter, state py) py {
	return func(w *pickle.Writer) {
		obj(w)
		i := w.Put()
		setter(w)
		w.Get(i)
		state(w)
		w.Tuple(2)
		w.Reduce()
		w.Pop()
	}
}

// TestUnseen checks that what a pickle does besides building its tree is shown,
// kept or at least said.
func TestUnseen(t *testing.T) {
	w := floats("0", 6, 0, []int64{2}, []int64{1})
	pair := "float32 [2] 000000000000803f"
	shared := once(object("my.Key", str("n"), num(1)))
	for _, tt := range []struct {
		why  string
		v    py
		want []string
		note string
	}{
		{"state that a function sets holds tensors", list(set(object("my.C"), global("my.setter"), dict(str("w"), w))),
			[]string{"0: my.C", "0.__setstate__.w: " + pair}, ""},
		{"a tensor in a key is not listed, but said", dict(tuple(w, num(1)), num(3)), nil, "not listed: 1 of the tensors"},
		{"a call that is dropped would run all the same", func(p *pickle.Writer) {
			list(num(1))(p)
			call("os.system", str("echo"))(p)
			p.Pop()
		}, []string{"0: 1"}, "os.system"},
		{"a GraphModule is a module", call("torch.fx.graph_module.reduce_graph_module",
			dict(str("_parameters"), ordered(str("w"), w), str("_buffers"), ordered(), str("_modules"), ordered(), str("training"), boolean(false)), str("import torch")),
			[]string{": torch.fx.graph_module.reduce_graph_module", "w: " + pair, "training: false", "1: import torch"}, ""},
		{"a bound method is no name", list(call("builtins.getattr", shared, str("meth")), shared),
			[]string{"0: getattr", "0.0: my.Key", "0.0.n: 1", "0.1: meth", "1: my.Key", "1.n: 1"}, ""},
	} {
		c := mustOpen(t, archive(t, tt.v, float32s(6)))
		if notes := strings.Join(c.Notes, "; "); !strings.Contains(notes, tt.note) {
			t.Errorf("%s: notes %q, want %q", tt.why, notes, tt.note)
		}
		if tt.want != nil {
			checkLines(t, tt.why, c.Tree, tt.want...)
		}
		first := rewritten(t, c.Tree)
		back := mustOpen(t, first)
		if tt.want != nil {
			checkLines(t, tt.why+", rewritten", back.Tree, tt.want...)
		}
		if second := rewritten(t, back.Tree); !bytes.Equal(first, second) {
			t.Errorf("%s: a rewrite of the rewrite differs", tt.why)
		}
	}
}

// TestKeyIdentity checks that an object which is a mapping key is still the object
// that is a value elsewhere, after a rewrite.
func TestKeyIdentity(t *testing.T) {
	key := once(object("my.Key", str("n"), num(1)))
	c := mustOpen(t, archive(t, list(key, dict(key, num(1)), dict(tuple(str("a"), key), num(2)))))
	data := rewritten(t, c.Tree)
	p := pickleOf(t, data)
	items := p.Root.Obj().Items
	first := items[0].Obj()
	if k := items[1].Obj().Items[0].Obj(); k != first {
		t.Error("the key is another object than the value")
	}
	if k := items[2].Obj().Items[0].Obj().Items[1].Obj(); k != first {
		t.Error("the object in the tuple that is a key is another one than the value")
	}
}

// pickleOf reads the pickle of an archive that was written.
func pickleOf(t *testing.T, data []byte) *pickle.Pickle {
	t.Helper()
	begin := bytes.Index(data, []byte("\x80\x02"))
	p, err := pickle.Read(bytes.NewReader(data), int64(begin), int64(len(data)))
	if err != nil {
		t.Fatal(err)
	}
	return p
}
