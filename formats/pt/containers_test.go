package pt_test

import (
	"bytes"
	"testing"

	"ckpt/pickle"
	"ckpt/pytree"
)

// TestContainers checks that the types of containers, and what they carry,
// survive: the pickles of the first and the second generation say the same.
func TestContainers(t *testing.T) {
	metadata := ordered(str(""), dict(str("version"), num(1)))
	for _, tt := range []struct {
		why   string
		value py
		want  []string
	}{
		{"dict", dict(str("a"), num(1)), []string{"a: 1"}},
		{"int keys, in their order", dict(num(3), num(1), num(-1), num(2)), []string{"3: 1", "-1: 2"}},
		{"keys of other kinds", dict(none(), num(1), boolean(true), num(2), real(1.5), num(3), ints(1, 2), num(4), bytesP2("x"), num(5)),
			[]string{"None: 1", "True: 2", "1.5: 3", "(1, 2): 4", "b'x': 5"}},
		{"keys that print alike", dict(object("my.Key"), num(1), object("my.Key"), num(2)), []string{"my.Key(): 1", "my.Key() #2: 2"}},
		{"a key with a dot beside the nesting", dict(str("a.b"), num(1), str("a"), dict(str("b"), num(2))), []string{"a.b: 1", "a.b: 2"}},
		{"an OrderedDict and its metadata", with(ordered(str("w"), num(1)), dict(str("_metadata"), metadata)), []string{": collections.OrderedDict [_metadata]", "w: 1"}},
		{"list and tuple", list(tuple(num(1)), tuple(), list()), []string{"0: tuple", "0.0: 1", "1: tuple"}},
		{"torch.Size", call("torch.Size", ints(2, 3)), []string{": torch.Size", "0: 2", "1: 3"}},
		{"a set, in an order that does not change", call("builtins.set", list(str("b"), str("a"), num(2), num(1))), []string{": set", "0: 1", "1: 2", "2: a", "3: b"}},
		{"a deque with its length", call("collections.deque", tuple(num(1), num(2)), num(5)), []string{": collections.deque [maxlen]", "0: 1", "1: 2"}},
		{"a Counter", call("collections.Counter", dict(str("a"), num(2))), []string{": collections.Counter", "a: 2"}},
		{"a default dict and its factory", func(w *pickle.Writer) {
			call("collections.defaultdict", global("builtins.list"))(w)
			str("k")(w)
			num(1)(w)
			w.SetItem()
		}, []string{": collections.defaultdict", "k: 1"}},
		{"a named tuple", func(w *pickle.Writer) { global("my.Point")(w); ints(1, 2)(w); w.NewObj() }, []string{": my.Point", "0: 1", "1: 2"}},
		{"an object", object("my.Args", str("lr"), real(0.5), str("name"), str("x")), []string{": my.Args", "lr: 0.5", "name: x"}},
		{"an object with slots", with(object("my.Slots"), tuple(none(), dict(str("a"), num(1)))), []string{": my.Slots", "a: 1"}},
		{"an object with both", with(object("my.Both"), tuple(dict(str("a"), num(1)), dict(str("s"), num(2)))), []string{": my.Both", "a: 1", "s: 2"}},
		{"an object whose state is anything", with(object("my.State"), list(num(7))), []string{": my.State", "__state__.0: 7"}},
		{"an object whose argument and attribute have one key", with(call("my.Twice", num(1)), dict(str("a"), num(2))), []string{": my.Twice", "0: 1", "a: 2"}},
		{"a list subclass with attributes", func(w *pickle.Writer) {
			object("my.List")(w)
			w.Mark()
			num(5)(w)
			num(6)(w)
			w.Appends()
			dict(str("tag"), num(1))(w)
			w.Build()
		}, []string{": my.List", "tag: 1", "0: 5", "1: 6"}},
		{"one whose items and arguments collide", func(w *pickle.Writer) {
			call("my.List", str("arg"))(w)
			w.Mark()
			num(5)(w)
			w.Appends()
		}, []string{": my.List", "__args__: __args__", "__args__.0: arg", "0: 5"}},
		{"a dict subclass", func(w *pickle.Writer) {
			object("my.Dict")(w)
			w.Mark()
			str("k")(w)
			num(5)(w)
			w.SetItems()
		}, []string{": my.Dict", "k: 5"}},
		{"bytes and bytearray", list(bytesP2("\x00\xff"), call("builtins.bytearray", bytesP2("ab"))), []string{"0: [0 255]", "1: bytearray [97 98]"}},
		{"a function by name", list(global("torch.nn.functional.relu")), []string{"0: <global torch.nn.functional.relu>"}},
		{"a persistent id that nobody knows", list(persistent(tuple(str("row"), num(7))), persistent(str("x"))),
			[]string{"0: persistent id", "0.0: tuple", "0.0.0: row", "0.0.1: 7", "1: persistent id", "1.0: x"}},
		{"a call that would do harm", call("os.system", str("true")), []string{": <os.system system('true')>"}},
	} {
		c := mustOpen(t, archive(t, tt.value))
		checkLines(t, tt.why, c.Tree, tt.want...)
		first := rewritten(t, c.Tree)
		back := mustOpen(t, first)
		checkLines(t, tt.why+", rewritten", back.Tree, tt.want...)
		if err := pytree.Same(c.Tree, back.Tree); err != nil {
			t.Errorf("%s: %v", tt.why, err)
		}
		if second := rewritten(t, back.Tree); !bytes.Equal(first, second) {
			t.Errorf("%s: a rewrite of the rewrite differs", tt.why)
		}
	}
}

