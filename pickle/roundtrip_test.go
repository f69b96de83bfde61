package pickle

import (
	"bytes"
	"strings"
	"testing"
)

func writeBytes(v Value) ([]byte, error) {
	var b bytes.Buffer
	w := NewWriter(&b)
	if err := WriteValue(w, v, nil); err != nil {
		return nil, err
	}
	_, err := w.Close()
	return b.Bytes(), err
}

// checkRoundTrip writes v, reads it and compares; then writes that, and expects
// the same bytes.
func checkRoundTrip(tb testing.TB, name string, v Value) {
	tb.Helper()
	first, err := writeBytes(v)
	if err != nil {
		tb.Errorf("%s: writing: %v", name, err)
		return
	}
	again, err := writeBytes(v)
	if err != nil || !bytes.Equal(first, again) {
		tb.Errorf("%s: writing twice gives other bytes (%v)", name, err)
	}
	p, err := readBytes(first)
	if err != nil {
		tb.Errorf("%s: reading %q: %v", name, first, err)
		return
	}
	if got, want := dumpFolded(p.Root), dumpFolded(v); got != want {
		tb.Errorf("%s: written as %q\n got %s\nwant %s", name, first, got, want)
	}
	second, err := writeBytes(p.Root)
	if err != nil {
		tb.Errorf("%s: writing what was written: %v", name, err)
		return
	}
	q, err := readBytes(second)
	if err != nil {
		tb.Errorf("%s: reading it: %v", name, err)
		return
	}
	third, err := writeBytes(q.Root)
	if err != nil || !bytes.Equal(second, third) {
		tb.Errorf("%s: not stable (%v):\n%q\n%q", name, err, second, third)
	}
}

func TestRoundTripSamples(t *testing.T) {
	for _, s := range samples(t) {
		if strings.HasSuffix(s.name, "buffers") {
			if _, err := writeBytes(mustRead(t, s.name, s.data).Root); err == nil {
				t.Errorf("%s: an out-of-band buffer was written", s.name)
			}
			continue
		}
		checkRoundTrip(t, s.name, mustRead(t, s.name, s.data).Root)
	}
}

func TestRoundTripOpcodes(t *testing.T) {
	for _, c := range opcodeCases {
		p, err := readString(c.in)
		if err != nil || strings.Contains(c.want, "buffer()") {
			continue
		}
		checkRoundTrip(t, c.why, p.Root)
	}
}

func TestRoundTripShapes(t *testing.T) {
	for _, c := range []struct{ why, in string }{
		{"a tuple in itself through a list", "]q\x00h\x00\x85q\x01ah\x01."},
		{"a long tuple in itself", "]q\x00(KaKbh\x00KcKdtq\x01ah\x01."},
		{"a tuple in itself twice", "]q\x00]q\x01h\x00h\x01\x86q\x02ah\x01h\x02a0h\x02."},
		{"a set in the state of its item", "\x8fq\x00(cm\nC\n)\x81q\x01h\x00b\x90h\x01."},
		{"a set in the arguments of its item", "\x8fq\x00(cm\nC\nh\x00\x85R\x90."},
		{"a frozenset in the state of its item", "(cm\nC\n)\x81q\x00\x91q\x01h\x00h\x01b."},
		{"an object in its own arguments", "cm\nC\n]q\x00\x85Rq\x01h\x00h\x01a0."},
		{"an instance in its own arguments", "(cm\nC\n]q\x00oq\x01h\x00h\x01a0."},
		{"a persistent object in its own id", "]q\x00Qq\x01h\x00h\x01a0."},
		{"the empty tuple with a state that has it", ")q\x00h\x00b."},
		{"a global with state, mentioned twice", "cm\nC\nq\x00Nbh\x00\x86."},
		{"an extension with state", "\x82\x05q\x00Nbh\x00\x86."},
		{"a nested class", "\x80\x04\x8c\x01m\x8c\x03A.B\x93."},
		{"a name with a newline", "\x8c\x02m\n\x8c\x01C\x93."},
		{"items of an object in the order list, state, dict", "cm\nC\n)\x81NaNbNNs."},
		{"a key of every sort", "}(NNI01\nNK\x02NG\x3f\xf8\x00\x00\x00\x00\x00\x00NX\x01\x00\x00\x00aNC\x01aN)NK\x01\x85NC\x02abNcm\nC\nNu."},
		{"text, bytes and Python 2 text of one content", "(X\x02\x00\x00\x00abC\x02abU\x02abX\x02\x00\x00\x00abC\x02abU\x02abt."},
	} {
		p, err := readString(c.in)
		if err != nil {
			t.Errorf("%s: %v", c.why, err)
			continue
		}
		checkRoundTrip(t, c.why, p.Root)
	}
}
