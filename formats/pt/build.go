package pt

import (
	"errors"
	"fmt"
	"strings"

	"ckpt/formats"
	"ckpt/pickle"
	"ckpt/pytree"
)

// builder turns a graph of pickle values into a tree.
type builder struct {
	// storage finds the storage with a key, whose elements have the given size;
	// bytes is how many the reference claims. It is nil for a bare pickle.
	storage func(key string, bytes int64) (pytree.Source, error)
	// persistent resolves persistent ids that are not storage tuples (the tar
	// format's numbers); nil if there are none.
	persistent func(id pickle.Value) (pytree.Node, bool, error)
	bigEndian  bool

	nodes    map[*pickle.Object]pytree.Node
	open     map[*pickle.Object]bool // being built: an object below itself is a loop
	storages map[string]*pytree.Storage
	numel    map[string]int64 // of each storage, as its first reference says
	order    []*pytree.Storage
	dtypes   map[*pickle.Object]*npType
	lengths  map[*pickle.Object]int64      // of long texts that stand for bytes
	printed  map[*pickle.Object]pytree.Key // keys that are objects
	keys     []pytree.Key                  // the path of the node being built
	depth    int
	left     int64 // see spend
	loops    bool
	modules  bool // there is an nn.Module
	// concealed tells that what is built is not shown, unseen counts its tensors.
	concealed, unseen int
	missing           []string // storages that the file lacks
	small             [256 + 5]*pytree.Scalar
}

func newBuilder() *builder {
	return &builder{
		nodes:    make(map[*pickle.Object]pytree.Node),
		open:     make(map[*pickle.Object]bool),
		storages: make(map[string]*pytree.Storage),
		numel:    make(map[string]int64),
		dtypes:   make(map[*pickle.Object]*npType),
		lengths:  make(map[*pickle.Object]int64),
		printed:  make(map[*pickle.Object]pytree.Key),
	}
}

// tree builds the whole tree; inputSize bounds how far a listing may swell.
func (b *builder) tree(root pickle.Value, inputSize int64) (*pytree.Tree, error) {
	b.budget(inputSize)
	n, err := b.node(root)
	if err != nil {
		return nil, err
	}
	if len(b.missing) > 0 {
		return nil, formats.WithHint(fmt.Errorf("%d of %d storages are missing: %s", len(b.missing), len(b.order), listed(b.missing, 5)),
			"the file is incomplete: copy or download it again")
	}
	if b.modules {
		if n, err = showModules(n, inputSize); err != nil {
			return nil, err
		}
	}
	t := &pytree.Tree{Root: n}
	once, err := boundListing(t, inputSize)
	if err != nil {
		return nil, err
	}
	if b.loops || once {
		nameRefs(t)
	}
	return t, nil
}

// listed joins the first n of names and counts the rest.
func listed(names []string, n int) string {
	if len(names) <= n {
		return strings.Join(names, ", ")
	}
	return fmt.Sprintf("%s and %d more", strings.Join(names[:n], ", "), len(names)-n)
}

// at adds the path of the node being built to an error.
func (b *builder) at(err error) error {
	if _, ok := err.(*located); ok || err == nil {
		return err
	}
	return &located{pytree.MakePath(b.keys...), err}
}

// located is an error with the path of the node that it is about.
type located struct {
	path pytree.Path
	err  error
}

func (l *located) Error() string {
	if l.path == pytree.Root {
		return l.err.Error()
	}
	return pytree.Printable(shortened(l.path.Dotted(), 200)) + ": " + l.err.Error()
}

// shortened cuts the middle out of a text of more than about n bytes.
func shortened(s string, n int) string {
	if len(s) <= n {
		return s
	}
	return strings.ToValidUTF8(s[:n/2], "") + "…" + strings.ToValidUTF8(s[len(s)-n/4:], "")
}

func (l *located) Unwrap() error { return l.err }

// badCall is an error about a call in the pickle whose arguments are not what
// the function takes.
func badCall(o *pickle.Object, format string, args ...any) error {
	return fmt.Errorf("%s at byte %d of the pickle: %s", callee(o), o.Pos, fmt.Sprintf(format, args...))
}

// child builds the value under key k of the container being built.
func (b *builder) child(k pytree.Key, v pickle.Value) (pytree.Node, error) {
	if len(b.keys) >= pytree.MaxDepth {
		return nil, b.at(fmt.Errorf("nested deeper than %d levels", pytree.MaxDepth))
	}
	b.keys = append(b.keys, k)
	n, err := b.node(v)
	if err != nil {
		return nil, b.at(err)
	}
	b.keys = b.keys[:len(b.keys)-1]
	return n, nil
}

// hidden builds values that are carried along without being shown, so that the
// tensors and shared objects in them are kept as well.
func (b *builder) hidden(values ...pickle.Value) ([]pytree.Node, error) {
	b.concealed++
	defer func() { b.concealed-- }()
	nodes := make([]pytree.Node, len(values))
	for i, v := range values {
		n, err := b.node(v)
		if err != nil {
			return nil, err
		}
		nodes[i] = n
	}
	return nodes, nil
}

// hiddenTuple is a call's arguments, not shown.
func (b *builder) hiddenTuple(v pickle.Value) (*pytree.Container, error) {
	n, err := b.node(v)
	c, ok := n.(*pytree.Container)
	if err == nil && !ok {
		err = errors.New("the arguments of a call lead back to themselves")
	}
	return c, err
}

// node builds the node for v. An object is built once, however often it is
// referred to.
func (b *builder) node(v pickle.Value) (pytree.Node, error) {
	o := v.Obj()
	if o == nil {
		return b.scalar(v)
	}
	if n, ok := b.nodes[o]; ok {
		if b.open[o] {
			b.loops = true
			to, _ := n.(*pytree.Container)
			return &pytree.Ref{To: to}, nil
		}
		return n, nil
	}
	if err := b.descend(); err != nil {
		return nil, b.at(err)
	}
	n, err := b.object(v, o)
	b.depth--
	if err != nil {
		return nil, b.at(err)
	}
	b.nodes[o] = n
	return n, nil
}

// descend bounds the recursion, which may go deeper than the tree: a call may
// wrap a call. The caller takes one off b.depth when it is done.
func (b *builder) descend() error {
	if b.depth > pytree.MaxDepth {
		return fmt.Errorf("nested deeper than %d levels", pytree.MaxDepth)
	}
	b.depth++
	return nil
}

// begin records the container being built for o, so that a loop finds it.
func (b *builder) begin(o *pickle.Object, c *pytree.Container) func() {
	b.nodes[o], b.open[o] = c, true
	return func() { delete(b.open, o) }
}
