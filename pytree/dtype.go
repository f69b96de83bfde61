package pytree

// DType is an element type by the name that torch, NumPy and JAX share. A
// format may use further names for types of its own (NumPy's structured types
// and fixed-width strings, torch's quantized ones); those are tensors all the
// same, compared and copied as bytes.
type DType string

// The shared names.
const (
	Float64       DType = "float64"
	Float32       DType = "float32"
	Float16       DType = "float16"
	BFloat16      DType = "bfloat16"
	Float8E4M3FN  DType = "float8_e4m3fn"
	Float8E4M3FNU DType = "float8_e4m3fnuz"
	Float8E5M2    DType = "float8_e5m2"
	Float8E5M2FNU DType = "float8_e5m2fnuz"
	Float8E8M0FNU DType = "float8_e8m0fnu"
	Int64         DType = "int64"
	Int32         DType = "int32"
	Int16         DType = "int16"
	Int8          DType = "int8"
	Uint64        DType = "uint64"
	Uint32        DType = "uint32"
	Uint16        DType = "uint16"
	Uint8         DType = "uint8"
	Bool          DType = "bool"
	Complex32     DType = "complex32"
	Complex64     DType = "complex64"
	Complex128    DType = "complex128"
)

// dtypeSizes gives bytes an element, and the width of the units that a change
// of byte order reverses.
var dtypeSizes = map[DType]struct{ size, swap int }{
	Float64: {8, 8}, Float32: {4, 4}, Float16: {2, 2}, BFloat16: {2, 2},
	Float8E4M3FN: {1, 1}, Float8E4M3FNU: {1, 1}, Float8E5M2: {1, 1}, Float8E5M2FNU: {1, 1}, Float8E8M0FNU: {1, 1},
	Int64: {8, 8}, Int32: {4, 4}, Int16: {2, 2}, Int8: {1, 1},
	Uint64: {8, 8}, Uint32: {4, 4}, Uint16: {2, 2}, Uint8: {1, 1}, Bool: {1, 1},
	Complex32: {4, 2}, Complex64: {8, 4}, Complex128: {16, 8},
}

// Size is the bytes an element takes, or 0 where the name does not say: then
// the tensor's own ItemSize does.
func (d DType) Size() int { return dtypeSizes[d].size }

// IsFloat reports whether d is a real floating-point type.
func (d DType) IsFloat() bool {
	switch d {
	case Float64, Float32, Float16, BFloat16, Float8E4M3FN, Float8E4M3FNU, Float8E5M2, Float8E5M2FNU, Float8E8M0FNU:
		return true
	}
	return false
}

// IsComplex reports whether d is a complex type: two floats an element.
func (d DType) IsComplex() bool {
	return d == Complex32 || d == Complex64 || d == Complex128
}
