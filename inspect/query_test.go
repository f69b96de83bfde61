package inspect

import (
	"context"
	"errors"
	"slices"
	"testing"

	"ckpt/formats"
	"ckpt/pytree"
)

func queryTree() pytree.Node {
	return dict(
		e("model", dict(e("enc.0.weight", f32(1)), e("enc.0.bias", f32(1)), e("encoder.weight", f32(1)))),
		e("a", dict(e("b", scalar(int64(1))))),
		e("a.b", scalar(int64(2))),
		e("list", pytree.NewList(scalar(int64(0)), dict())),
		e("0", scalar(int64(3))),
	)
}

func TestSelect(t *testing.T) {
	for _, c := range []struct {
		at, match string
		want      []string
		why       string
	}{
		{"", "", []string{`["model","enc.0.weight"]`, `["model","enc.0.bias"]`, `["model","encoder.weight"]`, `["a","b"]`, `["a.b"]`, `["list",0]`, `["list",1]`, `["0"]`}, "everything, empty containers too"},
		{"model.enc", "", []string{`["model","enc.0.weight"]`, `["model","enc.0.bias"]`}, "a dotted path ends on a boundary, also inside a key"},
		{`["model"]`, "", []string{`["model","enc.0.weight"]`, `["model","enc.0.bias"]`, `["model","encoder.weight"]`}, "an exact path covers whole keys"},
		{"a.b", "", []string{`["a","b"]`, `["a.b"]`}, "an ambiguous path shows both"},
		{`["a","b"]`, "", []string{`["a","b"]`}, "an exact path tells them apart"},
		{`["list",0]`, "", []string{`["list",0]`}, "an integer is an index"},
		{"list.1", "", []string{`["list",1]`}, "an empty container is an entry"},
		{"[]", "", []string{`["model","enc.0.weight"]`, `["model","enc.0.bias"]`, `["model","encoder.weight"]`, `["a","b"]`, `["a.b"]`, `["list",0]`, `["list",1]`, `["0"]`}, "the root covers all"},
		{"", "*.*.*.bias", []string{`["model","enc.0.bias"]`}, "* stays between dots, wherever keys end"},
		{"", "model.*", nil, "* does not cross a dot"},
		{"", "**.weight", []string{`["model","enc.0.weight"]`, `["model","encoder.weight"]`}, "** does"},
		{"", "weight", nil, "a pattern must match the whole name"},
		{"model.enc", "**.{weight,scale}", []string{`["model","enc.0.weight"]`}, "both restrict"},
	} {
		q, err := NewQuery(Options{At: c.at, Match: c.match})
		if err != nil {
			t.Fatal(err)
		}
		r, err := q.Run(context.Background(), "x", checkpoint(queryTree()), nil)
		if (err != nil) != (c.want == nil) || err != nil && !errors.Is(err, ErrNothing) {
			t.Errorf("at %q match %q: error %v: %s", c.at, c.match, err, c.why)
			continue
		} else if err != nil {
			continue
		}
		var got []string
		r.each(visitor{entry: func(e entry) error { got = append(got, string(e.path)); return nil }})
		if !slices.Equal(got, c.want) {
			t.Errorf("at %q match %q: %v, want %v: %s", c.at, c.match, got, c.want, c.why)
		}
	}
}

func TestNothing(t *testing.T) {
	for _, c := range []struct{ at, match, text, hint, why string }{
		{"model.encodr", "", "model.encodr: there is no such path: nothing was examined", "did you mean model.encoder?", "the nearest key at the place where the path leaves the tree"},
		{"modle.enc", "", "modle.enc: there is no such path: nothing was examined", "did you mean model?", "a wrong first key"},
		{"list.7", "", "list.7: there is no such path: nothing was examined", "did you mean list.0 or list.1?", "indices that exist"},
		{"something.else", "", "something.else: there is no such path: nothing was examined", "", "no suggestion is better than a wild one"},
		{`["0",1]`, "", `["0",1]: there is no such path: nothing was examined`, "did you mean 0 or a?", "exact paths respect types"},
		{"", "weight", "no entry matches weight: nothing was examined", "", "no wildcard to blame"},
		{"model", "*.bias", "no entry matches *.bias: nothing was examined", "the pattern must match the whole name; * ends at a dot, ** does not", "the path is there, the pattern is not"},
	} {
		q, err := NewQuery(Options{At: c.at, Match: c.match})
		if err != nil {
			t.Fatal(err)
		}
		_, err = q.Run(context.Background(), "x", checkpoint(queryTree()), nil)
		if !errors.Is(err, ErrNothing) || err.Error() != c.text || formats.Hint(err) != c.hint {
			t.Errorf("at %q match %q: %v, hint %q: %s", c.at, c.match, err, formats.Hint(err), c.why)
		}
	}
}

func TestEmptyFileIsExamined(t *testing.T) {
	if r := run(t, dict(), Options{}); r.Total.Tensors != 0 {
		t.Error(r.Total)
	}
}

func TestBadQuery(t *testing.T) {
	for _, opt := range []Options{{At: "[1,"}, {At: "[null]"}, {Match: "[a"}, {Depth: -1}} {
		if _, err := NewQuery(opt); err == nil {
			t.Errorf("%+v: accepted", opt)
		}
	}
}

func TestCut(t *testing.T) {
	for _, c := range []struct {
		at     string
		depth  int
		name   string
		want   string
		deeper bool
	}{
		{"", 0, "a.b.c", "a.b.c", false},
		{"", 1, "a.b.c", "a", true},
		{"", 2, "a.b.c", "a.b", true},
		{"", 3, "a.b.c", "a.b.c", false},
		{"a", 1, "a.b.c", "a.b", true},
		{"a", 2, "a.b.c", "a.b.c", false},
		{"a.b.c", 1, "a.b.c", "a.b.c", false},
		{"", 1, "", "", false},
		{"", 1, "..", "", true},
	} {
		q, err := NewQuery(Options{At: c.at, Depth: c.depth})
		if err != nil {
			t.Fatal(err)
		}
		if got, deeper := q.cut(c.name); got != c.want || deeper != c.deeper {
			t.Errorf("at %q depth %d: %q gives %q, %v", c.at, c.depth, c.name, got, deeper)
		}
	}
}
