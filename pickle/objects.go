package pickle

import (
	"encoding/binary"
	"io"
	"strconv"
	"unicode/utf8"
	"unsafe"
)

type globalName struct{ module, name string }

// globalLines reads the two lines of a GLOBAL.
func (m *machine) globalLines() error {
	o, err := m.readGlobal()
	if err != nil {
		return err
	}
	m.push(objectValue(o))
	return nil
}

func (m *machine) readGlobal() (*Object, error) {
	line, err := m.line()
	if err != nil {
		return nil, err
	}
	m.scratch = append(m.scratch[:0], line...) // the next line may move the window
	name, err := m.line()
	if err != nil {
		return nil, err
	}
	return m.global(viewString(m.scratch), viewString(name))
}

// viewString is b as a string, valid only as long as b does not change.
func viewString(b []byte) string { return unsafe.String(unsafe.SliceData(b), len(b)) }

// viewBytes is s as bytes, which must not be changed.
func viewBytes(s string) []byte { return unsafe.Slice(unsafe.StringData(s), len(s)) }

// global finds or makes the one object for a class or function, and records that
// it was mentioned. It copies the names if it keeps them.
func (m *machine) global(module, name string) (*Object, error) {
	o := m.globals[globalName{module, name}]
	if o == nil {
		if !utf8.ValidString(module) || !utf8.ValidString(name) {
			return nil, m.failf("the name %q.%q is not UTF-8", module, name)
		}
		key := globalName{m.alloc.text(module), m.alloc.text(name)}
		o = m.object(Global)
		p := o.addPart(partName)
		p.vals = m.alloc.values(2)
		p.vals[0], p.vals[1] = stringValue(Text, key.module), stringValue(Text, key.name)
		if m.globals == nil {
			m.globals = make(map[globalName]*Object)
		}
		m.globals[key] = o
	}
	m.mention(o)
	return o, nil
}

// mention is a GlobalRef while the pickle is being read, in less space.
type mention struct {
	obj *Object // a Global or Extension
	at  int64
	op  byte
}

const mentionBlock = 128

// mention records that the opcode being run names a global.
func (m *machine) mention(o *Object) {
	if m.mentioned%mentionBlock == 0 {
		m.mentions = append(m.mentions, new([mentionBlock]mention))
	}
	m.mentions[len(m.mentions)-1][m.mentioned%mentionBlock] = mention{o, m.at, m.op}
	m.mentioned++
}

func (m *machine) globalRefs() []GlobalRef {
	if m.mentioned == 0 {
		return nil
	}
	refs := make([]GlobalRef, m.mentioned)
	for i := range refs {
		t := &m.mentions[i/mentionBlock][i%mentionBlock]
		refs[i] = GlobalRef{Pos: t.at, Op: opNames[t.op]}
		if t.obj.Kind == Extension {
			refs[i].Name = strconv.FormatInt(t.obj.Items[0].Int(), 10)
		} else {
			refs[i].Module, refs[i].Name = t.obj.Global()
		}
	}
	return refs
}

func (m *machine) stackGlobal() error {
	if !m.has(2) {
		return m.underflow()
	}
	module, name := *m.nth(2), *m.nth(1)
	for _, v := range [2]Value{module, name} {
		if v.Kind() != Text && v.Kind() != Raw {
			return m.failf("a name is %s, not a short str", v.Kind().one())
		}
	}
	o, err := m.global(module.Str(), name.Str())
	if err != nil {
		return err
	}
	m.drop(1)
	*m.nth(1) = objectValue(o)
	return nil
}

// extension makes the object for a code of Python's extension registry. What
// class it stands for is known only to the process that wrote the pickle.
func (m *machine) extension(arg []byte) error {
	n := 1
	switch m.op {
	case opExt2:
		n = 2
	case opExt4:
		n = 4
	}
	if len(arg) < n {
		return io.ErrUnexpectedEOF
	}
	var b [4]byte
	copy(b[:], arg[:n])
	m.i += n
	code := int64(int32(binary.LittleEndian.Uint32(b[:])))
	if code <= 0 {
		return m.failf("code %d is not positive", code)
	}
	o := m.extensions[code]
	if o == nil {
		o = m.objectOf(Extension, 1)
		o.Items[0] = intValue(code)
		if m.extensions == nil {
			m.extensions = make(map[int64]*Object)
		}
		m.extensions[code] = o
	}
	m.mention(o)
	m.push(objectValue(o))
	return nil
}

