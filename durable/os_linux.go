package durable

import (
	"errors"
	"os"
	"sync"
	"time"

	"golang.org/x/sys/unix"
)

// renameNew renames from to to where that does not exist yet.
func renameNew(from, to string) error {
	err := error(unix.EINTR)
	for errors.Is(err, unix.EINTR) {
		err = unix.Renameat2(unix.AT_FDCWD, from, unix.AT_FDCWD, to, unix.RENAME_NOREPLACE)
	}
	if errors.Is(err, unix.EINVAL) || errors.Is(err, unix.ENOSYS) || errors.Is(err, unix.ENOTSUP) {
		return linkNew(from, to) // NFS and some of FUSE do not know the flag
	}
	return err
}

// flushEvery is how often a file that is being written is sent to the disk.
const flushEvery = 20 * time.Millisecond

// writeEarly has the disk write what f gets, while more is being put into it,
// so that little is left to do for the sync that follows. It is a hint: errors
// are left for that sync to report. The returned function ends it, and may be
// called more than once.
func writeEarly(f *os.File) (stop func()) {
	conn, err := f.SyscallConn()
	if err != nil {
		return func() {}
	}
	done := make(chan struct{})
	var running sync.WaitGroup
	running.Go(func() {
		tick := time.NewTicker(flushEvery)
		defer tick.Stop()
		for {
			select {
			case <-done:
				return
			case <-tick.C:
			}
			// From 0 to the end of the file: only what is dirty is written.
			conn.Control(func(fd uintptr) {
				err = unix.SyncFileRange(int(fd), 0, 0, unix.SYNC_FILE_RANGE_WRITE)
			})
			if err != nil {
				return
			}
		}
	})
	return sync.OnceFunc(func() {
		close(done)
		running.Wait()
	})
}
