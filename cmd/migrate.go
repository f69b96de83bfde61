package cmd

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/spf13/cobra"
)

// migrateFlags is what `ckpt migrate` was asked to do.
type migrateFlags struct {
	template, rules, out, as string
	noTemplate, overwrite    bool
	plan, dumpFrom, dumpTo   bool
}

func newMigrate(a *app) *cobra.Command {
	var m migrateFlags
	c := &cobra.Command{
		Use:   "migrate OLD --template NEW | --no-template",
		Short: "Make a new checkpoint out of an old one, by rules",
		Long: `Plans how every value of OLD gets to its place in NEW, a checkpoint that the new
program has saved, and reports everything that does not fit. Without --output it
only checks. With it, and if there are no errors, it writes NEW's tree with OLD's
values, verifies what it wrote, and only then gives it its name.

With --no-template the new tree is OLD's with the rules applied.`,
		Example: `  ckpt migrate old.pt --template new.pt --rules rules.textproto
  ckpt migrate old.pt --template new.pt --rules rules.textproto -o migrated.pt
  ckpt migrate old.pt --template new.pt --dump-source-paths > rules.textproto
  ckpt migrate old.pt --no-template --rules rules.textproto --overwrite`,
		Args: operands(1, 1, "OLD"),
		RunE: func(c *cobra.Command, args []string) error {
			if err := m.check(c, args[0]); err != nil {
				return err
			}
			return a.migrate(c.Context(), args[0], m)
		},
	}
	f := c.Flags()
	f.StringVar(&m.template, "template", "", "a checkpoint `NEW` of the new program, whose tree is filled")
	f.BoolVar(&m.noTemplate, "no-template", false, "apply the rules to OLD's own tree")
	f.StringVar(&m.rules, "rules", "", "a `FILE` of rules, as textproto (-: stdin)")
	f.StringVarP(&m.out, "output", "o", "", "write `OUT`; its format follows its extension, else NEW's")
	f.BoolVar(&m.overwrite, "overwrite", false, "allow OUT to be replaced; without --output, replace OLD")
	f.BoolVar(&m.plan, "plan", false, "print what becomes of every leaf")
	f.BoolVar(&m.dumpFrom, "dump-source-paths", false, "print a rule line for each leaf of OLD, and do nothing else")
	f.BoolVar(&m.dumpTo, "dump-destination-paths", false, "print a rule line for each leaf of NEW, and do nothing else")
	asFlag(c, &m.as, "OLD")
	return c
}

// check finds what makes no sense, before any work is done.
func (m *migrateFlags) check(c *cobra.Command, old string) error {
	for flag, value := range map[string]string{"template": m.template, "rules": m.rules, "output": m.out} {
		if value == "" && c.Flags().Changed(flag) {
			// An unset variable of a script must not turn into "none".
			return usagef(c, "--%s names no file", flag)
		}
	}
	switch {
	case m.template != "" && m.noTemplate:
		return usagef(c, "--template and --no-template exclude each other")
	case m.dumpTo && m.template == "":
		return usagef(c, "--dump-destination-paths needs --template")
	case m.template == "" && !m.noTemplate && !m.dumpFrom:
		return withHint(usagef(c, "--template or --no-template is needed"),
			"NEW is a checkpoint that the new program saves; without one, --no-template only renames and drops")
	case (m.dumpFrom || m.dumpTo) && (m.out != "" || m.overwrite || m.plan):
		return usagef(c, "--dump-source-paths and --dump-destination-paths do nothing else")
	}
	if m.overwrite && m.out == "" {
		m.out = old
	}
	if err := checkAs(c, m.as); err != nil || m.out == "" {
		return err
	}
	return m.checkOut()
}

// checkOut finds out before all work whether OUT can be written.
func (m *migrateFlags) checkOut() error {
	if m.out == "-" {
		return fileError{m.out, withHint(errors.New("a checkpoint is not written to stdout"), "name a file; ./- is one called -")}
	}
	if info, err := os.Stat(filepath.Dir(m.out)); err != nil {
		return fileError{filepath.Dir(m.out), cause(err)}
	} else if !info.IsDir() {
		return fileError{filepath.Dir(m.out), errors.New("is not a directory")}
	}
	if _, err := os.Lstat(m.out); err != nil {
		return nil // it is not there, or Save will say what is wrong
	}
	if info, err := os.Stat(m.out); err == nil && !info.Mode().IsRegular() {
		return fileError{m.out, errors.New("is not a regular file, and is not replaced by one")}
	}
	if !m.overwrite { // not even a link to a file that is not there
		return withHint(fileError{m.out, fs.ErrExist}, "use --overwrite to replace it")
	}
	return nil
}
