package pytree

import (
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"errors"
	"fmt"
	"hash"
	"io"
	"math"
	"runtime"
	"slices"
	"sync"
	"sync/atomic"
)

// Exam is what reading a tensor through tells of it.
type Exam struct {
	// Digest is "sha256:" and the SHA-256, in hexadecimal, of the dtype's name, a
	// NUL, the shape as decimal numbers joined by "x", a NUL, and the logical
	// bytes. It is the same for any layout, byte order and format.
	Digest string
	Stats  *Stats
	Err    error
}

// ExamOptions says what [Examine] should find out.
type ExamOptions struct {
	Digest, Stats bool
	// Progress, if set, is called with the number of logical bytes done since
	// the last call, from several goroutines.
	Progress func(n int64)
}

// ErrExpanded is why a tensor was not examined: it repeats few stored bytes so
// often that reading it through would take beyond reason.
var ErrExpanded = errors.New("expands to far more bytes than are stored")

// expansionAllowance is how many logical bytes all tensors together may have
// beyond those that are stored, before the rest is refused.
const expansionAllowance = 256 << 20

// Digest reads the tensor through and gives its digest.
func (t *Tensor) Digest() (string, error) {
	e := newExaminer(ExamOptions{Digest: true}).examine(context.Background(), t)
	return e.Digest, e.Err
}

// copyBlock is how many bytes are read at a time: whole elements of all dtypes
// that [Stats] are made of.
const copyBlock = 256 << 10

// Examine reads tensors through, each once, several at a time, and gives their
// results in the same order. Views that are equal are read once.
func Examine(ctx context.Context, tensors []*Tensor, opt ExamOptions) []Exam {
	exams := make([]Exam, len(tensors))
	first, same := distinctViews(tensors)
	refuseExpanded(tensors, first, exams)
	// The longest first, so that none is left alone at the end.
	slices.SortStableFunc(first, func(a, b int) int {
		return cmp.Compare(tensors[b].Bytes(), tensors[a].Bytes())
	})
	var next atomic.Int64
	var wg sync.WaitGroup
	for range min(runtime.GOMAXPROCS(0), len(first)) {
		wg.Go(func() {
			x := newExaminer(opt)
			for n := next.Add(1); n <= int64(len(first)); n = next.Add(1) {
				if i := first[n-1]; exams[i].Err == nil {
					exams[i] = x.examine(ctx, tensors[i])
				}
			}
		})
	}
	wg.Wait()
	for i, j := range same {
		exams[i] = exams[j]
	}
	return exams
}

// viewKey is what two equal views of one storage have in common.
type viewKey struct {
	storage *Storage
	dtype   DType
	layout  string
}

// distinctViews lists the first index of each view, and for every other index
// the one that it equals.
func distinctViews(tensors []*Tensor) (first []int, same map[int]int) {
	same = make(map[int]int)
	seen := make(map[viewKey]int, len(tensors))
	var buf []byte
	for i, t := range tensors {
		buf = appendLayout(buf[:0], t)
		k := viewKey{t.Storage, t.DType, string(buf)}
		if j, ok := seen[k]; ok {
			same[i] = j
			continue
		}
		seen[k] = i
		first = append(first, i)
	}
	return first, same
}

// appendLayout writes down all that makes the logical bytes of a view out of its
// storage and dtype.
func appendLayout(buf []byte, t *Tensor) []byte {
	buf = binary.AppendVarint(buf, int64(t.Size()))
	buf = binary.AppendVarint(buf, t.Offset)
	buf = binary.AppendVarint(buf, int64(len(t.Shape)))
	for _, d := range t.Shape {
		buf = binary.AppendVarint(buf, d)
	}
	buf = append(buf, byte(t.Signs))
	buf = binary.AppendVarint(buf, int64(len(t.Swap)))
	for _, w := range t.Swap {
		buf = binary.AppendVarint(buf, int64(w))
	}
	if !t.Contiguous() {
		for _, s := range t.Strides {
			buf = binary.AppendVarint(buf, s)
		}
	}
	return buf
}

// refuseExpanded marks the tensors whose reading would multiply the stored
// bytes: a stride of zero makes any number of elements out of one, and any
// number of views can lie on one storage.
func refuseExpanded(tensors []*Tensor, indices []int, exams []Exam) {
	stored := make(map[*Storage]int64)
	left := int64(expansionAllowance)
	for _, i := range indices {
		t := tensors[i]
		if _, ok := stored[t.Storage]; !ok {
			// Twice, since a tie or an overlap is nothing unusual.
			stored[t.Storage] = 2 * min(t.Storage.Size(), math.MaxInt64/2)
		}
		n := t.Bytes()
		paid := min(n, stored[t.Storage])
		if n-paid > left {
			exams[i].Err = fmt.Errorf("%d logical bytes: %w", n, ErrExpanded)
			continue
		}
		stored[t.Storage] -= paid
		left -= n - paid
	}
}

// examiner is what one goroutine needs to examine tensors one after another.
type examiner struct {
	opt ExamOptions
	buf []byte
	sum hash.Hash
	acc accumulator
}

func newExaminer(opt ExamOptions) *examiner {
	return &examiner{opt: opt, buf: make([]byte, copyBlock), sum: sha256.New()}
}

func (x *examiner) examine(ctx context.Context, t *Tensor) (e Exam) {
	if err := ctx.Err(); err != nil {
		return Exam{Err: err}
	}
	rc, err := t.Open()
	if err != nil {
		return Exam{Err: err}
	}
	defer func() {
		if err := rc.Close(); err != nil && e.Err == nil {
			e = Exam{Err: err}
		}
	}()
	x.sum.Reset()
	io.WriteString(x.sum, string(t.DType)+"\x00"+joinInts(t.Shape, "x")+"\x00")
	numbers := x.opt.Stats && x.acc.reset(t.DType)
	for left := t.Bytes(); left > 0; {
		if err := ctx.Err(); err != nil {
			return Exam{Err: err}
		}
		b := x.buf[:min(left, copyBlock)]
		if _, err := io.ReadFull(rc, b); err != nil {
			return Exam{Err: noEOF(err)}
		}
		if x.opt.Digest {
			x.sum.Write(b)
		}
		if numbers {
			x.acc.add(b)
		}
		left -= int64(len(b))
		if x.opt.Progress != nil {
			x.opt.Progress(int64(len(b)))
		}
	}
	if x.opt.Digest {
		e.Digest = "sha256:" + hex.EncodeToString(x.sum.Sum(nil))
	}
	if numbers {
		e.Stats = x.acc.stats()
	}
	return e
}
