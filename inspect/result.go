package inspect

import (
	"context"
	"errors"
	"fmt"
	"math"

	"ckpt/formats"
	"ckpt/pytree"
)

// ErrNothing is why a query has no result: it selects no entry of the file.
var ErrNothing = errors.New("nothing was examined")

// Result is what a query found in one file.
type Result struct {
	// File is the operand as the user gave it.
	File       string
	Checkpoint *formats.Checkpoint
	// Total is the file's, Selected that of the entries which the query selects.
	Total, Selected Totals
	// Unreferenced is how many of the stored bytes no tensor covers.
	Unreferenced int64

	q      *Query
	ledger *ledger
	exams  []pytree.Exam // of the selected tensors in file order, if asked for
}

// Run answers the query for an open file. If tensors are to be read, progress,
// unless it is nil, is told how many bytes that will be, and what it returns is
// told of them as they are read, from several goroutines.
//
// An error wraps [ErrNothing] if the query selects nothing. What went wrong with
// single tensors is for [Result.Err] to tell.
func (q *Query) Run(ctx context.Context, file string, c *formats.Checkpoint, progress Progress) (*Result, error) {
	r := &Result{File: file, Checkpoint: c, q: q, ledger: newLedger(c.Tree.Root)}
	r.Unreferenced = max(0, c.Stored-r.ledger.covered)
	tensors, entries := r.count()
	if entries == 0 && !q.all() {
		return nil, q.nothing(c.Tree)
	}
	if q.opt.Digest || q.opt.Stats {
		opt := pytree.ExamOptions{Digest: q.opt.Digest, Stats: q.opt.Stats}
		if progress != nil {
			opt.Progress = progress(int64(min(r.Selected.TensorBytes, math.MaxInt64)))
		}
		r.exams = pytree.Examine(ctx, tensors, opt)
	}
	return r, ctx.Err()
}

// Progress is told how many bytes there are to do, and gives the function that
// is told of those done.
type Progress func(total int64) (done func(n int64))

// Summary gives the totals of a tree.
func Summary(t *pytree.Tree) Totals {
	r := Result{Checkpoint: &formats.Checkpoint{Tree: t}, q: &Query{}, ledger: newLedger(t.Root)}
	r.count()
	return r.Total
}

// count takes the totals. It lists the selected tensors if they are to be
// examined, and counts the selected entries.
func (r *Result) count() (tensors []*pytree.Tensor, entries int) {
	counts := r.ledger.cursor()
	examined := r.q.opt.Digest || r.q.opt.Stats
	if r.q.all() && r.q.opt.Depth == 0 {
		// Nearly always: no path need be made.
		eachTensor(r.Checkpoint.Tree.Root, func(t *pytree.Tensor) {
			n, _ := counts.next("", t)
			r.Total.add(n)
			if examined {
				tensors = append(tensors, t)
			}
		})
		r.Selected = r.Total
		return tensors, 0
	}
	for p, n := range r.Checkpoint.Tree.Entries() {
		name := p.Dotted()
		selected := r.q.selects(p, name)
		if selected {
			entries++
		}
		t, ok := n.(*pytree.Tensor)
		if !ok {
			continue
		}
		own, _ := counts.next(p, t)
		r.Total.add(own)
		if !selected {
			continue
		}
		r.Selected.add(own)
		if _, deeper := r.q.cut(name); examined && !deeper {
			tensors = append(tensors, t)
		}
	}
	return tensors, entries
}

// Err is what went wrong with single tensors, by their paths: nil, or an error
// that wraps [pytree.ErrExpanded] if that is all that did.
func (r *Result) Err() error {
	var failed, refused []error
	r.each(visitor{entry: func(e entry) error {
		if e.exam == nil || e.exam.Err == nil {
			return nil
		}
		err := fmt.Errorf("%s: %w", shownName(e.path), e.exam.Err)
		if errors.Is(err, pytree.ErrExpanded) {
			refused = append(refused, err)
		} else {
			failed = append(failed, err)
		}
		return nil
	}})
	if len(failed) > 0 {
		return errors.Join(failed...)
	}
	return errors.Join(refused...)
}

// shownName is a path for a message: dotted, or exact where that says nothing.
func shownName(p pytree.Path) string {
	if d := p.Dotted(); d != "" {
		return pytree.Printable(d)
	}
	return pytree.Printable(p.JSON())
}

// entry is a leaf or an empty container, or a subtree that is summed up.
type entry struct {
	path  pytree.Path
	name  string
	node  pytree.Node // nil for a subtree
	count count
	alias tie
	exam  *pytree.Exam
	sub   *subtree
	seq   int // where it stands among the selected leaves, in file order
	above *line
}

// subtree is what lies deeper than the query's depth.
type subtree struct {
	entries int
	Totals
}

// visitor is called by [Result.each].
type visitor struct {
	entry func(entry) error
	// enter, if set, is called for every container, before its entries.
	enter func(p pytree.Path, c *pytree.Container)
	// leaf, if set, is called for every selected leaf, however deep. What it
	// reports false for does not become an entry.
	leaf func(e *entry) bool
}

// each visits the selected entries in file order, subtrees where their first
// entry is. It stops at an error.
func (r *Result) each(v visitor) (err error) {
	if r.q.opt.Depth > 0 {
		return r.eachShallow(v)
	}
	return r.eachLeaf(v)
}

func (r *Result) eachLeaf(v visitor) (err error) {
	counts := r.ledger.cursor()
	exam, seq := 0, 0
	r.Checkpoint.Tree.Walk(pytree.Visitor{
		Enter: func(p pytree.Path, c *pytree.Container) bool {
			if v.enter != nil {
				v.enter(p, c)
			}
			return true
		},
		Leaf: func(p pytree.Path, n pytree.Node) bool {
			e := entry{path: p, name: p.Dotted(), node: n}
			t, tensor := n.(*pytree.Tensor)
			if tensor {
				e.count, e.alias = counts.next(p, t)
			}
			if !r.q.selects(p, e.name) {
				return true
			}
			if _, deeper := r.q.cut(e.name); tensor && r.exams != nil && !deeper {
				e.exam = &r.exams[exam]
				exam++
			}
			e.seq = seq
			seq++
			if v.leaf != nil && !v.leaf(&e) {
				return true
			}
			err = v.entry(e)
			return err == nil
		},
	})
	return err
}

// eachShallow sums up what is deeper than the query's depth.
func (r *Result) eachShallow(v visitor) error {
	var list []entry
	at := make(map[string]int)
	r.eachLeaf(visitor{enter: v.enter, leaf: v.leaf, entry: func(e entry) error {
		name, deeper := r.q.cut(e.name)
		if !deeper {
			list = append(list, e)
			return nil
		}
		i, ok := at[name]
		if !ok {
			i = len(list)
			at[name] = i
			list = append(list, entry{path: prefixPath(e.path, name), name: name, sub: &subtree{}, seq: e.seq, above: e.above})
		}
		sub := list[i].sub
		sub.entries++
		if _, ok := e.node.(*pytree.Tensor); ok {
			sub.add(e.count)
		}
		return nil
	}})
	for _, e := range list {
		if err := v.entry(e); err != nil {
			return err
		}
	}
	return nil
}

// prefixPath is the path above p with the given dotted form, or "" where that
// ends inside a key.
func prefixPath(p pytree.Path, name string) pytree.Path {
	top := pytree.Root
	for _, k := range p.Keys() {
		top = top.Child(k)
		if d := top.Dotted(); d == name {
			return top
		} else if len(d) > len(name) {
			break
		}
	}
	return ""
}
