//go:build !linux

package durable

import "os"

// writeEarly does nothing here: the sync at the end does it all.
func writeEarly(*os.File) (stop func()) { return func() {} }
