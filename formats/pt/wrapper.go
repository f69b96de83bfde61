package pt

import (
	"ckpt/pickle"
	"ckpt/pytree"
)

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
