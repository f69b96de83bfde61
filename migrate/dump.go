package migrate

import (
	"strings"

	"ckpt/pytree"
)

// DumpSource is a rule line for each leaf of an old tree, ready to edit. Leaves
// that no rule can name are a comment.
func DumpSource(t *pytree.Tree) []string {
	return dump(t, func(path string) string { return ruleText(path, "", false) })
}

// DumpDestination is a rule line for each leaf of a new tree, ready to edit.
func DumpDestination(t *pytree.Tree) []string {
	return dump(t, func(path string) string { return ruleText("", path, false) })
}

func dump(t *pytree.Tree, line func(string) string) []string {
	s := newSide(t)
	lines := make([]string, len(s.leaves))
	for i := range s.leaves {
		if path, ok := s.rulePath(int32(i)); ok {
			lines[i] = line(path)
		} else {
			lines[i] = "# no rule can name " + pytree.Printable(string(s.leaves[i].path))
		}
	}
	return lines
}

// rulePath is how a rule names a leaf: by its dotted path, or by the exact one
// where the dotted one is empty, is shared, or would be taken for an exact one.
// It reports false for a leaf that cannot be named: one of its keys is neither
// a string nor an integer, or is not text.
func (s *side) rulePath(i int32) (string, bool) {
	l := &s.leaves[i]
	if !l.addressable() || !isText(l.dotted) {
		return "", false
	}
	if s.shared(i) || l.dotted == "" || l.dotted[0] == '[' {
		return string(l.path), true
	}
	return l.dotted, true
}

// isText reports whether a textproto can hold s.
func isText(s string) bool { return strings.ToValidUTF8(s, "") == s }
