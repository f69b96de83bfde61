//go:build unix

package durable

import (
	"errors"
	"io/fs"
	"os"
	"syscall"
)

// renamesOpenFiles: whether a file can be renamed and removed while it is open.
const renamesOpenFiles = true

// syncDir makes the names in a directory durable. Some file systems (CIFS,
// several of FUSE) have no such thing and answer EINVAL or ENOTSUP.
func syncDir(dir *os.File) error {
	err := dir.Sync()
	if errors.Is(err, syscall.EINVAL) || errors.Is(err, syscall.ENOTSUP) {
		return nil
	}
	return err
}

// keepOwner gives f the owner and group of old, as far as the process may, and
// reports whether the group is that of old.
func keepOwner(f *os.File, old fs.FileInfo) bool {
	st, ok := old.Sys().(*syscall.Stat_t)
	return ok && (f.Chown(int(st.Uid), int(st.Gid)) == nil || f.Chown(-1, int(st.Gid)) == nil)
}

// linkNew renames from to to where that does not exist yet, by way of a hard
// link; on a file system without those, by a check that precedes the rename.
func linkNew(from, to string) error {
	err := os.Link(from, to)
	switch {
	case err == nil:
		step("linked")
		os.Remove(from) // if it stays, it is a leftover like any other
		return nil
	case errors.Is(err, fs.ErrExist):
		return err
	}
	return checkNew(from, to)
}

func checkNew(from, to string) error {
	_, err := os.Lstat(to)
	switch {
	case err == nil:
		return fs.ErrExist
	case !errors.Is(err, fs.ErrNotExist):
		return err
	}
	return os.Rename(from, to)
}
