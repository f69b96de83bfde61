package durable

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
)

// Options say how [WriteFile] treats what it finds at the destination. The zero
// value creates a new file and refuses to replace one.
type Options struct {
	// Overwrite allows an existing file to be replaced.
	Overwrite bool

	// Replaces, if set, is the one file that may be replaced, in the state in
	// which the caller read it: its identity, size and modification time are
	// compared before anything is written and again just before the rename, and
	// [ErrChanged] is the answer where they differ. Whoever rewrites a file from
	// its own content sets it, lest a version that another program wrote
	// meanwhile be lost. It has a meaning only together with Overwrite.
	Replaces fs.FileInfo

	// Perm is the mode of the new file, whatever the umask. If zero, the file
	// has the mode of the one it replaces, or else 0666 under the umask.
	Perm fs.FileMode
}

// WriteFile creates or replaces the file at path with what write puts into the
// file that it is given, atomically and durably; see the package documentation
// for what exactly that means.
//
// The file passed to write is empty, open for reading and writing, and may be
// written in any order; write must not close it. Where the system can (Linux),
// the disk is kept busy meanwhile with what has been written already.
//
// The file passed to verify is a new read-only handle on the same content, which
// is brought to stable storage meanwhile; an error of either prevents the rename.
// A nil verify accepts whatever was written.
//
// Both functions run in the calling goroutine, and see to it themselves that
// they end soon after ctx is done; WriteFile checks ctx between its steps, and
// after the rename no more.
//
// Errors are of type *[Error].
func WriteFile(ctx context.Context, path string, opts Options, write, verify func(f *os.File) error) error {
	j := job{ctx: ctx, opts: opts}
	if err := j.run(path, write, verify); err != nil {
		return &Error{Path: path, Err: err, temp: j.temp.path}
	}
	return nil
}

// WriteBytes is [WriteFile] for content that is at hand, verified byte by byte.
func WriteBytes(ctx context.Context, path string, opts Options, content []byte) error {
	write := func(f *os.File) error {
		_, err := f.Write(content)
		return err
	}
	verify := func(f *os.File) error {
		got, err := io.ReadAll(io.LimitReader(f, int64(len(content))+1))
		if err == nil && !bytes.Equal(got, content) {
			err = errors.New("the content differs from what was to be written")
		}
		return err
	}
	return WriteFile(ctx, path, opts, write, verify)
}

// A job is one run of WriteFile.
type job struct {
	ctx  context.Context
	opts Options
	dest dest
	temp temp
}

func (j *job) run(path string, write, verify func(f *os.File) error) (err error) {
	if err := j.ctx.Err(); err != nil {
		return err
	}
	if j.dest, err = resolve(path); err != nil {
		return err
	}
	if err := j.mayReplace(j.dest.info); err != nil {
		return err
	}
	// Opened first: a directory that cannot be synced at the end must not be
	// found out after the rename.
	dir, err := os.Open(j.dest.dir)
	if err != nil {
		return fmt.Errorf("directory %s: %w", j.dest.dir, reason(err))
	}
	defer dir.Close()

	clearLeftovers(dir, j.dest)
	if j.temp, err = createTemp(j.dest, j.createMode()); err != nil {
		return err
	}
	defer func() {
		if lost := j.temp.discard(); lost != nil && err != nil {
			err = fmt.Errorf("%w; the temporary file %q could not be removed: %w", err, j.temp.path, lost)
		}
	}()
	if err := j.fill(write, verify); err != nil {
		return err
	}
	if err := j.commit(); err != nil {
		return err
	}
	step("renamed")
	if err := syncDir(dir); err != nil {
		return fmt.Errorf("the new file is in place, but directory %s could not be synced: %w", j.dest.dir, reason(err))
	}
	return nil
}

// fill brings the temporary file to its final, synced and verified state.
func (j *job) fill(write, verify func(f *os.File) error) error {
	stop := writeEarly(j.temp.file)
	defer stop() // also if write panics
	if err := write(j.temp.file); err != nil {
		return err
	}
	stop()
	step("written")
	if err := j.ctx.Err(); err != nil {
		return err
	}
	// Opened before the file gets its final mode, which may not allow it.
	r, err := os.Open(j.temp.path)
	if err != nil {
		return fmt.Errorf("reopening what was written: %w", reason(err))
	}
	defer r.Close()
	if err := j.setAttributes(); err != nil {
		return err
	}
	// The disk is busy for long; what it is given is still in memory meanwhile, and
	// can be verified.
	synced := make(chan error, 1)
	go func() { synced <- j.temp.file.Sync() }()
	var wrong error
	if verify != nil {
		wrong = verify(r)
	}
	step("verified")
	if err := <-synced; err != nil {
		return fmt.Errorf("sync: %w", reason(err))
	}
	step("synced")
	if wrong != nil {
		return fmt.Errorf("verifying what was written: %w", wrong)
	}
	return j.ctx.Err()
}

// commit gives the temporary file the destination's name.
func (j *job) commit() error {
	if !renamesOpenFiles {
		j.temp.file.Close() // synced, so nothing is left that could fail
	}
	if !j.opts.Overwrite {
		err := renameNew(j.temp.path, j.dest.path)
		if errors.Is(err, fs.ErrExist) {
			return ErrExists
		} else if err != nil {
			return fmt.Errorf("rename: %w", reason(err))
		}
		j.temp.moved = true
		return nil
	}
	if j.opts.Replaces != nil {
		now, err := os.Lstat(j.dest.path)
		if err != nil && !errors.Is(err, fs.ErrNotExist) {
			return reason(err)
		}
		if err := j.mayReplace(now); err != nil {
			return err
		}
	}
	if err := os.Rename(j.temp.path, j.dest.path); err != nil {
		return fmt.Errorf("rename: %w", reason(err))
	}
	j.temp.moved = true
	return nil
}

// mayReplace reports whether the options allow a file to take the place of what
// is at the destination: info, nil if there is nothing.
func (j *job) mayReplace(info fs.FileInfo) error {
	if !j.opts.Overwrite {
		if info != nil {
			return ErrExists
		}
		return nil
	}
	old := j.opts.Replaces
	if old == nil {
		return nil
	}
	if info == nil || !os.SameFile(old, info) || old.Size() != info.Size() || !old.ModTime().Equal(info.ModTime()) {
		return ErrChanged
	}
	return nil
}

// createMode is the mode the temporary file is born with: closed to others
// where the final one comes later, since it might be narrower than the umask's.
func (j *job) createMode() fs.FileMode {
	if j.opts.Perm == 0 && j.dest.info == nil {
		return 0o666
	}
	return 0o600
}

// setAttributes gives the temporary file its final owner, group and mode.
func (j *job) setAttributes() error {
	perm, old := j.opts.Perm.Perm(), j.dest.info
	groupKept := old == nil || keepOwner(j.temp.file, old)
	switch {
	case perm != 0:
	case old == nil:
		return nil // it was created with its final mode
	case groupKept:
		perm = old.Mode().Perm()
	default:
		perm = old.Mode().Perm()
		perm &= 0o707 | perm&0o007<<3
	}
	now, err := j.temp.file.Stat()
	if err != nil {
		return fmt.Errorf("stat: %w", reason(err))
	}
	// Some file systems have fixed modes and refuse any change, but not none.
	if now.Mode().Perm() == perm {
		return nil
	}
	if err := j.temp.file.Chmod(perm); err != nil {
		return fmt.Errorf("setting mode %v: %w", perm, reason(err))
	}
	return nil
}
