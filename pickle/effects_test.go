package pickle

import (
	"strings"
	"testing"
)

func TestDroppedCalls(t *testing.T) {
	const call = "cos\nsystem\n\x8c\x02id\x85R"
	const seen = `call-result(<os system> ("id"))`
	for _, c := range []struct{ why, in, root, dropped string }{
		{"nothing dropped", call + ".", seen, ""},
		{"dropped at once", call + "0N.", "None", seen},
		{"dropped from the memo, too", call + "q\x000N.", "None", seen},
		{"dropped with a mark", "(" + call + "1N.", "None", seen},
		{"left on the stack", call + "N.", "None", seen},
		{"left under a mark", call + "(N1N.", "None", seen},
		{"inside what is dropped", "(" + call + "l0N.", "None", seen},
		{"value of a key that is set again", "}N" + call + "sNNs.", "{None:None}", seen},
		{"an argument of another", "cm\nf\n" + call + "\x850N.", "None", seen},
		{"new object", "cm\nC\n)\x810N.", "None", "new-object(<m C> ())"},
		{"old instance", "(im\nC\n0N.", "None", "instance(<m C> ())"},
		{"dropped, and referred to", call + "q\x000h\x00.", seen, ""},
		{"dropped, and referred to by what came before", "]q\x00" + call + "q\x01ah\x010.", "[" + seen + "]", ""},
		{"a first copy of a tuple in itself", "cm\nC\n)Rq\x00h\x00\x85q\x01ah\x00\x850h\x01.", "#1=(call-result(<m C> ())+list[@1])", ""},
		{"state set by a function", "cm\nC\n)\x81q\x00cm\nset\nh\x00K\x01\x86R0.", "#1=new-object(<m C> ())+effect[call-result(<m set> (@1 1))]", ""},
		{"a second copy of a call in its own arguments", "cm\nC\n)\x81cm\nC\n)\x81q\x00]q\x01\x86q\x020cm\nf\nh\x02R0.",
			"new-object(<m C> ())", "new-object(<m C> ()) call-result(<m f> (new-object(<m C> ()) []))"},
		{"the same of an object that is dropped", "cm\nC\n)\x81q\x00cm\nset\nh\x00K\x01\x86R00N.", "None",
			"#1=new-object(<m C> ())+effect[call-result(<m set> (@1 1))] #1=call-result(<m set> (new-object(<m C> ())+effect[@1] 1))"},
	} {
		p, err := readString(c.in)
		if err != nil {
			t.Errorf("%s: %v", c.why, err)
			continue
		}
		var dropped []string
		for _, v := range p.Dropped {
			dropped = append(dropped, dump(v))
		}
		if got := dump(p.Root); got != c.root {
			t.Errorf("%s: the root is %s, not %s", c.why, got, c.root)
		}
		if got := strings.Join(dropped, " "); got != c.dropped {
			t.Errorf("%s: dropped %s, not %s", c.why, got, c.dropped)
		}
		checkRoundTrip(t, c.why, p.Root)
	}
}

// Picklers drop nothing that matters, and neither does the Writer.
func TestSamplesDropNothing(t *testing.T) {
	for _, s := range samples(t) {
		p := mustRead(t, s.name, s.data)
		if len(p.Dropped) > 0 {
			t.Errorf("%s: dropped %s", s.name, dump(p.Dropped[0]))
		}
		if b, err := writeBytes(p.Root); err == nil {
			if p := mustRead(t, s.name, b); len(p.Dropped) > 0 {
				t.Errorf("%s, written: dropped %s", s.name, dump(p.Dropped[0]))
			}
		}
	}
}
