package pt

import (
	"archive/tar"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"

	"ckpt/formats"
	"ckpt/pickle"
	"ckpt/pytree"
)

// readTar reads what torch wrote before 0.1.10: a tar archive of "storages" and
// "tensors", each a stream of pickles and raw numbers, and "pickle", the object,
// whose persistent ids are the numbers of the tensors.
func readTar(r io.ReaderAt, size int64) (*formats.Checkpoint, error) {
	members, err := tarMembers(r, size)
	if err != nil {
		return nil, err
	}
	for _, name := range []string{"storages", "tensors", "pickle"} {
		if members[name] == nil {
			return nil, formats.WithHint(fmt.Errorf("tar: not a PyTorch checkpoint: no member is named %q", name),
				"an archive of checkpoints has to be unpacked first")
		}
	}
	t := &tarFile{b: newBuilder(), storages: make(map[int64]*pytree.Tensor), objects: make(map[int64]pytree.Node)}
	if info := members["sys_info"]; info != nil {
		p, err := pickle.Read(info, 0, info.Size())
		if err != nil {
			return nil, partError("sys_info", err)
		}
		if err := t.b.systemInfo(p.Root); err != nil {
			return nil, err
		}
	}
	c := &formats.Checkpoint{Variant: "torch-tar", Title: "PyTorch tar"}
	if err := t.readStorages(members["storages"], c); err != nil {
		return nil, partError("storages", err)
	}
	if err := t.readTensors(members["tensors"]); err != nil {
		return nil, partError("tensors", err)
	}
	t.b.persistent = t.resolve
	obj := members["pickle"]
	p, err := pickle.Read(obj, 0, obj.Size())
	if err != nil {
		return nil, partError("pickle", err)
	}
	if c.Tree, err = t.b.tree(p.Root, obj.Size()); err != nil {
		return nil, err
	}
	t.b.notes(c, p)
	return c, nil
}

// tarMembers finds the members' bytes. The archive is not compressed, so that
// each is a range of it.
func tarMembers(r io.ReaderAt, size int64) (map[string]*io.SectionReader, error) {
	sr := io.NewSectionReader(r, 0, size)
	tr := tar.NewReader(sr)
	members := make(map[string]*io.SectionReader)
	for {
		h, err := tr.Next()
		if err == io.EOF {
			return members, nil
		}
		if err != nil && !errors.Is(err, tar.ErrInsecurePath) {
			return nil, fmt.Errorf("tar: %w", err)
		}
		name := strings.TrimPrefix(h.Name, "./")
		off, _ := sr.Seek(0, io.SeekCurrent)
		if h.Typeflag != tar.TypeReg {
			continue
		}
		if members[name] != nil {
			return nil, fmt.Errorf("tar: two members are named %q", name)
		}
		if h.Size > size-off {
			return nil, formats.WithHint(fmt.Errorf("tar: member %q: the file ends at byte %d, %d bytes before its end: %w", name, size, h.Size-(size-off), io.ErrUnexpectedEOF),
				"the file is truncated: copy or download it again")
		}
		members[name] = io.NewSectionReader(r, off, h.Size)
	}
}

// tarFile gathers what the members say.
type tarFile struct {
	b        *builder
	storages map[int64]*pytree.Tensor // as whole one-dimensional arrays
	objects  map[int64]pytree.Node    // what a persistent id may name
}

// readStorages reads a count, then for each storage a pickle of (key, location,
// class), 8 bytes of element count and the bytes; then a pickle of views: (key,
// root key, offset, size).
func (t *tarFile) readStorages(r *io.SectionReader, c *formats.Checkpoint) error {
	n, off, err := pickledCount(r, 0)
	if err != nil {
		return err
	}
	for i := range n {
		p, err := pickle.Read(r, off, r.Size())
		if err != nil {
			return fmt.Errorf("storage %d of %d: %w", i, n, err)
		}
		id, _ := tuple(p.Root)
		if len(id) != 3 || id[0].Kind() != pickle.Int {
			return fmt.Errorf("storage %d of %d: a tuple (key, location, class) expected", i, n)
		}
		class, ok := storageClassName(id[2])
		dtype, known := storageTypes[class]
		location, ok2 := str(id[1])
		if !ok || !known || !ok2 {
			return fmt.Errorf("storage %d of %d: %s at %s is not a storage", i, n, repr(id[2], 0), repr(id[1], 0))
		}
		var count [8]byte
		if m, err := r.ReadAt(count[:], p.End); m < len(count) {
			return fmt.Errorf("storage %d of %d: %w", i, n, eof(err))
		}
		numel := binary.LittleEndian.Uint64(count[:])
		begin := p.End + int64(len(count))
		item := int64(elementSize(dtype))
		if numel > uint64((r.Size()-begin)/item) {
			return fmt.Errorf("storage %d of %d: %d elements of %s do not fit the %d bytes that are left: %w", i, n, numel, dtype, r.Size()-begin, io.ErrUnexpectedEOF)
		}
		size := int64(numel) * item
		at, base, _ := r.Outer()
		s := &pytree.Storage{
			Source: pytree.Section{R: at, Off: base + begin, N: size}, BigEndian: t.b.bigEndian,
			Key: fmt.Sprint(id[0].Int()), Payload: &storageMeta{location: location},
		}
		c.Stored += size
		whole := &pytree.Tensor{DType: dtype, Shape: []int64{int64(numel)}, Storage: s, ItemSize: itemSizes[dtype], Wrapper: &wrapper{bare: true, class: class}}
		t.storages[id[0].Int()], t.objects[id[0].Int()] = whole, whole
		off = begin + size
	}
	return t.readViews(r, off)
}

