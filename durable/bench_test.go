package durable

import (
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"testing"
)

// BenchmarkCopy writes a copy of a file, and has cp and sync do the same on the
// same disk for comparison.
func BenchmarkCopy(b *testing.B) {
	const size = 1 << 30
	dir := b.TempDir()
	src, dst := filepath.Join(dir, "src"), filepath.Join(dir, "dst")
	block := make([]byte, 1<<20)
	for i := range block {
		block[i] = byte(i * 7)
	}
	f, err := os.Create(src)
	if err != nil {
		b.Fatal(err)
	}
	defer f.Close()
	for range size / len(block) {
		if _, err := f.Write(block); err != nil {
			b.Fatal(err)
		}
	}
	if err := f.Sync(); err != nil {
		b.Fatal(err)
	}

	write := func(w *os.File) error {
		_, err := io.Copy(w, io.NewSectionReader(f, 0, size))
		return err
	}
	writeRange := func(w *os.File) error {
		if _, err := f.Seek(0, io.SeekStart); err != nil {
			return err
		}
		_, err := io.Copy(w, f) // copy_file_range where there is one
		return err
	}
	ways := []struct {
		name string
		run  func() error
	}{
		{"cp+sync", func() error {
			if err := exec.Command("cp", src, dst).Run(); err != nil {
				return err
			}
			return exec.Command("sync", dst).Run()
		}},
		{"WriteFile", func() error { return WriteFile(b.Context(), dst, Options{}, write, nil) }},
		{"WriteFile-range", func() error { return WriteFile(b.Context(), dst, Options{}, writeRange, nil) }},
	}
	for _, w := range ways {
		b.Run(w.name, func(b *testing.B) {
			b.SetBytes(size)
			for range b.N {
				if err := w.run(); err != nil {
					b.Fatal(err)
				}
				b.StopTimer()
				os.Remove(dst)
				b.StartTimer()
			}
		})
	}
}
