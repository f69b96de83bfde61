package pytree

import (
	"fmt"
	"io"
	"runtime"
	"testing"
)

// largeTree has a million leaves in the shape of a state dict: 10,000 layers of
// 100 tensors under dotted names, or, nested, under keys of their own.
func largeTree(nested bool) *Tree {
	st := sizedStorage(1 << 20)
	root := NewDict()
	for layer := range 10_000 {
		at := root
		if nested {
			at = NewDict()
			root.Entries = append(root.Entries, Entry{Key: IntKey(int64(layer)), Value: at})
		}
		for i := range 100 {
			name := fmt.Sprintf("model.layers.%d.block.%d.attention.weight", layer, i)
			if nested {
				name = fmt.Sprintf("block.%d.attention.weight", i)
			}
			at.Entries = append(at.Entries, Entry{Key: StringKey(name), Value: &Tensor{DType: Float32, Shape: []int64{4}, Offset: int64(i), Storage: st}})
		}
	}
	return &Tree{Root: root}
}

const million = 1_000_000

// perLeaf reports what an iteration over a million leaves takes for each.
func perLeaf(b *testing.B) {
	b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/million, "ns/leaf")
}

func BenchmarkLeaves(b *testing.B) {
	for name, tree := range map[string]*Tree{"flat": largeTree(false), "nested": largeTree(true)} {
		b.Run(name, func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				n := 0
				for range tree.Leaves() {
					n++
				}
				if n != million {
					b.Fatal(n)
				}
			}
			perLeaf(b)
		})
	}
}

func BenchmarkDotted(b *testing.B) {
	for name, p := range map[string]Path{
		"flat":    `["model.layers.123.block.7.attention.weight"]`,
		"nested":  `["model","layers",123,"block",7,"attention","weight"]`,
		"escaped": `["model","a\"b",123]`,
	} {
		b.Run(name, func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				p.Dotted()
			}
		})
	}
}

func BenchmarkKeys(b *testing.B) {
	p := Path(`["model","layers",123,"block",7,"attention","weight"]`)
	b.ReportAllocs()
	for b.Loop() {
		p.Keys()
	}
}

func BenchmarkFlatten(b *testing.B) {
	tree := largeTree(true)
	b.ReportAllocs()
	for b.Loop() {
		Flatten(tree)
	}
	perLeaf(b)
}

func BenchmarkUnflatten(b *testing.B) {
	for name, nested := range map[string]bool{"flat": false, "nested": true} {
		list := Flatten(largeTree(nested))
		b.Run(name, func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				if _, err := Unflatten(list); err != nil {
					b.Fatal(err)
				}
			}
			perLeaf(b)
		})
	}
}

func BenchmarkSame(b *testing.B) {
	x := largeTree(true)
	y := copyTree(x)
	b.ReportAllocs()
	for b.Loop() {
		if err := Same(x, y); err != nil {
			b.Fatal(err)
		}
	}
	perLeaf(b)
}

// BenchmarkOpen reads 64 MiB of float32 in layouts that occur.
func BenchmarkOpen(b *testing.B) {
	const n = 4096
	raw := make(Bytes, n*n*4*2)
	for _, bb := range []struct {
		name           string
		shape, strides []int64
		big            bool
	}{
		{"contiguous", []int64{n, n}, nil, false},
		{"big-endian", []int64{n, n}, nil, true},
		{"transposed", []int64{n, n}, []int64{1, n}, false},
		{"channels-last", []int64{64, 1024, 16, 16}, []int64{1024 * 256, 1, 1024 * 16, 1024}, false},
		{"half-rows", []int64{n, n}, []int64{2 * n, 1}, false},
		{"every-second", []int64{n * n}, []int64{2}, false},
		{"expanded-rows", []int64{n, n}, []int64{0, 1}, false},
	} {
		x := &Tensor{DType: Float32, Shape: bb.shape, Strides: bb.strides, Storage: &Storage{Source: raw, BigEndian: bb.big}}
		if err := x.Check(); err != nil {
			b.Fatal(err)
		}
		b.Run(bb.name, func(b *testing.B) {
			b.SetBytes(x.Bytes())
			b.ReportAllocs()
			buf := make([]byte, copyBlock)
			for b.Loop() {
				rc, err := x.Open()
				if err != nil {
					b.Fatal(err)
				}
				if _, err := io.CopyBuffer(struct{ io.Writer }{io.Discard}, struct{ io.Reader }{rc}, buf); err != nil {
					b.Fatal(err)
				}
				rc.Close()
			}
		})
	}
}

// BenchmarkStats takes statistics of 64 MiB, on one core.
func BenchmarkStats(b *testing.B) {
	raw := make(Bytes, 64<<20)
	for i := range raw {
		raw[i] = patternByte(int64(i)) & 0x3F // no NaN, nor anything huge
	}
	for _, d := range []DType{Float64, Float32, BFloat16, Float16, Float8E4M3FN, Int64, Uint8, Complex64} {
		x := &Tensor{DType: d, Shape: []int64{int64(len(raw) / d.Size())}, Storage: &Storage{Source: raw}}
		b.Run(string(d), func(b *testing.B) {
			b.SetBytes(int64(len(raw)))
			for b.Loop() {
				if e := Examine(b.Context(), []*Tensor{x}, ExamOptions{Stats: true}); e[0].Err != nil {
					b.Fatal(e[0].Err)
				}
			}
		})
	}
}

// BenchmarkDigest hashes a tensor of 64 MiB for each core, and a million small
// tensors.
func BenchmarkDigest(b *testing.B) {
	b.Run("large", func(b *testing.B) {
		const size = 64 << 20
		raw := make(Bytes, size)
		var tensors []*Tensor
		for range runtime.GOMAXPROCS(0) {
			tensors = append(tensors, &Tensor{DType: Uint8, Shape: []int64{size}, Storage: &Storage{Source: raw}})
		}
		b.SetBytes(int64(len(tensors)) * size)
		for b.Loop() {
			Examine(b.Context(), tensors, ExamOptions{Digest: true})
		}
	})
	b.Run("small", func(b *testing.B) {
		tensors := make([]*Tensor, million)
		for i := range tensors {
			tensors[i] = &Tensor{DType: Float32, Shape: []int64{4}, Storage: &Storage{Source: make(Bytes, 16)}}
		}
		b.ReportAllocs()
		for b.Loop() {
			Examine(b.Context(), tensors, ExamOptions{Digest: true, Stats: true})
		}
		perLeaf(b)
	})
}
