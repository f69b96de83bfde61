package formats_test

import (
	"bytes"
	"context"
	"errors"
	"hash/crc32"
	"io"
	"os"
	"path/filepath"
	"testing"
	"testing/iotest"

	"ckpt/formats"
	"ckpt/pytree"
)

// pattern is n bytes of which no two runs are equal.
func pattern(n int) []byte {
	b := make([]byte, n)
	x := uint32(1)
	for i := range b {
		x = x*1664525 + 1013904223
		b[i] = byte(x >> 24)
	}
	return b
}

func tempFile(t *testing.T, content []byte) *os.File {
	t.Helper()
	path := filepath.Join(t.TempDir(), "file")
	if err := os.WriteFile(path, content, 0o666); err != nil {
		t.Fatal(err)
	}
	f, err := os.OpenFile(path, os.O_RDWR, 0)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { f.Close() })
	return f
}

// summed is a source whose file records a checksum.
type summed struct {
	pytree.Section
	crc uint32
}

func (s summed) CRC32() uint32 { return s.crc }

// plain is a source that is no range.
type plain struct{ pytree.Source }

// fails is a source whose reader fails in the middle.
type fails struct {
	pytree.Source
	err error
}

func (f fails) Open() (io.ReadCloser, error) {
	return io.NopCloser(io.MultiReader(bytes.NewReader(make([]byte, f.Size()/2)), iotest.ErrReader(f.err))), nil
}

// TestCopy copies by every way there is, from every kind of source, between
// small writes, and compares bytes, checksums and counts.
func TestCopy(t *testing.T) {
	const size = 20<<20 + 77 // several chunks
	data := pattern(size)
	file := tempFile(t, data)
	nested := io.NewSectionReader(io.NewSectionReader(file, 1000, size-1000), 500, size-1500)
	for _, tt := range []struct {
		why  string
		src  pytree.Source
		want []byte
	}{
		{"in memory", pytree.Bytes(data), data},
		{"a range of a file", pytree.Section{R: file, Off: 4097, N: size - 5000}, data[4097 : size-5000+4097]},
		{"a range of a section of a section", pytree.Section{R: nested, Off: 3, N: 18 << 20}, data[1503 : 1503+18<<20]},
		{"too short to be worth a system call", pytree.Section{R: file, Off: 9, N: 100}, data[9:109]},
		{"empty", pytree.Section{R: file, Off: 9, N: 0}, nil},
		{"to the file's very end", pytree.Section{R: file, Off: size - 70000, N: 70000}, data[size-70000:]},
		{"no range", plain{pytree.Bytes(data)}, data},
		{"with a checksum", summed{pytree.Section{R: file, Off: 5, N: 1 << 20}, crc32.ChecksumIEEE(data[5 : 5+1<<20])}, data[5 : 5+1<<20]},
	} {
		for _, toFile := range []bool{true, false} {
			var w io.Writer = new(bytes.Buffer)
			out := tempFile(t, nil)
			if toFile {
				w = out
			}
			var done int64
			o := formats.NewOutput(context.Background(), w, func(n int64) { done += n })
			o.Write([]byte("begin"))
			crc, err := o.Copy(tt.src)
			if err != nil {
				t.Errorf("%s: %v", tt.why, err)
				continue
			}
			o.Write([]byte("end"))
			if err := o.Flush(); err != nil {
				t.Fatal(err)
			}
			got, err := os.ReadFile(out.Name())
			if b, ok := w.(*bytes.Buffer); ok {
				got = b.Bytes()
			}
			want := append(append([]byte("begin"), tt.want...), "end"...)
			if err != nil || !bytes.Equal(got, want) {
				t.Errorf("%s (to a file: %v): the bytes differ: %d, want %d", tt.why, toFile, len(got), len(want))
			}
			if crc != crc32.ChecksumIEEE(tt.want) {
				t.Errorf("%s (to a file: %v): wrong crc-32", tt.why, toFile)
			}
			if o.Offset() != int64(len(want)) || done != int64(len(want)) {
				t.Errorf("%s (to a file: %v): offset %d, progress %d, want %d", tt.why, toFile, o.Offset(), done, len(want))
			}
		}
	}
}

func TestCopyErrors(t *testing.T) {
	data := pattern(1 << 20)
	file := tempFile(t, data)
	broken := errors.New("input/output error")
	canceled, cancel := context.WithCancel(context.Background())
	cancel()
	for _, tt := range []struct {
		why  string
		ctx  context.Context
		src  pytree.Source
		want error
	}{
		{"a range past the file's end", nil, pytree.Section{R: file, Off: 1 << 19, N: 1 << 20}, io.ErrUnexpectedEOF},
		{"a reader that ends early", nil, plain{pytree.Section{R: bytes.NewReader(data), Off: 0, N: 1<<20 + 1}}, io.ErrUnexpectedEOF},
		{"the reader's own error is kept", nil, fails{pytree.Bytes(data), broken}, broken},
		{"interrupted, in the kernel", canceled, pytree.Section{R: file, Off: 0, N: 1 << 20}, context.Canceled},
		{"interrupted, in memory", canceled, pytree.Bytes(data), context.Canceled},
	} {
		ctx := tt.ctx
		if ctx == nil {
			ctx = context.Background()
		}
		if _, err := formats.NewOutput(ctx, tempFile(t, nil), nil).Copy(tt.src); !errors.Is(err, tt.want) {
			t.Errorf("%s: error %v, want one that wraps %v", tt.why, err, tt.want)
		}
	}
	for _, n := range []int64{100, 1 << 20} { // through memory and in the kernel
		src := summed{pytree.Section{R: file, N: n}, 0xDEADBEEF}
		_, err := formats.NewOutput(context.Background(), tempFile(t, nil), nil).Copy(src)
		var sum *formats.ChecksumError
		if !errors.As(err, &sum) || sum.Want != 0xDEADBEEF || sum.Got != crc32.ChecksumIEEE(data[:n]) {
			t.Errorf("a wrong checksum of %d bytes: error %v", n, err)
		}
	}
}
