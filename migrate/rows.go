package migrate

import (
	"encoding/json"
	"iter"

	"ckpt/pytree"
	"ckpt/report"
)

// How says where a new leaf's value comes from, or what became of an old leaf.
type How string

// What a plan does. An old leaf is moved, preserved, created, dropped or blocked;
// a new leaf is moved, preserved, created, kept, replaced or blocked.
const (
	Moved     How = "moved"     // a rule moves the value
	Preserved How = "preserved" // no rule; the path is the same in both trees
	Created   How = "created"   // the value comes with a subtree that a rule creates
	Kept      How = "kept"      // a rule keeps the template's value
	Replaced  How = "replaced"  // the leaf goes with a subtree that a rule creates anew
	Dropped   How = "dropped"   // a rule drops the value
	Blocked   How = "blocked"   // a finding is about the leaf
)

// Destination is a leaf of the new tree.
type Destination struct {
	Path pytree.Path
	How  How
	// From is where in the old tree its value is, if it comes from there.
	From pytree.Path
	// Rule is the one behind it, if one is.
	Rule *report.RuleRef
	// Finding is the code of the finding that a blocked leaf is subject to.
	Finding string
}

// Origin is a leaf of the old tree.
type Origin struct {
	Path pytree.Path
	How  How
	// To is every place that its value goes to.
	To []pytree.Path
	// Finding is the code of the finding that a blocked leaf is subject to.
	Finding string
}

// Destinations yields every leaf of the new tree, the template's in file order,
// then those that rules create; each exactly once.
func (p *Plan) Destinations() iter.Seq[Destination] {
	return func(yield func(Destination) bool) {
		codes := p.codes(func(f *report.Finding) report.Place { return f.B })
		for j := range p.ends {
			end := p.ends[j]
			if p.bare && end.how == replaced {
				continue // there is no such leaf any more
			}
			if j >= len(p.new.leaves) && end.how != created {
				continue // it was not made
			}
			d := Destination{Path: p.b(int32(j)).Path, How: end.how.String()}
			if d.How == Blocked {
				d.Finding = codes[d.Path]
			}
			if end.src >= 0 {
				d.From = p.old.leaves[end.src].path
			}
			if end.by >= 0 {
				ref := p.rules[end.by].ref()
				d.Rule = &ref
			}
			if !yield(d) {
				return
			}
		}
	}
}

// Origins yields every leaf of the old tree in file order, each exactly once.
func (p *Plan) Origins() iter.Seq[Origin] {
	return func(yield func(Origin) bool) {
		codes := p.codes(func(f *report.Finding) report.Place { return f.A })
		to := make([][]int32, len(p.old.leaves))
		for j := range p.ends {
			if src := p.ends[j].src; src >= 0 {
				to[src] = append(to[src], int32(j))
			}
		}
		for i := range p.old.leaves {
			o := Origin{Path: p.old.leaves[i].path, How: Blocked}
			if p.fates[i] == dropped {
				o.How = Dropped
			}
			for k, j := range to[i] {
				o.To = append(o.To, p.b(j).Path)
				if k == 0 {
					o.How = p.ends[j].how.String()
				}
			}
			if o.How == Blocked {
				o.Finding = codes[o.Path]
			}
			if !yield(o) {
				return
			}
		}
	}
}

// codes is the code of the first error about each leaf of one side, whose place
// in a finding is given by of. Further places of a finding are of either side,
// but count only where nothing else is said about a leaf.
func (p *Plan) codes(of func(*report.Finding) report.Place) map[pytree.Path]string {
	codes := make(map[pytree.Path]string)
	note := func(pl report.Place, code string) {
		if _, ok := codes[pl.Path]; !ok && !pl.None() {
			codes[pl.Path] = code
		}
	}
	for _, more := range []bool{false, true} {
		for i := range p.report.Findings {
			f := &p.report.Findings[i]
			switch {
			case f.Severity != report.Error:
			case more:
				for _, pl := range f.More {
					note(pl, f.Code)
				}
			default:
				note(of(f), f.Code)
			}
		}
	}
	return codes
}

// word is what the table says of a leaf.
func (p *Plan) word(h How, code string) string {
	switch {
	case p.report.Unplanned:
		return "not planned"
	case code != "":
		return code
	}
	return string(h)
}

// String is the word for it; what a finding is about is blocked.
func (h how) String() How {
	switch h {
	case moved:
		return Moved
	case preserved:
		return Preserved
	case created:
		return Created
	case kept:
		return Kept
	case replaced:
		return Replaced
	}
	return Blocked
}

// Table is the plan for people: a row for each leaf of the new tree, then one
// for each old leaf that is dropped or blocked.
func (p *Plan) Table() *report.Table {
	t := &report.Table{Head: []string{"B", "", "A", "RULE"}, Flex: []int{0, 2, 3}}
	for d := range p.Destinations() {
		from, by := "", ""
		if d.From != "" {
			from = d.From.Dotted()
		}
		if d.Rule != nil {
			by = d.Rule.String()
		}
		t.Add(d.Path.Dotted(), p.word(d.How, d.Finding), from, by)
	}
	for o := range p.Origins() {
		if len(o.To) == 0 {
			t.Add("", p.word(o.How, o.Finding), o.Path.Dotted(), "")
		}
	}
	return t
}

type jsonPlan struct {
	Destinations []jsonDestination `json:"destinations"`
	Sources      []jsonOrigin      `json:"sources"`
}

type jsonDestination struct {
	Path json.RawMessage `json:"path"`
	How  How             `json:"how"`
	From json.RawMessage `json:"from,omitempty"`
	Rule *jsonRule       `json:"rule,omitempty"`
	Code string          `json:"finding,omitempty"`
}

type jsonRule struct {
	report.Position
	Text string `json:"text"`
}

type jsonOrigin struct {
	Path json.RawMessage   `json:"path"`
	How  How               `json:"how"`
	To   []json.RawMessage `json:"to,omitempty"`
	Code string            `json:"finding,omitempty"`
}

// MarshalJSON lists what every leaf of either tree gets or becomes. Paths are
// lists of keys.
func (p *Plan) MarshalJSON() ([]byte, error) {
	j := jsonPlan{[]jsonDestination{}, []jsonOrigin{}}
	for d := range p.Destinations() {
		row := jsonDestination{Path: report.PathJSON(d.Path), How: d.How, Code: d.Finding}
		if d.From != "" {
			row.From = report.PathJSON(d.From)
		}
		if d.Rule != nil {
			row.Rule = &jsonRule{d.Rule.Position, d.Rule.Text}
		}
		j.Destinations = append(j.Destinations, row)
	}
	for o := range p.Origins() {
		row := jsonOrigin{Path: report.PathJSON(o.Path), How: o.How, Code: o.Finding}
		for _, to := range o.To {
			row.To = append(row.To, report.PathJSON(to))
		}
		j.Sources = append(j.Sources, row)
	}
	return json.Marshal(j)
}
