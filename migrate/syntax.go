package migrate

import (
	"bytes"
	"errors"
	"fmt"
	"regexp"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/protocolbuffers/txtpbfmt/parser"
	"google.golang.org/protobuf/encoding/prototext"

	migrationpb "ckpt/proto"
	"ckpt/report"
)

// ParseRules reads a rules file. What cannot be read or cannot be meant is in
// the findings, with its line and column; the rules beside it are still good.
func ParseRules(name string, src []byte) (*Rules, report.Findings) {
	r := &Rules{File: name}
	src = withoutMark(src)
	var config migrationpb.CheckpointMigrationConfig
	if err := prototext.Unmarshal(src, &config); err != nil {
		pos, msg := splitError(name, src, err)
		r.broken = true
		r.findings = report.Findings{{
			Code: "rule-syntax", Severity: report.Error, Detail: msg,
			Rules: []report.RuleRef{{Position: pos}},
		}}
		return r, r.Findings()
	}
	r.total = len(config.Rule)
	places := locate(name, src)
	for i, c := range config.Rule {
		at := marks{report.Position{File: name}, report.Position{File: name}, report.Position{File: name}}
		if i < len(places) {
			at = places[i]
		}
		if f := r.add(c, at); f != nil {
			f.Severity = report.Error
			r.findings = append(r.findings, *f)
		}
	}
	sortRules(r.rules)
	r.findings.Sort()
	return r, r.Findings()
}

// add takes in one rule, or gives the finding that it cannot be followed.
func (r *Rules) add(c *migrationpb.CheckpointMigrationRule, at marks) *report.Finding {
	ru := rule{create: c.Create, pos: at.rule, fromPos: at.from, toPos: at.to}
	var err error
	if ru.from, err = parsePattern(c.FromPath); err != nil {
		return &report.Finding{Code: "rule-syntax", Detail: pathError(err), Rules: []report.RuleRef{{Position: at.from, Text: "from_path " + quote(c.FromPath)}}}
	}
	if ru.to, err = parsePattern(c.ToPath); err != nil {
		return &report.Finding{Code: "rule-syntax", Detail: pathError(err), Rules: []report.RuleRef{{Position: at.to, Text: "to_path " + quote(c.ToPath)}}}
	}
	blame := []report.RuleRef{ru.ref()}
	switch {
	case !ru.from.set() && !ru.to.set():
		return &report.Finding{Code: "rule-empty", Detail: "neither from_path nor to_path is set", Rules: blame}
	case ru.create && !ru.moves():
		return &report.Finding{Code: "rule-syntax", Detail: "create needs both from_path and to_path", Rules: blame}
	case !ru.create && ru.moves() && ru.from.same(ru.to):
		return &report.Finding{Code: "rule-identity", Detail: "from_path and to_path are the same", Rules: blame}
	}
	r.rules = append(r.rules, ru)
	return nil
}

// withoutMark is a file without the mark that some editors put at its begin.
func withoutMark(src []byte) []byte { return bytes.TrimPrefix(src, []byte("\uFEFF")) }

// pathError is what is wrong with an exact path, for a finding that shows the
// path already.
func pathError(err error) string {
	if inner := errors.Unwrap(err); inner != nil {
		err = inner
	}
	if errors.Unwrap(err) != nil {
		return `not a JSON list of keys, such as ["layers",0,"weight"]` // why is a detail of the JSON parser
	}
	return err.Error()
}

// prototext gives the place of an error inside its message.
var errorPlace = regexp.MustCompile(`\(line (\d+):(\d+)\)`)

// splitError takes the place out of an error of prototext's, whose wording is
// unstable by design. An error without a place is about the end of the file.
func splitError(name string, src []byte, err error) (report.Position, string) {
	msg := strings.ReplaceAll(err.Error(), "\u00a0", " ")
	msg = strings.TrimSpace(strings.TrimPrefix(msg, "proto:"))
	msg = strings.TrimPrefix(msg, "syntax error ")
	pos := report.Position{File: name}
	if m := errorPlace.FindStringSubmatchIndex(msg); m != nil {
		pos.Line, _ = strconv.Atoi(msg[m[2]:m[3]])
		pos.Column, _ = strconv.Atoi(msg[m[4]:m[5]])
		msg = strings.TrimLeft(msg[:m[0]]+msg[m[1]:], ": ")
	} else {
		pos.Line = bytes.Count(src, []byte{'\n'}) + 1
		pos.Column = utf8.RuneCount(src[bytes.LastIndexByte(src, '\n')+1:]) + 1
	}
	return pos, strings.TrimSuffix(msg, ".")
}

// Format lays out a rules file in the canonical way, with Unix line ends. It
// keeps comments, and what it returns it leaves as it is. A byte order mark goes.
// A file that cannot be read is an error that begins with LINE:COLUMN.
func Format(src []byte) (formatted []byte, err error) {
	src = withoutMark(src)
	var before, after migrationpb.CheckpointMigrationConfig
	if err := prototext.Unmarshal(src, &before); err != nil {
		pos, msg := splitError("", src, err)
		return nil, fmt.Errorf("%d:%d: %s", pos.Line, pos.Column, msg)
	}
	defer func() {
		if p := recover(); p != nil {
			formatted, err = nil, fmt.Errorf("textproto formatter: %v", p)
		}
	}()
	src = bytes.ReplaceAll(src, []byte("\r\n"), []byte("\n"))
	src = bytes.ReplaceAll(src, []byte("\r"), []byte(" "))
	// The formatter may need a second look before its result is stable.
	for range 8 {
		if formatted, err = parser.Format(src); err != nil {
			return nil, err
		}
		if bytes.Equal(formatted, src) {
			break
		}
		src = formatted
	}
	if err := prototext.Unmarshal(formatted, &after); err != nil || !sameRules(&before, &after) {
		return nil, errors.New("formatting would change the rules")
	}
	return formatted, nil
}

func sameRules(a, b *migrationpb.CheckpointMigrationConfig) bool {
	if len(a.Rule) != len(b.Rule) {
		return false
	}
	for i, x := range a.Rule {
		if y := b.Rule[i]; x.FromPath != y.FromPath || x.ToPath != y.ToPath || x.Create != y.Create {
			return false
		}
	}
	return true
}
