package pytree

import (
	"errors"
	"fmt"
	"math"
	"math/big"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
)

// copyTree is a tree that is Same as t and shares nothing with it.
func copyTree(t *Tree) *Tree {
	storages := make(map[*Storage]*Storage)
	var copyNode func(n Node) Node
	copyNode = func(n Node) Node {
		switch n := n.(type) {
		case *Container:
			c := *n
			c.Attrs, c.Entries = slices.Clone(c.Attrs), slices.Clone(c.Entries)
			for i := range c.Entries {
				c.Entries[i].Value = copyNode(c.Entries[i].Value)
			}
			return &c
		case *Tensor:
			c := *n
			if storages[n.Storage] == nil {
				storages[n.Storage] = &Storage{Source: n.Storage.Source}
			}
			c.Storage, c.Shape = storages[n.Storage], slices.Clone(n.Shape)
			return &c
		case *Scalar:
			c := *n
			switch v := c.V.(type) {
			case *big.Int:
				c.V = new(big.Int).Set(v)
			case []byte:
				c.V = slices.Clone(v)
			case *Long:
				long := *v
				c.V = &long
			}
			return &c
		case *Opaque:
			c := *n
			return &c
		case *Ref:
			c := *n
			return &c
		}
		return n
	}
	return &Tree{Root: copyNode(t.Root)}
}

// spoil changes one thing in t at random. It returns where, or false if there is
// nothing to change.
func spoil(rng *rand.Rand, t *Tree) (Path, bool) {
	type place struct {
		p Path
		n Node
	}
	var places []place
	t.Walk(Visitor{
		Leaf:  func(p Path, n Node) bool { places = append(places, place{p, n}); return true },
		Enter: func(p Path, c *Container) bool { places = append(places, place{p, c}); return true },
	})
	at := places[rng.IntN(len(places))]
	switch n := at.n.(type) {
	case *Container:
		switch i := rng.IntN(max(1, len(n.Entries))); rng.IntN(7) {
		case 0:
			n.Type += "x"
		case 1:
			n.Attrs = append(n.Attrs, "_metadata")
		case 2:
			n.Kind = (n.Kind + 1) % 3
		case 3:
			k := StringKey("a new key, longer than those at random")
			n.Entries = append(n.Entries, Entry{Key: k, Value: &Scalar{}})
			return at.p.Child(k), true
		case 4:
			if len(n.Entries) == 0 {
				return "", false
			}
			k := n.Entries[i].Key
			n.Entries = slices.Delete(n.Entries, i, i+1)
			return at.p.Child(k), true
		case 5:
			if len(n.Entries) < 2 {
				return "", false
			}
			n.Entries[0], n.Entries[1] = n.Entries[1], n.Entries[0]
		case 6:
			if len(n.Entries) == 0 {
				return "", false
			}
			n.Entries[i].Part = (n.Entries[i].Part + 1) % 5
			return at.p.Child(n.Entries[i].Key), true
		}
	case *Tensor:
		switch rng.IntN(4) {
		case 0:
			n.DType = Uint32
		case 1:
			n.Shape = append(n.Shape, 1)
		case 2:
			n.Signs ^= NegReal
		case 3:
			n.Shape[0]++
		}
	case *Scalar:
		if rng.IntN(2) == 0 {
			n.Class += "x"
		} else {
			n.V = "another value"
		}
	case *Opaque:
		if rng.IntN(2) == 0 {
			n.Type += "x"
		} else {
			n.Text += "x"
		}
	case *Ref:
		n.Path = n.Path.Child(IntKey(0))
	}
	return at.p, true
}

func TestSameProperty(t *testing.T) {
	rng := rand.New(rand.NewPCG(29, 30))
	spoiled := 0
	for range 5_000 {
		a := randomTree(rng, 4)
		b := copyTree(a)
		if err := Same(a, b); err != nil {
			t.Fatalf("a copy differs: %v", err)
		}
		p, ok := spoil(rng, b)
		if !ok {
			continue
		}
		spoiled++
		for _, pair := range [][2]*Tree{{a, b}, {b, a}} {
			err := Same(pair[0], pair[1])
			var not *NotSame
			if !errors.As(err, &not) {
				t.Fatalf("%s was spoiled and nothing noticed: %v", p, err)
			}
			if not.First[0].Path != p {
				t.Fatalf("%s was spoiled, and the error is %v", p, err)
			}
		}
	}
	if spoiled < 3000 {
		t.Fatalf("only %d trees spoiled: the test says little", spoiled)
	}
}

