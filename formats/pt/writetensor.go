package pt

import (
	"strings"

	"ckpt/pickle"
	"ckpt/pytree"
)

// tensor writes a tensor as what its wrapper says it is. One that comes from
// another format becomes a plain torch tensor.
func (e *encoder) tensor(t *pytree.Tensor) error {
	if arr, ok := t.Wrapper.(*npArray); ok {
		if err := e.array(t, arr); err != nil {
			return err
		}
		e.w.SetMemo(t)
		return nil
	}
	w, ok := t.Wrapper.(*wrapper)
	if !ok {
		w = plainWrapper
	}
	if w.bare {
		if err := e.bareStorage(t); err != nil {
			return err
		}
	} else if err := e.wrapped(t, w, len(w.params)); err != nil {
		return err
	}
	e.w.SetMemo(t)
	return nil
}

// wrapped writes t with the innermost n calls around it.
func (e *encoder) wrapped(t *pytree.Tensor, w *wrapper, n int) error {
	if n == 0 && w.array != nil {
		return e.array(t, w.array)
	}
	if err := e.wrapFunc(t, w, n); err != nil {
		return err
	}
	if err := e.wrapArgs(t, w, n); err != nil {
		return err
	}
	e.w.Reduce()
	return nil
}

// wrapFunc writes the function of the n-th call around t, wrapArgs the tuple of
// its arguments.
func (e *encoder) wrapFunc(t *pytree.Tensor, w *wrapper, n int) error {
	if n > 0 {
		return e.value(w.params[n-1].callee)
	}
	e.w.Global("torch._utils", e.plan.rebuild(t))
	return nil
}

func (e *encoder) wrapArgs(t *pytree.Tensor, w *wrapper, n int) error {
	if n == 0 {
		return e.rebuildArgs(t, w)
	}
	p := w.params[n-1]
	e.w.Mark()
	if p.fromType {
		// (function, type, arguments, state) of the call below.
		if err := e.wrapFunc(t, w, n-1); err != nil {
			return err
		}
		if err := e.nodes(p.before); err != nil {
			return err
		}
		if err := e.wrapArgs(t, w, n-1); err != nil {
			return err
		}
	} else if err := e.wrapped(t, w, n-1); err != nil {
		return err
	}
	if err := e.nodes(p.after); err != nil {
		return err
	}
	e.w.Tuple(pickle.FromMark)
	return nil
}

// rebuildArgs writes the arguments of _rebuild_tensor_v2 or _v3: storage,
// offset, size, stride, requires_grad, hooks[, dtype][, metadata].
func (e *encoder) rebuildArgs(t *pytree.Tensor, w *wrapper) error {
	if _, ok := torchDTypes[string(t.DType)]; !ok {
		return e.errorf("torch has no dtype %s", t.DType)
	}
	e.w.Mark()
	s, err := e.storage(t)
	if err != nil {
		return err
	}
	e.w.Int(t.Offset - s.begin/int64(t.Size()))
	e.ints(t.Shape)
	e.ints(stridesOf(t))
	e.w.Bool(w.requiresGrad)
	if w.hooks != nil {
		if err := e.node(w.hooks); err != nil {
			return err
		}
	} else {
		e.w.Global("collections", "OrderedDict")
		e.w.EmptyTuple()
		e.w.Reduce()
	}
	if e.plan.rebuild(t) == rebuildV3 {
		e.w.Global("torch", string(t.DType))
	}
	e.signs(t)
	e.w.Tuple(pickle.FromMark)
	return nil
}

const (
	rebuildV2 = "_rebuild_tensor_v2"
	rebuildV3 = "_rebuild_tensor_v3"
)

// signs writes the metadata of a conjugated or negated view.
func (e *encoder) signs(t *pytree.Tensor) {
	if t.Signs == 0 {
		return
	}
	// Both negated is "neg", the imaginary part alone is "conj", the real part of
	// a complex number alone is both.
	imag, real := t.Signs&pytree.NegImag != 0, t.Signs&pytree.NegReal != 0
	complex := t.DType.IsComplex() || t.DType == "bcomplex32"
	e.w.EmptyDict()
	if complex && imag != real {
		e.w.Text("conj")
		e.w.Bool(true)
		e.w.SetItem()
	}
	if real {
		e.w.Text("neg")
		e.w.Bool(true)
		e.w.SetItem()
	}
}

