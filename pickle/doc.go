// Package pickle reads and writes Python pickles without Python and without
// running anything that is in them.
//
// # Reading
//
// A pickle is a program for a small stack machine, some of whose instructions
// call any function of any module. [Read] runs the program on a machine that has
// no such functions: a name stays a name ([Global]), a call a record of what
// would be called and with what ([Call], [New], [Inst]), to which whatever else
// the pickle does to the result is attached: state, list items, dict items, set
// items, effects. So the graph holds all that the pickle says, and nothing that it could
// do. All opcodes of protocols 0 to 5 are known; each mention of a name is listed
// with its position ([Pickle.Globals]), and calls whose results lead nowhere are
// kept aside ([Pickle.Dropped]).
//
// What CPython does that can be seen in the result is done here: objects have
// identity through the memo, cycles included; the last value of a repeated key
// wins and takes the place of the first, with Python's idea of equal keys
// (1 == 1.0 == True); a list is no key. What only a Python class decides is left
// to the caller: an OrderedDict is a Call with dict items. The strings of Python
// 2 are a kind of their own ([Raw]), because a pickle does not tell whether they
// are text.
//
// A text or bytes of [LongFrom] bytes or more is left where it is, and its
// [Blob] tells where and opens it: as UTF-8, as the bytes that NumPy wrote as
// Latin-1 characters, or as it is. With a length before it, it is not even read,
// so a pickle of gigabytes of arrays opens by reading kilobytes.
//
// # Hostile input
//
// Any bytes end in a graph or an error, without a panic. A [SyntaxError] tells
// the offset and the opcode. Lengths are checked against what remains of the
// input before anything is allocated; memory is at most about 80 bytes for each
// byte of input, most of it only where that byte makes an object; work is
// proportional to the input, with seeded hashes for keys. The machine does not
// recurse, so nesting has no limit. These do: names and numbers in lines, 64 KiB;
// decimal integers, 10,000 digits; binary integers, 1 MiB. Frames are checked
// only for not being longer than the input: unlike CPython's file reader, the
// machine does not mind an opcode that crosses the end of one.
//
// The graph is another matter for those who walk it. It may hold itself, through
// any object that takes state or items, a tuple or a global included; a hundred
// objects may describe 2^100 paths; and it may be nested as deeply as the pickle
// is long. Walk it by identity, [Value.Obj], and without recursion.
//
// # Writing
//
// A [Writer] writes protocol 2 opcode by opcode, and [WriteValue] a whole graph
// by it, with a hook for values that are to be replaced. The same calls give the
// same bytes. It keeps to the opcodes that torch.load accepts with weights_only,
// for all that these can say; what they cannot is written with others that
// CPython's unpickler accepts. What was read and written reads as the same graph,
// except that bytes, bytearrays and sets of later protocols have become the calls
// that protocol 2 has for them.
package pickle
