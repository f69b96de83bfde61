package pt

import (
	"fmt"
	"slices"

	"ckpt/pickle"
	"ckpt/pytree"
)

// dense builds the array of a rebuild call from its storage, offset, size and
// stride, and its dtype where the call gives it.
func (b *builder) dense(o *pickle.Object, args []pickle.Value, dtype pytree.DType) (*pytree.Tensor, error) {
	ref, err := b.storageRef(args[0])
	if err != nil {
		return nil, badCall(o, "%v", err)
	}
	if dtype == "" {
		if dtype = ref.dtype; ref.untyped {
			// A typed storage was written untyped: bytes.
			dtype = pytree.Uint8
		}
	}
	if args[1].Kind() != pickle.Int {
		return nil, badCall(o, "the offset must be an integer, not %s", repr(args[1], 0))
	}
	shape, ok := ints(args[2])
	strides, ok2 := ints(args[3])
	if !ok || !ok2 {
		return nil, badCall(o, "size and stride must be tuples of at most %d integers, not %s and %s", maxDims, repr(args[2], 0), repr(args[3], 0))
	}
	if slices.ContainsFunc(strides, func(s int64) bool { return s < 0 }) {
		return nil, badCall(o, "storage %q: stride %s: torch has no negative ones", ref.storage.Key, pytree.ShapeString(strides))
	}
	t := &pytree.Tensor{DType: dtype, Shape: shape, Strides: strides, Offset: args[1].Int(), Storage: ref.storage, ItemSize: itemSizes[dtype]}
	if dtype == "bcomplex32" {
		t.Swap = []int{2, 2}
	}
	if ref.offset > 0 && t.Offset >= 0 {
		t.Offset += ref.offset
	}
	if err := t.Check(); err != nil {
		return nil, badCall(o, "storage %q: %v", ref.storage.Key, err)
	}
	if slices.Equal(strides, orderC(shape)) {
		t.Strides = nil
	}
	if b.concealed > 0 {
		b.unseen++
	}
	return t, nil
}

// orderC is the strides that torch gives a tensor in C order.
func orderC(shape []int64) []int64 {
	strides := make([]int64, len(shape))
	step := int64(1)
	for i := len(strides) - 1; i >= 0; i-- {
		strides[i] = step
		step *= max(shape[i], 1)
	}
	return strides
}

// maxDims is how many dimensions torch and NumPy let a tensor have: at::MAX_DIMS
// and NPY_MAXDIMS are 64.
const maxDims = 64

// ints is a tuple of at most maxDims integers, or a torch.Size of one.
func ints(v pickle.Value) ([]int64, bool) {
	if v.Kind() == pickle.Call && callee(v.Obj()) == "torch.Size" {
		args, _ := tuple(v.Obj().Items[1])
		if len(args) != 1 {
			return nil, false
		}
		v = args[0]
	}
	items, ok := tuple(v)
	if !ok || len(items) > maxDims {
		return nil, false
	}
	out := make([]int64, len(items))
	for i, x := range items {
		if x.Kind() != pickle.Int {
			return nil, false
		}
		out[i] = x.Int()
	}
	return out, true
}

// dtypeOf is the dtype that a global names.
func dtypeOf(v pickle.Value) (pytree.DType, bool) {
	if v.Kind() != pickle.Global {
		return "", false
	}
	module, name := v.Obj().Global()
	d, ok := torchDTypes[name]
	return d, ok && module == "torch"
}

func addTensorMakers(m map[string]maker) {
	const utils = "torch._utils."
	m[utils+"_rebuild_tensor"] = rebuildTensor
	m[utils+"_rebuild_tensor_v2"] = rebuildTensorV2
	m[utils+"_rebuild_tensor_v3"] = rebuildTensorV3
	m[utils+"_rebuild_parameter"] = rebuildWrapped
	m[utils+"_rebuild_parameter_with_state"] = rebuildWrapped
	m["torch._tensor._rebuild_from_type_v2"] = rebuildFromType
	m["torch._tensor._rebuild_from_type"] = rebuildFromType
	m["torch.tensor._rebuild_from_type"] = rebuildFromType
	m["torch.tensor._rebuild_from_type_v2"] = rebuildFromType
	m[utils+"_rebuild_qtensor"] = rebuildQuantized
	m[utils+"_rebuild_sparse_tensor"] = rebuildSparse
	m[utils+"_rebuild_device_tensor_from_numpy"] = rebuildOnDevice
	m[utils+"_rebuild_device_tensor_from_cpu_tensor"] = rebuildOnDevice
	m[utils+"_rebuild_xla_tensor"] = rebuildOnDevice
	for name, args := range namedArgs {
		m[name] = partsOf(args)
	}
}

// namedArgs is the calls that make tensors which are not one dense array, with
// the type that is shown and the names of their arguments.
var namedArgs = map[string][]string{
	"torch._utils._rebuild_sparse_csr_tensor":      {"torch.sparse_csr tensor", "layout", "data"},
	"torch._utils._rebuild_nested_tensor":          {"nested tensor", "buffer", "sizes", "strides", "storage_offsets"},
	"torch._utils._rebuild_meta_tensor_no_storage": {"meta tensor", "dtype", "size", "stride", "requires_grad"},
	"torch._utils._rebuild_wrapper_subclass":       {"wrapper subclass", "class", "dtype", "size", "stride", "storage_offset", "layout", "device", "requires_grad"},
}

func partsOf(names []string) maker {
	return func(b *builder, _ pickle.Value, o *pickle.Object, args []pickle.Value) (pytree.Node, error) {
		if len(args) > len(names)-1 {
			return nil, nil
		}
		return b.instance(o, names[0], &call{kind: o.Kind, callee: o.Items[0]}, args, names[1:]...)
	}
}

