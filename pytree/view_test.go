package pytree

import (
	"bytes"
	"errors"
	"io"
	"math/rand/v2"
	"strings"
	"sync"
	"testing"
	"testing/iotest"
)

// TestOpenAgainstNaive reads random views and compares each byte.
func TestOpenAgainstNaive(t *testing.T) {
	rng := rand.New(rand.NewPCG(11, 12))
	strided := 0
	for range 8_000 {
		x := randomView(rng, 5, 5)
		if err := x.Check(); err != nil {
			t.Fatalf("%s: %v", describeView(x), err)
		}
		want := naive(t, x)
		if !x.Contiguous() {
			strided++
		}
		rc, err := x.Open()
		if err != nil {
			t.Fatalf("%s: %v", describeView(x), err)
		}
		got, err := io.ReadAll(rc)
		if err != nil || !bytes.Equal(got, want) {
			t.Fatalf("%s: %.99x, want %.99x (%v)", describeView(x), got, want, err)
		}
		if err := rc.Close(); err != nil {
			t.Fatal(err)
		}
		if len(want) < 2000 {
			if rc, err = x.Open(); err != nil {
				t.Fatal(err)
			}
			if err := iotest.TestReader(rc, want); err != nil {
				t.Fatalf("%s: %v", describeView(x), err)
			}
		}
	}
	if strided < 2000 {
		t.Fatalf("only %d strided views: the test says little", strided)
	}
}

// TestOpenTruncated has storages that hold less than they say: every view must
// end in an error, and stay there.
func TestOpenTruncated(t *testing.T) {
	rng := rand.New(rand.NewPCG(15, 16))
	for range 3_000 {
		x := randomView(rng, 4, 4)
		off, n := x.Extent()
		if n == 0 {
			continue
		}
		rc, err := x.Storage.Open()
		if err != nil {
			t.Fatal(err)
		}
		raw, _ := io.ReadAll(rc)
		short := raw[:off+rng.Int64N(n)]
		if rng.IntN(2) == 0 {
			x.Storage.Source = Section{R: bytes.NewReader(short), N: int64(len(raw))}
		} else {
			x.Storage.Source = lying{inOrder{b: short}, int64(len(raw))}
		}
		if rc, err = x.Open(); err != nil {
			if !errors.Is(err, io.ErrUnexpectedEOF) {
				t.Fatalf("%s: %v", describeView(x), err)
			}
			continue
		}
		if got, err := io.ReadAll(rc); !errors.Is(err, io.ErrUnexpectedEOF) {
			t.Fatalf("%s cut to %d bytes: read %d of %d bytes, error %v", describeView(x), len(short), len(got), x.Bytes(), err)
		}
		if n, err := rc.Read(make([]byte, 8)); n != 0 || err == nil || err == io.EOF {
			t.Fatalf("%s: %d bytes and error %v after the error", describeView(x), n, err)
		}
		rc.Close()
	}
}

type lying struct {
	inOrder
	n int64
}

func (s lying) Size() int64 { return s.n }

func (s lying) Open() (io.ReadCloser, error) {
	rc, err := s.inOrder.Open()
	return io.NopCloser(Exactly(rc, s.n)), err
}

// TestOpenConcurrent opens views of one storage from many goroutines.
func TestOpenConcurrent(t *testing.T) {
	rng := rand.New(rand.NewPCG(17, 18))
	for range 20 {
		x := randomView(rng, 4, 6)
		want := naive(t, x)
		var wg sync.WaitGroup
		for range 8 {
			wg.Go(func() {
				rc, err := x.Open()
				if err != nil {
					t.Error(err)
					return
				}
				defer rc.Close()
				if got, err := io.ReadAll(rc); err != nil || !bytes.Equal(got, want) {
					t.Errorf("%s: wrong bytes, or %v", describeView(x), err)
				}
			})
		}
		wg.Wait()
	}
}

// closeError is a source whose readers fail to close.
type closeError struct{ inOrder }

func (s closeError) Open() (io.ReadCloser, error) {
	rc, err := s.inOrder.Open()
	return struct {
		io.Reader
		io.Closer
	}{rc, closerFunc(func() error { return errors.New("checksum is wrong") })}, err
}

type closerFunc func() error

func (f closerFunc) Close() error { return f() }

// TestOpenClose wants the error of the source's Close: some sources know only
// then that what they gave was wrong.
func TestOpenClose(t *testing.T) {
	src := closeError{inOrder{b: make([]byte, 64)}}
	for _, x := range []*Tensor{
		{DType: Float32, Shape: []int64{16}},
		{DType: Float32, Shape: []int64{4}, Offset: 1},
		{DType: Float32, Shape: []int64{4}, Strides: []int64{-2}, Offset: 8},
	} {
		for _, big := range []bool{false, true} {
			x.Storage = &Storage{Source: src, BigEndian: big}
			rc, err := x.Open()
			if err != nil {
				t.Fatal(err)
			}
			if _, err := io.Copy(io.Discard, rc); err != nil {
				t.Fatal(err)
			}
			if err := rc.Close(); err == nil || !strings.Contains(err.Error(), "checksum") {
				t.Errorf("%s: Close gives %v", describeView(x), err)
			}
			if e := Examine(t.Context(), []*Tensor{x}, ExamOptions{Digest: true}); e[0].Err == nil || e[0].Digest != "" {
				t.Errorf("%s: examined with %+v", describeView(x), e[0])
			}
		}
	}
}