// stridesOf is the strides that torch writes: in C order where none are kept.
func stridesOf(t *pytree.Tensor) []int64 {
	if t.Strides != nil {
		return t.Strides
	}
	return orderC(t.Shape)
}

func (e *encoder) ints(ns []int64) {
	switch len(ns) {
	case 0:
		e.w.EmptyTuple()
		return
	case 1, 2, 3:
		for _, n := range ns {
			e.w.Int(n)
		}
		e.w.Tuple(len(ns))
		return
	}
	e.w.Mark()
	for _, n := range ns {
		e.w.Int(n)
	}
	e.w.Tuple(pickle.FromMark)
}

// storage writes a reference to t's storage: the persistent id ('storage',
// class, key, location, elements).
func (e *encoder) storage(t *pytree.Tensor) (*outStorage, error) {
	s, err := e.plan.storage(t)
	if err != nil {
		return nil, e.errorf("%v", err)
	}
	e.w.Mark()
	e.w.Text("storage")
	elements := s.n
	if class := s.class(t); strings.HasSuffix(class, untypedClass) {
		e.w.Global("torch.storage", untypedClass)
	} else {
		e.w.Global("torch", class)
		elements /= int64(elementSize(storageTypes[class]))
	}
	e.w.Text(s.key)
	e.w.Text(s.location)
	e.w.Int(elements)
	e.w.Tuple(pickle.FromMark)
	e.w.PersID()
	return s, nil
}

// bareStorage writes a storage that stands by itself.
func (e *encoder) bareStorage(t *pytree.Tensor) error {
	s, err := e.plan.storage(t)
	if err != nil {
		return e.errorf("%v", err)
	}
	if off, n := t.Extent(); t.Signs != 0 || !t.Contiguous() || off != s.begin && n > 0 || n != s.n {
		return e.errorf("a storage by itself cannot be part of another one")
	}
	_, err = e.storage(t)
	return err
}

// quantized writes the arguments of _rebuild_qtensor.
func (e *encoder) quantized(c *pytree.Container, how *call) error {
	args := e.part(c, pytree.Arg, argsKey)
	if len(args) != len(c.Entries) || len(args) != 4 && len(args) != 5 {
		return e.errorf("a quantized tensor takes its integers and 3 or 4 parameters")
	}
	n := args[0].in.Entries[args[0].index].Value
	if other, ok := e.views[args[0]]; ok {
		n = other
	}
	t, ok := n.(*pytree.Tensor)
	if !ok {
		return e.errorf("the integers of a quantized tensor must be a tensor")
	}
	e.w.Mark()
	s, err := e.storage(t)
	if err != nil {
		return err
	}
	hidden := how.hiddenArgs
	if len(hidden) == 5 { // packed: the view's own numbers
		if err := e.nodes(hidden[:3]); err != nil {
			return err
		}
		hidden = hidden[3:]
	} else {
		e.w.Int(t.Offset - s.begin/int64(t.Size()))
		e.ints(t.Shape)
		e.ints(stridesOf(t))
	}
	if err := e.tupleOf(args[1:]); err != nil {
		return err
	}
	if err := e.nodes(hidden); err != nil {
		return err
	}
	e.w.Tuple(pickle.FromMark)
	return nil
}

// subclass writes the arguments of _rebuild_from_type_v2 for a tensor that is
// shown with its state.
func (e *encoder) subclass(c *pytree.Container, how *call) error {
	args := e.part(c, pytree.Arg, argsKey)
	if len(args) != 2 {
		return e.errorf("a %s takes its data and its state", c.Type)
	}
	t, ok := args[0].in.Entries[args[0].index].Value.(*pytree.Tensor)
	if !ok {
		return e.errorf("the data of a %s must be a tensor", c.Type)
	}
	w, ok := t.Wrapper.(*wrapper)
	if !ok {
		w = plainWrapper
	}
	e.w.Mark()
	if err := e.wrapFunc(t, w, len(w.params)); err != nil {
		return err
	}
	if err := e.nodes(how.hiddenArgs); err != nil {
		return err
	}
	if err := e.wrapArgs(t, w, len(w.params)); err != nil {
		return err
	}
	if err := e.entryOf(args[1]); err != nil {
		return err
	}
	e.w.Tuple(pickle.FromMark)
	return nil
}
