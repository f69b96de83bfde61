package cmd

import (
	"encoding/json"
	"fmt"
	"io"
	"os"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"golang.org/x/term"
)

// app is what all commands share.
type app struct {
	in     io.Reader
	out    io.Writer
	err    io.Writer
	format string
	shown  bool // something has been printed that the next result stands apart from
	worst  int  // the exit status of what was reported so far
}

func (a *app) checkFormat(c *cobra.Command) error {
	if a.format != "text" && a.format != "json" {
		return usagef(c, "--format: %q is neither text nor json", a.format)
	}
	return nil
}

func (a *app) json() bool { return a.format == "json" }

// writeJSON prints v as one object on one line.
func (a *app) writeJSON(v any) error {
	enc := json.NewEncoder(a.out)
	enc.SetEscapeHTML(false)
	return enc.Encode(v)
}

// width is the terminal's that w is, or 0 where it is none.
func width(w io.Writer) int {
	f, ok := w.(*os.File)
	if !ok {
		return 0
	}
	n, _, err := term.GetSize(int(f.Fd()))
	if err != nil {
		return 0
	}
	return n
}

// isTerminal reports whether somebody watches w.
func isTerminal(w io.Writer) bool {
	f, ok := w.(*os.File)
	return ok && term.IsTerminal(int(f.Fd()))
}

// color reports whether w may be coloured; see no-color.org.
func color(w io.Writer) bool {
	return os.Getenv("NO_COLOR") == "" && os.Getenv("TERM") != "dumb" && isTerminal(w)
}

// complete offers words for a flag's value.
func complete(c *cobra.Command, flag string, words ...string) {
	// The only error is a flag that does not exist, which every run would show.
	if err := c.RegisterFlagCompletionFunc(flag, cobra.FixedCompletions(words, cobra.ShellCompDirectiveNoFileComp)); err != nil {
		panic(err)
	}
}

// operands checks how many operands there are, at most most of them if that is
// not negative.
func operands(least, most int, what string) cobra.PositionalArgs {
	return func(c *cobra.Command, args []string) error {
		switch {
		case slices.Contains(args, ""):
			return usagef(c, "an operand is empty: %s is a name", what)
		case len(args) < least:
			return usagef(c, "no %s is given", what)
		case most >= 0 && len(args) > most:
			return usagef(c, "%q is one operand too many", args[most])
		}
		return nil
	}
}

// group makes c a command that does nothing but hold others.
func group(c *cobra.Command) {
	c.Args = cobra.ArbitraryArgs
	c.RunE = func(c *cobra.Command, args []string) error {
		if len(args) == 0 {
			return usagef(c, "no command is given")
		}
		err := usagef(c, "there is no command %q", strings.TrimPrefix(c.CommandPath()+" "+args[0], "ckpt "))
		if near := c.SuggestionsFor(args[0]); len(near) > 0 {
			return withHint(err, "did you mean `%s %s`?", c.CommandPath(), near[0])
		}
		return err
	}
}

// shellWord quotes s for a shell where it has to be.
func shellWord(s string) string {
	plain := func(r rune) bool {
		return r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9' || strings.ContainsRune("_-./,:+@%=", r)
	}
	if s != "" && strings.IndexFunc(s, func(r rune) bool { return !plain(r) }) < 0 {
		return s
	}
	return fmt.Sprintf("'%s'", strings.ReplaceAll(s, "'", `'\''`))
}
