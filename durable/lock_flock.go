//go:build darwin || dragonfly || freebsd || linux || netbsd || openbsd

package durable

import (
	"errors"
	"os"

	"golang.org/x/sys/unix"
)

// tryLock locks f for itself, without waiting. The lock belongs to this opening
// of the file, so that two writers in one process exclude each other too, and
// ends with the process at the latest.
func tryLock(f *os.File) lockState {
	conn, err := f.SyscallConn()
	if err != nil {
		return lockUnknown
	}
	var errLock error
	err = conn.Control(func(fd uintptr) {
		for {
			errLock = unix.Flock(int(fd), unix.LOCK_EX|unix.LOCK_NB)
			if !errors.Is(errLock, unix.EINTR) {
				return
			}
		}
	})
	switch {
	case err != nil:
		return lockUnknown
	case errLock == nil:
		return lockHeld
	case errors.Is(errLock, unix.EWOULDBLOCK):
		return lockedByOther
	}
	return lockUnknown
}

// removeIfDead removes a temporary file unless its writer lives, or may live.
func removeIfDead(path string) {
	info, err := os.Lstat(path)
	if err != nil || !info.Mode().IsRegular() {
		return
	}
	// Writable if possible: NFS locks no file that is only open for reading.
	const flags = unix.O_NOFOLLOW | unix.O_NONBLOCK
	f, err := os.OpenFile(path, os.O_RDWR|flags, 0)
	if err != nil {
		if f, err = os.OpenFile(path, os.O_RDONLY|flags, 0); err != nil {
			return
		}
	}
	defer f.Close()
	if tryLock(f) == lockHeld && isAt(f, path) {
		os.Remove(path)
	}
}
