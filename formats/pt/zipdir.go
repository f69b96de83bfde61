package pt

import (
	"bufio"
	"bytes"
	"cmp"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"math"
	"slices"

	"ckpt/formats"
)

// A zip is read by its central directory, as torch does; the layout is that of
// PKWARE's APPNOTE.TXT 6.3.10, sections 4.3.7 to 4.3.16. This package has a
// reader of its own because archive/zip does not tell where the members begin,
// so that overlapping ones could not be refused.

// record is a member as the central directory describes it.
type record struct {
	name   string
	flags  uint16
	method uint16
	crc    uint32
	packed int64 // bytes in the file
	size   int64 // bytes they stand for
	header int64 // where in the file its local header begins
	limit  int64 // where the next member or the directory begins
}

const (
	methodStored  = 0
	methodDeflate = 8
	flagEncrypted = 1
	flagSizesLate = 8 // the local header has no sizes: they follow the bytes

	localSize     = 30
	entrySize     = 46
	endSize       = 22
	end64Size     = 56
	locator64Size = 20
)

var (
	entryMagic     = []byte("PK\x01\x02")
	end64Magic     = []byte("PK\x06\x06")
	locator64Magic = []byte("PK\x06\x07")
)

// endRecord is what the end of an archive tells.
type endRecord struct {
	at        int64 // where the central directory must have ended
	end       int64 // where the archive ends, its comment included
	n         uint64
	dir, size uint64 // the directory's begin, as recorded, and length
}

// directory is the central directory of an archive.
type directory struct {
	records []record
	// trailing is how many bytes follow the end of the archive.
	trailing int64
}

// readDirectory reads the central directory and checks what it says: every
// member lies in the file before the directory, and no two of them overlap.
func readDirectory(r io.ReaderAt, size int64) (*directory, error) {
	end, err := readEnd(r, size)
	if err != nil {
		return nil, err
	}
	if end.size > uint64(end.at) || end.n > end.size/entrySize {
		return nil, fmt.Errorf("zip: the end record announces %d members in a directory of %d bytes, which does not fit the %d bytes before it", end.n, end.size, end.at)
	}
	begin, base, err := end.place(r)
	if err != nil {
		return nil, err
	}
	d := &directory{trailing: size - end.end}
	br := bufio.NewReaderSize(io.NewSectionReader(r, begin, int64(end.size)), 64<<10)
	left := int64(end.size)
	for i := range end.n {
		var rec record
		n, err := rec.read(br, base)
		if err != nil {
			return nil, fmt.Errorf("zip: entry %d of the central directory, at byte %d: %w", i, begin+int64(end.size)-left, eof(err))
		}
		d.records = append(d.records, rec)
		left -= n
	}
	if left != 0 {
		return nil, fmt.Errorf("zip: %d bytes of the central directory are not accounted for by its %d members", left, end.n)
	}
	return d, d.checkPlaces(begin)
}

// checkPlaces finds the limit of each member and refuses overlaps.
func (d *directory) checkPlaces(begin int64) error {
	byPlace := make([]*record, len(d.records))
	for i := range d.records {
		byPlace[i] = &d.records[i]
	}
	slices.SortStableFunc(byPlace, func(a, b *record) int { return cmp.Compare(a.header, b.header) })
	for i, rec := range byPlace {
		rec.limit = begin
		after := "the central directory"
		if i+1 < len(byPlace) && byPlace[i+1].header < begin {
			rec.limit = byPlace[i+1].header
			after = fmt.Sprintf("member %q", byPlace[i+1].name)
		}
		if rec.header > begin {
			return fmt.Errorf("zip: member %q begins at byte %d, beyond the central directory at byte %d", rec.name, rec.header, begin)
		}
		if room := rec.limit - rec.header - localSize - int64(len(rec.name)); rec.packed > room {
			return fmt.Errorf("zip: member %q with its %d bytes from byte %d overlaps %s at byte %d", rec.name, rec.packed, rec.header, after, rec.limit)
		}
	}
	return nil
}

// place finds where the directory begins, and what its offsets count from: the
// file's begin, or that of the archive where other bytes come first.
func (e *endRecord) place(r io.ReaderAt) (begin, base int64, err error) {
	last := e.at - int64(e.size)
	if e.dir > uint64(last) {
		return 0, 0, fmt.Errorf("zip: the central directory of %d bytes at byte %d would run into its end record at byte %d", e.size, e.dir, e.at)
	}
	begin = int64(e.dir)
	var magic [4]byte
	if n, _ := r.ReadAt(magic[:], begin); e.n == 0 || n == len(magic) && bytes.Equal(magic[:], entryMagic) {
		return begin, 0, nil
	}
	return last, last - begin, nil
}

// read reads one entry and gives its length.
func (rec *record) read(br *bufio.Reader, base int64) (int64, error) {
	var h [entrySize]byte
	if _, err := io.ReadFull(br, h[:]); err != nil {
		return 0, err
	}
	if !bytes.HasPrefix(h[:], entryMagic) {
		return 0, errors.New("it does not begin with the signature of one")
	}
	u16 := func(at int) uint16 { return binary.LittleEndian.Uint16(h[at:]) }
	u32 := func(at int) uint64 { return uint64(binary.LittleEndian.Uint32(h[at:])) }
	name, extra, comment := int(u16(28)), int(u16(30)), int(u16(32))
	tail := make([]byte, name+extra+comment)
	if _, err := io.ReadFull(br, tail); err != nil {
		return 0, err
	}
	rec.name = string(tail[:name])
	rec.flags, rec.method, rec.crc = u16(8), u16(10), uint32(u32(16))
	packed, size, header := u32(20), u32(24), u32(42)
	if u16(34) != 0 && u16(34) != math.MaxUint16 {
		return 0, fmt.Errorf("member %q is on another disk", rec.name)
	}
	if err := zip64Fields(tail[name:name+extra], &size, &packed, &header); err != nil {
		return 0, fmt.Errorf("member %q: %w", rec.name, err)
	}
	const limit = 1 << 62
	if packed > limit || size > limit || header > limit {
		return 0, fmt.Errorf("member %q: %d bytes (%d uncompressed) at byte %d are beyond reason", rec.name, packed, size, header)
	}
	rec.packed, rec.size, rec.header = int64(packed), int64(size), int64(header)+base
	return int64(len(h) + len(tail)), nil
}

