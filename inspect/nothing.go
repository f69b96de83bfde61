package inspect

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"ckpt/formats"
	"ckpt/pytree"
)

// nothing is the error for a query that selects no entry of a tree, with a word
// on what may have been meant.
func (q *Query) nothing(t *pytree.Tree) error {
	if q.opt.At != "" {
		any := Query{opt: Options{At: q.opt.At}, at: q.at, exact: q.exact}
		found := false
		for p := range t.Entries() {
			if found = any.below(p, p.Dotted()); found {
				break
			}
		}
		if !found {
			err := fmt.Errorf("%s: there is no such path: %w", pytree.Printable(q.opt.At), ErrNothing)
			if near := nearNames(t, q.at); near != "" {
				err = formats.WithHint(err, "did you mean %s?", near)
			}
			return err
		}
	}
	err := fmt.Errorf("no entry matches %s: %w", pytree.Printable(q.opt.Match), ErrNothing)
	if strings.Contains(q.opt.Match, "*") {
		err = formats.WithHint(err, "the pattern must match the whole name; * ends at a dot, ** does not")
	}
	return err
}

// mostNear is how many keys are considered for a suggestion.
const mostNear = 10_000

// nearNames suggests what may have been meant by a dotted name: it follows the
// name as far as the tree does, and picks the keys there that are spelt most
// like the next one.
func nearNames(t *pytree.Tree, name string) string {
	depth := -1
	var stem string
	var keys []string
	seen := make(map[string]bool)
	for p := range t.Entries() {
		have := p.Dotted()
		n := commonBoundary(have, name)
		if n < depth || n == depth && len(keys) == mostNear {
			continue
		}
		if n > depth {
			depth, stem, keys = n, name[:n], keys[:0]
			clear(seen)
		}
		key, _, _ := strings.Cut(have[n:], ".")
		if !seen[key] && key != "" {
			seen[key] = true
			keys = append(keys, key)
		}
	}
	wrong, _, _ := strings.Cut(name[len(stem):], ".")
	type near struct {
		key  string
		cost int
	}
	var best []near
	for _, k := range keys {
		if len(k) > 4*len(wrong)+8 {
			continue
		}
		if c := distance(k, wrong); c <= max(2, len(wrong)/3) {
			best = append(best, near{k, c})
		}
	}
	slices.SortStableFunc(best, func(a, b near) int { return cmp.Compare(a.cost, b.cost) })
	var names []string
	for _, b := range best[:min(3, len(best))] {
		names = append(names, pytree.Printable(stem+b.key))
	}
	return strings.Join(names, " or ")
}

// commonBoundary is the length of the longest common prefix of two dotted names
// that ends behind a dot.
func commonBoundary(a, b string) int {
	end := 0
	for i := 0; i < len(a) && i < len(b) && a[i] == b[i]; i++ {
		if a[i] == '.' {
			end = i + 1
		}
	}
	return end
}

// distance is the Levenshtein distance of two texts in bytes.
func distance(a, b string) int {
	row := make([]int, len(b)+1)
	for j := range row {
		row[j] = j
	}
	for i := range len(a) {
		above := row[0]
		row[0] = i + 1
		for j := range len(b) {
			swap := above
			if a[i] != b[j] {
				swap++
			}
			above = row[j+1]
			row[j+1] = min(swap, above+1, row[j]+1)
		}
	}
	return row[len(b)]
}
