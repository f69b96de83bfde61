package pytree

import (
	"bytes"
	"context"
	"encoding/hex"
	"encoding/json"
	"errors"
	"io"
	"math/rand/v2"
	"os"
	"runtime"
	"sync/atomic"
	"testing"
	"time"
)

// goldens is what testdata/goldens.py wrote.
type goldens struct {
	Decoded map[DType]string
	Stats   []struct {
		DType                   DType
		Raw                     string
		Repeat                  int
		Min, Max, Mean, Std     string
		NaN, Inf, Zeros, Finite int64
	}
	Digests []struct {
		DType  DType
		Shape  []int64
		Raw    string
		Digest string
	}
}

func readGoldens(t *testing.T) *goldens {
	t.Helper()
	text, err := os.ReadFile("testdata/goldens.json")
	if err != nil {
		t.Fatal(err)
	}
	var g goldens
	if err := json.Unmarshal(text, &g); err != nil {
		t.Fatal(err)
	}
	if len(g.Decoded) < 10 || len(g.Stats) < 40 || len(g.Digests) < 5 {
		t.Fatal("goldens are missing")
	}
	return &g
}

func unhex(t *testing.T, s string) []byte {
	t.Helper()
	b, err := hex.DecodeString(s)
	if err != nil {
		t.Fatal(err)
	}
	return b
}

// TestDigestGoldens compares with Python's hashlib.
func TestDigestGoldens(t *testing.T) {
	for _, g := range readGoldens(t).Digests {
		x := &Tensor{DType: g.DType, Shape: g.Shape, Storage: &Storage{Source: Bytes(unhex(t, g.Raw))}}
		if g.DType.Size() == 0 {
			x.ItemSize, x.Swap = len(x.Storage.Source.(Bytes)), []int{4}
		}
		if got, err := x.Digest(); err != nil || got != g.Digest {
			t.Errorf("%s %v: %s, want %s (%v)", g.DType, g.Shape, got, g.Digest, err)
		}
	}
}

// TestDigestLayouts gives one matrix in every layout, byte order and kind of
// source: the digest must not tell them apart.
func TestDigestLayouts(t *testing.T) {
	le := []byte{1, 0, 2, 0, 3, 0, 4, 0, 5, 0, 6, 0}
	be := []byte{0, 1, 0, 2, 0, 3, 0, 4, 0, 5, 0, 6}
	columns := []byte{1, 0, 4, 0, 2, 0, 5, 0, 3, 0, 6, 0}
	backwards := []byte{6, 0, 5, 0, 4, 0, 3, 0, 2, 0, 1, 0}
	shape := []int64{2, 3}
	views := map[string]*Tensor{
		"C order":       {Shape: shape, Storage: &Storage{Source: Bytes(le)}},
		"with strides":  {Shape: shape, Strides: []int64{3, 1}, Storage: &Storage{Source: Bytes(le)}},
		"Fortran order": {Shape: shape, Strides: []int64{1, 2}, Storage: &Storage{Source: Bytes(columns)}},
		"backwards":     {Shape: shape, Strides: []int64{-3, -1}, Offset: 5, Storage: &Storage{Source: inOrder{b: backwards}}},
		"big-endian":    {Shape: shape, Storage: &Storage{Source: Bytes(be), BigEndian: true}},
		"at an offset":  {Shape: shape, Offset: 2, Storage: &Storage{Source: inOrder{b: append([]byte("abcd"), le...)}}},
	}
	digests := make(map[string]string)
	for name, x := range views {
		x.DType = Int16
		d, err := x.Digest()
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		digests[d] = name
	}
	if len(digests) != 1 {
		t.Errorf("%d digests of one matrix: %v", len(digests), digests)
	}
	other := []*Tensor{
		{DType: Uint16, Shape: shape, Storage: &Storage{Source: Bytes(le)}},
		{DType: Int16, Shape: []int64{3, 2}, Storage: &Storage{Source: Bytes(le)}},
		{DType: Int16, Shape: []int64{6}, Storage: &Storage{Source: Bytes(le)}},
		{DType: Int16, Shape: shape, Storage: &Storage{Source: Bytes(be)}},
		{DType: Int16, Shape: shape, Strides: []int64{0, 1}, Storage: &Storage{Source: Bytes(le)}},
	}
	for i, x := range other {
		d, err := x.Digest()
		if _, ok := digests[d]; ok || err != nil {
			t.Errorf("tensor %d is another, yet has the digest of %q (%v)", i, digests[d], err)
		}
	}
}

