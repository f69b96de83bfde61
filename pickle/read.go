package pickle

import (
	"errors"
	"fmt"
	"hash/maphash"
	"io"
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
	// Dropped is the calls ([Call], [New], [Inst]) that neither the Root leads to
	// nor any effect of an object: Python would make them for what they do, and
	// drop what they return.
	Dropped []Value
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

// Read reads the one pickle that starts at the absolute offset off of r, whose
// readable bytes end at the absolute offset size. What follows the pickle's STOP
// does not matter. All positions in the result are absolute, too.
//
// The error is a [*SyntaxError] if the pickle is malformed, truncated or beyond
// a limit; one that is truncated also matches [io.ErrUnexpectedEOF]. Errors of r
// are returned wrapped.
func Read(r io.ReaderAt, off, size int64) (*Pickle, error) {
	if off < 0 || off > size {
		return nil, &SyntaxError{Pos: off, Msg: fmt.Sprintf("outside the input of %d bytes", size), Err: io.ErrUnexpectedEOF}
	}
	m := machine{window: newWindow(r, off, size), seed: maphash.MakeSeed()}
	m.result.Start = off
	if err := m.run(); err != nil {
		return nil, m.located(err)
	}
	m.result.End = m.pos()
	m.result.Nodes = m.alloc.made
	m.result.Globals = m.globalRefs()
	m.result.Dropped = m.droppedCalls()
	p := m.result // a copy, so that the machine can be collected
	return &p, nil
}

// located gives an error of the window or of a decoder its place in the pickle.
func (m *machine) located(err error) error {
	if _, ok := errors.AsType[*SyntaxError](err); ok {
		return err
	}
	name := opNames[m.op]
	switch {
	case err == io.ErrUnexpectedEOF:
		return &SyntaxError{m.at, name, "the pickle ends early", io.ErrUnexpectedEOF}
	case errors.Is(err, errLongLine):
		return &SyntaxError{m.at, name, fmt.Sprintf("a line of more than %d bytes", maxLine), nil}
	}
	return err
}

func (m *machine) failf(format string, args ...any) error {
	return &SyntaxError{Pos: m.at, Op: opNames[m.op], Msg: fmt.Sprintf(format, args...)}
}

// underflow is the error of an opcode that finds too little on the stack.
func (m *machine) underflow() error {
	if m.depth() > 0 && len(m.marks) > 0 {
		return m.failf("takes more values than there are above the latest MARK")
	}
	return m.failf("takes more values than the stack has")
}
