package pickle

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"runtime"
	"strings"
	"testing"
	"time"
)

// allocated tells how many bytes f allocates in all: no less than what it ever
// holds, whenever the garbage is collected.
func allocated(f func()) int64 {
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	f()
	runtime.ReadMemStats(&after)
	return int64(after.TotalAlloc - before.TotalAlloc)
}

// A pickle costs memory in proportion to its own size, whatever it consists of.
func TestMemoryPerByte(t *testing.T) {
	const limit = 80
	size := 1 << 20
	if testing.Short() {
		size /= 8 // what is allocated at once counts little, still
	}
	key := func(i int) string { return string([]byte{byte(i), byte(i >> 8), byte(i >> 16)}) }
	repeat := func(s string) func(int) string { return func(int) string { return s } }
	for _, c := range []struct {
		why, head string
		unit      func(i int) string
	}{
		{"empty dicts", "", repeat("}")},
		{"empty lists", "", repeat("]")},
		{"empty sets", "", repeat("\x8f")},
		{"empty tuples", "", repeat(")")},
		{"None", "", repeat("N")},
		{"marks", "", repeat("(")},
		{"marks with values between", "", repeat("(N")},
		{"marked lists", "", repeat("(l")},
		{"frozensets", "", repeat("(\x91")},
		{"nested tuples", "N", repeat("\x85")},
		{"lists and marks", "", repeat("](")},
		{"persistent ids of persistent ids", "N", repeat("Q")},
		{"copies", "]", repeat("2")},
		{"memo entries", "]", repeat("\x94")},
		{"dicts in the memo", "", repeat("}\x94")},
		{"memo entries far apart", "]", func(i int) string { return "r" + key(i) + "\x80" }},
		{"memo entries a page apart", "]", func(i int) string { return "r\x00" + key(i*4) }},
		{"dicts thrown away", "", repeat("}0")},
		{"a list that grows", "]", repeat("Na")},
		{"a list of dicts that grows", "]", repeat("}a")},
		{"states", "cm\nC\n", repeat("Nb")},
		{"states of many", "", repeat("]Nb")},
		{"items of an object", "cm\nC\n", repeat("Na")},
		{"calls of calls", "cm\nC\n", repeat(")R")},
		{"one global", "", repeat("c\n\n")},
		{"many globals", "", func(i int) string {
			return fmt.Sprintf("c%c%c\n%c%c\n", 'a'+i%26, 'a'+i/26%26, 'a'+i/676%26, 'a'+i/17576%26)
		}},
		{"one extension", "", repeat("\x82\x01")},
		{"many extensions", "", func(i int) string { return "\x84" + key(i+1) + "\x00" }},
		{"instances", "", repeat("(i\n\n")},
		{"buffers", "", repeat("\x97")},
		{"a dict of many keys", "}", func(i int) string { return "J" + key(i) + "\x01Ns" }},
		{"a set of many items", "\x8f(", func(i int) string { return "J" + key(i) + "\x01" }},
		{"a dict of many texts", "}", func(i int) string { return fmt.Sprintf("\x8c\x06%06xNs", i) }},
		{"dicts of nine keys", "", repeat("}(K\x00NK\x01NK\x02NK\x03NK\x04NK\x05NK\x06NK\x07NK\x08Nu")},
		{"integers of nine bytes", "", repeat("\x8a\x09\x00\x00\x00\x00\x00\x00\x00\x80\x00")},
		{"long texts", "", repeat("X\x00\x04\x00\x00" + k)},
		{"long lines", "", repeat("S'" + k + "'\n")},
		{"empty bytearrays", "", repeat("\x96\x00\x00\x00\x00\x00\x00\x00\x00")},
		{"empty texts", "", repeat("\x8c\x00")},
		{"short lines", "", repeat("V\n")},
		{"integers in lines", "", repeat("I7\n")},
	} {
		var b strings.Builder
		b.WriteString(c.head)
		for i := 0; b.Len() < size; i++ {
			b.WriteString(c.unit(i))
		}
		in := b.String()
		var err error
		n := allocated(func() { _, err = readString(in) })
		if !errors.Is(err, io.ErrUnexpectedEOF) {
			t.Errorf("%s: %v", c.why, err)
		}
		if per := n / int64(len(in)); per > limit {
			t.Errorf("%s: %d bytes are allocated for each of the pickle; the limit is %d", c.why, per, limit)
		}
	}
}

