package inspect

import (
	"bufio"
	"fmt"
	"io"
	"math"
	"strconv"
	"strings"

	"ckpt/formats"
	"ckpt/pytree"
	"ckpt/report"
)

// TextOptions is what [Result.WriteText] needs to know.
type TextOptions struct {
	// Width is the terminal's; 0 means no bound.
	Width int
	// Color allows colour.
	Color bool
}

// Heading says what a file is, in cells: what kind, how big, how many tensors
// and parameters.
func Heading(c *formats.Checkpoint, t Totals) []string {
	return []string{
		c.Title, Size(uint64(c.Size)), report.Plural(t.Tensors, "tensor", "tensors"),
		parametersText(t.Parameters),
	}
}

func parametersText(n uint64) string {
	if n == 1 {
		return "1 parameter"
	}
	return Count(n) + " parameters"
}

// WriteText prints the result for people: a line on the file, then its tree.
// Sizes and parameters of a row are those of all the entries that it stands for.
func (r *Result) WriteText(w io.Writer, opt TextOptions) error {
	out := bufio.NewWriter(w)
	title := report.Table{Flex: []int{0}}
	title.Add(append([]string{r.File}, Heading(r.Checkpoint, r.Total)...)...)
	if err := title.Write(out, opt.Width); err != nil {
		return err
	}
	r.writeSelected(out)
	if c, ok := r.Checkpoint.Tree.Root.(*pytree.Container); ok && len(c.Entries) > 0 && (!c.Plain() || len(c.Attrs) > 0) {
		fmt.Fprintf(out, "root: %s\n", pytree.Printable(withAttrs(c)))
	}
	lines, err := r.writeTree(out, opt)
	if err != nil {
		return err
	}
	r.writeNotes(out, lines)
	return out.Flush()
}

func (r *Result) writeSelected(w io.Writer) {
	if r.q.all() {
		return
	}
	fmt.Fprintf(w, "selected: %d of %s, %s of %s (%s)\n", r.Selected.Tensors, report.Plural(r.Total.Tensors, "tensor", "tensors"),
		Count(r.Selected.Parameters), parametersText(r.Total.Parameters), report.Percent(r.Selected.Parameters, r.Total.Parameters))
}

// folded is how many rows stand for how many entries.
type folded struct{ rows, entries int }

// writeTree prints the rows.
func (r *Result) writeTree(w io.Writer, opt TextOptions) (n folded, err error) {
	o, err := newOutline(r)
	if err != nil {
		return n, err
	}
	t := r.table()
	if opt.Color {
		t.Style = func(_, col int, cell string) string {
			if col == 0 {
				return cell
			}
			return "\x1b[2m" + cell + "\x1b[0m"
		}
	}
	if r.q.opt.Full {
		for _, l := range o.lines {
			t.Add(r.cells(l.name, newRow(l))...)
		}
	} else {
		nest(o.fold()).each(0, func(depth int, x *row) {
			t.Add(r.cells(strings.Repeat("  ", depth)+localName(x.local), x)...)
			if !x.heading {
				n.rows++
				n.entries += x.entries
			}
		})
	}
	fmt.Fprintln(w)
	return n, t.Write(w, opt.Width)
}

// localName is a name that can be seen even where it is empty or blank.
func localName(s string) string {
	if s == "" || s != strings.TrimSpace(s) {
		return `"` + s + `"`
	}
	return s
}

// table makes the columns.
func (r *Result) table() *report.Table {
	t := &report.Table{Head: []string{"NAME", "TYPE"}, Flex: []int{1, 0}}
	add := func(right bool, names ...string) {
		for _, n := range names {
			for len(t.Right) < len(t.Head) {
				t.Right = append(t.Right, false)
			}
			t.Head, t.Right = append(t.Head, n), append(t.Right, right)
		}
	}
	if r.Total.Tensors > 0 {
		add(true, "SIZE", "PARAMETERS", "SHARE")
	}
	if r.exams != nil && r.q.opt.Stats {
		add(true, "MIN", "MAX", "MEAN", "STD", "ZEROS", "NAN", "INF")
	}
	if r.exams != nil && r.q.opt.Digest {
		t.Flex = append([]int{len(t.Head)}, t.Flex...)
		add(false, "DIGEST")
	}
	return t
}

// cells fills a row of the table.
func (r *Result) cells(name string, x *row) []string {
	what := x.what
	if x.times > 1 {
		what += fmt.Sprintf("  ×%d", x.times)
	}
	if x.alias != "" {
		what += "  " + x.tie + x.alias
	}
	cells := []string{name, what}
	if r.Total.Tensors > 0 {
		if x.tensors > 0 && (x.alias == "" || x.count.elements > 0) {
			cells = append(cells, Size(x.count.bytes), Count(x.count.elements), report.Percent(x.count.elements, r.Total.Parameters))
		} else {
			cells = append(cells, "", "", "")
		}
	}
	if r.exams == nil {
		return cells
	}
	if r.q.opt.Stats {
		cells = append(cells, statCells(x.exam)...)
	}
	if r.q.opt.Digest {
		cells = append(cells, digestCell(x.exam))
	}
	return cells
}

func digestCell(x *pytree.Exam) string {
	switch {
	case x == nil:
		return ""
	case x.Err != nil:
		return "not examined: " + x.Err.Error()
	}
	return x.Digest
}

func statCells(x *pytree.Exam) []string {
	cells := make([]string, 7)
	if x != nil && x.Err != nil {
		cells[0] = "not examined: " + x.Err.Error()
	}
	if x == nil || x.Stats == nil {
		return cells
	}
	s := x.Stats
	for i, f := range []float64{s.Min, s.Max, s.Mean, s.Std} {
		if cells[i] = strconv.FormatFloat(f, 'g', 4, 64); math.IsNaN(f) {
			cells[i] = "-" // not of any value: there is none, or none that is finite
		}
	}
	for i, n := range []int64{s.Zeros, s.NaN, s.Inf} {
		cells[4+i] = Count(uint64(n))
	}
	return cells
}

// writeNotes says what the tree does not show.
func (r *Result) writeNotes(w io.Writer, n folded) {
	if n.rows < n.entries || r.Unreferenced > 0 || len(r.Checkpoint.Notes) > 0 {
		fmt.Fprintln(w)
	}
	if n.rows < n.entries {
		more := "`--full` lists each"
		if r.q.opt.Depth > 0 {
			more = "without `--depth` there is more to see"
		}
		fmt.Fprintf(w, "%s for %d entries; %s\n", report.Plural(n.rows, "line stands", "lines stand"), n.entries, more)
	}
	if r.Unreferenced > 0 {
		fmt.Fprintf(w, "%s that no tensor refers to", report.Plural(int(r.Unreferenced), "stored byte", "stored bytes"))
		if r.Unreferenced >= 1024 {
			fmt.Fprintf(w, " (%s)", Size(uint64(r.Unreferenced)))
		}
		fmt.Fprintln(w)
	}
	for _, note := range r.Checkpoint.Notes {
		fmt.Fprintf(w, "note: %s\n", pytree.Printable(note))
	}
}
