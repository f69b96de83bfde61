package pytree

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/iotest"
)

// inOrder is a source that can only be read from its begin, like a compressed
// member of an archive.
type inOrder struct {
	b     []byte
	opens *atomic.Int64
}

func (s inOrder) Size() int64 { return int64(len(s.b)) }

func (s inOrder) Open() (io.ReadCloser, error) {
	if s.opens != nil {
		s.opens.Add(1)
	}
	// One byte at a time where bytes are few: readers may give less than asked.
	var r io.Reader = bytes.NewReader(s.b)
	if len(s.b) < 1000 {
		r = iotest.OneByteReader(r)
	}
	return io.NopCloser(r), nil
}

// element is a type of elements for random views.
type element struct {
	dtype DType
	item  int
	swap  []int
}

var elements = []element{
	{Uint8, 0, nil}, {Int16, 0, nil}, {Float32, 0, nil}, {Int64, 0, nil}, {Complex32, 0, nil}, {Complex64, 0, nil}, {Complex128, 0, nil},
	{"|V3", 3, nil}, {"<U5", 20, []int{4}}, {"[('a', '<i2'), ('b', '|u1'), ('c', '<f4')]", 7, []int{2, 1, 4}}, {"|S6", 6, []int{1}},
}

// randomView makes a view of random bytes: dims dimensions of up to most each,
// with strides of any order and sign, with gaps, overlaps and zeros.
func randomView(rng *rand.Rand, dims, most int) *Tensor {
	e := elements[rng.IntN(len(elements))]
	t := &Tensor{DType: e.dtype, ItemSize: e.item, Swap: e.swap}
	rank := rng.IntN(dims + 1)
	for range rank {
		d := 1 + rng.Int64N(int64(most))
		if rng.IntN(30) == 0 {
			d = 0
		}
		t.Shape = append(t.Shape, d)
	}
	if rng.IntN(6) > 0 {
		t.Strides = randomStrides(rng, t.Shape)
	}
	low, high := reach(t)
	t.Offset = -low + rng.Int64N(4)
	raw := make([]byte, (t.Offset+high+1+rng.Int64N(4))*int64(t.Size())+rng.Int64N(int64(t.Size())))
	for i := range raw {
		raw[i] = byte(rng.Uint32())
	}
	t.Storage = &Storage{BigEndian: rng.IntN(3) == 0}
	switch rng.IntN(3) {
	case 0:
		t.Storage.Source = Bytes(raw)
	case 1:
		t.Storage.Source = Section{R: bytes.NewReader(append([]byte("before"), raw...)), Off: 6, N: int64(len(raw))}
	case 2:
		t.Storage.Source = inOrder{b: raw}
	}
	return t
}

func randomStrides(rng *rand.Rand, shape []int64) []int64 {
	strides := make([]int64, len(shape))
	step := int64(1)
	for _, i := range rng.Perm(len(shape)) {
		strides[i] = step
		switch rng.IntN(12) {
		case 0:
			strides[i] = 0
		case 1:
			strides[i] = rng.Int64N(4)
		case 2, 3:
			strides[i] = -step
		case 4:
			strides[i] += rng.Int64N(3)
		}
		step *= max(shape[i], 1)
	}
	if rng.IntN(3) == 0 { // C order, or nearly
		step = 1
		for i := len(shape) - 1; i >= 0; i-- {
			strides[i] = step
			step *= max(shape[i], 1)
			if rng.IntN(6) == 0 {
				step += rng.Int64N(3)
			}
		}
	}
	return strides
}

// reach is the lowest and highest element from the offset.
func reach(t *Tensor) (low, high int64) {
	if t.Strides == nil {
		return 0, max(t.Elements()-1, 0)
	}
	for i, d := range t.Shape {
		r := max(d-1, 0) * t.Strides[i]
		low, high = low+min(r, 0), high+max(r, 0)
	}
	return low, high
}

