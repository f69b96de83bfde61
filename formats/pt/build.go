package pt

import (
	"errors"
	"fmt"
	"io"
	"math/big"
	"strconv"
	"strings"
	"unicode/utf8"

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

func (b *builder) scalar(v pickle.Value) (pytree.Node, error) {
	switch v.Kind() {
	case pickle.None:
		return b.shared(256, nil), nil
	case pickle.Bool:
		if v.Bool() {
			return b.shared(257, true), nil
		}
		return b.shared(258, false), nil
	case pickle.Int:
		if i := v.Int(); i >= 0 && i < 256 {
			return b.shared(int(i), i), nil
		}
		return &pytree.Scalar{V: v.Int()}, nil
	case pickle.Float:
		return &pytree.Scalar{V: v.Float()}, nil
	case pickle.Text:
		return &pytree.Scalar{V: v.Str()}, nil
	case pickle.Bytes:
		return &pytree.Scalar{V: []byte(v.Str())}, nil
	case pickle.Raw:
		// Python 2's str. torch.load decodes it as UTF-8.
		if utf8.ValidString(v.Str()) {
			return &pytree.Scalar{V: v.Str()}, nil
		}
		return &pytree.Scalar{V: []byte(v.Str()), Payload: v}, nil
	}
	return nil, fmt.Errorf("pickle value of unknown kind %v", v.Kind())
}

// shared hands out one node for each of the commonest scalars.
func (b *builder) shared(slot int, v any) *pytree.Scalar {
	if b.small[slot] == nil {
		b.small[slot] = &pytree.Scalar{V: v}
	}
	return b.small[slot]
}

func (b *builder) object(v pickle.Value, o *pickle.Object) (pytree.Node, error) {
	if len(o.State()) > 0 {
		switch o.Kind {
		case pickle.Call, pickle.New, pickle.Inst, pickle.Persistent, pickle.Global:
		default:
			return nil, fmt.Errorf("byte %d of the pickle: BUILD sets the state of %s", o.Pos, kindOf(v))
		}
	}
	switch o.Kind {
	case pickle.LongText, pickle.LongBytes, pickle.LongRaw:
		return longScalar(v, o)
	case pickle.BigInt:
		return &pytree.Scalar{V: o.Big()}, nil
	case pickle.List:
		return b.sequence(o, "list", o.Items, nil)
	case pickle.Tuple:
		return b.sequence(o, "tuple", o.Items, nil)
	case pickle.Set:
		return b.set(o, "set", o.Items)
	case pickle.FrozenSet:
		return b.set(o, "frozenset", o.Items)
	case pickle.Dict:
		return b.mapping(o, "dict", o.Items, nil)
	case pickle.ByteArray:
		return b.byteArray(o.Items)
	case pickle.Global:
		return globalNode(v, o), nil
	case pickle.Persistent:
		return b.persistentNode(v, o)
	case pickle.Call, pickle.New, pickle.Inst:
		return b.constructed(v, o)
	case pickle.Extension:
		return &pytree.Opaque{Type: "copyreg extension", Text: strconv.FormatInt(o.Items[0].Int(), 10), Payload: v}, nil
	case pickle.Buffer:
		return &pytree.Opaque{Type: "out-of-band buffer", Text: "its bytes are not in the file", Payload: v}, nil
	}
	return nil, fmt.Errorf("byte %d of the pickle: object of unknown kind %v", o.Pos, o.Kind)
}

// sequence builds a list-like container.
func (b *builder) sequence(o *pickle.Object, typ string, items []pickle.Value, m *meta) (pytree.Node, error) {
	c := &pytree.Container{Kind: pytree.Sequence, Type: typ}
	setMeta(c, m)
	defer b.begin(o, c)()
	return c, b.addItems(c, items)
}

func (b *builder) addItems(c *pytree.Container, items []pickle.Value) error {
	if err := b.spend(len(items)); err != nil {
		return err
	}
	c.Entries = make([]pytree.Entry, 0, len(items))
	for i, item := range items {
		k := pytree.IntKey(int64(i))
		n, err := b.child(k, item)
		if err != nil {
			return err
		}
		c.Entries = append(c.Entries, pytree.Entry{Key: k, Value: n})
	}
	return nil
}

// mapping builds a dict-like container from alternating keys and values.
func (b *builder) mapping(o *pickle.Object, typ string, items []pickle.Value, m *meta) (*pytree.Container, error) {
	c := &pytree.Container{Kind: pytree.Mapping, Type: typ}
	setMeta(c, m)
	defer b.begin(o, c)()
	return c, b.addPairs(c, items, pytree.Item)
}

func (b *builder) addPairs(c *pytree.Container, items []pickle.Value, part pytree.Part) error {
	if err := b.spend(len(items) / 2); err != nil {
		return err
	}
	c.Entries = make([]pytree.Entry, 0, len(items)/2)
	keys := newKeySet(len(items) / 2)
	for i := 0; i+1 < len(items); i += 2 {
		k, at := keys.add(b.keyOf(items[i]), items[i])
		n, err := b.child(k, items[i+1])
		if err != nil {
			return err
		}
		e := pytree.Entry{Key: k, Value: n, Part: part}
		if !k.Addressable() {
			const entry = 8 // bytes of a text, so that a path of it has its price
			if err := b.spend(len(k.String()) / entry); err != nil {
				return err
			}
			key, err := b.hidden(items[i])
			if err != nil {
				return err
			}
			metaOf(c).key(k, key[0])
		}
		if at >= 0 { // set twice: the last value stays, in the first one's place
			c.Entries[at] = e
			continue
		}
		c.Entries = append(c.Entries, e)
	}
	return nil
}

// longScalar is a text or bytes that stays in the file.
func longScalar(v pickle.Value, o *pickle.Object) (pytree.Node, error) {
	src, err := newBlobSource(o)
	if err != nil {
		return nil, err
	}
	if o.Kind == pickle.LongBytes {
		return bytesScalar(src, ""), nil
	}
	isText := o.Kind == pickle.LongText
	if o.Kind == pickle.LongRaw {
		// Python 2's str is text if it is UTF-8, as a short one is.
		rc := o.Blob().OpenUTF8()
		_, err := io.Copy(io.Discard, rc)
		isText = errors.Join(err, rc.Close()) == nil
	}
	return &pytree.Scalar{V: &pytree.Long{Source: src, Text: isText}, Payload: v}, nil
}

// byteArray is a bytearray, whose content is given as bytes or as Latin-1 text.
func (b *builder) byteArray(items []pickle.Value) (pytree.Node, error) {
	s := &pytree.Scalar{V: []byte{}, Class: "bytearray"}
	if len(items) == 0 {
		return s, nil
	}
	src, err := b.content(items[0])
	if err != nil {
		return nil, err
	}
	if m, ok := src.(pytree.Bytes); ok {
		s.V = []byte(m)
	} else {
		s.V = &pytree.Long{Source: src}
	}
	return s, nil
}

// globalNode is a class or function by name, or one of the names that stand for
// a value.
func globalNode(v pickle.Value, o *pickle.Object) pytree.Node {
	module, name := o.Global()
	typ, full := "global", module+"."+name
	if module == "torch" {
		if _, ok := torchDTypes[name]; ok {
			typ = "torch.dtype"
		} else if name == "strided" || strings.HasPrefix(name, "sparse_") {
			typ = "torch.layout"
		} else if strings.HasSuffix(name, "_format") || strings.HasPrefix(name, "channels_last") {
			typ = "torch.memory_format"
		}
	}
	return &pytree.Opaque{Type: typ, Text: full, Payload: v}
}

// bigOf is v as an integer of any size.
func bigOf(v pickle.Value) (*big.Int, bool) {
	switch v.Kind() {
	case pickle.Int:
		return big.NewInt(v.Int()), true
	case pickle.BigInt:
		return v.Obj().Big(), true
	}
	return nil, false
}

// str is v as a string, if it is a short one.
func str(v pickle.Value) (string, bool) {
	switch v.Kind() {
	case pickle.Text, pickle.Raw:
		return v.Str(), true
	}
	return "", false
}

// tuple is the items of v if it is a tuple or a list.
func tuple(v pickle.Value) ([]pickle.Value, bool) {
	if k := v.Kind(); k == pickle.Tuple || k == pickle.List {
		return v.Obj().Items, true
	}
	return nil, false
}
