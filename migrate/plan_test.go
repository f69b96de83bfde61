package migrate

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"ckpt/report"
)

// summary is a finding on one line: its code, the place on either side, and
// where the rules to blame stand.
func summary(f report.Finding) string {
	s := f.Code
	if !f.A.None() {
		s += " A:" + f.A.Name()
	}
	if !f.B.None() {
		s += " B:" + f.B.Name()
	}
	for _, m := range f.More {
		s += " also:" + m.Name()
	}
	for _, r := range f.Rules {
		s += fmt.Sprintf(" @%d:%d", r.Line, r.Column)
	}
	return s
}

// outcome is what a plan does, a line for each leaf of the new tree that gets
// something, and for each old one that is dropped.
func outcome(p *Plan) []string {
	var lines []string
	for d := range p.Destinations() {
		switch d.How {
		case Blocked, Replaced:
		case Kept:
			lines = append(lines, d.Path.Dotted()+" kept")
		default:
			lines = append(lines, d.Path.Dotted()+" <- "+d.From.Dotted())
		}
	}
	for o := range p.Origins() {
		if o.How == Dropped {
			lines = append(lines, o.Path.Dotted()+" dropped")
		}
	}
	return lines
}

type planTest struct {
	why      string
	old, new string
	rules    string
	findings string // a summary a line
	outcome  string
}

func TestPlan(t *testing.T) {
	tests := slices.Concat(ruleTests, orderTests, pathTests, fitTests, createTests)
	for _, test := range tests {
		t.Run(test.why, func(t *testing.T) {
			rules, _ := ParseRules("r", []byte(strings.TrimSpace(test.rules)))
			p := NewPlan(makeTree(t, test.old), makeTree(t, test.new), rules, Options{})
			check(t, p, test)
		})
	}
}

