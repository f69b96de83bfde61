package migrate

import (
	"cmp"
	"slices"
	"strings"

	"ckpt/report"
)

// maxAmended is how many corrections of one rule are tried.
const maxAmended = 4

// amend suggests other rules in place of those that cannot work: with another
// path for one that is mistyped, with exact paths for one that is ambiguous.
func (s *suggester) amend() {
	p := s.p
	left := maxUnused
	for k := range p.report.Findings {
		f := &p.report.Findings[k]
		switch f.Code {
		case "rule-unused-from", "rule-unused-to":
			if left--; left >= 0 && !(p.bare && f.Code == "rule-unused-to") {
				s.mend(f)
			}
		case "ambiguous-path":
			s.choices(f)
		}
	}
}

// mend names the paths that a rule which covers nothing may have meant. If one
// alone would do, the rule with it is a fix.
func (s *suggester) mend(f *report.Finding) {
	p := s.p
	isTo := f.Code == "rule-unused-to"
	r := p.blamed(f.Rules[0], isTo)
	if r < 0 {
		return
	}
	ru := &p.rules[r]
	sd, pat := p.old, ru.from
	eligible := func(i int32) bool {
		if ru.moves() && !p.bare {
			return p.fates[i] == unmapped || p.fates[i] == unplaced
		}
		return p.cover.spans[i].n == 0
	}
	if isTo {
		sd, pat = p.new, ru.to
		eligible = func(j int32) bool {
			how := p.ends[j].how
			return how == unfilled || how == preserved && !ru.moves()
		}
	}
	names := sd.near(pat, eligible)
	type fit struct {
		rule  rule
		pairs []pair
	}
	var fits []fit
	rank := make(map[string]int)
	for _, name := range names[:min(len(names), maxAmended)] {
		other := *ru
		path, err := parsePattern(name)
		if err != nil || pat.exact || path.exact || !ru.moves() || ru.create || p.bare {
			break
		}
		if isTo {
			other.to = path
		} else {
			other.from = path
		}
		if pairs := s.amended(r, &other, isTo); len(pairs) > 0 {
			fits = append(fits, fit{other, pairs})
			rank[name] = -1
		}
	}
	slices.SortStableFunc(names, func(a, b string) int { return cmp.Compare(rank[a], rank[b]) })
	f.DidYouMean = names[:min(len(names), maxMeant)]
	if ru.moves() {
		s.meantBy(sd, f.DidYouMean, isTo)
	}
	if len(fits) != 1 {
		return
	}
	for _, q := range fits[0].pairs {
		s.amendedA[q.a], s.amendedB[q.b] = true, true
		s.replace(ru, fits[0].rule, 0, q.a, q.b)
	}
	f.Fix = append(f.Fix, fits[0].rule.text())
}

// blamed is the rule that a finding about one of its fields names, or -1.
func (p *Plan) blamed(ref report.RuleRef, isTo bool) int32 {
	for r := range p.rules {
		ru := &p.rules[r]
		if isTo && ru.to.set() && ru.toRef() == ref || !isTo && ru.from.set() && ru.fromRef() == ref {
			return int32(r)
		}
	}
	return -1
}

// amended is what the other rule would move if it stood in place of rule r. It is
// nothing unless every value that it is about would fill a leaf that fits and
// that nothing else fills.
func (s *suggester) amended(r int32, other *rule, isTo bool) []pair {
	p := s.p
	if other.from.dotted == other.to.dotted {
		return nil
	}
	var pairs []pair
	taken := make(map[int32]bool)
	for i := range p.old.leaves {
		sp := p.cover.spans[i]
		l := &p.old.leaves[i]
		switch {
		case isTo && slices.Contains(p.cover.rulesOf(sp), r):
			if sp.n > 1 || p.fates[i] != unplaced {
				return nil
			}
		case isTo || !startsWith(l.dotted, other.from.dotted) || int(sp.depth) > other.from.depth:
			continue
		case sp.n > 0 || p.fates[i] != unmapped:
			return nil
		}
		j, rivals := p.destination(int32(i), other)
		if j < 0 || len(rivals) > 0 || p.ends[j].how != unfilled || taken[j] || p.old.shared(int32(i)) || !l.addressable() ||
			!s.alike(int32(i), j) || s.amendedA[int32(i)] || s.amendedB[j] {
			return nil
		}
		taken[j] = true
		pairs = append(pairs, pair{int32(i), j})
	}
	return pairs
}

// startsWith reports whether a dotted path is at or under another one.
func startsWith(dotted, prefix string) bool {
	rest, ok := strings.CutPrefix(dotted, prefix)
	return ok && (rest == "" || rest[0] == '.')
}

// meantBy notes the leaves that a mistyped rule was probably meant for: to give
// them up is not what is wanted.
func (s *suggester) meantBy(sd *side, names []string, isTo bool) {
	set := s.spokenA
	if isTo {
		set = s.spokenB
	}
	for i := range sd.leaves {
		for _, name := range names {
			if startsWith(sd.leaves[i].dotted, name) {
				set[int32(i)] = true
			}
		}
	}
}

// choices suggests the exact forms of an ambiguous path, of which the user is to
// choose one.
func (s *suggester) choices(f *report.Finding) {
	p := s.p
	isTo := strings.HasPrefix(f.Rules[0].Text, "to_path ")
	r := p.blamed(f.Rules[0], isTo)
	if r < 0 {
		return
	}
	ru := &p.rules[r]
	places := append([]report.Place{f.A}, f.More...)
	pat := ru.from
	if isTo {
		places[0], pat = f.B, ru.to
	}
	var rules []rule
	for _, pl := range places {
		if pl.None() || !pl.Path.Addressable() {
			continue
		}
		head, rest := cut(pl.Path, pat.depth)
		if strings.HasPrefix(rest, ".") {
			return // the path ends inside a key: there is no exact form
		}
		path, err := parsePattern(orElse(head, "[") + "]")
		if err != nil || !isText(path.text) {
			return
		}
		other := *ru
		if isTo {
			other.to = path
		} else {
			other.from = path
		}
		if !other.create && other.from.same(other.to) ||
			slices.ContainsFunc(rules, func(x rule) bool { return x.text() == other.text() }) {
			continue
		}
		rules = append(rules, other)
	}
	if len(rules) < 2 {
		return
	}
	for _, other := range rules {
		s.replace(ru, other, len(rules), -1, -1)
		f.Fix = append(f.Fix, other.text())
	}
}

// replace notes a rule that is to stand in place of another one.
func (s *suggester) replace(ru *rule, other rule, choices int, a, b int32) {
	effect := report.Move
	switch {
	case other.create:
		effect = report.Create
	case !other.to.set():
		effect = report.Drop
	case !other.from.set():
		effect = report.Keep
	}
	f := s.rules[s.fix(other.from.text, other.to.text, effect, a, b)]
	f.Replaces, f.Choices = &ru.pos, choices
}
