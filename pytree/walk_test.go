package pytree

import (
	"fmt"
	"math/big"
	"math/rand/v2"
	"slices"
	"sync"
	"testing"
)

// randomTree makes a tree of all kinds of nodes under hostile keys.
func randomTree(rng *rand.Rand, depth int) *Tree {
	var storages []*Storage
	for range 3 {
		storages = append(storages, &Storage{Source: Bytes(make([]byte, 64))})
	}
	return &Tree{Root: randomNode(rng, depth, storages)}
}

func randomNode(rng *rand.Rand, depth int, storages []*Storage) Node {
	if depth > 0 && rng.IntN(4) > 0 {
		return randomContainer(rng, depth, storages)
	}
	switch rng.IntN(6) {
	case 0, 1:
		return &Tensor{DType: []DType{Float32, Int32}[rng.IntN(2)], Shape: []int64{rng.Int64N(3), 2}, Storage: storages[rng.IntN(len(storages))]}
	case 2, 3:
		return &Scalar{V: randomValue(rng), Class: []string{"", "numpy.float32"}[rng.IntN(2)]}
	case 4:
		return &Opaque{Type: "datetime.datetime", Text: hostileText(rng)}
	}
	return &Ref{Path: MakePath(hostileKey(rng))}
}

func randomValue(rng *rand.Rand) any {
	values := []any{nil, true, false, int64(0), int64(-1), 0.0, 1.5, "", "x", []byte{}, []byte("x"), &Long{Source: Bytes("abc"), Text: true}, &Long{Source: Bytes("abc")}, new(big.Int).Lsh(big.NewInt(1), 70)}
	return values[rng.IntN(len(values))]
}

func randomContainer(rng *rand.Rand, depth int, storages []*Storage) *Container {
	c := &Container{Kind: ContainerKind(rng.IntN(3)), Type: []string{"dict", "list", "collections.OrderedDict", "pkg.Class"}[rng.IntN(4)]}
	seen := make(map[Key]bool)
	for i := range rng.IntN(5) {
		k := hostileKey(rng)
		if c.Kind == Sequence {
			k = IntKey(int64(i))
		}
		if seen[k] {
			continue
		}
		seen[k] = true
		child := randomNode(rng, depth-1, storages)
		if len(c.Entries) > 0 && rng.IntN(8) == 0 {
			child = c.Entries[0].Value // one object at two places
		}
		c.Entries = append(c.Entries, Entry{Key: k, Value: child, Part: Part(rng.IntN(5))})
	}
	return c
}

// visits is what a walk shows, by the plainest of recursions.
func visits(n Node, keys []Key) (enters, leaves []string) {
	c, ok := n.(*Container)
	if !ok {
		return nil, []string{fmt.Sprintf("%s %p", MakePath(keys...), n)}
	}
	enters = append(enters, fmt.Sprintf("%s %p", MakePath(keys...), n))
	if len(c.Entries) == 0 {
		leaves = append(leaves, fmt.Sprintf("%s %p", MakePath(keys...), n))
	}
	for _, e := range c.Entries {
		es, ls := visits(e.Value, append(slices.Clone(keys), e.Key))
		enters, leaves = append(enters, es...), append(leaves, ls...)
	}
	return enters, leaves
}

func TestWalk(t *testing.T) {
	rng := rand.New(rand.NewPCG(23, 24))
	for range 2_000 {
		tree := randomTree(rng, 5)
		wantEnters, wantLeaves := visits(tree.Root, nil)
		var enters, leaves, entries, real []string
		tree.Walk(Visitor{
			Enter: func(p Path, c *Container) bool { enters = append(enters, fmt.Sprintf("%s %p", p, c)); return true },
			Leaf:  func(p Path, n Node) bool { leaves = append(leaves, fmt.Sprintf("%s %p", p, n)); return true },
		})
		if !slices.Equal(enters, wantEnters) || !slices.Equal(leaves, wantLeaves) {
			t.Fatalf("entered %q, want %q; leaves %q, want %q", enters, wantEnters, leaves, wantLeaves)
		}
		for p, n := range tree.Entries() {
			entries = append(entries, fmt.Sprintf("%s %p", p, n))
			if got, ok := tree.Find(p); !ok || got != n {
				t.Fatalf("%s: found %v, %v", p, got, ok)
			}
			if _, ok := tree.Find(p.Child(StringKey("no such key"))); ok {
				t.Fatalf("%s has a child", p)
			}
		}
		for p, n := range tree.Leaves() {
			real = append(real, fmt.Sprintf("%s %p", p, n))
		}
		notEmpty := slices.DeleteFunc(slices.Clone(wantLeaves), func(s string) bool { return slices.Contains(wantEnters, s) })
		if !slices.Equal(entries, wantLeaves) || !slices.Equal(real, notEmpty) {
			t.Fatalf("entries %q, want %q; leaves %q, want %q", entries, wantLeaves, real, notEmpty)
		}
		// Every callback may end the walk.
		stop := 1 + rng.IntN(len(enters)+len(leaves))
		calls := 0
		count := func() bool { calls++; return calls < stop }
		tree.Walk(Visitor{Enter: func(Path, *Container) bool { return count() }, Leaf: func(Path, Node) bool { return count() }})
		if calls != stop {
			t.Fatalf("%d calls, want %d", calls, stop)
		}
		for range tree.Leaves() {
			break
		}
	}
}

func TestWalkNothing(t *testing.T) {
	for _, tree := range []*Tree{nil, {}} {
		for p := range tree.Entries() {
			t.Errorf("%s in no tree", p)
		}
		if n, ok := tree.Find(Root); ok {
			t.Errorf("%v at the root of no tree", n)
		}
	}
	leaf := &Tree{Root: &Scalar{V: int64(1)}}
	if n, ok := leaf.Find(Root); !ok || n != leaf.Root {
		t.Error("a tree may be a single leaf")
	}
	if _, ok := leaf.Find(`["a"]`); ok {
		t.Error("a leaf has no children")
	}
	leaf.Walk(Visitor{})
}

// TestWalkDeep nests as deep as any reader allows.
func TestWalkDeep(t *testing.T) {
	var n Node = &Scalar{}
	for range MaxDepth {
		n = NewList(n)
	}
	count := 0
	for p := range (&Tree{Root: n}).Leaves() {
		count += len(p.Keys())
	}
	if count != MaxDepth {
		t.Errorf("depth %d, want %d", count, MaxDepth)
	}
}

// TestWalkConcurrent shares a tree among readers.
func TestWalkConcurrent(t *testing.T) {
	tree := randomTree(rand.New(rand.NewPCG(25, 26)), 7)
	want := Flatten(tree)
	var wg sync.WaitGroup
	for range 8 {
		wg.Go(func() {
			if got := Flatten(tree); !slices.Equal(got, want) {
				t.Error("walks differ")
			}
			if err := Same(tree, tree); err != nil {
				t.Error(err)
			}
		})
	}
	wg.Wait()
}
