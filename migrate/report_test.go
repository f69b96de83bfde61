package migrate

import (
	"bytes"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"ckpt/pytree"
	"ckpt/report"
)

// Golden reports: what a person sees.
func TestReports(t *testing.T) {
	var old, renamed strings.Builder
	for i := range 12 {
		shape := "[256]"
		if i == 4 {
			shape = "[256,1]"
		}
		fmt.Fprintf(&old, "enc.layers.%d.ln.scale float32%s\n", i, shape)
		fmt.Fprintf(&old, "enc.layers.%d.ln.bias float32[256]\n", i)
		fmt.Fprintf(&renamed, "enc.layers.%d.norm.scale float32[256]\n", i)
		fmt.Fprintf(&renamed, "enc.layers.%d.norm.bias float32[256]\n", i)
	}
	tests := []struct {
		name, old, new, rules string
		bare                  bool
		width                 int
	}{{
		name: "refactored",
		old: old.String() + `head.weight float32[10,256]
			opt/state/0/exp_avg float32[3]
			opt/state/1/exp_avg float32[4]
			stale.buffer float32[7]
			epoch int 3`,
		new: renamed.String() + `head.weight float32[12,256]
			opt/state {}
			aux.weight float32[2,2]
			epoch null`,
		rules: "# one of them is mistyped\nrule { from_path: \"stale.bufer\" }\n",
		width: 120,
	}, {
		name: "narrow",
		old:  `a_very_long_name.of_a_module.that_goes_on.and_on.weight float32[3]`,
		new: `a_very_long_name.of_a_module.that_goes_on.and_on.bias float32[4]
			b float32[1]`,
		width: 72,
	}, {
		name: "clean",
		old: `a float32[2]
			b float32[3]`,
		new: `c float32[2]
			d float32[5]`,
		rules: `rule { from_path: "a" to_path: "c" } rule { from_path: "b" } rule { to_path: "d" }`,
	}, {
		name: "hostile_names",
		old:  "a\x1b[31m.w float32[2]\nb\u202eevil float32[3]\n[\"x\"] float32[4]\n幅.w float32[5]",
		new:  "",
	}, {
		name: "without_template",
		old: `a int 1
			b int 2`,
		rules: `rule { from_path: "a" to_path: "b" }`,
		bare:  true,
	}, {
		name: "not_planned",
		old:  `a float32[2]`, new: `b float32[2]`,
		rules: "\uFEFFrule { from_path: \"é\" frm: \"b\" }",
	}, {
		name: "replaced",
		old:  `o/x float32[3]`, new: "p/old float32[3]\np/n int 1\nq float32[1]",
		rules: `rule { from_path: "o" to_path: "p" create: true } rule { to_path: "q" }`,
	}, {
		name: "tied",
		old: `head float32[6] @s
			embed float32[6] @s
			x float32[4]`,
		new: `embed float32[6] @s
			head float32[6] @s
			x float32[4]`,
		rules: `rule { from_path: "head" } rule { to_path: "head" } rule { from_path: "x" } rule { to_path: "x" }`,
	}, {
		name: "rules_that_disagree",
		old: `a/x float32[2]
			a/y float32[2]
			b/x float32[2]`,
		new: `c/x float32[2]
			c/y float32[2]`,
		rules: `rule { from_path: "a" to_path: "c" }
			rule { from_path: "b" to_path: "c" }
			rule { to_path: "c.y" }
			rule { from_path: "a.y" to_path: "c.y" }`,
	}}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			rules := (*Rules)(nil)
			if test.rules != "" {
				rules, _ = ParseRules("r.textproto", []byte(test.rules))
			}
			var template *pytree.Tree
			opt := Options{A: "old.pt"}
			if !test.bare {
				template, opt.B = makeTree(t, test.new), "new.pt"
			}
			p := NewPlan(makeTree(t, test.old), template, rules, opt)
			var text bytes.Buffer
			if err := p.Report().WriteText(&text, report.TextOptions{Width: test.width, A: []string{"PyTorch zip"}, B: []string{"PyTorch zip"}}); err != nil {
				t.Fatal(err)
			}
			golden(t, filepath.Join("testdata", "reports", test.name+".txt"), text.String())
			for line := range strings.Lines(text.String()) {
				if strings.TrimRight(line, " \n")+"\n" != line && line != "\n" {
					t.Errorf("%q ends in a space", line)
				}
			}
			out, err := json.MarshalIndent(p.Report(), "", " ")
			if err != nil {
				t.Fatal(err)
			}
			golden(t, filepath.Join("testdata", "reports", test.name+".json"), string(out)+"\n")
		})
	}
}

