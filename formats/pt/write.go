package pt

import (
	"fmt"
	"io"

	"ckpt/formats"
	"ckpt/pickle"
	"ckpt/pytree"
)

// write writes a tree as a torch zip.
//
// The pickle comes first, as in torch's own files, so the storages' keys are
// given out in the order in which the pickle first refers to them; which bytes
// of a storage are kept is known before, from a walk over all tensors.
func write(o *formats.Output, t *pytree.Tree) error {
	plan, err := planStorages(t)
	if err != nil {
		return err
	}
	z := newZipWriter(o, "archive/")
	e := &encoder{plan: plan, views: make(map[slot]pytree.Node), sets: make(map[*pickle.Object]*pickle.Object)}
	encode := func(w io.Writer) error {
		e.w = pickle.NewWriter(w)
		if err := e.node(t.Root); err != nil {
			return err
		}
		_, err := e.w.Close()
		return err
	}
	size := int64(-1)
	if plan.inline > bigPickle {
		// Its header must tell whether its size takes 8 bytes: encode it once for
		// the count alone.
		var n countWriter
		if err := encode(&n); err != nil {
			return err
		}
		size = int64(n)
		plan.reset()
	}
	if err := z.stream("data.pkl", size, encode); err != nil {
		return err
	}
	if err := z.bytes("byteorder", "little"); err != nil {
		return err
	}
	for _, s := range plan.order {
		if err := z.source("data/"+s.key, s.source()); err != nil {
			return fmt.Errorf("storage %q: %w", s.of.Key, err)
		}
	}
	if err := z.bytes("version", "3\n"); err != nil {
		return err
	}
	return z.close()
}

// bigPickle is how many bytes of arrays make the size of a pickle worth
// counting before it is written.
const bigPickle = 1 << 30

type countWriter int64

func (c *countWriter) Write(p []byte) (int, error) {
	*c += countWriter(len(p))
	return len(p), nil
}
