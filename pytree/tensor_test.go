package pytree

import (
	"math"
	"math/big"
	"math/rand/v2"
	"strings"
	"testing"
)

// sized is a source of n bytes that nobody reads.
type sized struct {
	Source
	n int64
}

func (s sized) Size() int64 { return s.n }

func sizedStorage(n int64) *Storage { return &Storage{Source: sized{n: n}} }

func TestCheck(t *testing.T) {
	tests := []struct {
		reason string
		t      Tensor
		want   string // in the error; none if empty
	}{
		{"a plain matrix that fills its storage", Tensor{DType: Float32, Shape: []int64{2, 3}, Storage: sizedStorage(24)}, ""},
		{"one byte too few", Tensor{DType: Float32, Shape: []int64{2, 3}, Storage: sizedStorage(23)}, "outside its storage"},
		{"a scalar at the last element", Tensor{DType: Int64, Offset: 2, Storage: sizedStorage(24)}, ""},
		{"a scalar behind it", Tensor{DType: Int64, Offset: 3, Storage: sizedStorage(24)}, "outside its storage"},
		{"a scalar of nothing", Tensor{DType: Int64, Storage: sizedStorage(0)}, "outside its storage"},
		{"nothing, of an empty storage", Tensor{DType: Int64, Shape: []int64{0}, Storage: sizedStorage(0)}, ""},
		{"nothing, far behind its storage: torch writes such", Tensor{DType: Int64, Shape: []int64{3, 0}, Strides: []int64{9, 9}, Offset: 100, Storage: sizedStorage(8)}, ""},
		{"nothing, among lengths that would overflow", Tensor{DType: Int64, Shape: []int64{1 << 62, 0, 1 << 62}, Storage: sizedStorage(0)}, ""},
		{"nothing, but a negative length", Tensor{DType: Int64, Shape: []int64{0, -1}, Storage: sizedStorage(0)}, "negative dimension"},
		{"a negative length", Tensor{DType: Int64, Shape: []int64{-1, -1}, Storage: sizedStorage(8)}, "negative dimension"},
		{"a negative offset", Tensor{DType: Int64, Shape: []int64{1}, Offset: -1, Storage: sizedStorage(8)}, "offset -1 is negative"},
		{"fewer strides than dimensions", Tensor{DType: Int64, Shape: []int64{1, 1}, Strides: []int64{1}, Storage: sizedStorage(8)}, "1 strides"},
		{"strides of a scalar", Tensor{DType: Int64, Strides: []int64{1}, Storage: sizedStorage(8)}, "1 strides"},
		{"no strides, but not nil, of a scalar", Tensor{DType: Int64, Strides: []int64{}, Storage: sizedStorage(8)}, ""},
		{"a negative stride with room below", Tensor{DType: Uint8, Shape: []int64{3}, Strides: []int64{-1}, Offset: 2, Storage: sizedStorage(3)}, ""},
		{"a negative stride that leaves the storage", Tensor{DType: Uint8, Shape: []int64{3}, Strides: []int64{-1}, Offset: 1, Storage: sizedStorage(3)}, "elements -1 to 1"},
		{"an expanded element", Tensor{DType: Float32, Shape: []int64{1 << 40}, Strides: []int64{0}, Storage: sizedStorage(4)}, ""},
		{"expanded beyond 2^62 bytes", Tensor{DType: Float32, Shape: []int64{1 << 31, 1 << 30}, Strides: []int64{0, 0}, Storage: sizedStorage(4)}, "overflows"},
		{"a product that wraps around to 0", Tensor{DType: Uint8, Shape: []int64{1 << 32, 1 << 32}, Storage: sizedStorage(8)}, "overflows"},
		{"a product that wraps around to 1", Tensor{DType: Uint8, Shape: []int64{0x5555555555555555, 3}, Strides: []int64{0, 0}, Storage: sizedStorage(8)}, "overflows"},
		{"offset and stride that wrap around together", Tensor{DType: Uint8, Shape: []int64{2}, Strides: []int64{1 << 62}, Offset: 1 << 62, Storage: sizedStorage(8)}, "overflow"},
		{"two strides that wrap around together", Tensor{DType: Uint8, Shape: []int64{2, 2, 2}, Strides: []int64{1 << 62, 1 << 62, 1 << 62}, Storage: sizedStorage(8)}, "overflow"},
		{"three strides that wrap around downwards", Tensor{DType: Uint8, Shape: []int64{2, 2, 2}, Strides: []int64{-1 << 62, -1 << 62, -1 << 62}, Storage: sizedStorage(8)}, "overflow"},
		{"a stride of the least integer", Tensor{DType: Uint8, Shape: []int64{2}, Strides: []int64{math.MinInt64}, Storage: sizedStorage(8)}, "overflow"},
		{"the least integer, which no index reaches", Tensor{DType: Uint8, Shape: []int64{1}, Strides: []int64{math.MinInt64}, Storage: sizedStorage(8)}, ""},
		{"a stride whose reach wraps around", Tensor{DType: Uint8, Shape: []int64{5}, Strides: []int64{1 << 62}, Storage: sizedStorage(8)}, "overflow"},
		{"the greatest offset", Tensor{DType: Uint8, Shape: []int64{1}, Offset: math.MaxInt64, Storage: sizedStorage(8)}, "overflow"},
		{"the greatest offset, with strides", Tensor{DType: Uint8, Shape: []int64{1}, Strides: []int64{1}, Offset: math.MaxInt64, Storage: sizedStorage(math.MaxInt64)}, "overflow"},
		{"a dtype without a size", Tensor{DType: "|V3", Storage: sizedStorage(8)}, "no known size"},
		{"a negative size", Tensor{DType: "|V3", ItemSize: -3, Storage: sizedStorage(8)}, "no known size"},
		{"a size that the name belies", Tensor{DType: Float32, ItemSize: 3, Storage: sizedStorage(8)}, "take 4 bytes, not 3"},
		{"a size that the name confirms", Tensor{DType: Float32, ItemSize: 4, Storage: sizedStorage(8)}, ""},
		{"an enormous element", Tensor{DType: "|V", ItemSize: math.MaxInt, Storage: sizedStorage(8)}, "outside its storage"},
		{"many enormous elements", Tensor{DType: "|V", ItemSize: math.MaxInt, Shape: []int64{3}, Storage: sizedStorage(8)}, "overflows"},
		{"no storage", Tensor{DType: Float32}, "no storage"},
		{"units that fill an element twice", Tensor{DType: "<U2", ItemSize: 8, Swap: []int{4}, Storage: sizedStorage(8)}, ""},
		{"units that do not fill it", Tensor{DType: "|V8", ItemSize: 8, Swap: []int{4, 2}, Storage: sizedStorage(8)}, "do not fill"},
		{"units beyond it", Tensor{DType: "|V4", ItemSize: 4, Swap: []int{8}, Storage: sizedStorage(8)}, "do not fill"},
		{"a unit of nothing", Tensor{DType: "|V4", ItemSize: 4, Swap: []int{0, 4}, Storage: sizedStorage(8)}, "units of 0"},
		{"a unit that no number has", Tensor{DType: "|V99", ItemSize: 99, Swap: []int{99}, Storage: sizedStorage(99)}, "units of 99"},
		{"big-endian text, not known to have units", Tensor{DType: "|S99", ItemSize: 99, Storage: &Storage{Source: sized{n: 99}, BigEndian: true}}, "units of 99"},
		{"signs of integers", Tensor{DType: Int32, Signs: NegReal, Storage: sizedStorage(4)}, "no sign bit"},
		{"signs where negative zero is NaN", Tensor{DType: Float8E4M3FNU, Signs: NegReal, Storage: sizedStorage(4)}, "no sign bit"},
		{"signs of complex numbers", Tensor{DType: Complex64, Signs: NegImag, Storage: sizedStorage(8)}, ""},
	}
	for _, tt := range tests {
		err := tt.t.Check()
		switch {
		case tt.want == "" && err != nil:
			t.Errorf("%s: %v", tt.reason, err)
		case tt.want != "" && (err == nil || !strings.Contains(err.Error(), tt.want)):
			t.Errorf("%s: error %v, want %q", tt.reason, err, tt.want)
		}
	}
}

