package migrate

import (
	"strconv"
	"strings"

	"ckpt/pytree"
)

// placer works out the exact paths of destinations that are to be made. A
// dotted to_path does not say which of its dots are inside a key: the containers
// that exist decide first, then the style of the place where the value came
// from. The dotted form of the result is always the one that the rule asks for.
type placer struct {
	root  pytree.Node
	stems map[stemKey]stem
	index map[*pytree.Container]*keyIndex
}

// stemKey is what a stem depends on: the rule, how its from_path reads in the
// old tree, and whether it ends inside a key there.
type stemKey struct {
	rule  int32
	head  string
	inKey bool
}

// stem is the begin of a canonical path, without the closing bracket. An open
// one ends inside a string key that the rest continues.
type stem struct {
	text string
	open bool
}

// keyIndex finds the entries of a container by the text of their keys.
type keyIndex struct {
	byText map[string]int
	byKey  map[pytree.Key]int // those that share their text
	flat   bool               // some keys hold dots
	ints   bool               // all keys are integers, and there are some
}

func newPlacer(base *pytree.Tree) *placer {
	return &placer{root: base.Root, stems: make(map[stemKey]stem), index: make(map[*pytree.Container]*keyIndex)}
}

// place is where rule r sends the node at an old path.
func (p *placer) place(path pytree.Path, r int32, ru *rule) pytree.Path {
	head, rest := cut(path, ru.from.depth)
	inKey := strings.HasPrefix(rest, ".")
	key := stemKey{r, head, inKey}
	s, ok := p.stems[key]
	if !ok {
		s = p.stem(head, inKey, ru)
		p.stems[key] = s
	}
	switch {
	case s.open:
		return pytree.Path(s.text + rest)
	case rest == "]":
		return pytree.Path(s.text + rest)
	case inKey:
		rest = `"` + rest[1:]
	}
	if s.text != "[" {
		rest = "," + rest
	}
	return pytree.Path(s.text + rest)
}

// stem turns the rule's to_path into keys.
func (p *placer) stem(head string, inKey bool, ru *rule) stem {
	if !ru.to.exact && ru.to.dotted == ru.from.dotted {
		return stem{orElse(head, "["), inKey} // the same keys
	}
	if ru.to.exact {
		return stem{text: string(ru.to.path[:len(ru.to.path)-1])}
	}
	keys, open := p.keys(headKeys(head, inKey), ru.to.dotted, inKey)
	path := string(pytree.MakePath(keys...))
	if open {
		return stem{path[:len(path)-2], true} // without the quote and the bracket
	}
	return stem{text: path[:len(path)-1]}
}

// headKeys is the keys of the covered part of an old path; the last one may be
// cut short.
func headKeys(head string, inKey bool) []pytree.Key {
	switch {
	case head == "":
		return nil
	case inKey:
		return pytree.Path(head + `"]`).Keys()
	}
	return pytree.Path(head + "]").Keys()
}

// keys splits a dotted path into keys. from is the keys that the values come
// from; open tells that the last key is to be continued.
func (p *placer) keys(from []pytree.Key, to string, inKey bool) (keys []pytree.Key, open bool) {
	at := p.root // nil: nothing is there yet
	aligned := true
	for {
		c, _ := at.(*pytree.Container)
		var source *pytree.Key
		if aligned && len(keys) < len(from) {
			source = &from[len(keys)]
		}
		partial := inKey && source != nil && len(keys) == len(from)-1
		key, rest, next := p.step(c, source, to, partial)
		keys = append(keys, key)
		aligned = aligned && source != nil && key == *source
		if rest == nil {
			_, isString := key.IsString()
			return keys, inKey && isString && p.isFlat(c, source, partial)
		}
		to, at = *rest, next
	}
}

