package pickle

import (
	"fmt"
)

// GlobalRef is one mention of a class or function by name.
type GlobalRef struct {
	Module, Name string
	// Pos is the offset of the opcode, Op its name: GLOBAL, STACK_GLOBAL, INST,
	// EXT1, EXT2 or EXT4. An extension has no Module, and its decimal code as Name.
	Pos int64
	Op  string
}

// Pickle is a pickle that was read: a graph of values.
type Pickle struct {
	Root Value
	// Protocol is the highest that the pickle declares, or 0.
	Protocol int
	// Start and End are the offsets of the first opcode and past STOP.
	Start, End int64
	// Globals is every mention of a global, in order of position.
	Globals []GlobalRef
	// Nodes counts the objects that the machine made.
	Nodes int
}

// SyntaxError is a pickle that is malformed, truncated or beyond its budget.
type SyntaxError struct {
	// Pos is the offset of the opcode in the input, Op its name ("" before one
	// is read).
	Pos int64
	Op  string
	Msg string
	// Err is io.ErrUnexpectedEOF for a pickle that ends early, or nil.
	Err error
}

func (e *SyntaxError) Error() string {
	if e.Op == "" {
		return fmt.Sprintf("pickle: byte %d: %s", e.Pos, e.Msg)
	}
	return fmt.Sprintf("pickle: byte %d: %s: %s", e.Pos, e.Op, e.Msg)
}

func (e *SyntaxError) Unwrap() error { return e.Err }
