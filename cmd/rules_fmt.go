package cmd

import (
	"bytes"
	"fmt"
	"io"
	"os"

	"github.com/spf13/cobra"

	"ckpt/durable"
	"ckpt/migrate"
)

func newRulesFmt(a *app) *cobra.Command {
	var write, check bool
	c := &cobra.Command{
		Use:   "fmt [FILE...]",
		Short: "Lay out rules files in the canonical way",
		Long: `Prints rules files in the canonical layout, comments kept. Without FILE, or for -,
it reads stdin.`,
		Example: `  ckpt rules fmt rules.textproto
  ckpt rules fmt --write rules.textproto
  ckpt rules fmt --check *.textproto`,
		RunE: func(c *cobra.Command, args []string) error {
			if write && check {
				return usagef(c, "--write and --check exclude each other")
			}
			if len(args) == 0 {
				args = []string{"-"}
			}
			for _, name := range args {
				if write && name == "-" {
					return usagef(c, "--write: stdin is not a file")
				}
			}
			for _, name := range args {
				if err := a.formatRules(c, name, write, check); err != nil {
					a.fail(err)
				}
			}
			return nil
		},
	}
	c.Flags().BoolVarP(&write, "write", "w", false, "write the files instead of printing them")
	c.Flags().BoolVar(&check, "check", false, "list the files that are laid out otherwise, and exit with 1 if there are any")
	return c
}

type formattedRules struct {
	File    string  `json:"file"`
	Changed bool    `json:"changed"`
	Text    *string `json:"text,omitempty"`
}

// formatRules lays out one file.
func (a *app) formatRules(c *cobra.Command, name string, write, check bool) error {
	src, err := a.readFile(name)
	if err != nil {
		return fileError{name, err}
	}
	text, err := migrate.Format(src)
	if err != nil {
		return fileError{name, err}
	}
	out := formattedRules{File: name, Changed: !bytes.Equal(src, text)}
	if write && out.Changed {
		if err := durable.WriteBytes(c.Context(), name, durable.Options{Overwrite: true}, text); err != nil {
			return err
		}
	}
	switch {
	case a.json():
		if !write && !check {
			s := string(text)
			out.Text = &s
		}
		err = a.writeJSON(out)
	case !write && !check:
		_, err = a.out.Write(text)
	case check && out.Changed:
		_, err = fmt.Fprintln(a.out, name)
	}
	if err == nil && check && out.Changed {
		err = errFindings
	}
	return err
}

// readFile reads a whole file that a person wrote, or stdin.
func (a *app) readFile(name string) ([]byte, error) {
	if name == "-" {
		return io.ReadAll(a.in)
	}
	b, err := os.ReadFile(name)
	if err != nil {
		return nil, cause(err)
	}
	return b, nil
}
