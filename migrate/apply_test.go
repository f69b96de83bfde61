package migrate

import (
	"errors"
	"testing"

	"ckpt/pytree"
)

func TestApplyKeepsTheTemplate(t *testing.T) {
	old := makeTree(t, `m/w float32[2,3] @old
		m/n int 3`)
	template := makeTree(t, `m/n int 0
		m/w float32[2,3] @new
		kept/k float32[1] @kept
		e {}`)
	place := leafOf[*pytree.Tensor](t, template, `["m","w"]`)
	value := leafOf[*pytree.Tensor](t, old, `["m","w"]`)
	place.Wrapper, value.Wrapper = "parameter", "plain"
	value.Strides, value.Offset = []int64{1, 2}, 5
	value.ItemSize, value.Swap = 4, []int{2, 2}
	m, _ := template.Find(`["m"]`)
	m.(*pytree.Container).Type, m.(*pytree.Container).Payload = "collections.OrderedDict", "payload"
	m.(*pytree.Container).Attrs = []string{"_metadata"}

	tree, err := NewPlan(old, template, mustRules(t, `rule { to_path: "kept" }`), Options{}).Apply()
	if err != nil {
		t.Fatal(err)
	}
	got := leafOf[*pytree.Tensor](t, tree, `["m","w"]`)
	if got.Wrapper != "parameter" {
		t.Errorf("wrapper %v: a filled tensor keeps the new leaf's", got.Wrapper)
	}
	if got.Storage != value.Storage || got.Offset != 5 || got.Strides[1] != 2 || got.ItemSize != 4 || len(got.Swap) != 2 {
		t.Errorf("%+v: the bytes, strides and storage are the old leaf's", got)
	}
	if n := leafOf[*pytree.Scalar](t, tree, `["m","n"]`); n.V != int64(3) {
		t.Errorf("scalar %v, want the old one", n.V)
	}
	n, _ := tree.Find(`["m"]`)
	c := n.(*pytree.Container)
	if c.Type != "collections.OrderedDict" || c.Payload != "payload" || len(c.Attrs) != 1 || c.Entries[0].Key != pytree.StringKey("n") {
		t.Errorf("container %+v: type, payload, attributes and order are the template's", c)
	}
	before, _ := template.Find(`["kept"]`)
	if after, _ := tree.Find(`["kept"]`); after != before {
		t.Error("a subtree that did not change was copied")
	}
	if place.Storage == value.Storage || place.Wrapper != "parameter" || value.Wrapper != "plain" {
		t.Error("an input was changed")
	}
}

func leafOf[T pytree.Node](t *testing.T, tree *pytree.Tree, path pytree.Path) T {
	t.Helper()
	n, ok := tree.Find(path)
	if !ok {
		t.Fatalf("%s is not in\n%s", path, show(tree))
	}
	x, ok := n.(T)
	if !ok {
		t.Fatalf("%s is a %T", path, n)
	}
	return x
}

// What is one node in the template stays one where the same value goes into
// all of its places, and only there.
func TestApplyKeepsSharing(t *testing.T) {
	shared := makeTree(t, `w float32[2] @t
		n int 1`).Root
	template := &pytree.Tree{Root: pytree.NewDict(
		pytree.Entry{Key: pytree.StringKey("a"), Value: shared},
		pytree.Entry{Key: pytree.StringKey("b"), Value: shared},
		pytree.Entry{Key: pytree.StringKey("c"), Value: shared},
	)}
	old := makeTree(t, `x/w float32[2] @x
		x/n int 7
		c/w float32[2] @c
		c/n int 8`)
	tree, err := NewPlan(old, template, mustRules(t, `
		rule { from_path: "x" to_path: "a" }
		rule { from_path: "x" to_path: "b" }`), Options{}).Apply()
	if err != nil {
		t.Fatal(err)
	}
	a, _ := tree.Find(`["a"]`)
	b, _ := tree.Find(`["b"]`)
	c, _ := tree.Find(`["c"]`)
	if a != b {
		t.Error("a and b were one node and got the same values, but are two now")
	}
	if a == c {
		t.Error("a and c got different values, but are one node")
	}
	if wa, wc := leafOf[*pytree.Tensor](t, tree, `["a","w"]`), leafOf[*pytree.Tensor](t, tree, `["c","w"]`); wa.Storage.Key != "x" || wc.Storage.Key != "c" {
		t.Errorf("a.w is %s and c.w is %s, want x and c", wa.Storage.Key, wc.Storage.Key)
	}
}

