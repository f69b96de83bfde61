package pt

import (
	"encoding/binary"
	"fmt"
	"hash/crc32"
	"io"
	"math"

	"ckpt/formats"
	"ckpt/pytree"
)

// zipWriter writes a zip the way torch does: every member stored, its bytes at a
// multiple of 64 in the file, its size and CRC behind them and in the central
// directory, no times. archive/zip would write much of that, but not with the
// bytes going from file to file.
type zipWriter struct {
	o       *formats.Output
	root    string
	entries []zipEntry
}

type zipEntry struct {
	name   string
	offset int64 // of the local header
	size   int64
	crc    uint32
	zip64  bool // the sizes behind the bytes take 8 bytes each
}

const (
	alignment = 64
	// zipFlags: sizes and CRC follow the bytes; names are UTF-8.
	zipFlags = 0x0808
)

func newZipWriter(o *formats.Output, root string) *zipWriter {
	return &zipWriter{o: o, root: root}
}

// begin writes a local header; zip64 tells that the member may take 4 GiB.
func (z *zipWriter) begin(name string, zip64 bool) error {
	name = z.root + name
	e := zipEntry{name: name, offset: z.o.Offset(), zip64: zip64}
	var extra []byte
	if zip64 {
		// Sizes that are not known yet, here as in the header.
		extra = binary.LittleEndian.AppendUint16(extra, 1)
		extra = binary.LittleEndian.AppendUint16(extra, 16)
		extra = append(extra, make([]byte, 16)...)
	}
	const fieldHead = 4
	data := e.offset + localSize + int64(len(name)+len(extra)) + fieldHead
	pad := (alignment - data%alignment) % alignment
	extra = append(extra, 'F', 'B')
	extra = binary.LittleEndian.AppendUint16(extra, uint16(pad))
	for range pad {
		extra = append(extra, 'Z')
	}
	h := append([]byte(nil), zipMagic...)
	h = binary.LittleEndian.AppendUint16(h, versionOf(zip64))
	h = binary.LittleEndian.AppendUint16(h, zipFlags)
	h = append(h, make([]byte, 2+4+4)...) // stored; no time, no CRC yet
	sizes := uint32(0)
	if zip64 {
		sizes = math.MaxUint32
	}
	h = binary.LittleEndian.AppendUint32(h, sizes)
	h = binary.LittleEndian.AppendUint32(h, sizes)
	h = binary.LittleEndian.AppendUint16(h, uint16(len(name)))
	h = binary.LittleEndian.AppendUint16(h, uint16(len(extra)))
	h = append(append(h, name...), extra...)
	z.entries = append(z.entries, e)
	_, err := z.o.Write(h)
	return err
}

func versionOf(zip64 bool) uint16 {
	if zip64 {
		return 45
	}
	return 0
}

// end writes the size and CRC of the member that was begun last.
func (z *zipWriter) end(size int64, crc uint32) error {
	e := &z.entries[len(z.entries)-1]
	e.size, e.crc = size, crc
	d := append([]byte(nil), descriptorMagic...)
	d = binary.LittleEndian.AppendUint32(d, crc)
	if e.zip64 {
		d = binary.LittleEndian.AppendUint64(d, uint64(size))
		d = binary.LittleEndian.AppendUint64(d, uint64(size))
	} else {
		if size >= math.MaxUint32 {
			return fmt.Errorf("member %q grew to %d bytes", e.name, size)
		}
		d = binary.LittleEndian.AppendUint32(d, uint32(size))
		d = binary.LittleEndian.AppendUint32(d, uint32(size))
	}
	_, err := z.o.Write(d)
	return err
}

// bytes writes a small member.
func (z *zipWriter) bytes(name, content string) error {
	return z.source(name, pytree.Bytes(content))
}

// source writes a member from a source.
func (z *zipWriter) source(name string, src pytree.Source) error {
	if err := z.begin(name, src.Size() >= math.MaxUint32); err != nil {
		return err
	}
	crc, err := z.o.Copy(src)
	if err != nil {
		return err
	}
	return z.end(src.Size(), crc)
}

