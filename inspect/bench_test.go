package inspect

import (
	"fmt"
	"io"
	"testing"

	"ckpt/pytree"
)

// bigTree is a nested tree of n leaves, ten in a container.
func bigTree(n int, leaf func(i int) pytree.Node) pytree.Node {
	root := dict()
	for i := 0; i < n; i += 10 {
		c := dict()
		for j := range 10 {
			c.Entries = append(c.Entries, e(fmt.Sprintf("key%d", j), leaf(i+j)))
		}
		root.Entries = append(root.Entries, e(fmt.Sprintf("block.%d", i/10), c))
	}
	return root
}

func BenchmarkWrite(b *testing.B) {
	const n = 100_000
	trees := map[string]pytree.Node{
		"tensors": bigTree(n, func(i int) pytree.Node { return f32(int64(i%10), 2) }),
		"scalars": bigTree(n, func(i int) pytree.Node { return scalar(int64(i)) }),
	}
	for name, root := range trees {
		for form, write := range map[string]func(*Result) error{
			"text": func(r *Result) error { return r.WriteText(io.Discard, TextOptions{}) },
			"json": func(r *Result) error { return r.WriteJSON(io.Discard) },
		} {
			b.Run(name+"/"+form, func(b *testing.B) {
				b.ReportAllocs()
				q, err := NewQuery(Options{})
				if err != nil {
					b.Fatal(err)
				}
				for b.Loop() {
					r, err := q.Run(b.Context(), "x", checkpoint(root), nil)
					if err != nil {
						b.Fatal(err)
					}
					if err := write(r); err != nil {
						b.Fatal(err)
					}
				}
				b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/n, "ns/entry")
			})
		}
	}
}
