package pt_test

import (
	"archive/zip"
	"bytes"
	"context"
	"encoding/binary"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"ckpt/formats"
)

// oneTensor is an archive of a tensor w of the floats 0 to 5, with what makes it
// different from others changed by edit.
func oneTensor(t testing.TB, edit func(parts []part) []part) []byte {
	t.Helper()
	v := dict(str("w"), floats("0", 6, 0, []int64{6}, []int64{1}))
	parts := []part{{"archive/data.pkl", pickled(t, v)}, {"archive/data/0", float32s(6)}, {"archive/version", []byte("3\n")}}
	if edit != nil {
		parts = edit(parts)
	}
	return zipped(t, zip.Store, parts...)
}

// headers is where in an archive the local header and the directory's entry of a
// member begin.
func headers(t testing.TB, data []byte, name string) (local, central int) {
	t.Helper()
	find := func(magic string, fixed int) int {
		for at := 0; ; {
			i := bytes.Index(data[at:], []byte(magic))
			if i < 0 {
				t.Fatalf("there is no header of %s", name)
			}
			at += i
			if bytes.HasPrefix(data[at+fixed:], []byte(name)) {
				return at
			}
			at++
		}
	}
	return find("PK\x03\x04", 30), find("PK\x01\x02", 46)
}

// TestArchives changes one number of an archive at a time.
func TestArchives(t *testing.T) {
	const name = "archive/data/0"
	put16, put32 := binary.LittleEndian.PutUint16, binary.LittleEndian.PutUint32
	end := func(b []byte) int { return bytes.LastIndex(b, []byte("PK\x05\x06")) }
	for _, tt := range []struct {
		why  string
		edit func(b []byte, local, central int) []byte
		open string // the error of opening it
		read string // the error of reading the tensor
		note string
	}{
		{why: "sound", edit: func(b []byte, _, _ int) []byte { return b }},
		{why: "another name in the local header", edit: func(b []byte, l, _ int) []byte { b[l+30+13] = '1'; return b },
			read: `member "archive/data/0": the local header at byte 214 is that of "archive/data/1"`},
		{why: "another method in the local header", edit: func(b []byte, l, _ int) []byte { put16(b[l+8:], 8); return b },
			read: "tells compression method 8, the central directory 0"},
		{why: "no local header", edit: func(b []byte, l, _ int) []byte { b[l] = 'Q'; return b },
			read: "local header at byte 214: it does not begin with the signature of one"},
		{why: "other sizes in the local header", edit: func(b []byte, l, _ int) []byte {
			put16(b[l+6:], 0)
			put32(b[l+18:], 20)
			put32(b[l+22:], 20)
			return b
		}, read: "tells 20 bytes, 20 uncompressed, with crc-32 00000000; the central directory 24, 24 and "},
		{why: "an extra field that pushes the bytes into the next member", edit: func(b []byte, l, _ int) []byte { put16(b[l+28:], 20); return b },
			read: "its 24 bytes from byte 278 reach into what begins at byte 298"},
		{why: "an extra field past the end of the file", edit: func(b []byte, l, _ int) []byte { put16(b[l+28:], 65535); return b },
			read: "unexpected EOF"},
		{why: "sizes that differ", edit: func(b []byte, _, c int) []byte { put32(b[c+24:], 23); return b },
			open: `member "archive/data/0": stored, but its two sizes differ: 24 and 23`},
		{why: "a size that reaches into the next member", edit: func(b []byte, _, c int) []byte { put32(b[c+20:], 80); put32(b[c+24:], 80); return b },
			open: `member "archive/data/0" with its 80 bytes from byte 214 overlaps member "archive/version"`},
		{why: "a header inside the directory", edit: func(b []byte, _, c int) []byte { put32(b[c+42:], uint32(len(b)-30)); return b },
			open: `begins at byte `},
		{why: "a size in a zip64 field that is not there", edit: func(b []byte, _, c int) []byte { put32(b[c+20:], 0xFFFFFFFF); put32(b[c+24:], 0xFFFFFFFF); return b },
			open: "overlaps"},
		{why: "a method that nobody has", edit: func(b []byte, _, c int) []byte { put16(b[c+10:], 12); return b },
			open: "compression method 12 is not supported"},
		{why: "encrypted", edit: func(b []byte, _, c int) []byte { put16(b[c+8:], 9); return b }, read: "it is encrypted"},
		{why: "another disk", edit: func(b []byte, _, c int) []byte { put16(b[c+34:], 3); return b }, open: "is on another disk"},
		{why: "an archive in parts", edit: func(b []byte, _, _ int) []byte { put16(b[end(b)+4:], 1); return b }, open: "one disk of an archive of several"},
		{why: "a name that runs out of the directory", edit: func(b []byte, _, c int) []byte { put16(b[c+28:], 60000); return b },
			open: "entry 1 of the central directory, at byte "},
		{why: "an entry that is none", edit: func(b []byte, _, c int) []byte { b[c] = 'Q'; return b }, open: "it does not begin with the signature of one"},
		{why: "more members than the directory has room for", edit: func(b []byte, _, _ int) []byte { put16(b[end(b)+10:], 900); return b },
			open: "the end record announces 900 members in a directory of "},
		{why: "fewer members than the directory has", edit: func(b []byte, _, _ int) []byte { put16(b[end(b)+10:], 2); return b },
			open: "bytes of the central directory are not accounted for by its 2 members"},
		{why: "a directory past its end", edit: func(b []byte, _, _ int) []byte { put32(b[end(b)+16:], uint32(len(b))); return b },
			open: "would run into its end record"},
		{why: "a directory longer than the file", edit: func(b []byte, _, _ int) []byte { put32(b[end(b)+12:], 1<<30); return b },
			open: "which does not fit the "},
		{why: "bytes before the archive", edit: func(b []byte, _, _ int) []byte { return append([]byte("#!/bin/sh\n"), b...) },
			note: "10 bytes before the archive's first member are not read"},
		{why: "bytes after the archive", edit: func(b []byte, _, _ int) []byte { return append(b, "left over"...) },
			note: "9 bytes after the archive's end are not read"},
		{why: "a comment that holds an end record without room for its own comment", edit: func(b []byte, _, _ int) []byte {
			fake := append([]byte("PK\x05\x06"), bytes.Repeat([]byte{0xFF}, 18)...)
			put16(b[end(b)+20:], uint16(len(fake)))
			return append(b, fake...)
		}},
		{why: "a zip64 locator that leads nowhere", edit: func(b []byte, _, _ int) []byte {
			at := end(b)
			loc := append([]byte("PK\x06\x07"), make([]byte, 16)...)
			loc[16] = 1
			return append(append(append([]byte(nil), b[:at]...), loc...), b[at:]...)
		}, open: "there is no zip64 end record at byte 0"},
	} {
		data := oneTensor(t, nil)
		local, central := headers(t, data, name)
		c, err := open(tt.edit(data, local, central))
		if tt.open != "" {
			if err == nil || !strings.Contains(err.Error(), tt.open) {
				t.Errorf("%s: error %v, want %q", tt.why, err, tt.open)
			}
			continue
		}
		if err != nil {
			t.Errorf("%s: %v", tt.why, err)
			continue
		}
		err = summary(c).err
		if tt.read == "" && err != nil || tt.read != "" && (err == nil || !strings.Contains(err.Error(), tt.read)) {
			t.Errorf("%s: reading the tensor: error %v, want %q", tt.why, err, tt.read)
		}
		if notes := strings.Join(c.Notes, "\n"); !strings.Contains(notes, tt.note) || tt.note == "" && notes != "" {
			t.Errorf("%s: notes %q, want %q", tt.why, notes, tt.note)
		}
		if tt.read != "" {
			continue
		}
		if x := tensorAt(t, c.Tree, "w"); !bytes.Equal(contentOf(t, x), float32s(6)) {
			t.Errorf("%s: the tensor has other values", tt.why)
		}
	}
}

