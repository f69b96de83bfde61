package pt

import (
	"ckpt/pickle"
	"ckpt/pytree"
)

// persistentNode is what a persistent id stands for by itself: a storage that
// was saved without a tensor, a class whose source was saved along (legacy
// files), or something unknown.
func (b *builder) persistentNode(v pickle.Value, o *pickle.Object) (pytree.Node, error) {
	if len(o.Items) == 0 {
		return &pytree.Opaque{Type: "persistent id", Payload: v}, nil
	}
	if b.persistent != nil {
		if n, ok, err := b.persistent(o.Items[0]); ok || err != nil {
			return n, err
		}
	}
	if class, ok := persistentClass(v); ok {
		return globalNode(class, class.Obj()), nil
	}
	if id, _ := tuple(o.Items[0]); len(id) > 0 && b.storage != nil {
		if kind, _ := str(id[0]); kind == "storage" {
			return b.bareStorage(v)
		}
	}
	return b.instance(o, "persistent id", &call{kind: o.Kind}, o.Items)
}

// bareStorage shows a storage as the one-dimensional array that it is.
func (b *builder) bareStorage(v pickle.Value) (pytree.Node, error) {
	ref, err := b.storageRef(v)
	if err != nil {
		return nil, err
	}
	t := &pytree.Tensor{DType: ref.dtype, Shape: []int64{ref.numel}, Offset: ref.offset, Storage: ref.storage, ItemSize: itemSizes[ref.dtype]}
	t.Wrapper = &wrapper{bare: true, class: storageClassOf(v)}
	return t, t.Check()
}
