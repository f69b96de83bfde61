package pt

import (
	"fmt"
	"strings"

	"ckpt/pickle"
	"ckpt/pytree"
)

// storageRef is a reference to a storage in the pickle.
type storageRef struct {
	storage *pytree.Storage
	dtype   pytree.DType
	untyped bool
	// offset is where a view of the storage begins, in elements (legacy files).
	offset int64
	numel  int64
}

// storageMeta is what a storage carries for its rewrite.
type storageMeta struct {
	location string // "cpu", "cuda:0"
}

// storageRef resolves a persistent id ('storage', class, key, location, numel),
// in legacy files with a sixth item: None or (view key, offset, view size).
func (b *builder) storageRef(v pickle.Value) (*storageRef, error) {
	if v.Kind() != pickle.Persistent {
		return nil, fmt.Errorf("storage expected, not %s", kindOf(v))
	}
	o := v.Obj()
	if b.persistent != nil {
		if n, ok, err := b.persistent(o.Items[0]); err != nil {
			return nil, err
		} else if t, isTensor := n.(*pytree.Tensor); ok && isTensor {
			return &storageRef{storage: t.Storage, dtype: t.DType, offset: t.Offset, numel: t.Elements()}, nil
		}
	}
	id, ok := tuple(o.Items[0])
	if !ok || len(id) < 5 || len(id) > 6 {
		return nil, fmt.Errorf("persistent id at byte %d of the pickle: a tuple of 5 or 6 items expected", o.Pos)
	}
	if kind, _ := str(id[0]); kind != "storage" {
		return nil, fmt.Errorf("persistent id at byte %d of the pickle: storage expected, not %s", o.Pos, repr(id[0], 0))
	}
	class, ok := storageClassName(id[1])
	dtype, known := storageTypes[class]
	if !ok || !known {
		return nil, fmt.Errorf("persistent id at byte %d of the pickle: %s is not a storage class", o.Pos, repr(id[1], 0))
	}
	key, ok := storageKey(id[2])
	location, locOK := str(id[3])
	if !ok || !locOK || id[4].Kind() != pickle.Int || id[4].Int() < 0 {
		return nil, fmt.Errorf("persistent id at byte %d of the pickle: key, location and number of elements expected, not %s, %s, %s",
			o.Pos, repr(id[2], 0), repr(id[3], 0), repr(id[4], 0))
	}
	ref := &storageRef{dtype: dtype, untyped: strings.HasSuffix(class, "UntypedStorage"), numel: id[4].Int()}
	if ref.numel > 1<<62/int64(elementSize(dtype)) {
		return nil, fmt.Errorf("persistent id at byte %d of the pickle: %d elements overflow", o.Pos, ref.numel)
	}
	if len(id) == 6 && id[5].Kind() != pickle.None {
		if view, ok := tuple(id[5]); ok && len(view) == 3 && view[1].Kind() == pickle.Int && view[1].Int() >= 0 {
			ref.offset = view[1].Int()
		} else {
			return nil, fmt.Errorf("persistent id at byte %d of the pickle: view of a storage malformed", o.Pos)
		}
	}
	if s, ok := b.storages[key]; ok {
		ref.storage = s
		return ref, nil
	}
	size := ref.numel * int64(elementSize(dtype))
	src, err := b.storage(key, size)
	if err != nil {
		return nil, err
	}
	s := &pytree.Storage{Source: src, BigEndian: b.bigEndian, Key: key, Payload: &storageMeta{location: location}}
	if src == nil {
		// Reported all together at the end; until then the storage is taken to be
		// as long as the pickle says.
		b.missing = append(b.missing, fmt.Sprintf("%q", key))
		s.Source = pytree.Section{N: size}
	}
	b.storages[key] = s
	b.numel[key] = ref.numel
	b.order = append(b.order, s)
	ref.storage = s
	return ref, nil
}

// storageClassName is the bare name of a storage class: torch.FloatStorage,
// torch.cuda.FloatStorage, torch.storage.UntypedStorage.
func storageClassName(v pickle.Value) (string, bool) {
	if v.Kind() != pickle.Global {
		return "", false
	}
	module, name := v.Obj().Global()
	return name, module == "torch" || module == "torch.storage" || module == "torch.cuda"
}

// storageKey is a storage's key: text, or a number in old files.
func storageKey(v pickle.Value) (string, bool) {
	if v.Kind() == pickle.Int {
		return fmt.Sprint(v.Int()), true
	}
	return str(v)
}
