package pt

import (
	"strings"

	"ckpt/pytree"
)

// torchDTypes is torch's dtypes by their names in the torch module, with the
// dtype of their elements as plain tensors. Quantized types are stored as
// integers; those below a byte are packed into bytes.
var torchDTypes = map[string]pytree.DType{
	"float64": pytree.Float64, "double": pytree.Float64, "float32": pytree.Float32, "float": pytree.Float32,
	"float16": pytree.Float16, "half": pytree.Float16, "bfloat16": pytree.BFloat16,
	"float8_e4m3fn": pytree.Float8E4M3FN, "float8_e4m3fnuz": pytree.Float8E4M3FNU,
	"float8_e5m2": pytree.Float8E5M2, "float8_e5m2fnuz": pytree.Float8E5M2FNU, "float8_e8m0fnu": pytree.Float8E8M0FNU,
	"int64": pytree.Int64, "long": pytree.Int64, "int32": pytree.Int32, "int": pytree.Int32,
	"int16": pytree.Int16, "short": pytree.Int16, "int8": pytree.Int8,
	"uint64": pytree.Uint64, "uint32": pytree.Uint32, "uint16": pytree.Uint16, "uint8": pytree.Uint8,
	"bool": pytree.Bool, "complex32": pytree.Complex32, "chalf": pytree.Complex32,
	"complex64": pytree.Complex64, "cfloat": pytree.Complex64, "complex128": pytree.Complex128, "cdouble": pytree.Complex128,
	"bcomplex32": "bcomplex32",
	"qint8":      "qint8", "quint8": "quint8", "qint32": "qint32", "quint4x2": "quint4x2", "quint2x4": "quint2x4",
	"bits8": "bits8", "bits16": "bits16", "bits1x8": "bits1x8", "bits2x4": "bits2x4", "bits4x2": "bits4x2",
	"float4_e2m1fn_x2": "float4_e2m1fn_x2",
	"uint1":            "uint1", "uint2": "uint2", "uint3": "uint3", "uint4": "uint4", "uint5": "uint5", "uint6": "uint6", "uint7": "uint7",
	"int1": "int1", "int2": "int2", "int3": "int3", "int4": "int4", "int5": "int5", "int6": "int6", "int7": "int7",
}

// itemSizes is the bytes an element of torch's own further dtypes takes.
var itemSizes = map[pytree.DType]int{
	"bcomplex32": 4,
	"qint8":      1, "quint8": 1, "qint32": 4, "quint4x2": 1, "quint2x4": 1,
	"bits8": 1, "bits16": 2, "bits1x8": 1, "bits2x4": 1, "bits4x2": 1, "float4_e2m1fn_x2": 1,
	"uint1": 1, "uint2": 1, "uint3": 1, "uint4": 1, "uint5": 1, "uint6": 1, "uint7": 1,
	"int1": 1, "int2": 1, "int3": 1, "int4": 1, "int5": 1, "int6": 1, "int7": 1,
}

func elementSize(d pytree.DType) int {
	if n := itemSizes[d]; n > 0 {
		return n
	}
	return d.Size()
}

// storageTypes is the dtype of each storage class. UntypedStorage has none: it
// counts bytes, and the tensor says its dtype.
var storageTypes = map[string]pytree.DType{
	"DoubleStorage": pytree.Float64, "FloatStorage": pytree.Float32, "HalfStorage": pytree.Float16,
	"BFloat16Storage": pytree.BFloat16, "LongStorage": pytree.Int64, "IntStorage": pytree.Int32,
	"ShortStorage": pytree.Int16, "CharStorage": pytree.Int8, "ByteStorage": pytree.Uint8, "BoolStorage": pytree.Bool,
	"ComplexFloatStorage": pytree.Complex64, "ComplexDoubleStorage": pytree.Complex128,
	"QInt8Storage": "qint8", "QUInt8Storage": "quint8", "QInt32Storage": "qint32",
	"QUInt4x2Storage": "quint4x2", "QUInt2x4Storage": "quint2x4",
	"UntypedStorage": pytree.Uint8, "_UntypedStorage": pytree.Uint8,
}

// storageClass is the class of storages that hold a dtype, or "" for the dtypes
// that came after the classes: their storages are untyped.
var storageClass = func() map[pytree.DType]string {
	m := make(map[pytree.DType]string)
	for class, d := range storageTypes {
		if !strings.HasSuffix(class, "UntypedStorage") {
			m[d] = class
		}
	}
	return m
}()
