package formattest

import (
	"os"
	"path/filepath"
	"testing"

	"ckpt/formats"
)

// Fuzz is the body of a format's fuzz target. Its seeds are all samples in dir
// and in its folder "bad"; without any it fails. Whatever the input, reading it
// keeps its bounds, and what reads is written, if it can be, as something that
// reads the same.
func Fuzz(f *testing.F, format *formats.Format, dir string) {
	seeds := load(f, format, dir)
	if bad := filepath.Join(dir, "bad"); isDir(bad) {
		seeds = append(seeds, load(f, format, bad)...)
	}
	if len(seeds) == 0 {
		f.Fatalf("there are no seeds in %s", dir)
	}
	for _, x := range seeds {
		f.Add(x.data)
	}
	const budget = 256 << 20
	f.Fuzz(func(t *testing.T, data []byte) {
		if len(data) > 1<<20 {
			return
		}
		before := allocated()
		c, err := read(format, data)
		if n := allocated() - before; n > budget {
			t.Fatalf("reading %d bytes allocates %d", len(data), n)
		}
		if err != nil || format.Write == nil {
			return
		}
		if _, err := list(c, valuesOnly); err != nil {
			return
		}
		written, err := encode(format, c)
		if err != nil {
			return
		}
		back, err := read(format, written)
		if err != nil {
			t.Fatalf("what was written: %v", err)
		}
		if err := sameContent(c, back); err != nil {
			t.Fatalf("what was written reads back different: %v", err)
		}
	})
}

func isDir(path string) bool {
	info, err := os.Stat(path)
	return err == nil && info.IsDir()
}
