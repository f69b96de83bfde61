package cmd

import (
	"errors"
	"io/fs"
	"os"

	"github.com/spf13/cobra"

	"ckpt/formats"
	"ckpt/formats/all"
)

// opened is a checkpoint and the file that its tensors are in.
type opened struct {
	*formats.Checkpoint
	name string
	file *os.File
}

func (o *opened) Close() error { return o.file.Close() }

// open reads the structure of the checkpoint at name. Errors are fileErrors.
func open(name, as string) (*opened, error) {
	// Before it is opened: a pipe would wait for a writer.
	info, err := os.Stat(name)
	if err != nil {
		return nil, fileError{name, cause(err)}
	}
	switch {
	case info.IsDir():
		return nil, fileError{name, errors.New("is a directory, not a checkpoint")}
	case !info.Mode().IsRegular():
		return nil, fileError{name, withHint(errors.New("is not a regular file"), "a checkpoint is read at many places, which a pipe or a device cannot do: save it to a file first")}
	}
	f, err := os.Open(name)
	if err != nil {
		return nil, fileError{name, cause(err)}
	}
	// Of the file that was opened, in case it is no longer the same one.
	if info, err = f.Stat(); err != nil {
		f.Close()
		return nil, fileError{name, cause(err)}
	}
	c, err := all.Formats.Open(f, info.Size(), as)
	if err != nil {
		f.Close()
		return nil, fileError{name, err}
	}
	return &opened{c, name, f}, nil
}

// cause is the error of a system call without the call and the path.
func cause(err error) error {
	var p *fs.PathError
	if errors.As(err, &p) {
		return p.Err
	}
	return err
}

// asFlag is --as: the name of a format to read what as.
func asFlag(c *cobra.Command, as *string, what string) {
	c.Flags().StringVar(as, "as", "", "read "+what+" as this `FORMAT`, whatever it looks like")
	var names []string
	for _, f := range all.Formats {
		names = append(names, f.Name)
	}
	complete(c, "as", names...)
}

// checkAs verifies the value of --as before a file is opened.
func checkAs(c *cobra.Command, as string) error {
	if as == "" {
		return nil
	}
	if _, err := all.Formats.ByName(as); err != nil {
		return usageError{err, c}
	}
	return nil
}
