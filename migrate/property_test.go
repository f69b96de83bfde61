package migrate

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"ckpt/pytree"
	"ckpt/report"
)

// cases is how many random plans each property is tested on.
func cases() uint64 {
	if testing.Short() {
		return 500
	}
	return 3000
}

// forRandom runs a check on many random pairs of trees with rules. The template
// is nil for every fourth.
func forRandom(t *testing.T, check func(t *testing.T, rng *rand.Rand, old, template *pytree.Tree, rules []string)) {
	t.Helper()
	for seed := range cases() {
		rng := rand.New(rand.NewPCG(seed, 7))
		old := randomTree(rng, 4)
		template := mutate(rng, old)
		rules := randomRules(rng, old, template, rng.IntN(5))
		if seed%4 == 3 {
			template = nil
		}
		check(t, rng, old, template, rules)
		if t.Failed() {
			t.Fatalf("seed %d\nrules:\n%s\nold:\n%snew:\n%s", seed, strings.Join(rules, "\n"), show(old), show(template))
		}
	}
}

func parse(rules []string) *Rules {
	r, _ := ParseRules("r", []byte(strings.Join(rules, "\n")))
	return r
}

func planJSON(t *testing.T, old, template *pytree.Tree, r *Rules) string {
	t.Helper()
	// Where rules stand in the file depends on their order; nothing else may.
	for i := range r.rules {
		r.rules[i].pos, r.rules[i].fromPos, r.rules[i].toPos = report.Position{}, report.Position{}, report.Position{}
	}
	for i := range r.findings {
		for k := range r.findings[i].Rules {
			r.findings[i].Rules[k].Position = report.Position{}
		}
	}
	r.findings.Sort()
	p := NewPlan(old, template, r, Options{A: "old", B: "new"})
	out, err := json.Marshal([]any{p, p.Report()})
	if err != nil {
		t.Fatal(err)
	}
	return string(out)
}

func TestOrderOfRulesNeverMatters(t *testing.T) {
	forRandom(t, func(t *testing.T, rng *rand.Rand, old, template *pytree.Tree, rules []string) {
		want := planJSON(t, old, template, parse(rules))
		for range 3 {
			rng.Shuffle(len(rules), func(i, j int) { rules[i], rules[j] = rules[j], rules[i] })
			if got := planJSON(t, old, template, parse(rules)); got != want {
				t.Errorf("permuted rules give another plan:\n%s\nwant\n%s", got, want)
				return
			}
		}
	})
}

// Every leaf of either tree is in the plan exactly once, and each that is not
// simply moved, kept or dropped is named by a finding.
func TestEveryLeafIsAccountedFor(t *testing.T) {
	forRandom(t, func(t *testing.T, rng *rand.Rand, old, template *pytree.Tree, rules []string) {
		p := NewPlan(old, template, parse(rules), Options{})
		named := make(map[string]bool)
		for _, f := range p.Report().Findings {
			for _, pl := range append(f.More, f.A, f.B) {
				named[string(pl.Path)] = true
			}
		}
		var origins []string
		for o := range p.Origins() {
			origins = append(origins, string(o.Path))
			if o.How == Blocked && !named[string(o.Path)] {
				t.Errorf("old leaf %s is blocked, but no finding names it", o.Path)
			}
		}
		if want := leafPaths(old); strings.Join(origins, "\n") != strings.Join(want, "\n") {
			t.Errorf("old leaves in the plan: %q, want %q", origins, want)
		}
		if template == nil {
			return
		}
		var dests []string
		for d := range p.Destinations() {
			if len(dests) < len(p.new.leaves) {
				dests = append(dests, string(d.Path))
			}
			if d.How == Blocked && !named[string(d.Path)] {
				t.Errorf("new leaf %s is blocked, but no finding names it", d.Path)
			}
		}
		if want := leafPaths(template); strings.Join(dests, "\n") != strings.Join(want, "\n") {
			t.Errorf("new leaves in the plan: %q, want %q", dests, want)
		}
	})
}