// elementIndices is where in the storage each element is, in C order.
func elementIndices(t *Tensor) []int64 {
	strides := t.Strides
	if strides == nil {
		strides = make([]int64, len(t.Shape))
		step := int64(1)
		for i := len(t.Shape) - 1; i >= 0; i-- {
			strides[i] = step
			step *= t.Shape[i]
		}
	}
	indices := []int64{t.Offset}
	for i, d := range t.Shape {
		var next []int64
		for _, at := range indices {
			for x := range d {
				next = append(next, at+x*strides[i])
			}
		}
		indices = next
	}
	return indices
}

// naive is the logical bytes of t, element by element.
func naive(t *testing.T, x *Tensor) []byte {
	rc, err := x.Storage.Open()
	if err != nil {
		t.Fatal(err)
	}
	raw, err := io.ReadAll(rc)
	if err != nil {
		t.Fatal(err)
	}
	size := int64(x.Size())
	units := x.Swap
	if units == nil {
		units = []int{int(size)}
		if x.DType.IsComplex() {
			units = []int{int(size) / 2}
		}
	}
	out := []byte{}
	for _, at := range elementIndices(x) {
		e := slices.Clone(raw[at*size : (at+1)*size])
		if x.Storage.BigEndian {
			for n, i := 0, 0; n < len(e); i++ {
				w := units[i%len(units)]
				slices.Reverse(e[n : n+w])
				n += w
			}
		}
		out = append(out, e...)
	}
	return out
}

func describeView(x *Tensor) string {
	return fmt.Sprintf("%s shape %v strides %v offset %d of %T, big-endian %v", x.DType, x.Shape, x.Strides, x.Offset, x.Storage.Source, x.Storage.BigEndian)
}

// TestOpenAgainstNaive reads random views and compares each byte.
func TestOpenAgainstNaive(t *testing.T) {
	rng := rand.New(rand.NewPCG(11, 12))
	strided := 0
	for range 8_000 {
		x := randomView(rng, 5, 5)
		if err := x.Check(); err != nil {
			t.Fatalf("%s: %v", describeView(x), err)
		}
		want := naive(t, x)
		if !x.Contiguous() {
			strided++
		}
		rc, err := x.Open()
		if err != nil {
			t.Fatalf("%s: %v", describeView(x), err)
		}
		got, err := io.ReadAll(rc)
		if err != nil || !bytes.Equal(got, want) {
			t.Fatalf("%s: %.99x, want %.99x (%v)", describeView(x), got, want, err)
		}
		if err := rc.Close(); err != nil {
			t.Fatal(err)
		}
		if len(want) < 2000 {
			if rc, err = x.Open(); err != nil {
				t.Fatal(err)
			}
			if err := iotest.TestReader(rc, want); err != nil {
				t.Fatalf("%s: %v", describeView(x), err)
			}
		}
	}
	if strided < 2000 {
		t.Fatalf("only %d strided views: the test says little", strided)
	}
}

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
		{"elements larger than a block", "|V9000001", 9_000_001, []int64{3}, []int64{2}, 0, 6, 1},
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

