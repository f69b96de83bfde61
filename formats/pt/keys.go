package pt

import (
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"ckpt/pickle"
	"ckpt/pytree"
)

// keyOf is the key for a mapping key of any type. A bool is not taken for an
// integer, though Python holds them equal: it is shown as it was written.
func keyOf(v pickle.Value) pytree.Key {
	switch v.Kind() {
	case pickle.Text:
		return pytree.StringKey(v.Str())
	case pickle.Raw:
		if utf8.ValidString(v.Str()) {
			return pytree.StringKey(v.Str())
		}
	case pickle.Int:
		return pytree.IntKey(v.Int())
	}
	return pytree.OtherKey(repr(v, 0))
}

// keyOf is keyOf, which prints an object once however often it is a key.
func (b *builder) keyOf(v pickle.Value) pytree.Key {
	o := v.Obj()
	if o == nil {
		return keyOf(v)
	}
	k, ok := b.printed[o]
	if !ok {
		k = keyOf(v)
		b.printed[o] = k
	}
	return k
}

// keySet keeps the keys of a mapping apart.
type keySet struct {
	at map[pytree.Key]int
	n  int
	// Keys that are known by their printed form only: the value behind each, the
	// key of each object, and how many print alike.
	others  map[pytree.Key]pickle.Value
	objects map[*pickle.Object]pytree.Key
	alike   map[pytree.Key]int
}

func newKeySet(n int) *keySet { return &keySet{at: make(map[pytree.Key]int, n)} }

// add takes the next key and its value. It returns the key, numbered where
// another object prints the same, and the index of an equal key, or -1.
func (s *keySet) add(k pytree.Key, v pickle.Value) (pytree.Key, int) {
	if !k.Addressable() {
		k = s.distinct(k, v)
	}
	if i, ok := s.at[k]; ok {
		return k, i
	}
	s.at[k] = s.n
	s.n++
	return k, -1
}

// distinct numbers keys that print alike and are not the same.
func (s *keySet) distinct(k pytree.Key, v pickle.Value) pytree.Key {
	if s.others == nil {
		s.others = make(map[pytree.Key]pickle.Value)
		s.objects = make(map[*pickle.Object]pytree.Key)
		s.alike = make(map[pytree.Key]int)
	}
	if known, ok := s.objects[v.Obj()]; ok && v.Obj() != nil {
		return known
	}
	base := k
	for was, taken := s.others[k]; taken; was, taken = s.others[k] {
		if plainKey(v) && plainKey(was) {
			return k
		}
		s.alike[base]++
		k = pytree.OtherKey(base.String() + " #" + strconv.Itoa(s.alike[base]+1))
	}
	s.others[k] = v
	s.objects[v.Obj()] = k
	return k
}

// plainKey reports whether v's printed form says all of it.
func plainKey(v pickle.Value) bool {
	switch v.Kind() {
	case pickle.Tuple:
		for _, x := range v.Obj().Items[:min(len(v.Obj().Items), reprItems)] {
			if x.Kind() == pickle.Tuple || !plainKey(x) {
				return false
			}
		}
		return len(v.Obj().Items) <= reprItems && len(repr(v, 0)) <= reprAll
	case pickle.Text, pickle.Bytes, pickle.Raw:
		return len(v.Str()) <= reprText
	case pickle.None, pickle.Bool, pickle.Int, pickle.Float:
		return true
	case pickle.BigInt:
		return v.Obj().Big().BitLen() <= reprText
	}
	return false
}

const (
	reprDepth = 4
	reprItems = 32
	// reprText is how much of a text is printed, reprAll of a tuple.
	reprText = 200
	reprAll  = 1000
)

// repr prints v as Python's repr does; what it cannot say it abbreviates.
func repr(v pickle.Value, depth int) string {
	switch v.Kind() {
	case pickle.None:
		return "None"
	case pickle.Bool:
		if v.Bool() {
			return "True"
		}
		return "False"
	case pickle.Int:
		return strconv.FormatInt(v.Int(), 10)
	case pickle.BigInt:
		if v.Obj().Big().BitLen() > reprText*4 {
			return "<int>"
		}
		return v.Obj().Big().String()
	case pickle.Float:
		return reprFloat(v.Float())
	case pickle.Text:
		return reprString(v.Str(), false)
	case pickle.Bytes, pickle.Raw:
		return "b" + reprString(v.Str(), true)
	case pickle.Global:
		m, n := v.Obj().Global()
		return m + "." + n
	case pickle.Tuple:
		return reprItemsOf(v.Obj().Items, depth, "(", ")")
	case pickle.FrozenSet:
		return reprFrozenSet(v.Obj().Items, depth)
	case pickle.Call, pickle.New:
		o := v.Obj()
		if depth >= reprDepth {
			return "<" + callee(o) + ">"
		}
		if text, ok := reprCall(v, o, depth); ok {
			return text
		}
		if text, ok := knownText(o, depth); ok {
			return text
		}
		// Arguments that are objects, such as a tensor's storage, say nothing here.
		if args, ok := tuple(o.Items[1]); ok && len(o.State()) == 0 && !slices.ContainsFunc(args, func(v pickle.Value) bool { return !plainKey(v) }) {
			return callee(o) + reprArgs(args, depth)
		}
		return "<" + callee(o) + ">"
	}
	return fmt.Sprintf("<%v>", v.Kind())
}

