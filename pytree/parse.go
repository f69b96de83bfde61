package pytree

import (
	"encoding/json"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"unicode/utf8"
)

// ParsePath reads the exact form: a JSON list of strings and integers, with any
// spacing and escapes, into the canonical path. A lone surrogate, which JSON can
// only escape, stays what it is.
func ParsePath(text string) (Path, error) {
	p, err := parsePath(text)
	if err != nil {
		return "", fmt.Errorf("exact path %s: %w", quoteShort(text), err)
	}
	return p, nil
}

func parsePath(text string) (Path, error) {
	if !utf8.ValidString(text) {
		return "", errors.New("not UTF-8")
	}
	if !strings.HasPrefix(strings.TrimLeft(text, " \t\r\n"), "[") {
		return "", errors.New("not a JSON list")
	}
	var list []json.RawMessage
	if err := json.Unmarshal([]byte(text), &list); err != nil {
		return "", fmt.Errorf("not a JSON list: %w", err)
	}
	buf := []byte{'['}
	for i, raw := range list {
		switch c := raw[0]; {
		case c == '"':
			buf = appendKey(buf, StringKey(unescape(string(raw[1:len(raw)-1]))))
		case c == '-' || isDigit(c):
			n, err := strconv.ParseInt(string(raw), 10, 64)
			if err != nil {
				return "", fmt.Errorf("key %d: %s is not a 64-bit integer", i, quoteShort(string(raw)))
			}
			buf = appendKey(buf, IntKey(n))
		default:
			return "", fmt.Errorf("key %d: %s is neither a string nor an integer", i, quoteShort(string(raw)))
		}
	}
	return Path(append(buf, ']')), nil
}

// quoteShort quotes s for a message, and no more of it than helps.
func quoteShort(s string) string {
	const most = 200
	if len(s) <= most {
		return strconv.Quote(s)
	}
	return strconv.Quote(s[:most]) + "…"
}
