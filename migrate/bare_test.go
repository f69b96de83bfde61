package migrate

import (
	"strings"
	"testing"

	"ckpt/pytree"
	"ckpt/report"
)

func TestWithoutTemplate(t *testing.T) {
	tests := []struct {
		why      string
		old      string
		rules    string
		findings string
		want     string // the new tree, as show prints it
	}{{
		why: "without rules nothing changes",
		old: `a/b int 1
			e {}`,
		want: `["a","b"] int 1
			["e"] dict`,
	}, {
		why: "a renamed entry keeps its place",
		old: `a int 1
			b int 2
			c int 3`,
		rules: `rule { from_path: "b" to_path: "z" }`,
		want: `["a"] int 1
			["z"] int 2
			["c"] int 3`,
	}, {
		why: "a dropped subtree goes with its containers, empty ones too",
		old: `a/b/c int 1
			a/b/e {}
			w int 2`,
		rules: `rule { from_path: "a.b" }`,
		want: `["a"] dict
			["w"] int 2`,
	}, {
		why: "a flat state dict stays flat",
		old: `model/enc.w float32[2] @w
			model/enc.b float32[3] @b
			model/head float32[4] @h`,
		rules: `rule { from_path: "model.enc" to_path: "model.backbone.encoder" }`,
		want: `["model","backbone.encoder.w"] float32[2] @w
			["model","backbone.encoder.b"] float32[3] @b
			["model","head"] float32[4] @h`,
	}, {
		why: "a nested tree stays nested",
		old: `model/enc/w float32[2] @w
			model/head float32[4] @h`,
		rules: `rule { from_path: "model.enc" to_path: "model.backbone.encoder" }`,
		want: `["model","backbone","encoder","w"] float32[2] @w
			["model","head"] float32[4] @h`,
	}, {
		why: "containers that exist are gone into",
		old: `a/b.c int 1
			a/x/q int 2
			n int 3`,
		rules: `rule { from_path: "n" to_path: "a.x.n" }
			rule { from_path: "a.b" to_path: "a.d" }`,
		want: `["a","d.c"] int 1
			["a","x","q"] int 2
			["a","x","n"] int 3`,
	}, {
		why:   "an exact path is taken as it stands",
		old:   `n.w int 3`,
		rules: `rule { from_path: "n" to_path: "[\"m\", 7, \"x.y\"]" }`,
		want:  `["m",7,"x.y","w"] int 3`,
	}, {
		why: "swaps leave each value under the other's key",
		old: `a/w int 1
			b/w int 2`,
		rules: `rule { from_path: "a" to_path: "b" }
			rule { from_path: "b" to_path: "a" }`,
		want: `["a","w"] int 2
			["b","w"] int 1`,
	}, {
		why: "list items can move up",
		old: `l/0 int 0
			l/1 int 1
			l/2 int 2`,
		rules: `rule { from_path: "l.0" }
			rule { from_path: "l.1" to_path: "l.0" }
			rule { from_path: "l.2" to_path: "l.1" }`,
		want: `["l",0] int 1
			["l",1] int 2`,
	}, {
		why: "items of a list are never renumbered without a word",
		old: `l/0 int 0
			l/1 int 1
			l/2 int 2`,
		rules:    `rule { from_path: "l.1" }`,
		findings: `no-destination B:l @1:1`,
	}, {
		why: "int keys of a mapping stay integers",
		old: `clients/3/w int 1
			clients/7/w int 2`,
		rules: `rule { from_path: "clients.3" to_path: "clients.4" }`,
		want: `["clients",4,"w"] int 1
			["clients",7,"w"] int 2`,
	}, {
		why: "what stays is not overwritten",
		old: `a int 1
			b int 2`,
		rules:    `rule { from_path: "a" to_path: "b" }`,
		findings: `destination-collision A:b also:a @1:1`,
	}, {
		why: "nor is a value put under another value",
		old: `a int 1
			b int 2`,
		rules:    `rule { from_path: "a" to_path: "b.c" }`,
		findings: `destination-collision A:a B:b @1:1`,
	}, {
		why: "two values for one place",
		old: `a int 1
			b int 2`,
		rules: `rule { from_path: "a" to_path: "c" }
			rule { from_path: "b" to_path: "c" }`,
		findings: `destination-collision B:c also:a also:b @1:1 @2:4`,
	}, {
		why:      "there is no new value to keep",
		old:      `a int 1`,
		rules:    `rule { to_path: "a" }`,
		findings: `rule-unused-to @1:8`,
	}, {
		why: "two containers of different types do not become one",
		old: `a/0 int 1
			b/x int 2`,
		rules: `rule { from_path: "a" to_path: "c" }
			rule { from_path: "b" to_path: "c" }`,
		findings: `no-destination B:c @2:4
			destination-collision A:b @2:4`,
	}, {
		why:   "a value is copied to several places",
		old:   `a float32[2] @s`,
		rules: "rule { from_path: \"a\" to_path: \"b\" }\nrule { from_path: \"a\" to_path: \"c\" }",
		want: `["b"] float32[2] @s
			["c"] float32[2] @s`,
	}}
	for _, test := range tests {
		t.Run(test.why, func(t *testing.T) {
			rules, _ := ParseRules("r", []byte(test.rules))
			p := NewPlan(makeTree(t, test.old), nil, rules, Options{})
			var got []string
			for _, f := range p.Report().Findings {
				got = append(got, summary(f))
			}
			if want := trimLines(test.findings); strings.Join(got, "\n") != strings.Join(want, "\n") {
				t.Fatalf("findings:\n%s\nwant\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
			}
			if len(got) > 0 {
				return
			}
			tree, err := p.Apply()
			if err != nil {
				t.Fatal(err)
			}
			if got, want := trimLines(show(tree)), trimLines(test.want); strings.Join(got, "\n") != strings.Join(want, "\n") {
				t.Errorf("new tree:\n%s\nwant\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
			}
		})
	}
}

// Renaming there and back again gives the tree that there was, types, order and
// all: nothing of it is even copied.
func TestRenameBack(t *testing.T) {
	old := makeTree(t, `model/enc.w float32[2] @w
		model/head.w float32[3]
		opt/state/0/exp float32[2]
		opt/groups/0/lr int 1`)
	model, _ := old.Find(`["model"]`)
	model.(*pytree.Container).Type = "collections.OrderedDict"
	there := apply(t, old, `rule { from_path: "model" to_path: "net" } rule { from_path: "opt.state" to_path: "opt.moments" }`)
	back := apply(t, there, `rule { from_path: "net" to_path: "model" } rule { from_path: "opt.moments" to_path: "opt.state" }`)
	if got, want := show(back), show(old); got != want {
		t.Errorf("there and back:\n%swant\n%s", got, want)
	}
	if got, _ := back.Find(`["model"]`); got != model {
		t.Errorf("the subtree that moved whole was copied: %+v", got)
	}
}

// Two swaps are none.
func TestSwapTwice(t *testing.T) {
	const swap = `rule { from_path: "a" to_path: "b" } rule { from_path: "b" to_path: "a" }
		rule { from_path: "c.x" to_path: "c.y" } rule { from_path: "c.y" to_path: "c.x" }`
	old := makeTree(t, `a/w float32[2] @1
		b/v int 2
		c/x.w float32[3] @3
		c/y.w float32[4] @4`)
	once := apply(t, old, swap)
	if show(once) == show(old) {
		t.Errorf("a swap changes nothing:\n%s", show(once))
	}
	if got := show(apply(t, once, swap)); got != show(old) {
		t.Errorf("two swaps:\n%swant\n%s", got, show(old))
	}
}

func apply(t *testing.T, old *pytree.Tree, rules string) *pytree.Tree {
	t.Helper()
	p := NewPlan(old, nil, mustRules(t, rules), Options{})
	tree, err := p.Apply()
	if err != nil {
		for _, f := range p.Report().Findings {
			t.Log(summary(f), f.Detail)
		}
		t.Fatal(err)
	}
	if p.Report().Verdict() != report.Compatible {
		t.Fatal("applied in spite of findings")
	}
	return tree
}
