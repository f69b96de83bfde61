package pt

import (
	"fmt"
	"slices"

	"ckpt/pickle"
	"ckpt/pytree"
)

func (b *builder) addParts(c *pytree.Container, part pytree.Part, keys []pytree.Key, values []pickle.Value) error {
	if err := b.spend(len(values)); err != nil {
		return err
	}
	for i, v := range values {
		n, err := b.child(keys[i], v)
		if err != nil {
			return err
		}
		c.Entries = append(c.Entries, pytree.Entry{Key: keys[i], Value: n, Part: part})
	}
	return nil
}

// addEffects shows what functions were given together with the object after it was
// made: its state, for a class whose state is set by a function.
func (b *builder) addEffects(c *pytree.Container, o *pickle.Object, how *call) error {
	for i, v := range o.Effects() {
		args := v.Obj().Items[1].Obj().Items
		if v.Obj().Items[0].Kind() != pickle.Global || len(args) != 2 {
			return badCall(v.Obj(), "a call made for its effect on an object takes a function by name, the object and its state")
		}
		key := setterKey
		if i > 0 {
			key = fmt.Sprintf("%s%d", setterKey, i+1)
		}
		how.setters = append(how.setters, v.Obj().Items[0])
		if err := b.addParts(c, pytree.Effect, []pytree.Key{pytree.StringKey(key)}, args[1:]); err != nil {
			return err
		}
	}
	return nil
}

func (b *builder) addArgs(c *pytree.Container, args []pickle.Value, names []string) error {
	keys := indices(len(args))
	for i := range names[:min(len(names), len(keys))] {
		keys[i] = pytree.StringKey(names[i])
	}
	return b.addParts(c, pytree.Arg, keys, args)
}

func indices(n int) []pytree.Key {
	keys := make([]pytree.Key, n)
	for i := range keys {
		keys[i] = pytree.IntKey(int64(i))
	}
	return keys
}

// separate gives every entry of an object a key of its own: where two parts
// share one, the arguments and attributes move into a container each.
func separate(c *pytree.Container) {
	seen := make(map[pytree.Key]bool, len(c.Entries))
	for _, e := range c.Entries {
		seen[e.Key] = true
	}
	if len(seen) == len(c.Entries) {
		return
	}
	holders := map[pytree.Part]string{pytree.Arg: argsKey, pytree.KeywordArg: kwargsKey, pytree.Attr: dictKey}
	var out []pytree.Entry
	at := make(map[pytree.Part]int)
	for _, e := range c.Entries {
		name, ok := holders[e.Part]
		if !ok {
			out = append(out, e)
			continue
		}
		i, ok := at[e.Part]
		if !ok {
			i = len(out)
			at[e.Part] = i
			h := &pytree.Container{Kind: pytree.Object, Type: name}
			out = append(out, pytree.Entry{Key: pytree.StringKey(name), Value: h, Part: e.Part})
		}
		h := out[i].Value.(*pytree.Container)
		h.Entries = append(h.Entries, e)
	}
	c.Entries = out
}

func (b *builder) addKeywords(c *pytree.Container, o *pickle.Object, how *call) error {
	if o.Kind != pickle.New || len(o.Items) < 3 {
		return nil
	}
	how.kwargs = true
	if o.Items[2].Kind() != pickle.Dict {
		return badCall(o, "the keyword arguments are %s, not a dict", kindOf(o.Items[2]))
	}
	return b.addPairs2(c, o.Items[2].Obj().Items, pytree.KeywordArg)
}

// addPairs2 appends pairs to a container that has entries already.
func (b *builder) addPairs2(c *pytree.Container, items []pickle.Value, part pytree.Part) error {
	h := &pytree.Container{Payload: c.Payload}
	if err := b.addPairs(h, items, part); err != nil {
		return err
	}
	c.Entries = append(c.Entries, h.Entries...)
	return nil
}

// addState shows the arguments of BUILD. pickle gives an instance a dict of
// attributes, or a pair of that and a dict of slots, unless its class has a
// __setstate__, which may take anything.
func (b *builder) addState(c *pytree.Container, o *pickle.Object, how *call) error {
	states := o.State()
	if len(states) == 0 {
		return nil
	}
	if len(states) > 1 {
		return badCall(o, "its state is set %d times", len(states))
	}
	s := states[0]
	if err := b.spend(stateSize(s)); err != nil {
		return err
	}
	pairs, form := stateItems(s)
	how.state = form
	if form == bothState {
		how.slots = make(map[pytree.Key]bool)
		slots := s.Obj().Items[1].Obj().Items
		for i := 0; i < len(slots); i += 2 {
			how.slots[keyOf(slots[i])] = true
		}
	}
	if form == otherState {
		return b.addParts(c, pytree.Attr, []pytree.Key{pytree.StringKey(stateKey)}, []pickle.Value{s})
	}
	return b.addPairs2(c, pairs, pytree.Attr)
}

// stateSize is how many attributes there may be in a state.
func stateSize(s pickle.Value) int {
	if s.Kind() == pickle.Dict {
		return len(s.Obj().Items) / 2
	}
	n := 0
	if parts, ok := tuple(s); ok && len(parts) == 2 {
		for _, x := range parts {
			if x.Kind() == pickle.Dict {
				n += len(x.Obj().Items) / 2
			}
		}
	}
	return n
}

// stateItems is the attributes in a state, as alternating keys and values.
func stateItems(s pickle.Value) ([]pickle.Value, stateForm) {
	switch s.Kind() {
	case pickle.Dict:
		if attributeNames(s.Obj().Items) {
			return s.Obj().Items, dictState
		}
	case pickle.Tuple:
		t := s.Obj().Items
		if len(t) != 2 || t[1].Kind() != pickle.Dict || !attributeNames(t[1].Obj().Items) {
			break
		}
		if t[0].Kind() == pickle.None {
			return t[1].Obj().Items, slotsState
		}
		if t[0].Kind() == pickle.Dict && attributeNames(t[0].Obj().Items) {
			return append(slices.Clip(t[0].Obj().Items), t[1].Obj().Items...), bothState
		}
	}
	return nil, otherState
}

// attributeNames reports whether all keys among items are strings, each once.
func attributeNames(items []pickle.Value) bool {
	for i := 0; i+1 < len(items); i += 2 {
		if _, ok := keyOf(items[i]).IsString(); !ok {
			return false
		}
	}
	return true
}
