package pt

import (
	"encoding/binary"
	"fmt"
	"math/big"
	"strings"

	"ckpt/pickle"
)

// knownText is a short printed form of an object of the standard library that
// has no parts to show. It is at the given depth of what is being printed.
func knownText(o *pickle.Object, depth int) (string, bool) {
	if o.Kind != pickle.Call && o.Kind != pickle.New || len(o.Items) < 2 {
		return "", false
	}
	args, ok := tuple(o.Items[1])
	if !ok {
		return "", false
	}
	name := callee(o)
	if name == "uuid.UUID" {
		return uuidText(o)
	}
	if len(o.State()) > 0 || len(o.ListItems()) > 0 || len(o.DictItems()) > 0 || len(o.SetItems()) > 0 {
		return "", false
	}
	switch name {
	case "datetime.datetime", "datetime.date", "datetime.time":
		return dateText(name, args, depth)
	case "datetime.timedelta":
		return timedeltaText(args)
	case "datetime.timezone":
		if len(args) >= 1 {
			if zone := offsetText(args[0]); zone == "+00:00" {
				return "UTC", true
			} else if zone != "" {
				return "UTC" + zone, true
			}
		}
	case "decimal.Decimal", "fractions.Fraction", "_pydecimal.Decimal":
		if len(args) == 1 {
			return str(args[0])
		}
		if len(args) == 2 && args[0].Kind() == pickle.Int && args[1].Kind() == pickle.Int {
			return repr(args[0], 0) + "/" + repr(args[1], 0), true
		}
	case "builtins.complex":
		if len(args) == 2 && args[0].Kind() == pickle.Float && args[1].Kind() == pickle.Float {
			return complexText(args[0].Float(), args[1].Float()), true
		}
	case "builtins.range", "builtins.slice":
		return simpleCall(name[strings.LastIndexByte(name, '.')+1:], args)
	}
	if module, class, _ := strings.Cut(name, "."); module == "pathlib" || strings.HasPrefix(name, "pathlib.") {
		if strings.HasSuffix(class, "Path") {
			return pathText(class, args)
		}
	}
	return "", false
}

func simpleCall(name string, args []pickle.Value) (string, bool) {
	if len(args) > 3 {
		return "", false
	}
	for _, a := range args {
		if !plainKey(a) || a.Kind() == pickle.Tuple {
			return "", false
		}
	}
	return name + reprArgs(args, 0), true
}

func complexText(re, im float64) string {
	trim := func(f float64) string { return strings.TrimSuffix(reprFloat(f), ".0") }
	if re == 0 && 1/re > 0 {
		return trim(im) + "j"
	}
	sign := "+"
	if im < 0 || im == 0 && 1/im < 0 {
		sign = ""
	}
	return "(" + trim(re) + sign + trim(im) + "j)"
}