func check(t *testing.T, p *Plan, test planTest) {
	t.Helper()
	var got []string
	for _, f := range p.Report().Findings {
		got = append(got, summary(f))
	}
	if want := trimLines(test.findings); !slices.Equal(got, want) {
		t.Errorf("findings:\n%s\nwant\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
	if got, want := outcome(p), trimLines(test.outcome); !slices.Equal(got, want) {
		t.Errorf("plan:\n%s\nwant\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
	_, err := p.Apply()
	if errors := p.Report().Findings.Count(report.Error) > 0; (err != nil) != errors {
		t.Errorf("Apply: %v, with findings: %v", err, errors)
	}
}

func trimLines(s string) []string {
	var lines []string
	for l := range strings.Lines(s) {
		if l = strings.TrimSpace(l); l != "" {
			lines = append(lines, l)
		}
	}
	return lines
}

var ruleTests = []planTest{{
	why:      "paths that mean the same leaves do not differ, whatever their form",
	old:      `e/a float32[2]`,
	new:      `e/a float32[2]`,
	rules:    `rule { from_path: "e.a" to_path: "[\"e\",\"a\"]" }`,
	findings: `rule-identity @1:1`,
	outcome:  `e.a <- e.a`,
}, {
	why:     "one form for a flat name and one for a nested one are two places",
	old:     `e.a float32[2]`,
	new:     `e/a float32[2]`,
	rules:   `rule { from_path: "e.a" to_path: "[\"e\",\"a\"]" }`,
	outcome: `e.a <- e.a`,
}, {
	why: "what is on both sides is preserved without a rule",
	old: `a/w float32[2]
		n int 3`,
	new: `a/w float32[2]
		n int 0`,
	outcome: `a.w <- a.w
		n <- n`,
}, {
	why: "a move gives the leaves their place at the same remaining path",
	old: `a/x/w float32[2]
		a/y float32[3]`,
	new: `b/x/w float32[2]
		b/y float32[3]`,
	rules: `rule { from_path: "a" to_path: "b" }`,
	outcome: `b.x.w <- a.x.w
		b.y <- a.y`,
}, {
	why:     "only from_path drops on purpose",
	old:     `a/w float32[2]`,
	new:     ``,
	rules:   `rule { from_path: "a" }`,
	outcome: `a.w dropped`,
}, {
	why:     "only to_path keeps the initialised value",
	old:     ``,
	new:     `b/w float32[2]`,
	rules:   `rule { to_path: "b" }`,
	outcome: `b.w kept`,
}, {
	why: "neither is an error, and an empty path is none",
	old: ``, new: ``,
	rules: `rule { }
		rule { from_path: "" to_path: "" }`,
	findings: `rule-empty @1:1
		rule-empty @2:3`,
}, {
	why: "from and to must differ",
	old: `a float32[2]`, new: `a float32[2]`,
	rules:    `rule { from_path: "a" to_path: "a" }`,
	findings: `rule-identity @1:1`,
	outcome:  `a <- a`,
}, {
	why: "migration never invents keys",
	old: `a/w float32[2]
		a/extra float32[9]`,
	new:      `b/w float32[2]`,
	rules:    `rule { from_path: "a" to_path: "b" }`,
	findings: `no-destination A:a.extra @1:1`,
	outcome:  `b.w <- a.w`,
}, {
	why: "the new value at a path on both sides takes two rules",
	old: `a float32[2]`, new: `a float32[2]`,
	rules: `rule { from_path: "a" }
		rule { to_path: "a" }`,
	outcome: `a kept
		a dropped`,
}, {
	why: "one of the two rules alone leaves the old value unexplained",
	old: `a float32[2]`, new: `a float32[2]`,
	rules:    `rule { to_path: "a" }`,
	findings: `source-unmapped A:a @1:8`,
	outcome:  `a kept`,
}, {
	why: "and the other alone the new one",
	old: `a float32[2]`, new: `a float32[2]`,
	rules:    `rule { from_path: "a" }`,
	findings: `destination-unfilled B:a`,
	outcome:  `a dropped`,
}, {
	why: "what no rule explains is a finding on either side",
	old: `a float32[2]`, new: `b float32[3]`,
	findings: `destination-unfilled B:b
		source-unmapped A:a`,
}, {
	why: "a rule that covers nothing is a finding, with the place of its field",
	old: `a float32[2]`, new: `a float32[2]`,
	rules: `rule { from_path: "x" }
		rule { to_path: "y" }
		rule {
		  # comment
		  from_path: "x.x"

		  to_path: "y.y"
		}`,
	findings: `rule-unused-from @1:8
		rule-unused-from @5:5
		rule-unused-to @2:10
		rule-unused-to @7:5`,
	outcome: `a <- a`,
}, {
	why: "a rule about an empty container covers something",
	old: `a/e {}
		w int 1`,
	new: `b/e {}
		w int 1`,
	rules: `rule { from_path: "a.e" }
		rule { to_path: "b.e" }`,
	outcome: `w <- w`,
}, {
	why: "empty containers are not leaves: nothing is lost or invented",
	old: `a/e {}
		w int 1`,
	new: `w int 1
		b/e []`,
	outcome: `w <- w`,
}}

var orderTests = []planTest{{
	why: "swaps look at both trees as they were",
	old: `a float32[2] @x
		b float32[2] @y`,
	new: `a float32[2]
		b float32[2]`,
	rules: `rule { from_path: "a" to_path: "b" }
		rule { from_path: "b" to_path: "a" }`,
	outcome: `a <- b
		b <- a`,
}, {
	why: "chains move each value once",
	old: `norm0 float32[2]
		norm1 float32[2]`,
	new: `norm1 float32[2]
		norm2 float32[2]`,
	rules: `rule { from_path: "norm0" to_path: "norm1" }
		rule { from_path: "norm1" to_path: "norm2" }`,
	outcome: `norm1 <- norm0
		norm2 <- norm1`,
}, {
	why: "the longest rule wins, the shorter one is about the rest",
	old: `a/x/w float32[2]
		a/y float32[3]
		a/z/q int 1`,
	new: `b/y float32[3]
		c/w float32[2]`,
	rules: `rule { from_path: "a" to_path: "b" }
		rule { from_path: "a.x" to_path: "c" }
		rule { from_path: "a.z" }`,
	outcome: `b.y <- a.y
		c.w <- a.x.w
		a.z.q dropped`,
}, {
	why: "the longest rule wins on the new side too",
	old: `a/y float32[3]`,
	new: `b/y float32[3]
		b/x float32[2]`,
	rules: `rule { from_path: "a" to_path: "b" }
		rule { to_path: "b.x" }`,
	outcome: `b.y <- a.y
		b.x kept`,
}, {
	why: "a shorter keep rule is about what no move fills",
	old: `a/y float32[3]`,
	new: `b/y float32[3]
		b/x float32[2]`,
	rules: `rule { from_path: "a.y" to_path: "b.y" }
		rule { to_path: "b" }`,
	outcome: `b.y <- a.y
		b.x kept`,
}, {
	why: "a longer keep rule turns a value away, which is then unexplained",
	old: `a/y float32[3]
		a/x float32[2]`,
	new: `b/y float32[3]
		b/x float32[2]`,
	rules: `rule { from_path: "a" to_path: "b" }
		rule { to_path: "b.x" }`,
	findings: `source-unmapped A:a.x @2:10`,
	outcome: `b.y <- a.y
		b.x kept`,
}, {
	why: "one source may be moved to several destinations",
	old: `a/w float32[2]`,
	new: `b/w float32[2]
		c/w float32[2]`,
	rules: `rule { from_path: "a" to_path: "b" }
		rule { from_path: "a" to_path: "c" }`,
	outcome: `b.w <- a.w
		c.w <- a.w`,
}, {
	why: "equally long rules disagree: drop and move",
	old: `a float32[2]`, new: `b float32[2]`,
	rules: `rule { from_path: "a" to_path: "b" }
		rule { from_path: "a" }`,
	findings: `destination-unfilled B:b
		rule-conflict A:a @1:1 @2:3`,
}, {
	why: "equally long rules disagree: keep and fill",
	old: `a float32[2]`, new: `b float32[2]`,
	rules: `rule { from_path: "a" to_path: "b" }
		rule { to_path: "b" }`,
	findings: `rule-conflict A:a B:b @1:1 @2:3`,
}, {
	why: "exact and dotted rules of one length disagree as well",
	old: `a/b float32[2]`, new: `c float32[2]`,
	rules: `rule { from_path: "a.b" to_path: "c" }
		rule { from_path: "[\"a\",\"b\"]" }`,
	findings: `destination-unfilled B:c
		rule-conflict A:a.b @1:1 @2:3`,
}, {
	why: "a rule written twice says nothing new",
	old: `a float32[2]`, new: `b float32[2]`,
	rules: `rule { from_path: "a" to_path: "b" }
		rule { from_path: "a" to_path: "b" }`,
	outcome: `b <- a`,
}, {
	why: "two sources for one destination are never last-wins",
	old: `a float32[2]
		b float32[2]`,
	new: `c float32[2]`,
	rules: `rule { from_path: "a" to_path: "c" }
		rule { from_path: "b" to_path: "c" }`,
	findings: `destination-collision B:c also:a also:b @1:1 @2:3`,
}, {
	why: "nor are two sources by rules of different length",
	old: `a/x/w float32[2]
		c/w float32[2]`,
	new: `b/x/w float32[2]`,
	rules: `rule { from_path: "a" to_path: "b" }
		rule { from_path: "c" to_path: "b.x" }`,
	findings: `destination-collision B:b.x.w also:a.x.w also:c.w @1:1 @2:3`,
}, {
	why: "a move goes before what would be preserved, which is then unexplained",
	old: `a float32[2]
		b float32[2]`,
	new:      `b float32[2]`,
	rules:    `rule { from_path: "a" to_path: "b" }`,
	findings: `source-unmapped A:b @1:23`,
	outcome:  `b <- a`,
}, {
	why: "what is under a to_path and gets nothing is preserved as anywhere",
	old: `a/x float32[2]
		b/y float32[3]`,
	new: `b/x float32[2]
		b/y float32[3]`,
	rules: `rule { from_path: "a" to_path: "b" }`,
	outcome: `b.x <- a.x
		b.y <- b.y`,
}, {
	why: "a value that was moved away leaves its old place unfilled",
	old: `embed float32[9,2]`,
	new: `embed float32[9,2]
		head float32[9,2]`,
	rules:    `rule { from_path: "embed" to_path: "head" }`,
	findings: `destination-unfilled B:embed`,
	outcome:  `head <- embed`,
}}

var pathTests = []planTest{{
	why: "prefixes end at key boundaries: layers.1 is not layers.10",
	old: `layers/'1'/w float32[2]
		layers/'10'/w float32[2]`,
	new: `blocks/'1'/w float32[2]
		layers/'10'/w float32[2]`,
	rules: `rule { from_path: "layers.1" to_path: "blocks.1" }`,
	outcome: `blocks.1.w <- layers.1.w
		layers.10.w <- layers.10.w`,
}, {
	why:     "a dotted path may end inside a dotted key",
	old:     `model/layers.0.weight float32[2]`,
	new:     `model/blocks.0.weight float32[2]`,
	rules:   `rule { from_path: "model.layers" to_path: "model.blocks" }`,
	outcome: `model.blocks.0.weight <- model.layers.0.weight`,
}, {
	why: "an exact path covers whole keys only",
	old: `model/layers.0.weight float32[2]`,
	new: `model/layers.0.weight float32[2]`,
	rules: `rule { from_path: "[\"model\",\"layers\"]" }
		rule { to_path: "[\"model\",\"layers.0\"]" }`,
	findings: `rule-unused-from @1:8
		rule-unused-to @2:10`,
	outcome: `model.layers.0.weight <- model.layers.0.weight`,
}, {
	why: "an exact path respects key types",
	old: `c/0/w float32[2]
		c/'0'/w float32[2]`,
	new: `d/w float32[2]
		c/'0'/w float32[2]`,
	rules: `rule { from_path: "[\"c\", 0]" to_path: "d" }`,
	outcome: `d.w <- c.0.w
		c.0.w <- c.0.w`,
}, {
	why:     "a dot in a key and a step into a child are alike",
	old:     `model/enc.layers.0.w float32[2]`,
	new:     `params/enc/layers/0/w float32[2]`,
	rules:   `rule { from_path: "model" to_path: "params" }`,
	outcome: `params.enc.layers.0.w <- model.enc.layers.0.w`,
}, {
	why:     "the same dotted path is preserved where it is unambiguous",
	old:     `enc.w float32[2]`,
	new:     `enc/w float32[2]`,
	outcome: `enc.w <- enc.w`,
}, {
	why: "the exact path goes before the dotted one",
	old: `a.b float32[2]
		a/b float32[3]`,
	new: `a/b float32[3]
		a.b float32[2]`,
	outcome: `a.b <- a.b
		a.b <- a.b`,
}, {
	why: "an ambiguous dotted path is not preserved by guessing",
	old: `a.b float32[2]
		a/b float32[2]`,
	new:      `a.b float32[2]`,
	findings: `source-unmapped A:["a","b"]`,
	outcome:  `a.b <- a.b`,
}, {
	why: "a rule that names two leaves shows both exact forms",
	old: `a.b float32[2]
		a/b float32[2]`,
	new:   `c float32[2]`,
	rules: `rule { from_path: "a.b" to_path: "c" }`,
	findings: `destination-unfilled B:c
		ambiguous-path A:["a.b"] also:["a","b"] @1:8`,
}, {
	why: "exact rules tell them apart",
	old: `a.b float32[2]
		a/b float32[2]`,
	new: `c float32[2]`,
	rules: `rule { from_path: "[\"a.b\"]" to_path: "c" }
		rule { from_path: "[\"a\",\"b\"]" }`,
	outcome: `c <- a.b
		a.b dropped`,
}, {
	why: "a destination that could be two leaves is ambiguous",
	old: `c float32[2]`,
	new: `a.b float32[2]
		a/b float32[2]`,
	rules: `rule { from_path: "c" to_path: "a.b" }`,
	findings: `destination-unfilled B:["a","b"]
		destination-unfilled B:["a.b"]
		ambiguous-path A:c also:["a.b"] also:["a","b"] @1:23`,
}, {
	why: "a rule for keeping that names two leaves is ambiguous",
	old: ``,
	new: `a.b float32[2]
		a/b float32[2]`,
	rules:    `rule { to_path: "a.b" }`,
	findings: `ambiguous-path B:["a.b"] also:["a","b"] @1:8`,
}, {
	why: "a subtree moves whole though names below it are ambiguous",
	old: `m/a.b float32[2]
		m/a/b float32[3]`,
	new: `n/a/b float32[3]
		n/a.b float32[2]`,
	rules: `rule { from_path: "m" to_path: "n" }`,
	outcome: `n.a.b <- m.a.b
		n.a.b <- m.a.b`,
}, {
	why: "a key that is neither text nor number goes along and cannot be named",
	old: `m/~(1,2)/w float32[2]`,
	new: `n/~(1,2)/w float32[2]`,
	rules: `rule { from_path: "m" to_path: "n" }
		rule { from_path: "m.(1,2)" }`,
	findings: `rule-unused-from @2:10`,
	outcome:  `n.(1,2).w <- m.(1,2).w`,
}, {
	why: "a path that cannot be read is named with its place",
	old: `a int 1`, new: `a int 1`,
	rules: `rule {
		  from_path: "[a]"
		}
		rule { to_path: "[1.5]" }
		rule { to_path: "[\"a\"" }`,
	findings: `rule-syntax @2:5
		rule-syntax @4:10
		rule-syntax @5:10`,
	outcome: `a <- a`,
}, {
	why: "a file that cannot be read is one finding, without what follows from it",
	old: `a int 1`, new: `b int 1`,
	rules:    "rule {\n  frm: \"a\"\n}",
	findings: `rule-syntax @2:3`,
}, {
	why: "the root is a prefix of everything",
	old: `a float32[2]`, new: `x/a float32[2]`,
	rules:   `rule { from_path: "[]" to_path: "x" }`,
	outcome: `x.a <- a`,
}}

var fitTests = []planTest{{
	why: "shape, dtype and kind must fit, by a rule or without",
	old: `s float32[10,4]
		d float32[2]
		k int 1
		m/w float32[2]`,
	new: `s float32[12,4]
		d bfloat16[2]
		k int64[]
		n/w float32[1,2]`,
	rules: `rule { from_path: "m" to_path: "n" }`,
	findings: `kind-mismatch A:k B:k
		shape-mismatch A:m.w B:n.w @1:1
		shape-mismatch A:s B:s
		dtype-mismatch A:d B:d`,
}, {
	why: "a scalar of another type is carried over, with a warning",
	old: `best null
		when opaque datetime.datetime`,
	new: `best int 0
		when opaque datetime.date`,
	findings: `scalar-type A:best B:best
		scalar-type A:when B:when`,
	outcome: `best <- best
		when <- when`,
}, {
	why: "a tie whose values come from different storages is a warning",
	old: `a float32[2] @x
		b float32[2] @y`,
	new: `a float32[2] @t
		b float32[2] @t`,
	findings: `tie-mismatch A:b B:b also:a`,
	outcome: `a <- a
		b <- b`,
}, {
	why: "a tie whose values are tied is none",
	old: `a float32[2] @x
		b float32[2] @x`,
	new: `a float32[2] @t
		b float32[2] @t`,
	outcome: `a <- a
		b <- b`,
}, {
	why: "a tie of which one half is kept is broken",
	old: `a float32[2] @x`,
	new: `a float32[2] @t
		b float32[2] @t`,
	rules:    `rule { to_path: "b" }`,
	findings: `tie-mismatch B:b also:a`,
	outcome: `a <- a
		b kept`,
}}

var createTests = []planTest{{
	why: "an empty subtree is filled whole",
	old: `opt/state/0/exp float32[2]
		opt/state/1/exp float32[3]`,
	new:   `opt/state {}`,
	rules: `rule { from_path: "opt.state" to_path: "opt.state" create: true }`,
	outcome: `opt.state.0.exp <- opt.state.0.exp
		opt.state.1.exp <- opt.state.1.exp`,
}, {
	why: "what a created subtree replaces is gone, fit or not",
	old: `a/x float32[2]
		a/z int 1`,
	new: `b/x int 1
		b/y float32[7]`,
	rules: `rule { from_path: "a" to_path: "b" create: true }`,
	outcome: `b.x <- a.x
		b.z <- a.z`,
}, {
	why: "a longer rule takes a part out of a created subtree",
	old: `a/x float32[2]
		a/z int 1`,
	new:   `b {}`,
	rules: "rule { from_path: \"a\" to_path: \"b\" create: true }\nrule { from_path: \"a.z\" }",
	outcome: `b.x <- a.x
		a.z dropped`,
}, {
	why: "create needs both paths",
	old: `a int 1`, new: `a int 1`,
	rules:    `rule { from_path: "a" create: true }`,
	findings: `rule-syntax @1:1`,
	outcome:  `a <- a`,
}, {
	why: "to create a place and to fill it disagree",
	old: `a/x int 1`, new: `b/x int 1`,
	rules: `rule { from_path: "a" to_path: "b" create: true }
		rule { from_path: "a" to_path: "b" }`,
	findings: `rule-conflict A:a.x B:b.x @1:1 @2:3`,
}, {
	why: "a value and a container cannot be at one place",
	old: `a int 1
		b/c int 2`,
	new: `q {}`,
	rules: `rule { from_path: "a" to_path: "x.y" create: true }
		rule { from_path: "b" to_path: "x.y.z" create: true }`,
	findings: `destination-collision A:a B:x.y @1:1`,
	outcome: `x.y <- a
		x.y.z.c <- b.c`,
}, {
	why: "a longer rule keeps a container empty, and its values unexplained",
	old: `opt/lr int 1
		opt/state/0 float32[2]`,
	new: `opt/lr int 1
		opt/state {}`,
	rules: `rule { from_path: "opt" to_path: "opt" create: true }
		rule { to_path: "opt.state" }`,
	findings: `source-unmapped A:opt.state.0 @2:10`,
	outcome:  `opt.lr <- opt.lr`,
}, {
	why: "a copy beside a move: one tensor becomes two",
	old: `embed float32[9,2] @e`,
	new: `embed float32[9,2] @t
		head float32[9,2] @t`,
	rules: `rule { from_path: "embed" to_path: "head" }
		rule { from_path: "embed" to_path: "embed" create: true }`,
	outcome: `embed <- embed
		head <- embed`,
}}
