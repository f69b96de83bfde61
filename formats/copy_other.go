//go:build !linux

package formats

import "os"

// copyFileRange appends n bytes of src from off to dst.
func copyFileRange(dst, src *os.File, off, n int64) error { return copyPlain(dst, src, off, n) }
