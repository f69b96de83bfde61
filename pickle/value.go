package pickle

import (
	"math"
	"unicode/utf8"
	"unsafe"
)

// Kind is what a [Value] is.
type Kind uint8

// The kinds of values. Those up to Raw are held in the Value itself; all others
// are objects, behind [Value.Obj].
const (
	Invalid    Kind = iota
	None            // None
	Bool            // True or False
	Int             // an integer of at most 64 bits
	Float           // a float
	Text            // str, short: UTF-8, lone surrogates as Python's "surrogatepass" writes them
	Bytes           // bytes, short
	Raw             // Python 2's str, short: bytes whose encoding nobody recorded
	LongText        // str left in the input
	LongBytes       // bytes left in the input
	LongRaw         // Python 2's str left in the input
	BigInt          // an integer beyond 64 bits: Object.Big
	List            // Object.Items
	Tuple           // Object.Items
	Dict            // Object.Items: key, value, key, value …, each key once, as Python would keep it
	Set             // Object.Items, each once
	FrozenSet       // Object.Items, each once
	ByteArray       // Object.Items[0]: its content, Bytes or LongBytes
	Global          // Object.Global: a class or function by name, never imported
	Call            // callable(*args): Object.Items is {callable, args}
	New             // cls.__new__(cls, *args[, **kwargs]): Object.Items is {class, args} or {class, args, kwargs}
	Inst            // old-style instance (INST, OBJ): Object.Items is {class, args as a tuple}
	Persistent      // persistent id: Object.Items[0]
	Extension       // copyreg extension code: Object.Items[0], an Int
	Buffer          // out-of-band buffer (NEXT_BUFFER); Object.Items is empty
)

var kindNames = [...]string{
	Invalid: "nothing", None: "None", Bool: "bool", Int: "int", Float: "float",
	Text: "str", Bytes: "bytes", Raw: "Python 2 str",
	LongText: "long str", LongBytes: "long bytes", LongRaw: "long Python 2 str",
	BigInt: "big int", List: "list", Tuple: "tuple", Dict: "dict", Set: "set",
	FrozenSet: "frozenset", ByteArray: "bytearray", Global: "global", Call: "call result",
	New: "new object", Inst: "instance", Persistent: "persistent object",
	Extension: "extension", Buffer: "buffer",
}

// String names the kind as a message would.
func (k Kind) String() string {
	if int(k) < len(kindNames) {
		return kindNames[k]
	}
	return "unknown kind"
}

// one names a value of the kind, with its article.
func (k Kind) one() string {
	switch k {
	case Invalid, None, Bytes, LongBytes:
		return k.String()
	case Int, Inst, Extension:
		return "an " + k.String()
	}
	return "a " + k.String()
}

// Value is one value of a pickle, in 16 bytes. It is immutable and may be copied.
//
// bits has the kind in its top byte and below it a bool, an integer that fits,
// or the length of a short text; p points to the first byte of the text or to the
// Object. A float or large integer takes all of bits, and p points to one of tags.
type Value struct {
	p    unsafe.Pointer
	bits uint64
}

const kindShift = 56

// tags gives the kinds whose values take all bits an address each.
var tags [Float + 1]byte

// Kind is what v is; the zero Value is Invalid.
func (v Value) Kind() Kind {
	if i := uintptr(v.p) - uintptr(unsafe.Pointer(&tags)); i < uintptr(len(tags)) {
		return Kind(i)
	}
	return Kind(v.bits >> kindShift)
}

// Obj is the object behind v, or nil if its kind has none. Two values are the
// same Python object if their objects are.
func (v Value) Obj() *Object {
	if v.Kind() < LongText {
		return nil
	}
	return (*Object)(v.p)
}

// Bool is the value of a Bool.
func (v Value) Bool() bool { return v.bits == uint64(Bool)<<kindShift|1 }

// Int is the value of an Int.
func (v Value) Int() int64 {
	if v.p != nil {
		return int64(v.bits)
	}
	return int64(v.bits<<(64-kindShift)) >> (64 - kindShift)
}

// Float is the value of a Float.
func (v Value) Float() float64 { return math.Float64frombits(v.bits) }

// Str is the content of a Text, Bytes or Raw, and empty for any other kind.
func (v Value) Str() string {
	if k := v.Kind(); k < Text || k > Raw {
		return ""
	}
	return unsafe.String((*byte)(v.p), v.bits&(1<<kindShift-1))
}

// String gives the content of v if it is a short text: a Text, or a Raw that is
// valid UTF-8, as nearly every name in a Python 2 pickle is.
func String(v Value) (s string, ok bool) {
	switch v.Kind() {
	case Text:
		return v.Str(), true
	case Raw:
		s = v.Str()
		return s, utf8.ValidString(s)
	}
	return "", false
}

// The constructors that a machine or a test needs.

func noneValue() Value { return Value{bits: uint64(None) << kindShift} }

func boolValue(b bool) Value {
	v := Value{bits: uint64(Bool) << kindShift}
	if b {
		v.bits |= 1
	}
	return v
}

func intValue(i int64) Value {
	const max = 1 << (kindShift - 1)
	if -max <= i && i < max {
		return Value{bits: uint64(Int)<<kindShift | uint64(i)&(1<<kindShift-1)}
	}
	return Value{unsafe.Pointer(&tags[Int]), uint64(i)}
}

func floatValue(f float64) Value {
	return Value{unsafe.Pointer(&tags[Float]), math.Float64bits(f)}
}

// stringValue makes a Text, Bytes or Raw of s, which must never change.
func stringValue(k Kind, s string) Value {
	return Value{unsafe.Pointer(unsafe.StringData(s)), uint64(k)<<kindShift | uint64(len(s))}
}

func objectValue(o *Object) Value {
	return Value{unsafe.Pointer(o), uint64(o.Kind) << kindShift}
}

// ValueOf is the value that refers to o.
func ValueOf(o *Object) Value { return objectValue(o) }
