package cmd

import (
	"bytes"
	"context"
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"github.com/spf13/cobra"

	"ckpt/inspect"
)

// run runs the program in this process.
func run(ctx context.Context, args ...string) (status int, stdout, stderr string) {
	var out, errs bytes.Buffer
	a := &app{in: strings.NewReader(""), out: &out, err: &errs}
	root := newRoot(a)
	root.SetArgs(args)
	root.SetOut(&out)
	root.SetErr(&errs)
	return a.finish(root.ExecuteContext(ctx)), out.String(), errs.String()
}

// An interrupt ends every command that works long, says so, and leaves nothing.
func TestInterrupted(t *testing.T) {
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	dir := t.TempDir()
	sample, err := filepath.Abs("../testdata/fl/old.pt")
	if err != nil {
		t.Fatal(err)
	}
	for _, args := range [][]string{
		{"inspect", "--digest", sample, sample},
		{"migrate", sample, "--no-template", "-o", filepath.Join(dir, "out.pt")},
	} {
		status, _, stderr := run(ctx, args...)
		if status != exitFailed || stderr != "ckpt: interrupted\n" {
			t.Errorf("%v: status %d, stderr %q", args, status, stderr)
		}
	}
	left, err := os.ReadDir(dir)
	if err != nil || len(left) > 0 {
		t.Errorf("left behind: %v, %v", left, err)
	}
}

// A reader that has seen enough, such as head, is no reason for a message.
func TestReaderGone(t *testing.T) {
	for _, args := range [][]string{
		{"inspect", "../testdata/fl/old.pt"},
		{"inspect", "--format", "json", "../testdata/fl/old.pt"},
		{"formats"}, {"explain"}, {"version"},
		{"migrate", "../testdata/fl/old.pt", "--no-template"},
	} {
		r, w, err := os.Pipe()
		if err != nil {
			t.Fatal(err)
		}
		r.Close()
		var stderr bytes.Buffer
		if status := Main(args, strings.NewReader(""), w, &stderr); status != exitFailed || stderr.Len() > 0 {
			t.Errorf("%v: status %d, stderr %q", args, status, stderr.String())
		}
		w.Close()
	}
}

// The worst of several errors is the exit status.
func TestWorstStatus(t *testing.T) {
	a := &app{err: &bytes.Buffer{}}
	for _, c := range []struct{ status, want int }{
		{exitFindings, exitFindings}, {exitIncomplete, exitIncomplete}, {exitFindings, exitIncomplete},
		{exitFailed, exitFailed}, {exitIncomplete, exitFailed},
	} {
		a.fail(map[int]error{exitFindings: errFindings, exitIncomplete: inspect.ErrNothing, exitFailed: os.ErrNotExist}[c.status])
		if a.worst != c.want {
			t.Errorf("after %d: %d, want %d", c.status, a.worst, c.want)
		}
	}
}

func TestShellWord(t *testing.T) {
	for in, want := range map[string]string{
		"a/b-1.pt": "a/b-1.pt", "": "''", "a b": "'a b'", "it's": `'it'\''s'`, "$(rm)": "'$(rm)'", "~x": "'~x'",
	} {
		if got := shellWord(in); got != want {
			t.Errorf("%q: %s, want %s", in, got, want)
		}
	}
}

// Without somebody who watches there is no progress bar.
func TestNoBar(t *testing.T) {
	a := &app{err: &bytes.Buffer{}}
	b := a.newBar("reading")
	if b.start(1<<40) != nil {
		t.Error("a bar for nobody")
	}
	b.stop()
}

var commandInText = regexp.MustCompile("`ckpt ([^`]*)`")

// Every command that a message, a help text or a page tells people to run must
// exist, with its flags.
func TestNamedCommandsExist(t *testing.T) {
	root := newRoot(&app{})
	root.InitDefaultHelpCmd() // as running it does
	found := 0
	for where, text := range texts(t) {
		for _, m := range commandInText.FindAllStringSubmatch(text, -1) {
			found++
			checkCommand(t, root, where, strings.Fields(m[1]))
		}
	}
	if found < 10 {
		t.Errorf("only %d commands are named: the search is broken", found)
	}
}

func checkCommand(t *testing.T, root *cobra.Command, where string, words []string) {
	t.Helper()
	if len(words) > 0 && strings.HasPrefix(words[0], "%") {
		return // made up at run time
	}
	c, _, err := root.Find(words)
	if err != nil || c == root && len(words) > 0 && !strings.HasPrefix(words[0], "-") {
		t.Errorf("%s: there is no command %q", where, strings.Join(words, " "))
		return
	}
	for _, w := range words {
		name, long := strings.CutPrefix(w, "--")
		name, _, _ = strings.Cut(name, "=")
		if long && name != "help" && c.Flag(name) == nil {
			t.Errorf("%s: %s has no flag --%s", where, c.CommandPath(), name)
		}
	}
}

// texts is every string literal of the program and every page for people, by
// where it is.
func texts(t *testing.T) map[string]string {
	t.Helper()
	all := make(map[string]string)
	err := filepath.WalkDir("..", func(path string, d fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case d.IsDir() && (d.Name() == ".git" || d.Name() == "testdata"):
			return fs.SkipDir
		case strings.HasSuffix(path, ".md"):
			b, err := os.ReadFile(path)
			all[path] = string(b)
			return err
		case strings.HasSuffix(path, ".go") && !strings.HasSuffix(path, "_test.go"):
			return literals(path, all)
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return all
}

func literals(path string, all map[string]string) error {
	fset := token.NewFileSet()
	f, err := parser.ParseFile(fset, path, nil, parser.SkipObjectResolution)
	if err != nil {
		return err
	}
	ast.Inspect(f, func(n ast.Node) bool {
		if lit, ok := n.(*ast.BasicLit); ok && lit.Kind == token.STRING {
			if s, err := strconv.Unquote(lit.Value); err == nil {
				all[fset.Position(lit.Pos()).String()] = s
			}
		}
		return true
	})
	return nil
}