// TestMembers checks which members make an archive a checkpoint.
func TestMembers(t *testing.T) {
	for _, tt := range []struct {
		why  string
		edit func([]part) []part
		want string
		note string
	}{
		{"another root", func(p []part) []part {
			for i := range p {
				p[i].name = strings.Replace(p[i].name, "archive", "модель v1.5", 1)
			}
			return p
		}, "", ""},
		{"no root", func(p []part) []part {
			for i := range p {
				p[i].name = strings.TrimPrefix(p[i].name, "archive/")
			}
			return p
		}, "", ""},
		{"a pickle two folders down", func(p []part) []part {
			for i := range p {
				p[i].name = "deep/" + p[i].name
			}
			return p
		}, "no member is named ROOT/data.pkl", ""},
		{"a storage of another root", func(p []part) []part { p[1].name = "other/data/0"; return p }, `1 of 1 storages are missing: "0"`, ""},
		{"a member that is only named alike", func(p []part) []part { p[1].name = "archive/data/00"; return p }, `1 of 1 storages are missing: "0"`, ""},
		{"a member below the storage", func(p []part) []part { return append(p, part{"archive/data/0/1", nil}) }, "", ""},
		{"a folder's own entry", func(p []part) []part { return append(p, part{"archive/data/", nil}) }, "", ""},
		{"a name that leads out", func(p []part) []part { return append(p, part{"archive/../../x", nil}) }, "", `"archive/../../x"`},
		{"a name from the root", func(p []part) []part { return append(p, part{"/etc/passwd", nil}) }, "", `"/etc/passwd"`},
		{"a name for Windows", func(p []part) []part { return append(p, part{`archive\..\x`, nil}) }, "", `archive\\..\\x`},
		{"dots that lead nowhere", func(p []part) []part { return append(p, part{"archive/..data", nil}) }, "", ""},
		{"big-endian", func(p []part) []part { return append(p, part{"archive/byteorder", []byte("big")}) }, "", ""},
		{"neither", func(p []part) []part { return append(p, part{"archive/byteorder", []byte("pdp")}) }, `byte order "pdp" is neither`, ""},
		{"a byte order without end", func(p []part) []part {
			return append(p, part{"archive/byteorder", bytes.Repeat([]byte("little"), 1e5)})
		}, `is neither "little" nor "big"`, ""},
		{"TorchScript", func(p []part) []part { return append(p, part{"archive/constants.pkl", []byte("\x80\x02).")}) }, "", "its code is not shown"},
	} {
		c, err := open(oneTensor(t, tt.edit))
		if tt.want != "" {
			if err == nil || !strings.Contains(err.Error(), tt.want) {
				t.Errorf("%s: error %v, want %q", tt.why, err, tt.want)
			}
			continue
		}
		if err != nil {
			t.Errorf("%s: %v", tt.why, err)
			continue
		}
		if notes := strings.Join(c.Notes, "\n"); !strings.Contains(notes, tt.note) || tt.note == "" && notes != "" {
			t.Errorf("%s: notes %q, want %q", tt.why, notes, tt.note)
		}
		if err := summary(c).err; err != nil {
			t.Errorf("%s: %v", tt.why, err)
		}
	}
}