// reprArgs prints the arguments of a call.
func reprArgs(args []pickle.Value, depth int) string {
	if len(args) == 1 {
		return "(" + repr(args[0], depth+1) + ")"
	}
	return reprItemsOf(args, depth, "(", ")")
}

// reprCall prints what protocols below 4 write as calls.
func reprCall(v pickle.Value, o *pickle.Object, depth int) (string, bool) {
	args, _ := tuple(o.Items[1])
	switch name := callee(o); {
	case isLatin1Call(v) && args[0].Kind() == pickle.Text:
		raw, err := latin1(args[0].Str())
		return "b" + reprString(string(raw), true), err == nil
	case name == "builtins.bytes" && len(args) == 0:
		return "b''", true
	case name == "builtins.frozenset":
		if len(args) != 1 || len(o.SetItems()) > 0 {
			return "", false
		}
		items, ok := tuple(args[0])
		return reprFrozenSet(items, depth), ok
	}
	return "", false
}

func reprFrozenSet(items []pickle.Value, depth int) string {
	if len(items) == 0 {
		return "frozenset()"
	}
	return "frozenset" + reprItemsOf(items, depth, "({", "})")
}

func reprItemsOf(items []pickle.Value, depth int, open, end string) string {
	if depth >= reprDepth || len(items) > reprItems {
		return open + "…" + end
	}
	texts := make([]string, 0, len(items))
	total := 0
	for _, x := range items {
		if total > reprAll {
			return open + strings.Join(texts, ", ") + ", …" + end
		}
		texts = append(texts, repr(x, depth+1))
		total += len(texts[len(texts)-1])
	}
	if len(items) == 1 && open == "(" {
		end = "," + end
	}
	return open + strings.Join(texts, ", ") + end
}

// reprFloat prints f as Python does.
func reprFloat(f float64) string {
	switch {
	case math.IsNaN(f):
		return "nan"
	case math.IsInf(f, 1):
		return "inf"
	case math.IsInf(f, -1):
		return "-inf"
	}
	if a := math.Abs(f); a != 0 && (a < 1e-4 || a >= 1e16) {
		return strconv.FormatFloat(f, 'e', -1, 64)
	}
	s := strconv.FormatFloat(f, 'f', -1, 64)
	if !strings.Contains(s, ".") {
		s += ".0"
	}
	return s
}

// reprString quotes s as Python does; bytes tells that s is bytes.
func reprString(s string, bytes bool) string {
	if len(s) > reprText {
		return reprString(strings.ToValidUTF8(s[:reprText], ""), bytes) + "…"
	}
	quote := byte('\'')
	if strings.Contains(s, "'") && !strings.Contains(s, `"`) {
		quote = '"'
	}
	out := []byte{quote}
	for i := 0; i < len(s); {
		c := s[i]
		r, n := utf8.DecodeRuneInString(s[i:])
		switch {
		case c == quote || c == '\\':
			out = append(out, '\\', c)
			n = 1
		case c == '\n':
			out = append(out, `\n`...)
		case c == '\r':
			out = append(out, `\r`...)
		case c == '\t':
			out = append(out, `\t`...)
		case c < 0x20 || c == 0x7F || c >= 0x80 && (bytes || r == utf8.RuneError && n == 1):
			out = fmt.Appendf(out, `\x%02x`, c)
			n = 1
		default:
			out = append(out, s[i:i+n]...)
		}
		i += n
	}
	return string(append(out, quote))
}

// kindOf says in a word or two what v is, for a message.
func kindOf(v pickle.Value) string {
	switch k := v.Kind(); k {
	case pickle.Invalid, pickle.None, pickle.Bytes, pickle.LongBytes:
		return k.String()
	case pickle.Int, pickle.Inst, pickle.Extension:
		return "an " + k.String()
	default:
		return "a " + k.String()
	}
}
