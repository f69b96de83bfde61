//go:build unix

package durable

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
)

// No room for the whole file. A limit on the size of files stands in for a full
// disk: it too breaks a write off in the middle, and needs no rights to set up.
func TestFull(t *testing.T) {
	for _, before := range []string{oldText, ""} {
		path := seed(t)
		if before == "" {
			os.Remove(path)
		}
		says(t, child(t, "limit", path), path+": write: file too large")
		expect(t, path, before)
	}
}

func TestReadOnlyDirectory(t *testing.T) {
	dir := publicDir(t)
	path := filepath.Join(dir, "x.pt")
	if err := errors.Join(os.WriteFile(path, []byte(oldText), 0o666), os.Chmod(path, 0o666), os.Chmod(dir, 0o555)); err != nil {
		t.Fatal(err)
	}
	says(t, child(t, "user", path), path, "temporary file in directory "+dir+"/: permission denied")
	expect(t, path, oldText)
	if err := os.Chmod(dir, 0o755); err != nil { // so that it can be removed
		t.Fatal(err)
	}
}

// A directory that can be written but not listed could neither be cleared of
// leftovers nor synced: refused before anything is written.
func TestUnreadableDirectory(t *testing.T) {
	dir := publicDir(t)
	path := filepath.Join(dir, "x.pt")
	if err := os.Chmod(dir, 0o333); err != nil {
		t.Fatal(err)
	}
	says(t, child(t, "user", path), path, "directory "+dir+"/: permission denied")
	if err := os.Chmod(dir, 0o755); err != nil {
		t.Fatal(err)
	}
	expect(t, path, "")
}

