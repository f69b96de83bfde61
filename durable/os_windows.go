package durable

import (
	"io/fs"
	"os"
	"syscall"
)

// renamesOpenFiles: whether a file can be renamed and removed while it is open.
const renamesOpenFiles = false

// syncDir does nothing: Windows has no such operation for directories.
func syncDir(*os.File) error { return nil }

// keepOwner does nothing: the new file has the directory's access rules.
func keepOwner(*os.File, fs.FileInfo) bool { return true }

// renameNew renames from to to where that does not exist yet.
func renameNew(from, to string) error {
	f, err := syscall.UTF16PtrFromString(from)
	if err != nil {
		return err
	}
	t, err := syscall.UTF16PtrFromString(to)
	if err != nil {
		return err
	}
	return syscall.MoveFile(f, t)
}

// tryLock does nothing: an open file is not removed.
func tryLock(*os.File) lockState { return lockUnknown }

// removeIfDead removes a temporary file, which fails while its writer lives.
func removeIfDead(path string) { os.Remove(path) }
