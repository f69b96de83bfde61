package pt

import (
	"fmt"
	"slices"
	"strings"

	"ckpt/pickle"
	"ckpt/pytree"
)

// torchDTypes is torch's dtypes by their names in the torch module, with the
// dtype of their elements as plain tensors. Quantized types are stored as
// integers; those below a byte are packed into bytes.
var torchDTypes = map[string]pytree.DType{
	"float64": pytree.Float64, "double": pytree.Float64, "float32": pytree.Float32, "float": pytree.Float32,
	"float16": pytree.Float16, "half": pytree.Float16, "bfloat16": pytree.BFloat16,
	"float8_e4m3fn": pytree.Float8E4M3FN, "float8_e4m3fnuz": pytree.Float8E4M3FNU,
	"float8_e5m2": pytree.Float8E5M2, "float8_e5m2fnuz": pytree.Float8E5M2FNU, "float8_e8m0fnu": pytree.Float8E8M0FNU,
	"int64": pytree.Int64, "long": pytree.Int64, "int32": pytree.Int32, "int": pytree.Int32,
	"int16": pytree.Int16, "short": pytree.Int16, "int8": pytree.Int8,
	"uint64": pytree.Uint64, "uint32": pytree.Uint32, "uint16": pytree.Uint16, "uint8": pytree.Uint8,
	"bool": pytree.Bool, "complex32": pytree.Complex32, "chalf": pytree.Complex32,
	"complex64": pytree.Complex64, "cfloat": pytree.Complex64, "complex128": pytree.Complex128, "cdouble": pytree.Complex128,
	"bcomplex32": "bcomplex32",
	"qint8":      "qint8", "quint8": "quint8", "qint32": "qint32", "quint4x2": "quint4x2", "quint2x4": "quint2x4",
	"bits8": "bits8", "bits16": "bits16", "bits1x8": "bits1x8", "bits2x4": "bits2x4", "bits4x2": "bits4x2",
	"float4_e2m1fn_x2": "float4_e2m1fn_x2",
	"uint1":            "uint1", "uint2": "uint2", "uint3": "uint3", "uint4": "uint4", "uint5": "uint5", "uint6": "uint6", "uint7": "uint7",
	"int1": "int1", "int2": "int2", "int3": "int3", "int4": "int4", "int5": "int5", "int6": "int6", "int7": "int7",
}

// itemSizes is the bytes an element of torch's own further dtypes takes.
var itemSizes = map[pytree.DType]int{
	"bcomplex32": 4,
	"qint8":      1, "quint8": 1, "qint32": 4, "quint4x2": 1, "quint2x4": 1,
	"bits8": 1, "bits16": 2, "bits1x8": 1, "bits2x4": 1, "bits4x2": 1, "float4_e2m1fn_x2": 1,
	"uint1": 1, "uint2": 1, "uint3": 1, "uint4": 1, "uint5": 1, "uint6": 1, "uint7": 1,
	"int1": 1, "int2": 1, "int3": 1, "int4": 1, "int5": 1, "int6": 1, "int7": 1,
}

func elementSize(d pytree.DType) int {
	if n := itemSizes[d]; n > 0 {
		return n
	}
	return d.Size()
}

// storageTypes is the dtype of each storage class. UntypedStorage has none: it
// counts bytes, and the tensor says its dtype.
var storageTypes = map[string]pytree.DType{
	"DoubleStorage": pytree.Float64, "FloatStorage": pytree.Float32, "HalfStorage": pytree.Float16,
	"BFloat16Storage": pytree.BFloat16, "LongStorage": pytree.Int64, "IntStorage": pytree.Int32,
	"ShortStorage": pytree.Int16, "CharStorage": pytree.Int8, "ByteStorage": pytree.Uint8, "BoolStorage": pytree.Bool,
	"ComplexFloatStorage": pytree.Complex64, "ComplexDoubleStorage": pytree.Complex128,
	"QInt8Storage": "qint8", "QUInt8Storage": "quint8", "QInt32Storage": "qint32",
	"QUInt4x2Storage": "quint4x2", "QUInt2x4Storage": "quint2x4",
	"UntypedStorage": pytree.Uint8, "_UntypedStorage": pytree.Uint8,
}

