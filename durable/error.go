package durable

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"strings"
	"syscall"
)

// ErrExists means that there is a file at the destination which may not be
// replaced, found at the start or when the finished file was about to get its
// name. It is also an [fs.ErrExist].
var ErrExists = fmt.Errorf("%w", fs.ErrExist)

// ErrChanged means that the file at the destination is no longer the one that
// [Options].Replaces describes.
var ErrChanged = errors.New("the file has changed since it was read")

// An Error is why a file could not be written. Unless its text says otherwise,
// the destination is as it was and no temporary file is left.
type Error struct {
	Path string // the destination as the caller named it
	Err  error  // the cause

	temp string // the temporary file, which the text does not bother people with
}

func (e *Error) Error() string {
	text := e.Err.Error()
	if e.temp != "" {
		text = strings.ReplaceAll(text, " "+e.temp+":", ":")
	}
	return e.Path + ": " + text
}

// Unwrap returns the cause.
func (e *Error) Unwrap() error { return e.Err }

// Hint says what to do about the error, in one line, or is empty.
func (e *Error) Hint() string {
	switch {
	case errors.Is(e.Err, ErrExists):
		return "use --overwrite to replace it"
	case errors.Is(e.Err, ErrChanged):
		return "another program wrote it meanwhile; look at it, then run the command again"
	case errors.Is(e.Err, syscall.ENOSPC), errors.Is(e.Err, syscall.EDQUOT):
		return "the directory needs room for the whole new file beside the old one"
	case errors.Is(e.Err, syscall.EFBIG):
		return "the file is larger than the file system or `ulimit -f` allows"
	}
	return ""
}

// reason strips an error of this package's own calls of the operation and of
// the path, which [Error] names in the caller's terms.
func reason(err error) error {
	switch e := err.(type) {
	case *fs.PathError:
		return e.Err
	case *os.LinkError:
		return e.Err
	case *os.SyscallError:
		return e.Err
	}
	return err
}
