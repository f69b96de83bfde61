package pt_test

import (
	"encoding/binary"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"testing"

	"ckpt/formats"
	"ckpt/formats/pt"
	"ckpt/pytree"
)

// sparseFile is a file that begins with some bytes and has others further on,
// with holes between.
func sparseFile(t *testing.T, size int64, pieces map[int64][]byte) *os.File {
	t.Helper()
	f, err := os.Create(filepath.Join(t.TempDir(), "sparse"))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { f.Close() })
	if err := f.Truncate(size); err != nil {
		t.Fatal(err)
	}
	for off, b := range pieces {
		if _, err := f.WriteAt(b, off); err != nil {
			t.Fatal(err)
		}
	}
	return f
}

// reads counts what is read of a file.
type reads struct {
	r io.ReaderAt
	n int64
}

func (r *reads) ReadAt(p []byte, off int64) (int, error) {
	n, err := r.r.ReadAt(p, off)
	r.n += int64(n)
	return n, err
}

const eachArray = 256 << 20

// pickleOfArrays is a bare pickle of so many arrays, a quarter of a GiB of zeros
// each, at protocol 2, where their bytes are text, or at protocol 4.
func pickleOfArrays(t *testing.T, arrays, protocol int) (*os.File, int64) {
	t.Helper()
	dtype := pickled(t, npdtype("f4", "<"))
	dtype = dtype[2 : len(dtype)-1] // without PROTO and STOP
	pieces := make(map[int64][]byte)
	b, off := []byte{0x80, byte(protocol), ']', '('}, int64(0)
	for range arrays {
		// _reconstruct(ndarray, (0,), b"b") and the state (1, (n,), dtype, False, data)
		b = append(b, "cnumpy.core.multiarray\n_reconstruct\n(cnumpy\nndarray\nK\x00\x85c_codecs\nencode\nX\x01\x00\x00\x00bX\x06\x00\x00\x00latin1\x86RtR(K\x01J"...)
		b = append(binary.LittleEndian.AppendUint32(b, eachArray/4), 0x85)
		b = append(append(b, dtype...), 0x89)
		if protocol == 2 {
			b = append(b, "c_codecs\nencode\nX"...)
			b = binary.LittleEndian.AppendUint32(b, eachArray)
		} else {
			b = binary.LittleEndian.AppendUint64(append(b, 0x8E), eachArray)
		}
		pieces[off] = b
		off += int64(len(b)) + eachArray
		b = nil
		if protocol == 2 {
			b = append(b, "X\x06\x00\x00\x00latin1\x86R"...)
		}
		b = append(b, "tb"...)
	}
	pieces[off] = append(b, "e."...)
	size := off + int64(len(pieces[off]))
	return sparseFile(t, size, pieces), size
}

// TestPickleOfArrays opens two GiB of arrays within a pickle.
func TestPickleOfArrays(t *testing.T) {
	for _, protocol := range []int{2, 4} {
		const arrays = 8
		file, size := pickleOfArrays(t, arrays, protocol)
		f := &reads{r: file}
		frugally(t, fmt.Sprintf("2 GiB of arrays at protocol %d", protocol), 1<<20, func() {
			c, err := formats.List{pt.Format}.Open(f, size, "")
			if err != nil {
				t.Errorf("protocol %d: %v", protocol, err)
				return
			}
			n := 0
			for _, x := range c.Tree.Leaves() {
				if a, ok := x.(*pytree.Tensor); ok && a.DType == pytree.Float32 && a.Bytes() == eachArray {
					n++
				}
			}
			if n != arrays {
				t.Errorf("protocol %d: %d arrays, want %d", protocol, n, arrays)
			}
		})
		if f.n > 1<<20 {
			t.Errorf("protocol %d: %d bytes are read", protocol, f.n)
		}
	}
}

// TestSparseLegacy opens a legacy stream and an old tar of 50 GiB.
func TestSparseLegacy(t *testing.T) {
	const elements = 50 << 28 // of 4 bytes
	id := tuple(str("storage"), global("torch.FloatStorage"), str("0"), str("cpu"), num(elements), none())
	v := call("torch._utils._rebuild_tensor_v2", persistent(id), num(0), ints(elements), ints(1), boolean(false), call("collections.OrderedDict"))
	var head []byte
	magic := []byte("\x80\x02\x8a\x0a\x6c\xfc\x9c\x46\xf9\x20\x6a\xa8\x50\x19.")
	for _, b := range [][]byte{magic, pickled(t, num(1001)), pickled(t, dict(str("little_endian"), boolean(true))), pickled(t, v), pickled(t, list(str("0")))} {
		head = append(head, b...)
	}
	head = binary.LittleEndian.AppendUint64(head, elements)
	size := int64(len(head)) + 4*elements
	f := &reads{r: sparseFile(t, size, map[int64][]byte{0: head})}
	frugally(t, "a legacy stream of 50 GiB", 1<<20, func() {
		c, err := formats.List{pt.Format}.Open(f, size, "")
		if err != nil {
			t.Errorf("a legacy stream of 50 GiB: %v", err)
			return
		}
		if c.Variant != "torch-legacy" || c.Stored != 4*elements || tensorAt(t, c.Tree, "").Elements() != elements {
			t.Errorf("a legacy stream of 50 GiB: %s with %d stored bytes", c.Variant, c.Stored)
		}
	})
	if f.n > 1<<20 {
		t.Errorf("a legacy stream of 50 GiB: %d bytes are read", f.n)
	}
}
