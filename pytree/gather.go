package pytree

import (
	"cmp"
	"fmt"
	"io"
	"slices"
)

const (
	// gatherBlock is how many logical bytes of a strided tensor are put together
	// at a time. Larger blocks turn a transposed matrix into fewer, longer reads.
	gatherBlock = 8 << 20
	// gatherPiece is the most that is read at once to pick elements from.
	gatherPiece = 2 << 20
	// gatherSmall is how much is read in one go however little of it is wanted: a
	// second read would cost as much.
	gatherSmall = 64 << 10
	// gatherWaste is how many times what is wanted is read in one go otherwise.
	gatherWaste = 4
)

// gather reads a strided view block by block.
type gather struct {
	r     io.ReaderAt
	done  func() error
	shape []int64
	step  []int64 // bytes from one index of a dimension to the next
	start int64   // where in r the first element is
	item  int64
	split int   // the dimension along which blocks are cut
	rows  int64 // how many indices of it make a block
	next  []int64
	out   []byte // the block at hand
	ready []byte // what of it is unread
	tmp   []byte
	err   error
}

// dim is one dimension of a box to gather: n indices, in bytes from and to.
// Boxes are read upwards: src is never negative.
type dim struct {
	n, src, dst int64
}

// newGather reads t, which is not contiguous, in blocks of about so many bytes.
func newGather(t *Tensor, block int64) *gather {
	g := &gather{item: int64(t.Size()), shape: t.Shape}
	at, base, done := ReaderAt(t.Storage.Source)
	g.r, g.done = at, done
	g.start = base + t.Offset*g.item
	for _, s := range t.Strides {
		g.step = append(g.step, s*g.item)
	}
	if g.item > block {
		// An element too long to hold is one more dimension: of bytes.
		g.shape = append(slices.Clone(g.shape), g.item)
		g.step = append(g.step, 1)
		g.item = 1
	}
	g.next = make([]int64, len(g.shape))
	inner := g.item
	g.split = len(g.shape) - 1
	for g.split > 0 && inner*g.shape[g.split] <= block {
		inner *= g.shape[g.split]
		g.split--
	}
	g.rows = min(g.shape[g.split], max(1, block/inner))
	g.out = make([]byte, g.rows*inner)
	return g
}

func (g *gather) Close() error { return g.done() }

func (g *gather) Read(p []byte) (int, error) {
	if len(p) == 0 {
		return 0, nil
	}
	if len(g.ready) == 0 {
		if g.err == nil {
			g.ready, g.err = g.fill()
		}
		if len(g.ready) == 0 {
			return 0, g.err
		}
	}
	n := copy(p, g.ready)
	g.ready = g.ready[n:]
	return n, nil
}

// fill gathers the block at g.next and moves on. The last block comes with
// io.EOF.
func (g *gather) fill() ([]byte, error) {
	src, dst := g.start, int64(0)
	for i, x := range g.next {
		src += x * g.step[i]
	}
	rows := min(g.rows, g.shape[g.split]-g.next[g.split])
	box := make([]dim, 0, len(g.shape)-g.split)
	run, size := g.item, g.item // bytes that lie together; bytes of the dimensions so far
	for i := len(g.shape) - 1; i >= g.split; i-- {
		d := dim{g.shape[i], g.step[i], size}
		if i == g.split {
			d.n = rows
		}
		size *= d.n
		switch {
		case d.n == 1:
			continue
		case d.src == run && d.dst == run:
			run *= d.n
			continue
		case d.src < 0:
			src += (d.n - 1) * d.src
			dst += (d.n - 1) * d.dst
			d.src, d.dst = -d.src, -d.dst
		}
		box = append(box, d)
	}
	// Largest step first: cutting there leaves the densest pieces.
	slices.SortStableFunc(box, func(a, b dim) int { return cmp.Compare(b.src, a.src) })
	if err := g.copyBox(box, run, src, dst); err != nil {
		return nil, err
	}
	return g.out[:size], g.advance(rows)
}

// advance moves g.next past rows indices of the split dimension.
func (g *gather) advance(rows int64) error {
	step := rows
	for i := g.split; i >= 0; i-- {
		g.next[i] += step
		if g.next[i] < g.shape[i] {
			return nil
		}
		g.next[i], step = 0, 1
	}
	return io.EOF
}

// copyBox copies a box of runs, whose first is at src, into g.out at dst: in one
// read where that is not much too long, else piece by piece.
func (g *gather) copyBox(box []dim, run, src, dst int64) error {
	if len(box) == 0 {
		return g.readAt(g.out[dst:dst+run], src)
	}
	extent, size := run, run
	for _, d := range box {
		extent += (d.n - 1) * d.src
		size *= d.n
	}
	first, rest := box[0], box[1:]
	switch {
	case extent > max(gatherSmall, gatherWaste*size):
		for i := range first.n {
			if err := g.copyBox(rest, run, src+i*first.src, dst+i*first.dst); err != nil {
				return err
			}
		}
		return nil
	case extent > gatherPiece && first.n == 1:
		return g.copyBox(rest, run, src, dst)
	case extent > gatherPiece:
		half := first.n / 2
		if err := g.copyBox(slices.Concat([]dim{{half, first.src, first.dst}}, rest), run, src, dst); err != nil {
			return err
		}
		return g.copyBox(slices.Concat([]dim{{first.n - half, first.src, first.dst}}, rest), run, src+half*first.src, dst+half*first.dst)
	}
	if int64(cap(g.tmp)) < extent {
		g.tmp = make([]byte, extent)
	}
	tmp := g.tmp[:extent]
	if err := g.readAt(tmp, src); err != nil {
		return err
	}
	scatter(g.out, tmp, box, run, dst, 0)
	return nil
}

func (g *gather) readAt(p []byte, off int64) error {
	if n, err := g.r.ReadAt(p, off); n < len(p) {
		return fmt.Errorf("%d of %d bytes missing at byte %d: %w", len(p)-n, len(p), off, noEOF(err))
	}
	return nil
}

// scatter copies the runs of a box from src in tmp to dst in out.
func scatter(out, tmp []byte, box []dim, run, dst, src int64) {
	d := box[0]
	if len(box) > 1 {
		for range d.n {
			scatter(out, tmp, box[1:], run, dst, src)
			src, dst = src+d.src, dst+d.dst
		}
		return
	}
	switch run {
	case 1:
		for range d.n {
			out[dst] = tmp[src]
			src, dst = src+d.src, dst+d.dst
		}
	case 2:
		for range d.n {
			*(*[2]byte)(out[dst:]) = *(*[2]byte)(tmp[src:])
			src, dst = src+d.src, dst+d.dst
		}
	case 4:
		for range d.n {
			*(*[4]byte)(out[dst:]) = *(*[4]byte)(tmp[src:])
			src, dst = src+d.src, dst+d.dst
		}
	case 8:
		for range d.n {
			*(*[8]byte)(out[dst:]) = *(*[8]byte)(tmp[src:])
			src, dst = src+d.src, dst+d.dst
		}
	default:
		for range d.n {
			copy(out[dst:dst+run], tmp[src:src+run])
			src, dst = src+d.src, dst+d.dst
		}
	}
}
