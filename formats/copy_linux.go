package formats

import (
	"errors"
	"fmt"
	"io"
	"os"

	"golang.org/x/sys/unix"
)

// copyFileRange appends n bytes of src from off to dst within the kernel, which
// shares the blocks where the file system can. It leaves src's own offset
// alone. Where the system cannot, the bytes go through memory.
func copyFileRange(dst, src *os.File, off, n int64) error {
	for n > 0 {
		m, err := unix.CopyFileRange(int(src.Fd()), &off, int(dst.Fd()), nil, int(n), 0)
		switch {
		case errors.Is(err, unix.EINTR), errors.Is(err, unix.EAGAIN):
		case errors.Is(err, unix.EXDEV), errors.Is(err, unix.EINVAL), errors.Is(err, unix.ENOSYS),
			errors.Is(err, unix.EOPNOTSUPP), errors.Is(err, unix.EPERM), errors.Is(err, unix.EIO):
			// Not for these files, or an error that a plain read or write will name.
			return copyPlain(dst, src, off, n)
		case err != nil:
			return &os.PathError{Op: "copy_file_range", Path: dst.Name(), Err: err}
		case m == 0:
			return fmt.Errorf("%d bytes missing at byte %d: %w", n, off, io.ErrUnexpectedEOF)
		default:
			n -= int64(m)
		}
	}
	return nil
}
