package pytree

import (
	"fmt"
	"math/big"
)

// describe says in a few words what n is, for a message.
func describe(n Node) string {
	switch n := n.(type) {
	case *Container:
		return fmt.Sprintf("%s %s of %d", kindNames[n.Kind], Printable(n.Type), len(n.Entries))
	case *Tensor:
		return fmt.Sprintf("tensor %s %s", Printable(string(n.DType)), ShapeString(n.Shape))
	case *Scalar:
		text := n.Type() + valueText(n.V)
		if n.Class != "" {
			text = Printable(n.Class) + " " + text
		}
		return text
	case *Opaque:
		return fmt.Sprintf("opaque %s %s", Printable(n.Type), quoteShort(n.Text))
	case *Ref:
		return "reference to " + shownPath(n.Path)
	}
	return "nothing"
}

var kindNames = map[ContainerKind]string{Mapping: "mapping", Sequence: "sequence", Object: "object"}

// valueText is a scalar's value behind a space, as far as that is short.
func valueText(v any) string {
	switch v := v.(type) {
	case nil:
		return ""
	case string:
		return " " + quoteShort(v)
	case []byte:
		return " " + quoteShort(string(v))
	case *Long:
		return fmt.Sprintf(" of %d bytes", v.Size())
	case *big.Int:
		return fmt.Sprintf(" of %d bits", v.BitLen())
	}
	return fmt.Sprintf(" %v", v)
}
