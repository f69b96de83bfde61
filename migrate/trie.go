package migrate

import (
	"strings"

	"ckpt/pytree"
)

// trie finds the rules that cover a path. Its steps are the components of
// dotted paths, so looking up a path takes time linear in the path's length,
// however many rules there are.
type trie struct {
	kids   map[string]*trie
	dotted []int32 // rules whose dotted path ends here
	exact  []int32 // rules whose exact path, as a dotted one, ends here
}

// add files a rule under its pattern.
func (t *trie) add(p pattern, rule int32) {
	if p.depth > 0 {
		for comp := range strings.SplitSeq(p.dotted, ".") {
			next := t.kids[comp]
			if next == nil {
				next = &trie{}
				if t.kids == nil {
					t.kids = make(map[string]*trie)
				}
				t.kids[comp] = next
			}
			t = next
		}
	}
	if p.exact {
		t.exact = append(t.exact, rule)
	} else {
		t.dotted = append(t.dotted, rule)
	}
}

// covering calls found for every rule that covers the path, the shortest first.
// Exact rules are filed by their dotted form, so they are compared with the path
// itself.
func (t *trie) covering(l *leaf, rules []rule, pick func(*rule) pattern, found func(depth int, rule int32)) {
	visit := func(n *trie, depth int) {
		for _, r := range n.dotted {
			found(depth, r)
		}
		for _, r := range n.exact {
			if pick(&rules[r]).holds(l.path) {
				found(depth, r)
			}
		}
	}
	visit(t, 0)
	if l.path == pytree.Root || t.kids == nil {
		return
	}
	rest := l.dotted
	for depth := 1; depth <= l.limit; depth++ {
		comp, after, more := strings.Cut(rest, ".")
		if t = t.kids[comp]; t == nil {
			return
		}
		visit(t, depth)
		if !more || t.kids == nil {
			return
		}
		rest = after
	}
}
