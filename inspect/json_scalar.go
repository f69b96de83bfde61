package inspect

import (
	"encoding/base64"
	"io"
	"math/big"
	"strconv"
	"unicode/utf8"

	"ckpt/pytree"
)

func (j *jsonWriter) scalar(s *pytree.Scalar) error {
	j.raw(`,"kind":"scalar","type":`)
	j.text(s.Type())
	if s.Class != "" {
		j.raw(`,"class":`)
		j.text(s.Class)
	}
	j.raw(`,"value":`)
	switch v := s.V.(type) {
	case nil:
		j.raw("null")
	case bool:
		j.buf = strconv.AppendBool(j.buf, v)
	case int64:
		j.int(v)
	case *big.Int:
		j.buf = appendBig(j.buf, v)
	case float64:
		j.float(v)
	case string:
		j.text(v)
	case []byte:
		j.raw(`{"base64":"`)
		j.buf = base64.StdEncoding.AppendEncode(j.buf, v)
		j.raw(`"}`)
	case *pytree.Long:
		return j.long(v)
	}
	return nil
}

// long passes a long value through.
func (j *jsonWriter) long(l *pytree.Long) error {
	if err := j.flush(); err != nil {
		return err
	}
	rc, err := l.Open()
	if err != nil {
		return err
	}
	defer rc.Close()
	if l.Text {
		return j.longText(rc)
	}
	j.raw(`{"base64":"`)
	if err := j.flush(); err != nil {
		return err
	}
	enc := base64.NewEncoder(base64.StdEncoding, j.w)
	if _, err := io.Copy(enc, rc); err != nil {
		return err
	}
	if err := enc.Close(); err != nil {
		return err
	}
	j.raw(`"}`)
	return nil
}

// longText escapes a text piece by piece, cutting between characters.
func (j *jsonWriter) longText(r io.Reader) error {
	j.raw(`"`)
	chunk := make([]byte, 32<<10)
	kept := 0
	for {
		n, err := io.ReadFull(r, chunk[kept:])
		n += kept
		end := err == io.EOF || err == io.ErrUnexpectedEOF
		if err != nil && !end {
			return err
		}
		whole := n
		if !end {
			whole = wholeRunes(chunk[:n])
		}
		at := len(j.buf)
		j.text(string(chunk[:whole]))
		j.buf = append(j.buf[:at], j.buf[at+1:len(j.buf)-1]...)
		if end {
			j.raw(`"`)
			return nil
		}
		if err := j.flush(); err != nil {
			return err
		}
		kept = copy(chunk, chunk[whole:n])
	}
}

// wholeRunes is how much of b ends with a whole character, lone surrogates
// included.
func wholeRunes(b []byte) int {
	for back := 1; back < utf8.UTFMax && back <= len(b); back++ {
		switch c := b[len(b)-back]; {
		case c < utf8.RuneSelf:
			return len(b)
		case c >= 0xF0 && back < 4, c >= 0xE0 && back < 3, c >= 0xC0 && back < 2:
			return len(b) - back
		case c >= 0xC0:
			return len(b)
		}
	}
	return len(b)
}
