package inspect

import "ckpt/pytree"

// located is a container and where it is.
type located struct {
	path pytree.Path
	c    *pytree.Container
}

// specials collects the containers that are worth a word and hold a selected
// entry.
type specials struct {
	q    *Query
	open []located // those on the way to the entry at hand, not yet listed
	list []located
}

func (s *specials) enter(p pytree.Path, c *pytree.Container) {
	if len(c.Entries) == 0 || c.Plain() && len(c.Attrs) == 0 {
		return
	}
	s.leave(p)
	if _, deeper := s.q.cut(p.Dotted()); deeper {
		return
	}
	s.open = append(s.open, located{p, c})
}

// leave closes what p is not in.
func (s *specials) leave(p pytree.Path) {
	for len(s.open) > 0 && !holds(s.open[len(s.open)-1].path, p) {
		s.open = s.open[:len(s.open)-1]
	}
}

func (s *specials) leaf(e *entry) bool {
	s.leave(e.path)
	s.list = append(s.list, s.open...)
	s.open = s.open[:0]
	return true
}
