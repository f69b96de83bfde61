// Command ckpt inspects and migrates machine-learning checkpoints.
package main

import (
	"os"

	"ckpt/cmd"
)

func main() {
	os.Exit(cmd.Main(os.Args[1:], os.Stdin, os.Stdout, os.Stderr))
}