// TestCheckAgainstBig compares Check with arithmetic that cannot overflow, on
// numbers near where the machine's would.
func TestCheckAgainstBig(t *testing.T) {
	rng := rand.New(rand.NewPCG(7, 8))
	number := func() int64 {
		switch rng.IntN(4) {
		case 0:
			return rng.Int64N(4)
		case 1:
			return 1 << rng.IntN(63)
		case 2:
			return 1<<rng.IntN(63) + rng.Int64N(5) - 2
		}
		return rng.Int64N(1 << (1 + rng.IntN(62)))
	}
	accepted := 0
	for range 300_000 {
		tensor := Tensor{DType: []DType{Uint8, Float32, Complex128}[rng.IntN(3)], Offset: number(), Storage: sizedStorage(number())}
		for range rng.IntN(4) {
			tensor.Shape = append(tensor.Shape, number())
			s := number()
			if rng.IntN(3) == 0 {
				s = -s
			}
			tensor.Strides = append(tensor.Strides, s)
		}
		if rng.IntN(4) == 0 {
			tensor.Strides = nil
		}
		err := tensor.Check()
		if err == nil {
			accepted++
			if !bigFits(&tensor) {
				t.Fatalf("%+v of %d bytes is accepted", tensor, tensor.Storage.Size())
			}
		} else if bigFits(&tensor) && bigBytes(&tensor).BitLen() < 62 {
			t.Fatalf("%+v of %d bytes is refused: %v", tensor, tensor.Storage.Size(), err)
		}
	}
	if accepted < 1000 {
		t.Fatalf("only %d views accepted: the test says little", accepted)
	}
}

