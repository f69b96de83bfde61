package main

import (
	"bytes"
	"flag"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"ckpt/cmd"

	"github.com/google/go-cmp/cmp"
)

var update = flag.Bool("update", false, "rewrite the output in the README")

// TestReadme runs each command that the README shows and compares its output.
// A line of three dots in the README stands for any number of lines.
func TestReadme(t *testing.T) {
	raw, err := os.ReadFile("README.md")
	if err != nil {
		t.Fatal(err)
	}
	root, err := os.Getwd()
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	if err := os.Symlink(filepath.Join(root, "testdata"), filepath.Join(dir, "testdata")); err != nil {
		t.Fatal(err)
	}
	t.Chdir(dir)
	ran := 0
	blocks := strings.Split(string(raw), "```")
	for i := 1; i < len(blocks); i += 2 {
		shown, ok := strings.CutPrefix(blocks[i], "\n$ ckpt ")
		if !ok {
			continue
		}
		ran++
		line, want, _ := strings.Cut(shown, "\n")
		var out bytes.Buffer
		cmd.Main(strings.Fields(line), strings.NewReader(""), &out, &out)
		got := strings.TrimRight(out.String(), "\n") + "\n"
		if *update && !strings.Contains(want, "…\n") {
			blocks[i] = "\n$ ckpt " + line + "\n" + got
			continue
		}
		if !matches(strings.Split(want, "\n"), strings.Split(got, "\n")) {
			t.Errorf("ckpt %s\nthe README's output (-) is not what is printed (+):\n%s", line, cmp.Diff(want, got))
		}
	}
	if ran < 3 {
		t.Errorf("the README shows %d commands with their output", ran)
	}
	if *update {
		if err := os.WriteFile(filepath.Join(root, "README.md"), []byte(strings.Join(blocks, "```")), 0o644); err != nil {
			t.Fatal(err)
		}
	}
}

// matches compares lines; "…" in want stands for any number of them.
func matches(want, got []string) bool {
	for i, w := range want {
		if w == "…" {
			for skip := range len(got) - i + 1 {
				if matches(want[i+1:], got[i+skip:]) {
					return true
				}
			}
			return false
		}
		if i >= len(got) || got[i] != w {
			return false
		}
	}
	return len(want) == len(got)
}
