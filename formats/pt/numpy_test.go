package pt_test

import (
	"bytes"
	"strings"
	"testing"
)

// npdtype is a pickled numpy.dtype: a type code and what __reduce__ gives as its
// state.
func npdtype(code, order string, more ...py) py {
	state := []py{num(3), str(order), none(), none(), none(), num(-1), num(-1), num(0)}
	return with(call("numpy.dtype", str(code), boolean(false), boolean(true)), tuple(append(state, more...)...))
}

// structured is a dtype of fields: name, type and offset in turn.
func structured(order string, item int64, fields ...py) py {
	var names, dictionary []py
	for i := 0; i < len(fields); i += 3 {
		names = append(names, fields[i])
		dictionary = append(dictionary, fields[i], tuple(fields[i+1], fields[i+2]))
	}
	return with(call("numpy.dtype", str("V"+string(rune('0'+item))), boolean(false), boolean(true)),
		tuple(num(3), str(order), none(), tuple(names...), dict(dictionary...), num(item), num(1), num(16)))
}

// array is _reconstruct(ndarray, (0,), b"b") with its state.
func array(shape, dtype py, fortran bool, data py) py {
	return with(call("numpy.core.multiarray._reconstruct", global("numpy.ndarray"), ints(0), bytesP2("b")),
		tuple(num(1), shape, dtype, boolean(fortran), data))
}

func scalar(dtype py, data string) py {
	return call("numpy._core.multiarray.scalar", dtype, bytesP2(data))
}

