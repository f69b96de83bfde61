package migrate

import (
	"slices"

	"ckpt/pytree"
)

// spot is a place of the new tree that the rules make or replace.
type spot struct {
	key  pytree.Key
	part pytree.Part
	// node is the leaf that goes here; nil for a container.
	node pytree.Node
	src  int32 // which old leaf it is, and by which rule
	by   int32
	// like is the old container that goes here, if one does.
	like  *pytree.Container
	kids  map[pytree.Key]*spot
	order []*spot
	// after is the key of the same container in whose place the spot comes.
	after    pytree.Key
	anchored bool
	next     *spot // the next one after the same key
	placed   bool  // it has its place among the template's entries
}

// kid finds or makes a child.
func (s *spot) kid(k pytree.Key) *spot {
	if c, ok := s.kids[k]; ok {
		return c
	}
	c := &spot{key: k, src: -1}
	if s.kids == nil {
		s.kids = make(map[pytree.Key]*spot)
	}
	s.kids[k] = c
	s.order = append(s.order, c)
	return c
}

// under finds a child, of no spot too.
func (s *spot) under(k pytree.Key) *spot {
	if s == nil {
		return nil
	}
	return s.kids[k]
}

// first is a spot at or under s that holds a leaf.
func (s *spot) first() *spot {
	for s.node == nil {
		if len(s.order) == 0 {
			return nil
		}
		s = s.order[0]
	}
	return s
}

// meet prepares the children for a walk over the template's container: it tells
// them whether it has an entry of theirs, and gives those that come in another
// entry's place, by that entry's key.
func (s *spot) meet(c *pytree.Container) map[pytree.Key]*spot {
	if s == nil || len(s.order) == 0 {
		return nil
	}
	var anchors map[pytree.Key]*spot
	for i := len(s.order) - 1; i >= 0; i-- {
		if k := s.order[i]; k.anchored {
			if anchors == nil {
				anchors = make(map[pytree.Key]*spot)
			}
			k.next = anchors[k.after]
			anchors[k.after] = k
		}
	}
	for i := range c.Entries {
		if k := s.kids[c.Entries[i].Key]; k != nil {
			k.placed = true
		}
	}
	return anchors
}

// sorted puts entries into the order in which the spot got its children; others
// come after them.
func (s *spot) sorted(entries []pytree.Entry) []pytree.Entry {
	rank := make(map[pytree.Key]int, len(s.order))
	for i, k := range s.order {
		rank[k.key] = i - len(s.order)
	}
	slices.SortStableFunc(entries, func(a, b pytree.Entry) int { return rank[a.Key] - rank[b.Key] })
	return entries
}
