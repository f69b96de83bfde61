package migrate

import (
	"ckpt/pytree"
	"ckpt/report"
)

// unused finds rules that cover nothing.
func (p *Plan) unused() {
	for r := range p.rules {
		ru := &p.rules[r]
		if ru.from.set() && !p.cover.used[r] {
			p.find(report.Finding{
				Code: "rule-unused-from", Rules: []report.RuleRef{ru.fromRef()},
				Detail: "matches nothing in " + p.nameA(),
			})
		}
		switch {
		case !ru.to.set():
		case p.bare && !ru.from.set():
			p.find(report.Finding{
				Code: "rule-unused-to", Rules: []report.RuleRef{ru.toRef()},
				Detail: "without a template there is no new value to keep",
			})
		case !p.bare && !ru.create && !p.to.used[r]:
			p.find(report.Finding{
				Code: "rule-unused-to", Rules: []report.RuleRef{ru.toRef()},
				Detail: "matches nothing in " + p.nameB(),
			})
		}
	}
}

// inUse reports whether a rule covers what it should.
func (p *Plan) inUse(r int) bool {
	ru := &p.rules[r]
	switch {
	case ru.from.set() && !p.cover.used[r]:
		return false
	case !ru.to.set():
		return true
	case p.bare || ru.create:
		return ru.from.set()
	}
	return p.to.used[r]
}

// ties finds tensors that the template ties and whose values come from
// different storages.
func (p *Plan) ties() {
	if p.bare {
		return
	}
	first := make(map[*pytree.Storage]int32, len(p.new.leaves))
	for j := range p.new.leaves {
		t, ok := p.new.leaves[j].node.(*pytree.Tensor)
		if !ok || t.Storage == nil {
			continue
		}
		mine := p.storage(int32(j), t)
		if mine == nil {
			continue
		}
		i, tied := first[t.Storage]
		if !tied {
			first[t.Storage] = int32(j)
			continue
		}
		if p.storage(i, p.new.leaves[i].node.(*pytree.Tensor)) == mine {
			continue
		}
		f := report.Finding{
			Code: "tie-mismatch", B: p.b(int32(j)), More: []report.Place{p.b(i)},
			Detail: "tied in " + p.nameB() + ", filled from different storages",
		}
		if src := p.ends[j].src; src >= 0 {
			f.A = p.a(src)
		}
		p.find(f)
	}
}

// storage is where the bytes of destination j will come from, or nil if the
// leaf will not be there or is subject to a finding.
func (p *Plan) storage(j int32, t *pytree.Tensor) *pytree.Storage {
	end := p.ends[j]
	switch end.how {
	case kept:
		return t.Storage
	case moved, preserved, created:
		if from, ok := p.old.leaves[end.src].node.(*pytree.Tensor); ok {
			return from.Storage
		}
	}
	return nil
}

// count fills in the numbers of the report.
func (p *Plan) count(rules *Rules) {
	a, b := &p.report.A, &p.report.B
	params := p.old.parameters(func(i int32) bool { return p.fates[i] == mapped })
	for i := range p.old.leaves {
		n := p.old.leaves[i].node
		tally(&a.Total, n, params, i)
		switch p.fates[i] {
		case mapped:
			tally(&a.Done, n, params, i)
		case dropped:
			tally(&a.Waived, n, params, i)
		}
	}
	if !p.bare {
		done := func(j int32) bool { return p.ends[j].src >= 0 }
		params := p.new.parameters(done)
		for j := range p.new.leaves {
			n := p.new.leaves[j].node
			tally(&b.Total, n, params, j)
			switch p.ends[j].how {
			case moved, preserved, created:
				tally(&b.Done, n, params, j)
			case kept:
				tally(&b.Waived, n, params, j)
			case replaced:
				tally(&b.Replaced, n, params, j)
			}
		}
	}
	if p.report.Rules == nil || rules.broken {
		return
	}
	for r := range p.rules {
		if p.inUse(r) {
			p.report.Rules.Used++
		}
	}
}

// tally counts leaf i, with the parameters that it adds where that is not all of
// its elements.
func tally(t *report.Tally, n pytree.Node, params map[int32]uint64, i int) {
	x, ok := n.(*pytree.Tensor)
	if !ok {
		t.Add(false, 0)
		return
	}
	count, shared := params[int32(i)]
	if !shared {
		count = uint64(x.Elements())
	}
	t.Add(true, count)
}
