// Package pytree is the one model that every checkpoint format is read into:
// an immutable tree of named, lazy leaves.
//
// # The tree
//
// A [Node] is a [Container] or a leaf. A container is a mapping, a sequence or
// an object (an instance of some class, with constructor arguments, attributes
// and items); it lists its children in file order and remembers its own type,
// so that a rewrite gives back an OrderedDict where there was one. A leaf is a
// [Tensor], a [Scalar] or an [Opaque]: something with no parts to show, which
// is named and carried along but never run. A [Ref] stands where the graph in
// the file loops back to a container that is listed elsewhere.
//
// Nodes may be shared: the same pointer at two places means the same object in
// the file, and a writer keeps it one. Nothing ever changes a node that
// somebody else can see; see [Rebuild] for how an altered tree is made.
//
// # Paths
//
// A [Path] is the list of keys from the root, written as JSON; its dotted form
// joins the keys by dots and is what people read. Every leaf has exactly one
// path, several may share a dotted form.
//
// # Laziness, and who owns the bytes
//
// A tensor is a view (offset and strides, in elements) of a [Storage]; two
// tensors with one storage are tied. No byte of a storage is read until
// somebody opens it, and opening is safe from many goroutines at once. The
// logical bytes of a tensor (its elements in C order, little-endian) come from
// [Tensor.Open] in bounded memory whatever its strides.
//
// # Limits and trust
//
// The package believes nothing about sizes: [Tensor.Check] verifies that a
// view lies within its storage, and formats call it for all they build. Trees
// deeper than [MaxDepth] are refused by readers, so the recursive walks here
// are bounded.
package pytree
