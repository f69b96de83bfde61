package migrate

import (
	"bytes"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"google.golang.org/protobuf/encoding/prototext"

	migrationpb "ckpt/proto"
	"ckpt/pytree"
	"ckpt/report"
)

var update = flag.Bool("update", false, "rewrite the golden files")

func TestPositions(t *testing.T) {
	tests := []struct {
		file string
		want []string // each rule in file order: its text, and where it and its fields stand
	}{
		{"lczero_dotted", []string{
			`5:1 5:8 5:1 rule { from_path: "jit_state.model_state.embedding" }`,
			`6:1 6:1 6:8 rule { to_path: "jit_state.model_state.embedding" }`,
			`9:1 10:3 11:3 rule { from_path: "jit_state.model_state.encoder.layers.0" to_path: "jit_state.model_state.encoders.encoders.layers.0" }`,
			`13:1 14:3 17:3 rule { from_path: "jit_state.model_state.encoder.layers.1" to_path: "jit_state.model_state.encoders.encoders.layers.1" }`,
			`19:1 19:1 20:3 rule { to_path: "training_schedule" }`,
		}},
		{"lczero_exact", []string{
			`2:1 3:3 4:3 rule { from_path: "[\"jit_state\", \"opt_state\", 0, \"mu\"]" to_path: "[\"jit_state\", \"opt_state\", 1, \"mu\"]" }`,
			`6:1 6:9 6:1 rule { from_path: "[\"jit_state\",\"step\"]" }`,
			`7:1 7:1 7:8 rule { to_path: "[\"jit_state\", \"swa_state\"]" }`,
		}},
		{"layouts", []string{
			`1:1 1:8 1:1 rule { from_path: "a" }`,
			`1:25 1:25 1:32 rule { to_path: "b" }`,
			`3:3 3:5 3:25 rule { from_path: "list.0" to_path: "list.1" }`,
			`5:3 5:5 5:21 rule { from_path: "c" to_path: "d" create: true }`,
			`9:1 9:6 10:5 rule { from_path: "xy" to_path: "z" }`,
		}},
	}
	for _, test := range tests {
		src, err := os.ReadFile(filepath.Join("testdata", "rules", test.file+".textproto"))
		if err != nil {
			t.Fatal(err)
		}
		for _, eol := range []string{"\n", "\r\n"} {
			r, findings := ParseRules("r", bytes.ReplaceAll(src, []byte("\n"), []byte(eol)))
			if len(findings) > 0 {
				t.Errorf("%s: %+v", test.file, findings)
			}
			want := make(map[string]bool)
			for _, line := range test.want {
				want[line] = true
			}
			for i := range r.rules {
				ru := &r.rules[i]
				at := func(p report.Position) string { return strings.TrimPrefix(p.String(), "r:") }
				if got := fmt.Sprintf("%s %s %s %s", at(ru.pos), at(ru.fromPos), at(ru.toPos), ru.text()); !want[got] {
					t.Errorf("%s (line ends %q): got\n%s, which is none of\n%s", test.file, eol, got, strings.Join(test.want, "\n"))
				}
			}
			if len(r.rules) != len(test.want) {
				t.Errorf("%s: %d rules, want %d", test.file, len(r.rules), len(test.want))
			}
		}
	}
}

func TestSyntaxErrors(t *testing.T) {
	tests := []struct{ why, src, pos, part string }{
		{"an unknown field", "rule {\n  from: \"a\"\n}", "2:3", "unknown field"},
		{"an unknown top-level field", "\n\nrules { }", "3:1", "unknown field"},
		{"a value of another type", "rule { from_path: 3 }", "1:19", "invalid value"},
		{"a field given twice", "rule { from_path: \"a\"\nfrom_path: \"b\" }", "2:1", "non-repeated"},
		{"a rule that is not closed", "rule { from_path: \"a\"\n", "2:1", "EOF"},
		{"text that is not UTF-8", "rule { from_path: \"\xff\" }", "1:19", "UTF-8"},
		{"a formatter's directive does not hide what is wrong", "# txtpbfmt: off\nrule { x: 1 }", "2:8", "unknown field"},
	}
	for _, test := range tests {
		_, findings := ParseRules("r", []byte(test.src))
		if len(findings) != 1 || findings[0].Code != "rule-syntax" {
			t.Errorf("%s: %+v, want one rule-syntax", test.why, findings)
			continue
		}
		f := findings[0]
		if got := strings.TrimPrefix(f.Rules[0].String(), "r:"); got != test.pos || !strings.Contains(f.Detail, test.part) {
			t.Errorf("%s: %s %q, want %s and %q", test.why, got, f.Detail, test.pos, test.part)
		}
		if _, err := Format([]byte(test.src)); err == nil || !strings.HasPrefix(err.Error(), test.pos+": ") {
			t.Errorf("%s: Format: %v, want an error at %s", test.why, err, test.pos)
		}
	}
}

// Directives to the formatter must not cost rules their positions.
func TestPositionsUnderDirectives(t *testing.T) {
	for _, src := range []string{
		"# txtpbfmt: disable\nrule { from_path: \"a\" }",
		"# txtpbfmt: off\nrule { from_path: \"a\" }\n# txtpbfmt: on\n",
	} {
		r, findings := ParseRules("r", []byte(src))
		if len(findings) > 0 || r.Len() != 1 || r.rules[0].fromPos.String() != "r:2:8" {
			t.Errorf("%q: %+v, %+v", src, findings, r.rules)
		}
	}
}

