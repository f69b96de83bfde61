package inspect

import (
	"fmt"
	"math"
	"math/big"
	"strconv"
	"strings"
)

// Size is a number of bytes for people: "384 B", "1.2 GiB".
func Size(n uint64) string {
	return scaled(n, 1024, 1024, []string{" B", " KiB", " MiB", " GiB", " TiB", " PiB", " EiB"})
}

// Count is a number of things for people: "1532", "312 M".
func Count(n uint64) string {
	return scaled(n, 1000, 100_000, []string{"", " K", " M", " G", " T", " P", " E"})
}

// scaled writes n below exact as it is, and what is greater with a unit: one
// decimal below a hundred. It never rounds up to the next unit.
func scaled(n uint64, step float64, exact uint64, units []string) string {
	if n < exact {
		return strconv.FormatUint(n, 10) + units[0]
	}
	v, u := float64(n), 0
	for v >= step && u < len(units)-1 {
		v /= step
		u++
	}
	if v < 100 {
		return fmt.Sprintf("%.1f%s", math.Floor(v*10)/10, units[u])
	}
	return fmt.Sprintf("%.0f%s", math.Floor(v), units[u])
}

// appendFloat writes a float as JSON, so that it reads back as a float and as
// the same one: "1.0", "1e-08", "-0.0". What JSON has no number for is a string.
func appendFloat(buf []byte, f float64) []byte {
	switch {
	case math.IsNaN(f):
		return append(buf, `"NaN"`...)
	case math.IsInf(f, 1):
		return append(buf, `"Infinity"`...)
	case math.IsInf(f, -1):
		return append(buf, `"-Infinity"`...)
	}
	return append(buf, floatText(f)...)
}

// floatText writes a finite float as Python does.
func floatText(f float64) string {
	format := byte('f')
	if a := math.Abs(f); a != 0 && (a < 1e-4 || a >= 1e16) {
		format = 'e'
	}
	s := strconv.FormatFloat(f, format, -1, 64)
	if format == 'f' && strings.IndexByte(s, '.') < 0 && !math.IsNaN(f) && !math.IsInf(f, 0) {
		s += ".0"
	}
	return s
}

// maxExact is the greatest integer up to which every one is a float64, which is
// what many readers of JSON make of a number.
const maxExact = 1 << 53

// appendInt writes an integer as JSON, beyond 2^53 as a string.
func appendInt(buf []byte, n int64) []byte {
	if n >= -maxExact && n <= maxExact {
		return strconv.AppendInt(buf, n, 10)
	}
	return append(strconv.AppendInt(append(buf, '"'), n, 10), '"')
}

func appendUint(buf []byte, n uint64) []byte {
	if n <= maxExact {
		return strconv.AppendUint(buf, n, 10)
	}
	return append(strconv.AppendUint(append(buf, '"'), n, 10), '"')
}

// maxDecimal is how many bits an integer may have to be written in decimal,
// which takes more than linear time; a longer one is in hexadecimal.
const maxDecimal = 1 << 16

// appendBig writes an integer as a JSON string.
func appendBig(buf []byte, n *big.Int) []byte {
	buf = append(buf, '"')
	if n.BitLen() <= maxDecimal {
		buf = n.Append(buf, 10)
	} else {
		if n.Sign() < 0 {
			buf = append(buf, '-')
		}
		buf = new(big.Int).Abs(n).Append(append(buf, "0x"...), 16)
	}
	return append(buf, '"')
}
