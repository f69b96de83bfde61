package pt

import (
	"archive/zip"
	"bytes"
	"io"
	"math/rand/v2"
	"os"
	"path/filepath"
	"testing"
)

// TestDirectoryAgrees compares this package's reader of archives with Go's, on
// every zip among the samples and on damaged copies: what this one accepts, the
// other reads the same.
func TestDirectoryAgrees(t *testing.T) {
	files, err := filepath.Glob("../../testdata/pt/*.pt")
	if err != nil || len(files) == 0 {
		t.Fatalf("there are no samples: %v", err)
	}
	flips := 300
	if testing.Short() {
		flips = 30
	}
	rnd := rand.New(rand.NewPCG(1, 2))
	compared := 0
	for _, file := range files {
		data, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		if !bytes.Contains(data, zipEmptyMagic) {
			continue
		}
		agree(t, file, data, true)
		end := bytes.Index(data, entryMagic)
		for range flips {
			bad := bytes.Clone(data)
			at := end + rnd.IntN(len(data)-end)
			bad[at] ^= 1 << rnd.IntN(8)
			if agree(t, file, bad, false) {
				compared++
			}
		}
	}
	if compared == 0 {
		t.Error("no damaged archive was compared")
	}
}

// agree reports whether the archive could be read, and has the other reader tell
// the same.
func agree(t *testing.T, name string, data []byte, sound bool) bool {
	t.Helper()
	r, size := bytes.NewReader(data), int64(len(data))
	d, err := readDirectory(r, size)
	if err != nil {
		if sound {
			t.Errorf("%s: %v", name, err)
		}
		return false
	}
	z, err := zip.NewReader(r, size)
	if err != nil {
		// The other reader also checks zip64 numbers that nothing depends on.
		if err != zip.ErrInsecurePath && sound {
			t.Errorf("%s: read, while archive/zip says: %v", name, err)
		}
		return false
	}
	if len(z.File) != len(d.records) {
		t.Errorf("%s: %d members, archive/zip has %d", name, len(d.records), len(z.File))
		return false
	}
	for i, rec := range d.records {
		f := z.File[i]
		if rec.name != f.Name || rec.method != f.Method || rec.flags != f.Flags || rec.crc != f.CRC32 ||
			uint64(rec.packed) != f.CompressedSize64 || uint64(rec.size) != f.UncompressedSize64 {
			t.Errorf("%s: member %d is %+v, to archive/zip %+v", name, i, rec, f.FileHeader)
		}
		m := &member{record: rec, r: r, a: &archive{}}
		off, err := m.open()
		if err != nil {
			if sound {
				t.Errorf("%s: %v", name, err)
			}
			continue
		}
		if other, err := f.DataOffset(); err != nil || other != off {
			t.Errorf("%s: member %q begins at byte %d, to archive/zip %d (%v)", name, rec.name, off, other, err)
		}
	}
	return true
}

func TestFindEnd(t *testing.T) {
	end := append(bytes.Clone(zipEmptyMagic), make([]byte, 18)...)
	commented := func(n, announced int) []byte {
		b := append(bytes.Clone(end), make([]byte, n)...)
		b[20], b[21] = byte(announced), byte(announced>>8)
		return b
	}
	for _, tt := range []struct {
		why  string
		data []byte
		want int64 // -1: there is none
	}{
		{"nothing", nil, -1},
		{"too short", end[:21], -1},
		{"an empty archive", end, 0},
		{"at the end", append(make([]byte, 5000), end...), 5000},
		{"the longest comment", append(make([]byte, 10), commented(65535, 65535)...), 10},
		{"a comment longer than the file", append(make([]byte, 10), commented(5, 6)...), -1},
		{"the last of two", append(bytes.Clone(end), end...), 22},
		{"the last one is cut off", append(bytes.Clone(end), end[:10]...), 0},
		{"too far from the end", append(bytes.Clone(end), make([]byte, 70000)...), -1},
	} {
		at, _, ok := findEnd(bytes.NewReader(tt.data), int64(len(tt.data)))
		if !ok {
			at = -1
		}
		if at != tt.want {
			t.Errorf("%s: found at %d, want %d", tt.why, at, tt.want)
		}
	}
	if _, _, ok := findEnd(io.NewSectionReader(bytes.NewReader(end), 0, 10), 22); ok {
		t.Error("an end is found in what cannot be read")
	}
}
