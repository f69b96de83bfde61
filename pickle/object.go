package pickle

import "math/big"

// Object is a value with identity.
type Object struct {
	Kind Kind
	// seen is for walks while the pickle is being read.
	seen bool
	// Pos is the offset in the input of the opcode that made the object.
	Pos int64
	// Items holds what the Kind says.
	Items []Value
	// more is what few objects have: a list of parts, in the order in which the
	// pickle first gave each.
	more *more
}

// part says what a [more] holds.
type part uint8

const (
	partName   part = iota // of a Global: vals is {module, name}
	partBig                // of a BigInt: ref is a *big.Int
	partBlob               // of a LongText, LongBytes or LongRaw: ref is a *Blob
	partState              // BUILD arguments, in order
	partList               // APPEND(S) to an object that is not a list
	partDict               // SETITEM(S) of one that is not a dict: key, value …
	partSet                // ADDITEMS to one that is not a set
	partEffect             // calls that took the object as their first argument and were dropped
)

type more struct {
	what part
	vals []Value
	ref  any
	next *more
}

// part finds one part of o, or nil.
func (o *Object) part(what part) *more {
	for m := o.more; m != nil; m = m.next {
		if m.what == what {
			return m
		}
	}
	return nil
}

// addPart finds one part of o, and adds it at the end if there is none.
func (o *Object) addPart(what part) *more {
	at := &o.more
	for *at != nil {
		if (*at).what == what {
			return *at
		}
		at = &(*at).next
	}
	*at = &more{what: what}
	return *at
}

func (o *Object) vals(what part) []Value {
	if m := o.part(what); m != nil {
		return m.vals
	}
	return nil
}

// Global gives the module and name of a Global.
func (o *Object) Global() (module, name string) {
	if o.Kind != Global {
		return "", ""
	}
	v := o.vals(partName)
	return v[0].Str(), v[1].Str()
}

// Big is the value of a BigInt, nil for other kinds. It must not be changed.
func (o *Object) Big() *big.Int {
	if o.Kind != BigInt {
		return nil
	}
	return o.more.ref.(*big.Int)
}

// Blob tells where the content of a LongText, LongBytes or LongRaw is; nil for
// other kinds.
func (o *Object) Blob() *Blob {
	if o.Kind < LongText || o.Kind > LongRaw {
		return nil
	}
	return o.more.ref.(*Blob)
}

// State is the arguments of each BUILD that o was given, in order; nearly
// always none or one.
func (o *Object) State() []Value { return o.vals(partState) }

// ListItems is what was appended to an object that is not a list: to a list
// subclass, or to whatever a call returned.
func (o *Object) ListItems() []Value { return o.vals(partList) }

// DictItems is the keys and values, alternating and as written, that were set
// on an object that is not a dict, such as an OrderedDict. Unlike a Dict's they
// may repeat a key.
func (o *Object) DictItems() []Value { return o.vals(partDict) }

// Effects is the calls whose result the pickle dropped and whose first argument is
// o: a class may have a function set its state, which pickle writes as the call
// setter(o, state) and a POP.
func (o *Object) Effects() []Value { return o.vals(partEffect) }

// SetItems is what was added to an object that is not a set.
func (o *Object) SetItems() []Value { return o.vals(partSet) }