// TestNumpy reads every kind of array and scalar, and writes it back.
func TestNumpy(t *testing.T) {
	f4, f4big := npdtype("f4", "<"), npdtype("f4", ">")
	long := strings.Repeat("\x00\x00\x80\x3f", 1000) // left in the pickle
	for _, tt := range []struct {
		why   string
		value py
		want  []string // lines, or one that begins with "error "
	}{
		{"floats", array(ints(2), f4, false, bytesP2("\x00\x00\x80\x3f\x00\x00\x00\x40")), []string{": float32 [2] 0000803f00000040"}},
		{"no dimensions", array(ints(), f4, false, bytesP2("\x00\x00\x80\x3f")), []string{": float32 [] 0000803f"}},
		{"no elements", array(ints(0, 3), f4, false, bytesP2("")), []string{": float32 [0,3] "}},
		{"big-endian", array(ints(2), f4big, false, bytesP2("\x3f\x80\x00\x00\x40\x00\x00\x00")), []string{": float32 [2] 0000803f00000040"}},
		{"bytes have no order", array(ints(2), npdtype("u1", "|"), false, bytesP2("\x01\x02")), []string{": uint8 [2] 0102"}},
		{"Fortran order", array(ints(2, 2), npdtype("i2", "<"), true, bytesP2("\x01\x00\x02\x00\x03\x00\x04\x00")), []string{": int16 [2,2] 0100030002000400"}},
		{"Fortran order, big-endian", array(ints(2, 2), npdtype("i2", ">"), true, bytesP2("\x00\x01\x00\x02\x00\x03\x00\x04")), []string{": int16 [2,2] 0100030002000400"}},
		{"complex, big-endian: two numbers an element", array(ints(1), npdtype("c8", ">"), false, bytesP2("\x3f\x80\x00\x00\x40\x00\x00\x00")), []string{": complex64 [1] 0000803f00000040"}},
		{"booleans", array(ints(2), npdtype("b1", "|"), false, bytesP2("\x01\x00")), []string{": bool [2] 0100"}},
		{"half precision", array(ints(1), npdtype("f2", "<"), false, bytesP2("\x00\x3c")), []string{": float16 [1] 003c"}},
		{"extended precision", array(ints(1), npdtype("f16", "<"), false, bytesP2("0123456789abcdef")), []string{": float128 [1] 30313233343536373839616263646566"}},
		{"text", array(ints(1), npdtype("U2", "<"), false, bytesP2("a\x00\x00\x00b\x00\x00\x00")), []string{": <U2 [1] 6100000062000000"}},
		{"text, big-endian", array(ints(1), npdtype("U2", ">"), false, bytesP2("\x00\x00\x00a\x00\x00\x00b")), []string{": <U2 [1] 6100000062000000"}},
		{"text whose length is in the state", array(ints(1), with(call("numpy.dtype", str("U"), boolean(false), boolean(true)), tuple(num(3), str("<"), none(), none(), none(), num(8), num(4), num(8))), false, bytesP2("a\x00\x00\x00b\x00\x00\x00")), []string{": <U2 [1] 6100000062000000"}},
		{"byte strings", array(ints(2), npdtype("S2", "|"), false, bytesP2("abcd")), []string{": |S2 [2] 61626364"}},
		{"void", array(ints(1), npdtype("V3", "|"), false, bytesP2("abc")), []string{": |V3 [1] 616263"}},
		{"dates", array(ints(1), npdtype("M8", "<", tuple(dict(), tuple(bytesP2("D"), num(1), num(1), num(1)))), false, bytesP2("\x01\x00\x00\x00\x00\x00\x00\x00")), []string{": datetime64[D] [1] 0100000000000000"}},
		{"records", array(ints(1), structured("|", 6, str("a"), npdtype("i2", "<"), num(0), str("b"), f4, num(2)), false, bytesP2("\x01\x00\x00\x00\x80\x3f")), []string{": [('a', '<i2'), ('b', '<f4')] [1] 01000000803f"}},
		{"records, big-endian", array(ints(1), structured("|", 6, str("a"), npdtype("i2", ">"), num(0), str("b"), f4big, num(2)), false, bytesP2("\x00\x01\x3f\x80\x00\x00")), []string{": [('a', '<i2'), ('b', '<f4')] [1] 01000000803f"}},
		{"records with a gap", array(ints(1), structured("|", 8, str("a"), npdtype("i2", "<"), num(0), str("b"), f4, num(4)), false, bytesP2("\x01\x00\xee\xee\x00\x00\x80\x3f")),
			[]string{": {'names': ['a', 'b'], 'formats': ['<i2', '<f4'], 'offsets': [0, 4], 'itemsize': 8} [1] 0100eeee0000803f"}},
		{"an array in a record", array(ints(1), structured("|", 4, str("a"), with(call("numpy.dtype", str("V4"), boolean(false), boolean(true)), tuple(num(3), str("|"), tuple(npdtype("i2", "<"), ints(2)), none(), none(), num(4), num(1), num(0))), num(0)), false, bytesP2("\x01\x00\x02\x00")),
			[]string{": [('a', '<i2', (2,))] [1] 01000200"}},
		{"objects", array(ints(2), npdtype("O8", "|"), false, list(str("x"), list(num(1)))), []string{": numpy.ndarray [dtype object shape [2]]", "0: x", "1.0: 1"}},
		{"one object", array(ints(), npdtype("O8", "|"), false, list(num(7))), []string{": numpy.ndarray [dtype object shape []]", "0: 7"}},
		{"records of no length", array(ints(2), npdtype("V0", "|"), false, bytesP2("")), []string{": <numpy.ndarray |V0 [2]>"}},
		{"left in the pickle", array(ints(1000), f4, false, bytesP2(long)), []string{": float32 [1000]"}},
		{"before there was a version", with(call("numpy.core.multiarray._reconstruct", global("numpy.ndarray"), ints(0), bytesP2("b")), tuple(ints(1), f4, boolean(false), bytesP2("\x00\x00\x80\x3f"))), []string{": float32 [1] 0000803f"}},
		{"protocol 5, in band", call("numpy._core.numeric._frombuffer", bytesP2("\x00\x00\x80\x3f"), f4, ints(1), str("C")), []string{": float32 [1] 0000803f"}},

		{"a float", scalar(npdtype("f8", "<"), "\x00\x00\x00\x00\x00\x00\xf8\x3f"), []string{": numpy.float64 1.5"}},
		{"a float, big-endian", scalar(npdtype("f8", ">"), "\x3f\xf8\x00\x00\x00\x00\x00\x00"), []string{": numpy.float64 1.5"}},
		{"a small negative integer", scalar(npdtype("i1", "|"), "\xff"), []string{": numpy.int8 -1"}},
		{"the largest integer", scalar(npdtype("u8", "<"), "\xff\xff\xff\xff\xff\xff\xff\xff"), []string{": numpy.uint64 18446744073709551615"}},
		{"a boolean", scalar(npdtype("b1", "|"), "\x01"), []string{": numpy.bool_ true"}},
		{"a text", scalar(npdtype("U2", "<"), "a\x00\x00\x00\x00\x00\x00\x00"), []string{": numpy.str_ a"}},
		{"a byte string", scalar(npdtype("S3", "|"), "ab\x00"), []string{": numpy.bytes_ [97 98]"}},
		{"a date", scalar(npdtype("M8", "<", tuple(dict(), tuple(bytesP2("D"), num(1), num(1), num(1)))), "\x01\x00\x00\x00\x00\x00\x00\x00"), []string{": <numpy.datetime64 1970-01-02T00:00:00>"}},
		{"no date", scalar(npdtype("M8", "<", tuple(dict(), tuple(bytesP2("D"), num(1), num(1), num(1)))), "\x00\x00\x00\x00\x00\x00\x00\x80"), []string{": <numpy.datetime64 NaT>"}},
		{"a complex number", scalar(npdtype("c16", "<"), "\x00\x00\x00\x00\x00\x00\xf0\x3f\x00\x00\x00\x00\x00\x00\x00\xc0"), []string{": <numpy.complex128 (1-2j)>"}},

		{"too few bytes", array(ints(2), f4, false, bytesP2("\x00\x00\x80\x3f")), []string{"error float32 [2]: 8 bytes expected, there are 4"}},
		{"too many bytes", array(ints(1), f4, false, bytesP2("\x00\x00\x80\x3f\x00")), []string{"error float32 [1]: 4 bytes expected, there are 5"}},
		{"a shape that overflows", array(ints(1<<40, 1<<40), f4, false, bytesP2("")), []string{"error shape [1099511627776,1099511627776] is negative or overflows"}},
		{"a shape of text", array(str("2"), f4, false, bytesP2("")), []string{"error the shape must be a tuple of at most 64 integers, not '2'"}},
		{"bytes that are none", array(ints(1), f4, false, num(7)), []string{"error bytes expected, not an int"}},
		{"a dtype that is none: its parts", array(ints(1), str("f4"), false, bytesP2("abcd")), []string{": numpy.core.multiarray._reconstruct", "0: <global numpy.ndarray>", "1: tuple", "1.0: 0", "2: [98]", "__state__: tuple", "__state__.0: 1", "__state__.1: tuple", "__state__.1.0: 1", "__state__.2: f4", "__state__.3: false", "__state__.4: [97 98 99 100]"}},
		{"objects too few", array(ints(3), npdtype("O8", "|"), false, list(num(1))), []string{"error an object array of shape [3] takes a list of 3 objects"}},
		{"a scalar of the wrong length", scalar(npdtype("f8", "<"), "abcd"), []string{"error float64: 8 bytes expected, there are 4"}},
		{"text that stands for no bytes", array(ints(1), f4, false, call("_codecs.encode", str("a\u0100bc"), str("latin1"))), []string{"error character 'Ā' at byte 1"}},
	} {
		c, err := open(archive(t, tt.value))
		if want, ok := strings.CutPrefix(tt.want[0], "error "); ok {
			if err == nil || !strings.Contains(err.Error(), want) || !strings.Contains(err.Error(), "at byte ") {
				t.Errorf("%s: error %v, want %q and where it is", tt.why, err, want)
			}
			continue
		}
		if err != nil {
			t.Errorf("%s: %v", tt.why, err)
			continue
		}
		checkLines(t, tt.why, c.Tree, tt.want...)
		first := rewritten(t, c.Tree)
		back := mustOpen(t, first)
		checkLines(t, tt.why+", rewritten", back.Tree, tt.want...)
		if second := rewritten(t, back.Tree); !bytes.Equal(first, second) {
			t.Errorf("%s: a rewrite of the rewrite differs", tt.why)
		}
	}
}
