package cmd

import (
	"strings"

	"github.com/spf13/cobra"
)

var shells = []string{"bash", "zsh", "fish", "powershell"}

func newCompletion() *cobra.Command {
	return &cobra.Command{
		Use:   "completion SHELL",
		Short: "Print a script that completes commands, flags and files",
		Long:  "Prints a completion script for SHELL: " + strings.Join(shells, ", ") + ".",
		Example: `  source <(ckpt completion bash)
  ckpt completion fish > ~/.config/fish/completions/ckpt.fish`,
		ValidArgs: shells,
		Args:      operands(1, 1, "SHELL"),
		RunE: func(c *cobra.Command, args []string) error {
			root, w := c.Root(), c.OutOrStdout()
			switch args[0] {
			case "bash":
				return root.GenBashCompletionV2(w, true)
			case "zsh":
				return root.GenZshCompletion(w)
			case "fish":
				return root.GenFishCompletion(w, true)
			case "powershell":
				return root.GenPowerShellCompletionWithDesc(w)
			}
			return withHint(usagef(c, "no completion for shell %q", args[0]), "there is one for %s", strings.Join(shells, ", "))
		},
	}
}
