package pt

import (
	"slices"

	"ckpt/pickle"
	"ckpt/pytree"
)

// A quantized tensor is its integers and the parameters that give them meaning.
//
// _rebuild_qtensor(storage, offset, size, stride, quantizer_params,
// requires_grad, hooks) has for quantizer_params (scheme, scale, zero_point), or
// (scheme, scales, zero_points, axis) with tensors for one scale a channel.
var (
	perTensorNames  = []string{"qscheme", "scale", "zero_point"}
	perChannelNames = []string{"qscheme", "scales", "zero_points", "axis"}
)

// integersOf is the dtype of a quantized tensor's integers. Types below a byte
// are shown as the bytes that they are packed into.
var integersOf = map[pytree.DType]pytree.DType{
	"qint8": pytree.Int8, "quint8": pytree.Uint8, "qint32": pytree.Int32,
}

func rebuildQuantized(b *builder, _ pickle.Value, o *pickle.Object, args []pickle.Value) (pytree.Node, error) {
	if len(args) != 7 {
		return nil, badCall(o, "7 arguments expected, not %d", len(args))
	}
	params, ok := tuple(args[4])
	names := perTensorNames
	if len(params) == len(perChannelNames) {
		names = perChannelNames
	}
	if !ok || len(params) != len(names) {
		return nil, badCall(o, "quantizer parameters expected, not %s", repr(args[4], 0))
	}
	ref, err := b.storageRef(args[0])
	if err != nil {
		return nil, badCall(o, "%v", err)
	}
	how := &call{kind: o.Kind, callee: o.Items[0], form: quantForm}
	hidden := args[5:]
	var t *pytree.Tensor
	name := "int_repr"
	if d, whole := integersOf[ref.dtype]; whole {
		if t, err = b.dense(o, args, d); err != nil {
			return nil, err
		}
	} else {
		// Packed: the view counts elements below a byte, so the bytes are shown
		// whole and the view's numbers are kept.
		name = "packed"
		hidden = append(slices.Clip(args[1:4]), args[5:]...)
		n := ref.storage.Size()
		t = &pytree.Tensor{DType: pytree.Uint8, Shape: []int64{n}, Storage: ref.storage}
	}
	if how.hiddenArgs, err = b.hidden(hidden...); err != nil {
		return nil, err
	}
	t.Wrapper = &wrapper{bare: true, class: storageClassOf(args[0])}
	c := &pytree.Container{Kind: pytree.Object, Type: "torch." + string(ref.dtype) + " tensor", Payload: &meta{call: how}}
	defer b.begin(o, c)()
	c.Entries = []pytree.Entry{{Key: pytree.StringKey(name), Value: t, Part: pytree.Arg}}
	keys := make([]pytree.Key, len(names))
	for i := range names {
		keys[i] = pytree.StringKey(names[i])
	}
	if err := b.addParts(c, pytree.Arg, keys, params); err != nil {
		return nil, err
	}
	return c, b.noState(o)
}

// storageClassOf is the storage class in a persistent id that storageRef accepted.
func storageClassOf(v pickle.Value) string {
	if id, ok := tuple(v.Obj().Items[0]); ok && len(id) > 1 {
		name, _ := storageClassName(id[1])
		return name
	}
	return ""
}

// rebuildSparse is _rebuild_sparse_tensor(layout, data), with (indices, values,
// size[, is_coalesced]) for the COO layout and (compressed indices, plain
// indices, values, size) for the compressed ones.
func rebuildSparse(b *builder, _ pickle.Value, o *pickle.Object, args []pickle.Value) (pytree.Node, error) {
	if len(args) != 2 {
		return nil, badCall(o, "2 arguments expected, not %d", len(args))
	}
	data, ok := tuple(args[1])
	layout := repr(args[0], 0)
	n, err := b.node(args[0])
	if err != nil {
		return nil, err
	}
	if op, ok := n.(*pytree.Opaque); ok {
		layout = op.Text
	}
	var names []string
	switch layout {
	case "torch.sparse_coo":
		names = []string{"indices", "values", "size", "is_coalesced"}
	case "torch.sparse_csr", "torch.sparse_bsr":
		names = []string{"crow_indices", "col_indices", "values", "size"}
	case "torch.sparse_csc", "torch.sparse_bsc":
		names = []string{"ccol_indices", "row_indices", "values", "size"}
	}
	if !ok || len(data) > len(names) {
		return b.instance(o, "sparse tensor", &call{kind: o.Kind, callee: o.Items[0]}, args, "layout", "data")
	}
	how := &call{kind: o.Kind, callee: o.Items[0], form: sparseForm}
	if how.hiddenArgs, err = b.hidden(args[:1]...); err != nil {
		return nil, err
	}
	return b.instance(o, layout+" tensor", how, data, names...)
}
