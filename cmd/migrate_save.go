package cmd

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"strings"

	"ckpt/durable"
	"ckpt/formats"
	"ckpt/formats/all"
	"ckpt/inspect"
	"ckpt/pytree"
	"ckpt/report"
)

// written is what `ckpt migrate --format json` says of the new file.
type written struct {
	File        string `json:"file"`
	Format      string `json:"format"`
	Variant     string `json:"variant"`
	Size        int64  `json:"size"`
	Tensors     int    `json:"tensors"`
	Parameters  uint64 `json:"parameters"`
	TensorBytes uint64 `json:"tensor_bytes"`
	Verified    bool   `json:"verified"`
	Title       string `json:"-"` // the variant for people
}

// write saves the new tree.
func (s *migration) write(ctx context.Context) (*written, error) {
	tree, err := s.plan.Apply()
	if err != nil {
		return nil, fileError{s.old.name, err}
	}
	totals := inspect.Summary(tree)
	bar := s.a.newBar("writing " + s.flags.out)
	defer bar.stop()
	c, err := formats.Save(ctx, s.flags.out, s.format(), tree, formats.SaveOptions{
		Overwrite: s.flags.overwrite,
		// Everything is written, then read for verification.
		Progress: bar.start(2 * int64(min(totals.TensorBytes, 1<<60))),
	})
	if err != nil {
		return nil, saveError(s.flags.out, err)
	}
	return &written{s.flags.out, c.Format.Name, c.Variant, c.Size, totals.Tensors, totals.Parameters, totals.TensorBytes, true, c.Title}, nil
}

// saveError names the file once: errors of the write begin with its name.
func saveError(name string, err error) error {
	var d *durable.Error
	if errors.As(err, &d) {
		return err
	}
	return fileError{name, err}
}

// format is the one to write: after the name, else as the template or OLD is.
func (s *migration) format() *formats.Format {
	if f := all.Formats.ByExt(s.flags.out); f != nil {
		return f
	}
	if s.template.Tree != nil {
		return s.template.Format
	}
	return s.old.Format
}

// conclude says what was done.
func (s *migration) conclude(o outcome) error {
	var err error
	switch bad := o.Report.Verdict() != report.Compatible; {
	case o.Output != nil:
		_, err = fmt.Fprintf(s.a.out, "\nwrote %s: %s, %d bytes, %s, verified\n",
			pytree.Printable(o.Output.File), o.Output.Title, o.Output.Size, report.Plural(o.Output.Tensors, "tensor", "tensors"))
	case bad && s.flags.out != "":
		_, err = fmt.Fprintf(s.a.out, "\nnothing was written to %s\n", pytree.Printable(s.flags.out))
	case bad:
		_, err = fmt.Fprintln(s.a.out, "\nchecked only: nothing was written")
	default:
		_, err = fmt.Fprintf(s.a.out, "\nchecked only: nothing was written\nhint: `%s -o %s`\n", s.command(), pytree.Printable(shellWord(s.suggestOut())))
	}
	return err
}

// suggestOut is a name for the file that could be written.
func (s *migration) suggestOut() string {
	ext := filepath.Ext(s.old.name)
	name := strings.TrimSuffix(s.old.name, ext) + ".migrated"
	if all.Formats.ByExt(s.old.name) == nil {
		ext = s.format().Exts[0]
	}
	return name + ext
}
