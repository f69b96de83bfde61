package pytree

import "testing"

func TestRebuildContainer(t *testing.T) {
	var r Rebuild
	a, b := &Scalar{V: int64(1)}, &Scalar{V: int64(2)}
	c := NewDict(Entry{Key: StringKey("k"), Value: a})
	c.Type, c.Payload = "collections.OrderedDict", "payload"
	if got := r.Container(c, []Entry{{Key: StringKey("k"), Value: a}}); got != c {
		t.Error("the same entries make another container")
	}
	first := r.Container(c, []Entry{{Key: StringKey("k"), Value: b}})
	if again := r.Container(c, []Entry{{Key: StringKey("k"), Value: b}}); again != first {
		t.Error("the same alteration twice makes two containers")
	}
	if first == c || first.Type != c.Type || first.Payload != c.Payload || c.Entries[0].Value != Node(a) {
		t.Errorf("%+v, made of %+v", first, c)
	}
	if other := r.Container(c, []Entry{{Key: StringKey("x"), Value: b}}); other == first {
		t.Error("another key makes the same container")
	}
	if empty := r.Container(c, nil); empty == c || len(empty.Entries) != 0 {
		t.Errorf("without entries: %+v", empty)
	}
}

func TestRebuildTensor(t *testing.T) {
	var r Rebuild
	place, value := &Tensor{DType: Float32, Wrapper: "parameter"}, &Tensor{DType: Float32, Wrapper: "plain", Offset: 7}
	got := r.Tensor(place, value)
	if got.Wrapper != "parameter" || got.Offset != 7 || value.Wrapper != "plain" || place.Offset != 0 {
		t.Errorf("%+v of %+v in the place of %+v", got, value, place)
	}
	if r.Tensor(place, value) != got {
		t.Error("the same value in the same place is two tensors")
	}
	if r.Tensor(place, place) != place {
		t.Error("a tensor in its own place is copied")
	}
}

func TestRebuildRefs(t *testing.T) {
	var r Rebuild
	inner := NewDict()
	ref := &Ref{To: inner, Path: `["a"]`}
	inner.Entries = []Entry{{Key: StringKey("loop"), Value: ref}}
	clone := r.Ref(ref)
	if r.Ref(ref) != clone {
		t.Error("one loop became two")
	}
	moved := r.Container(inner, []Entry{{Key: StringKey("loop"), Value: clone}})
	root := NewDict(Entry{Key: StringKey("b"), Value: moved})
	tree, err := r.Finish(root, func(*Ref) Path { return `["b"]` })
	if err != nil {
		t.Fatal(err)
	}
	if clone.To != moved || clone.Path != `["b"]` || ref.To != inner || tree.Root != Node(root) {
		t.Errorf("the loop leads to %p at %s, want %p", clone.To, clone.Path, moved)
	}
	if _, err := r.Finish(root, func(*Ref) Path { return `["gone"]` }); err == nil {
		t.Error("a loop to nowhere was closed")
	}
	if _, err := r.Finish(root, func(*Ref) Path { return `["b","loop"]` }); err == nil {
		t.Error("a loop to a loop was closed")
	}
}
