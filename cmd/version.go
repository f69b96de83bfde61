package cmd

import (
	"fmt"
	"runtime"
	"runtime/debug"

	"github.com/spf13/cobra"
)

type version struct {
	Version  string `json:"version"`
	Go       string `json:"go"`
	Platform string `json:"platform"`
	Revision string `json:"revision,omitempty"`
	Time     string `json:"time,omitempty"`
	Modified bool   `json:"modified,omitempty"`
}

func newVersion(a *app) *cobra.Command {
	return &cobra.Command{
		Use:     "version",
		Short:   "Print the version of the program",
		Example: "  ckpt version",
		Args:    operands(0, 0, ""),
		RunE: func(*cobra.Command, []string) error {
			v := builtVersion()
			if a.json() {
				return a.writeJSON(v)
			}
			line := fmt.Sprintf("ckpt %s %s %s", v.Version, v.Go, v.Platform)
			if v.Revision != "" {
				line += " revision " + v.Revision
			}
			if v.Modified {
				line += " (modified)"
			}
			_, err := fmt.Fprintln(a.out, line)
			return err
		},
	}
}

// builtVersion is what the linker recorded.
func builtVersion() version {
	v := version{Version: "(unknown)", Go: runtime.Version(), Platform: runtime.GOOS + "/" + runtime.GOARCH}
	info, ok := debug.ReadBuildInfo()
	if !ok {
		return v
	}
	if info.Main.Version != "" {
		v.Version = info.Main.Version
	}
	for _, s := range info.Settings {
		switch s.Key {
		case "vcs.revision":
			v.Revision = s.Value
		case "vcs.time":
			v.Time = s.Value
		case "vcs.modified":
			v.Modified = s.Value == "true"
		}
	}
	return v
}