// TestExamine compares with one tensor at a time, and counts the readers.
func TestExamine(t *testing.T) {
	rng := rand.New(rand.NewPCG(19, 20))
	var tensors []*Tensor
	for range 300 {
		x := randomView(rng, 4, 5)
		tensors = append(tensors, x)
		switch rng.IntN(4) {
		case 0: // tied: the same view
			y := *x
			tensors = append(tensors, &y)
		case 1: // the same bytes, another shape
			if x.Contiguous() {
				y := *x
				y.Shape, y.Strides = []int64{x.Elements()}, nil
				tensors = append(tensors, &y)
			}
		}
	}
	var done atomic.Int64
	exams := Examine(t.Context(), tensors, ExamOptions{Digest: true, Stats: true, Progress: func(n int64) { done.Add(n) }})
	var total int64
	seen := make(map[viewKey]bool)
	for i, x := range tensors {
		want, err := x.Digest()
		if err != nil || exams[i].Err != nil || exams[i].Digest != want {
			t.Fatalf("%s: %+v, want %s (%v)", describeView(x), exams[i], want, err)
		}
		if (exams[i].Stats == nil) != (decoders[x.DType] == nil && !x.DType.IsComplex()) {
			t.Fatalf("%s: stats %v", x.DType, exams[i].Stats)
		}
		if exams[i].Stats != nil && exams[i].Stats.Finite+exams[i].Stats.NaN+exams[i].Stats.Inf != x.Elements() && !x.DType.IsComplex() {
			t.Fatalf("%s: stats %+v of %d elements", describeView(x), exams[i].Stats, x.Elements())
		}
		if key := (viewKey{x.Storage, x.DType, string(appendLayout(nil, x))}); !seen[key] {
			seen[key] = true
			total += x.Bytes()
		}
	}
	if done.Load() != total {
		t.Errorf("progress of %d bytes, want %d", done.Load(), total)
	}
	if got := Examine(t.Context(), nil, ExamOptions{Digest: true}); len(got) != 0 {
		t.Errorf("%d results of no tensors", len(got))
	}
	one := Examine(t.Context(), tensors[:1], ExamOptions{Stats: true})
	if one[0].Digest != "" {
		t.Errorf("a digest that nobody asked for: %+v", one[0])
	}
}

// opensOf counts how often tensors' storages are opened while they are examined.
func opensOf(t *testing.T, b []byte, tensors []*Tensor) (int64, []Exam) {
	src := inOrder{b: b, opens: new(atomic.Int64)}
	st := &Storage{Source: src}
	for _, x := range tensors {
		x.Storage = st
	}
	exams := Examine(t.Context(), tensors, ExamOptions{Digest: true})
	return src.opens.Load(), exams
}

func TestExamineDuplicates(t *testing.T) {
	b := make([]byte, 64)
	tests := []struct {
		reason string
		a, b   Tensor
		opens  int64
	}{
		{"the same view", Tensor{DType: Float32, Shape: []int64{4, 4}}, Tensor{DType: Float32, Shape: []int64{4, 4}}, 1},
		{"the same view, once with strides", Tensor{DType: Float32, Shape: []int64{4, 4}}, Tensor{DType: Float32, Shape: []int64{4, 4}, Strides: []int64{4, 1}}, 1},
		{"another dtype", Tensor{DType: Float32, Shape: []int64{4}}, Tensor{DType: Int32, Shape: []int64{4}}, 2},
		{"another shape", Tensor{DType: Float32, Shape: []int64{4, 4}}, Tensor{DType: Float32, Shape: []int64{16}}, 2},
		{"other strides", Tensor{DType: Float32, Shape: []int64{4, 4}}, Tensor{DType: Float32, Shape: []int64{4, 4}, Strides: []int64{1, 4}}, 2},
		{"another offset", Tensor{DType: Float32, Shape: []int64{4}}, Tensor{DType: Float32, Shape: []int64{4}, Offset: 4}, 2},
		{"other signs", Tensor{DType: Float32, Shape: []int64{4}}, Tensor{DType: Float32, Shape: []int64{4}, Signs: NegReal}, 2},
		{"another size under one name", Tensor{DType: "V", ItemSize: 3, Shape: []int64{4}}, Tensor{DType: "V", ItemSize: 4, Shape: []int64{4}}, 2},
		{"shapes that would read alike if run together", Tensor{DType: Uint8, Shape: []int64{1, 12}}, Tensor{DType: Uint8, Shape: []int64{11, 2}}, 2},
	}
	for _, tt := range tests {
		x, y := tt.a, tt.b
		opens, exams := opensOf(t, b, []*Tensor{&x, &y})
		if opens != tt.opens || exams[0].Err != nil || exams[1].Err != nil {
			t.Errorf("%s: opened %d times, want %d: %+v", tt.reason, opens, tt.opens, exams)
		}
		if tt.opens == 1 && exams[0] != exams[1] {
			t.Errorf("%s: %+v", tt.reason, exams)
		}
	}
}

