package report

import (
	"embed"
	"strings"
)

//go:embed explain/*.md
var pages embed.FS

// code is an entry of the registry.
type code struct {
	name     string
	severity Severity
	// consequence is what follows if nothing is done, for the end of a report.
	consequence string
}

// registry lists every code in the order of reports: what is about leaves
// first, what is about rules after it.
var registry = []code{
	{"destination-unfilled", Error, "B would be left with its initialised value here, and no rule says that this is meant"},
	{"source-unmapped", Error, "A's value would be lost here, and no rule says that this is meant"},
	{"no-destination", Error, "a rule sends A's value to a place that does not exist: it would be lost"},
	{"destination-collision", Error, "several values are sent to one place, and only one of them could stay"},
	{"kind-mismatch", Error, "A's value is another kind of thing than what B holds here: the new program could not use it"},
	{"shape-mismatch", Error, "A's tensor does not fit B's shape: loading it would fail, or broadcast without a word"},
	{"dtype-mismatch", Error, "A's elements are of another type than B's: loading would fail, or convert them without a word"},
	{"ambiguous-path", Error, "a dotted path means several leaves: write the exact form, a JSON list of keys, in the rule"},
	{"scalar-type", Warning, "the value is carried over as it is, with A's type instead of B's"},
	{"tie-mismatch", Warning, "B ties these tensors, A holds different values for them: they will no longer be one"},
	{"rule-syntax", Error, "the rule cannot be read, so it does nothing"},
	{"rule-empty", Error, "a rule without from_path and to_path does nothing"},
	{"rule-identity", Error, "a rule from a path to itself does nothing: what exists on both sides is preserved anyway"},
	{"rule-conflict", Error, "equally long rules say different things about the same leaves: none of them is followed"},
	{"rule-unused-from", Error, "the rule does nothing: mistyped, or A is not the checkpoint that it was written for"},
	{"rule-unused-to", Error, "the rule has no place to fill or keep: mistyped, or B is not the checkpoint that it was written for"},
}

var ranks = func() map[string]int {
	m := make(map[string]int, len(registry))
	for i := range registry {
		m[registry[i].name] = i
	}
	return m
}()

// rank is a code's place in reports; unknown codes come last.
func rank(name string) int {
	if r, ok := ranks[name]; ok {
		return r
	}
	return len(registry)
}

// Codes lists every code in the order of reports.
func Codes() []string {
	names := make([]string, len(registry))
	for i := range registry {
		names[i] = registry[i].name
	}
	return names
}

// SeverityOf is the severity that findings with this code have.
func SeverityOf(name string) Severity {
	if r, ok := ranks[name]; ok {
		return registry[r].severity
	}
	return Error
}

// Consequence is one line, without a final period, that says what follows from
// findings with this code if nothing is done.
func Consequence(name string) string {
	if r, ok := ranks[name]; ok {
		return registry[r].consequence
	}
	return ""
}

// consequenceAlone is the same where there is no template to speak of.
func consequenceAlone(name string) string {
	if text, ok := alone[name]; ok {
		return text
	}
	return Consequence(name)
}

// alone is the consequences that read differently without a template.
var alone = map[string]string{
	"rule-unused-to": "the rule has nothing to keep: without a template there is no other tree than A's",
	"rule-identity":  "a rule from a path to itself does nothing: what no rule covers stays where it is",
}

// Explain is the page on a code, in Markdown, and whether there is such a code.
func Explain(name string) (string, bool) {
	if _, ok := ranks[name]; !ok {
		return "", false
	}
	page, err := pages.ReadFile("explain/" + name + ".md")
	if err != nil {
		return "", false
	}
	return strings.TrimSpace(string(page)) + "\n", true
}
