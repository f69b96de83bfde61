package migrate

import (
	"strings"
	"unicode/utf8"

	"ckpt/report"
)

// marks is where a rule and its fields stand. A field that is not there is
// where the rule is.
type marks struct{ rule, from, to report.Position }

// locate finds the places of the rules in a file that prototext has read
// without error, which is what makes so small a scanner enough. The formatter's
// parser knows places too, but does not read all that prototext reads.
func locate(name string, src []byte) []marks {
	s := scanner{name: name, src: src, line: 1}
	var all []marks
	depth := 0 // 0: between rules, 1: in a rule
	list := false
	value := false // a field's value comes next
	var rule report.Position
	for s.next() {
		switch s.token {
		case "{", "<":
			if list {
				rule = s.pos // a rule in a list has no name of its own
			}
			all = append(all, marks{rule, rule, rule})
			depth = 1
		case "}", ">":
			depth = 0
		case "[", "]":
			list = s.token == "["
		case ":":
			value = depth == 1
			continue
		case ",", ";":
		default:
			switch {
			case depth == 0:
				rule = s.pos
			case value || len(all) == 0:
			case s.token == "from_path":
				all[len(all)-1].from = s.pos
			case s.token == "to_path":
				all[len(all)-1].to = s.pos
			}
		}
		value = false
	}
	return all
}

// scanner cuts a textproto into tokens: names, numbers, strings and single
// marks.
type scanner struct {
	name        string
	src         []byte
	at          int
	line, begin int // the line at hand, and how much of it is counted
	column      int // the characters up to there

	token string
	pos   report.Position
}

// next moves on to the next token, if there is one.
func (s *scanner) next() bool {
	s.space()
	if s.at == len(s.src) {
		return false
	}
	start := s.at
	s.pos = report.Position{File: s.name, Line: s.line, Column: s.columnAt(start)}
	switch c := s.src[start]; {
	case c == '"' || c == '\'':
		for s.at++; s.at < len(s.src) && s.src[s.at] != c; s.at++ {
			if s.src[s.at] == '\\' {
				s.at++
			}
		}
		s.at = min(s.at+1, len(s.src))
	case strings.IndexByte("{}<>[]:,;", c) >= 0:
		s.at++
	default:
		for s.at++; s.at < len(s.src) && strings.IndexByte("{}<>[]:,;\"'# \t\r\n", s.src[s.at]) < 0; {
			s.at++
		}
	}
	s.token = string(s.src[start:s.at])
	return true
}

// columnAt is the column of a place in the line at hand, which is not before the
// last one asked for.
func (s *scanner) columnAt(at int) int {
	s.column += utf8.RuneCount(s.src[s.begin:at])
	s.begin = at
	return s.column + 1
}

// space skips white space and comments.
func (s *scanner) space() {
	comment := false
	for ; s.at < len(s.src); s.at++ {
		switch c := s.src[s.at]; {
		case c == '\n':
			s.line++
			s.begin, s.column = s.at+1, 0
			comment = false
		case comment || c == ' ' || c == '\t' || c == '\r':
		case c == '#':
			comment = true
		default:
			return
		}
	}
}
