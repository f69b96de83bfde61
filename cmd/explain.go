package cmd

import (
	"fmt"
	"io"

	"github.com/spf13/cobra"

	"ckpt/report"
)

func newExplain(a *app) *cobra.Command {
	return &cobra.Command{
		Use:   "explain [CODE]",
		Short: "Say what a finding means and what to do about it",
		Long:  "Prints the page on a code that reports show as status. Without CODE, lists all codes.",
		Example: `  ckpt explain
  ckpt explain source-unmapped`,
		Args: operands(0, 1, "CODE"),
		ValidArgsFunction: func(*cobra.Command, []string, string) ([]string, cobra.ShellCompDirective) {
			return report.Codes(), cobra.ShellCompDirectiveNoFileComp
		},
		RunE: func(c *cobra.Command, args []string) error {
			if len(args) == 0 {
				return a.listCodes()
			}
			page, ok := report.Explain(args[0])
			if !ok {
				err := usagef(c, "there is no code %q", args[0])
				if near := nearest(args[0], report.Codes()); near != "" {
					return withHint(err, "did you mean `ckpt explain %s`?", near)
				}
				return withHint(err, "`ckpt explain` lists all codes")
			}
			if a.json() {
				return a.writeJSON(codePage{args[0], report.SeverityOf(args[0]), report.Consequence(args[0]), page})
			}
			_, err := io.WriteString(a.out, page)
			return err
		},
	}
}

type codePage struct {
	Code        string          `json:"code"`
	Severity    report.Severity `json:"severity"`
	Consequence string          `json:"consequence"`
	Page        string          `json:"page,omitempty"`
}

func (a *app) listCodes() error {
	var list []codePage
	t := report.Table{Head: []string{"CODE", "SEVERITY", "CONSEQUENCE"}, Flex: []int{2}}
	for _, code := range report.Codes() {
		list = append(list, codePage{Code: code, Severity: report.SeverityOf(code), Consequence: report.Consequence(code)})
		t.Add(code, string(report.SeverityOf(code)), report.Consequence(code))
	}
	if a.json() {
		return a.writeJSON(list)
	}
	if err := t.Write(a.out, width(a.out)); err != nil {
		return err
	}
	_, err := fmt.Fprintln(a.out, "\n`ckpt explain CODE` has a page on each.")
	return err
}

// nearest is the name that is spelt most like a wrong one, if one nearly is. It
// asks cobra, which knows commands only.
func nearest(wrong string, names []string) string {
	holder := &cobra.Command{SuggestionsMinimumDistance: max(2, len(wrong)/4)}
	for _, name := range names {
		holder.AddCommand(&cobra.Command{Use: name, Run: func(*cobra.Command, []string) {}})
	}
	if near := holder.SuggestionsFor(wrong); len(near) > 0 {
		return near[0]
	}
	return ""
}
