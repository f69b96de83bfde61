package pt

import (
	"errors"
	"fmt"
	"io"
	"math"
	"slices"
	"strconv"
	"strings"

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
	trailing  int64 // bytes behind the end of the archive
	members   map[string]*member
	order     []*member
}

// openArchive reads the central directory.
func openArchive(r io.ReaderAt, size int64) (*archive, error) {
	d, err := readDirectory(r, size)
	if err == errNoEnd {
		return nil, truncated(r, size)
	}
	if err != nil {
		return nil, err
	}
	a := &archive{members: make(map[string]*member, len(d.records)), unchecked: true, trailing: d.trailing}
	for _, rec := range d.records {
		if _, dup := a.members[rec.name]; dup {
			return nil, fmt.Errorf("zip: two members are named %q", rec.name)
		}
		m := &member{record: rec, a: a, r: r}
		a.unchecked = a.unchecked && (rec.crc == 0 || rec.size == 0)
		a.members[rec.name] = m
		a.order = append(a.order, m)
	}
	return a, a.findRoot()
}

// findRoot finds the directory that holds data.pkl.
func (a *archive) findRoot() error {
	var roots, names []string
	for _, m := range a.order {
		if root, ok := strings.CutSuffix(m.name, "data.pkl"); ok && (root == "" || strings.Count(root, "/") == 1 && root[len(root)-1] == '/') {
			roots = append(roots, root)
			names = append(names, strconv.Quote(m.name))
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
	return fmt.Errorf("zip: which of its pickles is the checkpoint is not clear: %s", listed(names, 5))
}

func (a *archive) listing() string {
	names := make([]string, len(a.order))
	for i, m := range a.order {
		names[i] = fmt.Sprintf("%q", m.name)
	}
	if len(names) == 0 {
		return "none"
	}
	return listed(names, 5)
}

func (a *archive) member(name string) *member { return a.members[a.root+name] }

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
	c.Notes = append(c.Notes, a.notes()...)
	b := newBuilder()
	if b.bigEndian, err = a.byteOrder(); err != nil {
		return nil, err
	}
	if err := a.addStorages(b, c); err != nil {
		return nil, err
	}
	m := a.member("data.pkl")
	src, err := m.source()
	if err != nil {
		return nil, err
	}
	if !m.stored() && m.size > inflateFloor+inflateFactor*m.packed {
		return nil, m.wrap(fmt.Errorf("%d compressed bytes stand for %d, beyond reason for a pickle", m.packed, m.size))
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
	if long := a.longStorages(b); len(long) > 0 {
		c.Notes = append(c.Notes, "more bytes are stored than the pickle says: "+listed(long, 5))
	}
	b.notes(c, p)
	return c, nil
}

// The pickle of a checkpoint deflates to a twentieth or so. What claims to be far
// denser is made to take memory.
const (
	inflateFactor = 100
	inflateFloor  = 1 << 20
)

// notes says what is unusual about the archive.
func (a *archive) notes() []string {
	var notes []string
	if a.unchecked {
		notes = append(notes, "the file has no checksums: torch.save was told to leave them out")
	}
	first := int64(math.MaxInt64)
	var outside []string
	for _, m := range a.order {
		first = min(first, m.header)
		if leadsOut(m.name) {
			outside = append(outside, strconv.Quote(m.name))
		}
	}
	if first > 0 {
		notes = append(notes, fmt.Sprintf("%d bytes before the archive's first member are not read", first))
	}
	if a.trailing > 0 {
		notes = append(notes, fmt.Sprintf("%d bytes after the archive's end are not read", a.trailing))
	}
	if len(outside) > 0 {
		notes = append(notes, "members are named for places outside the archive's folder, where other programs may unpack them: "+listed(outside, 5))
	}
	return notes
}

// leadsOut reports whether a member's name is a path that another program might
// follow out of the folder that it unpacks into.
func leadsOut(name string) bool {
	return strings.HasPrefix(name, "/") || strings.Contains(name, `\`) || len(name) > 1 && name[1] == ':' || slices.Contains(strings.Split(name, "/"), "..")
}

// longStorages lists the storages whose member has more bytes than they take.
func (a *archive) longStorages(b *builder) []string {
	var long []string
	for _, s := range b.order {
		if m := a.member("data/" + s.Key); m != nil && m.size > s.Size() {
			long = append(long, fmt.Sprintf("storage %q takes %d of %d", s.Key, s.Size(), m.size))
		}
	}
	return long
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
		return false, fmt.Errorf("member %q: byte order %q is neither \"little\" nor \"big\"", m.name, order)
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
		rest := strings.TrimPrefix(m.name, a.root)
		for i, folder := range folders {
			if key, ok := strings.CutPrefix(rest, folder); ok && strings.HasPrefix(m.name, a.root) && key != "" {
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
