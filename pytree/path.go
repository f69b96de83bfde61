package pytree

import (
	"strconv"
	"strings"
	"unicode/utf16"
	"unicode/utf8"
)

// Key is one step of a path: a string (mapping key or attribute), an integer
// (sequence index or int mapping key), or the printed form of a mapping key of
// any other type, which can be shown but not addressed. Keys are comparable.
type Key struct {
	text string
	num  int64
	kind keyKind
}

type keyKind uint8

const (
	keyString keyKind = iota
	keyInt
	keyOther
)

// StringKey is the key of a mapping entry or attribute named s: UTF-8, in which
// a Python string's lone surrogates take three bytes each (WTF-8). Any other s
// has no text of its own in a path; it gives the [OtherKey] of s quoted and
// escaped, which keeps paths distinct.
func StringKey(s string) Key {
	if !isWTF8(s) {
		return OtherKey(quoteBytes(s))
	}
	return Key{text: s}
}

// IntKey is a sequence index, or a mapping key that is an integer.
func IntKey(i int64) Key { return Key{num: i, kind: keyInt} }

// OtherKey is a mapping key that is neither, by its printed form. Bytes of repr
// that are not WTF-8 are escaped; keys that print alike are equal, and it is for
// the reader of a file to keep them apart.
func OtherKey(repr string) Key {
	if !isWTF8(repr) {
		repr = quoteBytes(repr)
	}
	return Key{text: repr, kind: keyOther}
}

