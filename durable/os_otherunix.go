//go:build unix && !linux && !darwin

package durable

// renameNew renames from to to where that does not exist yet.
func renameNew(from, to string) error { return linkNew(from, to) }
