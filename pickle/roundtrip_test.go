package pickle

import (
	"bytes"
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

func TestQuick(t *testing.T) {
	for _, in := range []string{
		"]q\x00h\x00a.",
		"]q\x00h\x00\x85q\x01ah\x01.",
		"\x8fq\x00(cm\nC\n)\x81q\x01h\x00bh\x02\x90.",
		"\x8fq\x00(cm\nC\nh\x00\x85R\x90.",
	} {
		p, err := readString(in)
		if err != nil {
			t.Log(in, err)
			continue
		}
		b, err := writeBytes(p.Root)
		t.Logf("%q %v", b, err)
		p2, err := readString(string(b))
		if err != nil {
			t.Fatal(err)
		}
		t.Log(dump(p.Root))
		t.Log(dump(p2.Root))
	}
}
