// Package cmd is the command line. Each command is a file: it reads its flags,
// makes one call into a package that does the work, and prints the result.
//
// Results go to stdout, messages and progress to stderr. The exit status is 0 if
// all that was asked was done and holds, 1 for findings, 2 for what could not
// run, and 3 where something could not be examined.
package cmd

import (
	"context"
	"errors"
	"io"
	"os"
	"os/signal"
	"strings"
	"syscall"

	"github.com/spf13/cobra"
)

// Main runs the program and gives its exit status.
func Main(args []string, stdin io.Reader, stdout, stderr io.Writer) int {
	limitMemory()
	// A reader that went away is an error of the write, not the end of a program
	// that may be writing a file.
	signal.Ignore(syscall.SIGPIPE)
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	context.AfterFunc(ctx, stop) // the second interrupt does not wait

	a := &app{in: stdin, out: stdout, err: stderr}
	root := newRoot(a)
	root.SetArgs(args)
	root.SetIn(stdin)
	root.SetOut(stdout)
	root.SetErr(stderr)
	return a.finish(root.ExecuteContext(ctx))
}

// plainFlagError is an error of a flag's value without the name of the function
// that could not read it.
func plainFlagError(err error) error {
	before, after, ok := strings.Cut(err.Error(), ": strconv.")
	if !ok {
		return err
	}
	_, why, _ := strings.Cut(after, "\": ")
	return errors.New(before + ": " + why)
}

func newRoot(a *app) *cobra.Command {
	root := &cobra.Command{
		Use:   "ckpt",
		Short: "See what is in a checkpoint, and make an old one fit new code",
		Long: `ckpt opens machine-learning checkpoints without Python and without ever
running what is in them, shows what they hold, and migrates them by rules.

Exit status: 0 done and all holds, 1 findings, 2 could not run, 3 something
could not be examined.`,
		Example: `  ckpt inspect model.pt
  ckpt migrate old.pt --template new.pt --rules rules.textproto
  ckpt migrate old.pt --template new.pt --rules rules.textproto -o migrated.pt`,
		SilenceErrors: true,
		SilenceUsage:  true,
	}
	root.CompletionOptions.DisableDefaultCmd = true
	root.SuggestionsMinimumDistance = 2
	root.PersistentFlags().StringVar(&a.format, "format", "text", "how results are printed: `text|json`")
	complete(root, "format", "text", "json")
	root.PersistentPreRunE = func(c *cobra.Command, _ []string) error { return a.checkFormat(c) }
	root.SetFlagErrorFunc(func(c *cobra.Command, err error) error { return usageError{plainFlagError(err), c} })
	group(root)
	root.DisableFlagsInUseLine = true
	root.AddCommand(
		newInspect(a), newMigrate(a), newRules(a), newExplain(a), newFormats(a), newVersion(a), newCompletion(),
	)
	root.SetHelpCommand(newHelp())
	return root
}