// step takes the first key off a dotted path, in container c (nil: one that is
// to be made). It gives the rest, nil for none, and what is at the key.
func (p *placer) step(c *pytree.Container, source *pytree.Key, to string, partial bool) (pytree.Key, *string, pytree.Node) {
	if c != nil {
		if k, rest, n, ok := p.existing(c, source, to, partial); ok {
			return k, rest, n
		}
	}
	if source != nil && !partial {
		if rest, ok := strings.CutPrefix(to, source.String()+"."); ok && source.Addressable() {
			return *source, &rest, nil
		}
	}
	if p.isFlat(c, source, partial) {
		return pytree.StringKey(to), nil, nil
	}
	comp, rest, more := strings.Cut(to, ".")
	key := pytree.StringKey(comp)
	if p.wantsInt(c, source) {
		if n, err := strconv.ParseInt(comp, 10, 64); err == nil && strconv.FormatInt(n, 10) == comp {
			key = pytree.IntKey(n)
		}
	}
	if !more {
		return key, nil, nil
	}
	return key, &rest, nil
}

// existing finds the longest key of c that a dotted path goes through or ends
// at. Of two keys with one text it is the one that the values come from, if that
// is among them.
func (p *placer) existing(c *pytree.Container, source *pytree.Key, to string, partial bool) (k pytree.Key, rest *string, n pytree.Node, ok bool) {
	x := p.indexOf(c)
	if i, found := x.find(source, to); found {
		return c.Entries[i].Key, nil, c.Entries[i].Value, true
	}
	if source != nil && !partial {
		if after, ok := strings.CutPrefix(to, source.String()+"."); ok {
			i, found := x.find(source, source.String())
			if found && c.Entries[i].Key == *source {
				if _, isContainer := c.Entries[i].Value.(*pytree.Container); isContainer {
					return *source, &after, c.Entries[i].Value, true
				}
			}
		}
	}
	for end := strings.LastIndexByte(to, '.'); end >= 0; end = strings.LastIndexByte(to[:end], '.') {
		i, found := x.find(source, to[:end])
		if !found {
			continue
		}
		if _, isContainer := c.Entries[i].Value.(*pytree.Container); isContainer {
			after := to[end+1:]
			return c.Entries[i].Key, &after, c.Entries[i].Value, true
		}
	}
	return k, nil, nil, false
}

func (p *placer) indexOf(c *pytree.Container) *keyIndex {
	if x, ok := p.index[c]; ok {
		return x
	}
	x := &keyIndex{byText: make(map[string]int, len(c.Entries)), byKey: make(map[pytree.Key]int), ints: len(c.Entries) > 0}
	for i, e := range c.Entries {
		if !e.Key.Addressable() {
			continue
		}
		text := e.Key.String()
		if j, twice := x.byText[text]; twice {
			x.byKey[e.Key], x.byKey[c.Entries[j].Key] = i, j
		} else {
			x.byText[text] = i
		}
		_, isInt := e.Key.IsInt()
		x.ints = x.ints && isInt
		x.flat = x.flat || strings.Contains(text, ".")
	}
	p.index[c] = x
	return x
}

// find is the entry whose key has a text.
func (x *keyIndex) find(source *pytree.Key, text string) (int, bool) {
	if source != nil && source.String() == text {
		if i, ok := x.byKey[*source]; ok {
			return i, true
		}
	}
	i, ok := x.byText[text]
	return i, ok
}

// isFlat reports whether keys in c hold dots instead of nesting. A container
// that says nothing about it is taken to be like the one the values come from.
func (p *placer) isFlat(c *pytree.Container, source *pytree.Key, partial bool) bool {
	if c != nil && len(c.Entries) > 0 {
		return p.indexOf(c).flat
	}
	return partial || source != nil && strings.Contains(source.String(), ".")
}

// wantsInt reports whether a number is an integer key in c.
func (p *placer) wantsInt(c *pytree.Container, source *pytree.Key) bool {
	if c != nil && (len(c.Entries) > 0 || c.Kind == pytree.Sequence) {
		return c.Kind == pytree.Sequence || p.indexOf(c).ints
	}
	if source == nil {
		return false
	}
	_, isInt := source.IsInt()
	return isInt
}
