package inspect

import (
	"bufio"
	"io"

	"ckpt/pytree"
)

// WriteJSON prints the result as one object on one line: the file's own fields,
// "entries" in file order, then "containers", which lists those whose type is
// not the plain mapping or sequence. Fields are only ever added.
//
// Integers beyond 2^53 are strings, of any number; those of more than 65,536
// bits are hexadecimal. Fields that say nothing are left out: "notes" and
// "unreferenced_bytes" unless there are some, "selected" unless the query leaves
// something out. Subtrees below the query's depth are entries of kind "subtree",
// without a path where their name ends inside a key.
func (r *Result) WriteJSON(w io.Writer) error {
	j := &jsonWriter{w: bufio.NewWriterSize(w, 64<<10)}
	j.head(r)
	special := specials{q: r.q}
	first := true
	err := r.each(visitor{
		enter: special.enter,
		leaf:  special.leaf,
		entry: func(e entry) error {
			if !first {
				j.raw(",")
			}
			first = false
			return j.entry(r, e)
		},
	})
	if err != nil {
		j.w.Flush() // what there is: the error says that it is not all
		return err
	}
	j.raw(`],"containers":[`)
	for i, c := range special.list {
		if i > 0 {
			j.raw(",")
		}
		if err := j.container(c); err != nil {
			return err
		}
	}
	j.raw("]}\n")
	if err := j.flush(); err != nil {
		return err
	}
	return j.w.Flush()
}

// jsonWriter collects an entry in buf and then hands it to w, whose errors
// stick.
type jsonWriter struct {
	w   *bufio.Writer
	buf []byte
}

func (j *jsonWriter) raw(s string)    { j.buf = append(j.buf, s...) }
func (j *jsonWriter) text(s string)   { j.buf = pytree.AppendJSONString(j.buf, s) }
func (j *jsonWriter) int(n int64)     { j.buf = appendInt(j.buf, n) }
func (j *jsonWriter) uint(n uint64)   { j.buf = appendUint(j.buf, n) }
func (j *jsonWriter) float(f float64) { j.buf = appendFloat(j.buf, f) }

func (j *jsonWriter) flush() error {
	_, err := j.w.Write(j.buf)
	j.buf = j.buf[:0]
	return err
}

// full flushes what is worth it.
func (j *jsonWriter) full() error {
	if len(j.buf) < 4<<10 {
		return nil
	}
	return j.flush()
}

func (j *jsonWriter) head(r *Result) {
	c := r.Checkpoint
	j.raw(`{"file":`)
	j.text(r.File)
	j.raw(`,"format":`)
	j.text(c.Format.Name)
	j.raw(`,"variant":`)
	j.text(c.Variant)
	j.raw(`,"size":`)
	j.int(c.Size)
	j.raw(`,`)
	j.totals(r.Total)
	if r.Unreferenced > 0 {
		j.raw(`,"unreferenced_bytes":`)
		j.int(r.Unreferenced)
	}
	if len(c.Notes) > 0 {
		j.raw(`,"notes":`)
		j.texts(c.Notes)
	}
	if !r.q.all() {
		j.raw(`,"selected":{`)
		j.totals(r.Selected)
		j.raw(`}`)
	}
	j.raw(`,"entries":[`)
}

func (j *jsonWriter) totals(t Totals) {
	j.raw(`"tensors":`)
	j.int(int64(t.Tensors))
	j.raw(`,"parameters":`)
	j.uint(t.Parameters)
	j.raw(`,"tensor_bytes":`)
	j.uint(t.TensorBytes)
}

func (j *jsonWriter) texts(list []string) {
	for i, s := range list {
		j.raw([]string{"[", ","}[min(i, 1)])
		j.text(s)
	}
	j.raw("]")
}

func (j *jsonWriter) entry(r *Result, e entry) error {
	j.raw(`{`)
	if e.path != "" {
		j.raw(`"path":`)
		j.raw(e.path.JSON())
		j.raw(`,`)
	}
	j.raw(`"name":`)
	j.text(e.name)
	if !e.path.Addressable() {
		j.raw(`,"addressable":false`)
	}
	switch n := e.node.(type) {
	case *pytree.Tensor:
		j.tensor(e, n)
	case *pytree.Scalar:
		if err := j.scalar(n); err != nil {
			return err
		}
	case *pytree.Opaque:
		j.opaque(n.Type, n.Text)
	case *pytree.Ref:
		j.opaque("reference", n.Path.JSON())
	case *pytree.Container:
		j.raw(`,"kind":"empty","type":`)
		j.text(n.Type)
		j.attributes(n)
	case nil:
		j.raw(`,"kind":"subtree","entries":`)
		j.int(int64(e.sub.entries))
		j.raw(`,`)
		j.totals(e.sub.Totals)
	}
	j.raw(`}`)
	return j.full()
}

func (j *jsonWriter) opaque(typ, text string) {
	j.raw(`,"kind":"opaque","type":`)
	j.text(typ)
	j.raw(`,"text":`)
	j.text(text)
}

func (j *jsonWriter) tensor(e entry, t *pytree.Tensor) {
	j.raw(`,"kind":"tensor","dtype":`)
	j.text(string(t.DType))
	j.raw(`,"shape":[`)
	for i, d := range t.Shape {
		if i > 0 {
			j.raw(",")
		}
		j.int(d)
	}
	j.raw(`],"bytes":`)
	j.int(t.Bytes())
	if x := e.exam; x != nil {
		j.exam(x)
	}
	if e.alias.with != "" {
		j.raw(`,"alias_of":`)
		j.raw(e.alias.with.JSON())
	}
}

func (j *jsonWriter) exam(x *pytree.Exam) {
	if x.Digest != "" {
		j.raw(`,"digest":`)
		j.text(x.Digest)
	}
	if s := x.Stats; s != nil {
		for i, f := range []float64{s.Min, s.Max, s.Mean, s.Std} {
			j.raw([]string{`,"stats":{"min":`, `,"max":`, `,"mean":`, `,"std":`}[i])
			j.float(f)
		}
		for i, n := range []int64{s.Zeros, s.NaN, s.Inf} {
			j.raw([]string{`,"zeros":`, `,"nan":`, `,"inf":`}[i])
			j.int(n)
		}
		j.raw(`}`)
	}
	if x.Err != nil {
		j.raw(`,"error":`)
		j.text(x.Err.Error())
	}
}

func (j *jsonWriter) attributes(c *pytree.Container) {
	if len(c.Attrs) > 0 {
		j.raw(`,"attributes":`)
		j.texts(c.Attrs)
	}
}

func (j *jsonWriter) container(c located) error {
	j.raw(`{"path":`)
	j.raw(c.path.JSON())
	j.raw(`,"type":`)
	j.text(c.c.Type)
	j.attributes(c.c)
	j.raw(`}`)
	return j.full()
}
