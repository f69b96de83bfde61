package pt_test

import (
	"archive/zip"
	"strconv"
	"strings"
	"testing"
	"time"
)

// TestSharedParts reads small pickles in which very many objects share one large
// part: what is made of the part may not be made again for each.
func TestSharedParts(t *testing.T) {
	const many, large = 50_000, 50_000
	repeat := func(n int, v py) []py {
		out := make([]py, n)
		for i := range out {
			out[i] = v
		}
		return out
	}
	// of is a list of very many objects, each made by a function of shared parts.
	of := func(v py) py { return list(repeat(many, v)...) }
	numbers := once(tuple(repeat(large, num(1))...))
	numberList := once(list(repeat(large, num(1))...))
	var pairs, attributes []py
	for i := range large {
		pairs = append(pairs, tuple(num(int64(i)), num(1)))
		attributes = append(attributes, str("a"+strconv.Itoa(i)), num(1))
	}
	pairList := once(list(pairs...))
	attributeDict := once(dict(attributes...))
	long := once(str(strings.Repeat("é", 1<<20)))
	wide := num(1)
	for range 4 {
		wide = once(tuple(repeat(32, wide)...))
	}
	od := call("collections.OrderedDict")
	for _, tt := range []struct {
		why   string
		value py
	}{
		{"arguments", of(callOf("my.f", numbers))},
		{"keyword arguments", of(newEx("my.C", attributeDict))},
		{"a state", of(with(object("my.C"), attributeDict))},
		{"a state unseen", of(with(od, attributeDict))},
		{"the pairs of an OrderedDict", of(call("collections.OrderedDict", pairList))},
		{"the items of a set", of(call("builtins.set", numberList))},
		{"the items of a deque", of(call("collections.deque", numbers))},
		{"the items of a Counter", of(call("collections.Counter", attributeDict))},
		{"a size", of(call("torch.Size", numbers))},
		{"a shape", of(call("torch._utils._rebuild_tensor", storage("FloatStorage", "0", 6), num(0), numbers, numbers))},
		{"hooks", of(call("torch._utils._rebuild_tensor_v2", storage("FloatStorage", "0", 6), num(0), ints(1), ints(1), boolean(false), once(call("collections.OrderedDict", pairList))))},
		{"the shape of an array", of(array(numbers, npdtype("f4", "<"), false, bytesP2("abcd")))},
		{"the fields of a dtype", of(array(ints(1), with(call("numpy.dtype", str("V4"), boolean(false), boolean(true)), tuple(num(3), str("|"), none(), numbers, attributeDict, num(4), num(1), num(0))), false, bytesP2("abcd")))},
		{"the shape of a field", of(array(ints(1), with(call("numpy.dtype", str("V4"), boolean(false), boolean(true)), tuple(num(3), str("|"), tuple(npdtype("f4", "<"), numbers), none(), none(), num(4), num(1), num(0))), false, bytesP2("abcd")))},
		{"a long text that stands for bytes", of(call("_codecs.encode", long, str("latin1")))},
		{"a long text that stands for a bytearray", of(call("builtins.bytearray", long, str("latin1")))},
		{"a bytearray of a bytearray", of(call("builtins.bytearray", call("builtins.bytearray", call("_codecs.encode", long, str("latin1")))))},
		{"the parts of a path", of(callOf("pathlib.PosixPath", once(tuple(repeat(large, str("part"))...))))},
		{"the empty parts of a path", of(callOf("pathlib.PosixPath", once(tuple(repeat(large, str(""))...))))},
		{"the arguments of a range", of(callOf("builtins.range", numbers))},
		{"the state of a UUID", of(with(object("uuid.UUID"), attributeDict))},
		{"a wide key", list(repeat(many, dict(wide, num(1)))...)},
		{"keys of wide keys", list(repeat(many, dict(tuple(wide), num(1)))...)},
		{"objects as keys", dict(repeat(2*many, object("my.Key"))...)},
		{"the buffers that a module leaves out", of(module("my.M", nil, nil, str("_non_persistent_buffers_set"), once(call("builtins.set", numberList))))},
	} {
		t.Run(tt.why, func(t *testing.T) {
			data := archive(t, tt.value, float32s(6))
			done := make(chan struct{})
			go func() {
				select {
				case <-done:
				case <-time.After(30 * time.Second):
					panic(tt.why + ": takes more than 30 s")
				}
			}()
			most := uint64(100<<20 + 100*len(data))
			frugally(t, tt.why, most, func() {
				if c, err := open(data); err == nil {
					summary(c)
				} else {
					t.Logf("%s: %v", tt.why, err)
				}
			})
			close(done)
		})
	}
}

// TestEndlessNames reads a dtype whose name doubles with each of its levels, and
// dates whose time zones are dates.
func TestEndlessNames(t *testing.T) {
	dtype := npdtype("V0", "|")
	for range 30 {
		dtype = once(structured("|", 0, str("a"), dtype, num(0), str("b"), dtype, num(0)))
	}
	data := archive(t, array(ints(1), dtype, false, bytesP2("")))
	frugally(t, "a dtype that doubles", 100<<20, func() {
		if c, err := open(data); err == nil {
			summary(c)
		}
	})
	const deep = 2_000_000
	p := []byte("\x80\x02cdatetime\ndatetime\nq\x000C\x0a\x07\xe8\x01\x0f\x0a\x1e\x00\x00\x00\x00q\x010")
	p = append(p, strings.Repeat("h\x00h\x01", deep)...)
	p = append(p, "N"...)
	p = append(p, strings.Repeat("\x86R", deep)...)
	p = append(p, '.')
	data = zipped(t, zip.Store, part{"a/data.pkl", p})
	frugally(t, "dates in dates", 2000<<20, func() {
		c, err := open(data)
		if err != nil {
			t.Logf("dates in dates: %v", err)
			return
		}
		summary(c)
	})
}
