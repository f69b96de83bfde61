package pytree

import (
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
)

// TestUnflattenProperty takes random trees apart and puts them together again.
func TestUnflattenProperty(t *testing.T) {
	rng := rand.New(rand.NewPCG(27, 28))
	for range 3_000 {
		list := Flatten(randomTree(rng, 5))
		tree, err := Unflatten(list)
		if err != nil {
			t.Fatal(err)
		}
		if got := Flatten(tree); !slices.Equal(got, list) {
			t.Fatalf("%v came back as %v", list, got)
		}
		tree.Walk(Visitor{Enter: func(p Path, c *Container) bool {
			if slices.ContainsFunc(list, func(pn PathNode) bool { return pn.Node == c }) {
				return true // an empty container of the list
			}
			counted := true
			for i, e := range c.Entries {
				n, ok := e.Key.IsInt()
				counted = counted && ok && n == int64(i)
			}
			if counted != (c.Kind == Sequence && c.Type == "list") || counted == (c.Kind == Mapping && c.Type == "dict") {
				t.Fatalf("%s: %s of %v", p, c.Type, c.Entries)
			}
			return true
		}})
		// In any other order the same nodes are at the same paths.
		shuffled := slices.Clone(list)
		rng.Shuffle(len(shuffled), func(i, j int) { shuffled[i], shuffled[j] = shuffled[j], shuffled[i] })
		if tree, err = Unflatten(shuffled); err != nil {
			t.Fatal(err)
		}
		if n := len(Flatten(tree)); n != len(list) {
			t.Fatalf("%d entries, want %d", n, len(list))
		}
		for _, pn := range list {
			if n, ok := tree.Find(pn.Path); !ok || n != pn.Node {
				t.Fatalf("%s: found %v", pn.Path, n)
			}
		}
	}
}

func TestUnflatten(t *testing.T) {
	leaf := func(paths ...Path) (list []PathNode) {
		for _, p := range paths {
			list = append(list, PathNode{p, &Scalar{}})
		}
		return list
	}
	tests := []struct {
		reason string
		list   []PathNode
		kind   ContainerKind
		order  string // of the root's keys
	}{
		{"nothing", nil, Mapping, ""},
		{"integers in order", leaf(`[0]`, `[1]`), Sequence, "0 1"},
		{"integers from 1", leaf(`[1]`, `[2]`), Mapping, "1 2"},
		{"integers in another order", leaf(`[1]`, `[0]`), Mapping, "1 0"},
		{"a gap", leaf(`[0]`, `[2]`), Mapping, "0 2"},
		{"strings of digits", leaf(`["0"]`, `["1"]`), Mapping, "0 1"},
		{"integers and a string", leaf(`[0]`, `["1"]`), Mapping, "0 1"},
		{"containers as items", leaf(`[0,"a"]`, `[1,"a"]`, `[0,"b"]`), Sequence, "0 1"},
		{"entries far apart", leaf(`["a","x"]`, `["b"]`, `["a","y"]`), Mapping, "a b"},
		{"a key that only shows", leaf(`[~"None"]`, `["None"]`), Mapping, "None None"},
	}
	for _, tt := range tests {
		tree, err := Unflatten(tt.list)
		if err != nil {
			t.Errorf("%s: %v", tt.reason, err)
			continue
		}
		c := tree.Root.(*Container)
		var keys []string
		for _, e := range c.Entries {
			keys = append(keys, e.Key.String())
		}
		if got := strings.Join(keys, " "); got != tt.order || c.Kind != tt.kind || !c.Plain() {
			t.Errorf("%s: %s of %s", tt.reason, c.Type, got)
		}
	}
	bad := []struct {
		reason string
		list   []PathNode
		want   []string
	}{
		{"twice the same", leaf(`["a","b"]`, `["a","c"]`, `["a","b"]`), []string{`["a","b"] is listed twice`}},
		{"twice the root", leaf(`[]`, `[]`), []string{`[] is listed twice`}},
		{"a leaf, then something in it", leaf(`["a"]`, `["a","b"]`), []string{`["a"] is a leaf`, `["a","b"]`}},
		{"and deeper", leaf(`["a"]`, `["a",0,1,2]`), []string{`["a"] is a leaf`, `["a",0,1,2]`}},
		{"something in it first", leaf(`["a","b",0]`, `["a","b",1]`, `["a"]`), []string{`["a"] is a leaf`, `["a","b",0]`}},
		{"the root and something in it", leaf(`[]`, `["a"]`), []string{`[] is a leaf`, `["a"]`}},
		{"an empty container is a leaf too", []PathNode{{`["a"]`, NewDict()}, {`["a","b"]`, &Scalar{}}}, []string{`["a"] is a leaf`}},
		{"no node", []PathNode{{`["a"]`, nil}}, []string{`["a"]: no node`}},
		{"deeper than any tree", leaf(Path("[" + strings.Repeat("0,", MaxDepth) + "0]")), []string{"nested deeper than 1000"}},
		{"a name that would mislead", leaf(`["`+"\u202e"+`"]`, `["`+"\u202e"+`"]`), []string{`["\u202e"] is listed twice`}},
	}
	for _, tt := range bad {
		tree, err := Unflatten(tt.list)
		if err == nil || tree != nil {
			t.Errorf("%s: accepted", tt.reason)
			continue
		}
		for _, want := range tt.want {
			if !strings.Contains(err.Error(), want) {
				t.Errorf("%s: error %q, want %q", tt.reason, err, want)
			}
		}
	}
}
