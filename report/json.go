package report

import (
	"encoding/json"

	"ckpt/pytree"
)

// The JSON form. Fields are only ever added.

type jsonReport struct {
	Verdict  Verdict       `json:"verdict"`
	Errors   int           `json:"errors"`
	Warnings int           `json:"warnings"`
	A        jsonA         `json:"a"`
	B        jsonB         `json:"b"`
	Rules    *jsonRules    `json:"rules,omitempty"`
	Findings []jsonFinding `json:"findings"`
	Fixes    []Fix         `json:"fixes"`
}

type jsonTally struct {
	Leaves     int    `json:"leaves"`
	Tensors    int    `json:"tensors"`
	Parameters uint64 `json:"parameters"`
}

type jsonA struct {
	Name    string    `json:"name"`
	Total   jsonTally `json:"total"`
	Mapped  jsonTally `json:"mapped"`
	Dropped jsonTally `json:"dropped"`
	// MappedPercent is of parameters, with one decimal; 100 for all of them only,
	// and null where there are none or nothing was planned.
	MappedPercent *float64 `json:"mapped_percent"`
}

type jsonB struct {
	Name          string    `json:"name"`
	Total         jsonTally `json:"total"`
	Filled        jsonTally `json:"filled"`
	Kept          jsonTally `json:"kept"`
	Replaced      jsonTally `json:"replaced"`
	FilledPercent *float64  `json:"filled_percent"`
}

type jsonRules struct {
	File  string `json:"file"`
	Total int    `json:"total"`
	Used  int    `json:"used"`
}

type jsonFinding struct {
	Code       string      `json:"code"`
	Severity   Severity    `json:"severity"`
	A          *jsonPlace  `json:"a,omitempty"`
	B          *jsonPlace  `json:"b,omitempty"`
	More       []jsonPlace `json:"more,omitempty"`
	Rules      []jsonRule  `json:"rules,omitempty"`
	Detail     string      `json:"detail,omitempty"`
	DidYouMean []string    `json:"did_you_mean,omitempty"`
	Fix        []string    `json:"fix,omitempty"`
}

type jsonPlace struct {
	Path  json.RawMessage `json:"path"`
	Name  string          `json:"name"`
	Value string          `json:"value,omitempty"`
}

type jsonRule struct {
	Position
	Text string `json:"text"`
}

// MarshalJSON lists the verdict, the counts, every finding and every fix.
func (r *Report) MarshalJSON() ([]byte, error) {
	j := jsonReport{
		Verdict: r.Verdict(), Errors: r.Findings.Count(Error), Warnings: r.Findings.Count(Warning),
		A: jsonA{
			r.A.Name, jsonTally(r.A.Total), jsonTally(r.A.Done), jsonTally(r.A.Waived),
			r.percent(&r.A),
		},
		B: jsonB{
			r.B.Name, jsonTally(r.B.Total), jsonTally(r.B.Done), jsonTally(r.B.Waived),
			jsonTally(r.B.Replaced), r.percent(&r.B),
		},
		Findings: make([]jsonFinding, len(r.Findings)),
		Fixes:    append([]Fix{}, r.Fixes...),
	}
	if r.Rules != nil {
		j.Rules = &jsonRules{r.Rules.File, r.Rules.Total, r.Rules.Used}
	}
	for i := range r.Findings {
		j.Findings[i] = r.Findings[i].json()
	}
	return json.Marshal(j)
}

// percent is how much of a side's parameters is done, nil where that says nothing.
func (r *Report) percent(s *Side) *float64 {
	if s.Total.Parameters == 0 || r.Unplanned {
		return nil
	}
	p := percent(s.Done.Parameters, s.Total.Parameters)
	return &p
}

func (f *Finding) json() jsonFinding {
	j := jsonFinding{
		Code: f.Code, Severity: f.Severity, A: f.A.json(), B: f.B.json(),
		Detail: f.Detail, DidYouMean: f.DidYouMean, Fix: f.Fix,
	}
	for _, p := range f.More {
		j.More = append(j.More, *p.json())
	}
	for _, r := range f.Rules {
		j.Rules = append(j.Rules, jsonRule(r))
	}
	return j
}

// MarshalJSON gives the path in its exact form as a list, its name as text
// reports show it, and what it holds.
func (p Place) MarshalJSON() ([]byte, error) { return json.Marshal(p.json()) }

func (p Place) json() *jsonPlace {
	if p.None() {
		return nil
	}
	j := &jsonPlace{Path: PathJSON(p.Path), Name: p.Name()}
	if p.Node != nil {
		j.Value = Describe(p.Node)
	}
	return j
}

// PathJSON is a path as JSON: a list of strings and integers.
func PathJSON(p pytree.Path) json.RawMessage { return json.RawMessage(p.JSON()) }
