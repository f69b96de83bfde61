package durable

import (
	"errors"

	"golang.org/x/sys/unix"
)

// renameNew renames from to to where that does not exist yet.
func renameNew(from, to string) error {
	err := unix.RenamexNp(from, to, unix.RENAME_EXCL)
	if errors.Is(err, unix.EINVAL) || errors.Is(err, unix.ENOSYS) || errors.Is(err, unix.ENOTSUP) {
		return linkNew(from, to)
	}
	return err
}
