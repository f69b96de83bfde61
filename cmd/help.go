package cmd

import "github.com/spf13/cobra"

func newHelp() *cobra.Command {
	return &cobra.Command{
		Use:     "help [COMMAND]",
		Short:   "Print the help of a command",
		Example: "  ckpt help inspect",
		RunE: func(c *cobra.Command, args []string) error {
			topic, rest, err := c.Root().Find(args)
			if err != nil || len(rest) > 0 {
				topic = c.Root()
				if len(args) > 0 {
					return topic.RunE(topic, args) // names the command that there is not
				}
			}
			return topic.Help()
		},
	}
}
