package pt

import (
	"errors"
	"strings"

	"ckpt/pytree"
)

// A whole nn.Module was pickled as an object whose attributes _parameters,
// _buffers and _modules hold what its state_dict() would list. It is shown as
// that: each parameter and persistent buffer under its state_dict() name, one
// string key each, and every other attribute beside them under the module's
// name and its own. The object itself stays below as it was, for the rewrite.

// view tells what the entries of a container stand for in another one.
type view struct {
	raw *pytree.Container
	// slots is where below raw each entry of the view is, by its key.
	slots map[pytree.Key]slot
	// shows is raw and the modules below it, whose entries the view has.
	shows []*pytree.Container
}

// slot is one entry of a container below a view's raw.
type slot struct {
	in    *pytree.Container
	index int
}

var (
	parametersKey    = pytree.StringKey("_parameters")
	buffersKey       = pytree.StringKey("_buffers")
	modulesKey       = pytree.StringKey("_modules")
	nonPersistentKey = pytree.StringKey("_non_persistent_buffers_set")
)

// viewOf is the view that c shows, or nil.
func viewOf(c *pytree.Container) *view { return peekMeta(c).view }

// isModule reports whether c is an nn.Module as pickle built it.
func isModule(c *pytree.Container) bool { return attributesOf(c) != nil }

// attributesOf is the container that holds a module's attributes: the module
// itself; or, for a GraphModule of torch.fx, which is pickled as a call that makes
// its class anew, the dict that is the call's first argument. It is nil for what is
// no module.
func attributesOf(c *pytree.Container) *pytree.Container {
	if c.Kind != pytree.Object {
		return nil
	}
	if hasMembers(c, pytree.Attr) {
		return c
	}
	if strings.HasPrefix(c.Type, "torch.fx.graph_module.reduce_") && len(c.Entries) > 0 {
		if dict, ok := c.Entries[0].Value.(*pytree.Container); ok && dict.Kind == pytree.Mapping && hasMembers(dict, pytree.Item) {
			return dict
		}
	}
	return nil
}

// hasMembers reports whether c has the three mappings that every module has.
func hasMembers(c *pytree.Container, part pytree.Part) bool {
	found := 0
	for _, e := range c.Entries {
		if e.Part == part && isMember(e.Key) {
			if m, ok := e.Value.(*pytree.Container); ok && m.Kind == pytree.Mapping {
				found++
			}
		}
	}
	return found == 3
}

func isMember(k pytree.Key) bool { return k == parametersKey || k == buffersKey || k == modulesKey }

// modulesFloor is how many bytes of names the modules of any file may make: less
// than paths, as each name takes a few words beside it.
const modulesFloor = 8 << 20

// showModules puts a view in place of every module that is not part of another.
func showModules(root pytree.Node, inputSize int64) (pytree.Node, error) {
	s := &moduleShower{views: make(map[*pytree.Container]*pytree.Container), seen: make(map[*pytree.Container]bool), left: min(pathLimit(inputSize), pathFactor*float64(inputSize)+modulesFloor)}
	return s.show(root)
}

type moduleShower struct {
	views map[*pytree.Container]*pytree.Container // of each outermost module
	seen  map[*pytree.Container]bool
	left  float64 // bytes of names that may still be made
}

// show is n, or its view if it is a module, with modules below it shown.
func (s *moduleShower) show(n pytree.Node) (pytree.Node, error) {
	c, ok := n.(*pytree.Container)
	if !ok {
		return n, nil
	}
	if v, ok := s.views[c]; ok {
		return v, nil
	}
	if isModule(c) {
		v := &view{raw: c, slots: make(map[pytree.Key]slot)}
		out := &pytree.Container{Kind: pytree.Object, Type: c.Type, Payload: &meta{view: v}}
		s.views[c] = out
		return out, s.flatten(out, v, c, "")
	}
	if s.seen[c] {
		return c, nil
	}
	s.seen[c] = true
	for i := range c.Entries {
		child, err := s.show(c.Entries[i].Value)
		if err != nil {
			return nil, err
		}
		c.Entries[i].Value = child
	}
	return c, nil
}

