package pytree

import "fmt"

// PathNode is a node and where it sits.
type PathNode struct {
	Path Path
	Node Node
}

// Flatten lists every leaf and every empty container of t in file order: what
// [Tree.Entries] yields.
func Flatten(t *Tree) []PathNode {
	var list []PathNode
	for p, n := range t.Entries() {
		list = append(list, PathNode{p, n})
	}
	return list
}

// Unflatten makes the plain tree in which every node of the list is at its path.
// The containers between are inferred: one whose keys are the integers from 0 in
// order is a list, any other a dict; an empty list gives an empty dict. Entries
// stand in the order in which the list first names them. So Flatten gives the
// list back if it came from there, while the types of containers are lost.
//
// It fails, naming both paths, where the list has a path twice or a node above
// another, and where a path is longer than [MaxDepth].
func Unflatten(list []PathNode) (*Tree, error) {
	// The root is the only entry of a holder, and so no special case.
	holder := &branch{c: NewDict()}
	u := unflattener{branches: []*branch{holder}}
	for _, pn := range list {
		if err := u.add(holder, pn); err != nil {
			return nil, err
		}
	}
	if len(list) == 0 {
		return &Tree{Root: NewDict()}, nil
	}
	for _, b := range u.branches[1:] {
		if b.counted {
			b.c.Kind, b.c.Type = Sequence, "list"
		}
	}
	return &Tree{Root: holder.c.Entries[0].Value}, nil
}

// branch is a container being filled.
type branch struct {
	c *Container
	// first is the path of the first node in it.
	first Path
	// counted tells that the keys so far are 0, 1, 2, …
	counted bool
	// at has the branch of every key, nil for a leaf.
	at map[Key]*branch
}

type unflattener struct {
	branches []*branch
	keys     []Key
}

func (u *unflattener) add(b *branch, pn PathNode) error {
	if pn.Node == nil {
		return fmt.Errorf("%s: no node", shownPath(pn.Path))
	}
	u.keys = append(append(u.keys[:0], Key{}), pn.Path.Keys()...)
	if len(u.keys)-1 > MaxDepth {
		return fmt.Errorf("%s: nested deeper than %d", shownPath(pn.Path), MaxDepth)
	}
	last := len(u.keys) - 1
	for i, k := range u.keys[:last] {
		next, ok := b.at[k]
		switch {
		case !ok:
			next = &branch{c: NewDict(), first: pn.Path, counted: true}
			u.branches = append(u.branches, next)
			b.put(k, next.c, next)
		case next == nil:
			above := MakePath(u.keys[1 : i+1]...)
			return fmt.Errorf("%s is a leaf and cannot also hold %s", shownPath(above), shownPath(pn.Path))
		}
		b = next
	}
	if was, ok := b.at[u.keys[last]]; ok {
		if was != nil {
			return fmt.Errorf("%s is a leaf and cannot also hold %s", shownPath(pn.Path), shownPath(was.first))
		}
		return fmt.Errorf("%s is listed twice", shownPath(pn.Path))
	}
	b.put(u.keys[last], pn.Node, nil)
	return nil
}

func (b *branch) put(k Key, n Node, child *branch) {
	if i, ok := k.IsInt(); !ok || i != int64(len(b.c.Entries)) {
		b.counted = false
	}
	if b.at == nil {
		b.at = make(map[Key]*branch)
	}
	b.at[k] = child
	b.c.Entries = append(b.c.Entries, Entry{Key: k, Value: n})
}

// shownPath is p for a message.
func shownPath(p Path) string { return Printable(p.JSON()) }
