// Package durable writes files that are either wholly the old ones or wholly
// the new ones, whatever happens on the way.
//
// [WriteFile] writes a temporary sibling in the destination's directory, syncs
// it while the caller verifies what a fresh handle reads back, renames it over
// the destination and syncs the directory.
//
// # What it guarantees
//
// A process that is killed at any instant leaves the destination with its old
// bytes or with the new ones, complete; so does a machine that loses power, as
// far as its file system and disk keep the promises of fsync and rename. On an
// error, a cancelled context or a panic, the destination is as it was and the
// temporary file is gone. A nil error means that the new content was verified
// and is on stable storage under the destination's name.
//
// The old file is never written to: a handle on it that was opened before the
// rename goes on reading the old bytes, so a file may be rewritten from itself.
//
// Unless told to overwrite, the last step fails if the destination has
// appeared in the meantime. It is one atomic operation where the system has
// one: renameat2 with RENAME_NOREPLACE on Linux, renamex_np with RENAME_EXCL
// on macOS, MoveFile on Windows, else a hard link. On a file system with none
// of them (FAT on some systems), a check precedes the rename, and a file that
// another program creates between the two is replaced.
//
// # Leftovers
//
// A killed process cannot remove its temporary file. The next write to the same
// destination does: the files are named .NAME.ckpt-tmp-PID-RANDOM, and their
// writer holds a lock (flock) on them, so one that is not locked belongs to
// nobody who lives. On a file system without locks they are left alone, since
// nothing tells a dead one from a live one. Windows has no need of a lock: it
// does not remove a file that a process has open.
//
// # Links, owners, and other limits
//
// A destination that is a symbolic link stays one: the file it points at is
// replaced, in that file's directory. Other hard links to the old file keep
// the old content. The replaced file's permission bits are kept, and its owner
// and group where the process may set them; where it may not, the group gets
// no right that others lack. Access control lists and extended attributes are
// not carried over. Devices, pipes and directories are refused. The directory
// must be readable and writable, and have room for the whole new file beside
// the old one.
//
// On Windows a rename cannot replace a file that somebody has open, and
// directories cannot be synced; there the rename is as durable as NTFS makes it.
package durable
