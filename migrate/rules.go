package migrate

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"unicode/utf8"

	"ckpt/pytree"
	"ckpt/report"
)

// Rules is a rules file.
type Rules struct {
	// File is the name under which findings refer to it.
	File string

	rules    []rule // those that can be followed, in an order of their own
	total    int    // rules in the file, those that cannot be followed included
	findings report.Findings
	broken   bool // the file could not be read at all
}

// Findings is what is wrong with the rules by themselves, whatever the trees:
// rule-syntax, rule-empty and rule-identity. A plan's report has them too.
func (r *Rules) Findings() report.Findings { return slices.Clone(r.findings) }

// Len is how many rules the file has.
func (r *Rules) Len() int { return r.total }

// rule is one rule that can be followed.
type rule struct {
	from, to pattern // at least one is set
	create   bool
	pos      report.Position // of the rule, and of its fields where they are set
	fromPos  report.Position
	toPos    report.Position
}

// pattern is a path in a rule.
type pattern struct {
	text   string // as it was written; empty: none
	exact  bool
	path   pytree.Path // the canonical form of an exact one
	dotted string
	depth  int // how many dotted components it covers: its length
}

func (p pattern) set() bool { return p.text != "" }

// parsePattern reads either form of a path.
func parsePattern(text string) (pattern, error) {
	if !strings.HasPrefix(text, "[") {
		p := pattern{text: text, dotted: text}
		if text != "" {
			p.depth = components(text)
		}
		return p, nil
	}
	path, err := pytree.ParsePath(text)
	if err != nil {
		return pattern{}, err
	}
	p := pattern{text: text, exact: true, path: path, dotted: path.Dotted()}
	if path != pytree.Root {
		p.depth = components(p.dotted)
	}
	return p, nil
}

// components is how many keys a dotted path would have if each dot were a step.
func components(dotted string) int { return strings.Count(dotted, ".") + 1 }

// same reports whether two patterns are written for the same leaves.
func (p pattern) same(q pattern) bool {
	if p.exact || q.exact {
		return p.exact == q.exact && p.path == q.path
	}
	return p.text == q.text
}

// holds reports whether the exact pattern covers the leaf at path.
func (p pattern) holds(path pytree.Path) bool {
	if p.path == pytree.Root {
		return true
	}
	stem := string(p.path[:len(p.path)-1])
	return len(path) > len(stem) && strings.HasPrefix(string(path), stem) && (path[len(stem)] == ',' || path[len(stem)] == ']')
}

// moves reports whether the rule takes values from one place to another.
func (r *rule) moves() bool { return r.from.set() && r.to.set() }

// twofold reports whether the rule's paths read alike in two different forms.
func (r *rule) twofold() bool {
	return r.moves() && !r.create && r.from.dotted == r.to.dotted && !r.from.same(r.to)
}

// ref names the rule in a finding.
func (r *rule) ref() report.RuleRef {
	return report.RuleRef{Position: r.pos, Text: r.text()}
}

func (r *rule) fromRef() report.RuleRef {
	return report.RuleRef{Position: r.fromPos, Text: "from_path " + quote(r.from.text)}
}

func (r *rule) toRef() report.RuleRef {
	return report.RuleRef{Position: r.toPos, Text: "to_path " + quote(r.to.text)}
}

// text is the rule on one line.
func (r *rule) text() string { return ruleText(r.from.text, r.to.text, r.create) }

// ruleText writes a rule on one line.
func ruleText(from, to string, create bool) string {
	var b strings.Builder
	b.WriteString("rule {")
	if from != "" {
		b.WriteString(" from_path: " + quote(from))
	}
	if to != "" {
		b.WriteString(" to_path: " + quote(to))
	}
	if create {
		b.WriteString(" create: true")
	}
	b.WriteString(" }")
	return b.String()
}

// quote writes s as a string of a textproto. What could mislead on a terminal is
// escaped in the way that a textproto is read, so the line stays a rule.
func quote(s string) string {
	b := []byte{'"'}
	for i := 0; i < len(s); {
		r, n := utf8.DecodeRuneInString(s[i:])
		switch {
		case r == '"' || r == '\\':
			b = append(b, '\\', byte(r))
		case r == '\n':
			b = append(b, '\\', 'n')
		case r == utf8.RuneError && n == 1 || r < 0x20 || r == 0x7F:
			b = fmt.Appendf(b, `\x%02x`, s[i])
		case pytree.Printable(s[i:i+n]) == s[i:i+n]:
			b = append(b, s[i:i+n]...)
		case r < 0x10000:
			b = fmt.Appendf(b, `\u%04x`, r)
		default:
			b = fmt.Appendf(b, `\U%08x`, r)
		}
		i += n
	}
	return string(append(b, '"'))
}

// sortRules puts rules into an order that does not depend on the file's, so
// that neither does anything that is derived from them.
func sortRules(rules []rule) {
	slices.SortStableFunc(rules, func(a, b rule) int {
		return cmp.Or(strings.Compare(a.from.text, b.from.text), strings.Compare(a.to.text, b.to.text),
			cmpBool(a.create, b.create), a.pos.Compare(b.pos))
	})
}

func cmpBool(a, b bool) int {
	switch {
	case a == b:
		return 0
	case b:
		return -1
	}
	return 1
}
