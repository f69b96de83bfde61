package inspect

import (
	"cmp"
	"slices"
	"strconv"
	"strings"
)

// nest puts every row under the nearest heading whose name its own begins with,
// in file order; siblings that are numbered are put in the order of the numbers.
func nest(rows []*row) *row {
	slices.SortStableFunc(rows, func(a, b *row) int {
		return cmp.Or(cmp.Compare(a.seq, b.seq), cmp.Compare(a.level, b.level))
	})
	headings := make(map[string]*row)
	for _, w := range rows {
		if w.heading {
			headings[w.name] = w
		}
	}
	root := &row{line: new(line)}
	for _, w := range rows {
		above := root
		w.local = w.name
		for end := strings.LastIndexByte(w.name, '.'); end >= 0; end = strings.LastIndexByte(w.name[:end], '.') {
			if h := headings[w.name[:end]]; h != nil && h != w {
				above, w.local = h, w.name[end+1:]
				break
			}
		}
		above.children = append(above.children, w)
	}
	root.tidy()
	return root
}

// tidy joins plain headings with their only child, and orders numbered children.
func (w *row) tidy() {
	for i, c := range w.children {
		c.tidy()
		if c.heading && len(c.children) == 1 && c.plain && c.children[0].times == c.times {
			only := c.children[0]
			only.local = c.local + "." + only.local
			w.children[i] = only
		}
	}
	numbers := make(map[*row]int, len(w.children))
	for _, c := range w.children {
		n, ok := leadingInt(c.local)
		if !ok {
			return
		}
		numbers[c] = n
	}
	slices.SortStableFunc(w.children, func(a, b *row) int { return cmp.Compare(numbers[a], numbers[b]) })
}

// leadingInt is the first integer of a name that begins with integer keys.
func leadingInt(name string) (int, bool) {
	name = strings.TrimPrefix(name, "{")
	end := 0
	for end < len(name) && name[end] >= '0' && name[end] <= '9' {
		end++
	}
	n, err := strconv.Atoi(name[:end])
	return n, err == nil
}

// each visits the rows below w in order, with how deep they are.
func (w *row) each(depth int, visit func(depth int, w *row)) {
	for _, c := range w.children {
		visit(depth, c)
		c.each(depth+1, visit)
	}
}
