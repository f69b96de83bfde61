package inspect

import (
	"hash/maphash"
	"strings"

	"ckpt/pytree"
	"ckpt/report"
)

// line is what one entry, or a container above others, says of itself.
type line struct {
	path    pytree.Path
	name    string
	what    string
	tie     string // how the tensor is tied to the one at alias
	alias   string
	exam    *pytree.Exam
	tensors int
	entries int
	count   count
	seq     int // of the first entry, in file order
	level   int // how many headings are around it

	above   *line // the heading around it
	heading bool
	plain   bool // a heading that says nothing but its name
	// content is a hash of all that a heading holds, and context one of the
	// headings around a line: where either differs, lines do not fold.
	content, context uint64
	hash             *maphash.Hash
}

// outline makes the lines of the text form.
type outline struct {
	r     *Result
	full  bool
	seed  maphash.Seed
	lines []*line
	open  []*line           // the headings around the entry at hand
	types map[string]string // of containers that are summed up, by name
	// inline is the sequence whose items its own line shows.
	inline pytree.Path
	next   int
}

func newOutline(r *Result) (*outline, error) {
	o := &outline{r: r, full: r.q.opt.Full, seed: maphash.MakeSeed(), types: make(map[string]string)}
	err := r.each(visitor{enter: o.enter, leaf: o.leaf, entry: o.entry})
	o.settle()
	return o, err
}

// enter opens a heading for a container.
func (o *outline) enter(p pytree.Path, c *pytree.Container) {
	o.leave(p)
	name := p.Dotted()
	if len(c.Entries) == 0 || o.full || p == pytree.Root || !o.r.q.below(p, name) {
		return
	}
	if _, deeper := o.r.q.cut(name + ".x"); deeper {
		o.types[name] = withAttrs(c)
		return
	}
	l := &line{path: p, name: name, what: withAttrs(c), heading: true, seq: o.next, level: len(o.open), above: o.top()}
	l.plain = c.Plain() && len(c.Attrs) == 0
	if scalarsOnly(c) && o.r.q.glob == nil {
		o.inline = p
		l.what, l.heading = listText(c, shortValue), false
	}
	l.hash = new(maphash.Hash)
	l.hash.SetSeed(o.seed)
	o.lines = append(o.lines, l)
	o.open = append(o.open, l)
}

func (o *outline) top() *line {
	if len(o.open) == 0 {
		return nil
	}
	return o.open[len(o.open)-1]
}

// leave closes the headings that p is not under.
func (o *outline) leave(p pytree.Path) {
	for l := o.top(); l != nil && !holds(l.path, p); l = o.top() {
		o.close(l)
	}
}

func (o *outline) close(l *line) {
	o.open = o.open[:len(o.open)-1]
	l.content = l.hash.Sum64()
	l.above.holds(l.path, l.what, l.content)
}

// holds takes a child into the hash of l's content.
func (l *line) holds(p pytree.Path, what string, content uint64) {
	if l == nil {
		return
	}
	for _, s := range []string{string(p[len(l.path)-1:]), what} {
		maphash.WriteComparable(l.hash, len(s))
		l.hash.WriteString(s)
	}
	maphash.WriteComparable(l.hash, content)
}

// leaf counts an entry under all headings around it.
func (o *outline) leaf(e *entry) bool {
	o.leave(e.path)
	o.next = e.seq + 1
	for _, l := range o.open {
		l.add(e)
	}
	if o.inline != "" && holds(o.inline, e.path) {
		return false
	}
	o.inline = ""
	e.above = o.top()
	e.above.holds(e.path, what(e.node, shortValue)+e.fingerprint(), 0)
	return true
}

func (l *line) add(e *entry) {
	l.entries++
	if _, ok := e.node.(*pytree.Tensor); ok {
		l.tensors++
		l.count.elements = addCapped(l.count.elements, e.count.elements)
		l.count.bytes = addCapped(l.count.bytes, e.count.bytes)
	}
}

// fingerprint is what makes a tensor differ from others like it.
func (e *entry) fingerprint() string {
	switch {
	case e.exam != nil:
		return "\n" + string(e.path) // each has a line of its own
	case e.alias.with != "":
		return "\n" + e.alias.word()
	}
	return ""
}

// word says how a tensor is tied.
func (t tie) word() string {
	if t.same {
		return "= "
	}
	return "shares storage with "
}

func (o *outline) entry(e entry) error {
	l := &line{path: e.path, name: e.name, exam: e.exam, entries: 1, count: e.count, seq: e.seq, level: pytree.MaxDepth + 1, above: e.above}
	width := shortValue
	if o.full {
		width = longValue
	}
	switch n := e.node.(type) {
	case nil:
		l.tensors, l.entries, l.count = e.sub.Tensors, e.sub.entries, count{e.sub.Parameters, e.sub.TensorBytes}
		l.what = report.Plural(l.entries, "entry", "entries")
		if t := o.types[e.name]; t != "" {
			l.what = t + ", " + l.what
		}
		l.what += tensorsText(l.tensors)
	case *pytree.Tensor:
		l.tensors, l.what = 1, what(n, width)
		if e.alias.with != "" {
			l.tie, l.alias = e.alias.word(), e.alias.with.Dotted()
		}
	default:
		l.what = what(n, width)
	}
	o.lines = append(o.lines, l)
	return nil
}

func tensorsText(n int) string {
	if n == 0 {
		return ""
	}
	return ", " + report.Plural(n, "tensor", "tensors")
}

// settle drops the headings of what was not selected, and gives names that
// several lines have their exact forms.
func (o *outline) settle() {
	for l := o.top(); l != nil; l = o.top() {
		o.close(l)
	}
	times := make(map[string]int, len(o.lines))
	kept := o.lines[:0]
	for _, l := range o.lines {
		if l.entries == 0 {
			continue
		}
		if l.heading {
			l.what += tensorsText(l.tensors)
		}
		if l.above != nil {
			l.context = maphash.Comparable(o.seed, [2]uint64{l.above.context, l.above.content})
		}
		kept = append(kept, l)
		times[l.name]++
	}
	o.lines = kept
	for _, l := range o.lines {
		if n := times[l.name]; (n > 1 || l.name == "" || strings.HasPrefix(l.name, "[")) && l.path != "" {
			l.name = l.path.JSON()
		}
	}
}
