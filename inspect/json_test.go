package inspect

import (
	"bytes"
	"encoding/base64"
	"encoding/json"
	"errors"
	"io"
	"math"
	"math/big"
	"math/rand/v2"
	"strings"
	"testing"

	"ckpt/pytree"
)

// The very bytes are a contract.
func TestJSON(t *testing.T) {
	s := storage(256)
	tied := &pytree.Tensor{DType: pytree.Float32, Shape: []int64{16, 4}, Storage: s}
	view := &pytree.Tensor{DType: pytree.Float32, Shape: []int64{8, 4}, Storage: s}
	root := dict(
		e("model", typed("collections.OrderedDict", dict(e("tied.weight", tied), e("fc.weight", view)), "_metadata")),
		e("epoch", scalar(int64(3))),
		e("args", typed("argparse.Namespace", dict(e("lr", scalar(0.001)), e("f", &pytree.Scalar{V: 0.5, Class: "numpy.float32"})))),
		e("when", &pytree.Opaque{Type: "datetime.datetime", Text: "2024-01-15 10:30:00"}),
		e("loop", &pytree.Ref{Path: pytree.MakePath(pytree.StringKey("args"))}),
		e("none", typed("dict", dict(), "note")),
		pytree.Entry{Key: pytree.OtherKey("(1, 2)"), Value: scalar(nil)},
	)
	r := run(t, root, Options{Digest: true})
	r.Checkpoint.Notes = []string{"odd"}
	r.Unreferenced = 7
	want := `{"file":"x.pt","format":"test","variant":"test-zip","size":4321,"tensors":2,"parameters":64,"tensor_bytes":256,"unreferenced_bytes":7,"notes":["odd"],"entries":[` +
		`{"path":["model","tied.weight"],"name":"model.tied.weight","kind":"tensor","dtype":"float32","shape":[16,4],"bytes":256,"digest":"sha256:8b4ee71cdcee57d3cf3639c15d26f57cba85d74b5e2d3fd1ed52cd3bf3ae8ccb"},` +
		`{"path":["model","fc.weight"],"name":"model.fc.weight","kind":"tensor","dtype":"float32","shape":[8,4],"bytes":128,"digest":"sha256:DIGEST2","alias_of":["model","tied.weight"]},` +
		`{"path":["epoch"],"name":"epoch","kind":"scalar","type":"int","value":3},` +
		`{"path":["args","lr"],"name":"args.lr","kind":"scalar","type":"float","value":0.001},` +
		`{"path":["args","f"],"name":"args.f","kind":"scalar","type":"float","class":"numpy.float32","value":0.5},` +
		`{"path":["when"],"name":"when","kind":"opaque","type":"datetime.datetime","text":"2024-01-15 10:30:00"},` +
		`{"path":["loop"],"name":"loop","kind":"opaque","type":"reference","text":"[\"args\"]"},` +
		`{"path":["none"],"name":"none","kind":"empty","type":"dict","attributes":["note"]},` +
		`{"path":["(1, 2)"],"name":"(1, 2)","addressable":false,"kind":"scalar","type":"null","value":null}` +
		`],"containers":[{"path":["model"],"type":"collections.OrderedDict","attributes":["_metadata"]},{"path":["args"],"type":"argparse.Namespace"}]}` + "\n"
	for _, x := range []*pytree.Tensor{tied, view} {
		d, err := x.Digest()
		if err != nil {
			t.Fatal(err)
		}
		old := []string{"sha256:8b4ee71cdcee57d3cf3639c15d26f57cba85d74b5e2d3fd1ed52cd3bf3ae8ccb", "sha256:DIGEST2"}[btoi(x == view)]
		want = strings.Replace(want, old, d, 1)
	}
	if got := jsonText(t, r); got != want {
		t.Errorf("got  %s\nwant %s", got, want)
	}
}

func btoi(b bool) int {
	if b {
		return 1
	}
	return 0
}

