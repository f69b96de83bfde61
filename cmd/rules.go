package cmd

import "github.com/spf13/cobra"

func newRules(a *app) *cobra.Command {
	c := &cobra.Command{
		Use:   "rules COMMAND",
		Short: "Work on rules files",
	}
	group(c)
	c.AddCommand(newRulesFmt(a))
	return c
}
