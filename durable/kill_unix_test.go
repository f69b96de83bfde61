//go:build unix

package durable

import (
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"
)

// killed fails the test unless err says that a process ended by SIGKILL.
func killed(t *testing.T, err error) {
	t.Helper()
	var exit *exec.ExitError
	if !errors.As(err, &exit) || exit.Sys().(syscall.WaitStatus).Signal() != syscall.SIGKILL {
		t.Fatalf("the child ended with %v, want a kill", err)
	}
}

// files counts the entries of a directory.
func files(t *testing.T, dir string) int {
	t.Helper()
	entries, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	return len(entries)
}

// A writer killed at any step leaves the old file up to the rename and the new
// one from there, and the next writer clears up after it.
func TestKilledAtStep(t *testing.T) {
	steps := []string{"created", "locked"}
	for i := range 16 {
		steps = append(steps, fmt.Sprint("piece ", i))
	}
	steps = append(steps, "written", "synced", "verifying", "verified", "renamed")
	for _, overwrite := range []bool{false, true} {
		for _, at := range steps {
			t.Run(fmt.Sprintf("%s/overwrite=%t", at, overwrite), func(t *testing.T) {
				path := seed(t)
				want, count := oldText, 2
				if !overwrite {
					os.Remove(path)
					want, count = "", 1
				}
				if at == "renamed" {
					want, count = bulk("new"), 1
				}
				killed(t, child(t, "die", path, at, fmt.Sprint(overwrite)).Run())

				got, err := os.ReadFile(path)
				if string(got) != want || (err != nil) != (want == "") {
					t.Errorf("the destination holds %d bytes, %v; want %d", len(got), err, len(want))
				}
				if got := files(t, filepath.Dir(path)); got != count {
					t.Errorf("%d files in the directory, want %d", got, count)
				}
				if err := WriteFile(t.Context(), path, Options{Overwrite: want != ""}, put(newText), wants(newText)); err != nil {
					t.Fatal(err)
				}
				expect(t, path, newText)
			})
		}
	}
}

// Two processes replace one file over and over, and are killed at moments that
// nobody has chosen.
func TestKilledAnytime(t *testing.T) {
	path := filepath.Join(t.TempDir(), "x.pt")
	if err := os.WriteFile(path, []byte(bulk("a")), 0o644); err != nil {
		t.Fatal(err)
	}
	leftovers := 0
	for range 25 {
		var cmds []*exec.Cmd
		for _, name := range []string{"a", "b"} {
			cmd := child(t, "churn", path, name)
			start(t, cmd)
			cmds = append(cmds, cmd)
		}
		time.Sleep(time.Duration(rand.IntN(20_000)) * time.Microsecond)
		for _, cmd := range cmds {
			if err := cmd.Process.Kill(); err != nil {
				t.Error(err)
			}
		}
		for _, cmd := range cmds {
			killed(t, cmd.Wait())
		}
		got, err := os.ReadFile(path)
		if err != nil || string(got) != bulk("a") && string(got) != bulk("b") {
			t.Fatalf("the destination holds %d bytes that no writer wrote, %v", len(got), err)
		}
		leftovers += files(t, filepath.Dir(path)) - 1
		if err := WriteBytes(t.Context(), path, Options{Overwrite: true}, got); err != nil {
			t.Fatal(err)
		}
		expect(t, path, string(got))
	}
	if leftovers == 0 {
		t.Error("no kill has hit a writer at work: the test proves nothing")
	}
}

// start starts a child and waits until it says that it is ready.
func start(t *testing.T, cmd *exec.Cmd) {
	t.Helper()
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	b := make([]byte, len("ready\n"))
	if _, err := io.ReadFull(out, b); err != nil || string(b) != "ready\n" {
		t.Fatalf("the child said %q, %v", b, err)
	}
}

// The temporary file of a process at work is not a leftover.
func TestLiveWriter(t *testing.T) {
	path := seed(t)
	cmd := child(t, "hold", path)
	stdin, err := cmd.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	start(t, cmd)
	between := strings.ToUpper(oldText)
	if err := WriteBytes(t.Context(), path, Options{Overwrite: true}, []byte(between)); err != nil {
		t.Fatal(err)
	}
	if got := files(t, filepath.Dir(path)); got != 2 {
		t.Errorf("%d files beside a writer at work, want 2", got)
	}
	if got, err := os.ReadFile(path); err != nil || string(got) != between {
		t.Errorf("content %q, %v; want %q", got, err, between)
	}
	if err := stdin.Close(); err != nil {
		t.Fatal(err)
	}
	if err := cmd.Wait(); err != nil {
		t.Fatal(err)
	}
	expect(t, path, newText)
}
