package report

import (
	"bufio"
	"fmt"
	"strings"

	"ckpt/pytree"
)

// minName is how narrow names may become: less of one tells nothing.
const minName = 30

// writeFindings prints the tables of findings: those about leaves, then those
// about rules.
func (r *Report) writeFindings(w *bufio.Writer, opt TextOptions) error {
	var leaves, rules []*Finding
	width := len("STATUS")
	for i := range r.Findings {
		f := &r.Findings[i]
		if f.name() == "" {
			rules = append(rules, f)
		} else {
			leaves = append(leaves, f)
		}
		width = max(width, len(f.Code))
	}
	if len(leaves) > 0 {
		fmt.Fprintln(w)
		t := Table{Head: []string{pad("STATUS", width), "TENSOR", "A", "B"}, Flex: []int{1, 4}, Least: minName, Under: true}
		style(&t, leafRows(&t, leaves), opt)
		if err := t.Write(w, opt.Width); err != nil {
			return err
		}
	}
	if len(rules) > 0 {
		fmt.Fprintln(w)
		t := Table{Head: []string{pad("STATUS", width), "RULE"}, Flex: []int{3, 2}, Least: minName, Under: true}
		style(&t, ruleRows(&t, rules), opt)
		return t.Write(w, opt.Width)
	}
	return nil
}

// style colours the first column by severity.
func style(t *Table, severities []Severity, opt TextOptions) {
	if !opt.Color {
		return
	}
	t.Style = func(row, col int, cell string) string {
		switch {
		case col != 0:
			return cell
		case severities[row] == Error:
			return "\x1b[31m" + cell + "\x1b[0m"
		}
		return "\x1b[33m" + cell + "\x1b[0m"
	}
}

func pad(s string, width int) string { return s + strings.Repeat(" ", max(0, width-len(s))) }

// leafRows folds findings about leaves and adds a row for each group. It gives
// the severity of each row.
func leafRows(t *Table, findings []*Finding) (severities []Severity) {
	// Findings come sorted by code; each code is folded by itself.
	for start := 0; start < len(findings); {
		end := start
		for end < len(findings) && findings[end].Code == findings[start].Code {
			end++
		}
		part := findings[start:end]
		start = end
		items := make([]Item, len(part))
		for i, f := range part {
			items[i] = f.item()
		}
		for _, g := range Collapse(items) {
			f := part[g.Members[0]]
			name := g.Name
			if n := len(g.Members); n > 1 {
				name += fmt.Sprintf(" ×%d", n)
			}
			t.Add(f.Code, name, describe(f.A), describe(f.B), f.notes(g.Other, blamed(part, g.Members)))
			severities = append(severities, f.Severity)
		}
	}
	return severities
}

func describe(p Place) string { return Describe(p.Node) }

// item is what of a finding must be equal for it to fold with others. The rules
// to blame need not be: a rule for each layer is one cause.
func (f *Finding) item() Item {
	labels, others := f.others()
	return Item{
		Name:  f.name(),
		Other: strings.Join(others, "\n"),
		Same:  strings.Join(append(labels, string(f.Severity), describe(f.A), describe(f.B), f.Detail), "\n"),
	}
}

// others lists the further names that a row mentions, each with a word before.
func (f *Finding) others() (labels, names []string) {
	if !f.A.None() && !f.B.None() && f.A.Name() != f.B.Name() {
		labels, names = append(labels, "from "), append(names, f.A.Name())
	}
	for _, p := range f.More {
		labels, names = append(labels, moreLabel(f.Code)), append(names, p.Name())
	}
	for _, d := range f.DidYouMean {
		labels, names = append(labels, didYouMean), append(names, d)
	}
	for i, name := range names {
		names[i] = pytree.Printable(name) // so that none holds a line end
	}
	return labels, names
}

// moreLabel says what the further places of a finding are.
func moreLabel(code string) string {
	switch code {
	case "destination-collision":
		return "from "
	case "tie-mismatch":
		return "with "
	}
	return "or "
}

// joiner is what stands between several names under one label.
func joiner(label string) string {
	if label == "or " || label == didYouMean {
		return " or "
	}
	return " and "
}

const didYouMean = "did you mean "

// notes is the last cell of a row.
func (f *Finding) notes(other, rules string) string {
	var notes []string
	if f.Detail != "" {
		notes = append(notes, f.Detail)
	}
	labels, _ := f.others()
	if len(labels) > 0 {
		for i, name := range strings.Split(other, "\n") {
			switch {
			case i >= len(labels):
			case i > 0 && labels[i] == labels[i-1]:
				notes[len(notes)-1] += joiner(labels[i]) + name
			default:
				notes = append(notes, labels[i]+name)
			}
		}
	}
	if rules != "" {
		notes = append(notes, rules)
	}
	return strings.Join(notes, "; ")
}

// blamed names the rules to blame for a group: two of them at most.
func blamed(findings []*Finding, members []int) string {
	var names []string
	more := 0
	seen := make(map[Position]bool)
	for _, m := range members {
		for _, r := range findings[m].Rules {
			switch {
			case seen[r.Position]:
			case len(names) < 2:
				names = append(names, r.Position.String())
			default:
				more++
			}
			seen[r.Position] = true
		}
	}
	if more > 0 {
		return fmt.Sprintf("%s and %d more rules", strings.Join(names, ", "), more)
	}
	return strings.Join(names, ", ")
}

// ruleRows adds a row for each finding about rules.
func ruleRows(t *Table, findings []*Finding) (severities []Severity) {
	for _, f := range findings {
		position, text := "", ""
		if len(f.Rules) > 0 {
			position, text = f.Rules[0].Position.String(), f.Rules[0].Text
		}
		notes := []string{}
		if f.Detail != "" {
			notes = append(notes, f.Detail)
		}
		if len(f.DidYouMean) > 0 {
			notes = append(notes, didYouMean+strings.Join(f.DidYouMean, " or "))
		}
		t.Add(f.Code, position, text, strings.Join(notes, "; "))
		severities = append(severities, f.Severity)
	}
	return severities
}
