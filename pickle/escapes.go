package pickle

import (
	"errors"
	"unicode/utf8"
)

// The two decoders below take src piecewise. Unless end is true they stop before
// an escape that src may cut off; used tells how much of src they took. With an
// error, used is where the bad escape begins. What they write is at most twice
// as long as src.

var (
	errShortEscape = errors.New("an escape is cut off")
	errHexEscape   = errors.New("an escape has a digit that is not hexadecimal")
	errRange       = errors.New("an escape is beyond the last Unicode code point")
)

// maxEscape is the length of the longest escape, \UXXXXXXXX.
const maxEscape = 10

// decodeRawUnicode appends to dst, as UTF-8, what Python's raw-unicode-escape
// codec reads in src: Latin-1 in which \uXXXX and \UXXXXXXXX are escapes, unless
// the backslash is itself preceded by an odd number of backslashes.
func decodeRawUnicode(dst, src []byte, end bool) (out []byte, used int, err error) {
	for i := 0; i < len(src); {
		c := src[i]
		if c != '\\' {
			if c < utf8.RuneSelf {
				dst = append(dst, c)
			} else {
				dst = append(dst, 0xc0|c>>6, 0x80|c&0x3f)
			}
			i++
			continue
		}
		if i+1 == len(src) {
			if !end {
				return dst, i, nil
			}
			dst = append(dst, c)
			i++
			continue
		}
		digits := 0
		switch src[i+1] {
		case 'u':
			digits = 4
		case 'U':
			digits = 8
		case '\\':
			dst = append(dst, '\\', '\\')
			i += 2
			continue
		default:
			dst = append(dst, '\\')
			i++
			continue
		}
		if len(src)-i < 2+digits {
			if !end {
				return dst, i, nil
			}
			return dst, i, errShortEscape
		}
		r, err := hex(src[i+2 : i+2+digits])
		if err != nil {
			return dst, i, err
		}
		if r > utf8.MaxRune {
			return dst, i, errRange
		}
		dst = appendRune(dst, rune(r))
		i += 2 + digits
	}
	return dst, len(src), nil
}

// appendRune is utf8.AppendRune that writes surrogates, too.
func appendRune(dst []byte, r rune) []byte {
	if 0xd800 <= r && r <= 0xdfff {
		return append(dst, 0xe0|byte(r>>12), 0x80|byte(r>>6)&0x3f, 0x80|byte(r)&0x3f)
	}
	return utf8.AppendRune(dst, r)
}

func hex(digits []byte) (uint32, error) {
	var v uint32
	for _, c := range digits {
		switch {
		case '0' <= c && c <= '9':
			c -= '0'
		case 'a' <= c && c <= 'f':
			c -= 'a' - 10
		case 'A' <= c && c <= 'F':
			c -= 'A' - 10
		default:
			return 0, errHexEscape
		}
		v = v<<4 | uint32(c)
	}
	return v, nil
}

// simpleEscape has the value of each escape of one letter, and 0 for others.
var simpleEscape = [256]byte{
	'\\': '\\', '\'': '\'', '"': '"',
	'a': 7, 'b': 8, 't': 9, 'n': 10, 'v': 11, 'f': 12, 'r': 13,
}

// decodeStringEscape appends to dst what a string literal of Python 2 with the
// inside src has as bytes. An escape that Python does not know stays as it is.
func decodeStringEscape(dst, src []byte, end bool) (out []byte, used int, err error) {
	for i := 0; i < len(src); {
		c := src[i]
		if c != '\\' {
			dst = append(dst, c)
			i++
			continue
		}
		if !end && len(src)-i < 4 {
			return dst, i, nil
		}
		if i+1 == len(src) {
			return dst, i, errShortEscape
		}
		switch c = src[i+1]; {
		case simpleEscape[c] != 0:
			dst = append(dst, simpleEscape[c])
			i += 2
		case '0' <= c && c <= '7':
			v, n := 0, 1
			for ; n <= 3 && i+n < len(src) && '0' <= src[i+n] && src[i+n] <= '7'; n++ {
				v = v<<3 | int(src[i+n]-'0')
			}
			dst = append(dst, byte(v))
			i += n
		case c == 'x':
			if len(src)-i < 4 {
				return dst, i, errShortEscape
			}
			v, err := hex(src[i+2 : i+4])
			if err != nil {
				return dst, i, err
			}
			dst = append(dst, byte(v))
			i += 4
		case c == '\n':
			i += 2
		default:
			dst = append(dst, '\\', c)
			i += 2
		}
	}
	return dst, len(src), nil
}
