package migrate

import (
	"slices"

	"ckpt/report"
)

// follow lets every old leaf follow its longest rules, and those without any
// stay where they are.
func (p *Plan) follow() {
	for i := range p.old.leaves {
		p.followLeaf(int32(i))
	}
	p.identities()
	if p.bare {
		return // what no rule covers stays; settle looks whether it may
	}
	for i := range p.old.leaves {
		if p.cover.spans[i].n == 0 {
			p.preserve(int32(i))
		}
	}
}

// identities finds rules whose paths are one in two forms: they send every leaf
// to the place that it has.
func (p *Plan) identities() {
	for r := range p.rules {
		ru := &p.rules[r]
		if !ru.twofold() || !p.cover.used[r] {
			continue
		}
		from, to := p.cover.heads[r], p.to.heads[r]
		if p.bare {
			// A dotted to_path keeps the keys that there are.
			if to = from; ru.to.exact {
				to = string(ru.to.path[:len(ru.to.path)-1])
			}
		}
		if from == to && from != several {
			p.find(report.Finding{
				Code: "rule-identity", Rules: []report.RuleRef{ru.ref()},
				Detail: "from_path and to_path mean the same leaves",
			})
		}
	}
}

func (p *Plan) followLeaf(i int32) {
	s := p.cover.spans[i]
	if s.n == 0 {
		return
	}
	rules := p.cover.rulesOf(s)
	if p.ambiguousSource(i, rules) || p.conflicting(i, rules) {
		return
	}
	if !p.rules[rules[0]].moves() {
		p.fates[i] = dropped
		return
	}
	for _, r := range rules {
		p.move(i, r)
	}
}

// ambiguousSource finds leaves that a dotted rule cannot tell apart: they have
// the same dotted path, and the rule's own path reads as different keys in each.
func (p *Plan) ambiguousSource(i int32, rules []int32) bool {
	if !p.old.shared(i) {
		return false
	}
	for _, r := range rules {
		twins := p.twins(p.old, i, &p.rules[r].from, func(j int32) bool {
			return slices.Contains(p.cover.rulesOf(p.cover.spans[j]), r)
		})
		if len(twins) == 0 {
			continue
		}
		p.fates[i] = blocked
		if twins[0] > i { // the first of them speaks for all
			f := report.Finding{
				Code: "ambiguous-path", A: p.a(i), Rules: []report.RuleRef{p.rules[r].fromRef()},
				Detail: quote(p.rules[r].from.text) + " means several leaves of " + p.nameA(),
			}
			for _, j := range twins {
				f.More = append(f.More, p.a(j))
			}
			p.find(f)
		}
		return true
	}
	return false
}

// twins are the other leaves of a side that pattern covers under the same
// dotted path, if it reads differently in any of them.
func (p *Plan) twins(s *side, i int32, pat *pattern, covered func(int32) bool) []int32 {
	if pat.exact {
		return nil
	}
	var twins []int32
	differs := false
	head, _ := cut(s.leaves[i].path, pat.depth)
	for j := s.named(s.leaves[i].dotted); j >= 0; j = s.next[j] {
		if j != i && covered(j) {
			other, _ := cut(s.leaves[j].path, pat.depth)
			differs = differs || other != head
			twins = append(twins, j)
		}
	}
	if !differs {
		return nil
	}
	return twins
}

// conflicting finds equally long rules that disagree about a leaf: one drops
// it, another moves it.
func (p *Plan) conflicting(i int32, rules []int32) bool {
	first := &p.rules[rules[0]]
	for _, r := range rules[1:] {
		if other := &p.rules[r]; other.moves() != first.moves() {
			p.conflict(p.a(i), report.Place{}, first, other, "one rule drops it, another moves it")
			p.fates[i] = blocked
			return true
		}
	}
	return false
}

// conflict adds a finding about two rules.
func (p *Plan) conflict(a, b report.Place, r, q *rule, detail string) {
	p.find(report.Finding{Code: "rule-conflict", A: a, B: b, Detail: detail, Rules: []report.RuleRef{r.ref(), q.ref()}})
}

