package cmd

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
	"unicode"
)

// Whatever a file holds, inspecting it ends with a status that says how it went,
// prints nothing that a terminal would obey, and prints JSON where JSON is asked
// for.
func FuzzInspect(f *testing.F) {
	seeds := 0
	for _, pattern := range []string{"../testdata/pt/*.pt", "../testdata/pt/bad/*.pt", "../testdata/fl/*.pt"} {
		names, err := filepath.Glob(pattern)
		if err != nil {
			f.Fatal(err)
		}
		for _, name := range names {
			b, err := os.ReadFile(name)
			if err != nil {
				f.Fatal(err)
			}
			f.Add(b)
			seeds++
		}
	}
	if seeds < 100 {
		f.Fatalf("only %d samples are found", seeds)
	}
	f.Fuzz(func(t *testing.T, b []byte) {
		watchdog := time.AfterFunc(time.Minute, func() { panic("still running after a minute") })
		defer watchdog.Stop()
		name := filepath.Join(t.TempDir(), "x.pt")
		if err := os.WriteFile(name, b, 0o600); err != nil {
			t.Fatal(err)
		}
		for _, args := range [][]string{{"inspect", name}, {"inspect", "--full", name}, {"inspect", "--format", "json", name}} {
			status, stdout, stderr := run(t.Context(), args...)
			if status != exitOK && status != exitFailed {
				t.Fatalf("%v: status %d", args, status)
			}
			if (status == exitOK) == strings.HasPrefix(stderr, "ckpt: ") {
				t.Fatalf("%v: status %d, but stderr is %q", args, status, stderr)
			}
			if args[1] == "--format" {
				if status == exitOK && !json.Valid([]byte(stdout)) {
					t.Fatalf("not JSON: %.500s", stdout)
				}
				continue
			}
			for _, r := range stdout + stderr {
				if r != '\n' && r != ' ' && !unicode.IsGraphic(r) {
					t.Fatalf("%v: prints %q", args, r)
				}
			}
		}
	})
}
