package pt_test

import (
	"archive/tar"
	"bytes"
	"encoding/binary"
	"slices"
	"strings"
	"testing"
)

// stored is a storage as a legacy stream holds it.
type stored struct {
	count uint64
	data  []byte
}

// legacy is a legacy stream of a value, the list of its storages' keys, and the
// storages.
func legacy(t testing.TB, info, v, keys py, storages ...stored) []byte {
	t.Helper()
	out := []byte("\x80\x02\x8a\x0a\x6c\xfc\x9c\x46\xf9\x20\x6a\xa8\x50\x19.")
	for _, x := range []py{num(1001), info, v, keys} {
		out = append(out, pickled(t, x)...)
	}
	for _, s := range storages {
		out = append(binary.LittleEndian.AppendUint64(out, s.count), s.data...)
	}
	return out
}

// legacyStorage is a reference to a storage, which views another one unless view
// is none.
func legacyStorage(class, key string, numel int64, view py) py {
	return persistent(tuple(str("storage"), global("torch."+class), str(key), str("cpu"), num(numel), view))
}

func TestLegacy(t *testing.T) {
	little := dict(str("protocol_version"), num(1001), str("little_endian"), boolean(true))
	big := dict(str("little_endian"), boolean(false))
	tensor := func(s py, n int64) py {
		return call("torch._utils._rebuild_tensor", s, num(0), ints(n), ints(1))
	}
	whole := legacyStorage("FloatStorage", "7", 4, none())
	view := legacyStorage("FloatStorage", "7", 4, tuple(str("8"), num(2), num(2)))
	four := stored{4, float32s(4)}
	quad := "float32 [4] 000000000000803f" + "0000004000004040"
	reversed := slices.Clone(float32s(4))
	for i := 0; i < len(reversed); i += 4 {
		slices.Reverse(reversed[i : i+4])
	}
	bigCount := stored{4 << 56, reversed}
	for _, tt := range []struct {
		why  string
		data []byte
		want []string // lines, or one that begins with "error "
	}{
		{"one tensor", legacy(t, little, tensor(whole, 4), list(str("7")), four), []string{": " + quad}},
		{"a key that is a number", legacy(t, little, tensor(persistent(tuple(str("storage"), global("torch.FloatStorage"), num(7), str("cpu"), num(4), none())), 4), list(num(7)), four), []string{": " + quad}},
		{"a view of a storage", legacy(t, little, list(tensor(whole, 4), tensor(view, 2)), list(str("7")), four), []string{"0: " + quad, "1: float32 [2] 0000004000004040"}},
		{"big-endian", legacy(t, big, tensor(whole, 4), list(str("7")), bigCount), []string{": " + quad}},
		{"no storages", legacy(t, little, dict(str("a"), num(1)), list()), []string{"a: 1"}},
		{"a class saved with its source", legacy(t, little, call("builtins.getattr", persistent(tuple(str("module"), global("my.Net"), str("net.py"), str("class Net: pass"))), str("Inner")), list()), []string{": <global my.Net.Inner>"}},

		{"another protocol", append(legacy(t, little, num(1), list())[:15], append(pickled(t, num(1002)), legacy(t, little, num(1), list())[15+len(pickled(t, num(1001))):]...)...), []string{"error protocol version 1002; only 1001 is known"}},
		{"no byte order", legacy(t, dict(), num(1), list()), []string{"error little_endian is missing"}},
		{"facts that are none", legacy(t, num(1), num(1), list()), []string{"error system information: a dict expected"}},
		{"keys that are no list", legacy(t, little, tensor(whole, 4), num(7), four), []string{"error storage keys: a list expected"}},
		{"a key twice", legacy(t, little, tensor(whole, 4), list(str("7"), str("7")), four, four), []string{"error storage keys: '7' is listed twice"}},
		{"a storage that is not there", legacy(t, little, tensor(whole, 4), list()), []string{`error storage "7" is referred to, but not among the 0 in the file`}},
		{"a storage that nobody refers to", legacy(t, little, num(1), list(str("7")), four), []string{`error storage "7" is listed, but nothing in the object says its type`}},
		{"another number of elements", legacy(t, little, tensor(whole, 4), list(str("7")), stored{5, float32s(5)}), []string{"holds 5 elements, the object says 4"}},
		{"an end in the count", legacy(t, little, tensor(whole, 4), list(str("7")), four)[:len(legacy(t, little, tensor(whole, 4), list(str("7"))))+5], []string{"error 0 of 1 storages are whole"}},
		{"an end in the bytes", legacy(t, little, tensor(whole, 4), list(str("7")), stored{4, float32s(3)}), []string{"error 0 of 1 storages are whole"}},
		{"a view that is malformed", legacy(t, little, tensor(legacyStorage("FloatStorage", "7", 4, tuple(str("8"), num(-1), num(2))), 2), list(str("7")), four), []string{"error view of a storage malformed"}},
		{"a view past the end", legacy(t, little, tensor(legacyStorage("FloatStorage", "7", 4, tuple(str("8"), num(3), num(2))), 2), list(str("7")), four), []string{"error view of elements 3 to 4 reaches outside its storage"}},
		{"a view whose offset overflows", legacy(t, little, call("torch._utils._rebuild_tensor", legacyStorage("FloatStorage", "7", 4, tuple(str("8"), num(1<<62), num(2))), num(1<<62), ints(1), ints(1)), list(str("7")), four), []string{"error offset -9223372036854775808 is negative"}},
	} {
		checkLegacy(t, tt.why, tt.data, tt.want)
	}
}