// Every code that a plan can have is brought about by a test above, and has a
// severity, a consequence and a page.
func TestEveryCodeIsTested(t *testing.T) {
	seen := make(map[string]bool)
	for _, test := range slices.Concat(ruleTests, orderTests, pathTests, fitTests, createTests) {
		for _, line := range trimLines(test.findings) {
			code, _, _ := strings.Cut(line, " ")
			seen[code] = true
		}
	}
	for _, code := range []string{
		"rule-syntax", "rule-empty", "rule-identity", "rule-conflict", "rule-unused-from", "rule-unused-to",
		"ambiguous-path", "no-destination", "destination-collision", "kind-mismatch", "shape-mismatch",
		"dtype-mismatch", "source-unmapped", "destination-unfilled", "scalar-type", "tie-mismatch",
	} {
		if !seen[code] {
			t.Errorf("no test brings about %s", code)
		}
		if page, ok := report.Explain(code); !ok || !strings.HasPrefix(page, "# "+code+"\n") {
			t.Errorf("%s has no page", code)
		}
	}
}

func TestSuggestions(t *testing.T) {
	tests := []struct {
		why      string
		old, new string
		rules    string
		fixes    string
		meant    string // did-you-mean names on findings
	}{{
		why: "one rule for a subtree that got another name",
		old: `enc/a/w float32[2]
			enc/a/b float32[3]
			enc/c/w float32[4]`,
		new: `net/encoder/a/w float32[2]
			net/encoder/a/b float32[3]
			net/encoder/c/w float32[4]`,
		fixes: `rule { from_path: "enc" to_path: "net.encoder" }`,
	}, {
		why: "one for each layer where the name changed below the number, never another number",
		old: `l.0.ln.w float32[2]
			l.1.ln.w float32[2]
			l.1.fc.w float32[2]`,
		new: `l.0.norm.w float32[2]
			l.1.norm.w float32[2]
			l.1.fc.w float32[2]`,
		fixes: `rule { from_path: "l.0.ln" to_path: "l.0.norm" }
			rule { from_path: "l.1.ln" to_path: "l.1.norm" }`,
	}, {
		why: "layers are not renumbered",
		old: `l.0.w float32[2]
			l.1.w float32[2]`,
		new: `l.0.w float32[2]
			l.2.w float32[2]`,
		fixes: `rule { from_path: "l.1.w" }
			rule { to_path: "l.2.w" }`,
	}, {
		why: "several candidates are named, not chosen",
		old: `att.q_proj.w float32[2,2]
			att.k_proj.w float32[2,2]`,
		new: `att.wq.w float32[2,2]
			att.wk.w float32[2,2]`,
		fixes: `rule { from_path: "att" }
			rule { to_path: "att" }`,
		meant: `att.wk.w: att.q_proj.w att.k_proj.w
			att.wq.w: att.q_proj.w att.k_proj.w
			att.k_proj.w: att.wq.w att.wk.w
			att.q_proj.w: att.wq.w att.wk.w`,
	}, {
		why: "a value is not recognised by being a number",
		old: `epoch int 3`, new: `seed int 0`,
		fixes: `rule { from_path: "epoch" }
			rule { to_path: "seed" }`,
	}, {
		why: "but by its own name in another place",
		old: `epoch int 3`, new: `meta/epoch int 0`,
		fixes: `rule { from_path: "epoch" to_path: "meta.epoch" }`,
	}, {
		why: "what the template holds empty is taken whole",
		old: `opt/state/0/m float32[2]
			opt/state/0/v float32[2]
			opt/lr int 1`,
		new: `opt/state {}
			opt/lr int 1`,
		fixes: `rule { from_path: "opt.state" to_path: "opt.state" create: true }`,
	}, {
		why: "or holds as null",
		old: `client/model/w float32[2]
			client/model/b float32[2]
			client/id int 1`,
		new: `client/model null
			client/id int 1`,
		fixes: `rule { from_path: "client.model" to_path: "client.model" create: true }`,
	}, {
		why:   "one tensor that becomes two is copied",
		old:   `embed.weight float32[9,2]`,
		new:   "embed.weight float32[9,2]\nhead.weight float32[9,2]",
		rules: `rule { from_path: "embed.weight" to_path: "head.weight" }`,
		fixes: `rule { from_path: "[\"embed.weight\"]" to_path: "[\"embed.weight\"]" create: true }`,
	}, {
		why: "a dropped rule never covers what is mapped",
		old: `m/a/x float32[2]
			m/a/y float32[3]
			m/b float32[4]`,
		new:   `m/b float32[4]`,
		fixes: `rule { from_path: "m.a" }`,
	}, {
		why: "a shape that changed takes a rule on each side",
		old: `head/w float32[10]
			head/b float32[1]`,
		new: `head/w float32[12]
			head/b float32[1]`,
		fixes: `rule { from_path: "head.w" }
			rule { to_path: "head.w" }`,
	}, {
		why:   "no rule is longer than one about the leaf alone: it is to be corrected",
		old:   `a float32[10]`,
		new:   `b float32[12]`,
		rules: `rule { from_path: "a" to_path: "b" }`,
	}, {
		why: "a leaf that shares its name is named exactly",
		old: `a.b float32[2]
			a/b float32[3]`,
		new: `c int 1`,
		fixes: `rule { from_path: "[\"a.b\"]" }
			rule { from_path: "[\"a\",\"b\"]" }
			rule { to_path: "c" }`,
	}, {
		why:   "a rule with a typing error",
		old:   `model/encoder/w float32[2]`,
		new:   `model/encoder/w float32[2]`,
		rules: `rule { from_path: "model.encodr.w" } rule { to_path: "encoder" }`,
		meant: `from_path "model.encodr.w": model.encoder.w
			to_path "encoder": model.encoder`,
	}, {
		why:   "an exact rule with a key of another type",
		old:   `c/'0'/w float32[2]`,
		new:   `c/'0'/w float32[2]`,
		rules: `rule { from_path: "[\"c\",0]" }`,
		meant: `from_path "[\"c\",0]": ["c","0"]`,
	}, {
		why:   "nothing is given up while rules that disagree about it are the cause",
		old:   `e float32[2]`,
		new:   "e float32[2]\nn float32[2]",
		rules: `rule { from_path: "e" to_path: "n" } rule { from_path: "e" }`,
	}, {
		why:   "nor while a path is ambiguous, whose exact forms are to choose from",
		old:   "a.b float32[2]\na/b float32[2]",
		new:   `c float32[2]`,
		rules: `rule { from_path: "a.b" to_path: "c" }`,
		fixes: `rule { from_path: "[\"a.b\"]" to_path: "c" } at 1:1 of 2
			rule { from_path: "[\"a\",\"b\"]" to_path: "c" } at 1:1 of 2`,
	}, {
		why:   "two letters swapped in to_path: the rule is corrected, the leaf not given up",
		old:   `enc/ln float32[2]`,
		new:   `enc/norm float32[2]`,
		rules: `rule { from_path: "enc.ln" to_path: "enc.nrom" }`,
		fixes: `rule { from_path: "enc.ln" to_path: "enc.norm" } at 1:1`,
		meant: `to_path "enc.nrom": enc.norm`,
	}, {
		why:   "a letter too many in from_path",
		old:   `enc/ln float32[2]`,
		new:   `enc/norm float32[2]`,
		rules: `rule { from_path: "enc.lnn" to_path: "enc.norm" }`,
		fixes: `rule { from_path: "enc.ln" to_path: "enc.norm" } at 1:1`,
		meant: `from_path "enc.lnn": enc.ln`,
	}, {
		why:   "two names are as near: the one that fits is meant",
		old:   "enc/ln float32[2]\nx int 1",
		new:   "enc/norm float32[2]\nenc/nrop float32[3]\nx int 1",
		rules: `rule { from_path: "enc.ln" to_path: "enc.nrom" }`,
		fixes: `rule { from_path: "enc.ln" to_path: "enc.norm" } at 1:1`,
		meant: `to_path "enc.nrom": enc.norm enc.nrop`,
	}, {
		why:   "a leaf that is filled already was not meant, nor one letter for another",
		old:   "a float32[2]\nc/norm float32[2]\nc/x float32[3]",
		new:   "b float32[2]\nc/norm float32[2]",
		rules: `rule { from_path: "c.x" to_path: "c.nrom" } rule { from_path: "a" to_path: "d" }`,
		fixes: `rule { to_path: "b" }`,
	}, {
		why:   "what only shape and dtype speak for is a guess",
		old:   `a float32[2]`,
		new:   `k float32[2]`,
		fixes: `rule { from_path: "a" to_path: "k" } guess`,
	}, {
		why: "and none where several fit equally",
		old: "a{0-1} float32[2]\nl.0.w float32[2]\nl.1.w float32[2]\nl.01.w float32[2]",
		new: `k float32[2]`,
		fixes: `rule { from_path: "a{0-1}" }
			rule { from_path: "l" }
			rule { to_path: "k" }`,
	}}
	for _, test := range tests {
		t.Run(test.why, func(t *testing.T) {
			rules, _ := ParseRules("r", []byte(test.rules))
			p := NewPlan(makeTree(t, test.old), makeTree(t, test.new), rules, Options{})
			var fixes, meant []string
			for _, f := range p.Report().Fixes {
				line := f.Rule
				if f.Guess {
					line += " guess"
				}
				if f.Replaces != nil {
					line += fmt.Sprintf(" at %d:%d", f.Replaces.Line, f.Replaces.Column)
				}
				if f.Choices > 0 {
					line += fmt.Sprintf(" of %d", f.Choices)
				}
				fixes = append(fixes, line)
			}
			for _, f := range p.Report().Findings {
				if len(f.DidYouMean) == 0 {
					continue
				}
				about := f.A.Name()
				switch {
				case f.A.None() && f.B.None():
					about = f.Rules[0].Text
				case f.A.None():
					about = f.B.Name()
				}
				meant = append(meant, about+": "+strings.Join(f.DidYouMean, " "))
			}
			if want := trimLines(test.fixes); !slices.Equal(fixes, want) {
				t.Errorf("fixes:\n%s\nwant\n%s", strings.Join(fixes, "\n"), strings.Join(want, "\n"))
			}
			if want := trimLines(test.meant); !slices.Equal(meant, want) {
				t.Errorf("did you mean:\n%s\nwant\n%s", strings.Join(meant, "\n"), strings.Join(want, "\n"))
			}
		})
	}
}