// storageClass is the class of storages that hold a dtype, or "" for the dtypes
// that came after the classes: their storages are untyped.
var storageClass = func() map[pytree.DType]string {
	m := make(map[pytree.DType]string)
	for class, d := range storageTypes {
		if !strings.HasSuffix(class, "UntypedStorage") {
			m[d] = class
		}
	}
	return m
}()

// storageRef is a reference to a storage in the pickle.
type storageRef struct {
	storage *pytree.Storage
	dtype   pytree.DType
	untyped bool
	// offset is where a view of the storage begins, in elements (legacy files).
	offset int64
	numel  int64
}

// storageMeta is what a storage carries for its rewrite.
type storageMeta struct {
	location string // "cpu", "cuda:0"
}

// storageRef resolves a persistent id ('storage', class, key, location, numel),
// in legacy files with a sixth item: None or (view key, offset, view size).
func (b *builder) storageRef(v pickle.Value) (*storageRef, error) {
	if v.Kind() != pickle.Persistent {
		return nil, fmt.Errorf("storage expected, not %s", kindOf(v))
	}
	o := v.Obj()
	if b.persistent != nil {
		if n, ok, err := b.persistent(o.Items[0]); err != nil {
			return nil, err
		} else if t, isTensor := n.(*pytree.Tensor); ok && isTensor {
			return &storageRef{storage: t.Storage, dtype: t.DType, offset: t.Offset, numel: t.Elements()}, nil
		}
	}
	id, ok := tuple(o.Items[0])
	if !ok || len(id) < 5 || len(id) > 6 {
		return nil, fmt.Errorf("persistent id at byte %d of the pickle: a tuple of 5 or 6 items expected", o.Pos)
	}
	if kind, _ := str(id[0]); kind != "storage" {
		return nil, fmt.Errorf("persistent id at byte %d of the pickle: storage expected, not %s", o.Pos, repr(id[0], 0))
	}
	class, ok := storageClassName(id[1])
	dtype, known := storageTypes[class]
	if !ok || !known {
		return nil, fmt.Errorf("persistent id at byte %d of the pickle: %s is not a storage class", o.Pos, repr(id[1], 0))
	}
	key, ok := storageKey(id[2])
	location, locOK := str(id[3])
	if !ok || !locOK || id[4].Kind() != pickle.Int || id[4].Int() < 0 {
		return nil, fmt.Errorf("persistent id at byte %d of the pickle: key, location and number of elements expected, not %s, %s, %s",
			o.Pos, repr(id[2], 0), repr(id[3], 0), repr(id[4], 0))
	}
	ref := &storageRef{dtype: dtype, untyped: strings.HasSuffix(class, "UntypedStorage"), numel: id[4].Int()}
	if ref.numel > 1<<62/int64(elementSize(dtype)) {
		return nil, fmt.Errorf("persistent id at byte %d of the pickle: %d elements overflow", o.Pos, ref.numel)
	}
	if len(id) == 6 && id[5].Kind() != pickle.None {
		if view, ok := tuple(id[5]); ok && len(view) == 3 && view[1].Kind() == pickle.Int && view[1].Int() >= 0 {
			ref.offset = view[1].Int()
		} else {
			return nil, fmt.Errorf("persistent id at byte %d of the pickle: view of a storage malformed", o.Pos)
		}
	}
	if s, ok := b.storages[key]; ok {
		ref.storage = s
		return ref, nil
	}
	size := ref.numel * int64(elementSize(dtype))
	src, err := b.storage(key, size)
	if err != nil {
		return nil, err
	}
	s := &pytree.Storage{Source: src, BigEndian: b.bigEndian, Key: key, Payload: &storageMeta{location: location}}
	if src == nil {
		// Reported all together at the end; until then the storage is taken to be
		// as long as the pickle says.
		b.missing = append(b.missing, fmt.Sprintf("%q", key))
		s.Source = pytree.Section{N: size}
	}
	b.storages[key] = s
	b.numel[key] = ref.numel
	b.order = append(b.order, s)
	ref.storage = s
	return ref, nil
}