// quoteBytes is s between quotes with everything escaped that [Printable] does,
// and backslashes, so that different texts stay different.
func quoteBytes(s string) string {
	return `"` + Printable(strings.ReplaceAll(s, `\`, `\\`)) + `"`
}

// IsInt reports whether k is an integer, and which.
func (k Key) IsInt() (int64, bool) { return k.num, k.kind == keyInt }

// IsString reports whether k is a string, and which.
func (k Key) IsString() (string, bool) { return k.text, k.kind == keyString }

// Addressable reports whether a rule or an exact path can name k.
func (k Key) Addressable() bool { return k.kind != keyOther }

// String is k as it stands in a dotted path.
func (k Key) String() string {
	if k.kind == keyInt {
		return strconv.FormatInt(k.num, 10)
	}
	return k.text
}

// otherMark comes before the JSON string of a key that cannot be addressed. It
// makes the path distinct from that of a string key with the same text.
const otherMark = '~'

// Path is where a node sits: the canonical exact form, a JSON list of strings
// and integers such as ["clients",0,"epoch"]. Paths are comparable: different
// keys give different paths. The root is "[]". A key that is neither string nor
// integer stands in it as its printed form behind a tilde, which no text that
// [ParsePath] accepts can produce. Only this package makes paths; the methods
// give no useful answer for any other text, but do not panic.
type Path string

// Root is the path of a tree's root.
const Root Path = "[]"

// MakePath joins keys.
func MakePath(keys ...Key) Path {
	buf := []byte{'['}
	for _, k := range keys {
		buf = appendKey(buf, k)
	}
	return Path(append(buf, ']'))
}

// Child is the path of the entry k of the container at p.
func (p Path) Child(k Key) Path {
	list := strings.TrimSuffix(string(p), "]")
	if list == "" {
		list = "["
	}
	buf := make([]byte, 0, len(list)+len(k.text)+8)
	return Path(append(appendKey(append(buf, list...), k), ']'))
}

// appendKey appends k to an unclosed list.
func appendKey(buf []byte, k Key) []byte {
	if len(buf) > 1 {
		buf = append(buf, ',')
	}
	switch k.kind {
	case keyInt:
		return strconv.AppendInt(buf, k.num, 10)
	case keyOther:
		buf = append(buf, otherMark)
	}
	return AppendJSONString(buf, k.text)
}

// Keys splits p.
func (p Path) Keys() []Key {
	if len(p) < 2 {
		return nil
	}
	var keys []Key
	for rest := string(p[1:]); rest != "" && rest[0] != ']'; {
		var k Key
		k, rest = cutKey(rest)
		keys = append(keys, k)
		rest = strings.TrimPrefix(rest, ",")
	}
	return keys
}

// cutKey takes the first key off the rest of a canonical path.
func cutKey(s string) (Key, string) {
	kind := keyString
	if s[0] == otherMark {
		kind, s = keyOther, s[1:]
	}
	if s == "" || s[0] != '"' {
		end := strings.IndexAny(s, ",]")
		if end < 0 {
			end = len(s)
		}
		n, _ := strconv.ParseInt(s[:end], 10, 64)
		return IntKey(n), s[end:]
	}
	plain := true
	for i := 1; i < len(s); i++ {
		switch s[i] {
		case '\\':
			plain = false
			i++
		case '"':
			text := s[1:i]
			if !plain {
				text = unescape(text)
			}
			return Key{text: text, kind: kind}, s[i+1:]
		}
	}
	return Key{text: s, kind: kind}, "" // not canonical; cannot come from this package
}

// unescape decodes the inside of a JSON string. Where JSON's own readers would
// put U+FFFD for a lone surrogate, it gives the surrogate.
func unescape(s string) string {
	out := make([]byte, 0, len(s))
	for i := 0; i < len(s); i++ {
		if s[i] != '\\' || i+1 >= len(s) {
			out = append(out, s[i])
			continue
		}
		i++
		switch s[i] {
		case 'b':
			out = append(out, '\b')
		case 'f':
			out = append(out, '\f')
		case 'n':
			out = append(out, '\n')
		case 'r':
			out = append(out, '\r')
		case 't':
			out = append(out, '\t')
		case 'u':
			r := hex4(s[i+1:])
			i += 4
			if low, ok := strings.CutPrefix(s[min(i+1, len(s)):], `\u`); ok {
				if pair := utf16.DecodeRune(r, hex4(low)); pair != utf8.RuneError {
					r = pair
					i += 6
				}
			}
			out = appendWTF8(out, r)
		default:
			out = append(out, s[i])
		}
	}
	return string(out)
}

func hex4(s string) rune {
	n, _ := strconv.ParseUint(s[:min(4, len(s))], 16, 16)
	return rune(n)
}

// Dotted joins the keys of p by dots. It is not always unique in a tree.
func (p Path) Dotted() string {
	s := string(p)
	// Nearly every path is strings without escapes: no key need be decoded.
	if strings.IndexByte(s, '\\') < 0 && strings.IndexByte(s, otherMark) < 0 {
		return dottedPlain(strings.TrimSuffix(strings.TrimPrefix(s, "["), "]"))
	}
	keys := p.Keys()
	texts := make([]string, len(keys))
	for i, k := range keys {
		texts[i] = k.String()
	}
	return strings.Join(texts, ".")
}

// dottedPlain is the dotted form of the inside of a path without escapes.
func dottedPlain(s string) string {
	first, rest, _ := cutPlain(s)
	if rest == "" {
		return first
	}
	var b strings.Builder
	b.Grow(len(s))
	b.WriteString(first)
	for more := true; more; {
		var text string
		text, rest, more = cutPlain(rest)
		b.WriteByte('.')
		b.WriteString(text)
	}
	return b.String()
}

// cutPlain takes the first key's text off s.
func cutPlain(s string) (text, rest string, more bool) {
	if inside, ok := strings.CutPrefix(s, `"`); ok {
		text, rest, _ = strings.Cut(inside, `"`)
		return text, strings.TrimPrefix(rest, ","), rest != ""
	}
	return strings.Cut(s, ",")
}

// JSON is p as a JSON list of strings and integers for machines to read. Unlike
// the path itself it does not mark keys that cannot be addressed.
func (p Path) JSON() string {
	if strings.IndexByte(string(p), otherMark) < 0 {
		return string(p)
	}
	buf := []byte{'['}
	for _, k := range p.Keys() {
		if k.kind == keyOther {
			k.kind = keyString
		}
		buf = appendKey(buf, k)
	}
	return string(append(buf, ']'))
}

// Addressable reports whether every key of p can be written in a rule.
func (p Path) Addressable() bool {
	if strings.IndexByte(string(p), otherMark) < 0 {
		return true
	}
	for _, k := range p.Keys() {
		if !k.Addressable() {
			return false
		}
	}
	return true
}
