package pt

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"strings"

	"ckpt/formats"
	"ckpt/pickle"
	"ckpt/pytree"
)

// truncated is the error for a zip without an end: how much of it is whole.
// torch writes the pickle first and then the storages, each behind a local
// header that does not know its size; the pickle does.
func truncated(r io.ReaderAt, size int64) error {
	whole, all, err := wholeStorages(r, size)
	what := fmt.Sprintf("%d of %d storages are whole", whole, all)
	if err != nil {
		what = "not even its data.pkl is whole"
	}
	return formats.WithHint(fmt.Errorf("zip: no end of central directory: the file ends at byte %d, and %s: %w", size, what, io.ErrUnexpectedEOF),
		"the file is truncated: copy or download it again")
}

var (
	descriptorMagic = []byte("PK\x07\x08")
)

// wholeStorages walks the local headers from the file's begin.
func wholeStorages(r io.ReaderAt, size int64) (whole, all int, err error) {
	sizes := map[string]int64{}
	for off := int64(0); ; {
		h, err := readLocal(r, off)
		if err != nil {
			break
		}
		data := h.data
		_, base, _ := strings.Cut(h.name, "/")
		var n int64
		switch key, isStorage := strings.CutPrefix(base, "data/"); {
		case base == "data.pkl":
			if n, sizes, err = pickledSizes(r, data, size); err != nil {
				return 0, 0, err
			}
		case isStorage:
			var known bool
			if n, known = sizes[key]; !known || data > size-n {
				return whole, len(sizes), pickleMissing(sizes)
			}
			whole++
		default:
			n = nextHeader(r, data)
		}
		off = data + n
		var d [4]byte
		if _, err := r.ReadAt(d[:], off); err == nil && bytes.Equal(d[:], descriptorMagic) {
			off += 16
			if _, err := readLocal(r, off); err != nil {
				off += 8 // zip64: the descriptor's sizes take 8 bytes each
			}
		}
	}
	return whole, len(sizes), pickleMissing(sizes)
}

func pickleMissing(sizes map[string]int64) error {
	if len(sizes) == 0 {
		return errors.New("no pickle")
	}
	return nil
}

// nextHeader is how far behind off the next header begins, within what the
// small members of a checkpoint take.
func nextHeader(r io.ReaderAt, off int64) int64 {
	b := make([]byte, 4096)
	n, _ := r.ReadAt(b, off)
	for _, magic := range [][]byte{descriptorMagic, zipMagic} {
		if i := bytes.Index(b[:n], magic); i >= 0 {
			return int64(i)
		}
	}
	return int64(n)
}

// pickledSizes reads the pickle at off for its own length and the storages'.
func pickledSizes(r io.ReaderAt, off, size int64) (int64, map[string]int64, error) {
	p, err := pickle.Read(r, off, size)
	if err != nil {
		return 0, nil, err
	}
	sizes := make(map[string]int64)
	b := newBuilder()
	b.storage = func(key string, n int64) (pytree.Source, error) {
		sizes[key] = n
		return pytree.Section{N: n}, nil
	}
	if _, err := b.tree(p.Root, p.End-off); err != nil {
		return 0, nil, err
	}
	return p.End - off, sizes, nil
}
