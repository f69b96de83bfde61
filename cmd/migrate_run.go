package cmd

import (
	"context"
	"errors"
	"fmt"
	"io"
	"strings"

	"ckpt/formats"
	"ckpt/inspect"
	"ckpt/migrate"
	"ckpt/pytree"
	"ckpt/report"
)

// migrate plans, reports and, if asked to, writes.
func (a *app) migrate(ctx context.Context, oldName string, m migrateFlags) error {
	old, err := open(oldName, m.as)
	if err != nil {
		return err
	}
	defer old.Close()
	template := &opened{Checkpoint: &formats.Checkpoint{}}
	if m.template != "" {
		if template, err = open(m.template, ""); err != nil {
			return err
		}
		defer template.Close()
	}
	if m.dumpFrom || m.dumpTo {
		return a.dump(old, template, m)
	}
	var rules *migrate.Rules
	if m.rules != "" {
		src, err := a.readFile(m.rules)
		if err != nil {
			return fileError{m.rules, err}
		}
		name := m.rules
		if name == "-" {
			name = "stdin"
		}
		rules, _ = migrate.ParseRules(name, src) // the plan's report has the findings
	}
	plan := migrate.NewPlan(old.Tree, template.Tree, rules, migrate.Options{A: oldName, B: m.template})
	s := &migration{a: a, old: old, template: template, flags: m, plan: plan}
	return s.run(ctx)
}

// dump prints a rule line for each leaf.
func (a *app) dump(old, template *opened, m migrateFlags) error {
	var lines []string
	if m.dumpFrom {
		lines = append(lines, migrate.DumpSource(old.Tree)...)
	}
	if m.dumpTo {
		lines = append(lines, migrate.DumpDestination(template.Tree)...)
	}
	if a.json() {
		return a.writeJSON(lines)
	}
	_, err := io.WriteString(a.out, strings.Join(append(lines, ""), "\n"))
	return err
}

// migration is one run of `ckpt migrate` from its plan on.
type migration struct {
	a             *app
	old, template *opened
	flags         migrateFlags
	plan          *migrate.Plan
}

// outcome is what `ckpt migrate --format json` prints.
type outcome struct {
	Report *report.Report `json:"report"`
	Plan   *migrate.Plan  `json:"plan,omitempty"`
	// Output is what was written, null if nothing was.
	Output *written `json:"output"`
}

func (s *migration) run(ctx context.Context) error {
	if !s.a.json() {
		if err := s.print(); err != nil {
			return err
		}
	}
	o := outcome{Report: s.plan.Report()}
	if s.flags.plan {
		o.Plan = s.plan
	}
	var err error
	switch {
	case o.Report.Verdict() != report.Compatible:
		err = errFindings
	case s.flags.out != "":
		o.Output, err = s.write(ctx)
	}
	if s.a.json() {
		return errors.Join(s.a.writeJSON(o), err)
	}
	if err == nil || errors.Is(err, errFindings) {
		err = errors.Join(s.conclude(o), err)
	}
	return err
}

// print shows the plan, if asked to, and the report.
func (s *migration) print() error {
	w := s.a.out
	if s.flags.plan {
		if err := s.plan.Table().Write(w, width(w)); err != nil {
			return err
		}
		fmt.Fprintln(w)
	}
	opt := report.TextOptions{
		Width: width(w), Color: color(w), Again: s.command(),
		A: inspect.Heading(s.old.Checkpoint, inspect.Summary(s.old.Tree)),
	}
	if s.template.Tree != nil {
		opt.B = inspect.Heading(s.template.Checkpoint, inspect.Summary(s.template.Tree))
	}
	for _, o := range []*opened{s.old, s.template} {
		for _, note := range o.Notes {
			fmt.Fprintf(s.a.err, "note: %s: %s\n", pytree.Printable(o.name), pytree.Printable(note))
		}
	}
	return s.plan.Report().WriteText(w, opt)
}

// command is the command line that repeats the check.
func (s *migration) command() string {
	words := []string{"ckpt", "migrate", shellWord(s.old.name)}
	if s.flags.as != "" {
		words = append(words, "--as", shellWord(s.flags.as))
	}
	if s.flags.template != "" {
		words = append(words, "--template", shellWord(s.flags.template))
	} else {
		words = append(words, "--no-template")
	}
	if s.flags.rules != "" {
		words = append(words, "--rules", shellWord(s.flags.rules))
	}
	return pytree.Printable(strings.Join(words, " "))
}