// move claims the place that rule r sends leaf i to.
func (p *Plan) move(i, r int32) {
	ru := &p.rules[r]
	if !p.bare {
		j, rivals := p.destination(i, ru)
		if len(rivals) > 0 {
			p.fates[i] = blocked
			f := report.Finding{
				Code: "ambiguous-path", A: p.a(i), Rules: []report.RuleRef{ru.toRef()},
				Detail: "the destination could be any of several leaves of " + p.nameB(),
			}
			for _, j := range rivals {
				f.More = append(f.More, p.b(j))
			}
			p.find(f)
			return
		}
		if j >= 0 {
			p.claim(j, i, r)
			return
		}
	}
	if !p.bare && !ru.create {
		if p.fates[i] == pending {
			p.fates[i] = unplaced
		}
		p.find(report.Finding{
			Code: "no-destination", A: p.a(i), Rules: []report.RuleRef{ru.ref()},
			Detail: p.nameB() + " has no " + p.target(i, ru),
		})
		return
	}
	path := p.placer.place(p.old.leaves[i].path, r, ru)
	j, ok := p.madeAt[path]
	if !ok {
		j = int32(len(p.new.leaves) + len(p.made))
		p.made = append(p.made, made{path, r})
		p.madeAt[path] = j
		p.head = append(p.head, -1)
		p.ends = append(p.ends, ending{unfilled, -1, -1})
	}
	p.claim(j, i, r)
}

// target is the dotted path that rule r sends leaf i to.
func (p *Plan) target(i int32, r *rule) string {
	l := &p.old.leaves[i]
	rest, more := tail(l.dotted, r.from.depth)
	switch {
	case !more || l.dotted == "" && r.from.depth == 0:
		return r.to.dotted
	case r.to.depth == 0:
		return rest
	}
	return r.to.dotted + "." + rest
}

// destination finds the new leaf at the same remaining path under the rule's
// to_path. It is -1 where there is none; rivals are given where there are
// several that the rule does not tell apart.
func (p *Plan) destination(i int32, r *rule) (j int32, rivals []int32) {
	l := &p.old.leaves[i]
	target := p.target(i, r)
	strict := target == "" || !l.addressable() || p.old.shared(i)
	one, count := int32(-1), 0
	for j := p.new.named(target); j >= 0; j = p.new.next[j] {
		if r.to.covers(&p.new.leaves[j]) {
			strict = strict || !p.new.leaves[j].addressable()
			one, count = j, count+1
		}
	}
	if count == 0 || count == 1 && !strict {
		return one, nil
	}
	// The keys that remain must be the very same.
	_, rest := cut(l.path, r.from.depth)
	var exact, all []int32
	for j := p.new.named(target); j >= 0; j = p.new.next[j] {
		c := &p.new.leaves[j]
		if !r.to.covers(c) {
			continue
		}
		all = append(all, j)
		if _, other := cut(c.path, r.to.depth); other == rest {
			exact = append(exact, j)
		}
	}
	switch {
	case len(exact) == 1:
		return exact[0], nil
	case len(exact) > 1:
		return -1, exact
	case !l.addressable() || target == "":
		return -1, nil
	}
	return -1, all
}

// covers reports whether the pattern covers a leaf that has its dotted path.
func (p pattern) covers(l *leaf) bool {
	if p.exact {
		return p.holds(l.path)
	}
	return p.depth <= l.limit
}

// claim notes that rule r sends leaf i to destination j.
func (p *Plan) claim(j, i, r int32) {
	p.claims = append(p.claims, claim{i, r, p.head[j]})
	p.head[j] = int32(len(p.claims) - 1)
}

// preserve gives a leaf that no rule covers to the same path in the new tree:
// the same exact path, else the same dotted one where only one leaf of either
// tree has it. Values that rules send there go first.
func (p *Plan) preserve(i int32) {
	l := &p.old.leaves[i]
	j := p.new.at(l.path, l.dotted)
	if j < 0 && l.addressable() && !p.old.shared(i) {
		j = p.new.named(l.dotted)
		if j >= 0 && (p.new.next[j] >= 0 || !p.new.leaves[j].addressable()) {
			j = -1
		}
	}
	f := report.Finding{Code: "source-unmapped"}
	if j >= 0 {
		t := p.to.leaves[j]
		by := int32(-1)
		switch {
		case p.head[j] >= 0:
			by = p.claims[p.head[j]].rule
			f.Detail = "another value is moved to its path"
		case t.keep >= 0 && t.keepDepth >= t.createDepth:
			by = t.keep
			f.Detail = "a rule keeps the value that " + p.nameB() + " has at its path"
		case t.create >= 0:
			by = t.create
			f.Detail = "a rule creates the subtree at its path anew"
		default:
			p.claim(j, i, -1)
			return
		}
		f.Rules = []report.RuleRef{p.rules[by].toRef()}
	}
	p.fates[i] = unmapped
	f.A = p.a(i)
	p.find(f)
}
