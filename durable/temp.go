package durable

import (
	"crypto/sha256"
	"errors"
	"fmt"
	"io/fs"
	"math/rand/v2"
	"os"
	"strconv"
	"strings"
)

const (
	tempMark = ".ckpt-tmp-"

	// maxStem bounds the part of a temporary name that repeats the
	// destination's, so that what surrounds it fits into 255 bytes as well.
	maxStem = 160

	randomDigits = 16
)

// A temp is a temporary file, locked as long as it is open.
type temp struct {
	file  *os.File
	path  string
	moved bool // it has become the destination
}

// discard closes the file, and removes it unless it has become the destination.
func (t *temp) discard() error {
	if t.moved {
		t.file.Close() // synced; nothing is left that could fail
		return nil
	}
	// Removed before the lock goes, or else after: Windows removes no open file.
	err := os.Remove(t.path)
	t.file.Close()
	if err != nil {
		err = os.Remove(t.path)
	}
	if err == nil || errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	return reason(err)
}

// createTemp creates and locks a temporary sibling of d.
func createTemp(d dest, mode fs.FileMode) (temp, error) {
	for range 100 {
		path := d.dir + tempPrefix(d.name) + strconv.Itoa(os.Getpid()) + fmt.Sprintf("-%0*x", randomDigits, rand.Uint64())
		f, err := os.OpenFile(path, os.O_RDWR|os.O_CREATE|os.O_EXCL, mode)
		if errors.Is(err, fs.ErrExist) {
			continue
		} else if err != nil {
			return temp{}, fmt.Errorf("creating a temporary file in directory %s: %w", d.dir, reason(err))
		}
		step("created")
		// Another process that clears leftovers may have got hold of the file
		// before it was locked: then that one removes it.
		if tryLock(f) != lockedByOther && isAt(f, path) {
			step("locked")
			return temp{file: f, path: path}, nil
		}
		f.Close()
		os.Remove(path)
	}
	return temp{}, fmt.Errorf("creating a temporary file in directory %s: every name is taken", d.dir)
}

// isAt reports whether path names the file f.
func isAt(f *os.File, path string) bool {
	a, err := f.Stat()
	if err != nil {
		return false
	}
	b, err := os.Lstat(path)
	return err == nil && os.SameFile(a, b)
}

// tempPrefix is what the names of the temporary files for a destination of the
// given name begin with. A long name is cut, and told apart by its digest.
func tempPrefix(name string) string {
	if len(name) > maxStem {
		sum := sha256.Sum256([]byte(name))
		name = strings.ToValidUTF8(name[:maxStem-17], "") + fmt.Sprintf("~%x", sum[:8])
	}
	return "." + name + tempMark
}

// isTemp reports whether name is that of a temporary file with the prefix.
func isTemp(name, prefix string) bool {
	rest, ok := strings.CutPrefix(name, prefix)
	if !ok {
		return false
	}
	pid, random, ok := strings.Cut(rest, "-")
	return ok && consistsOf(pid, "0123456789") && len(random) == randomDigits && consistsOf(random, "0123456789abcdef")
}

func consistsOf(s, chars string) bool {
	return s != "" && strings.Trim(s, chars) == ""
}

// clearLeftovers removes the temporary files that killed writers to d have left.
// One that cannot be removed is in nobody's way, so errors are no matter.
func clearLeftovers(dir *os.File, d dest) {
	prefix := tempPrefix(d.name)
	var found []string
	for {
		names, err := dir.Readdirnames(1024)
		for _, name := range names {
			if isTemp(name, prefix) {
				found = append(found, name)
			}
		}
		if err != nil || len(names) == 0 {
			break
		}
	}
	for _, name := range found {
		removeIfDead(d.dir + name)
	}
}