// A writer that was killed while replacing a read-only file has left one.
func TestReadOnlyLeftover(t *testing.T) {
	dir := publicDir(t)
	path := filepath.Join(dir, "x.pt")
	leftover := filepath.Join(dir, tempPrefix("x.pt")+"1-0123456789abcdef")
	err := errors.Join(os.Chmod(dir, 0o777), os.WriteFile(leftover, nil, 0o444))
	if os.Geteuid() == 0 {
		err = errors.Join(err, os.Chown(leftover, nobody, nobody))
	}
	if err != nil {
		t.Fatal(err)
	}
	if out, err := child(t, "user", path).Output(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	expect(t, path, newText)
}

func TestMode(t *testing.T) {
	defer syscall.Umask(syscall.Umask(0o027))
	for _, tt := range []struct {
		name   string
		old    fs.FileMode // 0o1000 for no file
		perm   fs.FileMode
		during fs.FileMode // while it is being written
		want   fs.FileMode
	}{
		{"new", 0o1000, 0, 0o640, 0o640},
		{"new, mode given", 0o1000, 0o604, 0o600, 0o604},
		{"replaced", 0o644, 0, 0o600, 0o644},
		{"private", 0o600, 0, 0o600, 0o600},
		{"read-only", 0o444, 0, 0o600, 0o444},
		{"wider than the umask", 0o666, 0, 0o600, 0o666},
		{"none at all", 0, 0, 0o600, 0},
		{"replaced, mode given", 0o644, 0o400, 0o600, 0o400},
	} {
		t.Run(tt.name, func(t *testing.T) {
			path := seed(t)
			if tt.old == 0o1000 {
				os.Remove(path)
			} else if err := os.Chmod(path, tt.old); err != nil {
				t.Fatal(err)
			}
			err := WriteFile(t.Context(), path, Options{Overwrite: true, Perm: tt.perm}, func(f *os.File) error {
				if info, err := f.Stat(); err != nil || info.Mode().Perm() != tt.during {
					t.Errorf("while writing: mode %v, %v; want %v", info.Mode(), err, tt.during)
				}
				return put(newText)(f)
			}, wants(newText))
			if err != nil {
				t.Fatal(err)
			}
			info, err := os.Stat(path)
			if err != nil {
				t.Fatal(err)
			}
			if info.Mode() != tt.want {
				t.Errorf("mode %v, want %v", info.Mode(), tt.want)
			}
		})
	}
}

// Whoever may give files away keeps the owner, whoever may not keeps at least
// others out. Only root can set this up.
func TestOwner(t *testing.T) {
	if os.Geteuid() != 0 {
		t.Log("not root: nothing to see")
		return
	}
	owner := func(path string) (uid, gid uint32, perm fs.FileMode) {
		info, err := os.Stat(path)
		if err != nil {
			t.Fatal(err)
		}
		st := info.Sys().(*syscall.Stat_t)
		return st.Uid, st.Gid, info.Mode().Perm()
	}
	path := seed(t)
	if err := errors.Join(os.Chown(path, nobody, 1), os.Chmod(path, 0o664)); err != nil {
		t.Fatal(err)
	}
	if err := WriteBytes(t.Context(), path, Options{Overwrite: true}, []byte(newText)); err != nil {
		t.Fatal(err)
	}
	if uid, gid, perm := owner(path); uid != nobody || gid != 1 || perm != 0o664 {
		t.Errorf("replaced by root: %d:%d %v", uid, gid, perm)
	}

	dir := publicDir(t)
	path = filepath.Join(dir, "x.pt")
	if err := errors.Join(os.WriteFile(path, []byte(oldText), 0o600), os.Chmod(path, 0o664), os.Chmod(dir, 0o777)); err != nil {
		t.Fatal(err)
	}
	if out, err := child(t, "user", path).Output(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	if uid, gid, perm := owner(path); uid != nobody || gid != nobody || perm != 0o644 {
		t.Errorf("replaced by another user: %d:%d %v; the new group must not write", uid, gid, perm)
	}
	expect(t, path, newText)
}

func TestSymlink(t *testing.T) {
	root := t.TempDir()
	in := func(name string) string { return filepath.Join(root, name) }
	if err := errors.Join(os.MkdirAll(in("real/sub"), 0o755), os.Mkdir(in("links"), 0o755), os.Symlink(in("real/sub"), in("links/dir"))); err != nil {
		t.Fatal(err)
	}
	for _, tt := range []struct {
		name, link, target, file, reason string
	}{
		{"absolute", "links/a", in("real/a.pt"), "real/a.pt", "the file it points at, not the link"},
		{"relative", "links/r", "../real/r.pt", "real/r.pt", "relative to the link's directory"},
		{"through a link", "links/dir/t", "../t.pt", "real/t.pt", ".. is real, links/t.pt would be what a cleaned path says"},
		{"chain", "links/c", "a", "real/a.pt", "a link to a link"},
		{"dangling", "links/d", "../real/d.pt", "real/d.pt", "the file is created where the link points"},
	} {
		if err := os.Symlink(tt.target, in(tt.link)); err != nil {
			t.Fatal(err)
		}
		if tt.name != "dangling" {
			if err := os.WriteFile(in(tt.file), []byte(oldText), 0o644); err != nil {
				t.Fatal(err)
			}
		}
		if err := WriteBytes(t.Context(), in(tt.link), Options{}, []byte(newText)); tt.name != "dangling" && !errors.Is(err, ErrExists) {
			t.Errorf("%s, without overwrite: error %v, want %v", tt.name, err, ErrExists)
		}
		if err := WriteBytes(t.Context(), in(tt.link), Options{Overwrite: true}, []byte(newText)); err != nil {
			t.Errorf("%s: %v", tt.name, err)
		}
		if got, err := os.Readlink(in(tt.link)); err != nil || got != tt.target {
			t.Errorf("%s: the link is now %q, %v", tt.name, got, err)
		}
		if info, err := os.Lstat(in(tt.file)); err != nil || !info.Mode().IsRegular() {
			t.Errorf("%s: not at %s (%s): %v", tt.name, tt.file, tt.reason, err)
		} else if got, err := os.ReadFile(in(tt.link)); err != nil || string(got) != newText {
			t.Errorf("%s: reads %q, %v", tt.name, got, err)
		}
	}
	if err := os.Symlink("loop", in("loop")); err != nil {
		t.Fatal(err)
	}
	err := WriteBytes(t.Context(), in("loop"), Options{Overwrite: true}, nil)
	if err == nil || !strings.Contains(err.Error(), "symbolic links") {
		t.Errorf("loop: %v", err)
	}
}

// Root may rename a file over a device, say /dev/null, after which little works.
// The stand-ins here are its own: were the check to fail, a machine would live.
func TestNotRegular(t *testing.T) {
	fifo := filepath.Join(t.TempDir(), "fifo")
	if err := syscall.Mkfifo(fifo, 0o600); err != nil {
		t.Fatal(err)
	}
	r, w, err := os.Pipe() // as /dev/stdout often is one
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	defer w.Close()
	for _, path := range []string{fifo, fmt.Sprint("/dev/fd/", w.Fd())} {
		err := WriteBytes(t.Context(), path, Options{Overwrite: true}, nil)
		if err == nil || !strings.Contains(err.Error(), "is not a regular file") {
			t.Errorf("%s: error %v", path, err)
		}
	}
	if info, err := os.Lstat(fifo); err != nil || info.Mode().Type() != fs.ModeNamedPipe {
		t.Errorf("the pipe is now %v, %v", info, err)
	}
}

// The ways to rename without replacing, of which a system uses the first that
// its file system has.
func TestRenameNew(t *testing.T) {
	for name, rename := range map[string]func(from, to string) error{"best": renameNew, "link": linkNew, "check": checkNew} {
		path := seed(t)
		from := filepath.Join(filepath.Dir(path), "from")
		if err := os.WriteFile(from, []byte(newText), 0o600); err != nil {
			t.Fatal(err)
		}
		if err := rename(from, path); !errors.Is(err, fs.ErrExist) {
			t.Errorf("%s over a file: error %v, want %v", name, err, fs.ErrExist)
		}
		if got, err := os.ReadFile(path); err != nil || string(got) != oldText {
			t.Errorf("%s has replaced the file: %q, %v", name, got, err)
		}
		os.Remove(path)
		if err := rename(from, path); err != nil {
			t.Errorf("%s: %v", name, err)
		}
		expect(t, path, newText)
	}
}

// A process killed between the two halves of linkNew leaves two names of one
// file: clearing one must not harm the other.
func TestLinkedLeftover(t *testing.T) {
	path := seed(t)
	leftover := filepath.Join(filepath.Dir(path), tempPrefix("x.pt")+"1-0123456789abcdef")
	if err := os.Link(path, leftover); err != nil {
		t.Fatal(err)
	}
	errStop := errors.New("stop")
	err := WriteFile(t.Context(), path, Options{Overwrite: true}, func(*os.File) error { return errStop }, nil)
	if !errors.Is(err, errStop) {
		t.Fatal(err)
	}
	expect(t, path, oldText)
}