func TestSameValues(t *testing.T) {
	nan := math.Float64frombits(0x7ff8000000000001)
	big70, big71 := new(big.Int).Lsh(big.NewInt(1), 70), new(big.Int).Lsh(big.NewInt(1), 71)
	tests := []struct {
		reason string
		a, b   any
		same   bool
	}{
		{"null", nil, nil, true},
		{"null and false", nil, false, false},
		{"true and 1", true, int64(1), false},
		{"1 and 1.0", int64(1), 1.0, false},
		{"integers", int64(1), int64(2), false},
		{"NaN, whatever its bits", math.NaN(), nan, true},
		{"NaN and a number", math.NaN(), 0.0, false},
		{"zeros of either sign", 0.0, math.Copysign(0, -1), false},
		{"infinities", math.Inf(1), math.Inf(-1), false},
		{"neighbours", 1.0, math.Nextafter(1, 2), false},
		{"big integers", big70, new(big.Int).Set(big70), true},
		{"other big integers", big70, big71, false},
		{"a big integer and its negative", big70, new(big.Int).Neg(big70), false},
		{"bytes", []byte("a"), []byte("a"), true},
		{"no bytes, nil and not", []byte(nil), []byte{}, true},
		{"other bytes", []byte("a"), []byte("b"), false},
		{"bytes and text", []byte("a"), "a", false},
		{"text", "a", "a", true},
		{"text and nothing", "", nil, false},
		{"long texts of one size", &Long{Source: Bytes("ab"), Text: true}, &Long{Source: inOrder{b: []byte("cd")}, Text: true}, true},
		{"long texts of two sizes", &Long{Source: Bytes("ab"), Text: true}, &Long{Source: Bytes("abc"), Text: true}, false},
		{"long text and long bytes", &Long{Source: Bytes("ab"), Text: true}, &Long{Source: Bytes("ab")}, false},
		{"long and short text", &Long{Source: Bytes("ab"), Text: true}, "ab", false},
	}
	for _, tt := range tests {
		for _, pair := range [][2]any{{tt.a, tt.b}, {tt.b, tt.a}} {
			err := Same(&Tree{Root: NewDict(Entry{Key: StringKey("v"), Value: &Scalar{V: pair[0]}})}, &Tree{Root: NewDict(Entry{Key: StringKey("v"), Value: &Scalar{V: pair[1]}})})
			if (err == nil) != tt.same {
				t.Errorf("%s: %v", tt.reason, err)
			}
		}
	}
}

// tied is a list of tensors that share storages as the letters say.
func tied(letters string) *Tree {
	storages := make(map[rune]*Storage)
	var items []Node
	for _, c := range letters {
		if storages[c] == nil {
			storages[c] = sizedStorage(4)
		}
		items = append(items, &Tensor{DType: Float32, Storage: storages[c]})
	}
	return &Tree{Root: NewList(items...)}
}

func TestSameTies(t *testing.T) {
	tests := []struct {
		reason, a, b string
		want         string // in the error
	}{
		{"no ties", "abc", "xyz", ""},
		{"the same ties", "abab", "xyxy", ""},
		{"a tie is lost", "aa", "xy", `[1]: no longer shares its storage with [0]`},
		{"a tie is new", "ab", "xx", `[1]: now shares its storage with [0]`},
		{"ties with others", "abab", "xyyx", `[2]: no longer shares its storage with [0]; [3]: no longer shares its storage with [1]`},
		{"one of three", "aaa", "xxy", `[2]: no longer shares its storage with [0]`},
	}
	for _, tt := range tests {
		err := Same(tied(tt.a), tied(tt.b))
		if tt.want == "" && err != nil || tt.want != "" && (err == nil || !strings.Contains(err.Error(), tt.want)) {
			t.Errorf("%s: %v, want %q", tt.reason, err, tt.want)
		}
	}
}

