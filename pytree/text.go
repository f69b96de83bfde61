package pytree

import (
	"strings"
	"unicode"
	"unicode/utf8"
)

const hexDigits = "0123456789abcdef"

// AppendJSONString appends s as a JSON string. It escapes as little as JSON
// allows, so that one text has one form. Python strings may hold lone
// surrogates, which arrive as three-byte sequences that are not UTF-8: they are
// written as \uXXXX, which Python's and JavaScript's readers give back; any
// other byte that is not UTF-8 becomes U+FFFD.
func AppendJSONString(buf []byte, s string) []byte {
	buf = append(buf, '"')
	start := 0
	for i := 0; i < len(s); {
		c := s[i]
		if c >= 0x20 && c != '"' && c != '\\' && c < utf8.RuneSelf {
			i++
			continue
		}
		if c >= utf8.RuneSelf {
			r, n := utf8.DecodeRuneInString(s[i:])
			if r != utf8.RuneError || n > 1 {
				i += n
				continue
			}
			buf = append(buf, s[start:i]...)
			if sur, ok := surrogate(s[i:]); ok {
				buf = appendUnicodeEscape(buf, sur)
				i += 3
			} else {
				buf = append(buf, "\uFFFD"...)
				i++
			}
			start = i
			continue
		}
		buf = append(buf, s[start:i]...)
		switch c {
		case '"', '\\':
			buf = append(buf, '\\', c)
		case '\n':
			buf = append(buf, '\\', 'n')
		case '\r':
			buf = append(buf, '\\', 'r')
		case '\t':
			buf = append(buf, '\\', 't')
		default:
			buf = appendUnicodeEscape(buf, rune(c))
		}
		i++
		start = i
	}
	return append(append(buf, s[start:]...), '"')
}

func appendUnicodeEscape(buf []byte, r rune) []byte {
	return append(buf, '\\', 'u', hexDigits[r>>12&15], hexDigits[r>>8&15], hexDigits[r>>4&15], hexDigits[r&15])
}

// surrogate decodes a lone surrogate at the start of s, as Python's
// "surrogatepass" writes it.
func surrogate(s string) (rune, bool) {
	if len(s) < 3 || s[0] != 0xED || s[1] < 0xA0 || s[1] > 0xBF || s[2]&0xC0 != 0x80 {
		return 0, false
	}
	return rune(s[0]&0x0F)<<12 | rune(s[1]&0x3F)<<6 | rune(s[2]&0x3F), true
}

// isWTF8 reports whether s is UTF-8 but for lone surrogates. Two that together
// would make a pair are not lone: in JSON the two would read as one character.
func isWTF8(s string) bool {
	if utf8.ValidString(s) {
		return true
	}
	lead := false // the last character was the first half of a pair
	for len(s) > 0 {
		r, n := utf8.DecodeRuneInString(s)
		half := false
		if r == utf8.RuneError && n == 1 {
			sur, ok := surrogate(s)
			if !ok || lead && sur >= 0xDC00 {
				return false
			}
			half, n = sur < 0xDC00, 3
		}
		lead = half
		s = s[n:]
	}
	return true
}

// appendWTF8 encodes r as UTF-8, surrogates included.
func appendWTF8(buf []byte, r rune) []byte {
	if r >= 0xD800 && r <= 0xDFFF {
		return append(buf, 0xE0|byte(r>>12), 0x80|byte(r>>6)&0x3F, 0x80|byte(r)&0x3F)
	}
	return utf8.AppendRune(buf, r)
}

// Printable is s with everything escaped that could mislead whoever reads it on
// a terminal: control characters, escape sequences, bidirectional overrides,
// blank and invisible marks, and bytes that are not UTF-8. It is for the eye
// alone: a backslash stays as it is, so two texts may print alike.
func Printable(s string) string {
	clean := true
	for i, r := range s {
		if (r == utf8.RuneError && !strings.HasPrefix(s[i:], "\uFFFD")) || !shown(r) {
			clean = false
			break
		}
	}
	if clean {
		return s
	}
	var b []byte
	for i := 0; i < len(s); {
		r, n := utf8.DecodeRuneInString(s[i:])
		switch {
		case r == utf8.RuneError && n == 1:
			if sur, ok := surrogate(s[i:]); ok {
				b = appendUnicodeEscape(b, sur)
				n = 3
				break
			}
			b = append(b, '\\', 'x', hexDigits[s[i]>>4], hexDigits[s[i]&15])
		case shown(r):
			b = append(b, s[i:i+n]...)
		case r == '\n':
			b = append(b, '\\', 'n')
		case r == '\r':
			b = append(b, '\\', 'r')
		case r == '\t':
			b = append(b, '\\', 't')
		case r < 0x80:
			b = append(b, '\\', 'x', hexDigits[r>>4], hexDigits[r&15])
		case r < 0x10000:
			b = appendUnicodeEscape(b, r)
		default:
			b = append(b, '\\', 'U')
			for shift := 28; shift >= 0; shift -= 4 {
				b = append(b, hexDigits[r>>shift&15])
			}
		}
		i += n
	}
	return string(b)
}

// shown reports whether r can be printed as it is. Besides what Unicode holds
// for graphic, that leaves out what a terminal shows as nothing or as a gap:
// spaces, format characters, fillers, variation selectors, the blank of Braille.
func shown(r rune) bool {
	if r < utf8.RuneSelf {
		return r >= ' ' && r != 0x7F
	}
	return unicode.IsGraphic(r) && r != '\u2800' &&
		!unicode.In(r, unicode.Zs, unicode.Cf, unicode.Other_Default_Ignorable_Code_Point, unicode.Variation_Selector)
}

// NaturalLess orders names as people count: digits by value ("h.2" before
// "h.10"), everything else by bytes.
func NaturalLess(a, b string) bool { return NaturalCompare(a, b) < 0 }

// NaturalCompare is negative, zero or positive as a sorts before, with or after
// b in natural order. It is a total order: names that differ compare unequal.
func NaturalCompare(a, b string) int {
	i, j := 0, 0
	for i < len(a) && j < len(b) {
		if isDigit(a[i]) && isDigit(b[j]) {
			ai, bj := digitsEnd(a, i), digitsEnd(b, j)
			x, y := strings.TrimLeft(a[i:ai], "0"), strings.TrimLeft(b[j:bj], "0")
			if len(x) != len(y) {
				return len(x) - len(y)
			}
			if c := strings.Compare(x, y); c != 0 {
				return c
			}
			i, j = ai, bj
			continue
		}
		if a[i] != b[j] {
			return int(a[i]) - int(b[j])
		}
		i++
		j++
	}
	if c := (len(a) - i) - (len(b) - j); c != 0 {
		return c
	}
	return strings.Compare(a, b)
}

func isDigit(c byte) bool { return c >= '0' && c <= '9' }

func digitsEnd(s string, i int) int {
	for i < len(s) && isDigit(s[i]) {
		i++
	}
	return i
}
