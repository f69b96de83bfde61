package migrate

import (
	"cmp"
	"slices"
	"strings"

	"ckpt/pytree"
)

// maxUnused is how many rules that cover nothing get did-you-mean names; where
// there are more, the file is for other checkpoints altogether.
const maxUnused = 16

// near looks for paths with a typing error in the first component that does not
// exist, and for the path further down the tree; the nearest come first. Only the
// paths of eligible leaves are candidates.
func (s *side) near(pat pattern, eligible func(i int32) bool) []string {
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
		if !eligible(int32(i)) {
			continue
		}
		if len(parts) > known && l.common(comps) == known && !seen[parts[known]] && len(seen) < 4096 {
			seen[parts[known]] = true
			if d, ok := typo(parts[known], missing); ok {
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
	for _, c := range found[:min(len(found), maxAmended)] {
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

// typo is the distance of two words, and whether one may be a slip for the other:
// few letters differ, and fewer than there are.
func typo(a, b string) (int, bool) {
	d := distance(a, b)
	return d, d <= max(1, max(len(a), len(b))/3) && d < min(len(a), len(b))
}

// distance is how many letters must be put in, taken out, replaced or swapped
// with their neighbour to make one word of the other. Long words are compared by
// their first 64 bytes.
func distance(a, b string) int {
	a, b = a[:min(len(a), 64)], b[:min(len(b), 64)]
	var before []int
	row := make([]int, len(b)+1)
	for j := range row {
		row[j] = j
	}
	for i := range len(a) {
		next := make([]int, len(b)+1)
		next[0] = i + 1
		for j := range len(b) {
			cost := 1
			if a[i] == b[j] {
				cost = 0
			}
			next[j+1] = min(row[j]+cost, next[j]+1, row[j+1]+1)
			if i > 0 && j > 0 && a[i] == b[j-1] && a[i-1] == b[j] {
				next[j+1] = min(next[j+1], before[j-1]+1)
			}
		}
		before, row = row, next
	}
	return row[len(b)]
}