// TestSwap changes the byte order of what testdata could not show better.
func TestSwap(t *testing.T) {
	tests := []struct {
		reason   string
		e        element
		raw, out []byte
	}{
		{"a byte has no order", element{Uint8, 0, nil}, []byte{1, 2}, []byte{1, 2}},
		{"nor has a bool", element{Bool, 0, nil}, []byte{1, 0}, []byte{1, 0}},
		{"two bytes", element{BFloat16, 0, nil}, []byte{1, 2, 3, 4}, []byte{2, 1, 4, 3}},
		{"four", element{Float32, 0, nil}, []byte{1, 2, 3, 4}, []byte{4, 3, 2, 1}},
		{"eight", element{Uint64, 0, nil}, []byte{1, 2, 3, 4, 5, 6, 7, 8}, []byte{8, 7, 6, 5, 4, 3, 2, 1}},
		{"the parts of a complex keep their places", element{Complex64, 0, nil}, []byte{1, 2, 3, 4, 5, 6, 7, 8}, []byte{4, 3, 2, 1, 8, 7, 6, 5}},
		{"and of half a one", element{Complex32, 0, nil}, []byte{1, 2, 3, 4}, []byte{2, 1, 4, 3}},
		{"the characters of a text", element{"<U2", 8, []int{4}}, []byte{1, 2, 3, 4, 5, 6, 7, 8}, []byte{4, 3, 2, 1, 8, 7, 6, 5}},
		{"the fields of a record", element{"rec", 7, []int{2, 1, 4}}, []byte{1, 2, 3, 4, 5, 6, 7}, []byte{2, 1, 3, 7, 6, 5, 4}},
		{"a type unknown to this package is one unit", element{"qint32", 4, nil}, []byte{1, 2, 3, 4}, []byte{4, 3, 2, 1}},
	}
	for _, tt := range tests {
		const repeat = 30_000 // more than a buffer
		x := &Tensor{DType: tt.e.dtype, ItemSize: tt.e.item, Swap: tt.e.swap}
		x.Storage = &Storage{BigEndian: true, Source: inOrder{b: bytes.Repeat(tt.raw, repeat)}}
		x.Shape = []int64{int64(len(tt.raw) * repeat / x.Size())}
		if err := x.Check(); err != nil {
			t.Errorf("%s: %v", tt.reason, err)
			continue
		}
		rc, err := x.Open()
		if err != nil {
			t.Fatal(err)
		}
		if err := iotest.TestReader(rc, bytes.Repeat(tt.out, repeat)); err != nil {
			t.Errorf("%s: %v", tt.reason, err)
		}
	}
}

// TestSigns reads conjugated and negated tensors, through readers that give one
// byte at a time too.
func TestSigns(t *testing.T) {
	c64 := []byte{0, 0, 0x80, 0x3F, 0, 0, 0, 0x40, 0, 0, 0, 0, 0, 0, 0xC0, 0x7F} // 1+2i, 0+NaNi
	tests := []struct {
		reason string
		dtype  DType
		signs  Signs
		flip   []int // the bytes whose highest bit changes
	}{
		{"a conjugate", Complex64, NegImag, []int{7, 15}},
		{"a negative", Complex64, NegReal | NegImag, []int{3, 7, 11, 15}},
		{"the negative of a conjugate", Complex64, NegReal, []int{3, 11}},
		{"a negative real", Float32, NegReal, []int{3, 7, 11, 15}},
		{"a negative half", Float16, NegReal, []int{1, 3, 5, 7, 9, 11, 13, 15}},
		{"a negative byte", Float8E5M2, NegReal, []int{0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15}},
		{"a conjugate pair of doubles", Complex128, NegImag, []int{15}},
	}
	for _, tt := range tests {
		want := slices.Clone(c64)
		for _, i := range tt.flip {
			want[i] ^= 0x80
		}
		x := &Tensor{DType: tt.dtype, Signs: tt.signs, Storage: &Storage{Source: inOrder{b: c64}}}
		x.Shape = []int64{int64(len(c64) / x.Size())}
		if err := x.Check(); err != nil {
			t.Fatal(err)
		}
		rc, err := x.Open()
		if err != nil {
			t.Fatal(err)
		}
		if err := iotest.TestReader(rc, want); err != nil {
			t.Errorf("%s: %v", tt.reason, err)
		}
	}
	big := &Tensor{DType: Complex64, Signs: NegImag, Shape: []int64{1}, Storage: &Storage{Source: Bytes{0x3F, 0x80, 0, 0, 0x40, 0, 0, 0}, BigEndian: true}}
	rc, err := big.Open()
	if err != nil {
		t.Fatal(err)
	}
	if err := iotest.TestReader(rc, []byte{0, 0, 0x80, 0x3F, 0, 0, 0, 0xC0}); err != nil {
		t.Errorf("a conjugate, big-endian: %v", err)
	}
}