// TestExamineExpanded has views that repeat few bytes: they must cost little, and
// nothing that is usual may be refused.
func TestExamineExpanded(t *testing.T) {
	const mib = 1 << 20
	plain := func(n int64) *Tensor { return &Tensor{DType: Uint8, Shape: []int64{n}} }
	repeat := func(n int, make func(i int) *Tensor) (list []*Tensor) {
		for i := range n {
			list = append(list, make(i))
		}
		return list
	}
	tests := []struct {
		reason  string
		stored  int64
		tensors []*Tensor
		refused int // how many, at least
	}{
		{"2^40 elements out of one", 4, []*Tensor{{DType: Float32, Shape: []int64{1 << 40}, Strides: []int64{0}}, {DType: Float32, Shape: []int64{1}}}, 1},
		{"an attention mask of 64 MiB out of one", 4, []*Tensor{{DType: Float32, Shape: []int64{4096, 4096}, Strides: []int64{0, 0}}}, 0},
		{"the same full view a thousand times", 2 * mib, repeat(1000, func(int) *Tensor { return plain(2 * mib) }), 0},
		{"a thousand different full views", 2 * mib, repeat(1000, func(i int) *Tensor { return &Tensor{DType: Uint8, Shape: []int64{2*mib - int64(i)}} }), 800},
		{"all of a large storage under two shapes", 300 * mib, []*Tensor{plain(300 * mib), {DType: Uint8, Shape: []int64{300, mib}}}, 0},
		{"a flat buffer's ten thousand views, each at three places", 10_000 * 64, repeat(30_000, func(i int) *Tensor {
			return &Tensor{DType: Uint8, Shape: []int64{64}, Offset: 64 * int64(i%10_000)}
		}), 0},
	}
	for _, tt := range tests {
		st := &Storage{Source: Section{R: zeros{}, N: tt.stored}}
		for _, x := range tt.tensors {
			x.Storage = st
			if err := x.Check(); err != nil {
				t.Fatal(err)
			}
		}
		refused := 0
		for i, e := range Examine(t.Context(), tt.tensors, ExamOptions{}) {
			switch {
			case errors.Is(e.Err, ErrExpanded):
				refused++
				if e.Digest != "" || e.Stats != nil {
					t.Errorf("%s: tensor %d is refused, and has results", tt.reason, i)
				}
			case e.Err != nil:
				t.Errorf("%s: tensor %d: %v", tt.reason, i, e.Err)
			}
		}
		if refused < tt.refused || tt.refused == 0 && refused > 0 {
			t.Errorf("%s: %d of %d refused, want %d", tt.reason, refused, len(tt.tensors), tt.refused)
		}
	}
}

// TestExamineErrors wants one broken tensor to leave the others alone.
func TestExamineErrors(t *testing.T) {
	good := &Storage{Source: Bytes(make([]byte, 8))}
	bad := &Storage{Source: Section{R: bytes.NewReader(nil), N: 8}}
	tensors := []*Tensor{{DType: Int64, Storage: good}, {DType: Int64, Storage: bad}, {DType: Int32, Storage: good}}
	exams := Examine(t.Context(), tensors, ExamOptions{Digest: true, Stats: true})
	if exams[0].Err != nil || exams[2].Err != nil || exams[0].Digest == "" || exams[2].Stats == nil {
		t.Errorf("the good ones: %+v", exams)
	}
	if !errors.Is(exams[1].Err, io.ErrUnexpectedEOF) || exams[1].Digest != "" || exams[1].Stats != nil {
		t.Errorf("the bad one: %+v", exams[1])
	}
}

// endless is a source that never stops; whoever cancels must be heard.
type endless struct{}

func (endless) Size() int64 { return 1 << 62 }

func (endless) Open() (io.ReadCloser, error) { return io.NopCloser(zeros{}), nil }

type zeros struct{}

func (zeros) Read(p []byte) (int, error) { clear(p); return len(p), nil }

func (zeros) ReadAt(p []byte, _ int64) (int, error) { clear(p); return len(p), nil }

func TestExamineCancel(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	var tensors []*Tensor
	for range 100 {
		tensors = append(tensors, &Tensor{DType: Uint8, Shape: []int64{1 << 60}, Storage: &Storage{Source: endless{}}})
	}
	before := runtime.NumGoroutine()
	timer := time.AfterFunc(20*time.Millisecond, cancel)
	defer timer.Stop()
	for i, e := range Examine(ctx, tensors, ExamOptions{Digest: true, Stats: true}) {
		if !errors.Is(e.Err, context.Canceled) || e.Digest != "" || e.Stats != nil {
			t.Fatalf("tensor %d: %+v", i, e)
		}
	}
	if after := runtime.NumGoroutine(); after > before+1 {
		t.Errorf("%d goroutines are left, %d before", after, before)
	}
	src := inOrder{b: make([]byte, 8), opens: new(atomic.Int64)}
	exams := Examine(ctx, []*Tensor{{DType: Int64, Storage: &Storage{Source: src}}}, ExamOptions{})
	if !errors.Is(exams[0].Err, context.Canceled) || src.opens.Load() != 0 {
		t.Errorf("cancelled before the start: %v, opened %d times", exams[0].Err, src.opens.Load())
	}
}
