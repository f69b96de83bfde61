package inspect

import (
	"errors"
	"fmt"
	"strings"

	"github.com/gobwas/glob"

	"ckpt/pytree"
)

// Options is what to show of a file.
type Options struct {
	// At is a path in either written form. Only what it covers is shown: the node
	// there and all below it. A dotted path may end inside a dotted key.
	At string
	// Match is a pattern for whole dotted names: * stands for any text without a
	// dot, ** for any text, ? for one character but a dot, [a-z] and {x,y} for
	// alternatives.
	Match string
	// Depth is how many parts of a dotted name are shown, counted from At; what is
	// deeper is summed up. 0 means all.
	Depth int
	// Digest and Stats ask for what only reading tensors through can tell.
	Digest, Stats bool
	// Full asks the text form for a line for every entry, under its full name.
	Full bool
}

// Query is options that have been checked.
type Query struct {
	opt   Options
	at    string      // the dotted form of opt.At
	exact pytree.Path // opt.At, if it is exact
	glob  *glob.Pattern
}

// NewQuery checks the options.
func NewQuery(opt Options) (*Query, error) {
	q := &Query{opt: opt, at: opt.At}
	var err error
	if strings.HasPrefix(opt.At, "[") {
		if q.exact, err = pytree.ParsePath(opt.At); err != nil {
			return nil, fmt.Errorf("--at: %w", err)
		}
		q.at = q.exact.Dotted()
	}
	if opt.Match != "" {
		if q.glob, err = glob.Compile(opt.Match, '.'); err != nil {
			return nil, fmt.Errorf("--match: %w", err)
		}
	}
	if opt.Depth < 0 {
		return nil, errors.New("--depth: must not be negative")
	}
	return q, nil
}

// all reports whether the query selects every entry.
func (q *Query) all() bool { return q.opt.At == "" && q.glob == nil }

// selects reports whether the entry at p, of the given dotted name, is asked for.
func (q *Query) selects(p pytree.Path, name string) bool {
	return q.below(p, name) && (q.glob == nil || q.glob.Match(name))
}

// below reports whether At covers the path.
func (q *Query) below(p pytree.Path, name string) bool {
	switch {
	case q.opt.At == "":
		return true
	case q.exact != "":
		return holds(q.exact, p)
	}
	return covers(q.at, name)
}

// covers reports whether a dotted prefix covers a name, on key boundaries.
func covers(prefix, name string) bool {
	return strings.HasPrefix(name, prefix) && (len(name) == len(prefix) || name[len(prefix)] == '.')
}

// holds reports whether p is at or below the exact path top.
func holds(top, p pytree.Path) bool {
	if top == pytree.Root {
		return true
	}
	stem := top[:len(top)-1]
	return strings.HasPrefix(string(p), string(stem)) && len(p) > len(stem) && (p[len(stem)] == ',' || p[len(stem)] == ']')
}

// cut is the part of a name that is shown within Depth, and whether that is less
// than all of it.
func (q *Query) cut(name string) (string, bool) {
	if q.opt.Depth == 0 {
		return name, false
	}
	from := 0
	if q.at != "" && covers(q.at, name) {
		from = min(len(q.at)+1, len(name))
	}
	for left := q.opt.Depth; ; left-- {
		dot := strings.IndexByte(name[from:], '.')
		switch {
		case dot < 0:
			return name, false
		case left == 1:
			return name[:from+dot], true
		}
		from += dot + 1
	}
}
