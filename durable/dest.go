package durable

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
)

// maxLinks is how many symbolic links in a row are followed, as in Linux.
const maxLinks = 40

// A dest is where the new file goes, with every symbolic link at the end of the
// path resolved.
type dest struct {
	path string      // dir and name
	dir  string      // "." or ending in a separator
	name string      // the last element
	info fs.FileInfo // what is there now, nil if nothing
}

// resolve finds the file that path stands for. Paths are joined by hand, since
// the cleaning of [filepath.Join] gives "link/../x" another meaning than the
// system does.
func resolve(path string) (dest, error) {
	d, linked, err := follow(path)
	if err != nil {
		return dest{}, err
	}
	if linked && d.info == nil {
		// Links under /proc lead to open files, some of which have no name.
		if final, err := os.Stat(path); err == nil {
			if err := replaceable(final); err != nil {
				return dest{}, err
			}
			return dest{}, errors.New("is a link to a file without a name")
		}
	}
	return d, nil
}

// replaceable returns why a file cannot be replaced by a regular one, if so.
func replaceable(info fs.FileInfo) error {
	switch {
	case info.IsDir():
		return errors.New("is a directory")
	case !info.Mode().IsRegular():
		return errors.New("is not a regular file")
	}
	return nil
}

// follow is resolve for a path that leads through ordinary links, if any.
func follow(path string) (d dest, linked bool, err error) {
	at := path
	for range maxLinks {
		dir, name := filepath.Split(at)
		if name == "" {
			return dest{}, linked, errors.New("the path names no file")
		}
		if dir == "" {
			dir = "." + string(filepath.Separator)
		}
		d = dest{path: dir + name, dir: dir, name: name}
		info, err := os.Lstat(d.path)
		switch {
		case errors.Is(err, fs.ErrNotExist):
			return d, linked, nil // or its directory does not exist, as will be seen
		case err != nil:
			return dest{}, linked, reason(err)
		case info.Mode().Type() == fs.ModeSymlink:
			target, err := os.Readlink(d.path)
			if err != nil {
				return dest{}, linked, fmt.Errorf("reading the link: %w", reason(err))
			}
			if at = target; !filepath.IsAbs(target) {
				at = dir + target
			}
			linked = true
			continue
		}
		d.info = info
		return d, linked, replaceable(info)
	}
	return dest{}, linked, errors.New("too many symbolic links")
}
