package migrate

import (
	"fmt"
	"math/rand/v2"
	"strings"

	"ckpt/pytree"
)

// randomTree makes a small tree whose keys often hold dots, look like numbers,
// or give two leaves one dotted path: where rules are hard to get right.
func randomTree(rng *rand.Rand, depth int) *pytree.Tree {
	g := treeGen{rng: rng}
	for range 4 {
		g.storages = append(g.storages, &pytree.Storage{Source: pytree.Bytes(make([]byte, 64))})
	}
	return &pytree.Tree{Root: g.container(depth)}
}

type treeGen struct {
	rng      *rand.Rand
	storages []*pytree.Storage
}

func (g *treeGen) container(depth int) *pytree.Container {
	n := g.rng.IntN(4)
	if g.rng.IntN(5) == 0 {
		c := &pytree.Container{Kind: pytree.Sequence, Type: "list"}
		for i := range n {
			c.Entries = append(c.Entries, pytree.Entry{Key: pytree.IntKey(int64(i)), Value: g.node(depth - 1)})
		}
		return c
	}
	c := &pytree.Container{Kind: pytree.Mapping, Type: []string{"dict", "collections.OrderedDict"}[g.rng.IntN(2)]}
	seen := make(map[pytree.Key]bool)
	for range n + 1 {
		k := g.key()
		if !seen[k] {
			seen[k] = true
			c.Entries = append(c.Entries, pytree.Entry{Key: k, Value: g.node(depth - 1)})
		}
	}
	return c
}

func (g *treeGen) key() pytree.Key {
	switch g.rng.IntN(12) {
	case 0:
		return pytree.IntKey(int64(g.rng.IntN(3)))
	case 1:
		return pytree.StringKey(fmt.Sprint(g.rng.IntN(3)))
	case 2, 3:
		return pytree.StringKey(g.word() + "." + g.word())
	case 4:
		return pytree.StringKey([]string{"", ".", "[a", "a,b", `q"u`, "x..y", "é", "\u202e"}[g.rng.IntN(8)])
	case 5:
		return pytree.OtherKey("(1, 2)")
	}
	return pytree.StringKey(g.word())
}

func (g *treeGen) word() string {
	return []string{"a", "b", "c", "w", "layers", "1", "0"}[g.rng.IntN(7)]
}

func (g *treeGen) node(depth int) pytree.Node {
	if depth > 0 && g.rng.IntN(2) == 0 {
		return g.container(depth)
	}
	switch g.rng.IntN(8) {
	case 0:
		return &pytree.Scalar{V: int64(g.rng.IntN(9))}
	case 1:
		return &pytree.Scalar{}
	case 2:
		return &pytree.Opaque{Type: "datetime.datetime"}
	case 3:
		return pytree.NewDict()
	}
	return &pytree.Tensor{
		DType: []pytree.DType{pytree.Float32, pytree.Int32}[g.rng.IntN(8)/7],
		Shape: [][]int64{{2}, {3}, {2, 2}}[g.rng.IntN(3)], Storage: g.storages[g.rng.IntN(4)],
	}
}

// mutate gives a tree that shares most of its paths with t, as refactored
// programs' do.
func mutate(rng *rand.Rand, t *pytree.Tree) *pytree.Tree {
	g := treeGen{rng: rng}
	for range 4 {
		g.storages = append(g.storages, &pytree.Storage{Source: pytree.Bytes(make([]byte, 64))})
	}
	n := g.mutate(t.Root)
	return &pytree.Tree{Root: n}
}

func (g *treeGen) mutate(n pytree.Node) pytree.Node {
	if x, ok := n.(*pytree.Tensor); ok {
		y := *x
		y.Storage = g.storages[g.rng.IntN(4)]
		return &y
	}
	c, ok := n.(*pytree.Container)
	if !ok {
		return n
	}
	d := *c
	d.Entries = nil
	if g.rng.IntN(12) == 0 {
		return &d
	}
	seen := make(map[pytree.Key]bool)
	for _, e := range c.Entries {
		if d.Kind == pytree.Mapping {
			switch g.rng.IntN(8) {
			case 0:
				e.Key = g.key()
			case 1:
				continue
			}
		}
		if seen[e.Key] {
			continue
		}
		seen[e.Key] = true
		e.Value = g.mutate(e.Value)
		d.Entries = append(d.Entries, e)
	}
	return &d
}

// randomRules makes rules about prefixes of the trees' paths.
func randomRules(rng *rand.Rand, old, new *pytree.Tree, n int) []string {
	var rules []string
	for range n {
		from, to := randomPrefix(rng, old), randomPrefix(rng, new)
		switch rng.IntN(6) {
		case 0:
			from = ""
		case 1:
			to = ""
		case 2:
			if from != "" && to != "" {
				rules = append(rules, ruleText(from, to, true))
				continue
			}
		}
		if from != "" || to != "" {
			rules = append(rules, ruleText(from, to, false))
		}
	}
	return rules
}

func randomPrefix(rng *rand.Rand, t *pytree.Tree) string {
	s := newSide(t)
	if len(s.leaves) == 0 {
		return "a"
	}
	l := s.leaves[rng.IntN(len(s.leaves))]
	if rng.IntN(3) == 0 && l.addressable() {
		keys := l.path.Keys()
		return string(pytree.MakePath(keys[:rng.IntN(len(keys)+1)]...))
	}
	comps := strings.Split(l.dotted, ".")
	p := strings.Join(comps[:1+rng.IntN(len(comps))], ".")
	if strings.HasPrefix(p, "[") {
		return "a"
	}
	return p
}
