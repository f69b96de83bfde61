package migrate

import (
	"ckpt/report"
)

// settle decides what every destination gets.
func (p *Plan) settle() {
	var denied []denial
	for j := range p.ends {
		p.settleOne(int32(j), &denied)
	}
	for _, d := range denied {
		if p.fates[d.src] != pending {
			continue // its value arrives elsewhere, or a finding is about it
		}
		p.fates[d.src] = unmapped
		p.find(report.Finding{
			Code: "source-unmapped", A: p.a(d.src), Detail: d.reason,
			Rules: []report.RuleRef{p.rules[d.rule].toRef()},
		})
	}
}

// denial is a value that a longer rule keeps from its destination.
type denial struct {
	src, rule int32
	reason    string
}

func (p *Plan) settleOne(j int32, denied *[]denial) {
	isMade := int(j) >= len(p.new.leaves)
	if p.bare && !isMade {
		p.stay(j)
		return
	}
	t := target{-1, -1, -1, -1}
	if isMade {
		if !p.bare {
			l := makeLeaf(p.made[int(j)-len(p.new.leaves)].path, nil)
			t = p.to.longest(&l)
		}
	} else {
		t = p.to.leaves[j]
		if p.ambiguousKeep(j, t) {
			return
		}
	}
	end := &p.ends[j]
	if end.how == stopped {
		return // the leaf that stays there has seen to it
	}
	if p.head[j] < 0 {
		p.settleUnclaimed(j, t)
		return
	}
	best, ok := p.strongest(j)
	if !ok {
		end.how = stopped
		return
	}
	depth := int32(-1)
	create := false
	if best.rule >= 0 {
		depth, create = int32(p.rules[best.rule].to.depth), p.rules[best.rule].create
	}
	switch {
	case t.keep >= 0 && t.keepDepth == t.createDepth && t.keepDepth > depth:
		p.stop(j, best.src)
		p.conflict(p.a(best.src), p.b(j), &p.rules[t.keep], &p.rules[t.create], "one rule keeps it, another creates the subtree anew")
	case t.keep >= 0 && t.keepDepth == depth && t.keepDepth >= t.createDepth:
		p.stop(j, best.src)
		p.conflict(p.a(best.src), p.b(j), &p.rules[t.keep], &p.rules[best.rule], "one rule keeps it, another fills it")
	case t.keep >= 0 && t.keepDepth > depth && t.keepDepth >= t.createDepth:
		*end = ending{kept, -1, t.keep}
		*denied = append(*denied, denial{best.src, t.keep, "a longer rule keeps the value that " + p.nameB() + " has at its destination"})
	case t.create >= 0 && t.createDepth == depth && !create:
		p.stop(j, best.src)
		p.conflict(p.a(best.src), p.b(j), &p.rules[t.create], &p.rules[best.rule], "one rule creates the subtree anew, another fills it")
	case t.create >= 0 && t.createDepth > depth:
		*end = ending{replaced, -1, t.create}
		*denied = append(*denied, denial{best.src, t.create, "a longer rule creates the subtree at its destination anew"})
	case create || p.bare:
		p.fill(j, best, created)
	case best.rule >= 0:
		p.fit(j, best, moved)
	default:
		p.fit(j, best, preserved)
	}
}

// stay settles an old leaf that no rule covers, where there is no template. It
// keeps its place, unless a rule sends another value there.
func (p *Plan) stay(i int32) {
	if p.cover.spans[i].n > 0 {
		p.ends[i] = ending{replaced, -1, -1}
		return
	}
	if j, ok := p.madeAt[p.old.leaves[i].path]; ok {
		f := report.Finding{Code: "destination-collision", A: p.a(i), Detail: "its value stays, and another one is moved here"}
		p.ends[i] = ending{stopped, -1, -1}
		p.fates[i] = blocked
		for c := p.head[j]; c >= 0; c = p.claims[c].next {
			f.More = append(f.More, p.a(p.claims[c].src))
			f.Rules = append(f.Rules, p.rules[p.claims[c].rule].ref())
			p.stop(j, p.claims[c].src)
		}
		p.find(f)
		return
	}
	p.ends[i] = ending{preserved, i, -1}
	p.fates[i] = mapped
}