func TestFormat(t *testing.T) {
	files, err := filepath.Glob(filepath.Join("testdata", "rules", "*.textproto"))
	if err != nil || len(files) == 0 {
		t.Fatal("no samples", err)
	}
	for _, file := range files {
		src, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		got, err := Format(src)
		if err != nil {
			t.Errorf("%s: %v", file, err)
			continue
		}
		golden(t, strings.TrimSuffix(file, ".textproto")+".formatted", string(got))
		if again, err := Format(got); err != nil || !bytes.Equal(again, got) {
			t.Errorf("%s: formatting twice gives something else (%v):\n%s", file, err, again)
		}
		for line := range bytes.Lines(src) {
			if _, comment, ok := bytes.Cut(line, []byte("#")); ok && !bytes.Contains(got, bytes.TrimSpace(comment)) {
				t.Errorf("%s: the comment %q is gone", file, comment)
			}
		}
	}
}

// golden compares with a file, or writes it under -update.
func golden(t *testing.T, file, got string) {
	t.Helper()
	if *update {
		if err := os.WriteFile(file, []byte(got), 0o644); err != nil {
			t.Fatal(err)
		}
		return
	}
	want, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	if got != string(want) {
		t.Errorf("%s: got\n%s\nwant\n%s", file, got, want)
	}
}

// What prototext reads has a place for every rule, and formats to the same
// rules; what it does not read is one finding; nothing panics.
func FuzzParseRules(f *testing.F) {
	seeds := 0
	files, err := filepath.Glob(filepath.Join("testdata", "rules", "*"))
	if err != nil {
		f.Fatal(err)
	}
	for _, file := range files {
		src, err := os.ReadFile(file)
		if err != nil {
			f.Fatal(err)
		}
		f.Add(src)
		seeds++
	}
	if seeds < 3 {
		f.Fatalf("only %d seeds", seeds)
	}
	for _, src := range []string{
		`rule { from_path: "[]" to_path: "[0]" create: true }`, `rule{}rule{}`, `rule: [] # none`, `rule { from_path: "a" 'b' }`,
	} {
		f.Add([]byte(src))
	}
	f.Fuzz(func(t *testing.T, src []byte) {
		r, findings := ParseRules("r", src)
		var config migrationpb.CheckpointMigrationConfig
		err := prototext.Unmarshal(src, &config)
		if (err != nil) != r.broken {
			t.Fatalf("prototext says %v, the rules %v", err, findings)
		}
		for _, f := range findings {
			if len(f.Rules) == 0 || f.Rules[0].Line == 0 {
				t.Errorf("a finding without a place: %+v", f)
			}
		}
		if r.broken {
			return
		}
		if places := locate("r", src); len(places) != len(config.Rule) {
			t.Errorf("%d places for %d rules", len(places), len(config.Rule))
		}
		if len(r.rules)+len(findings) != len(config.Rule) {
			t.Errorf("%d rules and %d findings of %d rules", len(r.rules), len(findings), len(config.Rule))
		}
		formatted, err := Format(src)
		if err != nil {
			return // refused rather than changed
		}
		if again, err := Format(formatted); err != nil || !bytes.Equal(again, formatted) {
			t.Errorf("formatting twice gives something else (%v):\n%q\n%q", err, formatted, again)
		}
	})
}

// Whatever a path holds, a rule's line reads back as the same path, and nothing
// in it can mislead on a terminal.
func TestQuotedPathsReadBack(t *testing.T) {
	for _, path := range []string{
		"bad\u202ename", "x\x1b[31m1", "nl\nnam", "tab\t\x7f", `q"u\o`, "\U000E0041", "幅.é", "\u00a0", "\x010", "\ufeff",
	} {
		line := ruleText(path, "", false)
		if pytree.Printable(line) != line {
			t.Errorf("%q is written as %q", path, line)
		}
		r, findings := ParseRules("r", []byte(line))
		if len(findings) > 0 || len(r.rules) != 1 || r.rules[0].from.text != path {
			t.Errorf("%s does not read back: %+v", line, findings)
		}
	}
}

// Columns are those of an editor: characters, without the mark of the encoding.
func TestColumnsAreCharacters(t *testing.T) {
	r, findings := ParseRules("r", []byte("\uFEFFrule { from_path: \"éé\" to_path: \"[é\" } rule { from_path: \"z\" }"))
	if len(findings) != 1 || findings[0].Rules[0].String() != "r:1:24" {
		t.Errorf("%+v, want one finding at 1:24", findings)
	} else if want := `not a JSON list of keys, such as ["layers",0,"weight"]`; findings[0].Detail != want {
		t.Errorf("%q, want %q", findings[0].Detail, want)
	}
	if len(r.rules) != 1 || r.rules[0].pos.String() != "r:1:40" {
		t.Errorf("%+v, want a rule at 1:40", r.rules)
	}
	if _, findings = ParseRules("r", []byte("rule { from_path: \"é\"")); findings[0].Rules[0].String() != "r:1:22" {
		t.Errorf("the end of the file is at %s, want 1:22", findings[0].Rules[0])
	}
}
