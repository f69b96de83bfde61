package migrate

import (
	"cmp"
	"slices"
	"strings"

	"ckpt/pytree"
	"ckpt/report"
)

// maxUnused is how many rules that cover nothing get did-you-mean names; where
// there are more, the file is for other checkpoints altogether.
const maxUnused = 16

// suggestNames adds to rules that cover nothing the paths that may have been
// meant.
func (p *Plan) suggestNames() {
	left := maxUnused
	for i := range p.report.Findings {
		f := &p.report.Findings[i]
		if len(f.Rules) == 0 || left == 0 {
			continue
		}
		switch f.Code {
		case "rule-unused-from":
			f.DidYouMean = p.near(p.old, f.Rules[0], fromOf)
		case "rule-unused-to":
			if !p.bare {
				f.DidYouMean = p.near(p.new, f.Rules[0], toOf)
			}
		default:
			continue
		}
		left--
	}
}

// near finds the paths of a side that are most like the one in a rule.
func (p *Plan) near(s *side, ref report.RuleRef, pick func(*rule) pattern) []string {
	for r := range p.rules {
		ru := &p.rules[r]
		pat := pick(ru)
		if pat.set() && (ru.fromRef() == ref || ru.toRef() == ref) {
			return s.near(pat)
		}
	}
	return nil
}

// near looks for paths with a typing error in the first component that does not
// exist, and for the path further down the tree.
func (s *side) near(pat pattern) []string {
	comps := strings.Split(pat.dotted, ".")
	// How much of the path exists, and what could come next.
	known := 0
	for i := range s.leaves {
		known = max(known, s.leaves[i].common(comps))
	}
	if known == len(comps) {
		return s.otherForms(pat)
	}
	missing := comps[known]
	type candidate struct {
		path string
		cost int
	}
	var found []candidate
	seen := make(map[string]bool)
	for i := range s.leaves {
		l := &s.leaves[i]
		parts := strings.SplitN(l.dotted, ".", len(comps)+1)
		if len(parts) > known && l.common(comps) == known && !seen[parts[known]] && len(seen) < 4096 {
			seen[parts[known]] = true
			if d := distance(parts[known], missing); d <= max(1, len(missing)/3) {
				path := strings.Join(append(slices.Clone(comps[:known]), parts[known]), ".")
				if known+1 < len(comps) {
					path += "." + strings.Join(comps[known+1:], ".")
				}
				found = append(found, candidate{path, d})
			}
		}
		if at := strings.Index(l.dotted, "."+pat.dotted); at > 0 && len(found) < 4096 {
			end := at + 1 + len(pat.dotted)
			if (end == len(l.dotted) || l.dotted[end] == '.') && !seen["."+l.dotted[:end]] {
				seen["."+l.dotted[:end]] = true
				found = append(found, candidate{l.dotted[:end], 0})
			}
		}
	}
	slices.SortFunc(found, func(a, b candidate) int {
		return cmp.Or(cmp.Compare(a.cost, b.cost), pytree.NaturalCompare(a.path, b.path))
	})
	var names []string
	for _, c := range found[:min(len(found), maxMeant)] {
		names = append(names, c.path)
	}
	return names
}

// otherForms lists exact paths that read like an exact pattern but have other
// types of keys.
func (s *side) otherForms(pat pattern) []string {
	var names []string
	for i := range s.leaves {
		l := &s.leaves[i]
		if l.common(strings.Split(pat.dotted, ".")) < pat.depth || l.limit < pat.depth {
			continue
		}
		head, rest := cut(l.path, pat.depth)
		if strings.HasPrefix(rest, ".") {
			head += `"`
		}
		if head += "]"; !slices.Contains(names, head) {
			names = append(names, head)
		}
		if len(names) == maxMeant {
			break
		}
	}
	return names
}

// common is how many components a leaf's path begins with.
func (l *leaf) common(comps []string) int {
	rest := l.dotted
	for n, c := range comps {
		part, after, more := strings.Cut(rest, ".")
		if part != c {
			return n
		}
		if !more {
			return n + 1
		}
		rest = after
	}
	return len(comps)
}

// distance is how many letters must be put in, taken out or replaced to make
// one word of the other. Long words are compared by their first 64 bytes.
func distance(a, b string) int {
	a, b = a[:min(len(a), 64)], b[:min(len(b), 64)]
	row := make([]int, len(b)+1)
	for j := range row {
		row[j] = j
	}
	for i := range len(a) {
		diagonal := row[0]
		row[0] = i + 1
		for j := range len(b) {
			cost := 1
			if a[i] == b[j] {
				cost = 0
			}
			diagonal, row[j+1] = row[j+1], min(diagonal+cost, row[j]+1, row[j+1]+1)
		}
	}
	return row[len(b)]
}