// loopTree is {"m": {"w": tensor, "self": m}, "top": root's m}.
func loopTree(t *testing.T, key string) *pytree.Tree {
	m := makeTree(t, "w float32[2] @"+key).Root.(*pytree.Container)
	m.Entries = append(m.Entries, pytree.Entry{Key: pytree.StringKey("self"), Value: &pytree.Ref{To: m, Path: `["m"]`}})
	return &pytree.Tree{Root: pytree.NewDict(pytree.Entry{Key: pytree.StringKey("m"), Value: m})}
}

func TestApplyClosesLoops(t *testing.T) {
	tests := []struct {
		why           string
		old, template *pytree.Tree
		rules         string
		at, to        pytree.Path
	}{
		{"a loop leads to the container that was filled", loopTree(t, "old"), loopTree(t, "new"), ``, `["m","self"]`, `["m"]`},
		{"a loop goes along when its container is renamed", loopTree(t, "old"), nil, `rule { from_path: "m" to_path: "n" }`, `["n","self"]`, `["n"]`},
		{"and when it is created", loopTree(t, "old"), makeTree(t, `x/n {}`), `rule { from_path: "m" to_path: "x.n" create: true }`, `["x","n","self"]`, `["x","n"]`},
	}
	for _, test := range tests {
		t.Run(test.why, func(t *testing.T) {
			p := NewPlan(test.old, test.template, mustRules(t, test.rules), Options{})
			tree, err := p.Apply()
			if err != nil {
				t.Fatal(err, p.Report().Findings)
			}
			ref := leafOf[*pytree.Ref](t, tree, test.at)
			if to, _ := tree.Find(test.to); pytree.Node(ref.To) != to || ref.Path != test.to {
				t.Errorf("the loop leads to %p at %s, want %p at %s", ref.To, ref.Path, to, test.to)
			}
		})
	}
}

func TestLoopOutOfTheTree(t *testing.T) {
	old := loopTree(t, "old")
	root := old.Root.(*pytree.Container)
	root.Entries = append(root.Entries, pytree.Entry{Key: pytree.StringKey("again"), Value: &pytree.Ref{To: root.Entries[0].Value.(*pytree.Container), Path: `["m"]`}})
	p := NewPlan(old, nil, mustRules(t, `rule { from_path: "m" }`), Options{})
	if _, err := p.Apply(); !errors.Is(err, ErrFindings) {
		t.Errorf("a loop leads to a container that is dropped; Apply: %v", err)
	}
}

// A subtree that is created comes with its containers: their types, their order,
// an object's parts, and those that are empty.
func TestCreateTakesContainersAlong(t *testing.T) {
	old := makeTree(t, `opt/state/0/exp float32[2]
		opt/state/0/none {}
		opt/state/7/exp float32[2]
		opt/later int 1`)
	state, _ := old.Find(`["opt","state"]`)
	state.(*pytree.Container).Type = "collections.defaultdict"
	zero, _ := old.Find(`["opt","state",0]`)
	z := zero.(*pytree.Container)
	z.Kind, z.Type = pytree.Object, "my.State"
	z.Entries[0].Part, z.Entries[1].Part = pytree.Arg, pytree.Attr

	template := makeTree(t, `opt/state {}
		opt/lr int 0`)
	tree, err := NewPlan(old, template, mustRules(t, `
		rule { from_path: "opt.state" to_path: "opt.state" create: true }
		rule { from_path: "opt.later" to_path: "opt.lr" }`), Options{}).Apply()
	if err != nil {
		t.Fatal(err)
	}
	if got, _ := tree.Find(`["opt","state"]`); got != state {
		t.Errorf("the state was taken whole, but is a copy: %+v", got)
	}
	if got, want := show(tree), show(makeTree(t, `opt/state/0/exp float32[2]
		opt/state/0/none {}
		opt/state/7/exp float32[2]
		opt/lr int 1`)); got != want {
		t.Errorf("got\n%swant\n%s", got, want)
	}
	// Without its first part the object is altered, but still one.
	tree, err = NewPlan(old, template, mustRules(t, `
		rule { from_path: "opt" to_path: "opt" create: true }
		rule { from_path: "opt.state.0.exp" }
		rule { to_path: "opt.lr" }`), Options{}).Apply()
	if err != nil {
		t.Fatal(err)
	}
	n, _ := tree.Find(`["opt","state",0]`)
	if c := n.(*pytree.Container); c.Type != "my.State" || len(c.Entries) != 1 || c.Entries[0].Part != pytree.Attr {
		t.Errorf("got %+v, want the object with its attribute alone", c)
	}
}

func TestApplyRefusesFindings(t *testing.T) {
	p := NewPlan(makeTree(t, `a int 1`), makeTree(t, `b int 1`), nil, Options{})
	if tree, err := p.Apply(); tree != nil || !errors.Is(err, ErrFindings) {
		t.Errorf("Apply: %v, %v; want ErrFindings", tree, err)
	}
}
