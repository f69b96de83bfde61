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
				if topic == nil || !topic.HasSubCommands() {
					topic = c.Root()
				}
				if len(rest) == 0 {
					rest = args
				}
				if len(rest) > 0 {
					return topic.RunE(topic, rest) // names the command that there is not
				}
			}
			return topic.Help()
		},
	}
}
