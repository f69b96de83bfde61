//go:build unix

package durable

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
)

// What must happen to a whole process (a kill, a limit, another user) happens to
// a child: this test binary, started again with a role in its environment.
const roleVar = "DURABLE_TEST_ROLE"

// roles are what a child may do; its arguments are the role's.
var roles = map[string]func(args []string) error{
	"die":   roleDie,
	"churn": roleChurn,
	"hold":  roleHold,
	"limit": roleLimit,
	"user":  roleUser,
}

func TestMain(m *testing.M) {
	if role, ok := os.LookupEnv(roleVar); ok {
		if err := roles[role](os.Args[1:]); err != nil {
			fmt.Println(err)
			os.Exit(1)
		}
		os.Exit(0)
	}
	os.Exit(m.Run())
}

func child(t *testing.T, role string, args ...string) *exec.Cmd {
	t.Helper()
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.CommandContext(t.Context(), self, args...)
	cmd.Env = append(os.Environ(), roleVar+"="+role)
	cmd.Stderr = os.Stderr
	return cmd
}

// die ends the process as the kernel's out-of-memory killer would.
func die() {
	_ = syscall.Kill(os.Getpid(), syscall.SIGKILL)
	select {}
}

// bulk is content of many blocks, each telling whose it is.
func bulk(owner string) string { return strings.Repeat(fmt.Sprintf("%-15s\n", owner), bulkSize/16) }

const bulkSize = 1 << 20

// putInPieces writes content in 16 pieces with a step after each.
func putInPieces(content string) func(*os.File) error {
	return func(f *os.File) error {
		for i := range 16 {
			n := len(content) / 16
			if _, err := f.WriteString(content[i*n:][:n]); err != nil {
				return err
			}
			step(fmt.Sprint("piece ", i))
		}
		return nil
	}
}

// roleDie writes a file and is killed at a step: path, step, overwrite or not.
func roleDie(args []string) error {
	onStep = func(name string) {
		if name == args[1] {
			die()
		}
	}
	verify := func(f *os.File) error {
		step("verifying")
		return wants(bulk("new"))(f)
	}
	return WriteFile(context.Background(), args[0], Options{Overwrite: args[2] == "true"}, putInPieces(bulk("new")), verify)
}

// roleChurn replaces a file again and again until it is killed: path, name.
func roleChurn(args []string) error {
	fmt.Println("ready")
	for {
		err := WriteFile(context.Background(), args[0], Options{Overwrite: true}, putInPieces(bulk(args[1])), wants(bulk(args[1])))
		if err != nil {
			return err
		}
	}
}

// roleHold starts to write a file, and goes on when its input ends: path.
func roleHold(args []string) error {
	return WriteFile(context.Background(), args[0], Options{Overwrite: true}, func(f *os.File) error {
		fmt.Println("ready")
		if _, err := io.Copy(io.Discard, os.Stdin); err != nil {
			return err
		}
		return put(newText)(f)
	}, wants(newText))
}

// roleLimit writes a file under a limit of half its size: path.
func roleLimit(args []string) error {
	signal.Ignore(syscall.SIGXFSZ)
	limit := syscall.Rlimit{Cur: bulkSize / 2, Max: bulkSize / 2}
	if err := syscall.Setrlimit(syscall.RLIMIT_FSIZE, &limit); err != nil {
		return err
	}
	err := WriteFile(context.Background(), args[0], Options{Overwrite: true}, put(bulk("new")), nil)
	if !errors.Is(err, syscall.EFBIG) {
		return fmt.Errorf("error %w, want %w", err, syscall.EFBIG)
	}
	return err
}

// nobody is a user without rights.
const nobody = 65534

// roleUser writes a file, as nobody if started by root: path.
func roleUser(args []string) error {
	if os.Geteuid() == 0 {
		if err := errors.Join(syscall.Setgroups(nil), syscall.Setgid(nobody), syscall.Setuid(nobody)); err != nil {
			return err
		}
	}
	return WriteFile(context.Background(), args[0], Options{Overwrite: true}, put(newText), wants(newText))
}

// publicDir is a temporary directory that other users can reach.
func publicDir(t *testing.T) string {
	t.Helper()
	dir, err := os.MkdirTemp("", "durable")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { os.RemoveAll(dir) })
	sub := filepath.Join(dir, "d")
	if err := errors.Join(os.Chmod(dir, 0o755), os.Mkdir(sub, 0o755)); err != nil {
		t.Fatal(err)
	}
	return sub
}

// says runs a child to its end, which must be status 1 with a text on its
// standard output that contains all of want.
func says(t *testing.T, cmd *exec.Cmd, want ...string) {
	t.Helper()
	out, err := cmd.Output()
	var exit *exec.ExitError
	if !errors.As(err, &exit) || exit.ExitCode() != 1 {
		t.Fatalf("the child ended with %v, said %q", err, out)
	}
	for _, w := range want {
		if !bytes.Contains(out, []byte(w)) {
			t.Errorf("the child said %q, want %q", out, w)
		}
	}
}
