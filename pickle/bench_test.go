package pickle

import (
	"bytes"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"runtime"
	"testing"
)

// stateDict is the data.pkl that torch.save writes for a state dict of n float
// tensors of two dimensions: opcode for opcode what Python's pickler makes of
// torch._utils._rebuild_tensor_v2.
func stateDict(n int) []byte {
	var b bytes.Buffer
	w := NewWriter(&b)
	w.Global("collections", "OrderedDict")
	w.EmptyTuple()
	w.Reduce()
	w.Put()
	for i := range n {
		if i%batch == 0 {
			if i > 0 {
				w.SetItems()
			}
			w.Mark()
		}
		w.Text(fmt.Sprintf("model.layers.%d.self_attn.%c_proj.weight", i/4, "qkvo"[i%4]))
		w.Global("torch._utils", "_rebuild_tensor_v2")
		w.Mark()
		w.Mark()
		w.Text("storage")
		w.Global("torch", "FloatStorage")
		// A key such as "12" is a new object each time, unlike those above.
		w.TextFrom(int64(len(fmt.Sprint(i))), bytes.NewReader(fmt.Append(nil, i)))
		w.Put()
		w.Text("cpu")
		w.Int(1 << 20)
		w.Tuple(FromMark)
		w.Put()
		w.PersID()
		w.Int(0)
		w.Int(1024)
		w.Int(1024)
		w.Tuple(2)
		w.Put()
		w.Int(1024)
		w.Int(1)
		w.Tuple(2)
		w.Put()
		w.Bool(false)
		w.Global("collections", "OrderedDict")
		w.EmptyTuple()
		w.Reduce()
		w.Put()
		w.Tuple(FromMark)
		w.Put()
		w.Reduce()
		w.Put()
	}
	w.SetItems()
	w.EmptyDict()
	w.Put()
	w.Text("_metadata")
	w.EmptyDict()
	w.Put()
	w.SetItem()
	w.Build()
	if _, err := w.Close(); err != nil {
		panic(err)
	}
	return b.Bytes()
}

const benchTensors = 100_000

// BenchmarkReadStateDict reports the time for each of 100,000 tensors, garbage
// collection included. With CKPT_BENCH_OUT it leaves the pickle in that file, so
// that other unpicklers can be timed on it.
func BenchmarkReadStateDict(b *testing.B) {
	in := stateDict(benchTensors)
	if name := os.Getenv("CKPT_BENCH_OUT"); name != "" {
		if err := os.WriteFile(name, in, 0o666); err != nil {
			b.Fatal(err)
		}
	}
	b.SetBytes(int64(len(in)))
	b.ReportAllocs()
	r := bytes.NewReader(in)
	for b.Loop() {
		p, err := Read(r, 0, int64(len(in)))
		if err != nil {
			b.Fatal(err)
		}
		runtime.KeepAlive(p)
	}
	b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/benchTensors, "ns/tensor")
}

func BenchmarkWriteStateDict(b *testing.B) {
	p := mustRead(b, "state dict", stateDict(benchTensors))
	b.ReportAllocs()
	for b.Loop() {
		w := NewWriter(io.Discard)
		if err := WriteValue(w, p.Root, nil); err != nil {
			b.Fatal(err)
		}
		if _, err := w.Close(); err != nil {
			b.Fatal(err)
		}
	}
	b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/benchTensors, "ns/tensor")
}

// randomLatin1 is array data as protocol 2 writes it: n random bytes, each a
// character, in UTF-8. It is what branch predictors like least.
func randomLatin1(n int) (raw, utf8 []byte) {
	raw = make([]byte, n)
	rand.NewChaCha8([32]byte{1}).Read(raw)
	return raw, appendLatin1(make([]byte, 0, 2*n), raw)
}

// BenchmarkOpenLatin1 measures in bytes of the array.
func BenchmarkOpenLatin1(b *testing.B) {
	raw, text := randomLatin1(16 << 20)
	blob := Blob{R: bytes.NewReader(text), Len: int64(len(text))}
	b.SetBytes(int64(len(raw)))
	buf := make([]byte, 64<<10)
	for b.Loop() {
		r := blob.OpenLatin1()
		var n int
		for {
			k, err := r.Read(buf)
			n += k
			if err == io.EOF {
				break
			}
			if err != nil {
				b.Fatal(err)
			}
		}
		if n != len(raw) {
			b.Fatal(n)
		}
	}
}

// BenchmarkBytesLatin1From measures in bytes of the array, too.
func BenchmarkBytesLatin1From(b *testing.B) {
	raw, _ := randomLatin1(16 << 20)
	b.SetBytes(int64(len(raw)))
	for b.Loop() {
		w := NewWriter(io.Discard)
		w.BytesLatin1From(int64(len(raw)), func() (io.ReadCloser, error) {
			return io.NopCloser(bytes.NewReader(raw)), nil
		})
		if _, err := w.Close(); err != nil {
			b.Fatal(err)
		}
	}
}
