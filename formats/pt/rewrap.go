package pt

import (
	"slices"

	"ckpt/pickle"
	"ckpt/pytree"
)

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