// settleUnclaimed settles a destination that no value is sent to.
func (p *Plan) settleUnclaimed(j int32, t target) {
	end := &p.ends[j]
	switch {
	case t.keep >= 0 && t.keepDepth == t.createDepth:
		end.how = stopped
		p.conflict(report.Place{}, p.b(j), &p.rules[t.keep], &p.rules[t.create], "one rule keeps it, another creates the subtree anew")
	case t.keepDepth > t.createDepth:
		*end = ending{kept, -1, t.keep}
	case t.create >= 0:
		*end = ending{replaced, -1, t.create}
	default:
		p.find(report.Finding{Code: "destination-unfilled", B: p.b(j)})
	}
}

// ambiguousKeep finds leaves that a dotted rule for keeping cannot tell apart.
func (p *Plan) ambiguousKeep(j int32, t target) bool {
	if t.keep < 0 || !p.new.shared(j) {
		return false
	}
	twins := p.twins(p.new, j, &p.rules[t.keep].to, func(k int32) bool { return p.to.leaves[k].keep == t.keep })
	if len(twins) == 0 {
		return false
	}
	p.ends[j].how = stopped
	for c := p.head[j]; c >= 0; c = p.claims[c].next {
		p.stop(j, p.claims[c].src)
	}
	if twins[0] > j {
		f := report.Finding{
			Code: "ambiguous-path", B: p.b(j), Rules: []report.RuleRef{p.rules[t.keep].toRef()},
			Detail: quote(p.rules[t.keep].to.text) + " means several leaves of " + p.nameB(),
		}
		for _, k := range twins {
			f.More = append(f.More, p.b(k))
		}
		p.find(f)
	}
	return true
}

// strongest is the claim to destination j by the longest to_path. It reports
// false, with a finding, if the claims are of several sources, or if the rules
// do not agree whether to create.
func (p *Plan) strongest(j int32) (claim, bool) {
	best := p.claims[p.head[j]]
	for c := best.next; c >= 0; c = p.claims[c].next {
		if p.claims[c].src != best.src {
			p.collide(j)
			return best, false
		}
	}
	for c := best.next; c >= 0; c = p.claims[c].next {
		q := p.claims[c]
		a, b := &p.rules[best.rule], &p.rules[q.rule]
		if !p.bare && a.create != b.create && a.to.depth == b.to.depth {
			p.stop(j, best.src)
			p.conflict(p.a(best.src), p.b(j), b, a, "one rule creates the destination, another fills it")
			return best, false
		}
		if b.to.depth > a.to.depth || b.to.depth == a.to.depth && q.rule < best.rule {
			best = q
		}
	}
	return best, true
}

// collide is several sources for one destination.
func (p *Plan) collide(j int32) {
	f := report.Finding{Code: "destination-collision", B: p.b(j), Detail: "several values for one place"}
	var order []claim
	for c := p.head[j]; c >= 0; c = p.claims[c].next {
		order = append(order, p.claims[c])
	}
	for k := len(order) - 1; k >= 0; k-- { // claims are linked last first
		c := order[k]
		p.stop(j, c.src)
		if n := len(f.More); n > 0 && f.More[n-1].Path == p.old.leaves[c.src].path {
			continue
		}
		f.More = append(f.More, p.a(c.src))
		if c.rule >= 0 {
			f.Rules = append(f.Rules, p.rules[c.rule].ref())
		}
	}
	p.find(f)
}

// stop marks a destination and a source as the subject of a finding.
func (p *Plan) stop(j, i int32) {
	p.ends[j].how = stopped
	if p.fates[i] != mapped {
		p.fates[i] = blocked
	}
}

// fill gives destination j the value of a claim.
func (p *Plan) fill(j int32, c claim, how how) {
	p.ends[j] = ending{how, c.src, c.rule}
	p.fates[c.src] = mapped
}
