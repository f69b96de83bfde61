package formattest

import (
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"io"
	"math/big"
	"strconv"
	"strings"

	"ckpt/formats"
	"ckpt/pytree"
)

// layout says whether a listing tells how a tensor's elements lie in its
// storage, which is no part of its value.
type layout bool

const (
	valuesOnly layout = false
	withLayout layout = true
)

// list is all that a checkpoint holds, a line each: every leaf with its value or
// digest, and every container that is empty or not plain. Its error is that a
// part of the content cannot be read.
func list(c *formats.Checkpoint, how layout) ([]string, error) {
	l := &lister{how: how, digests: make(map[*pytree.Tensor]string), first: make(map[*pytree.Storage]pytree.Path)}
	if err := l.examine(c.Tree); err != nil {
		return nil, err
	}
	var errs []error
	c.Tree.Walk(pytree.Visitor{
		Enter: func(p pytree.Path, c *pytree.Container) bool {
			if !c.Plain() || len(c.Attrs) > 0 || len(c.Entries) == 0 {
				l.add(p, "%s %s%s", []string{"mapping", "sequence", "object"}[c.Kind], text(c.Type), attrs(c))
			}
			return true
		},
		Leaf: func(p pytree.Path, n pytree.Node) bool {
			errs = append(errs, l.leaf(p, n))
			return true
		},
	})
	return l.lines, errors.Join(errs...)
}

type lister struct {
	how     layout
	lines   []string
	digests map[*pytree.Tensor]string
	first   map[*pytree.Storage]pytree.Path
}

func (l *lister) add(p pytree.Path, format string, args ...any) {
	l.lines = append(l.lines, string(p)+" "+fmt.Sprintf(format, args...))
}

// examine takes the digest of every tensor.
func (l *lister) examine(t *pytree.Tree) error {
	var tensors []*pytree.Tensor
	for _, n := range t.Leaves() {
		if x, ok := n.(*pytree.Tensor); ok {
			tensors = append(tensors, x)
		}
	}
	for i, e := range pytree.Examine(context.Background(), tensors, pytree.ExamOptions{Digest: true}) {
		if e.Err != nil && !errors.Is(e.Err, pytree.ErrExpanded) {
			return e.Err
		}
		// Half of a SHA-256 tells two tensors apart as surely, and keeps lines short.
		d := strings.TrimPrefix(e.Digest, "sha256:")
		l.digests[tensors[i]] = d[:len(d)/2]
	}
	return nil
}

func (l *lister) leaf(p pytree.Path, n pytree.Node) error {
	switch n := n.(type) {
	case *pytree.Tensor:
		l.tensor(p, n)
	case *pytree.Scalar:
		value, err := scalarText(n.V)
		if err != nil {
			return fmt.Errorf("%s: %w", p, err)
		}
		class := ""
		if n.Class != "" {
			class = " (" + text(n.Class) + ")"
		}
		l.add(p, "%s%s%s", n.Type(), class, value)
	case *pytree.Opaque:
		l.add(p, "opaque %s %s", text(n.Type), strconv.QuoteToASCII(n.Text))
	case *pytree.Ref:
		l.add(p, "reference to %s", n.Path)
	case *pytree.Container: // an empty one, which has its line already
	default:
		return fmt.Errorf("%s: a node of type %T", p, n)
	}
	return nil
}

func (l *lister) tensor(p pytree.Path, t *pytree.Tensor) {
	more := ""
	if l.how == withLayout {
		if !t.Contiguous() {
			more += " strides " + pytree.ShapeString(t.Strides)
		}
		if t.Signs != 0 {
			more += fmt.Sprintf(" signs %b", t.Signs)
		}
	}
	if at, ok := l.first[t.Storage]; ok {
		more += " shares " + string(at)
	} else {
		l.first[t.Storage] = p
	}
	l.add(p, "tensor %s %s %s%s", text(string(t.DType)), pytree.ShapeString(t.Shape), l.digests[t], more)
}

func scalarText(v any) (string, error) {
	switch v := v.(type) {
	case nil:
		return "", nil
	case bool, int64, *big.Int:
		return fmt.Sprintf(" %v", v), nil
	case float64:
		return " " + strconv.FormatFloat(v, 'g', -1, 64), nil
	case string:
		return " " + strconv.QuoteToASCII(v), nil
	case []byte:
		return " " + strconv.QuoteToASCII(string(v)), nil
	case *pytree.Long:
		rc, err := v.Open()
		if err != nil {
			return "", err
		}
		defer rc.Close()
		h := sha256.New()
		n, err := io.Copy(h, rc)
		if err == nil && n != v.Size() {
			err = fmt.Errorf("%d bytes where %d were announced", n, v.Size())
		}
		return fmt.Sprintf(" of %d bytes, %x", n, h.Sum(nil)[:16]), err
	}
	return "", fmt.Errorf("a scalar of type %T", v)
}

func attrs(c *pytree.Container) string {
	if len(c.Attrs) == 0 {
		return ""
	}
	return fmt.Sprintf(" with %+q", c.Attrs)
}

// text is s without what would break a line.
func text(s string) string {
	q := strconv.QuoteToASCII(s)
	if q[1:len(q)-1] == s && s != "" {
		return s
	}
	return q
}

// difference is the first line in which two listings differ, or "".
func difference(want, got []string) string {
	for i := range max(len(want), len(got)) {
		w, g := "nothing", "nothing"
		if i < len(want) {
			w = want[i]
		}
		if i < len(got) {
			g = got[i]
		}
		if w != g {
			return fmt.Sprintf("line %d:\n\twant %s\n\tgot  %s", i+1, w, g)
		}
	}
	return ""
}
