package pytree

import (
	"bytes"
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"math"
	"math/rand/v2"
	"strconv"
	"testing"
)

// TestDecodeGoldens decodes every code of the small types and compares with
// torch.
func TestDecodeGoldens(t *testing.T) {
	for d, want := range readGoldens(t).Decoded {
		size := d.Size()
		h := sha256.New()
		for code := range 1 << (8 * size) {
			raw := binary.LittleEndian.AppendUint16(nil, uint16(code))[:size]
			v := Float(d, raw)
			bits := math.Float64bits(v)
			if v != v {
				bits = 0x7ff8000000000000
			}
			h.Write(binary.LittleEndian.AppendUint64(nil, bits))
		}
		if got := hex.EncodeToString(h.Sum(nil)); got != want {
			t.Errorf("%s: %s, want %s", d, got, want)
		}
	}
}

// TestDecodeKnown has values from the formats' definitions, to say where a golden
// goes wrong.
func TestDecodeKnown(t *testing.T) {
	tests := []struct {
		dtype DType
		code  uint64
		want  float64
	}{
		{Float8E4M3FN, 0x7E, 448}, {Float8E4M3FN, 0x7F, math.NaN()}, {Float8E4M3FN, 0xFF, math.NaN()}, {Float8E4M3FN, 0x01, 0x1p-9}, {Float8E4M3FN, 0x80, math.Copysign(0, -1)},
		{Float8E4M3FNU, 0x7F, 240}, {Float8E4M3FNU, 0x80, math.NaN()}, {Float8E4M3FNU, 0x01, 0x1p-10},
		{Float8E5M2, 0x7B, 57344}, {Float8E5M2, 0x7C, math.Inf(1)}, {Float8E5M2, 0xFC, math.Inf(-1)}, {Float8E5M2, 0x7D, math.NaN()}, {Float8E5M2, 0x01, 0x1p-16},
		{Float8E5M2FNU, 0x7F, 57344}, {Float8E5M2FNU, 0x80, math.NaN()}, {Float8E5M2FNU, 0x01, 0x1p-17},
		{Float8E8M0FNU, 0x00, 0x1p-127}, {Float8E8M0FNU, 0x7F, 1}, {Float8E8M0FNU, 0xFF, math.NaN()},
		{Float16, 0x0001, 0x1p-24}, {Float16, 0x03FF, 0x3FFp-24}, {Float16, 0x7BFF, 65504}, {Float16, 0xFC00, math.Inf(-1)}, {Float16, 0x7C01, math.NaN()}, {Float16, 0x8000, math.Copysign(0, -1)},
		{BFloat16, 0x3F80, 1}, {BFloat16, 0x7F80, math.Inf(1)}, {BFloat16, 0x0001, 0x1p-133},
		{Float32, 0x00000001, 0x1p-149}, {Float64, 1, 0x1p-1074},
		{Int8, 0x80, -128}, {Int16, 0x8000, -32768}, {Int32, 0x80000000, -1 << 31}, {Int64, 1 << 63, -1 << 63},
		{Uint8, 0xFF, 255}, {Uint16, 0xFFFF, 65535}, {Uint32, 0xFFFFFFFF, 1<<32 - 1}, {Uint64, 1<<64 - 1, 1 << 64},
		{Bool, 0, 0}, {Bool, 1, 1}, {Bool, 2, 1},
	}
	for _, tt := range tests {
		raw := binary.LittleEndian.AppendUint64(nil, tt.code)[:tt.dtype.Size()]
		if got := Float(tt.dtype, raw); math.Float64bits(got) != math.Float64bits(tt.want) && !(got != got && tt.want != tt.want) {
			t.Errorf("%s %#x: %v, want %v", tt.dtype, tt.code, got, tt.want)
		}
	}
}

func statsOf(t *testing.T, d DType, raw []byte) *Stats {
	t.Helper()
	x := &Tensor{DType: d, Shape: []int64{int64(len(raw) / d.Size())}, Storage: &Storage{Source: Bytes(raw)}}
	e := Examine(t.Context(), []*Tensor{x}, ExamOptions{Stats: true})[0]
	if e.Err != nil || e.Stats == nil {
		t.Fatalf("%s: %+v", d, e)
	}
	return e.Stats
}

// near reports whether got is want but for rounding.
func near(got, want float64) bool {
	return got == want || got != got && want != want || math.Abs(got-want) <= 1e-12*math.Abs(want)
}

