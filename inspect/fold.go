package inspect

import (
	"hash/maphash"
	"slices"
	"strconv"
	"strings"

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
	alike, n := o.alike()
	rows := make([]*row, 0, len(o.lines)-n)
	lines := make([]*line, 0, n)
	items := make([]report.Item, 0, n)
	for i, l := range o.lines {
		if alike[i] {
			lines = append(lines, l)
			items = append(items, report.Item{Name: l.name, Other: l.alias, Same: l.same()})
		} else {
			rows = append(rows, newRow(l))
		}
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

// same is all that must be equal for lines to fold, besides their names.
func (l *line) same() string {
	s := strconv.AppendUint(nil, l.context, 36)
	s = strconv.AppendUint(append(s, '\n'), l.content, 36)
	return string(append(append(append(s, '\n'), l.what...), l.tie...))
}

// alike finds the lines that may fold with another one: those of which there
// are several when numbers in names are left aside. To sort out the others here
// is much cheaper than folding them.
func (o *outline) alike() (found []bool, n int) {
	keys := make([]uint64, len(o.lines))
	times := make(map[uint64]int32, len(o.lines))
	var h maphash.Hash
	h.SetSeed(o.seed)
	for i, l := range o.lines {
		if l.exam != nil {
			continue // has a line of its own
		}
		h.Reset()
		maphash.WriteComparable(&h, [2]uint64{l.context, l.content})
		h.WriteString(l.what)
		h.WriteString(l.tie)
		writeTemplate(&h, l.name)
		keys[i] = h.Sum64()
		times[keys[i]]++
	}
	found = make([]bool, len(o.lines))
	for i, l := range o.lines {
		if l.exam == nil && times[keys[i]] > 1 {
			found[i] = true
			n++
		}
	}
	return found, n
}

// writeTemplate writes a name without its integer keys.
func writeTemplate(h *maphash.Hash, name string) {
	start := 0
	for i := 0; i < len(name); {
		end := i
		for end < len(name) && name[end] >= '0' && name[end] <= '9' {
			end++
		}
		if end > i && (i == 0 || strings.IndexByte(keyBegin, name[i-1]) >= 0) && (end == len(name) || strings.IndexByte(keyEnd, name[end]) >= 0) {
			h.WriteString(name[start:i])
			h.WriteByte(0)
			start = end
		}
		i = end + 1
	}
	h.WriteString(name[start:])
}

// keyBegin and keyEnd are what stands around a key in a dotted or exact path.
const (
	keyBegin = ".,[\"\n"
	keyEnd   = ".,]\"\\\n"
)