func TestSameMessages(t *testing.T) {
	dict := func(pairs ...any) *Tree {
		c := NewDict()
		for i := 0; i < len(pairs); i += 2 {
			c.Entries = append(c.Entries, Entry{Key: StringKey(pairs[i].(string)), Value: pairs[i+1].(Node)})
		}
		return &Tree{Root: c}
	}
	one := &Scalar{V: int64(1)}
	st := sizedStorage(1 << 20)
	tests := []struct {
		reason string
		a, b   *Tree
		want   string
	}{
		{"a scalar", dict("a", one), dict("a", &Scalar{V: 1.5, Class: "numpy.float64"}), `["a"]: int 1 became numpy.float64 float 1.5`},
		{"a tensor", dict("a", &Tensor{DType: Float32, Shape: []int64{8, 4}, Storage: st}), dict("a", &Tensor{DType: Int64, Shape: []int64{8}, Storage: st}), `["a"]: tensor float32 [8,4] became tensor int64 [8]`},
		{"a kind", dict("a", one), dict("a", NewList(one)), `["a"]: int 1 became sequence list of 1`},
		{"an opaque", dict("a", &Opaque{Type: "uuid.UUID", Text: "1\x1b"}), dict("a", &Scalar{}), `["a"]: opaque uuid.UUID "1\x1b" became null`},
		{"a key that is gone", dict("a", one, "b", one), dict("b", one), `["a"]: int 1 is missing`},
		{"a key that is new", dict("b", one), dict("a", one, "b", one), `["a"]: int 1 is new`},
		{"the order", dict("a", one, "b", one), dict("b", one, "a", one), `[]: entries are in another order`},
		{"the type", dict("a", NewDict()), dict("a", &Container{Type: "collections.OrderedDict"}), `["a"]: mapping dict of 0 became mapping collections.OrderedDict of 0`},
		{"several", dict("a", one, "b", one), dict("a", &Scalar{}, "b", &Scalar{}), `2 differences: ["a"]: int 1 became null; ["b"]: int 1 became null`},
		{"text", dict("a", &Scalar{V: "x\n"}), dict("a", &Scalar{V: []byte{0xff}}), `["a"]: string "x\n" became bytes "\xff"`},
		{"no tree", nil, dict(), `[]: nothing became mapping dict of 0`},
		{"a name that would mislead", dict("\u202e", one), dict(), `["\u202e"]: int 1 is missing`},
	}
	for _, tt := range tests {
		if err := Same(tt.a, tt.b); err == nil || err.Error() != tt.want {
			t.Errorf("%s: %v, want %s", tt.reason, err, tt.want)
		}
	}
	if err := Same(nil, &Tree{}); err != nil {
		t.Errorf("no trees: %v", err)
	}
}

func TestSameMany(t *testing.T) {
	a, b := NewDict(), NewDict()
	for i := range 25 {
		a.Entries = append(a.Entries, Entry{Key: IntKey(int64(i)), Value: &Scalar{V: int64(i)}})
		b.Entries = append(b.Entries, Entry{Key: IntKey(int64(i)), Value: &Scalar{V: int64(-i)}})
	}
	var not *NotSame
	if err := Same(&Tree{Root: a}, &Tree{Root: b}); !errors.As(err, &not) {
		t.Fatal(err)
	}
	if not.Count != 24 || len(not.First) != 10 || not.First[9].Path != "[10]" {
		t.Errorf("%+v", not)
	}
	if s := not.Error(); !strings.HasPrefix(s, "24 differences: [1]: ") || !strings.HasSuffix(s, "; and 14 more") {
		t.Error(s)
	}
	// Keys should not repeat, but nothing may depend on it, time least of all.
	twice := func(n int) *Tree {
		c := NewDict()
		for range n {
			c.Entries = append(c.Entries, Entry{Key: StringKey("k"), Value: &Scalar{}})
		}
		return &Tree{Root: c}
	}
	err := Same(twice(2), twice(200_000))
	if err == nil || !strings.HasPrefix(err.Error(), fmt.Sprintf("%d differences", 200_000-2)) {
		t.Error(err)
	}
	if err := Same(twice(3), twice(3)); err != nil {
		t.Error(err)
	}
}