// What a few bytes announce costs nothing.
func TestBombs(t *testing.T) {
	for _, c := range []struct{ why, in string }{
		{"bytes of 2^36", "\x80\x04\x8e\x00\x00\x00\x00\x10\x00\x00\x00."},
		{"bytes of 2^63", "\x8e\x00\x00\x00\x00\x00\x00\x00\x80."},
		{"bytes of 2^64-1", "\x8e\xff\xff\xff\xff\xff\xff\xff\xff."},
		{"bytes of 2^32-1", "B\xff\xff\xff\xff."},
		{"text of 2^36", "\x8d\x00\x00\x00\x00\x10\x00\x00\x00."},
		{"text of 2^32-1", "X\xff\xff\xff\xff."},
		{"short text", "\x8c\xff."},
		{"bytearray of 2^36", "\x96\x00\x00\x00\x00\x10\x00\x00\x00."},
		{"Python 2 text of 2^31-1", "T\xff\xff\xff\x7f."},
		{"Python 2 text of -1", "T\xff\xff\xff\xff."},
		{"integer of 2^31-1", "\x8b\xff\xff\xff\x7f."},
		{"integer of -1", "\x8b\xff\xff\xff\xff."},
		{"frame of 2^63", "\x95\x00\x00\x00\x00\x00\x00\x00\x80."},
		{"frame longer than the input by one", "\x95\x02\x00\x00\x00\x00\x00\x00\x00."},
		{"memo index 2^32-1 read", "j\xff\xff\xff\xff."},
		{"memo index 2^64 in a line", "]p18446744073709551616\n."},
	} {
		var err error
		n := allocated(func() { _, err = readString(c.in) })
		if _, ok := errors.AsType[*SyntaxError](err); !ok {
			t.Errorf("%s: %v", c.why, err)
		}
		if n > 64<<10 {
			t.Errorf("%s: %d bytes allocated", c.why, n)
		}
	}
	// These are well formed, and cost no more.
	for _, c := range []struct{ why, in string }{
		{"memo index 2^32-1 written", "]r\xff\xff\xff\xffj\xff\xff\xff\xff\x86."},
		{"memo index 2^32-1 in lines", "]p4294967295\ng4294967295\n\x86."},
	} {
		n := allocated(func() {
			if _, err := readString(c.in); err != nil {
				t.Errorf("%s: %v", c.why, err)
			}
		})
		if n > 64<<10 {
			t.Errorf("%s: %d bytes allocated", c.why, n)
		}
	}
}

// quickly fails if f takes long. The limit is far above what is needed, for busy
// machines, and far below what quadratic work would take.
func quickly(t *testing.T, why string, f func()) {
	t.Helper()
	start := time.Now()
	f()
	if d := time.Since(start); d > 10*time.Second {
		t.Errorf("%s: took %v", why, d)
	}
}

// The graph of 2^100 paths has 101 nodes; reading and writing visit each once.
func TestSharedGraph(t *testing.T) {
	for _, c := range []struct{ why, head, unit string }{
		{"tuples", ")", "2\x86"},
		{"lists", "]", "q\x00]h\x00ah\x00a"},
		{"calls", "cm\nC\n)R", "2\x86cm\nC\nq\x000q\x010h\x00h\x01R"},
		{"sets of frozensets", "(\x91", "q\x00(h\x00h\x00\x85\x91"},
		{"dicts by tuples as keys", ")", "2\x86q\x000}h\x00Ns0h\x00"},
	} {
		in := c.head + strings.Repeat(c.unit, 100) + "."
		quickly(t, c.why, func() {
			p, err := readString(in)
			if err != nil {
				t.Fatalf("%s: %v", c.why, err)
			}
			b, err := writeBytes(p.Root)
			if err != nil {
				t.Fatalf("%s: %v", c.why, err)
			}
			if len(b) > 10*len(in)+1000 {
				t.Errorf("%s: %d bytes were written as %d", c.why, len(in), len(b))
			}
			checkRoundTrip(t, c.why, p.Root)
		})
	}
}

