package formattest

import (
	"bytes"
	"context"
	"errors"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/iotest"

	"ckpt/formats"
	"ckpt/pytree"
)

// testRewrite writes each sample: the file reads back as what was written, in
// structure and in every value, and has the same bytes when it is written
// again, from the sample or from itself.
func (s *suite) testRewrite(t *testing.T) {
	for _, x := range s.samples {
		c := s.mustRead(t, x)
		first, err := encode(s.format, c)
		if says := s.unwritable(c); says != "" {
			if err == nil || !strings.Contains(err.Error(), says) {
				t.Errorf("%s: written with error %v; it should say %q", x.name, err, says)
			}
			continue
		}
		if err != nil {
			t.Errorf("%s: %v", x.name, err)
			continue
		}
		if again, err := encode(s.format, c); err != nil || !bytes.Equal(first, again) {
			t.Errorf("%s: written twice, the files differ (%v)", x.name, err)
		}
		back, err := read(s.format, first)
		if err != nil {
			t.Errorf("%s: what was written: %v", x.name, err)
			continue
		}
		if err := sameContent(c, back); err != nil {
			t.Errorf("%s: what was written reads back different: %v", x.name, err)
		}
		if len(back.Notes) > 0 {
			t.Errorf("%s: what was written is unusual: %q", x.name, back.Notes)
		}
		if second, err := encode(s.format, back); err != nil || !bytes.Equal(first, second) {
			t.Errorf("%s: a rewrite of the rewrite differs from it at byte %d of %d (%v)", x.name, firstDifference(first, second), len(first), err)
		}
	}
}

func firstDifference(a, b []byte) int {
	for i := range min(len(a), len(b)) {
		if a[i] != b[i] {
			return i
		}
	}
	return min(len(a), len(b))
}

// sameContent compares structure, ties, and every value.
func sameContent(want, got *formats.Checkpoint) error {
	if err := pytree.Same(want.Tree, got.Tree); err != nil {
		return err
	}
	a, err := list(want, valuesOnly)
	if err != nil {
		return err
	}
	b, err := list(got, valuesOnly)
	if err != nil {
		return err
	}
	if d := difference(a, b); d != "" {
		return errors.New(d)
	}
	return nil
}

// testVerification damages what was written: [formats.Verify] refuses it, or the
// damage did not touch what the file holds.
func (s *suite) testVerification(t *testing.T) {
	places := 150
	if testing.Short() {
		places = 40
	}
	for _, x := range s.some(8) {
		c := s.mustRead(t, x)
		data, err := encode(s.format, c)
		if err != nil {
			continue // testRewrite tells
		}
		path := filepath.Join(t.TempDir(), "written")
		if err := os.WriteFile(path, data, 0o666); err != nil {
			t.Fatal(err)
		}
		file, err := os.OpenFile(path, os.O_RDWR, 0)
		if err != nil {
			t.Fatal(err)
		}
		verify := func() error {
			_, err := formats.Verify(context.Background(), s.format, file, c.Tree, nil)
			return err
		}
		if err := verify(); err != nil {
			t.Errorf("%s: %v", x.name, err)
		}
		rnd := newRandom(x.name)
		refused := 0
		for range places {
			at := rnd.IntN(len(data))
			bad := append([]byte(nil), data...)
			bad[at] ^= 1 << rnd.IntN(8)
			if _, err := file.WriteAt(bad[at:at+1], int64(at)); err != nil {
				t.Fatal(err)
			}
			if verify() != nil {
				refused++
			} else if back, err := read(s.format, bad); err != nil {
				t.Errorf("%s: byte %d damaged: verified, but: %v", x.name, at, err)
			} else if err := sameContent(c, back); err != nil {
				t.Errorf("%s: byte %d damaged: verified, but different: %v", x.name, at, err)
			}
			if _, err := file.WriteAt(data[at:at+1], int64(at)); err != nil {
				t.Fatal(err)
			}
		}
		if refused == 0 {
			t.Errorf("%s: of %d damaged files, none was refused", x.name, places)
		}
		if err := file.Close(); err != nil {
			t.Fatal(err)
		}
	}
}

// broken is a source that fails in the middle.
type broken struct{ pytree.Bytes }

func (b broken) Open() (io.ReadCloser, error) {
	return io.NopCloser(io.MultiReader(bytes.NewReader(b.Bytes[:4]), iotest.ErrReader(errBroken))), nil
}

var errBroken = errors.New("the disk is broken")

// testWriteErrors checks that writing fails where a tensor cannot be read and
// where the file cannot be written, with the error that says why.
func (s *suite) testWriteErrors(t *testing.T) {
	tree := &pytree.Tree{Root: pytree.NewDict(pytree.Entry{Key: pytree.StringKey("w"), Value: &pytree.Tensor{
		DType: pytree.Uint8, Shape: []int64{8}, Storage: &pytree.Storage{Source: broken{make(pytree.Bytes, 8)}, Key: "broken"},
	}})}
	var buf bytes.Buffer
	if err := s.format.Write(formats.NewOutput(context.Background(), &buf, nil), tree); !errors.Is(err, errBroken) {
		t.Errorf("a tensor that cannot be read: error %v, want one that wraps %q", err, errBroken)
	}
	c := s.mustRead(t, s.samples[0])
	o := formats.NewOutput(context.Background(), full{}, nil)
	if err := errors.Join(s.format.Write(o, c.Tree), o.Flush()); !errors.Is(err, errFull) {
		t.Errorf("a full disk: error %v", err)
	}
}

// full is a full disk.
type full struct{}

var errFull = errors.New("no space left on device")

func (full) Write([]byte) (int, error) { return 0, errFull }
