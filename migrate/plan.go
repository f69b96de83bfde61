package migrate

import (
	"sync"

	"ckpt/pytree"
	"ckpt/report"
)

// Options says how to plan.
type Options struct {
	// A and B are the operands as the user gave them, for messages.
	A, B string
	// NoFixes leaves out suggestions: did-you-mean names and rules to add.
	NoFixes bool
}

// Plan says where every leaf of the new tree gets its value from, and what
// became of every leaf of the old tree.
type Plan struct {
	opt        Options
	rules      []rule
	oldTree    *pytree.Tree
	newTree    *pytree.Tree // the template; the old tree where there is none
	bare       bool         // there is no template
	old, new   *side
	cover      *coverage // which rules the old leaves follow
	to         *targets  // which rules speak about the new leaves
	claims     []claim
	head       []int32 // for each destination its first claim, or -1
	made       []made  // destinations that the template does not have
	madeAt     map[pytree.Path]int32
	fates      []fate   // of the old leaves
	ends       []ending // of the destinations
	report     *report.Report
	assembled  *pytree.Tree // where structural: the new tree, if there can be one
	structural bool         // the new tree has other paths than the template
	placer     *placer
}

// claim is a value's claim to a destination.
type claim struct {
	src  int32
	rule int32 // -1: the leaf is preserved, no rule says so
	next int32 // the next claim to the same destination, or -1
}

// made is a destination that the template does not have.
type made struct {
	path pytree.Path
	rule int32
}

// fate is what became of an old leaf.
type fate uint8

const (
	pending  fate = iota
	mapped        // its value arrives somewhere
	dropped       // a rule drops it
	blocked       // a finding is about it
	unmapped      // nothing is said about it: source-unmapped
	unplaced      // a rule sends it where nothing is: no-destination
)

// ending is what a destination gets.
type ending struct {
	how how
	src int32 // the old leaf, where one fills it
	by  int32 // the rule behind it, or -1
}

type how uint8

const (
	unfilled  how = iota
	moved         // by a rule
	preserved     // the same path in both trees
	created       // taken whole by a create rule
	kept          // a rule keeps the template's value
	replaced      // gone, with the subtree that a create rule replaces
	stopped       // a finding is about it
)

// NewPlan plans the migration of old into the tree of template, which is nil
// for none: then the new tree is the old one with the rules applied. A nil rules
// is no rules.
func NewPlan(old, template *pytree.Tree, rules *Rules, opt Options) *Plan {
	if rules == nil {
		rules = &Rules{}
	}
	p := &Plan{opt: opt, rules: rules.rules, oldTree: old, newTree: template, bare: template == nil}
	if p.bare {
		p.newTree = old
	}
	p.report = &report.Report{Findings: rules.Findings()}
	p.report.Unplanned = rules.broken
	p.report.A.Name = opt.A
	if !p.bare {
		p.report.B.Name = opt.B
	}
	if rules.File != "" || rules.total > 0 {
		p.report.Rules = &report.RulesUse{File: rules.File, Total: rules.total}
	}
	p.list()
	if !rules.broken {
		p.follow()
		p.settle()
		p.unused()
		p.ties()
		p.structure()
		if !opt.NoFixes {
			p.suggest()
		}
		p.report.Findings.Sort()
	}
	p.count(rules)
	return p
}

// Report is what the plan found. It must not be changed.
func (p *Plan) Report() *report.Report { return p.report }

// list lists both trees, each beside the rules that speak about it.
func (p *Plan) list() {
	p.structural = p.bare
	for i := range p.rules {
		p.structural = p.structural || p.rules[i].create
	}
	var both sync.WaitGroup
	if p.bare {
		p.old = newSide(p.oldTree)
		p.new = p.old
	} else {
		both.Go(func() {
			p.new = newSide(p.newTree)
			p.to = newTargets(p.new, p.rules)
		})
		p.old = newSide(p.oldTree)
	}
	p.cover = newCoverage(p.old, p.rules)
	both.Wait()
	if p.bare {
		p.to = newTargets(&side{}, p.rules)
	}
	p.fates = make([]fate, len(p.old.leaves))
	p.head = make([]int32, len(p.new.leaves))
	for i := range p.head {
		p.head[i] = -1
	}
	p.ends = make([]ending, len(p.new.leaves))
	for i := range p.ends {
		p.ends[i] = ending{unfilled, -1, -1}
	}
	if p.structural {
		p.madeAt = make(map[pytree.Path]int32)
		p.placer = newPlacer(p.newTree)
	}
}

// find adds a finding.
func (p *Plan) find(f report.Finding) {
	f.Severity = report.SeverityOf(f.Code)
	p.report.Findings = append(p.report.Findings, f)
}

// a is an old leaf as a place, b a destination.
func (p *Plan) a(i int32) report.Place { return p.old.place(i) }

func (p *Plan) b(j int32) report.Place {
	if int(j) < len(p.new.leaves) {
		return p.new.place(j)
	}
	return report.Place{Path: p.made[int(j)-len(p.new.leaves)].path}
}

func (s *side) place(i int32) report.Place {
	return report.Place{Path: s.leaves[i].path, Node: s.leaves[i].node, Exact: s.shared(i)}
}

// nameA and nameB are the operands in messages.
func (p *Plan) nameA() string { return orElse(p.opt.A, "A") }
func (p *Plan) nameB() string { return orElse(p.opt.B, "B") }

func orElse(s, other string) string {
	if s == "" {
		return other
	}
	return s
}