func TestDeepNesting(t *testing.T) {
	depth := 1_000_000
	if testing.Short() {
		depth = 100_000
	}
	for _, c := range []struct{ why, in string }{
		{"tuples", "N" + strings.Repeat("\x85", depth) + "."},
		{"lists", strings.Repeat("]", depth+1) + strings.Repeat("a", depth) + "."},
		{"marked lists", strings.Repeat("(", depth) + strings.Repeat("l", depth) + "."},
		{"dicts", strings.Repeat("}N", depth) + "N" + strings.Repeat("s", depth) + "."},
		{"tuple as a key", "}N" + strings.Repeat("\x85", depth) + "Ns."},
		{"persistent ids", "N" + strings.Repeat("Q", depth) + "."},
	} {
		quickly(t, c.why, func() {
			p, err := readString(c.in)
			if err != nil {
				t.Fatalf("%s: %v", c.why, err)
			}
			if p.Nodes < depth {
				t.Errorf("%s: %d nodes", c.why, p.Nodes)
			}
			if _, err := writeBytes(p.Root); !errors.Is(err, errDepth) {
				t.Errorf("%s: writing: %v", c.why, err)
			}
		})
	}
	in := strings.Repeat("(", maxDepth) + strings.Repeat("l", maxDepth) + "."
	p := mustRead(t, "deep enough", []byte(in))
	if _, err := writeBytes(p.Root); err != nil {
		t.Errorf("writing lists nested %d deep: %v", maxDepth, err)
	}
}

// Work stays in proportion, too.
func TestNoQuadraticWork(t *testing.T) {
	const n = 200_000
	var b strings.Builder
	for _, c := range []struct {
		why  string
		unit func(i int) string
		head string
	}{
		{"one key again and again", func(int) string { return "NNs" }, "}"},
		{"NaN again and again", func(int) string { return "h\x00Ns" }, "Fnan\nq\x000}"},
		{"a long text as key", func(int) string { return "h\x00Ns" }, "X\x00\x04\x00\x00" + k + "q\x000}"},
		{"the longest short text as key", func(int) string { return "h\x00Ns" }, "X\xff\x03\x00\x00" + k[1:] + "q\x000}"},
		{"a large tuple as key", func(int) string { return "h\x00Ns" }, "(" + strings.Repeat("N", 5000) + "tq\x000}"},
		{"a tuple of texts as key", func(int) string { return "h\x00Ns" }, "(" + strings.Repeat("X\xff\x03\x00\x00"+k[1:], 60) + "tq\x000}"},
		{"a large integer as key", func(int) string { return "h\x00Ns" }, "\x8b\x00\x00\x01\x00" + strings.Repeat("k", 1<<16) + "q\x000}"},
		{"two dicts in turn", func(i int) string { return fmt.Sprintf("h%cI%d\nNs0", i%2, i) }, "}q\x000}q\x010"},
		{"values above many marks", func(int) string { return "(N1" }, strings.Repeat("(", 100_000)},
		{"up and down at the edge of the upper stack", func(int) string { return "NN00" }, strings.Repeat("N", stackTop)},
		{"taking up a mark again and again", func(int) string { return "(NNt0" }, strings.Repeat("N", stackTop-1)},
	} {
		b.Reset()
		b.WriteString(c.head)
		for i := range n {
			b.WriteString(c.unit(i))
		}
		b.WriteString("N.")
		quickly(t, c.why, func() {
			if _, err := readString(b.String()); err != nil {
				t.Errorf("%s: %v", c.why, err)
			}
		})
	}
}

// Whatever is wrong with a pickle, reading and writing it ends without a panic,
// in memory of its own size.
func TestByteFlips(t *testing.T) {
	perSample := 150
	if testing.Short() {
		perSample = 50
	}
	for n, s := range samples(t) {
		flip := func(f func(in []byte)) {
			rng := rand.New(rand.NewPCG(1, uint64(n)))
			in := bytes.Clone(s.data)
			for range perSample {
				i := rng.IntN(len(in))
				in[i] ^= 1 << rng.IntN(8)
				if rng.IntN(4) == 0 {
					in[i] = byte(rng.IntN(256))
				}
				f(in)
				in[i] = s.data[i]
			}
		}
		used := allocated(func() {
			flip(func(in []byte) { readBytes(in) })
		})
		if limit := int64(perSample) * int64(len(s.data)*80+64<<10); used > limit {
			t.Errorf("%s: %d bytes allocated; the limit is %d", s.name, used, limit)
		}
		flip(func(in []byte) {
			p, err := readBytes(in)
			if err == nil {
				writeBytes(p.Root) // may fail
			} else if _, ok := errors.AsType[*SyntaxError](err); !ok {
				t.Errorf("%s: %q: %v", s.name, in, err)
			}
		})
	}
}