// checkArgs accepts a tuple, or what may have become one in Python.
func (m *machine) checkArgs(callable, args Value) error {
	if !opaque(callable) {
		return m.failf("%s cannot be called", callable.Kind().one())
	}
	if args.Kind() != Tuple && !opaque(args) {
		return m.failf("the arguments are %s, not a tuple", args.Kind().one())
	}
	return nil
}

func (m *machine) reduce() error { return m.callLike(Call) }
func (m *machine) newObj() error { return m.callLike(New) }

// callLike replaces callable and args on the stack by the object they make.
func (m *machine) callLike(k Kind) error {
	if !m.has(2) {
		return m.underflow()
	}
	args := m.top[len(m.top)-2:]
	if err := m.checkArgs(args[0], args[1]); err != nil {
		return err
	}
	o := m.objectOf(k, 2)
	copy(o.Items, args)
	m.drop(1)
	*m.nth(1) = objectValue(o)
	return nil
}

func (m *machine) newObjEx() error {
	if !m.has(3) {
		return m.underflow()
	}
	args := m.top[len(m.top)-3:]
	if err := m.checkArgs(args[0], args[1]); err != nil {
		return err
	}
	if k := args[2]; k.Kind() != Dict && !opaque(k) {
		return m.failf("the keyword arguments are %s, not a dict", k.Kind().one())
	}
	o := m.objectOf(New, 3)
	copy(o.Items, args)
	m.drop(2)
	*m.nth(1) = objectValue(o)
	return nil
}

func (m *machine) build() error {
	if !m.has(2) {
		return m.underflow()
	}
	v := *m.nth(2)
	o := v.Obj()
	if o == nil || v.Kind() <= BigInt {
		if m.nth(1).Kind() == None { // which CPython lets pass
			m.drop(1)
			return nil
		}
		return m.failf("%s has no state", v.Kind().one())
	}
	p := o.addPart(partState)
	p.vals = m.add(p.vals, m.top[len(m.top)-1:])
	m.drop(1)
	return nil
}

// inst is protocol 0's way to make an instance: the class by name, its arguments
// above the mark.
func (m *machine) inst() error {
	class, err := m.readGlobal()
	if err != nil {
		return err
	}
	vals, own, ok := m.aboveMark()
	if !ok {
		return m.failf("there is no MARK")
	}
	m.pushInst(objectValue(class), vals, own)
	return nil
}

// obj is protocol 1's way: the class lies on the stack, too.
func (m *machine) obj() error {
	vals, own, ok := m.aboveMark()
	if !ok {
		return m.failf("there is no MARK")
	}
	if len(vals) == 0 {
		return m.failf("there is no class above the MARK")
	}
	if class := vals[0]; !opaque(class) {
		return m.failf("%s is no class", class.Kind().one())
	}
	m.pushInst(vals[0], vals[1:], own)
	return nil
}

func (m *machine) pushInst(class Value, vals []Value, own bool) {
	args := m.newEmptyTuple()
	if len(vals) > 0 {
		t := m.object(Tuple)
		t.Items = m.keep(vals, own)
		args = objectValue(t)
	}
	o := m.objectOf(Inst, 2)
	o.Items[0], o.Items[1] = class, args
	m.push(objectValue(o))
}

// persIDLine is protocol 0's persistent id: a line of text.
func (m *machine) persIDLine() error {
	line, err := m.line()
	if err != nil {
		return err
	}
	k := Text
	if !utf8.Valid(line) {
		k = Raw
	}
	o := m.objectOf(Persistent, 1)
	o.Items[0] = stringValue(k, m.alloc.text(viewString(line)))
	m.push(objectValue(o))
	return nil
}
