package migrate

import (
	"cmp"
	"slices"

	"ckpt/pytree"
)

// parameters is how many elements each tensor that shares its storage with
// others adds to the whole, so that no stored element is counted twice: all of
// them for a tensor whose bytes no earlier one covers, else those that it adds.
// Earlier are lower offsets; of tensors over the same bytes, one that is done
// goes first, then the first one of the file.
func (s *side) parameters(done func(int32) bool) map[int32]uint64 {
	first := make(map[*pytree.Storage]int32, len(s.leaves))
	shared := make(map[*pytree.Storage][]int32)
	for i := range s.leaves {
		t, ok := s.leaves[i].node.(*pytree.Tensor)
		if !ok || t.Storage == nil {
			continue
		}
		one, again := first[t.Storage]
		switch {
		case !again:
			first[t.Storage] = int32(i)
		case shared[t.Storage] == nil:
			shared[t.Storage] = []int32{one, int32(i)}
		default:
			shared[t.Storage] = append(shared[t.Storage], int32(i))
		}
	}
	params := make(map[int32]uint64)
	for _, leaves := range shared {
		s.divide(leaves, done, params)
	}
	return params
}

// divide divides one storage among its tensors.
func (s *side) divide(leaves []int32, done func(int32) bool, params map[int32]uint64) {
	type view struct {
		leaf      int32
		low, high int64
	}
	views := make([]view, len(leaves))
	for k, i := range leaves {
		low, n := s.leaves[i].node.(*pytree.Tensor).Extent()
		views[k] = view{i, low, low + n}
	}
	slices.SortFunc(views, func(a, b view) int {
		return cmp.Or(cmp.Compare(a.low, b.low), cmp.Compare(b.high, a.high),
			cmpBool(done(b.leaf), done(a.leaf)), cmp.Compare(a.leaf, b.leaf))
	})
	reach := int64(0)
	for _, v := range views {
		fresh := max(0, v.high-max(v.low, reach))
		reach = max(reach, v.high)
		t := s.leaves[v.leaf].node.(*pytree.Tensor)
		params[v.leaf] = uint64(t.Elements())
		if fresh < v.high-v.low {
			params[v.leaf] = min(params[v.leaf], uint64(fresh)/uint64(t.Size()))
		}
	}
}
