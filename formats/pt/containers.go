package pt

import (
	"cmp"
	"slices"

	"ckpt/pickle"
	"ckpt/pytree"
)

// orderedDict is OrderedDict() with items, or Python 2's OrderedDict([[k, v],
// …]). A state dict's _metadata arrives as its state.
func orderedDict(b *builder, _ pickle.Value, o *pickle.Object, args []pickle.Value) (pytree.Node, error) {
	items, ok := pairsOf(o, args)
	if !ok || len(o.ListItems())+len(o.SetItems()) > 0 {
		return nil, nil
	}
	c, err := b.mapping(o, "collections.OrderedDict", items, nil)
	if err != nil || len(o.State()) == 0 {
		return c, err
	}
	for _, s := range o.State() {
		if err := b.spend(stateSize(s)); err != nil {
			return nil, err
		}
	}
	c.Attrs = attrNames(o.State())
	metaOf(c).state, err = b.hidden(o.State()...)
	return c, err
}

// pairsOf is the keys and values that a dict-like object was given, whether as
// its argument or one by one.
func pairsOf(o *pickle.Object, args []pickle.Value) ([]pickle.Value, bool) {
	if len(args) == 0 {
		return o.DictItems(), true
	}
	if len(args) != 1 {
		return nil, false
	}
	if args[0].Kind() == pickle.Dict {
		return append(slices.Clip(args[0].Obj().Items), o.DictItems()...), true
	}
	list, ok := tuple(args[0])
	if !ok {
		return nil, false
	}
	items := make([]pickle.Value, 0, 2*len(list))
	for _, x := range list {
		pair, ok := tuple(x)
		if !ok || len(pair) != 2 {
			return nil, false
		}
		items = append(items, pair...)
	}
	return append(items, o.DictItems()...), true
}

// attrNames is the names in a state, for the listing.
func attrNames(states []pickle.Value) []string {
	var names []string
	for _, s := range states {
		pairs, form := stateItems(s)
		if form == otherState {
			names = append(names, stateKey)
		}
		for i := 0; i+1 < len(pairs); i += 2 {
			names = append(names, keyOf(pairs[i]).String())
		}
	}
	return names
}

// defaultDict is defaultdict(factory) with items.
func defaultDict(b *builder, _ pickle.Value, o *pickle.Object, args []pickle.Value) (pytree.Node, error) {
	if len(args) > 1 || len(o.State())+len(o.ListItems())+len(o.SetItems()) > 0 {
		return nil, nil
	}
	hidden, err := b.hiddenTuple(o.Items[1])
	if err != nil {
		return nil, err
	}
	how := &call{kind: pickle.Call, callee: o.Items[0], hidden: hidden}
	return b.mapping(o, "collections.defaultdict", o.DictItems(), &meta{call: how})
}

// counter is Counter({…}).
func counter(b *builder, _ pickle.Value, o *pickle.Object, args []pickle.Value) (pytree.Node, error) {
	items, ok := pairsOf(o, args)
	if !ok || len(args) == 1 && args[0].Kind() != pickle.Dict || len(o.State())+len(o.ListItems())+len(o.SetItems()) > 0 {
		return nil, nil
	}
	return b.mapping(o, "collections.Counter", items, &meta{call: &call{kind: pickle.Call, callee: o.Items[0], form: dictForm}})
}

// deque is deque((items), maxlen) with further items.
func deque(b *builder, _ pickle.Value, o *pickle.Object, args []pickle.Value) (pytree.Node, error) {
	if len(args) > 2 || len(o.State())+len(o.DictItems())+len(o.SetItems()) > 0 {
		return nil, nil
	}
	items := o.ListItems()
	if len(args) > 0 {
		first, ok := tuple(args[0])
		if !ok {
			return nil, nil
		}
		items = append(slices.Clip(first), items...)
	}
	how := &call{kind: pickle.Call, callee: o.Items[0], form: dequeForm}
	n, err := b.sequence(o, "collections.deque", items, &meta{call: how})
	if c, ok := n.(*pytree.Container); ok && err == nil && len(args) == 2 && args[1].Kind() != pickle.None {
		c.Attrs = []string{"maxlen"}
		how.hiddenArgs, err = b.hidden(args[1])
	}
	return n, err
}

// torchSize is torch.Size((…)).
func torchSize(b *builder, _ pickle.Value, o *pickle.Object, args []pickle.Value) (pytree.Node, error) {
	if len(args) != 1 || len(o.State()) > 0 {
		return nil, nil
	}
	items, ok := tuple(args[0])
	if !ok {
		return nil, nil
	}
	return b.sequence(o, "torch.Size", items, &meta{call: &call{kind: o.Kind, callee: o.Items[0], form: tupleForm}})
}

// setOf is set([…]) and frozenset([…]), as protocols below 4 write them.
func setOf(b *builder, _ pickle.Value, o *pickle.Object, args []pickle.Value) (pytree.Node, error) {
	if len(args) > 1 || len(o.State())+len(o.ListItems())+len(o.DictItems()) > 0 {
		return nil, nil
	}
	items := o.SetItems()
	if len(args) == 1 {
		first, ok := tuple(args[0])
		if !ok {
			return nil, nil
		}
		items = append(slices.Clip(first), items...)
	}
	_, name := o.Items[0].Obj().Global()
	return b.set(o, name, items)
}

// set builds a set. Python's order of a set's items changes from run to run, so
// plain values are put in order of type and value; others stay as they came.
func (b *builder) set(o *pickle.Object, typ string, items []pickle.Value) (pytree.Node, error) {
	if !slices.ContainsFunc(items, func(v pickle.Value) bool { return !sortable(v) }) {
		items = slices.Clone(items)
		slices.SortStableFunc(items, compareValues)
	}
	return b.sequence(o, typ, items, nil)
}

func sortable(v pickle.Value) bool {
	switch v.Kind() {
	case pickle.None, pickle.Bool, pickle.Int, pickle.Float, pickle.Text, pickle.Bytes, pickle.Raw:
		return true
	}
	return false
}

func compareValues(a, b pickle.Value) int {
	if c := cmp.Compare(a.Kind(), b.Kind()); c != 0 {
		return c
	}
	switch a.Kind() {
	case pickle.Int:
		return cmp.Compare(a.Int(), b.Int())
	case pickle.Float:
		return cmp.Compare(a.Float(), b.Float())
	case pickle.Bool:
		if a.Bool() == b.Bool() {
			return 0
		} else if b.Bool() {
			return -1
		}
		return 1
	}
	return cmp.Compare(a.Str(), b.Str())
}