func TestDump(t *testing.T) {
	tree := makeTree(t, `a/b.c int 1
		l/0 int 2
		x.y int 3
		x/y int 4
		[z int 5
		k/~(1,2)/w int 6
		e {}`)
	want := []string{
		`rule { from_path: "a.b.c" }`,
		`rule { from_path: "l.0" }`,
		`rule { from_path: "[\"x.y\"]" }`,
		`rule { from_path: "[\"x\",\"y\"]" }`,
		`rule { from_path: "[\"[z\"]" }`,
		`# no rule can name ["k",~"(1,2)","w"]`,
	}
	if got := DumpSource(tree); !slices.Equal(got, want) {
		t.Errorf("got\n%s\nwant\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
	for i := range want {
		want[i] = strings.Replace(want[i], "from_path", "to_path", 1)
	}
	if got := DumpDestination(tree); !slices.Equal(got, want) {
		t.Errorf("got\n%s\nwant\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
}

// A dump of both sides is a rules file that drops and keeps everything.
func TestDumpIsARulesFile(t *testing.T) {
	for seed := range uint64(300) {
		rng := rand.New(rand.NewPCG(seed, 3))
		old, template := randomTree(rng, 3), randomTree(rng, 3)
		lines := slices.Concat(DumpSource(old), DumpDestination(template))
		rules, findings := ParseRules("dump", []byte(strings.Join(lines, "\n")))
		if len(findings) > 0 {
			t.Fatalf("seed %d: %+v\n%s", seed, findings, strings.Join(lines, "\n"))
		}
		for _, f := range NewPlan(old, template, rules, Options{}).Report().Findings {
			path := f.A.Path
			if f.A.None() {
				path = f.B.Path
			}
			if path.Addressable() {
				t.Errorf("seed %d: %s remains", seed, summary(f))
			}
		}
	}
}

// Names may be anything, and rules may be about anything.
func FuzzPlan(f *testing.F) {
	files, err := filepath.Glob(filepath.Join("testdata", "rules", "*.textproto"))
	if err != nil || len(files) == 0 {
		f.Fatal("no seeds", err)
	}
	for i, file := range files {
		src, err := os.ReadFile(file)
		if err != nil {
			f.Fatal(err)
		}
		f.Add(uint64(i), string(src), "a.b")
	}
	f.Add(uint64(9), `rule { from_path: "a" to_path: "b" create: true } rule { to_path: "[]" }`, "\xed\xa0\x80.\u202e")
	f.Fuzz(func(t *testing.T, seed uint64, src, name string) {
		rng := rand.New(rand.NewPCG(seed, 1))
		old := randomTree(rng, 3)
		template := mutate(rng, old)
		c := old.Root.(*pytree.Container)
		if c.Kind == pytree.Mapping {
			c.Entries = append(c.Entries, pytree.Entry{Key: pytree.StringKey("fuzz" + name), Value: &pytree.Scalar{}})
		}
		if seed%3 == 0 {
			template = nil
		}
		rules, _ := ParseRules("r", []byte(src))
		p := NewPlan(old, template, rules, Options{A: name, B: "new"})
		var text bytes.Buffer
		if err := p.Report().WriteText(&text, report.TextOptions{Width: 80}); err != nil {
			t.Fatal(err)
		}
		for _, r := range text.String() {
			if r != '\n' && pytree.Printable(string(r)) != string(r) {
				t.Errorf("the report prints %q as it is", r)
			}
		}
		if out, err := json.Marshal([]any{p, p.Report()}); err != nil || !json.Valid(out) {
			t.Fatal(err)
		}
		if _, err := p.Apply(); err != nil && p.Report().Verdict() == report.Compatible {
			t.Error(err)
		}
	})
}