// flatten adds the entries of module c to the view out, in the order of
// state_dict(): its parameters, its buffers, its modules; then all else.
func (s *moduleShower) flatten(out *pytree.Container, v *view, c *pytree.Container, prefix string) error {
	v.shows = append(v.shows, c)
	attributes := attributesOf(c)
	part := pytree.Attr
	if attributes != c {
		part = pytree.Item
	}
	members := make(map[pytree.Key]*pytree.Container, 3)
	for _, e := range attributes.Entries {
		if e.Part == part && isMember(e.Key) {
			members[e.Key] = e.Value.(*pytree.Container)
		}
	}
	parameters, buffers, modules := members[parametersKey], members[buffersKey], members[modulesKey]
	volatile, err := s.nonPersistent(attributes)
	if err != nil {
		return err
	}
	hidden := func(e pytree.Entry) bool { return isNull(e.Value) || volatile[e.Key.String()] }
	shown := func(e pytree.Entry) bool { return !hidden(e) }
	if err := errors.Join(s.add(out, v, parameters, prefix, shown), s.add(out, v, buffers, prefix, shown)); err != nil {
		return err
	}
	for i, e := range modules.Entries {
		if sub, ok := e.Value.(*pytree.Container); ok && isModule(sub) {
			if err := s.flatten(out, v, sub, prefix+e.Key.String()+"."); err != nil {
				return err
			}
		} else if err := s.addOne(out, v, slot{modules, i}, prefix); err != nil {
			return err // None, or something that is no module
		}
	}
	if err := errors.Join(s.add(out, v, parameters, prefix, hidden), s.add(out, v, buffers, prefix, hidden)); err != nil {
		return err
	}
	if err := s.add(out, v, attributes, prefix, func(e pytree.Entry) bool { return members[e.Key] == nil || e.Part != part }); err != nil || attributes == c {
		return err
	}
	return s.add(out, v, c, prefix, func(e pytree.Entry) bool { return e.Value != pytree.Node(attributes) })
}

func (s *moduleShower) add(out *pytree.Container, v *view, from *pytree.Container, prefix string, which func(pytree.Entry) bool) error {
	for i, e := range from.Entries {
		if which(e) {
			if err := s.addOne(out, v, slot{from, i}, prefix); err != nil {
				return err
			}
		}
	}
	return nil
}

func (s *moduleShower) addOne(out *pytree.Container, v *view, at slot, prefix string) error {
	e := &at.in.Entries[at.index]
	k := pytree.StringKey(prefix + e.Key.String())
	for _, taken := v.slots[k]; taken; _, taken = v.slots[k] {
		k = pytree.StringKey(k.String() + "'") // an attribute named like a parameter of a submodule
	}
	if err := s.spend(len(k.String()) + 64); err != nil {
		return err
	}
	n, err := s.show(e.Value)
	if err != nil {
		return err
	}
	e.Value = n
	v.slots[k] = at
	out.Entries = append(out.Entries, pytree.Entry{Key: k, Value: n, Part: pytree.Attr})
	return nil
}

// spend takes so many bytes off what may still be made.
func (s *moduleShower) spend(n int) error {
	if s.left -= float64(n); s.left < 0 {
		return errors.New("the names of its modules' attributes would take memory beyond reason for a file of its size")
	}
	return nil
}

func isNull(n pytree.Node) bool {
	s, ok := n.(*pytree.Scalar)
	return ok && s.V == nil
}

// nonPersistent is the names of the buffers that state_dict() leaves out.
func (s *moduleShower) nonPersistent(c *pytree.Container) (map[string]bool, error) {
	names := make(map[string]bool)
	n, _ := c.Get(nonPersistentKey)
	set, ok := n.(*pytree.Container)
	if !ok {
		return names, nil
	}
	if err := s.spend(len(set.Entries)); err != nil {
		return nil, err
	}
	for _, e := range set.Entries {
		if s, ok := e.Value.(*pytree.Scalar); ok {
			if name, ok := s.V.(string); ok {
				names[name] = true
			}
		}
	}
	return names, nil
}
