package inspect

import (
	"cmp"
	"math"
	"slices"

	"ckpt/pytree"
)

// Totals counts tensors, and with them what is stored once only once.
type Totals struct {
	Tensors     int
	Parameters  uint64
	TensorBytes uint64
}

func (t *Totals) add(c count) {
	t.Tensors++
	t.Parameters = addCapped(t.Parameters, c.elements)
	t.TensorBytes = addCapped(t.TensorBytes, c.bytes)
}

// addCapped adds, and stays at the greatest number rather than begin anew:
// a stride of zero makes elements beyond any bound.
func addCapped(a, b uint64) uint64 {
	if a > math.MaxUint64-b {
		return math.MaxUint64
	}
	return a + b
}

// count is what one tensor adds to the totals.
type count struct{ elements, bytes uint64 }

// ledger knows which storages several tensors share, and what each of those
// counts. Storages with a single tensor, nearly all, take no room in it.
type ledger struct {
	shared map[*pytree.Storage]*share
	// covered is how many bytes of the file's storages tensors cover.
	covered int64
}

// share is a storage with several tensors, in the order of the file.
type share struct {
	views  []view
	counts []count
}

// view is the bytes [low, high) of a storage, and the tensor's own numbers.
type view struct {
	low, high int64
	full      count
	item      uint64
}

func viewOf(t *pytree.Tensor) view {
	low, n := t.Extent()
	return view{low, low + n, count{uint64(t.Elements()), uint64(t.Bytes())}, uint64(t.Size())}
}

// newLedger goes over all tensors of a tree.
func newLedger(root pytree.Node) *ledger {
	l := &ledger{shared: make(map[*pytree.Storage]*share)}
	seen := make(map[*pytree.Storage]struct{})
	eachTensor(root, func(t *pytree.Tensor) {
		if _, ok := seen[t.Storage]; ok && l.shared[t.Storage] == nil {
			l.shared[t.Storage] = &share{}
		}
		seen[t.Storage] = struct{}{}
	})
	eachTensor(root, func(t *pytree.Tensor) {
		v := viewOf(t)
		if s := l.shared[t.Storage]; s != nil {
			s.views = append(s.views, v)
		} else if inFile(t.Storage) {
			l.covered += v.high - v.low
		}
	})
	for st, s := range l.shared {
		n := s.settle()
		if inFile(st) {
			l.covered += n
		}
	}
	return l
}

// inFile reports whether a storage is a part of its file for itself, and not a
// piece of the structure that names it, as a NumPy array in a pickle is. Formats
// mark the former by a payload.
func inFile(s *pytree.Storage) bool { return s.Payload != nil }

// settle divides a storage among its views, and gives the bytes that they cover.
func (s *share) settle() (covered int64) {
	order := make([]int, len(s.views))
	for i := range order {
		order[i] = i
	}
	slices.SortFunc(order, func(i, j int) int {
		a, b := s.views[i], s.views[j]
		return cmp.Or(cmp.Compare(a.low, b.low), cmp.Compare(b.high, a.high), cmp.Compare(i, j))
	})
	s.counts = make([]count, len(s.views))
	reach := int64(0)
	for _, i := range order {
		v := s.views[i]
		fresh := max(0, v.high-max(v.low, reach))
		reach = max(reach, v.high)
		covered += fresh
		if fresh == v.high-v.low {
			s.counts[i] = v.full
		} else {
			n := min(v.full.elements, uint64(fresh)/v.item)
			s.counts[i] = count{n, n * v.item}
		}
	}
	s.views = nil
	return covered
}

// cursor hands out the counts while the tree is walked once in file order.
type cursor struct {
	l     *ledger
	state map[*pytree.Storage]*seenShare
}

type seenShare struct {
	first  pytree.Path
	tensor *pytree.Tensor
	next   int
}

// tie is how a tensor shares the storage of an earlier one.
type tie struct {
	with pytree.Path // the first tensor of the storage; "" for none
	same bool        // it is the very same view
}

func (l *ledger) cursor() *cursor {
	return &cursor{l, make(map[*pytree.Storage]*seenShare, len(l.shared))}
}

// next gives what t counts, and how it is tied.
func (c *cursor) next(p pytree.Path, t *pytree.Tensor) (n count, alias tie) {
	s := c.l.shared[t.Storage]
	if s == nil {
		return count{uint64(t.Elements()), uint64(t.Bytes())}, tie{}
	}
	seen := c.state[t.Storage]
	if seen == nil {
		seen = &seenShare{first: p, tensor: t}
		c.state[t.Storage] = seen
	} else {
		alias = tie{seen.first, sameView(t, seen.tensor)}
	}
	n = s.counts[seen.next]
	seen.next++
	return n, alias
}

// sameView reports whether two views of one storage have the same elements at
// the same places.
func sameView(a, b *pytree.Tensor) bool {
	return a.DType == b.DType && a.Size() == b.Size() && a.Offset == b.Offset && slices.Equal(a.Shape, b.Shape) &&
		(slices.Equal(a.Strides, b.Strides) || a.Contiguous() && b.Contiguous())
}

// eachTensor visits the tensors in file order. Trees are at most
// [pytree.MaxDepth] deep.
func eachTensor(n pytree.Node, visit func(*pytree.Tensor)) {
	switch n := n.(type) {
	case *pytree.Tensor:
		visit(n)
	case *pytree.Container:
		for i := range n.Entries {
			eachTensor(n.Entries[i].Value, visit)
		}
	}
}
