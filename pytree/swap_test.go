package pytree

import (
	"bytes"
	"io"
	"slices"
	"testing"
	"testing/iotest"
)

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

// TestSwapPartial has a source that ends, against the rules, in the middle of an
// element without an error of its own.
func TestSwapPartial(t *testing.T) {
	for n, want := range map[int]error{8: nil, 7: io.ErrUnexpectedEOF, 3: io.ErrUnexpectedEOF} {
		rc := newSwap(io.NopCloser(bytes.NewReader(make([]byte, n))), []int{4}, 100)
		if got, err := io.ReadAll(rc); err != want || len(got) != n/4*4 {
			t.Errorf("%d bytes: %d swapped, error %v, want %v", n, len(got), err, want)
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
