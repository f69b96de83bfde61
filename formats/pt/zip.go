package pt

import (
	"archive/zip"
	"bytes"
	"errors"
	"fmt"
	"hash/crc32"
	"io"
	"strings"
	"sync"

	"ckpt/formats"
	"ckpt/pickle"
	"ckpt/pytree"
)

// archive is a zip file whose members all lie below one directory.
type archive struct {
	root string // with the slash
	// unchecked tells that all CRCs are zero: torch.save leaves them out after
	// torch.serialization.set_crc32_options(False).
	unchecked bool
	members   map[string]*member
	order     []*member
}

// member is one file of the archive: a source of its bytes.
type member struct {
	a    *archive
	f    *zip.File
	r    io.ReaderAt
	size int64 // of the archive

	once sync.Once
	off  int64
	err  error
}

// hasZipEnd reports whether a zip's end record is near the end: a zip may have
// anything before its first member.
func hasZipEnd(r io.ReaderAt, size int64) bool {
	const endSize = 22
	n := min(size, endSize+1024)
	tail := make([]byte, n)
	if m, _ := r.ReadAt(tail, size-n); int64(m) < n {
		return false
	}
	return bytes.Contains(tail, zipEmptyMagic)
}

// openArchive reads the central directory.
func openArchive(r io.ReaderAt, size int64) (*archive, error) {
	z, err := zip.NewReader(r, size)
	if err != nil && !errors.Is(err, zip.ErrInsecurePath) {
		if errors.Is(err, zip.ErrFormat) && !hasZipEnd(r, size) {
			return nil, truncated(r, size)
		}
		return nil, fmt.Errorf("zip: the central directory is malformed: %w", err)
	}
	a := &archive{members: make(map[string]*member, len(z.File)), unchecked: true}
	for _, f := range z.File {
		if _, dup := a.members[f.Name]; dup {
			return nil, fmt.Errorf("zip: two members are named %q", f.Name)
		}
		if f.CompressedSize64 > uint64(size) {
			return nil, fmt.Errorf("zip: member %q has %d bytes, more than the whole file's %d", f.Name, f.CompressedSize64, size)
		}
		m := &member{a: a, f: f, r: r, size: size}
		a.unchecked = a.unchecked && (f.CRC32 == 0 || f.UncompressedSize64 == 0)
		a.members[f.Name] = m
		a.order = append(a.order, m)
	}
	return a, a.findRoot()
}

// findRoot finds the directory that holds data.pkl.
func (a *archive) findRoot() error {
	var roots []string
	for _, m := range a.order {
		if root, ok := strings.CutSuffix(m.f.Name, "data.pkl"); ok && (root == "" || strings.Count(root, "/") == 1 && root[len(root)-1] == '/') {
			roots = append(roots, root)
		}
	}
	switch len(roots) {
	case 1:
		a.root = roots[0]
		return nil
	case 0:
		return formats.WithHint(fmt.Errorf("zip: not a PyTorch checkpoint: no member is named ROOT/data.pkl; there are %s", a.listing()),
			"a zip of checkpoints has to be unpacked first")
	}
	return fmt.Errorf("zip: several members are named ROOT/data.pkl: %s", listed(roots, 5))
}

func (a *archive) listing() string {
	names := make([]string, len(a.order))
	for i, m := range a.order {
		names[i] = fmt.Sprintf("%q", m.f.Name)
	}
	if len(names) == 0 {
		return "none"
	}
	return listed(names, 5)
}

func (a *archive) member(name string) *member { return a.members[a.root+name] }

// open readies m: it finds the begin of its bytes and checks that they lie in
// the file.
func (m *member) open() (int64, error) {
	m.once.Do(func() {
		if m.off, m.err = m.f.DataOffset(); m.err == nil && (m.f.CompressedSize64 > uint64(m.size) || m.off > m.size-int64(m.f.CompressedSize64)) {
			m.err = fmt.Errorf("its %d bytes from byte %d reach beyond the end of the file, at %d", m.f.CompressedSize64, m.off, m.size)
		}
		if m.err == nil && m.f.Flags&1 != 0 {
			m.err = errors.New("it is encrypted")
		}
		if m.err != nil {
			m.err = fmt.Errorf("member %q: %w", m.f.Name, m.err)
		}
	})
	return m.off, m.err
}

