package pytree

import (
	"bytes"
	"fmt"
	"io"
	"math/rand/v2"
	"sync/atomic"
	"testing"
)

// TestGatherSmallBlocks cuts views at every possible place, in the middle of
// elements too.
func TestGatherSmallBlocks(t *testing.T) {
	rng := rand.New(rand.NewPCG(13, 14))
	for range 10_000 {
		x := randomView(rng, 5, 5)
		if x.Contiguous() {
			continue
		}
		x.Storage.BigEndian = false
		want := naive(t, x)
		g := newGather(x, 1+rng.Int64N(int64(len(want))+8))
		got, err := io.ReadAll(g)
		if err != nil || !bytes.Equal(got, want) {
			t.Fatalf("%s in blocks of %d: %.99x, want %.99x (%v)", describeView(x), len(g.out), got, want, err)
		}
		if err := g.Close(); err != nil {
			t.Fatal(err)
		}
	}
}

// pattern is a source of any size whose bytes follow from their places, and
// which counts what is read of it.
type pattern struct {
	n     int64
	reads *atomic.Int64
	bytes *atomic.Int64
}

func newPattern(n int64) pattern { return pattern{n, new(atomic.Int64), new(atomic.Int64)} }

func patternByte(i int64) byte { return byte(uint64(i) * 0x9E3779B97F4A7C15 >> 56) }

func (p pattern) ReadAt(b []byte, off int64) (int, error) {
	p.reads.Add(1)
	p.bytes.Add(int64(len(b)))
	if off < 0 || off > p.n-int64(len(b)) {
		return 0, io.EOF
	}
	for i := range b {
		b[i] = patternByte(off + int64(i))
	}
	return len(b), nil
}

// TestGatherLarge reads views that are larger than a block or a piece, and says
// how much of the source that may cost.
func TestGatherLarge(t *testing.T) {
	tests := []struct {
		reason         string
		dtype          DType
		item           int
		shape, strides []int64
		offset         int64
		reads, waste   int64 // most reads, most bytes read for each wanted
	}{
		{"a transposed matrix, several blocks", Float32, 0, []int64{1500, 2000}, []int64{1, 1500}, 0, 5000, 4},
		{"every second element", Int16, 0, []int64{3 << 20}, []int64{2}, 1, 8, 2},
		{"backwards", Float64, 0, []int64{3 << 18}, []int64{-1}, 3<<18 - 1, 8, 1},
		{"half of each row", Float32, 0, []int64{1000, 1000}, []int64{2000, 1}, 7, 16, 2},
		{"a twentieth of each long row", Float32, 0, []int64{40, 20_000}, []int64{400_000, 1}, 0, 40, 1},
		{"few elements, far apart", Int64, 0, []int64{100}, []int64{1 << 30}, 0, 100, 1},
		{"one element again and again", Float32, 0, []int64{1000, 4000}, []int64{0, 0}, 5, 4, 1},
		{"one row again and again", Float32, 0, []int64{4000, 1000}, []int64{0, 1}, 5, 4, 1},
		{"channels last", Float32, 0, []int64{64, 64, 30, 30}, []int64{64 * 900, 1, 64 * 30, 64}, 0, 16, 1},
		{"a diagonal", Float32, 0, []int64{2000}, []int64{2001}, 0, 2000, 1},
		{"elements larger than a block", "|V20000003", 20_000_003, []int64{2}, []int64{2}, 0, 8, 1},
		{"dense but overlapping", Uint8, 0, []int64{3000, 3000}, []int64{1, 1}, 0, 8, 1},
	}
	for _, tt := range tests {
		x := &Tensor{DType: tt.dtype, ItemSize: tt.item, Shape: tt.shape, Strides: tt.strides, Offset: tt.offset}
		_, high := reach(x)
		src := newPattern((x.Offset + high + 1) * int64(x.Size()))
		x.Storage = &Storage{Source: Section{R: src, N: src.n}}
		if err := x.Check(); err != nil {
			t.Fatalf("%s: %v", tt.reason, err)
		}
		g := newGather(x, gatherBlock)
		if err := matchPattern(x, g); err != nil {
			t.Errorf("%s: %v", tt.reason, err)
		}
		if got := src.reads.Load(); got > tt.reads {
			t.Errorf("%s: %d reads, want at most %d", tt.reason, got, tt.reads)
		}
		if got := src.bytes.Load(); got > tt.waste*x.Bytes()+2*gatherSmall {
			t.Errorf("%s: %d bytes read for %d", tt.reason, got, x.Bytes())
		}
		if n := cap(g.out) + cap(g.tmp); n > 10<<20 {
			t.Errorf("%s: %d bytes held", tt.reason, n)
		}
	}
}

// matchPattern compares what r gives with the pattern at x's elements.
func matchPattern(x *Tensor, r io.Reader) error {
	size := int64(x.Size())
	next := make([]int64, len(x.Shape))
	buf := make([]byte, 1<<16)
	var place, in int64
	place = x.Offset
	left := x.Bytes()
	for {
		n, err := r.Read(buf)
		for _, c := range buf[:n] {
			if want := patternByte(place*size + in); c != want || left == 0 {
				return fmt.Errorf("byte %d is %#x, want %#x", x.Bytes()-left, c, want)
			}
			left--
			if in++; in == size {
				in = 0
				for i := len(next) - 1; i >= 0; i-- {
					next[i]++
					place += x.Strides[i]
					if next[i] < x.Shape[i] {
						break
					}
					place -= next[i] * x.Strides[i]
					next[i] = 0
				}
			}
		}
		if err == io.EOF && left == 0 {
			return nil
		}
		if err != nil {
			return fmt.Errorf("%d bytes missing: %w", left, err)
		}
	}
}

// TestReplayForward makes sure that a source which can only be read in order is
// started once a block, not once a piece.
func TestReplayForward(t *testing.T) {
	raw := make([]byte, 400_000)
	for i := range raw {
		raw[i] = patternByte(int64(i))
	}
	for _, tt := range []struct {
		reason         string
		shape, strides []int64
		offset         int64
	}{
		{"far apart, forwards", []int64{4}, []int64{100_000}, 7},
		{"far apart, backwards", []int64{4}, []int64{-100_000}, 399_999},
		{"backwards in one of two", []int64{3, 4}, []int64{1, -100_000}, 399_000},
	} {
		src := inOrder{b: raw, opens: new(atomic.Int64)}
		x := &Tensor{DType: Uint8, Shape: tt.shape, Strides: tt.strides, Offset: tt.offset, Storage: &Storage{Source: src}}
		rc, err := x.Open()
		if err != nil {
			t.Fatal(err)
		}
		if err := matchPattern(x, rc); err != nil {
			t.Errorf("%s: %v", tt.reason, err)
		}
		if err := rc.Close(); err != nil {
			t.Error(err)
		}
		if n := src.opens.Load(); n != 1 {
			t.Errorf("%s: opened %d times", tt.reason, n)
		}
	}
}
