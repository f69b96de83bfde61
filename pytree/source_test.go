package pytree

import (
	"bytes"
	"errors"
	"io"
	"strings"
	"sync/atomic"
	"testing"
	"testing/iotest"
)

var errChecksum = errors.New("checksum is wrong")

// atEnd gives its bytes, and its error together with the last of them.
type atEnd struct {
	b   []byte
	err error
}

func (r *atEnd) Read(p []byte) (int, error) {
	n := copy(p, r.b)
	if r.b = r.b[n:]; len(r.b) == 0 {
		return n, r.err
	}
	return n, nil
}

func TestSourcesRead(t *testing.T) {
	data := []byte("0123456789")
	sources := map[string]Source{
		"bytes":                    Bytes(data),
		"section":                  Section{R: strings.NewReader("ab0123456789cd"), Off: 2, N: 10},
		"all of a source":          Slice(inOrder{b: data}, 0, 10),
		"part of bytes":            Slice(Bytes("ab0123456789cd"), 2, 10),
		"part of a section":        Slice(Section{R: strings.NewReader("xab0123456789cd"), Off: 1, N: 14}, 2, 10),
		"part of what is in order": Slice(inOrder{b: []byte("ab0123456789cd")}, 2, 10),
		"part of a part":           Slice(Slice(inOrder{b: []byte("xab0123456789cd")}, 1, 14), 2, 10),
	}
	for name, src := range sources {
		if src.Size() != 10 {
			t.Errorf("%s: %d bytes, want 10", name, src.Size())
		}
		for range 2 {
			rc, err := src.Open()
			if err != nil {
				t.Fatalf("%s: %v", name, err)
			}
			if err := iotest.TestReader(rc, data); err != nil {
				t.Errorf("%s: %v", name, err)
			}
			if err := rc.Close(); err != nil {
				t.Errorf("%s: %v", name, err)
			}
		}
		if r, ok := src.(Ranged); ok {
			at, off := r.Range()
			got := make([]byte, 10)
			if _, err := at.ReadAt(got, off); err != nil && err != io.EOF || !bytes.Equal(got, data) {
				t.Errorf("%s: its range holds %q (%v)", name, got, err)
			}
		}
	}
	if _, ok := sources["part of a section"].(Ranged); !ok {
		t.Error("a part of a range is a range")
	}
	if rc, err := (Section{R: strings.NewReader("ab"), Off: 1}).Open(); err != nil {
		t.Error(err)
	} else if err := iotest.TestReader(rc, nil); err != nil {
		t.Errorf("a section of nothing: %v", err)
	}
}

func TestSectionShort(t *testing.T) {
	for _, s := range []Section{
		{R: strings.NewReader("0123"), Off: 0, N: 5},
		{R: strings.NewReader("0123"), Off: 4, N: 1},
		{R: strings.NewReader("0123"), Off: 99, N: 1},
		{R: strings.NewReader("0123"), Off: 1, N: 1 << 62},
	} {
		rc, err := s.Open()
		if err != nil {
			t.Fatal(err)
		}
		if got, err := io.ReadAll(rc); !errors.Is(err, io.ErrUnexpectedEOF) {
			t.Errorf("%d bytes from %d of 4: %q, error %v", s.N, s.Off, got, err)
		}
	}
}

func TestExactly(t *testing.T) {
	tests := []struct {
		reason string
		r      io.Reader
		n      int64
		want   string
		err    error
	}{
		{"as many as there are", strings.NewReader("0123"), 4, "0123", nil},
		{"the end comes with the last bytes", iotest.DataErrReader(strings.NewReader("0123")), 4, "0123", nil},
		{"further ones are not read", strings.NewReader("012345"), 4, "0123", nil},
		{"one at a time", iotest.OneByteReader(strings.NewReader("0123")), 4, "0123", nil},
		{"none", strings.NewReader("0123"), 0, "", nil},
		{"fewer than none", strings.NewReader("0123"), -1, "", nil},
		{"too few", strings.NewReader("012"), 4, "012", io.ErrUnexpectedEOF},
		{"too few, and the end comes with them", iotest.DataErrReader(strings.NewReader("012")), 4, "012", io.ErrUnexpectedEOF},
		{"another error midway", io.MultiReader(strings.NewReader("01"), iotest.ErrReader(errChecksum)), 4, "01", errChecksum},
		{"another error with the last bytes", &atEnd{[]byte("0123"), errChecksum}, 4, "0123", errChecksum},
	}
	for _, tt := range tests {
		got, err := io.ReadAll(Exactly(tt.r, tt.n))
		if string(got) != tt.want || !errors.Is(err, tt.err) || (err == nil) != (tt.err == nil) {
			t.Errorf("%s: %q and error %v, want %q and %v", tt.reason, got, err, tt.want, tt.err)
		}
	}
}