func leafPaths(t *pytree.Tree) []string {
	var paths []string
	for p := range t.Leaves() {
		paths = append(paths, string(p))
	}
	return paths
}

// An applied plan has the leaves that it says, with the values that it says.
func TestApplyDoesWhatThePlanSays(t *testing.T) {
	applied := 0
	forRandom(t, func(t *testing.T, rng *rand.Rand, old, template *pytree.Tree, rules []string) {
		p := NewPlan(old, template, parse(rules), Options{})
		tree, err := p.Apply()
		if err != nil {
			if p.Report().Verdict() == report.Compatible {
				t.Errorf("a compatible plan fails: %v", err)
			}
			return
		}
		applied++
		got := make(map[pytree.Path]pytree.Node)
		for path, n := range tree.Leaves() {
			got[path] = n
		}
		count := 0
		for d := range p.Destinations() {
			if d.How == Replaced {
				continue
			}
			count++
			n, ok := got[d.Path]
			if !ok {
				t.Errorf("%s (%s) is not in the new tree:\n%s", d.Path, d.How, show(tree))
				continue
			}
			from := template
			path := d.Path
			if d.From != "" {
				from, path = old, d.From
			}
			want, _ := from.Find(path)
			if a, b := identity(n), identity(want); a != b {
				t.Errorf("%s is %v, want %v", d.Path, a, b)
			}
		}
		if count != len(got) {
			t.Errorf("the new tree has %d leaves, the plan %d:\n%s", len(got), count, show(tree))
		}
	})
	if applied < int(cases()/20) {
		t.Errorf("only %d of %d plans could be applied: the test says too little", applied, cases())
	}
}

func identity(n pytree.Node) any {
	if x, ok := n.(*pytree.Tensor); ok {
		return x.Storage
	}
	return n
}

// The rules that a report suggests, added to those there are, remove every
// finding that they are given for.
func TestFixesRemoveTheirFindings(t *testing.T) {
	total, mended := 0, 0
	forRandom(t, func(t *testing.T, rng *rand.Rand, old, template *pytree.Tree, rules []string) {
		before := NewPlan(old, template, parse(rules), Options{}).Report()
		if len(before.Fixes) == 0 {
			return
		}
		all := append([]string{}, rules...)
		choice := make(map[string]bool)
		for _, f := range before.Fixes {
			switch {
			case f.Choices > 0:
				choice[f.Rule] = true // which one is not for a test to say
				continue
			case f.Replaces != nil:
				all[f.Replaces.Line-1] = ""
			}
			all = append(all, f.Rule)
		}
		after := NewPlan(old, template, parse(all), Options{}).Report()
		left := make(map[string]bool)
		for _, f := range after.Findings {
			left[key(f)] = true
		}
		was := make(map[string]bool)
		for _, f := range before.Findings {
			was[key(f)] = true
			if len(f.Fix) == 0 || choice[f.Fix[0]] {
				continue
			}
			total++
			if left[key(f)] {
				t.Errorf("%s remains after\n%s", key(f), strings.Join(all, "\n"))
			} else {
				mended++
			}
		}
		for _, f := range after.Findings {
			// A collision of two values can hide that a third would lie below.
			if f.Severity == report.Error && !was[key(f)] && f.Detail != "a value and a container for one place" {
				t.Errorf("%s %s is new after\n%s", key(f), f.Detail, strings.Join(all, "\n"))
			}
		}
	})
	if total < int(cases()/2) {
		t.Errorf("only %d findings had fixes: the test says too little", total)
	}
}

func key(f report.Finding) string {
	s := fmt.Sprintf("%s A %s B %s", f.Code, f.A.Path, f.B.Path)
	if strings.Contains(f.Detail, "with a gap") {
		return s // the same list with other rules to blame is the same finding
	}
	for _, r := range f.Rules {
		s += " " + r.Text
	}
	return s
}
