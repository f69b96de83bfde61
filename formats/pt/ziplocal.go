package pt

import (
	"bytes"
	"encoding/binary"
	"errors"
	"io"
)

// localHeader is what stands before a member's bytes: the central directory's
// entry once more, as far as the writer knew it by then.
type localHeader struct {
	name         string
	method       uint16
	sizes        bool // the header has the next three
	crc          uint32
	packed, size int64
	data         int64 // where the bytes begin
}

// readLocal reads the local header at off.
func readLocal(r io.ReaderAt, off int64) (*localHeader, error) {
	var b [localSize]byte
	if n, err := r.ReadAt(b[:], off); n < len(b) {
		return nil, eof(err)
	}
	if !bytes.HasPrefix(b[:], zipMagic) {
		return nil, errors.New("it does not begin with the signature of one")
	}
	u16 := func(at int) uint16 { return binary.LittleEndian.Uint16(b[at:]) }
	u32 := func(at int) uint64 { return uint64(binary.LittleEndian.Uint32(b[at:])) }
	name, extra := int(u16(26)), int(u16(28))
	tail := make([]byte, name+extra)
	if n, err := r.ReadAt(tail, off+localSize); n < len(tail) {
		return nil, eof(err)
	}
	h := &localHeader{name: string(tail[:name]), method: u16(8), crc: uint32(u32(14)), data: off + localSize + int64(len(tail))}
	packed, size := u32(18), u32(22)
	if u16(6)&flagSizesLate != 0 {
		return h, nil
	}
	if err := zip64Fields(tail[name:], &size, &packed); err != nil {
		return nil, err
	}
	h.sizes = true
	h.packed, h.size = int64(packed), int64(size)
	return h, nil
}