func (t *tarFile) readViews(r *io.SectionReader, off int64) error {
	p, err := pickle.Read(r, off, r.Size())
	if err != nil {
		return fmt.Errorf("views: %w", err)
	}
	views, ok := tuple(p.Root)
	if !ok {
		return fmt.Errorf("views: a list expected, not %s", kindOf(p.Root))
	}
	for _, v := range views {
		nums, ok := ints(v)
		if !ok || len(nums) != 4 || t.storages[nums[1]] == nil {
			return fmt.Errorf("views: (key, root, offset, size) expected, not %s", repr(v, 0))
		}
		root := *t.storages[nums[1]]
		root.Offset, root.Shape = nums[2], []int64{nums[3]}
		if err := root.Check(); err != nil {
			return fmt.Errorf("views: %w", err)
		}
		t.storages[nums[0]], t.objects[nums[0]] = &root, &root
	}
	return nil
}

// readTensors reads a count, then for each tensor a pickle of (key, storage key,
// class) and the raw numbers of its view: 4 bytes of dimensions, 4 of padding,
// then sizes, strides and offset of 8 bytes each.
func (t *tarFile) readTensors(r *io.SectionReader) error {
	n, off, err := pickledCount(r, 0)
	if err != nil {
		return err
	}
	for i := range n {
		p, err := pickle.Read(r, off, r.Size())
		if err != nil {
			return fmt.Errorf("tensor %d of %d: %w", i, n, err)
		}
		id, _ := tuple(p.Root)
		if len(id) != 3 || id[0].Kind() != pickle.Int || id[1].Kind() != pickle.Int {
			return fmt.Errorf("tensor %d of %d: a tuple (key, storage key, class) expected", i, n)
		}
		s := t.storages[id[1].Int()]
		if s == nil {
			return fmt.Errorf("tensor %d of %d: there is no storage %d", i, n, id[1].Int())
		}
		var ndim [8]byte
		if m, err := r.ReadAt(ndim[:], p.End); m < len(ndim) {
			return fmt.Errorf("tensor %d of %d: %w", i, n, eof(err))
		}
		dims := int64(binary.LittleEndian.Uint32(ndim[:]))
		off = p.End + int64(len(ndim))
		if dims > (r.Size()-off)/16 {
			return fmt.Errorf("tensor %d of %d: %d dimensions do not fit the %d bytes that are left: %w", i, n, dims, r.Size()-off, io.ErrUnexpectedEOF)
		}
		nums := make([]int64, 2*dims+1)
		if err := binary.Read(io.NewSectionReader(r, off, r.Size()-off), binary.LittleEndian, nums); err != nil {
			return fmt.Errorf("tensor %d of %d: %w", i, n, eof(err))
		}
		off += int64(8 * len(nums))
		view := &pytree.Tensor{
			DType: s.DType, Shape: nums[:dims], Strides: nums[dims : 2*dims], Offset: s.Offset + nums[2*dims],
			Storage: s.Storage, ItemSize: s.ItemSize, Wrapper: &wrapper{legacy: true},
		}
		if err := view.Check(); err != nil {
			return fmt.Errorf("tensor %d of %d: %w", i, n, err)
		}
		if slices.Equal(view.Strides, orderC(view.Shape)) {
			view.Strides = nil
		}
		t.objects[id[0].Int()] = view
	}
	return nil
}

// resolve finds what a persistent id in the object names: a tensor or storage by
// its number.
func (t *tarFile) resolve(id pickle.Value) (pytree.Node, bool, error) {
	if id.Kind() == pickle.Tuple {
		return nil, false, nil // (class, source file, source)
	}
	key := id.Int()
	if s, ok := str(id); ok {
		if _, err := fmt.Sscan(s, &key); err != nil {
			return nil, false, fmt.Errorf("persistent id %q is not a number", s)
		}
	} else if id.Kind() != pickle.Int {
		return nil, false, nil
	}
	n, ok := t.objects[key]
	if !ok {
		return nil, false, fmt.Errorf("there is no tensor %d", key)
	}
	return n, true, nil
}

func pickledCount(r *io.SectionReader, off int64) (n, end int64, err error) {
	p, err := pickle.Read(r, off, r.Size())
	if err != nil {
		return 0, 0, fmt.Errorf("count: %w", err)
	}
	if p.Root.Kind() != pickle.Int || p.Root.Int() < 0 {
		return 0, 0, fmt.Errorf("count: a number expected, not %s", repr(p.Root, 0))
	}
	return p.Root.Int(), p.End, nil
}

// eof is err, or that the input ended where more of it was expected.
func eof(err error) error {
	if err == nil || err == io.EOF {
		return io.ErrUnexpectedEOF
	}
	return err
}
