package cmd

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"syscall"

	"github.com/spf13/cobra"

	"ckpt/formats"
	"ckpt/inspect"
	"ckpt/pytree"
)

// The exit statuses.
const (
	exitOK         = 0
	exitFindings   = 1
	exitFailed     = 2
	exitIncomplete = 3
)

// errFindings is returned by a command whose findings have been printed.
var errFindings = errors.New("there are findings")

// usageError is a command line that makes no sense.
type usageError struct {
	error
	c *cobra.Command
}

func (e usageError) Unwrap() error { return e.error }

func usagef(c *cobra.Command, format string, args ...any) error {
	return usageError{fmt.Errorf(format, args...), c}
}

func withHint(err error, format string, args ...any) error {
	return formats.WithHint(err, format, args...)
}

// exitStatus is what an error means for whoever called the program.
func exitStatus(err error) int {
	switch {
	case err == nil:
		return exitOK
	case errors.Is(err, errFindings):
		return exitFindings
	case errors.Is(err, inspect.ErrNothing), errors.Is(err, pytree.ErrExpanded):
		return exitIncomplete
	}
	return exitFailed
}

// fail reports an error, and lets the command go on with the next file. A
// failure weighs more than what could not be examined, and that more than
// findings.
func (a *app) fail(err error) {
	weight := [...]int{exitOK: 0, exitFindings: 1, exitIncomplete: 2, exitFailed: 3}
	if s := exitStatus(err); weight[s] > weight[a.worst] {
		a.worst = s
	}
	a.print(err)
}

// finish reports the error that ended the program, if one did, and gives the
// exit status.
func (a *app) finish(err error) int {
	if err != nil {
		a.fail(err)
	}
	return a.worst
}

// mostLines is how many lines an error is worth.
const mostLines = 20

// print writes an error's lines, and the hint that goes with it.
func (a *app) print(err error) {
	switch {
	case errors.Is(err, errFindings), errors.Is(err, syscall.EPIPE):
		return // said already; nobody listens
	case errors.Is(err, context.Canceled):
		err = errors.New("interrupted")
	}
	prefix, lines := "ckpt: ", strings.Split(err.Error(), "\n")
	var file fileError
	if errors.As(err, &file) {
		prefix += pytree.Printable(file.file) + ": "
		lines = strings.Split(file.err.Error(), "\n")
	}
	for i, line := range lines {
		if i == mostLines {
			fmt.Fprintf(a.err, "%sand %d more\n", prefix, len(lines)-i)
			break
		}
		fmt.Fprintf(a.err, "%s%s\n", prefix, pytree.Printable(line))
	}
	if hint := hintOf(err); hint != "" {
		fmt.Fprintf(a.err, "hint: %s\n", pytree.Printable(hint))
	}
}

// hintOf is the word on what to do that comes with an error.
func hintOf(err error) string {
	if hint := formats.Hint(err); hint != "" {
		return hint
	}
	var hinter interface{ Hint() string }
	if errors.As(err, &hinter) && hinter.Hint() != "" {
		return hinter.Hint()
	}
	var usage usageError
	if errors.As(err, &usage) {
		return fmt.Sprintf("`%s --help` shows how it is used", usage.c.CommandPath())
	}
	return ""
}

// fileError is an error about a file.
type fileError struct {
	file string
	err  error
}

func (e fileError) Error() string { return e.file + ": " + e.err.Error() }
func (e fileError) Unwrap() error { return e.err }