func TestJSONScalars(t *testing.T) {
	huge := new(big.Int).Lsh(big.NewInt(-3), maxDecimal)
	for _, c := range []struct {
		v              any
		typ, want, why string
	}{
		{nil, "null", "null", ""},
		{true, "bool", "true", ""},
		{int64(1 << 53), "int", "9007199254740992", "the last integer that every reader keeps"},
		{int64(1<<53 + 1), "int", `"9007199254740993"`, "the first that many do not"},
		{int64(-1<<53 - 1), "int", `"-9007199254740993"`, ""},
		{new(big.Int).Lsh(big.NewInt(1), 64), "int", `"18446744073709551616"`, ""},
		{huge, "int", `"-0x3` + strings.Repeat("0", maxDecimal/4) + `"`, "decimal would take more than linear time"},
		{1.0, "float", "1.0", "a float must read back as one"},
		{math.Copysign(0, -1), "float", "-0.0", "the sign of zero"},
		{1e-8, "float", "1e-08", ""},
		{1e16, "float", "1e+16", ""},
		{123456789.125, "float", "123456789.125", ""},
		{math.MaxFloat64, "float", "1.7976931348623157e+308", ""},
		{math.NaN(), "float", `"NaN"`, ""},
		{math.Inf(1), "float", `"Infinity"`, ""},
		{math.Inf(-1), "float", `"-Infinity"`, ""},
		{"a\"\n\u202e", "string", "\"a\\\"\\n\u202e\"", "machines get what is there"},
		{"\xed\xa0\x80", "string", `"\ud800"`, "a lone surrogate of Python's"},
		{[]byte{0, 255}, "bytes", `{"base64":"AP8="}`, ""},
		{[]byte{}, "bytes", `{"base64":""}`, ""},
		{&pytree.Long{Source: long("long text"), Text: true}, "string", `"long text"`, ""},
		{&pytree.Long{Source: long("\x00\xff"), Text: false}, "bytes", `{"base64":"AP8="}`, ""},
	} {
		got := jsonText(t, run(t, scalar(c.v), Options{}))
		want := `"entries":[{"path":[],"name":"","kind":"scalar","type":"` + c.typ + `","value":` + c.want + `}]`
		if !strings.Contains(got, want) {
			t.Errorf("%.200s lacks %.200s: %s", got, want, c.why)
		}
	}
}

// A long text is escaped piece by piece: no piece may end inside a character.
func TestJSONLong(t *testing.T) {
	rng := rand.New(rand.NewPCG(3, 4))
	pieces := []string{"a", "é", "€", "😀", "\xed\xa0\x80", "\"", "\n", "\\", "\xff", "\u202e"}
	for range 50 {
		var b []byte
		for n := 32<<10 - 8 + rng.IntN(16); len(b) < n+rng.IntN(80<<10); {
			b = append(b, pieces[rng.IntN(len(pieces))]...)
		}
		got := jsonText(t, run(t, scalar(&pytree.Long{Source: long(b), Text: true}), Options{}))
		if want := string(pytree.AppendJSONString(nil, string(b))); !strings.Contains(got, `"value":`+want+`}]`) {
			t.Fatal("a long text reads differently from a short one")
		}
		got = jsonText(t, run(t, scalar(&pytree.Long{Source: long(b)}), Options{}))
		if want := base64.StdEncoding.EncodeToString(b); !strings.Contains(got, `{"base64":"`+want+`"}}]`) {
			t.Fatal("long bytes read differently from short ones")
		}
	}
}

func TestJSONLongBroken(t *testing.T) {
	for _, text := range []bool{true, false} {
		err := run(t, scalar(&pytree.Long{Source: broken{9}, Text: text}), Options{}).WriteJSON(io.Discard)
		if !errors.Is(err, errBroken) {
			t.Errorf("text %v: %v", text, err)
		}
	}
}

// Every entry and every telling container is listed, and totals are theirs.
func TestJSONComplete(t *testing.T) {
	rng := rand.New(rand.NewPCG(5, 6))
	for range 200 {
		root := randomTree(rng)
		var got struct {
			Tensors    int
			Entries    []struct{ Path []any }
			Containers []struct {
				Path []any
				Type string
			}
		}
		if err := json.Unmarshal([]byte(jsonText(t, run(t, root, Options{}))), &got); err != nil {
			t.Fatal(err)
		}
		entries, tensors, containers := 0, 0, 0
		(&pytree.Tree{Root: root}).Walk(pytree.Visitor{
			Enter: func(_ pytree.Path, c *pytree.Container) bool {
				if len(c.Entries) > 0 && !c.Plain() {
					containers++
				}
				return true
			},
			Leaf: func(_ pytree.Path, n pytree.Node) bool {
				entries++
				if _, ok := n.(*pytree.Tensor); ok {
					tensors++
				}
				return true
			},
		})
		if len(got.Entries) != entries || got.Tensors != tensors || len(got.Containers) != containers {
			t.Fatalf("%d entries, %d tensors, %d containers; want %d, %d, %d", len(got.Entries), got.Tensors, len(got.Containers), entries, tensors, containers)
		}
	}
}