// rebuildTensor is _rebuild_tensor(storage, offset, size, stride).
func rebuildTensor(b *builder, _ pickle.Value, o *pickle.Object, args []pickle.Value) (pytree.Node, error) {
	if len(args) != 4 {
		return nil, badCall(o, "4 arguments expected, not %d", len(args))
	}
	t, err := b.dense(o, args, "")
	if err != nil {
		return nil, err
	}
	t.Wrapper = &wrapper{legacy: true}
	return t, b.noState(o)
}

// rebuildTensorV2 is _rebuild_tensor_v2(storage, offset, size, stride,
// requires_grad, hooks[, metadata]).
func rebuildTensorV2(b *builder, _ pickle.Value, o *pickle.Object, args []pickle.Value) (pytree.Node, error) {
	if len(args) < 6 || len(args) > 7 {
		return nil, badCall(o, "6 or 7 arguments expected, not %d", len(args))
	}
	t, err := b.dense(o, args, "")
	if err != nil {
		return nil, err
	}
	if t.Wrapper, err = b.plainWrapper(o, t, args[4], args[5], args[6:]); err != nil {
		return nil, err
	}
	return t, b.noState(o)
}

// rebuildTensorV3 is _rebuild_tensor_v3(storage, offset, size, stride,
// requires_grad, hooks, dtype[, metadata]), for dtypes without a storage class.
func rebuildTensorV3(b *builder, _ pickle.Value, o *pickle.Object, args []pickle.Value) (pytree.Node, error) {
	if len(args) < 7 || len(args) > 8 {
		return nil, badCall(o, "7 or 8 arguments expected, not %d", len(args))
	}
	d, ok := dtypeOf(args[6])
	if !ok {
		return nil, badCall(o, "%s is not a dtype", repr(args[6], 0))
	}
	t, err := b.dense(o, args, d)
	if err != nil {
		return nil, err
	}
	if t.Wrapper, err = b.plainWrapper(o, t, args[4], args[5], args[7:]); err != nil {
		return nil, err
	}
	return t, b.noState(o)
}

// plainWrapper is the wrapper of a tensor that is nothing but a tensor. Nearly
// all share one of two. A last argument, {"conj": True} or {"neg": True}, tells
// that the values are the stored ones conjugated or negated.
func (b *builder) plainWrapper(o *pickle.Object, t *pytree.Tensor, requiresGrad, hooks pickle.Value, metadata []pickle.Value) (*wrapper, error) {
	if requiresGrad.Kind() != pickle.Bool {
		return nil, badCall(o, "requires_grad must be a bool, not %s", repr(requiresGrad, 0))
	}
	w := &wrapper{requiresGrad: requiresGrad.Bool()}
	if !noHooks(hooks) {
		nodes, err := b.hidden(hooks)
		if err != nil {
			return nil, err
		}
		w.hooks = nodes[0]
	}
	if len(metadata) > 0 && metadata[0].Kind() != pickle.None {
		if err := addSigns(t, metadata[0]); err != nil {
			return nil, badCall(o, "%v", err)
		}
	}
	switch {
	case w.hooks != nil:
		return w, nil
	case w.requiresGrad:
		return gradWrapper, nil
	}
	return plainWrapper, nil
}

// addSigns applies a tensor's metadata.
func addSigns(t *pytree.Tensor, metadata pickle.Value) error {
	if metadata.Kind() != pickle.Dict {
		return fmt.Errorf("metadata must be a dict, not %s", repr(metadata, 0))
	}
	items := metadata.Obj().Items
	for i := 0; i+1 < len(items); i += 2 {
		if items[i+1].Kind() != pickle.Bool {
			return fmt.Errorf("metadata %s must be a bool", repr(items[i], 0))
		}
		if !items[i+1].Bool() {
			continue
		}
		switch name, _ := str(items[i]); name {
		case "conj":
			t.Signs ^= pytree.NegImag
		case "neg":
			t.Signs ^= pytree.NegReal | pytree.NegImag
		default:
			return fmt.Errorf("metadata %s is not known", repr(items[i], 0))
		}
	}
	if t.Signs != 0 && !t.DType.IsFloat() && !t.DType.IsComplex() && t.DType != "bcomplex32" {
		return fmt.Errorf("a view of %s cannot be conjugated or negated", t.DType)
	}
	if !t.DType.IsComplex() && t.DType != "bcomplex32" {
		t.Signs &= pytree.NegReal
	}
	return nil
}

// plainWrapper and gradWrapper are the wrappers of tensors without hooks.
var (
	plainWrapper = &wrapper{}
	gradWrapper  = &wrapper{requiresGrad: true}
)

// noHooks reports whether v is the empty OrderedDict or None that stands for no
// hooks.
func noHooks(v pickle.Value) bool {
	if v.Kind() != pickle.Call {
		return v.Kind() == pickle.None
	}
	o := v.Obj()
	args, ok := tuple(o.Items[1])
	if len(args) == 1 { // Python 2's OrderedDict([])
		items, isList := tuple(args[0])
		ok = isList && len(items) == 0
	}
	return ok && len(args) <= 1 && callee(o) == "collections.OrderedDict" && len(o.DictItems())+len(o.State()) == 0
}

func (b *builder) noState(o *pickle.Object) error {
	if len(o.State())+len(o.ListItems())+len(o.DictItems())+len(o.SetItems()) > 0 {
		return badCall(o, "a tensor has neither state nor items")
	}
	return nil
}