func bigBytes(t *Tensor) *big.Int {
	n := big.NewInt(int64(t.Size()))
	for _, d := range t.Shape {
		n.Mul(n, big.NewInt(d))
	}
	return n
}

// bigFits reports whether every element of t lies within its storage.
func bigFits(t *Tensor) bool {
	for _, d := range t.Shape {
		if d < 0 {
			return false
		}
	}
	if t.Offset < 0 || bigBytes(t).Sign() == 0 {
		return t.Offset >= 0
	}
	low, high := big.NewInt(t.Offset), big.NewInt(t.Offset)
	step := big.NewInt(1)
	for i := len(t.Shape) - 1; i >= 0; i-- {
		if t.Strides != nil {
			step.SetInt64(t.Strides[i])
		}
		reach := new(big.Int).Mul(step, big.NewInt(t.Shape[i]-1))
		if reach.Sign() < 0 {
			low.Add(low, reach)
		} else {
			high.Add(high, reach)
		}
		step.Mul(step, big.NewInt(t.Shape[i]))
	}
	end := new(big.Int).Mul(high.Add(high, big.NewInt(1)), big.NewInt(int64(t.Size())))
	return low.Sign() >= 0 && end.Cmp(big.NewInt(t.Storage.Size())) <= 0
}

// TestExtentContiguous compares with the indices of every element.
func TestExtentContiguous(t *testing.T) {
	rng := rand.New(rand.NewPCG(9, 10))
	for range 20_000 {
		x := randomView(rng, 4, 5)
		indices := elementIndices(x)
		inOrder := true
		low, high := int64(math.MaxInt64), int64(0)
		for i, at := range indices {
			inOrder = inOrder && at == indices[0]+int64(i)
			low, high = min(low, at), max(high, at+1)
		}
		if got := x.Contiguous(); got != inOrder {
			t.Fatalf("shape %v strides %v: contiguous %v, want %v", x.Shape, x.Strides, got, inOrder)
		}
		off, n := x.Extent()
		size := int64(x.Size())
		if len(indices) == 0 {
			low, high = 0, 0
		}
		if off != low*size || n != (high-low)*size {
			t.Fatalf("shape %v strides %v offset %d: extent %d+%d, want %d+%d", x.Shape, x.Strides, x.Offset, off, n, low*size, (high-low)*size)
		}
		if x.Elements() != int64(len(indices)) || x.Bytes() != int64(len(indices))*size {
			t.Fatalf("shape %v: %d elements, want %d", x.Shape, x.Elements(), len(indices))
		}
	}
}

func TestDTypes(t *testing.T) {
	for d, s := range dtypeSizes {
		if d.Size() != s.size || s.size%s.swap != 0 {
			t.Errorf("%s: %d bytes in units of %d", d, s.size, s.swap)
		}
		if d.IsComplex() && (s.size != 2*s.swap || d.IsFloat()) {
			t.Errorf("%s: a complex is two floats", d)
		}
		if !d.IsComplex() && s.size != s.swap {
			t.Errorf("%s is one unit", d)
		}
		if strings.Contains(string(d), "float") != d.IsFloat() || strings.Contains(string(d), "complex") != d.IsComplex() {
			t.Errorf("%s: float %v, complex %v", d, d.IsFloat(), d.IsComplex())
		}
	}
	if n := len(dtypeSizes); n != 21 {
		t.Errorf("%d dtypes, want 21", n)
	}
	if DType("<U3").Size() != 0 {
		t.Error("a name that is not shared has no size")
	}
}

func TestShapeString(t *testing.T) {
	for want, shape := range map[string][]int64{"[]": nil, "[8]": {8}, "[8,4,-1]": {8, 4, -1}} {
		if got := ShapeString(shape); got != want {
			t.Errorf("%v: %s, want %s", shape, got, want)
		}
	}
}
