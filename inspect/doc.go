// Package inspect says what is in a checkpoint, for people and for machines.
//
// A [Query] is what was asked, a [Result] the answer for one file:
// [Result.WriteText] prints a tree with sizes and shares in which repeated layers
// are folded, [Result.WriteJSON] streams one object with every entry.
//
// # What is counted
//
// The parameters of a file are the elements of its tensors, and its tensor bytes
// their logical bytes, with what is stored once counted once: of tensors that
// share a storage, each counts what no other one has counted, beginning with the
// one that begins first in the storage, the longer before the shorter, the
// earlier in the file before the later. So a tied weight counts once, and the
// parts of one flat buffer count in full. A view that leaves gaps counts as if it
// had none.
//
// # What it costs
//
// Structure only is read, unless digests or statistics are asked for; time and
// memory are linear in the number of entries, and the JSON form holds none of
// them. Long strings and bytes pass through without ever being held whole.
//
// Names and values come from files that nobody vouches for: the text form
// escapes them by [pytree.Printable].
package inspect