func TestJSONSelected(t *testing.T) {
	root := dict(
		e("m", typed("M", dict(e("a.w", f32(3)), e("a.b", f32(2)), e("c", typed("C", dict(e("x", scalar(true)))))))),
		e("n", typed("N", dict(e("y", f32(5))))),
	)
	for _, c := range []struct {
		opt       Options
		want, why string
	}{
		{Options{At: "m.c"}, `"tensors":3,"parameters":10,"tensor_bytes":40,"selected":{"tensors":0,"parameters":0,"tensor_bytes":0},"entries":[{"path":["m","c","x"],"name":"m.c.x","kind":"scalar","type":"bool","value":true}],"containers":[{"path":["m"],"type":"M"},{"path":["m","c"],"type":"C"}]}`,
			"the file's totals stay the file's; containers are those around what is listed"},
		{Options{Match: "n.*"}, `"selected":{"tensors":1,"parameters":5,"tensor_bytes":20},"entries":[{"path":["n","y"],"name":"n.y","kind":"tensor","dtype":"float32","shape":[5],"bytes":20}],"containers":[{"path":["n"],"type":"N"}]}`, ""},
		{Options{Depth: 2}, `"entries":[{"name":"m.a","kind":"subtree","entries":2,"tensors":2,"parameters":5,"tensor_bytes":20},{"path":["m","c"],"name":"m.c","kind":"subtree","entries":1,"tensors":0,"parameters":0,"tensor_bytes":0},{"path":["n","y"],"name":"n.y","kind":"tensor","dtype":"float32","shape":[5],"bytes":20}],"containers":[{"path":["m"],"type":"M"},{"path":["m","c"],"type":"C"},{"path":["n"],"type":"N"}]}`,
			"a prefix that ends inside a key has a name and no path"},
	} {
		if got := jsonText(t, run(t, root, c.opt)); !strings.HasSuffix(strings.TrimSpace(got), c.want) {
			t.Errorf("%+v: %s\nlacks %s: %s", c.opt, got, c.want, c.why)
		}
	}
}

func TestJSONExams(t *testing.T) {
	bad := f32(2)
	bad.Storage.Source = broken{8}
	root := dict(e("w", f32(0)), e("bad", bad))
	r := run(t, root, Options{Digest: true, Stats: true})
	got := jsonText(t, r)
	for _, want := range []string{
		`"digest":"sha256:`, `"stats":{"min":"NaN","max":"NaN","mean":"NaN","std":"NaN","zeros":0,"nan":0,"inf":0}`,
		`"bytes":8,"error":"the disk is gone"}`,
	} {
		if !strings.Contains(got, want) {
			t.Errorf("%s lacks %s", got, want)
		}
	}
	if err := r.Err(); !errors.Is(err, errBroken) || errors.Is(err, pytree.ErrExpanded) || !strings.HasPrefix(err.Error(), "bad: ") {
		t.Errorf("error %v", err)
	}
}

// What is refused is told apart from what failed.
func TestExpanded(t *testing.T) {
	x := &pytree.Tensor{DType: pytree.Uint8, Shape: []int64{1 << 40}, Strides: []int64{0}, Storage: storage(1)}
	r := run(t, dict(e("x", x)), Options{Digest: true})
	if err := r.Err(); !errors.Is(err, pytree.ErrExpanded) {
		t.Errorf("error %v", err)
	}
	if got := text(t, r); !strings.Contains(got, "not examined: 1099511627776 logical bytes") {
		t.Error(got)
	}
}

type failingWriter struct{ left int }

func (w *failingWriter) Write(p []byte) (int, error) {
	if w.left -= len(p); w.left < 0 {
		return 0, errBroken
	}
	return len(p), nil
}

func TestWriteErrors(t *testing.T) {
	root := randomTree(rand.New(rand.NewPCG(7, 8)))
	for i := range 2000 {
		root.(*pytree.Container).Entries = append(root.(*pytree.Container).Entries, e(i, typed("T", dict(e("x", scalar("y"))))))
	}
	r := run(t, root, Options{})
	var whole bytes.Buffer
	if err := r.WriteJSON(&whole); err != nil {
		t.Fatal(err)
	}
	for left := 0; left < whole.Len(); left += 5000 {
		if err := r.WriteJSON(&failingWriter{left}); !errors.Is(err, errBroken) {
			t.Fatalf("JSON: %d bytes fit of %d: %v", left, whole.Len(), err)
		}
	}
	if err := r.WriteText(&failingWriter{0}, TextOptions{}); !errors.Is(err, errBroken) {
		t.Errorf("text: %v", err)
	}
}
