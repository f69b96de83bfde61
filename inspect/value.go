package inspect

import (
	"encoding/hex"
	"fmt"
	"io"
	"math"
	"math/big"
	"strings"

	"ckpt/pytree"
	"ckpt/report"
)

// shortValue and longValue are how many columns of a value the text form shows.
const (
	shortValue = 48
	longValue  = 400
)

// what says in a few words what a leaf or an empty container is.
func what(n pytree.Node, width int) string {
	switch n := n.(type) {
	case *pytree.Tensor:
		return string(n.DType) + " " + pytree.ShapeString(n.Shape)
	case *pytree.Scalar:
		name := n.Type()
		if n.Class != "" {
			name = n.Class
		}
		if text := valueText(n.V, width); text != "" {
			return name + " " + text
		}
		return name
	case *pytree.Opaque:
		return strings.TrimSpace(n.Type + " " + shorten(n.Text, width))
	case *pytree.Ref:
		return "reference to " + shownName(n.Path)
	case *pytree.Container:
		return "empty " + withAttrs(n)
	}
	return ""
}

// withAttrs is a container's type, and what it carries besides its entries.
func withAttrs(c *pytree.Container) string {
	if len(c.Attrs) == 0 {
		return c.Type
	}
	return c.Type + " with " + strings.Join(c.Attrs, ", ")
}

// valueText is a scalar's value, as much of it as fits in width columns.
func valueText(v any, width int) string {
	switch v := v.(type) {
	case nil:
		return ""
	case *big.Int:
		if v.BitLen() > 4*width {
			return fmt.Sprintf("of %d bits", v.BitLen())
		}
	case float64:
		return numberText(v)
	case string:
		return quoted(v, len(v), width)
	case []byte:
		return bytesText(v, len(v), width)
	case *pytree.Long:
		return longPreview(v, width)
	}
	return fmt.Sprint(v)
}

// numberText writes a float that may not be finite.
func numberText(f float64) string {
	if math.IsInf(f, 0) || math.IsNaN(f) {
		return strings.Trim(string(appendFloat(nil, f)), `"`)
	}
	return floatText(f)
}

// quoted shows the begin of a text of n bytes.
func quoted(s string, n, width int) string {
	if len(s) > 4*width {
		s = s[:4*width]
	}
	s = pytree.Printable(strings.ToValidUTF8(s, "\uFFFD"))
	if report.Width(s) <= width && n <= 4*width {
		return `"` + s + `"`
	}
	return fmt.Sprintf(`"%s…" of %s`, head(s, width), Size(uint64(n)))
}

// head is as much of the begin of s as fits in width columns.
func head(s string, width int) string {
	for report.Width(s) > width {
		cut := max(1, len(s)-max(1, (report.Width(s)-width)/2))
		for cut > 0 && s[cut]&0xC0 == 0x80 {
			cut--
		}
		s = s[:cut]
	}
	return s
}

// shorten is the begin of a text that is not quoted.
func shorten(s string, width int) string {
	if len(s) > 8*width {
		s = s[:8*width]
	}
	s = pytree.Printable(s)
	if report.Width(s) <= width {
		return s
	}
	return head(s, width-1) + "…"
}

// bytesText shows the begin of n bytes.
func bytesText(b []byte, n, width int) string {
	if most := width / 2; len(b) > most {
		return fmt.Sprintf("0x%s… of %s", hex.EncodeToString(b[:most/2]), Size(uint64(n)))
	}
	return fmt.Sprintf("0x%s", hex.EncodeToString(b))
}

// longPreview shows the begin of a value that stays in the file.
func longPreview(l *pytree.Long, width int) string {
	size := Size(uint64(l.Size()))
	rc, err := l.Open()
	if err != nil {
		return "of " + size
	}
	defer rc.Close()
	begin := make([]byte, 4*width)
	n, err := io.ReadFull(rc, begin)
	if err != nil && err != io.ErrUnexpectedEOF {
		return "of " + size
	}
	if l.Text {
		return quoted(string(begin[:n]), int(l.Size()), width)
	}
	return bytesText(begin[:n], int(l.Size()), width)
}

// listText shows a sequence of scalars on one line.
func listText(c *pytree.Container, width int) string {
	text := fmt.Sprintf("%s of %d: ", withAttrs(c), len(c.Entries))
	left := width
	for i, e := range c.Entries {
		s := e.Value.(*pytree.Scalar)
		v := valueText(s.V, width/2)
		if s.V == nil {
			v = "null"
		}
		if i > 0 {
			v = ", " + v
		}
		if left -= report.Width(v); left < 0 && i > 0 {
			return text + ", …"
		}
		text += v
	}
	return text
}

// scalarsOnly reports whether c is a sequence of scalars, which one line shows
// better than one for each.
func scalarsOnly(c *pytree.Container) bool {
	if c.Kind != pytree.Sequence || len(c.Entries) == 0 {
		return false
	}
	for i := range c.Entries {
		s, ok := c.Entries[i].Value.(*pytree.Scalar)
		if !ok {
			return false
		}
		if _, long := s.V.(*pytree.Long); long {
			return false
		}
	}
	return true
}
