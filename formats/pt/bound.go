package pt

import (
	"fmt"
	"math"

	"ckpt/pytree"
)

// A pickle's graph shares objects, a tree repeats them. A model saved under two
// names is listed twice; but a few hundred bytes can share so wildly that the
// listing would have 2^100 lines.
const (
	// sharedFactor is how many times more entries than nodes a listing may have
	// before repeated containers are listed once and referred to from then on.
	sharedFactor = 4
	sharedFloor  = 100_000
	// pathFactor bounds the summed length of all paths, in bytes for each byte of
	// input, and pathFloor is granted to any input.
	pathFactor = 64
	pathFloor  = 64 << 20
)

func pathLimit(inputSize int64) float64 { return pathFactor*float64(inputSize) + pathFloor }

// cost is what listing a subtree takes.
type cost struct{ entries, pathBytes float64 }

// boundListing makes sure that walking the tree takes time in proportion to the
// file. It reports whether containers are listed once for that.
func boundListing(t *pytree.Tree, inputSize int64) (once bool, err error) {
	seen := make(map[*pytree.Container]cost)
	total := costOf(t.Root, seen)
	if total.entries > sharedFactor*float64(len(seen))+sharedFloor && total.entries > float64(inputSize) {
		once = true
		listOnce(t.Root, make(map[*pytree.Container]bool))
		clear(seen)
		total = costOf(t.Root, seen)
	}
	if total.pathBytes > pathLimit(inputSize) {
		return once, fmt.Errorf("the paths of its %.0f entries would take %.0f MiB, beyond reason for a file of its size", total.entries, math.Ceil(total.pathBytes/(1<<20)))
	}
	return once, nil
}

// costOf adds up a subtree, each container once. Floats saturate where integers
// would wrap.
func costOf(n pytree.Node, seen map[*pytree.Container]cost) cost {
	c, ok := n.(*pytree.Container)
	if !ok {
		return cost{1, 2}
	}
	if total, ok := seen[c]; ok {
		return total
	}
	total := cost{1, 2}
	for i := range c.Entries {
		child := costOf(c.Entries[i].Value, seen)
		total.entries += child.entries
		total.pathBytes += child.pathBytes + child.entries*float64(len(c.Entries[i].Key.String())+3)
	}
	seen[c] = total
	return total
}

// listOnce replaces every container but the first occurrence by a reference.
func listOnce(n pytree.Node, seen map[*pytree.Container]bool) {
	c, ok := n.(*pytree.Container)
	if !ok {
		return
	}
	seen[c] = true
	for i := range c.Entries {
		child, ok := c.Entries[i].Value.(*pytree.Container)
		if !ok {
			continue
		}
		if seen[child] {
			c.Entries[i].Value = &pytree.Ref{To: child}
			continue
		}
		listOnce(child, seen)
	}
}

// nameRefs tells every reference the path of what it refers to.
func nameRefs(t *pytree.Tree) {
	paths := make(map[*pytree.Container]pytree.Path)
	var refs []*pytree.Ref
	t.Walk(pytree.Visitor{
		Enter: func(p pytree.Path, c *pytree.Container) bool {
			if _, ok := paths[c]; !ok {
				paths[c] = p
			}
			if v := viewOf(c); v != nil {
				for _, raw := range v.shows {
					paths[raw] = p
				}
			}
			return true
		},
		Leaf: func(_ pytree.Path, n pytree.Node) bool {
			if r, ok := n.(*pytree.Ref); ok {
				refs = append(refs, r)
			}
			return true
		},
	})
	for _, r := range refs {
		r.Path = paths[r.To]
	}
}
