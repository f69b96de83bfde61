package report

import (
	"encoding/json"
	"flag"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"ckpt/pytree"
)

var update = flag.Bool("update", false, "rewrite the golden files")

func TestPercent(t *testing.T) {
	tests := []struct {
		part, whole uint64
		want        string
	}{
		{0, 10, "0 %"}, {10, 10, "100 %"}, {0, 0, "100 %"},
		{999_999, 1_000_000, "99.9 %"}, {math.MaxUint64 - 1, math.MaxUint64, "99.9 %"},
		{1, 1_000_000, "<0.1 %"}, {1, 3, "33.3 %"}, {2, 3, "66.7 %"}, {968, 1000, "96.8 %"},
	}
	for _, test := range tests {
		if got := Percent(test.part, test.whole); got != test.want {
			t.Errorf("%d of %d: %s, want %s", test.part, test.whole, got, test.want)
		}
	}
}

func TestTable(t *testing.T) {
	table := Table{Head: []string{"NAME", "N", "LAST"}, Right: []bool{false, true}, Indent: " ", Flex: []int{0}}
	table.Add("幅.weight", "1", "x")
	table.Add("e\u0301", "1234", "")
	table.Add("bad\x1b[0m\u202e", "", "y")
	table.Add("short")
	var b strings.Builder
	if err := table.Write(&b, 0); err != nil {
		t.Fatal(err)
	}
	want := strings.Join([]string{
		" NAME                 N  LAST",
		" 幅.weight            1  x",
		" e\u0301                 1234",
		` bad\x1b[0m\u202e        y`,
		" short", "",
	}, "\n")
	if b.String() != want {
		t.Errorf("got\n%q\nwant\n%q", b.String(), want)
	}
	for width := 1; width < 40; width++ {
		b.Reset()
		if err := table.Write(&b, width); err != nil {
			t.Fatal(err)
		}
		for line := range strings.Lines(b.String()) {
			line = strings.TrimSuffix(line, "\n")
			if strings.HasSuffix(line, " ") {
				t.Errorf("width %d: %q ends in a space", width, line)
			}
			// The other columns need 12, and a column never gets narrower than 16.
			if got := Width(line); got > max(width, 1+minFlex+2+4+2+4) {
				t.Errorf("width %d: %q takes %d columns", width, line, got)
			}
		}
	}
}

// Where the last column does not fit, it goes under its row instead of taking the
// room of the name.
func TestTableUnder(t *testing.T) {
	table := Table{Head: []string{"STATUS", "NAME"}, Flex: []int{1, 2}, Under: true}
	table.Add("bad", "encoder.layers.0.attention.weight", "axis 0 +2; did you mean something else")
	table.Add("good", "b", "")
	var b strings.Builder
	if err := table.Write(&b, 60); err != nil {
		t.Fatal(err)
	}
	want := `STATUS  NAME
bad     encoder.layers.0.attention.weight
    axis 0 +2; did you mean something else
good    b
`
	if b.String() != want {
		t.Errorf("got\n%s\nwant\n%s", b.String(), want)
	}
	b.Reset()
	if err := table.Write(&b, 100); err != nil || strings.Count(b.String(), "\n") != 3 {
		t.Errorf("%v, with room for all columns:\n%s", err, b.String())
	}
}

func TestShorten(t *testing.T) {
	tests := []struct {
		s     string
		width int
		want  string
	}{
		{"abcdef", 6, "abcdef"}, {"abcdef", 5, "ab…ef"}, {"abcdef", 4, "a…ef"}, {"abcdef", 1, "…"}, {"", 0, ""},
		{"幅幅幅", 5, "幅…幅"}, {"幅幅幅", 4, "…幅"}, {"e\u0301e\u0301e\u0301", 2, "…e\u0301"},
	}
	for _, test := range tests {
		got := Shorten(test.s, test.width)
		if got != test.want || Width(got) > max(test.width, 0) && test.width > 0 {
			t.Errorf("%q in %d: %q, want %q", test.s, test.width, got, test.want)
		}
	}
}

