package inspect

import (
	"slices"
	"strconv"

	"ckpt/report"
)

// row is a line of the text form: one or several lines of the outline.
type row struct {
	*line    // the first of them
	name     string
	alias    string
	times    int
	tensors  int
	entries  int
	count    count
	local    string // the name without that of the heading above
	children []*row
}

func newRow(l *line) *row {
	return &row{line: l, name: l.name, alias: l.alias, times: 1, tensors: l.tensors, entries: l.entries, count: l.count}
}

// add lets the row stand for a further line, which is later in the file.
func (w *row) add(l *line) {
	w.times++
	w.tensors += l.tensors
	w.entries += l.entries
	w.count.elements = addCapped(w.count.elements, l.count.elements)
	w.count.bytes = addCapped(w.count.bytes, l.count.bytes)
}

// fold makes one row of all lines that differ in integer keys only. Those under
// headings fold only together with their headings, which fold only if all below
// them is alike: what is under a folded heading is true of each that it stands
// for.
func (o *outline) fold() []*row {
	var rows []*row
	var lines []*line
	var items []report.Item
	var same []byte
	for _, l := range o.lines {
		if l.exam != nil || !hasDigit(l.name) {
			rows = append(rows, newRow(l))
			continue
		}
		same = strconv.AppendUint(same[:0], l.context, 36)
		same = strconv.AppendUint(append(same, '\n'), l.content, 36)
		same = append(append(same, '\n'), l.what...)
		same = append(same, l.tie...)
		lines = append(lines, l)
		items = append(items, report.Item{Name: l.name, Other: l.alias, Same: string(same)})
	}
	for _, g := range report.Collapse(items) {
		// The members are in the order of their names, rows begin in that of the file.
		slices.Sort(g.Members)
		w := newRow(lines[g.Members[0]])
		w.name, w.alias = g.Name, g.Other
		for _, m := range g.Members[1:] {
			w.add(lines[m])
		}
		rows = append(rows, w)
	}
	return rows
}

func hasDigit(s string) bool {
	for i := range len(s) {
		if s[i] >= '0' && s[i] <= '9' {
			return true
		}
	}
	return false
}