// zip64Fields replaces the numbers that are too large for 32 bits, in the order
// in which the zip64 field holds them.
func zip64Fields(extra []byte, numbers ...*uint64) error {
	field, found := []byte(nil), false
	for len(extra) >= 4 && !found {
		id, n := binary.LittleEndian.Uint16(extra), int(binary.LittleEndian.Uint16(extra[2:]))
		extra = extra[4:]
		if n > len(extra) {
			break // padding that is no field, as some writers leave it
		}
		field, found = extra[:n], id == 1
		extra = extra[n:]
	}
	for _, v := range numbers {
		if *v != math.MaxUint32 || !found {
			continue
		}
		if len(field) < 8 {
			return errors.New("its zip64 field is too short")
		}
		*v, field = binary.LittleEndian.Uint64(field), field[8:]
	}
	return nil
}

// findEnd finds the end record: the last one with room for its comment.
func findEnd(r io.ReaderAt, size int64) (at int64, record []byte, ok bool) {
	for _, n := range []int64{1 << 10, endSize + math.MaxUint16} {
		n = min(n, size)
		tail := make([]byte, n)
		if m, _ := r.ReadAt(tail, size-n); int64(m) < n {
			return 0, nil, false
		}
		for end := len(tail); ; {
			i := bytes.LastIndex(tail[:end], zipEmptyMagic)
			if i < 0 {
				break
			}
			if rest := len(tail) - i - endSize; rest >= 0 && int(binary.LittleEndian.Uint16(tail[i+20:])) <= rest {
				return size - n + int64(i), tail[i : i+endSize], true
			}
			end = i + len(zipEmptyMagic) - 1
		}
	}
	return 0, nil, false
}

// hasZipEnd reports whether a zip's end record is near the end: a zip may have
// anything before its first member.
func hasZipEnd(r io.ReaderAt, size int64) bool {
	_, _, ok := findEnd(r, size)
	return ok
}

// errSplit is that there are more files to the archive.
var errSplit = formats.WithHint(errors.New("zip: this is one disk of an archive of several"), "put the parts together first")

// errNoEnd is that a file has no end record.
var errNoEnd = errors.New("zip: no end of central directory")

func readEnd(r io.ReaderAt, size int64) (*endRecord, error) {
	at, b, ok := findEnd(r, size)
	if !ok {
		return nil, errNoEnd
	}
	u16 := func(i int) uint64 { return uint64(binary.LittleEndian.Uint16(b[i:])) }
	e := &endRecord{at: at, n: u16(10), size: uint64(binary.LittleEndian.Uint32(b[12:])), dir: uint64(binary.LittleEndian.Uint32(b[16:]))}
	e.end = at + endSize + int64(u16(20))
	if disk := u16(4); disk != 0 && disk != math.MaxUint16 {
		return nil, errSplit
	}
	return e, e.read64(r)
}

// read64 takes the numbers of the zip64 end record, if there is one. Where the
// old record has room for a number, the two have to agree.
func (e *endRecord) read64(r io.ReaderAt) error {
	var loc [locator64Size]byte
	if n, _ := r.ReadAt(loc[:], e.at-locator64Size); e.at < locator64Size || n < len(loc) || !bytes.HasPrefix(loc[:], locator64Magic) {
		return nil
	}
	if binary.LittleEndian.Uint32(loc[4:]) != 0 || binary.LittleEndian.Uint32(loc[16:]) != 1 {
		return errSplit
	}
	at := binary.LittleEndian.Uint64(loc[8:])
	var b [end64Size]byte
	if at > uint64(e.at) {
		return fmt.Errorf("zip: the zip64 end record is said to be at byte %d, behind its locator", at)
	}
	if !readsMagic(r, int64(at), b[:]) {
		// Offsets that count from the archive's begin, behind other bytes.
		at = uint64(max(e.at-locator64Size-end64Size, 0))
		if !readsMagic(r, int64(at), b[:]) {
			return fmt.Errorf("zip: there is no zip64 end record at byte %d", binary.LittleEndian.Uint64(loc[8:]))
		}
	}
	u64 := func(i int) uint64 { return binary.LittleEndian.Uint64(b[i:]) }
	for _, f := range []struct {
		what     string
		old      *uint64
		new, max uint64
	}{
		{"number of members", &e.n, u64(32), math.MaxUint16},
		{"length of the directory", &e.size, u64(40), math.MaxUint32},
		{"begin of the directory", &e.dir, u64(48), math.MaxUint32},
	} {
		if *f.old != f.max && *f.old != f.new {
			return fmt.Errorf("zip: the end records disagree on the %s: %d and %d", f.what, *f.old, f.new)
		}
		*f.old = f.new
	}
	e.at = int64(at)
	return nil
}

func readsMagic(r io.ReaderAt, at int64, b []byte) bool {
	n, _ := r.ReadAt(b, at)
	return n == len(b) && bytes.HasPrefix(b, end64Magic)
}
