// Package formats is the door to every checkpoint format: what a format is,
// how one is recognised, and how a tree is saved.
//
// A format is one folder below this one that fills in a [Format]; the list of
// all of them is in formats/all, so that this package knows none. The only way
// into a file is an [io.ReaderAt] and a size, which a local file, a member of
// an archive and a remote object read by ranges all offer.
//
// Reading means reading structure: a reader that touches tensor bytes to list
// them is broken, and the conformance suite in formats/formattest counts. A
// reader believes no length before it has compared it with the bytes that are
// there, and answers anything malformed with an error that names the place.
package formats

import (
	"errors"
	"fmt"
	"io"
	"path/filepath"
	"strings"

	"ckpt/pytree"
)

// Format is one checkpoint format.
type Format struct {
	// Name is what --as takes and reports print: "pt".
	Name string
	// Doc is one line for people.
	Doc string
	// Exts are the file name extensions, with the dot, that writers use.
	Exts []string
	// Match reports whether the bytes look like this format. It reads little.
	Match func(r io.ReaderAt, size int64) bool
	// Read reads the structure. Storages stay in r, which must outlive the tree.
	Read func(r io.ReaderAt, size int64) (*Checkpoint, error)
	// Write writes a tree in this format's only or preferred variant. It is nil
	// for a format that is only read.
	Write func(w *Output, t *pytree.Tree) error
	// Variants describes what is read and written, for the table of formats.
	Variants []Variant
}

// Variant is a row of the table of formats.
type Variant struct {
	Name, Doc   string
	Read, Write bool
}

// Checkpoint is a file that was opened.
type Checkpoint struct {
	Tree *pytree.Tree
	// Variant is the kind of file within its format: "torch-zip".
	Variant string
	// Title is the variant for people: "PyTorch zip".
	Title string
	// Stored is how many bytes the file holds for tensors, referred to or not.
	Stored int64
	// Checked is every part of the file that carries a checksum.
	Checked []pytree.Checksummed
	// Notes says what is unusual about the file, a line each.
	Notes []string

	Format *Format
	Size   int64
}

// List is the formats in the order in which they are tried.
type List []*Format

// ByName finds a format by its name.
func (l List) ByName(name string) (*Format, error) {
	names := make([]string, 0, len(l))
	for _, f := range l {
		if f.Name == name {
			return f, nil
		}
		names = append(names, f.Name)
	}
	return nil, fmt.Errorf("no format %q; there are %s", name, strings.Join(names, ", "))
}

// ByExt finds the format that writes files named like path, or nil.
func (l List) ByExt(path string) *Format {
	ext := strings.ToLower(filepath.Ext(path))
	for _, f := range l {
		for _, e := range f.Exts {
			if e == ext && f.Write != nil {
				return f
			}
		}
	}
	return nil
}

// Open reads the structure of a checkpoint in whichever format it is, or in the
// one named by as.
func (l List) Open(r io.ReaderAt, size int64, as string) (*Checkpoint, error) {
	var f *Format
	if as != "" {
		var err error
		if f, err = l.ByName(as); err != nil {
			return nil, err
		}
	} else if f = l.match(r, size); f == nil {
		return nil, Unrecognised(r, size)
	}
	c, err := f.Read(r, size)
	if err != nil {
		return nil, err
	}
	c.Format, c.Size = f, size
	return c, nil
}

func (l List) match(r io.ReaderAt, size int64) *Format {
	for _, f := range l {
		if f.Match(r, size) {
			return f
		}
	}
	return nil
}

// hinted is an error with a word on what to do about it.
type hinted struct {
	error
	hint string
}

func (h hinted) Unwrap() error { return h.error }

// WithHint adds to err a word on what to do about it, for [Hint] to find.
func WithHint(err error, format string, args ...any) error {
	return hinted{err, fmt.Sprintf(format, args...)}
}

// Hint is the innermost hint that err carries, or "".
func Hint(err error) string {
	var h hinted
	if !errors.As(err, &h) {
		return ""
	}
	if inner := Hint(h.error); inner != "" {
		return inner
	}
	return h.hint
}