// TestMetadata checks what is carried unseen, in the pickle itself.
func TestMetadata(t *testing.T) {
	v := with(ordered(str("w"), num(1)), dict(str("_metadata"), ordered(str("fc"), dict(str("version"), num(2)))))
	out := unzip(t, rewritten(t, mustOpen(t, archive(t, v)).Tree))["archive/data.pkl"]
	p, err := pickle.Read(bytes.NewReader(out), 0, int64(len(out)))
	if err != nil {
		t.Fatal(err)
	}
	state := p.Root.Obj().State()
	if len(state) != 1 || state[0].Kind() != pickle.Dict || len(state[0].Obj().Items) != 2 {
		t.Fatalf("state %v", state)
	}
	inner := state[0].Obj().Items[1]
	if name, _ := pickle.String(state[0].Obj().Items[0]); name != "_metadata" || len(inner.Obj().DictItems()) != 2 {
		t.Errorf("%s has %d items", name, len(inner.Obj().DictItems())/2)
	}
}

// TestCycles checks that loops are listed as references and stay loops.
func TestCycles(t *testing.T) {
	for _, tt := range []struct {
		why   string
		value py
		want  []string
	}{
		{"a list in itself", func(w *pickle.Writer) {
			w.EmptyList()
			i := w.Put()
			w.Get(i)
			w.Append()
		}, []string{"0: -> []"}},
		{"a dict below itself", func(w *pickle.Writer) {
			w.EmptyDict()
			i := w.Put()
			str("a")(w)
			w.EmptyList()
			w.Get(i)
			w.Append()
			w.SetItem()
		}, []string{"a.0: -> []"}},
		{"a tuple in its own list", func(w *pickle.Writer) {
			// As CPython does: the tuple is made below itself first.
			w.EmptyList()
			i := w.Put()
			w.Get(i)
			w.Tuple(1)
			j := w.Put()
			w.Append()
			w.Pop()
			w.Get(j)
		}, []string{": tuple", "0.0: -> []"}},
		{"an object that knows its parent", func(w *pickle.Writer) {
			object("my.Node")(w)
			i := w.Put()
			w.EmptyDict()
			str("child")(w)
			object("my.Node")(w)
			w.EmptyDict()
			str("parent")(w)
			w.Get(i)
			w.SetItem()
			w.Build()
			w.SetItem()
			w.Build()
		}, []string{": my.Node", "child: my.Node", "child.parent: -> []"}},
		{"an OrderedDict whose state is itself", func(w *pickle.Writer) {
			ordered(str("a"), num(1))(w)
			i := w.Put()
			w.EmptyDict()
			str("self")(w)
			w.Get(i)
			w.SetItem()
			w.Build()
		}, []string{": collections.OrderedDict [self]", "a: 1"}},
	} {
		c, err := open(archive(t, tt.value))
		if err != nil {
			t.Errorf("%s: %v", tt.why, err)
			continue
		}
		checkLines(t, tt.why, c.Tree, tt.want...)
		first := rewritten(t, c.Tree)
		back := mustOpen(t, first)
		checkLines(t, tt.why+", rewritten", back.Tree, tt.want...)
		if err := pytree.Same(c.Tree, back.Tree); err != nil {
			t.Errorf("%s: %v", tt.why, err)
		}
		if second := rewritten(t, back.Tree); !bytes.Equal(first, second) {
			t.Errorf("%s: a rewrite of the rewrite differs", tt.why)
		}
	}
}
