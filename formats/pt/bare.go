package pt

import (
	"fmt"
	"io"

	"ckpt/formats"
	"ckpt/pickle"
)

// readPickle reads a bare pickle: what pickle.dump or joblib's uncompressed dump
// writes. Persistent ids in it refer to something that is not there.
func readPickle(r io.ReaderAt, size int64) (*formats.Checkpoint, error) {
	p, err := pickle.Read(r, 0, size)
	if err != nil {
		return nil, err
	}
	c := &formats.Checkpoint{Variant: "pickle", Title: fmt.Sprintf("pickle, protocol %d", p.Protocol)}
	b := newBuilder()
	if c.Tree, err = b.tree(p.Root, size); err != nil {
		return nil, err
	}
	if k := p.Root.Kind(); p.End < size && (k == pickle.BigInt || k == pickle.Int) {
		return nil, fmt.Errorf("the file begins with the number %s, as legacy PyTorch files do, but theirs is %s", repr(p.Root, 0), legacyNumber)
	}
	b.notes(c, p)
	if p.End < size {
		c.Notes = append(c.Notes, fmt.Sprintf("%d bytes after the end of the pickle are not read", size-p.End))
	}
	return c, nil
}

// notes says what the tree does not show: tensors in mapping keys and the like,
// and calls that the pickle makes for their effect alone, which a rewrite leaves
// out.
func (b *builder) notes(c *formats.Checkpoint, p *pickle.Pickle) {
	if b.unseen > 0 {
		c.Notes = append(c.Notes, fmt.Sprintf("not listed: %d of the tensors, which are in mapping keys or in attributes that are carried along unseen", b.unseen))
	}
	if len(p.Dropped) == 0 {
		return
	}
	names := make([]string, len(p.Dropped))
	for i, v := range p.Dropped {
		names[i] = callee(v.Obj())
	}
	c.Notes = append(c.Notes, "the pickle makes calls and drops what they return; they are not shown, and a rewrite leaves them out: "+listed(names, 5))
}
