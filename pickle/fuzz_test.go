package pickle

import (
	"bytes"
	"errors"
	"testing"
)

// seed gives a fuzz target all samples and all cases of the tables. It fails if
// there are no samples.
func seed(f *testing.F) {
	for _, s := range samples(f) {
		f.Add(s.data)
	}
	for _, c := range opcodeCases {
		f.Add([]byte(c.in))
	}
}

// Reading ends in a graph or a SyntaxError, in memory of the size of the input,
// and long values can be opened.
func FuzzRead(f *testing.F) {
	seed(f)
	f.Fuzz(func(t *testing.T, in []byte) {
		p, err := readBytes(in)
		if err != nil {
			if _, ok := errors.AsType[*SyntaxError](err); !ok {
				t.Fatalf("%v is not a SyntaxError", err)
			}
			return
		}
		if p.End > int64(len(in)) || p.Nodes > len(in) {
			t.Fatalf("%d nodes up to %d, of %d bytes", p.Nodes, p.End, len(in))
		}
		if bytes.IndexByte(in[:p.End], opFrame) >= 0 {
			return // a frame may promise more than there is up to STOP
		}
		// What follows STOP makes no difference; without STOP it is truncated.
		if q, err := readBytes(in[:p.End]); err != nil || q.Nodes != p.Nodes {
			t.Fatalf("cut at its end: %v", err)
		}
		if _, err := readBytes(in[:p.End-1]); err == nil {
			t.Fatal("cut before STOP, it is read")
		}
	})
}

// What can be written reads as the same graph and is written as the same bytes.
func FuzzRoundTrip(f *testing.F) {
	seed(f)
	f.Fuzz(func(t *testing.T, in []byte) {
		p, err := readBytes(in)
		if err != nil {
			return
		}
		first, err := writeBytes(p.Root)
		if err != nil {
			return // too deep, a buffer, a long text that is malformed
		}
		q, err := readBytes(first)
		if err != nil {
			t.Fatalf("what was written: %v", err)
		}
		second, err := writeBytes(q.Root)
		if err != nil {
			t.Fatalf("what was written once: %v", err)
		}
		r, err := readBytes(second)
		if err != nil {
			t.Fatalf("what was written twice: %v", err)
		}
		third, err := writeBytes(r.Root)
		if err != nil || !bytes.Equal(second, third) {
			t.Fatalf("not stable (%v):\n%q\n%q", err, second, third)
		}
		if len(in) < 4096 { // the dump is longer than the graph is large
			if got, want := dumpFolded(q.Root), dumpFolded(p.Root); got != want {
				t.Fatalf("%q\n got %s\nwant %s", first, got, want)
			}
		}
	})
}
