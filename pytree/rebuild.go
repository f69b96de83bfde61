package pytree

import (
	"fmt"
	"slices"
)

// Rebuild makes an altered tree out of nodes that nobody may change. It keeps
// what a file's graph says beyond its paths: a container whose entries are the
// same nodes as before stays the same container, one that occurs at several
// places and is altered in the same way at each stays one, and a loop leads to
// the altered container instead of the old one.
//
// The zero value is ready. It is for one tree and one goroutine.
type Rebuild struct {
	variants map[*Container][]*Container
	tensors  map[[2]*Tensor]*Tensor
	refs     map[*Ref]*Ref
	order    []*Ref // the originals, in the order of their first use
}

// maxVariants bounds how many alterations of one container are remembered. A
// container at more places, altered differently at each, is no longer shared.
const maxVariants = 16

// Container is like with other entries: like itself if they are its own, or an
// earlier result with the same entries.
func (r *Rebuild) Container(like *Container, entries []Entry) *Container {
	if slices.Equal(like.Entries, entries) {
		return like
	}
	for _, v := range r.variants[like] {
		if slices.Equal(v.Entries, entries) {
			return v
		}
	}
	c := *like
	c.Entries = entries
	if r.variants == nil {
		r.variants = make(map[*Container][]*Container)
	}
	if vs := r.variants[like]; len(vs) < maxVariants {
		r.variants[like] = append(vs, &c)
	}
	return &c
}

// Tensor is value at the place of another tensor: it gets that one's wrapper.
func (r *Rebuild) Tensor(place, value *Tensor) *Tensor {
	if place == value {
		return place
	}
	key := [2]*Tensor{place, value}
	if t, ok := r.tensors[key]; ok {
		return t
	}
	t := *value
	t.Wrapper = place.Wrapper
	if r.tensors == nil {
		r.tensors = make(map[[2]*Tensor]*Tensor)
	}
	r.tensors[key] = &t
	return &t
}

// Ref is a loop that [Rebuild.Finish] will close.
func (r *Rebuild) Ref(ref *Ref) *Ref {
	if c, ok := r.refs[ref]; ok {
		return c
	}
	if r.refs == nil {
		r.refs = make(map[*Ref]*Ref)
	}
	c := &Ref{To: ref.To, Path: ref.Path}
	r.refs[ref] = c
	r.order = append(r.order, ref)
	return c
}

// Finish closes the loops of the tree under root. Where tells at which path of
// the new tree a loop's container is now.
func (r *Rebuild) Finish(root Node, where func(*Ref) Path) (*Tree, error) {
	t := &Tree{Root: root}
	if len(r.order) == 0 {
		return t, nil
	}
	targets := make(map[Path]*Container)
	for _, old := range r.order {
		targets[where(old)] = nil
	}
	t.Walk(Visitor{Enter: func(p Path, c *Container) bool {
		if _, ok := targets[p]; ok {
			targets[p] = c
		}
		return true
	}})
	for _, old := range r.order {
		path := where(old)
		to := targets[path]
		if to == nil {
			return nil, fmt.Errorf("a loop leads to %s, which the new tree does not have", Printable(old.Path.Dotted()))
		}
		r.refs[old].To, r.refs[old].Path = to, path
	}
	return t, nil
}