// TestOpenTruncated has storages that hold less than they say: every view must
// end in an error, and stay there.
func TestOpenTruncated(t *testing.T) {
	rng := rand.New(rand.NewPCG(15, 16))
	for range 3_000 {
		x := randomView(rng, 4, 4)
		off, n := x.Extent()
		if n == 0 {
			continue
		}
		rc, err := x.Storage.Open()
		if err != nil {
			t.Fatal(err)
		}
		raw, _ := io.ReadAll(rc)
		short := raw[:off+rng.Int64N(n)]
		if rng.IntN(2) == 0 {
			x.Storage.Source = Section{R: bytes.NewReader(short), N: int64(len(raw))}
		} else {
			x.Storage.Source = lying{inOrder{b: short}, int64(len(raw))}
		}
		if rc, err = x.Open(); err != nil {
			if !errors.Is(err, io.ErrUnexpectedEOF) {
				t.Fatalf("%s: %v", describeView(x), err)
			}
			continue
		}
		if got, err := io.ReadAll(rc); !errors.Is(err, io.ErrUnexpectedEOF) {
			t.Fatalf("%s cut to %d bytes: read %d of %d bytes, error %v", describeView(x), len(short), len(got), x.Bytes(), err)
		}
		if n, err := rc.Read(make([]byte, 8)); n != 0 || err == nil || err == io.EOF {
			t.Fatalf("%s: %d bytes and error %v after the error", describeView(x), n, err)
		}
		rc.Close()
	}
}

type lying struct {
	inOrder
	n int64
}

func (s lying) Size() int64 { return s.n }

func (s lying) Open() (io.ReadCloser, error) {
	rc, err := s.inOrder.Open()
	return io.NopCloser(Exactly(rc, s.n)), err
}

// TestOpenConcurrent opens views of one storage from many goroutines.
func TestOpenConcurrent(t *testing.T) {
	rng := rand.New(rand.NewPCG(17, 18))
	for range 20 {
		x := randomView(rng, 4, 6)
		want := naive(t, x)
		var wg sync.WaitGroup
		for range 8 {
			wg.Go(func() {
				rc, err := x.Open()
				if err != nil {
					t.Error(err)
					return
				}
				defer rc.Close()
				if got, err := io.ReadAll(rc); err != nil || !bytes.Equal(got, want) {
					t.Errorf("%s: wrong bytes, or %v", describeView(x), err)
				}
			})
		}
		wg.Wait()
	}
}

// closeError is a source whose readers fail to close.
type closeError struct{ inOrder }

func (s closeError) Open() (io.ReadCloser, error) {
	rc, err := s.inOrder.Open()
	return struct {
		io.Reader
		io.Closer
	}{rc, closerFunc(func() error { return errors.New("checksum is wrong") })}, err
}

type closerFunc func() error

func (f closerFunc) Close() error { return f() }

// TestOpenClose wants the error of the source's Close: some sources know only
// then that what they gave was wrong.
func TestOpenClose(t *testing.T) {
	src := closeError{inOrder{b: make([]byte, 64)}}
	for _, x := range []*Tensor{
		{DType: Float32, Shape: []int64{16}},
		{DType: Float32, Shape: []int64{4}, Offset: 1},
		{DType: Float32, Shape: []int64{4}, Strides: []int64{-2}, Offset: 8},
	} {
		for _, big := range []bool{false, true} {
			x.Storage = &Storage{Source: src, BigEndian: big}
			rc, err := x.Open()
			if err != nil {
				t.Fatal(err)
			}
			if _, err := io.Copy(io.Discard, rc); err != nil {
				t.Fatal(err)
			}
			if err := rc.Close(); err == nil || !strings.Contains(err.Error(), "checksum") {
				t.Errorf("%s: Close gives %v", describeView(x), err)
			}
			if e := Examine(t.Context(), []*Tensor{x}, ExamOptions{Digest: true}); e[0].Err == nil || e[0].Digest != "" {
				t.Errorf("%s: examined with %+v", describeView(x), e[0])
			}
		}
	}
}