// TestStatsGoldens compares with NumPy.
func TestStatsGoldens(t *testing.T) {
	for i, g := range readGoldens(t).Stats {
		s := statsOf(t, g.DType, bytes.Repeat(unhex(t, g.Raw), g.Repeat))
		if s.NaN != g.NaN || s.Inf != g.Inf || s.Zeros != g.Zeros || s.Finite != g.Finite {
			t.Errorf("case %d, %s: counts %+v, want NaN %d, Inf %d, zeros %d, finite %d", i, g.DType, *s, g.NaN, g.Inf, g.Zeros, g.Finite)
		}
		number := func(text string) float64 {
			v, err := strconv.ParseFloat(text, 64)
			if err != nil {
				t.Fatal(err)
			}
			return v
		}
		if lo, hi := number(g.Min), number(g.Max); !(s.Min == lo || s.Min != s.Min && lo != lo) || !(s.Max == hi || s.Max != s.Max && hi != hi) {
			t.Errorf("case %d, %s: min %v max %v, want %v and %v", i, g.DType, s.Min, s.Max, lo, hi)
		}
		// A mean near zero is what cancellation leaves of values as large as Std.
		mean, std := number(g.Mean), number(g.Std)
		if !near(s.Mean, mean) && math.Abs(s.Mean-mean) > 1e-14*std {
			t.Errorf("case %d, %s: mean %v, want %v", i, g.DType, s.Mean, mean)
		}
		if !near(s.Std, std) {
			t.Errorf("case %d, %s: std %v, want %v", i, g.DType, s.Std, std)
		}
	}
}

func float64s(values ...float64) []byte {
	var raw []byte
	for _, v := range values {
		raw = binary.LittleEndian.AppendUint64(raw, math.Float64bits(v))
	}
	return raw
}

// TestStatsExtremes has values whose sums leave the range of a float64, which no
// result may turn into NaN.
func TestStatsExtremes(t *testing.T) {
	const huge = math.MaxFloat64
	tests := []struct {
		reason    string
		raw       []byte
		mean, std float64
	}{
		{"the sum overflows", bytes.Repeat(float64s(huge), 5000), huge, 0},
		{"the sum overflows, and the mean is none of the values", bytes.Repeat(float64s(huge, huge/2), 2000), huge / 4 * 3, math.Inf(1)},
		{"constants have no deviation", bytes.Repeat(float64s(0.1), 5001), 0.1, 0},
		{"a constant whose square overflows", bytes.Repeat(float64s(-1e200), 5000), -1e200, 0},
		{"blocks of opposite sign", append(bytes.Repeat(float64s(huge), decodeBlock), bytes.Repeat(float64s(-huge), decodeBlock)...), 0, math.Inf(1)},
		{"opposite signs in one block", float64s(huge, -huge), 0, math.Inf(1)},
		{"a wide range", float64s(1e200, 2e200), 1.5e200, math.Inf(1)},
		{"subnormals", float64s(0, 0x1p-1074*2), 0x1p-1074, 0},
		{"one value", float64s(3), 3, 0},
		{"finite values behind a block without any", append(bytes.Repeat(float64s(math.NaN()), decodeBlock), float64s(1, 3)...), 2, 1},
	}
	for _, tt := range tests {
		s := statsOf(t, Float64, tt.raw)
		if !near(s.Mean, tt.mean) || s.Std != tt.std || s.Mean < s.Min || s.Mean > s.Max {
			t.Errorf("%s: %+v, want mean %v, std %v", tt.reason, *s, tt.mean, tt.std)
		}
	}
}

func TestStatsEmpty(t *testing.T) {
	for d := range dtypeSizes {
		s := statsOf(t, d, nil)
		for _, v := range []float64{s.Min, s.Max, s.Mean, s.Std} {
			if v == v {
				t.Errorf("%s: %+v of no elements", d, *s)
			}
		}
		if s.Zeros+s.NaN+s.Inf+s.Finite != 0 {
			t.Errorf("%s: %+v of no elements", d, *s)
		}
	}
	x := &Tensor{DType: "<U1", ItemSize: 4, Shape: []int64{2}, Storage: &Storage{Source: Bytes(make([]byte, 8))}}
	if e := Examine(t.Context(), []*Tensor{x}, ExamOptions{Stats: true})[0]; e.Stats != nil || e.Err != nil {
		t.Errorf("text has no statistics: %+v", e)
	}
}

// TestStatsCuts wants the same whatever the pieces in which the bytes come.
func TestStatsCuts(t *testing.T) {
	rng := rand.New(rand.NewPCG(21, 22))
	raw := make([]byte, 16*3000)
	for i := range raw {
		raw[i] = byte(rng.Uint32())
	}
	for d := range dtypeSizes {
		if d == Float64 || d == BFloat16 || d == Float32 { // random bits are too large for exact sums
			continue
		}
		var whole, cut accumulator
		whole.reset(d)
		whole.add(raw)
		want := whole.stats()
		cut.reset(Complex128)
		cut.add(raw[:64])
		cut.reset(d) // what was before must leave no trace
		for rest := raw; len(rest) > 0; {
			n := min((1+rng.IntN(500))*16, len(rest))
			cut.add(rest[:n])
			rest = rest[n:]
		}
		got := cut.stats()
		if got.Zeros != want.Zeros || got.NaN != want.NaN || got.Inf != want.Inf || got.Finite != want.Finite ||
			math.Float64bits(got.Min) != math.Float64bits(want.Min) && want.Min == want.Min || got.Max != want.Max && want.Max == want.Max {
			t.Errorf("%s: %+v, want %+v", d, *got, *want)
		}
		if !near(got.Std, want.Std) || !near(got.Mean, want.Mean) && math.Abs(got.Mean-want.Mean) > 1e-13*want.Std {
			t.Errorf("%s: %+v, want %+v", d, *got, *want)
		}
	}
}