// counted is a source that counts its open readers.
type counted struct {
	Source
	open *atomic.Int64
}

func (c counted) Open() (io.ReadCloser, error) {
	rc, err := c.Source.Open()
	c.open.Add(1)
	return struct {
		io.Reader
		io.Closer
	}{rc, closerFunc(func() error { c.open.Add(-1); return rc.Close() })}, err
}

func TestSliceBounds(t *testing.T) {
	tests := []struct {
		reason string
		off, n int64
	}{
		{"before the begin", -1, 2},
		{"beyond the end", 3, 2},
		{"a negative length", 2, -1},
		{"far behind", 99, 0},
		{"a sum that wraps around", 1 << 62, 1 << 62},
		{"all but one more", 0, 5},
	}
	for _, tt := range tests {
		// The range is wider than the source: what lies around it is not its own.
		for _, src := range []Source{Section{R: strings.NewReader("012345678"), Off: 2, N: 4}, inOrder{b: []byte("0123")}} {
			if rc, err := Slice(src, tt.off, tt.n).Open(); err == nil {
				got, err := io.ReadAll(rc)
				t.Errorf("%s of %T: opened, reads %q (%v)", tt.reason, src, got, err)
			}
		}
	}
}

// TestSliceCloses makes sure that no reader is left open, also where the bytes
// to skip are missing.
func TestSliceCloses(t *testing.T) {
	var open atomic.Int64
	good := counted{inOrder{b: []byte("0123")}, &open}
	rc, err := Slice(good, 1, 2).Open()
	if err != nil {
		t.Fatal(err)
	}
	if err := rc.Close(); err != nil || open.Load() != 0 {
		t.Errorf("%d readers are open after Close (%v)", open.Load(), err)
	}
	bad := counted{lying{inOrder{b: []byte("0123")}, 100}, &open}
	if _, err := Slice(bad, 50, 2).Open(); !errors.Is(err, io.ErrUnexpectedEOF) || open.Load() != 0 {
		t.Errorf("%d readers are open after the error %v", open.Load(), err)
	}
	x := &Tensor{DType: Uint8, Shape: []int64{2}, Strides: []int64{-1}, Offset: 2, Storage: &Storage{Source: good}}
	if rc, err = x.Open(); err != nil {
		t.Fatal(err)
	}
	if _, err := io.ReadAll(rc); err != nil {
		t.Error(err)
	}
	if err := rc.Close(); err != nil || open.Load() != 0 {
		t.Errorf("%d readers are open after Close of a strided view (%v)", open.Load(), err)
	}
}

// TestReaderAt reads at random places of a source that can only be read in order.
func TestReaderAt(t *testing.T) {
	data := make([]byte, 5000)
	for i := range data {
		data[i] = patternByte(int64(i))
	}
	var open atomic.Int64
	for _, src := range []Source{Bytes(data), counted{inOrder{b: data}, &open}, Section{R: bytes.NewReader(append([]byte("abc"), data...)), Off: 3, N: 5000}} {
		r, base, done := ReaderAt(src)
		for _, at := range [][2]int64{{0, 10}, {10, 5}, {4000, 1000}, {4999, 1}, {0, 5000}, {17, 0}, {3, 1}, {2, 1}} {
			buf := make([]byte, at[1])
			if n, err := r.ReadAt(buf, base+at[0]); int64(n) != at[1] || err != nil && err != io.EOF {
				t.Fatalf("%T: %d of %d bytes at %d: %v", src, n, at[1], at[0], err)
			}
			if !bytes.Equal(buf, data[at[0]:at[0]+at[1]]) {
				t.Fatalf("%T: wrong bytes at %d", src, at[0])
			}
		}
		if _, ok := src.(Section); !ok {
			for _, off := range []int64{4999, 5000, 6000} {
				if n, err := r.ReadAt(make([]byte, 2), base+off); n == 2 || err != io.EOF {
					t.Errorf("%T: %d bytes and error %v at %d", src, n, err, off)
				}
			}
		}
		if err := done(); err != nil || open.Load() != 0 {
			t.Errorf("%T: %d readers are open after all (%v)", src, open.Load(), err)
		}
	}
}
