package report

import (
	"bufio"
	"io"
	"slices"
	"strings"

	"github.com/rivo/uniseg"

	"ckpt/pytree"
)

// Table lays out rows in columns. Widths count what a terminal shows: wide
// characters as two, combining ones as none. Cells are made safe to print
// ([pytree.Printable]) as they are added.
type Table struct {
	// Head is the column titles; none means no title line.
	Head []string
	// Right marks the columns that are set flush right.
	Right []bool
	// Indent is put before every line.
	Indent string
	// Flex is the columns that give way, first one first, where a line would be
	// wider than the terminal; what does not fit is shortened in the middle.
	Flex []int
	// Least is how narrow those columns may become; 0 means as much as fits a word.
	Least int
	// Under allows the last column to go under its row, on a line of its own, where
	// a line would be wider than the terminal.
	Under bool
	// Style, if set, decorates a finished cell, such as with colour. It must not
	// change the cell's width.
	Style func(row, col int, cell string) string

	rows [][]string
}

// Add appends a row.
func (t *Table) Add(cells ...string) {
	row := make([]string, len(cells))
	for i, c := range cells {
		row[i] = pytree.Printable(c)
	}
	t.rows = append(t.rows, row)
}

// Len is the number of rows.
func (t *Table) Len() int { return len(t.rows) }

// gap is what stands between columns.
const gap = "  "

// minFlex is how narrow a column may become.
const minFlex = 16

// under is the indent of cells that go under their row.
const under = "    "

// Write prints the table within width columns; a width of 0 or less sets no
// bound. No line ends in a space.
func (t *Table) Write(w io.Writer, width int) error {
	lines := t.rows
	if len(t.Head) > 0 {
		lines = append([][]string{t.Head}, t.rows...)
	}
	var below []string
	if last := len(lines) - 1; t.Under && width > 0 && last >= 0 && over(t.Indent, measure(lines), width) > 0 {
		lines, below = takeLast(lines)
	}
	widths := t.widths(lines, width)
	out := bufio.NewWriter(w)
	for i, row := range lines {
		out.WriteString(t.Indent)
		pending := 0 // spaces owed before the next text, so that none trail
		for c, cell := range row {
			if c > 0 {
				pending += len(gap)
			}
			cell = Shorten(cell, widths[c])
			pad := widths[c] - Width(cell)
			if cell == "" {
				pending += pad
				continue
			}
			if t.right(c) {
				pending, pad = pending+pad, 0
			}
			out.WriteString(strings.Repeat(" ", pending))
			if t.Style != nil && (len(t.Head) == 0 || i > 0) {
				cell = t.Style(i-min(len(t.Head), 1), c, cell)
			}
			out.WriteString(cell)
			pending = pad
		}
		out.WriteByte('\n')
		if below != nil && below[i] != "" {
			out.WriteString(t.Indent + under + below[i] + "\n")
		}
	}
	return out.Flush()
}

func (t *Table) right(c int) bool { return c < len(t.Right) && t.Right[c] }

// takeLast takes the last column off the rows that have it.
func takeLast(lines [][]string) (rows [][]string, last []string) {
	most := 0
	for _, row := range lines {
		most = max(most, len(row))
	}
	rows, last = slices.Clone(lines), make([]string, len(lines))
	for i, row := range rows {
		if len(row) == most {
			rows[i], last[i] = row[:most-1], row[most-1]
		}
	}
	return rows, last
}

// measure is the columns' widths.
func measure(lines [][]string) (widths []int) {
	for _, row := range lines {
		for c, cell := range row {
			if c == len(widths) {
				widths = append(widths, 0)
			}
			widths[c] = max(widths[c], Width(cell))
		}
	}
	return widths
}

// over is by how much a line is too wide.
func over(indent string, widths []int, width int) int {
	n := len(indent) + len(gap)*(len(widths)-1) - width
	for _, w := range widths {
		n += w
	}
	return n
}

// widths measures the columns and narrows those that may be.
func (t *Table) widths(lines [][]string, width int) []int {
	widths := measure(lines)
	if width <= 0 {
		return widths
	}
	over := over(t.Indent, widths, width)
	least := max(t.Least, minFlex)
	for _, c := range t.Flex {
		if over <= 0 {
			break
		}
		if c < len(widths) && widths[c] > least {
			cut := min(over, widths[c]-least)
			widths[c] -= cut
			over -= cut
		}
	}
	return widths
}

// Width is how many columns of a terminal s takes.
func Width(s string) int {
	for i := range len(s) {
		if s[i] >= 0x80 {
			return uniseg.StringWidth(s)
		}
	}
	return len(s)
}

// Shorten cuts the middle out of s so that it takes at most width columns. The
// ends are what tells names apart.
func Shorten(s string, width int) string {
	if Width(s) <= width {
		return s
	}
	if width <= 1 {
		return "…"
	}
	var clusters []string
	for rest, state := s, -1; rest != ""; {
		var c string
		c, rest, _, state = uniseg.FirstGraphemeClusterInString(rest, state)
		clusters = append(clusters, c)
	}
	left := width - 1
	head, tail := 0, len(clusters)
	for fromTail := true; head < tail; fromTail = !fromTail {
		c := clusters[head]
		if fromTail {
			c = clusters[tail-1]
		}
		if w := Width(c); w > left {
			break
		} else {
			left -= w
		}
		if fromTail {
			tail--
		} else {
			head++
		}
	}
	return strings.Join(clusters[:head], "") + "…" + strings.Join(clusters[tail:], "")
}
