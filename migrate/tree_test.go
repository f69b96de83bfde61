package migrate

import (
	"fmt"
	"strconv"
	"strings"
	"testing"

	"ckpt/pytree"
)

// makeTree builds a tree from lines such as
//
//	model/enc.w  float32[8,4] @s1
//	clients/0/epoch  int 3
//	opt/state  {}
//
// Keys are joined by slashes so that they may hold dots; digits are integer
// keys, 'digits' in quotes string keys. Tensors named with the same @storage
// share it. A path's container is a list if all its keys are 0, 1, 2 …
func makeTree(t testing.TB, lines string) *pytree.Tree {
	t.Helper()
	root := &pytree.Container{Kind: pytree.Mapping, Type: "dict"}
	storages := make(map[string]*pytree.Storage)
	for line := range strings.Lines(lines) {
		line = strings.TrimSpace(line)
		if line == "" {
			continue
		}
		path, value, _ := strings.Cut(line, " ")
		insert(root, testKeys(path), testNode(t, strings.TrimSpace(value), storages))
	}
	return &pytree.Tree{Root: makeLists(root)}
}

func testKeys(path string) []pytree.Key {
	var keys []pytree.Key
	for text := range strings.SplitSeq(path, "/") {
		n, err := strconv.ParseInt(text, 10, 64)
		switch {
		case strings.HasPrefix(text, "~"):
			keys = append(keys, pytree.OtherKey(text[1:]))
		case err == nil:
			keys = append(keys, pytree.IntKey(n))
		default:
			keys = append(keys, pytree.StringKey(strings.Trim(text, "'")))
		}
	}
	return keys
}

func insert(c *pytree.Container, keys []pytree.Key, n pytree.Node) {
	for _, k := range keys[:len(keys)-1] {
		child, ok := c.Get(k)
		if !ok {
			child = &pytree.Container{Kind: pytree.Mapping, Type: "dict"}
			c.Entries = append(c.Entries, pytree.Entry{Key: k, Value: child})
		}
		c = child.(*pytree.Container)
	}
	c.Entries = append(c.Entries, pytree.Entry{Key: keys[len(keys)-1], Value: n})
}

func makeLists(n pytree.Node) pytree.Node {
	c, ok := n.(*pytree.Container)
	if !ok {
		return n
	}
	list := len(c.Entries) > 0
	for i := range c.Entries {
		k, isInt := c.Entries[i].Key.IsInt()
		list = list && isInt && k == int64(i)
		c.Entries[i].Value = makeLists(c.Entries[i].Value)
	}
	if list {
		c.Kind, c.Type = pytree.Sequence, "list"
	}
	return c
}

func testNode(t testing.TB, text string, storages map[string]*pytree.Storage) pytree.Node {
	t.Helper()
	switch {
	case text == "{}":
		return &pytree.Container{Kind: pytree.Mapping, Type: "dict"}
	case text == "[]":
		return &pytree.Container{Kind: pytree.Sequence, Type: "list"}
	case text == "null":
		return &pytree.Scalar{}
	}
	if n, ok := strings.CutPrefix(text, "int "); ok {
		v, err := strconv.ParseInt(n, 10, 64)
		if err != nil {
			t.Fatal(err)
		}
		return &pytree.Scalar{V: v}
	}
	if s, ok := strings.CutPrefix(text, "str "); ok {
		return &pytree.Scalar{V: s}
	}
	if s, ok := strings.CutPrefix(text, "opaque "); ok {
		return &pytree.Opaque{Type: s}
	}
	text, name, _ := strings.Cut(text, " @")
	dtype, dims, ok := strings.Cut(strings.TrimSuffix(text, "]"), "[")
	if !ok {
		t.Fatalf("no such value: %q", text)
	}
	x := &pytree.Tensor{DType: pytree.DType(dtype)}
	for d := range strings.SplitSeq(dims, ",") {
		if d == "" {
			continue
		}
		n, err := strconv.ParseInt(d, 10, 64)
		if err != nil {
			t.Fatal(err)
		}
		x.Shape = append(x.Shape, n)
	}
	x.Storage = storages[name]
	if x.Storage == nil {
		x.Storage = &pytree.Storage{Source: pytree.Bytes(make([]byte, x.Bytes())), Key: name}
		if name != "" {
			storages[name] = x.Storage
		}
	}
	return x
}

// show lists a tree as makeTree reads it, tensors by their storage.
func show(t *pytree.Tree) string {
	var b strings.Builder
	for p, n := range t.Entries() {
		fmt.Fprintf(&b, "%s %s\n", p, showNode(n))
	}
	return b.String()
}

func showNode(n pytree.Node) string {
	switch n := n.(type) {
	case *pytree.Tensor:
		return fmt.Sprintf("%s%s @%s", n.DType, pytree.ShapeString(n.Shape), n.Storage.Key)
	case *pytree.Scalar:
		return fmt.Sprintf("%s %v", n.Type(), n.V)
	case *pytree.Opaque:
		return "opaque " + n.Type
	case *pytree.Ref:
		return "ref " + string(n.Path)
	case *pytree.Container:
		return n.Type
	}
	return "?"
}

func mustRules(t testing.TB, text string) *Rules {
	t.Helper()
	r, findings := ParseRules("r.textproto", []byte(text))
	if len(findings) > 0 {
		t.Fatalf("rules:\n%s\n%+v", text, findings)
	}
	return r
}
