package pickle

import (
	"bytes"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

var update = flag.Bool("update", false, "rewrite testdata/golden.txt")

type sample struct {
	name string
	data []byte
}

// samples gives what gen.py made. It fails if there is nothing, so that no test
// passes on an empty folder.
func samples(tb testing.TB) []sample {
	tb.Helper()
	names, err := filepath.Glob("testdata/*.pkl")
	if err != nil || len(names) < 50 {
		tb.Fatalf("found %d samples (%v); testdata/gen.py makes them", len(names), err)
	}
	var all []sample
	for _, name := range names {
		data, err := os.ReadFile(name)
		if err != nil {
			tb.Fatal(err)
		}
		all = append(all, sample{strings.TrimSuffix(filepath.Base(name), ".pkl"), data})
	}
	return all
}

func readBytes(b []byte) (*Pickle, error) {
	return Read(bytes.NewReader(b), 0, int64(len(b)))
}

func mustRead(tb testing.TB, name string, b []byte) *Pickle {
	tb.Helper()
	p, err := readBytes(b)
	if err != nil {
		tb.Fatalf("%s: %v", name, err)
	}
	return p
}

func TestGolden(t *testing.T) {
	const file = "testdata/golden.txt"
	var got strings.Builder
	for _, s := range samples(t) {
		p := mustRead(t, s.name, s.data)
		if p.End != int64(len(s.data)) {
			t.Errorf("%s: ends at %d of %d", s.name, p.End, len(s.data))
		}
		fmt.Fprintf(&got, "%s protocol=%d nodes=%d\n\t%s\n", s.name, p.Protocol, p.Nodes, dump(p.Root))
		for _, g := range p.Globals {
			fmt.Fprintf(&got, "\t%d %s %s %s\n", g.Pos, g.Op, g.Module, g.Name)
		}
	}
	if *update {
		if err := os.WriteFile(file, []byte(got.String()), 0o666); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	g, w := strings.Split(got.String(), "\n"), strings.Split(string(want), "\n")
	for i := range min(len(g), len(w)) {
		if g[i] != w[i] {
			t.Fatalf("line %d:\n got %s\nwant %s", i+1, g[i], w[i])
		}
	}
	if len(g) != len(w) {
		t.Errorf("%d lines, not %d", len(g), len(w))
	}
}

// A prefix of a pickle is truncated, and is called so.
func TestTruncated(t *testing.T) {
	for _, s := range samples(t) {
		for n := range s.data {
			if n > 300 && n < len(s.data)-100 && n%13 != 0 {
				continue
			}
			_, err := readBytes(s.data[:n])
			if _, ok := errors.AsType[*SyntaxError](err); !ok || !errors.Is(err, io.ErrUnexpectedEOF) {
				t.Fatalf("%s: of the first %d bytes of %d: %v", s.name, n, len(s.data), err)
			}
		}
	}
}

// The same pickle elsewhere in a file gives the same graph, at shifted positions,
// and what follows it does not matter.
func TestReadAtOffset(t *testing.T) {
	for _, s := range samples(t) {
		const off = 5000
		in := append(bytes.Repeat([]byte{0xff}, off), s.data...)
		in = append(in, "...."...)
		p, err := Read(bytes.NewReader(in), off, int64(len(in)))
		if err != nil {
			t.Fatalf("%s: %v", s.name, err)
		}
		q := mustRead(t, s.name, s.data)
		if dump(p.Root) != dump(q.Root) {
			t.Errorf("%s: differs", s.name)
		}
		if p.Start != off || p.End != off+q.End || len(p.Globals) != len(q.Globals) {
			t.Errorf("%s: from %d to %d", s.name, p.Start, p.End)
		}
		for i, g := range p.Globals {
			if g.Pos != q.Globals[i].Pos+off {
				t.Errorf("%s: global at %d", s.name, g.Pos)
			}
		}
	}
}
