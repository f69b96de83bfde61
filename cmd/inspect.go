package cmd

import (
	"context"
	"fmt"

	"github.com/spf13/cobra"

	"ckpt/inspect"
)

func newInspect(a *app) *cobra.Command {
	var opt inspect.Options
	var as string
	c := &cobra.Command{
		Use:   "inspect FILE...",
		Short: "Show what is in a checkpoint",
		Long: `Shows what is in a checkpoint, reading its structure only: a tree of everything
in it with sizes, numbers of parameters and their share. Entries that differ in
integer keys only are folded into one line, whose size and parameters are those
of all of them. What several tensors share is counted once.

With --stats, minimum, maximum, mean and (population) standard deviation are those
of the finite values, as 64-bit floats; NaN and infinite values are counted apart.

With --format json each file is one object on one line, with every entry.`,
		Example: `  ckpt inspect model.pt
  ckpt inspect model.pt --at model.encoder --depth 2
  ckpt inspect model.pt --match '**.weight' --stats
  ckpt inspect --format json --digest model.pt | jq '.entries[].name'`,
		Args: operands(1, -1, "FILE"),
		RunE: func(c *cobra.Command, args []string) error {
			q, err := inspect.NewQuery(opt)
			if err != nil {
				return usageError{err, c}
			}
			if err := checkAs(c, as); err != nil {
				return err
			}
			for _, name := range args {
				if err := a.inspect(c.Context(), q, name, as); err != nil {
					a.fail(err)
				}
				if c.Context().Err() != nil {
					break
				}
			}
			return nil
		},
	}
	f := c.Flags()
	f.StringVar(&opt.At, "at", "", "show only what is at or below `PATH`, dotted or a JSON list of keys")
	f.IntVar(&opt.Depth, "depth", 0, "sum up what is deeper than `N` parts of a dotted name (0: show all)")
	f.StringVar(&opt.Match, "match", "", "show only entries whose dotted name matches `GLOB`; * ends at a dot, ** does not")
	f.BoolVar(&opt.Digest, "digest", false, "show the SHA-256 of each tensor's dtype, shape and values")
	f.BoolVar(&opt.Stats, "stats", false, "show minimum, maximum, mean, standard deviation, zeros, NaN and Inf of each tensor")
	f.BoolVar(&opt.Full, "full", false, "a line for every entry, under its full name")
	asFlag(c, &as, "each FILE")
	return c
}

// inspect shows one file.
func (a *app) inspect(ctx context.Context, q *inspect.Query, name, as string) error {
	f, err := open(name, as)
	if err != nil {
		return err
	}
	defer f.Close()
	bar := a.newBar("reading " + name)
	r, err := q.Run(ctx, name, f.Checkpoint, bar.start)
	bar.stop()
	if err != nil {
		return fileError{name, err}
	}
	if err := a.show(r); err != nil {
		return fileError{name, err}
	}
	if err := r.Err(); err != nil {
		return fileError{name, err}
	}
	return nil
}

// show prints a result, apart from the one before it.
func (a *app) show(r *inspect.Result) error {
	if a.json() {
		return r.WriteJSON(a.out)
	}
	if a.shown {
		fmt.Fprintln(a.out) // if it fails, so does the next write
	}
	a.shown = true
	return r.WriteText(a.out, inspect.TextOptions{Width: width(a.out), Color: color(a.out)})
}