// Every code has a page of the same build, and every page a code.
func TestPages(t *testing.T) {
	files, err := filepath.Glob("explain/*.md")
	if err != nil {
		t.Fatal(err)
	}
	var names []string
	for _, f := range files {
		names = append(names, strings.TrimSuffix(filepath.Base(f), ".md"))
	}
	codes := Codes()
	slices.Sort(codes)
	if !slices.Equal(names, codes) {
		t.Errorf("pages %q, codes %q", names, codes)
	}
	for _, code := range codes {
		page, ok := Explain(code)
		if !ok {
			t.Errorf("%s: no page", code)
			continue
		}
		for _, part := range []string{"# " + code, "Severity: " + string(SeverityOf(code)), "## What it means", "## Why it matters", "## Example", "## What to do"} {
			if !strings.Contains(page, part) {
				t.Errorf("%s: the page lacks %q", code, part)
			}
		}
		// Every line of code is indented alike: one at the margin would be prose.
		for line := range strings.Lines(page) {
			if strings.HasPrefix(line, "rule {") || strings.HasPrefix(line, code+" ") || strings.HasPrefix(line, "{") ||
				strings.HasPrefix(line, " ") && !strings.HasPrefix(line, "    ") {
				t.Errorf("%s: %q is not indented by four spaces", code, line)
			}
		}
		if c := Consequence(code); c == "" || strings.HasSuffix(c, ".") {
			t.Errorf("%s: consequence %q", code, c)
		}
	}
	for _, code := range []string{"", "nothing", "../report", "explain/rule-empty"} {
		if _, ok := Explain(code); ok {
			t.Errorf("%q has a page", code)
		}
	}
}

func TestJSON(t *testing.T) {
	x := &pytree.Tensor{DType: pytree.Float32, Shape: []int64{2, 3}}
	r := Report{
		A:     Side{Name: "old", Total: Tally{2, 1, 6}, Done: Tally{1, 1, 6}},
		B:     Side{Name: "new", Total: Tally{1, 0, 0}},
		Rules: &RulesUse{"r", 2, 1},
		Findings: Findings{{
			Code: "shape-mismatch", Severity: Error, A: Place{Path: `["a",0]`, Node: x}, B: Place{Path: `["b.c"]`},
			Detail: "axis 0 +1", Rules: []RuleRef{{Position{"r", 3, 1}, "rule { }"}}, Fix: []string{"f"},
		}, {Code: "scalar-type", Severity: Warning, B: Place{Path: `["x"]`, Node: &pytree.Scalar{}}}},
		Fixes: []Fix{{Rule: "f", From: "x", Effect: Drop, Leaves: 1}},
	}
	got, err := json.MarshalIndent(&r, "", " ")
	if err != nil {
		t.Fatal(err)
	}
	if *update {
		if err := os.WriteFile("testdata/report.json", append(got, '\n'), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile("testdata/report.json")
	if err != nil {
		t.Fatal(err)
	}
	if string(got)+"\n" != string(want) {
		t.Errorf("the JSON form is a contract; got\n%s\nwant\n%s", got, want)
	}
}

// What a report says in numbers are the numbers of its lists.
func TestCounts(t *testing.T) {
	r := Report{Findings: Findings{
		{Code: "source-unmapped", Severity: Error, A: Place{Path: `["b"]`}},
		{Code: "scalar-type", Severity: Warning, B: Place{Path: `["a"]`}},
		{Code: "source-unmapped", Severity: Error, A: Place{Path: `["a"]`}},
	}}
	if r.Findings.Count(Error) != 2 || r.Findings.Count(Warning) != 1 || r.Verdict() != Incompatible {
		t.Errorf("%d errors, %d warnings, %s", r.Findings.Count(Error), r.Findings.Count(Warning), r.Verdict())
	}
	r.Findings.Sort()
	if r.Findings[0].A.Path != `["a"]` || r.Findings[2].Code != "scalar-type" {
		t.Errorf("order: %+v", r.Findings)
	}
	r.Findings = r.Findings[2:]
	if r.Verdict() != Compatible {
		t.Error("a warning alone makes a report incompatible")
	}
	var text strings.Builder
	r.B.Name = "new"
	if err := r.WriteText(&text, TextOptions{Color: true}); err != nil {
		t.Fatal(err)
	}
	if !strings.Contains(text.String(), "COMPATIBLE\x1b[0m  1 warning") {
		t.Errorf("got %q", text.String())
	}
}

func TestTallySaturates(t *testing.T) {
	var tally Tally
	for range 5 {
		tally.Add(true, math.MaxInt64)
	}
	if tally.Parameters != math.MaxUint64 || tally.Tensors != 5 {
		t.Errorf("%+v", tally)
	}
}
