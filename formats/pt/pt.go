// Package pt reads every file that torch.save has ever written, and writes the
// kind that it writes today.
//
// # The files
//
// Since torch 1.6 a checkpoint is a zip archive whose members are stored
// uncompressed under one directory: data.pkl, a pickle of the object, and
// data/KEY, the bytes of each storage. Before that it was a stream of pickles
// followed by the storages; before torch 0.1.10, a tar archive. All three are
// read (see zip.go, legacy.go, tar.go); the zip is written.
//
// # From pickle to tree
//
// The pickle is read by package pickle, which runs nothing: it gives a graph of
// values in which a tensor is a call of torch._utils._rebuild_tensor_v2 that
// nobody made. This package knows the few dozen calls that make up real
// checkpoints and turns them into tensors, mappings, sequences and scalars.
// Everything else becomes an object with its constructor arguments, state and
// items as children, so that a tensor inside an unknown class is as visible as
// any other. What is not shown (an OrderedDict's _metadata, a defaultdict's
// factory) travels along as payload, so that a rewrite is faithful.
//
// # Trust
//
// Views are checked against their storages, storages against the file. Objects
// that the pickle shares are built once; a graph whose listing would swell
// beyond a small multiple of its own size is listed with references instead.
package pt

import (
	"bytes"
	"io"

	"ckpt/formats"
)

// Format is the PyTorch format.
var Format = &formats.Format{
	Name:  "pt",
	Doc:   "PyTorch: what torch.save writes",
	Exts:  []string{".pt", ".pth", ".bin", ".ckpt"},
	Match: match,
	Read:  read,
	Write: write,
	Variants: []formats.Variant{
		{Name: "torch-zip", Doc: "PyTorch 1.6 and later (.pt .pth .bin .ckpt)", Read: true, Write: true},
		{Name: "torchscript", Doc: "TorchScript archive: its tensors and attributes, not its code", Read: true},
		{Name: "torch-legacy", Doc: "PyTorch 0.1.10 to 1.5, and `_use_new_zipfile_serialization=False`", Read: true},
		{Name: "torch-tar", Doc: "PyTorch before 0.1.10", Read: true},
		{Name: "pickle", Doc: "a bare pickle, protocols 0 to 5", Read: true},
	},
}

var (
	zipMagic      = []byte("PK\x03\x04")
	zipEmptyMagic = []byte("PK\x05\x06")
	// legacyMagic is the pickle of 0x1950a86a20f9469cfc6c from its opcode on; a
	// protocol header of two bytes may stand before it.
	legacyMagic = []byte("\x8a\x0a\x6c\xfc\x9c\x46\xf9\x20\x6a\xa8\x50\x19.")
	// legacyMagic0 is the same at protocols 0 and 1.
	legacyMagic0 = []byte("L119547037146038801333356L\n.")
)

func head(r io.ReaderAt, size int64, n int64) []byte {
	b := make([]byte, min(n, size))
	m, _ := r.ReadAt(b, 0)
	return b[:m]
}

func match(r io.ReaderAt, size int64) bool {
	b := head(r, size, 512)
	return bytes.HasPrefix(b, zipMagic) || bytes.HasPrefix(b, zipEmptyMagic) || isLegacy(b) || isTar(b) ||
		looksLikePickle(r, size) || hasZipEnd(r, size)
}

// read tells the kinds of file apart by their first bytes.
func read(r io.ReaderAt, size int64) (*formats.Checkpoint, error) {
	b := head(r, size, 512)
	switch {
	case isLegacy(b):
		return readLegacy(r, size)
	case isTar(b):
		return readTar(r, size)
	case bytes.HasPrefix(b, zipMagic), bytes.HasPrefix(b, zipEmptyMagic), hasZipEnd(r, size):
		return readZip(r, size)
	case looksLikePickle(r, size):
		return readPickle(r, size)
	}
	// Whoever names the format may have a pickle that begins like no other.
	if c, err := readPickle(r, size); err == nil {
		return c, nil
	}
	return nil, formats.Unrecognised(r, size)
}

func isLegacy(b []byte) bool {
	if len(b) > 2 && b[0] == 0x80 {
		b = b[2:]
	}
	if len(b) > 9 && b[0] == 0x95 { // protocol 4: a frame's length
		b = b[9:]
	}
	return bytes.HasPrefix(b, legacyMagic) || bytes.HasPrefix(b, legacyMagic0)
}

func isTar(b []byte) bool {
	return len(b) >= 263 && string(b[257:262]) == "ustar"
}

// looksLikePickle is true for a pickle of protocol 2 or later, which begins
// with its number, and for an older one that ends in STOP and begins with an
// opcode that makes a container or an object.
func looksLikePickle(r io.ReaderAt, size int64) bool {
	b := head(r, size, 2)
	if len(b) < 2 {
		return false
	}
	if b[0] == 0x80 && b[1] >= 2 && b[1] <= 5 {
		return true
	}
	last := make([]byte, 1)
	if _, err := r.ReadAt(last, size-1); err != nil || last[0] != '.' {
		return false
	}
	return bytes.IndexByte([]byte("(c}])"), b[0]) >= 0
}
