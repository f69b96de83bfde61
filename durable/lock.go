package durable

// A lockState is what came of an attempt to lock a file.
type lockState int

const (
	lockUnknown   lockState = iota // the system or file system has no locks
	lockHeld                       // by us, until the file is closed
	lockedByOther                  // by another open file
)