// checkLegacy checks what a file holds, and that its rewrite holds the same.
func checkLegacy(t *testing.T, why string, data []byte, want []string) {
	t.Helper()
	c, err := open(data)
	if says, ok := strings.CutPrefix(want[0], "error "); ok || len(want) == 1 && !strings.Contains(want[0], ": ") {
		if err == nil || !strings.Contains(err.Error(), says) {
			t.Errorf("%s: error %v, want %q", why, err, says)
		}
		return
	}
	if err != nil {
		t.Errorf("%s: %v", why, err)
		return
	}
	checkLines(t, why, c.Tree, want...)
	back := mustOpen(t, rewritten(t, c.Tree))
	if back.Variant != "torch-zip" {
		t.Errorf("%s: rewritten as %s", why, back.Variant)
	}
	checkLines(t, why+", rewritten", back.Tree, want...)
}

// tarOf is an old tar of its members.
func tarOf(t testing.TB, members ...part) []byte {
	t.Helper()
	var b bytes.Buffer
	w := tar.NewWriter(&b)
	for _, m := range members {
		if err := w.WriteHeader(&tar.Header{Name: m.name, Size: int64(len(m.data)), Mode: 0o644, Format: tar.FormatUSTAR}); err != nil {
			t.Fatal(err)
		}
		if _, err := w.Write(m.data); err != nil {
			t.Fatal(err)
		}
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

func TestTar(t *testing.T) {
	int64s := func(ns ...int64) (b []byte) {
		for _, n := range ns {
			b = binary.LittleEndian.AppendUint64(b, uint64(n))
		}
		return b
	}
	join := func(parts ...[]byte) []byte { return slices.Concat(parts...) }
	// Storage 1 of four floats, its view 2 of the last two; tensor 3 of the whole,
	// transposed, tensor 4 of the view.
	storages := join(pickled(t, num(1)), pickled(t, tuple(num(1), str("cpu"), global("torch.FloatStorage"))), int64s(4), float32s(4), pickled(t, list(tuple(num(2), num(1), num(2), num(2)))))
	tensors := join(pickled(t, num(2)),
		pickled(t, tuple(num(3), num(1), global("torch.FloatTensor"))), int64s(2, 2, 2, 1, 2, 0),
		pickled(t, tuple(num(4), num(2), global("torch.FloatTensor"))), int64s(1, 2, 1, 0))
	object := pickled(t, dict(str("a"), persistent(num(3)), str("b"), persistent(str("4"))))
	info := pickled(t, dict(str("little_endian"), boolean(true)))
	sound := func(edit func(m []part)) []byte {
		m := []part{{"sys_info", info}, {"pickle", object}, {"storages", storages}, {"tensors", tensors}}
		if edit != nil {
			edit(m)
		}
		return tarOf(t, m...)
	}
	pair := "float32 [2] 0000004000004040"
	all := []string{"a: float32 [2,2] 00000000000000400000803f00004040", "b: " + pair}
	for _, tt := range []struct {
		why  string
		data []byte
		want []string
	}{
		{"sound", sound(nil), all},
		{"packed from the folder", sound(func(m []part) {
			for i := range m {
				m[i].name = "./" + m[i].name
			}
		}), all},
		{"a storage by itself", sound(func(m []part) { m[1].data = pickled(t, persistent(num(1))) }), []string{": float32 [4] 000000000000803f" + "0000004000004040"}},
		{"another tar", tarOf(t, part{"model.pt", nil}), []string{`error no member is named "storages"`}},
		{"a member twice", sound(func(m []part) { m[0].name = "pickle" }), []string{`error two members are named "pickle"`}},
		{"a count of text", sound(func(m []part) { m[2].data = pickled(t, str("x")) }), []string{"error storages: count: a number expected, not 'x'"}},
		{"a count that lies", sound(func(m []part) { m[2].data = pickled(t, num(1<<60)) }), []string{"error storages: storage 0 of 1152921504606846976: "}},
		{"a storage of no type", sound(func(m []part) {
			m[2].data = join(pickled(t, num(1)), pickled(t, tuple(num(1), str("cpu"), global("os.system"))))
		}), []string{"error os.system at 'cpu' is not a storage"}},
		{"a storage that is too long", sound(func(m []part) {
			m[2].data = join(pickled(t, num(1)), pickled(t, tuple(num(1), str("cpu"), global("torch.FloatStorage"))), int64s(1<<61), float32s(4))
		}), []string{"error 2305843009213693952 elements of float32 do not fit the 16 bytes that are left"}},
		{"a view past the end", sound(func(m []part) {
			m[2].data = join(storages[:len(storages)-len(pickled(t, list(tuple(num(2), num(1), num(2), num(2)))))], pickled(t, list(tuple(num(2), num(1), num(3), num(2)))))
		}), []string{"error views: view of elements 3 to 4 reaches outside"}},
		{"a tensor of no storage", sound(func(m []part) {
			m[3].data = join(pickled(t, num(1)), pickled(t, tuple(num(3), num(9), global("torch.FloatTensor"))), int64s(1, 1, 1, 0))
		}), []string{"error tensors: tensor 0 of 1: there is no storage 9"}},
		{"dimensions without end", sound(func(m []part) {
			m[3].data = join(pickled(t, num(1)), pickled(t, tuple(num(3), num(1), global("torch.FloatTensor"))), int64s(1<<31, 1, 1, 0))
		}), []string{"error 2147483648 dimensions do not fit the 24 bytes that are left"}},
		{"a tensor that is not there", sound(func(m []part) { m[1].data = pickled(t, persistent(num(9))) }), []string{"error there is no tensor 9"}},
		{"an id that is no number", sound(func(m []part) { m[1].data = pickled(t, persistent(str("x"))) }), []string{`error persistent id "x" is not a number`}},
	} {
		checkLegacy(t, tt.why, tt.data, tt.want)
	}
}