func pathText(class string, args []pickle.Value) (string, bool) {
	sep := "/"
	if strings.Contains(class, "Windows") {
		sep = `\`
	}
	const longest, most = 4096, 256
	if len(args) > most {
		return "", false
	}
	var b strings.Builder
	for i, a := range args {
		part, ok := str(a)
		if !ok || b.Len()+len(part) > longest {
			return "", false
		}
		if i > 0 && !strings.HasSuffix(b.String(), sep) {
			b.WriteString(sep)
		}
		b.WriteString(part)
	}
	if b.Len() == 0 {
		return ".", true
	}
	return b.String(), true
}

// uuidText prints a UUID, which is pickled by its state {"int": n}.
func uuidText(o *pickle.Object) (string, bool) {
	const few = 8 // "int", and "is_safe" since Python 3.8
	if len(o.State()) != 1 || stateSize(o.State()[0]) > few {
		return "", false
	}
	pairs, form := stateItems(o.State()[0])
	if form == otherState {
		return "", false
	}
	for i := 0; i+1 < len(pairs); i += 2 {
		n, ok := bigOf(pairs[i+1])
		if !ok || n.Sign() < 0 || n.BitLen() > 128 {
			continue
		}
		if k, _ := str(pairs[i]); k == "int" {
			b := n.FillBytes(make([]byte, 16))
			return fmt.Sprintf("%x-%x-%x-%x-%x", b[:4], b[4:6], b[6:8], b[8:10], b[10:]), true
		}
	}
	return "", false
}

// dateText prints the packed bytes by which the datetime module pickles itself.
func dateText(name string, args []pickle.Value, depth int) (string, bool) {
	if len(args) == 0 || len(args) > 2 {
		return "", false
	}
	var raw []byte
	switch v := args[0]; v.Kind() {
	case pickle.Bytes, pickle.Raw:
		raw = []byte(v.Str())
	case pickle.Call:
		if !isLatin1Call(v) {
			return "", false
		}
		inner, _ := tuple(v.Obj().Items[1])
		b, err := latin1(inner[0].Str())
		if err != nil {
			return "", false
		}
		raw = b
	default:
		return "", false
	}
	text := ""
	switch {
	case name == "datetime.date" && len(raw) == 4:
		text = fmt.Sprintf("%04d-%02d-%02d", binary.BigEndian.Uint16(raw), raw[2], raw[3])
	case name == "datetime.time" && len(raw) == 6:
		text = clock(raw[0]&0x7F, raw[1:])
	case name == "datetime.datetime" && len(raw) == 10:
		text = fmt.Sprintf("%04d-%02d-%02d %s", binary.BigEndian.Uint16(raw), raw[2]&0x7F, raw[3], clock(raw[4], raw[5:]))
	default:
		return "", false
	}
	if len(args) == 2 && args[1].Kind() != pickle.None {
		text += zoneText(args[1], depth)
	}
	return text, true
}

// clock prints an hour and the bytes of minute, second and microsecond.
func clock(hour byte, rest []byte) string {
	s := fmt.Sprintf("%02d:%02d:%02d", hour, rest[0], rest[1])
	if us := int(rest[2])<<16 | int(rest[3])<<8 | int(rest[4]); us > 0 {
		s += fmt.Sprintf(".%06d", us)
	}
	return s
}

// zoneText is the offset of a timezone as it ends a date, or its name.
func zoneText(v pickle.Value, depth int) string {
	if v.Kind() == pickle.Call && callee(v.Obj()) == "datetime.timezone" {
		if args, _ := tuple(v.Obj().Items[1]); len(args) >= 1 {
			if text := offsetText(args[0]); text != "" {
				return text
			}
		}
	}
	return " " + repr(v, depth+1)
}

// offsetText prints a timedelta as an offset from UTC, or is "".
func offsetText(v pickle.Value) string {
	if v.Kind() != pickle.Call {
		return ""
	}
	d, ok := timedelta(v.Obj())
	if !ok {
		return ""
	}
	sign := "+"
	if d.Sign() < 0 {
		sign, d = "-", d.Neg(d)
	}
	minutes := new(big.Int).Div(d, big.NewInt(60_000_000)).Int64()
	return fmt.Sprintf("%s%02d:%02d", sign, minutes/60, minutes%60)
}

// timedelta is a timedelta(days, seconds, microseconds) in microseconds.
func timedelta(o *pickle.Object) (*big.Int, bool) {
	args, ok := tuple(o.Items[1])
	if !ok || callee(o) != "datetime.timedelta" || len(args) != 3 {
		return nil, false
	}
	total := new(big.Int)
	for i, unit := range []int64{86_400_000_000, 1_000_000, 1} {
		if args[i].Kind() != pickle.Int {
			return nil, false
		}
		total.Add(total, new(big.Int).Mul(big.NewInt(args[i].Int()), big.NewInt(unit)))
	}
	return total, true
}

func timedeltaText(args []pickle.Value) (string, bool) {
	if len(args) != 3 || args[0].Kind() != pickle.Int || args[1].Kind() != pickle.Int || args[2].Kind() != pickle.Int {
		return "", false
	}
	d, s, us := args[0].Int(), args[1].Int(), args[2].Int()
	text := fmt.Sprintf("%d:%02d:%02d", s/3600, s/60%60, s%60)
	if us != 0 {
		text += fmt.Sprintf(".%06d", us)
	}
	switch d {
	case 0:
		return text, true
	case 1, -1:
		return fmt.Sprintf("%d day, %s", d, text), true
	}
	return fmt.Sprintf("%d days, %s", d, text), true
}
