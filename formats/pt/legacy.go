package pt

import (
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"math/big"

	"ckpt/formats"
	"ckpt/pickle"
	"ckpt/pytree"
)

const (
	legacyProtocol = 1001
	legacyNumber   = "119547037146038801333356" // 0x1950a86a20f9469cfc6c
)

// readLegacy reads the stream that torch wrote until 1.5: pickles of a magic
// number, the protocol's version and facts on the machine, then of the object
// and of a list of storage keys, then for each key the number of elements and
// the bytes.
func readLegacy(r io.ReaderAt, size int64) (*formats.Checkpoint, error) {
	var parts [5]*pickle.Pickle
	names := []string{"magic number", "protocol version", "system information", "object", "storage keys"}
	off := int64(0)
	for i := range parts {
		p, err := pickle.Read(r, off, size)
		if err != nil {
			return nil, partError(names[i], err)
		}
		parts[i], off = p, p.End
	}
	magic, _ := new(big.Int).SetString(legacyNumber, 10)
	if n, ok := bigOf(parts[0].Root); !ok || n.Cmp(magic) != 0 {
		return nil, errors.New("magic number expected at byte 0")
	}
	if v := parts[1].Root; v.Kind() != pickle.Int || v.Int() != legacyProtocol {
		return nil, fmt.Errorf("protocol version %s; only %d is known", repr(v, 0), legacyProtocol)
	}
	b := newBuilder()
	if err := b.systemInfo(parts[2].Root); err != nil {
		return nil, err
	}
	c := &formats.Checkpoint{Variant: "torch-legacy", Title: "PyTorch legacy"}
	// The pickle says how long each storage is, the list in which order they come:
	// their places follow.
	b.storage = func(_ string, n int64) (pytree.Source, error) { return &late{size: n}, nil }
	tree, err := b.tree(parts[3].Root, parts[3].End-parts[3].Start)
	if err != nil {
		return nil, partError("object", err)
	}
	if err := b.placeStorages(r, size, off, parts[4].Root, c); err != nil {
		return nil, err
	}
	c.Tree = tree
	b.notes(c, parts[3])
	return c, nil
}

func partError(name string, err error) error {
	if errors.Is(err, io.ErrUnexpectedEOF) {
		return formats.WithHint(fmt.Errorf("%s: %w", name, err), "the file is truncated: copy or download it again")
	}
	return fmt.Errorf("%s: %w", name, err)
}

// systemInfo takes the byte order from {protocol_version, little_endian,
// type_sizes}.
func (b *builder) systemInfo(v pickle.Value) error {
	if v.Kind() != pickle.Dict {
		return fmt.Errorf("system information: a dict expected, not %s", kindOf(v))
	}
	items := v.Obj().Items
	for i := 0; i+1 < len(items); i += 2 {
		if k, _ := str(items[i]); k == "little_endian" {
			b.bigEndian = items[i+1].Kind() == pickle.Bool && !items[i+1].Bool()
			return nil
		}
	}
	return errors.New("system information: little_endian is missing")
}

// late is a storage's source whose place is known only after the tree is built.
type late struct {
	r    io.ReaderAt
	off  int64
	size int64
}

func (l *late) Size() int64                 { return l.size }
func (l *late) Range() (io.ReaderAt, int64) { return l.r, l.off }
func (l *late) Open() (io.ReadCloser, error) {
	return pytree.Section{R: l.r, Off: l.off, N: l.size}.Open()
}

// placeStorages walks the storages behind the pickles. Each is a count of
// elements, in 8 bytes of the file's byte order, and their bytes.
func (b *builder) placeStorages(r io.ReaderAt, size, off int64, list pickle.Value, c *formats.Checkpoint) error {
	keys, ok := tuple(list)
	if !ok {
		return fmt.Errorf("storage keys: a list expected, not %s", kindOf(list))
	}
	order := binary.ByteOrder(binary.LittleEndian)
	if b.bigEndian {
		order = binary.BigEndian
	}
	placed := make(map[string]bool, len(keys))
	whole := 0
	for _, v := range keys {
		key, ok := storageKey(v)
		if !ok || placed[key] {
			return fmt.Errorf("storage keys: %s is listed twice or is no key", repr(v, 0))
		}
		placed[key] = true
		s := b.storages[key]
		if s == nil {
			return formats.WithHint(fmt.Errorf("storage %q is listed, but nothing in the object says its type", key),
				"without its type its length in bytes is not known, and so not where the next one begins")
		}
		src := s.Source.(*late)
		var count [8]byte
		if n, err := r.ReadAt(count[:], off); n < len(count) {
			return truncatedStorages(key, whole, len(keys), size, err)
		}
		item := src.size / max(b.numel[key], 1)
		n := order.Uint64(count[:])
		if n != uint64(b.numel[key]) {
			return fmt.Errorf("storage %q at byte %d holds %d elements, the object says %d", key, off, n, b.numel[key])
		}
		off += int64(len(count))
		if src.size = int64(n) * item; off > size-src.size {
			return truncatedStorages(key, whole, len(keys), size, io.EOF)
		}
		src.r, src.off = r, off
		off += src.size
		c.Stored += src.size
		whole++
	}
	for _, s := range b.order {
		if !placed[s.Key] {
			return fmt.Errorf("storage %q is referred to, but not among the %d in the file", s.Key, len(keys))
		}
	}
	if off != size {
		c.Notes = append(c.Notes, fmt.Sprintf("%d bytes after the last storage are not read", size-off))
	}
	return nil
}

func truncatedStorages(key string, whole, all int, size int64, err error) error {
	if err != nil && err != io.EOF {
		return err
	}
	return formats.WithHint(fmt.Errorf("storage %q: the file ends at byte %d; %d of %d storages are whole: %w", key, size, whole, all, io.ErrUnexpectedEOF),
		"the file is truncated: copy or download it again")
}
