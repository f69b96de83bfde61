package report

import (
	"bufio"
	"fmt"
	"io"
	"slices"
	"strings"

	"ckpt/pytree"
)

// TextOptions is what [Report.WriteText] needs to know.
type TextOptions struct {
	// Width is the terminal's; 0 means no bound.
	Width int
	// Color allows colour.
	Color bool
	// A and B say what the operands are, in cells: format, size, counts. Their
	// names come from the report.
	A, B []string
	// Again is the command that repeats the check, for the hint.
	Again string
}

// WriteText prints the report for people: the operands, the verdict and the
// counts, a table of findings folded where they differ in integer keys only,
// what follows from each status shown, the rules that would help, and what to
// do next.
func (r *Report) WriteText(w io.Writer, opt TextOptions) error {
	out := bufio.NewWriter(w)
	if err := r.writeHeader(out, opt); err != nil {
		return err
	}
	if len(r.Findings) > 0 {
		if err := r.writeFindings(out, opt); err != nil {
			return err
		}
		r.writeConsequences(out)
		r.writeFixes(out)
		r.writeHints(out, opt)
	}
	return out.Flush()
}

func (r *Report) writeHeader(w *bufio.Writer, opt TextOptions) error {
	var t Table
	t.Add(append([]string{"A", r.A.Name}, opt.A...)...)
	if r.B.Name != "" {
		t.Add(append([]string{"B", r.B.Name}, opt.B...)...)
	}
	if err := t.Write(w, 0); err != nil {
		return err
	}
	switch {
	case r.Rules == nil:
	case r.Unplanned:
		fmt.Fprintf(w, "rules  %s\n", pytree.Printable(r.Rules.File))
	default:
		fmt.Fprintf(w, "rules  %s  %s, %d used\n", pytree.Printable(r.Rules.File), Plural(r.Rules.Total, "rule", "rules"), r.Rules.Used)
	}
	verdict := strings.ToUpper(strings.ReplaceAll(string(r.Verdict()), "-", " "))
	if opt.Color {
		verdict = paint(verdict, r.Verdict() != Compatible)
	}
	fmt.Fprintf(w, "\n%s", verdict)
	if r.Unplanned {
		fmt.Fprintln(w, "  the rules cannot be read")
		return nil
	}
	if counts := r.Findings.counts(); counts != "" {
		fmt.Fprintf(w, "  %s", counts)
	}
	fmt.Fprintf(w, "   A: %s", r.A.share(" of parameters", "mapped", "dropped"))
	if r.B.Name != "" {
		fmt.Fprintf(w, "   B: %s", r.B.share("", "filled", "kept"))
	}
	fmt.Fprintln(w)
	return nil
}

// counts is "4 errors, 1 warning".
func (fs Findings) counts() string {
	var parts []string
	if n := fs.Count(Error); n > 0 {
		parts = append(parts, Plural(n, "error", "errors"))
	}
	if n := fs.Count(Warning); n > 0 {
		parts = append(parts, Plural(n, "warning", "warnings"))
	}
	return strings.Join(parts, ", ")
}

// share says how much of a side is done, of its parameters where it has any.
func (s *Side) share(unit, done, waived string) string {
	if s.Total.Leaves == 0 {
		return "no leaves"
	}
	if s.Total.Parameters == 0 {
		text := fmt.Sprintf("%d of %s %s", s.Done.Leaves, Plural(s.Total.Leaves, "leaf", "leaves"), done)
		if s.Waived.Leaves > 0 {
			text += fmt.Sprintf(", %d %s", s.Waived.Leaves, waived)
		}
		return text + s.replaced()
	}
	text := Percent(s.Done.Parameters, s.Total.Parameters) + unit + " " + done
	if s.Waived.Parameters > 0 {
		text += ", " + Percent(s.Waived.Parameters, s.Total.Parameters) + " " + waived
	}
	return text + s.replaced()
}

// replaced says how much of a side is gone. However little that is, it is said.
func (s *Side) replaced() string {
	switch {
	case s.Replaced.Leaves == 0:
		return ""
	case s.Replaced.Parameters == 0:
		return ", " + Plural(s.Replaced.Leaves, "leaf", "leaves") + " replaced"
	}
	return ", " + Percent(s.Replaced.Parameters, s.Total.Parameters) + " replaced"
}

// writeConsequences says once for each status what follows from it.
func (r *Report) writeConsequences(w *bufio.Writer) {
	fmt.Fprintln(w)
	for _, code := range Codes() {
		if slices.ContainsFunc(r.Findings, func(f Finding) bool { return f.Code == code }) {
			text := Consequence(code)
			if r.B.Name == "" {
				text = consequenceAlone(code)
			}
			fmt.Fprintf(w, "%s: %s.\n", code, text)
		}
	}
}

// writeFixes prints the rules to add, one for each group of those alike.
func (r *Report) writeFixes(w *bufio.Writer) {
	if len(r.Fixes) == 0 {
		return
	}
	items := make([]Item, len(r.Fixes))
	for i, f := range r.Fixes {
		items[i] = Item{Name: f.From, Other: f.To, Same: fmt.Sprint(f.Effect, f.Guess, f.Choices, f.Replaces)}
		if f.From == "" {
			items[i].Name, items[i].Other = f.To, ""
		}
	}
	fmt.Fprintln(w)
	for _, g := range Collapse(items) {
		f := r.Fixes[g.Members[0]]
		leaves := 0
		for _, m := range g.Members {
			leaves += r.Fixes[m].Leaves
		}
		var notes []string
		if f.Replaces != nil {
			notes = append(notes, "in place of the rule at "+f.Replaces.String())
		}
		if f.Choices > 0 {
			notes = append(notes, fmt.Sprintf("one of %d to choose from", f.Choices))
		}
		if f.Guess {
			notes = append(notes, "a guess: only shape and dtype agree")
		}
		if n := len(g.Members) - 1; n > 0 {
			notes = append(notes, fmt.Sprintf("and %d more alike", n))
		}
		switch f.Effect {
		case Drop:
			notes = append(notes, "drops "+Plural(leaves, "leaf of A", "leaves of A"))
		case Keep:
			notes = append(notes, "keeps "+Plural(leaves, "leaf of B", "leaves of B")+" as initialised")
		case Create:
			notes = append(notes, "takes "+Plural(leaves, "leaf", "leaves")+" whole")
		}
		fmt.Fprintf(w, "fix: %s", pytree.Printable(f.Rule))
		if len(notes) > 0 {
			fmt.Fprintf(w, "      (%s)", pytree.Printable(strings.Join(notes, "; ")))
		}
		fmt.Fprintln(w)
	}
}

func (r *Report) writeHints(w *bufio.Writer, opt TextOptions) {
	switch {
	case len(r.Fixes) == 0:
	case r.Rules != nil && r.Rules.File != "":
		fmt.Fprintf(w, "hint: add to %s the rules that say what you mean, then run again; `--format json` lists every finding\n", pytree.Printable(r.Rules.File))
	default:
		fmt.Fprintln(w, "hint: put the rules that say what you mean into a file, then run again with `--rules FILE`; `--format json` lists every finding")
	}
	if opt.Again != "" {
		fmt.Fprintf(w, "hint: check again with `%s`\n", pytree.Printable(opt.Again))
	}
	fmt.Fprintf(w, "hint: `ckpt explain %s` says more about a status\n", r.Findings[0].Code)
}

// paint colours text red where bad, else green.
func paint(text string, bad bool) string {
	if bad {
		return "\x1b[31m" + text + "\x1b[0m"
	}
	return "\x1b[32m" + text + "\x1b[0m"
}