// storageClassName is the bare name of a storage class: torch.FloatStorage,
// torch.cuda.FloatStorage, torch.storage.UntypedStorage.
func storageClassName(v pickle.Value) (string, bool) {
	if v.Kind() != pickle.Global {
		return "", false
	}
	module, name := v.Obj().Global()
	return name, module == "torch" || module == "torch.storage" || module == "torch.cuda"
}

// storageKey is a storage's key: text, or a number in old files.
func storageKey(v pickle.Value) (string, bool) {
	if v.Kind() == pickle.Int {
		return fmt.Sprint(v.Int()), true
	}
	return str(v)
}

// wrapper is what torch makes of the dense array below it.
type wrapper struct {
	// params is the calls around the array, innermost first: nothing for a plain
	// tensor, _rebuild_parameter for a Parameter, and so on.
	params []wrap
	// requiresGrad and hooks are arguments of the innermost call.
	requiresGrad bool
	hooks        pytree.Node // nil: none
	// array is set where the innermost is no tensor but a NumPy array.
	array *npArray
	// bare tells that there is no tensor: a storage stands by itself.
	bare bool
	// class is the storage's class where it is not the usual one of the dtype.
	class string
	// legacy tells of _rebuild_tensor, which has no requires_grad.
	legacy bool
}

// wrap is one call around a tensor: callee(before…, tensor, after…).
type wrap struct {
	callee        pickle.Value
	before, after []pytree.Node
	// fromType tells that the callee is _rebuild_from_type_v2, which takes the
	// next inner call apart: (function, type, arguments, state).
	fromType bool
}

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

// rebuildWrapped is _rebuild_parameter(tensor, requires_grad, hooks[, state]).
func rebuildWrapped(b *builder, v pickle.Value, o *pickle.Object, args []pickle.Value) (pytree.Node, error) {
	if len(args) < 3 || len(args) > 4 {
		return nil, badCall(o, "3 or 4 arguments expected, not %d", len(args))
	}
	if err := b.noState(o); err != nil {
		return nil, err
	}
	inner, err := b.node(args[0])
	if err != nil {
		return nil, err
	}
	t, ok := inner.(*pytree.Tensor)
	w, isTorch := wrapperOf(t)
	if !ok || !isTorch {
		// A Parameter of something that is not one dense array: its parts.
		names := []string{"data", "requires_grad", "backward_hooks", "state"}
		return b.instance(o, "torch.nn.parameter.Parameter", &call{kind: o.Kind, callee: o.Items[0]}, args, names...)
	}
	if len(args) == 4 && !emptyState(args[3]) {
		names := []string{"data", "requires_grad", "backward_hooks", "state"}
		return b.instance(o, "torch.nn.parameter.Parameter", &call{kind: o.Kind, callee: o.Items[0]}, args, names...)
	}
	after, err := b.hidden(args[1:]...)
	return rewrap(t, w, wrap{callee: o.Items[0], after: after}), err
}