func (m *member) stored() bool { return m.f.Method == zip.Store }

// source is m's bytes: a range of the file, or what they inflate to.
func (m *member) source() (pytree.Source, error) {
	if m.f.UncompressedSize64 > 1<<62 {
		return nil, fmt.Errorf("member %q: size %d is beyond reason", m.f.Name, m.f.UncompressedSize64)
	}
	if !m.stored() {
		if m.f.Method != zip.Deflate {
			return nil, fmt.Errorf("member %q: compression method %d is not supported", m.f.Name, m.f.Method)
		}
		return deflated{m}, nil
	}
	if m.f.CompressedSize64 != m.f.UncompressedSize64 {
		return nil, fmt.Errorf("member %q: stored, but its two sizes differ: %d and %d", m.f.Name, m.f.CompressedSize64, m.f.UncompressedSize64)
	}
	if m.a.unchecked {
		return unchecked{stored{m}}, nil
	}
	return stored{m}, nil
}

// stored is a member that is not compressed.
type stored struct{ m *member }

func (s stored) Size() int64   { return int64(s.m.f.UncompressedSize64) }
func (s stored) CRC32() uint32 { return s.m.f.CRC32 }

// Open reads the member whole and verifies its CRC at the end.
func (s stored) Open() (io.ReadCloser, error) {
	off, err := s.m.open()
	if err != nil {
		return nil, err
	}
	r := pytree.Exactly(io.NewSectionReader(s.m.r, off, s.Size()), s.Size())
	return io.NopCloser(&crcReader{r: r, left: s.Size(), want: s.m.f.CRC32, name: s.m.f.Name}), nil
}

func (s stored) Range() (io.ReaderAt, int64) {
	off, err := s.m.open()
	if err != nil {
		return failing{err}, 0
	}
	return s.m.r, off
}

// unchecked is a stored member without a CRC.
type unchecked struct{ s stored }

func (u unchecked) Size() int64                 { return u.s.Size() }
func (u unchecked) Range() (io.ReaderAt, int64) { return u.s.Range() }

func (u unchecked) Open() (io.ReadCloser, error) {
	r, off := u.Range()
	return pytree.Section{R: r, Off: off, N: u.Size()}.Open()
}

// failing is an io.ReaderAt that cannot read.
type failing struct{ err error }

func (f failing) ReadAt([]byte, int64) (int, error) { return 0, f.err }

// crcReader compares the CRC of all it has read with the recorded one.
type crcReader struct {
	r    io.Reader
	left int64
	crc  uint32
	want uint32
	name string
}

func (c *crcReader) Read(p []byte) (int, error) {
	n, err := c.r.Read(p)
	c.crc = crc32.Update(c.crc, crc32.IEEETable, p[:n])
	c.left -= int64(n)
	if c.left == 0 && c.crc != c.want {
		return 0, fmt.Errorf("member %q: %w", c.name, &formats.ChecksumError{Want: c.want, Got: c.crc})
	}
	return n, err
}

// deflated is a compressed member. archive/zip checks its CRC and its size.
type deflated struct{ m *member }

func (d deflated) Size() int64   { return int64(d.m.f.UncompressedSize64) }
func (d deflated) CRC32() uint32 { return d.m.f.CRC32 }

func (d deflated) Open() (io.ReadCloser, error) {
	if _, err := d.m.open(); err != nil {
		return nil, err
	}
	rc, err := d.m.f.Open()
	if err != nil {
		return nil, fmt.Errorf("member %q: %w", d.m.f.Name, err)
	}
	return rc, nil
}