// stream writes a member that f writes. size is how long it will be, or -1 if
// that is not known but far below 4 GiB.
func (z *zipWriter) stream(name string, size int64, f func(io.Writer) error) error {
	if err := z.begin(name, size >= math.MaxUint32); err != nil {
		return err
	}
	s := &summing{w: z.o}
	if err := f(s); err != nil {
		return err
	}
	if size >= 0 && s.n != size {
		return fmt.Errorf("member %q took %d bytes, then %d", name, size, s.n)
	}
	return z.end(s.n, s.crc)
}

// summing counts and sums up what passes through.
type summing struct {
	w   io.Writer
	n   int64
	crc uint32
}

func (s *summing) Write(p []byte) (int, error) {
	n, err := s.w.Write(p)
	s.n += int64(n)
	s.crc = crc32.Update(s.crc, crc32.IEEETable, p[:n])
	return n, err
}

// close writes the central directory.
func (z *zipWriter) close() error {
	begin := z.o.Offset()
	for _, e := range z.entries {
		if _, err := z.o.Write(e.directory()); err != nil {
			return err
		}
	}
	_, err := z.o.Write(endRecords(len(z.entries), begin, z.o.Offset()))
	return err
}

// directory is the entry of the central directory.
func (e *zipEntry) directory() []byte {
	big := e.zip64 || e.size >= math.MaxUint32 || e.offset >= math.MaxUint32
	size, offset := uint32(e.size), uint32(e.offset)
	var extra []byte
	if big {
		size, offset = math.MaxUint32, math.MaxUint32
		extra = binary.LittleEndian.AppendUint16(extra, 1)
		extra = binary.LittleEndian.AppendUint16(extra, 24)
		extra = binary.LittleEndian.AppendUint64(extra, uint64(e.size))
		extra = binary.LittleEndian.AppendUint64(extra, uint64(e.size))
		extra = binary.LittleEndian.AppendUint64(extra, uint64(e.offset))
	}
	h := []byte("PK\x01\x02")
	h = binary.LittleEndian.AppendUint16(h, versionOf(big))
	h = binary.LittleEndian.AppendUint16(h, versionOf(big))
	h = binary.LittleEndian.AppendUint16(h, zipFlags)
	h = append(h, make([]byte, 2+4)...) // stored; no time
	h = binary.LittleEndian.AppendUint32(h, e.crc)
	h = binary.LittleEndian.AppendUint32(h, size)
	h = binary.LittleEndian.AppendUint32(h, size)
	h = binary.LittleEndian.AppendUint16(h, uint16(len(e.name)))
	h = binary.LittleEndian.AppendUint16(h, uint16(len(extra)))
	h = append(h, make([]byte, 2+2+2+4)...) // no comment, first disk, no attributes
	h = binary.LittleEndian.AppendUint32(h, offset)
	return append(append(h, e.name...), extra...)
}

// endRecords ends the archive: with the zip64 records where a number is too
// large for the old one.
func endRecords(n int, begin, end int64) []byte {
	size := end - begin
	var r []byte
	if n >= math.MaxUint16 || begin >= math.MaxUint32 || size >= math.MaxUint32 {
		r = append(r, "PK\x06\x06"...)
		r = binary.LittleEndian.AppendUint64(r, 44)
		r = binary.LittleEndian.AppendUint16(r, 45)
		r = binary.LittleEndian.AppendUint16(r, 45)
		r = append(r, make([]byte, 4+4)...) // one disk
		r = binary.LittleEndian.AppendUint64(r, uint64(n))
		r = binary.LittleEndian.AppendUint64(r, uint64(n))
		r = binary.LittleEndian.AppendUint64(r, uint64(size))
		r = binary.LittleEndian.AppendUint64(r, uint64(begin))
		r = append(r, "PK\x06\x07"...)
		r = append(r, make([]byte, 4)...)
		r = binary.LittleEndian.AppendUint64(r, uint64(end))
		r = binary.LittleEndian.AppendUint32(r, 1)
	}
	r = append(r, zipEmptyMagic...)
	r = append(r, make([]byte, 4)...)
	r = binary.LittleEndian.AppendUint16(r, uint16(min(n, math.MaxUint16)))
	r = binary.LittleEndian.AppendUint16(r, uint16(min(n, math.MaxUint16)))
	r = binary.LittleEndian.AppendUint32(r, uint32(min(size, math.MaxUint32)))
	r = binary.LittleEndian.AppendUint32(r, uint32(min(begin, math.MaxUint32)))
	return append(r, 0, 0)
}