// TestBigEndian checks that the elements, not the bytes, are what is kept.
func TestBigEndian(t *testing.T) {
	little := mustOpen(t, oneTensor(t, nil))
	big := mustOpen(t, oneTensor(t, func(p []part) []part {
		for i := 0; i < len(p[1].data); i += 4 {
			d := p[1].data[i:]
			d[0], d[1], d[2], d[3] = d[3], d[2], d[1], d[0]
		}
		return append(p, part{"archive/byteorder", []byte("big")})
	}))
	if !tensorAt(t, big.Tree, "w").Storage.BigEndian {
		t.Error("the storage is not marked as big-endian")
	}
	if a, b := rewritten(t, little.Tree), rewritten(t, big.Tree); !bytes.Equal(a, b) {
		t.Error("a big-endian file is rewritten other than its little-endian twin")
	}
}

// TestNoChecksums checks a file that torch wrote without CRCs: it says so, and
// its rewrite has them.
func TestNoChecksums(t *testing.T) {
	data, err := os.ReadFile(filepath.Join(samples, "zip-no-crc.torch2.15.pt"))
	if err != nil {
		t.Fatal(err)
	}
	c := mustOpen(t, data)
	if len(c.Checked) != 0 || !strings.Contains(strings.Join(c.Notes, "\n"), "the file has no checksums") {
		t.Errorf("%d checked parts, notes %q", len(c.Checked), c.Notes)
	}
	back := mustOpen(t, rewritten(t, c.Tree))
	if len(back.Checked) == 0 || len(back.Notes) > 0 {
		t.Errorf("rewritten: %d checked parts, notes %q", len(back.Checked), back.Notes)
	}
	if err := formats.VerifyChecksums(context.Background(), back, nil); err != nil {
		t.Error(err)
	}
}