// readZip reads a torch zip or a TorchScript archive.
func readZip(r io.ReaderAt, size int64) (*formats.Checkpoint, error) {
	a, err := openArchive(r, size)
	if err != nil {
		return nil, err
	}
	c := &formats.Checkpoint{Variant: "torch-zip", Title: "PyTorch zip"}
	if a.member("constants.pkl") != nil {
		c.Variant, c.Title = "torchscript", "TorchScript"
		c.Notes = append(c.Notes, "TorchScript archive: its code is not shown")
	}
	if a.unchecked {
		c.Notes = append(c.Notes, "the file has no checksums: torch.save was told to leave them out")
	}
	b := newBuilder()
	if b.bigEndian, err = a.byteOrder(); err != nil {
		return nil, err
	}
	if err := a.addStorages(b, c); err != nil {
		return nil, err
	}
	src, err := a.member("data.pkl").source()
	if err != nil {
		return nil, err
	}
	if err := checkPickle(src); err != nil {
		return nil, err
	}
	// A deflated pickle is read through again for each array in it: its reader is
	// left open, and holds nothing but memory.
	at, off, _ := pytree.ReaderAt(src)
	p, err := pickle.Read(io.NewSectionReader(at, off, src.Size()), 0, src.Size())
	if err != nil {
		return nil, fmt.Errorf("data.pkl: %w", err)
	}
	if p.End != src.Size() {
		c.Notes = append(c.Notes, fmt.Sprintf("data.pkl: %d bytes after the end of the pickle are not read", src.Size()-p.End))
	}
	if c.Tree, err = b.tree(p.Root, src.Size()); err != nil {
		return nil, err
	}
	return c, nil
}

// checkPickle verifies the CRC of a pickle of usual size. One that is larger has
// arrays in it, which are checked when they are read.
func checkPickle(src pytree.Source) (err error) {
	const usual = 32 << 20
	if src.Size() > usual {
		return nil
	}
	rc, err := src.Open()
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, rc.Close()) }()
	_, err = io.Copy(io.Discard, rc)
	return err
}

// byteOrder reads the member that tells the byte order of the storages; without
// it, as before torch 2.1, they are little-endian.
func (a *archive) byteOrder() (bigEndian bool, err error) {
	m := a.member("byteorder")
	if m == nil {
		return false, nil
	}
	text := make([]byte, 16)
	src, err := m.source()
	if err != nil {
		return false, err
	}
	rc, err := src.Open()
	if err != nil {
		return false, err
	}
	defer rc.Close()
	n, err := io.ReadFull(rc, text)
	if err != nil && err != io.ErrUnexpectedEOF && err != io.EOF {
		return false, err
	}
	switch order := string(text[:n]); order {
	case "little":
		return false, nil
	case "big":
		return true, nil
	default:
		return false, fmt.Errorf("member %q: byte order %q is neither \"little\" nor \"big\"", m.f.Name, order)
	}
}

// addStorages lets b find the storages among the members.
func (a *archive) addStorages(b *builder, c *formats.Checkpoint) error {
	byKey := make(map[string]pytree.Source)
	folders := []string{"data/", "constants/"}
	for _, m := range a.order {
		src, err := m.source()
		if err != nil {
			return err
		}
		if checked, ok := src.(pytree.Checksummed); ok {
			c.Checked = append(c.Checked, checked)
		}
		rest := strings.TrimPrefix(m.f.Name, a.root)
		for i, folder := range folders {
			if key, ok := strings.CutPrefix(rest, folder); ok && strings.HasPrefix(m.f.Name, a.root) && key != "" {
				if i == 0 {
					byKey[key] = src
				}
				c.Stored += src.Size()
			}
		}
	}
	b.storage = func(key string, n int64) (pytree.Source, error) {
		src := byKey[key]
		if src != nil && src.Size() < n {
			return nil, fmt.Errorf("storage %q takes %d bytes, its member has %d", key, n, src.Size())
		}
		if src != nil {
			src = pytree.Slice(src, 0, n)
		}
		return src, nil
	}
	return nil
}
