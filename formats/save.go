package formats

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"runtime"
	"sync"

	"ckpt/durable"
	"ckpt/pytree"
)

// SaveOptions says how [Save] writes.
type SaveOptions struct {
	// Overwrite allows an existing file to be replaced.
	Overwrite bool
	// Progress, if set, is told of bytes written and, after that, of bytes read
	// back for verification. It may be called from several goroutines.
	Progress func(n int64)
}

// Save writes a tree to a file, all or nothing: into a temporary file beside
// it, which is read back and compared before it takes the name. The structure
// read back must be the tree's, and every checksum in the file must hold.
// The sources of the tree may lie in the file that is replaced.
func Save(ctx context.Context, path string, f *Format, t *pytree.Tree, opt SaveOptions) (*Checkpoint, error) {
	if f.Write == nil {
		return nil, fmt.Errorf("%s: format %s is only read", path, f.Name)
	}
	var written *Checkpoint
	err := durable.WriteFile(ctx, path, durable.Options{Overwrite: opt.Overwrite},
		func(file *os.File) error {
			o := NewOutput(ctx, file, opt.Progress)
			if err := f.Write(o, t); err != nil {
				return err
			}
			return o.Flush()
		},
		func(file *os.File) error {
			c, err := Verify(ctx, f, file, t, opt.Progress)
			written = c
			return err
		})
	return written, err
}

// Verify reads back what was written of t and compares.
func Verify(ctx context.Context, f *Format, file *os.File, t *pytree.Tree, progress func(int64)) (*Checkpoint, error) {
	info, err := file.Stat()
	if err != nil {
		return nil, err
	}
	c, err := f.Read(file, info.Size())
	if err != nil {
		return nil, fmt.Errorf("verify what was written: %w", err)
	}
	c.Format, c.Size = f, info.Size()
	if err := pytree.Same(t, c.Tree); err != nil {
		return nil, fmt.Errorf("verify what was written: it reads back different: %w", err)
	}
	if err := VerifyChecksums(ctx, c, progress); err != nil {
		return nil, fmt.Errorf("verify what was written: %w", err)
	}
	return c, nil
}

// VerifyChecksums reads every part of the file that carries a checksum, several
// at a time, and reports all that do not match.
func VerifyChecksums(ctx context.Context, c *Checkpoint, progress func(int64)) error {
	errs := make([]error, len(c.Checked))
	work := make(chan int)
	var wg sync.WaitGroup
	size := int64(512)
	for _, src := range c.Checked {
		size = max(size, min(src.Size(), sumBlock))
	}
	for range min(runtime.GOMAXPROCS(0), len(c.Checked)) {
		wg.Go(func() {
			buf := make([]byte, size)
			for i := range work {
				errs[i] = readThrough(ctx, c.Checked[i], buf, progress)
			}
		})
	}
	for i := range c.Checked {
		work <- i
	}
	close(work)
	wg.Wait()
	return errors.Join(errs...)
}

// readThrough reads a source to its end; sources with a checksum verify it.
func readThrough(ctx context.Context, src pytree.Source, buf []byte, progress func(int64)) (err error) {
	rc, err := src.Open()
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, rc.Close()) }()
	for {
		if err := ctx.Err(); err != nil {
			return err
		}
		n, err := rc.Read(buf)
		if progress != nil {
			progress(int64(n))
		}
		if err == io.EOF {
			return nil
		}
		if err != nil {
			return err
		}
	}
}
