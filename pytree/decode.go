package pytree

import (
	"encoding/binary"
	"math"
)

// decoders turn little-endian elements into float64, one for each real type.
var decoders = map[DType]func([]float64, []byte){
	Float64: each(8, func(b []byte) float64 { return math.Float64frombits(binary.LittleEndian.Uint64(b)) }),
	Float32: func(dst []float64, b []byte) {
		for i := range dst {
			dst[i] = float64(math.Float32frombits(binary.LittleEndian.Uint32(b[4*i:])))
		}
	},
	BFloat16: func(dst []float64, b []byte) {
		for i := range dst {
			dst[i] = float64(math.Float32frombits(uint32(binary.LittleEndian.Uint16(b[2*i:])) << 16))
		}
	},
	Float16: decodeFloat16,
	Int64:   each(8, func(b []byte) float64 { return float64(int64(binary.LittleEndian.Uint64(b))) }),
	Int32:   each(4, func(b []byte) float64 { return float64(int32(binary.LittleEndian.Uint32(b))) }),
	Int16:   each(2, func(b []byte) float64 { return float64(int16(binary.LittleEndian.Uint16(b))) }),
	Int8:    codes(func(c byte) float64 { return float64(int8(c)) }),
	Uint64:  each(8, func(b []byte) float64 { return float64(binary.LittleEndian.Uint64(b)) }),
	Uint32:  each(4, func(b []byte) float64 { return float64(binary.LittleEndian.Uint32(b)) }),
	Uint16:  each(2, func(b []byte) float64 { return float64(binary.LittleEndian.Uint16(b)) }),
	Uint8:   codes(func(c byte) float64 { return float64(c) }),
	Bool: codes(func(c byte) float64 {
		if c != 0 {
			return 1
		}
		return 0
	}),
	Float8E4M3FN:  float8(4, 3, 7, finiteOnly),
	Float8E4M3FNU: float8(4, 3, 8, unsignedZero),
	Float8E5M2:    float8(5, 2, 15, ieee),
	Float8E5M2FNU: float8(5, 2, 16, unsignedZero),
	Float8E8M0FNU: codes(func(c byte) float64 {
		if c == 0xFF {
			return math.NaN()
		}
		return math.Ldexp(1, int(c)-127)
	}),
}

func each(size int, one func([]byte) float64) func([]float64, []byte) {
	return func(dst []float64, b []byte) {
		for i := range dst {
			dst[i] = one(b[i*size : (i+1)*size])
		}
	}
}

// decodeFloat16 decodes IEEE 754 halves. The bits of one, moved to where a
// float32 has them, mean 2^-112 of its value; multiplying that back is exact,
// subnormals included.
func decodeFloat16(dst []float64, b []byte) {
	for i := range dst {
		h := uint32(binary.LittleEndian.Uint16(b[2*i:]))
		if h&0x7C00 == 0x7C00 {
			dst[i] = smallFloat(h, 5, 10, 15, ieee)
			continue
		}
		dst[i] = float64(math.Float32frombits(h&0x8000<<16|h&0x7FFF<<13)) * 0x1p112
	}
}

// specials is what a small float format does with its outermost codes.
type specials uint8

const (
	ieee         specials = iota // the highest exponent is infinity and NaN
	finiteOnly                   // only all ones is NaN ("fn")
	unsignedZero                 // only the code of negative zero is NaN ("fnuz")
)

func float8(exp, mant, bias int, sp specials) func([]float64, []byte) {
	return codes(func(c byte) float64 { return smallFloat(uint32(c), exp, mant, bias, sp) })
}

// codes decodes a type of one byte by a table.
func codes(one func(c byte) float64) func([]float64, []byte) {
	var table [256]float64
	for i := range table {
		table[i] = one(byte(i))
	}
	return func(dst []float64, b []byte) {
		for i, c := range b[:len(dst)] {
			dst[i] = table[c]
		}
	}
}

// smallFloat decodes a float of one sign bit, exp bits and mant bits.
func smallFloat(v uint32, exp, mant, bias int, sp specials) float64 {
	sign := v >> (exp + mant) & 1
	e := int(v >> mant & (1<<exp - 1))
	m := v & (1<<mant - 1)
	top, ones := 1<<exp-1, uint32(1)<<mant-1
	switch {
	case sp == unsignedZero && sign == 1 && e == 0 && m == 0,
		sp == finiteOnly && e == top && m == ones,
		sp == ieee && e == top && m != 0:
		return math.NaN()
	case sp == ieee && e == top:
		return math.Inf(1 - 2*int(sign))
	}
	f := math.Ldexp(float64(m)+float64(uint32(1)<<mant), e-bias-mant)
	if e == 0 {
		f = math.Ldexp(float64(m), 1-bias-mant)
	}
	if sign == 1 {
		f = math.Copysign(f, -1)
	}
	return f
}

// Float decodes one little-endian element of a real type, an integer or a bool;
// b must be as long as one. It panics for any other type.
func Float(d DType, b []byte) float64 {
	var v [1]float64
	decoders[d](v[:], b)
	return v[0]
}