// rebuildOnDevice is _rebuild_device_tensor_from_numpy(array, dtype, device,
// requires_grad) and its like for tensors of devices whose memory torch does not
// save as it is: the array, of that dtype, or its parts where it would be cast.
func rebuildOnDevice(b *builder, _ pickle.Value, o *pickle.Object, args []pickle.Value) (pytree.Node, error) {
	if len(args) != 4 {
		return nil, nil
	}
	n, err := b.node(args[0])
	if err != nil {
		return nil, err
	}
	t, ok := n.(*pytree.Tensor)
	d, known := dtypeOf(args[1])
	if !ok || !known || t.DType != d || len(o.State()) > 0 {
		names := []string{"data", "dtype", "device", "requires_grad"}
		return b.instance(o, "device tensor", &call{kind: o.Kind, callee: o.Items[0]}, args, names...)
	}
	w, isTorch := wrapperOf(t)
	if !isTorch {
		arr, ok := t.Wrapper.(*npArray)
		if !ok {
			return nil, badCall(o, "its data is neither an array nor a tensor")
		}
		w = &wrapper{array: arr}
	}
	after, err := b.hidden(args[1:]...)
	return rewrap(t, w, wrap{callee: o.Items[0], after: after}), err
}

func emptyState(v pickle.Value) bool {
	return v.Kind() == pickle.None || v.Kind() == pickle.Dict && len(v.Obj().Items) == 0
}

func wrapperOf(t *pytree.Tensor) (*wrapper, bool) {
	if t == nil {
		return nil, false
	}
	w, ok := t.Wrapper.(*wrapper)
	return w, ok && !w.bare
}

// rewrap is t with one more call around it.
func rewrap(t *pytree.Tensor, w *wrapper, outer wrap) *pytree.Tensor {
	u, v := *t, *w
	v.params = append(slices.Clip(v.params), outer)
	u.Wrapper = &v
	return &u
}

// rebuildFromType is _rebuild_from_type_v2(function, type, arguments, state): a
// tensor of a subclass. The function is one of those above.
func rebuildFromType(b *builder, v pickle.Value, o *pickle.Object, args []pickle.Value) (pytree.Node, error) {
	if len(args) < 3 || len(args) > 4 || args[0].Kind() != pickle.Global || args[2].Kind() != pickle.Tuple {
		return nil, nil
	}
	typ := className(args[1])
	// The call that is packed into the arguments, as if it had been made.
	inner := &pickle.Object{Kind: pickle.Call, Pos: o.Pos, Items: []pickle.Value{args[0], args[2]}}
	f := known[callee(inner)]
	asParts := func() (pytree.Node, error) {
		return b.instance(o, typ, &call{kind: o.Kind, callee: o.Items[0]}, args, "function", "type", "args", "state")
	}
	if f == nil || len(args[2].Obj().Items) < 2 || len(o.State()) > 0 {
		return asParts()
	}
	if err := b.descend(); err != nil {
		return nil, err
	}
	n, err := f(b, pickle.ValueOf(inner), inner, args[2].Obj().Items)
	b.depth--
	if err != nil {
		return nil, err
	}
	t, ok := n.(*pytree.Tensor)
	w, isTorch := wrapperOf(t)
	if !ok || !isTorch {
		return asParts()
	}
	if len(args) == 4 && !emptyState(args[3]) {
		return b.subclassWithState(o, typ, t, args)
	}
	before, err := b.hidden(args[1])
	if err != nil {
		return nil, err
	}
	after, err := b.hidden(args[3:]...)
	return rewrap(t, w, wrap{callee: o.Items[0], before: before, after: after, fromType: true}), err
}

// subclassWithState is a tensor of a subclass that has attributes: its array
// under "data", its state under "state".
func (b *builder) subclassWithState(o *pickle.Object, typ string, t *pytree.Tensor, args []pickle.Value) (pytree.Node, error) {
	c := &pytree.Container{Kind: pytree.Object, Type: typ}
	how := &call{kind: o.Kind, callee: o.Items[0], form: fromTypeForm}
	c.Payload = &meta{call: how}
	defer b.begin(o, c)()
	var err error
	if how.hiddenArgs, err = b.hidden(args[1]); err != nil {
		return nil, err
	}
	c.Entries = []pytree.Entry{{Key: pytree.StringKey("data"), Value: t, Part: pytree.Arg}}
	return c, b.addParts(c, pytree.Arg, []pytree.Key{pytree.StringKey("state")}, args[3:])
}
