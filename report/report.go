// Package report holds what a check found, and prints it.
//
// A [Finding] is data: a stable code, a severity, the places concerned on both
// sides, the rules to blame, and what would mend it. A [Report] is all of them
// with the verdict and the counts, never just the first. Text and JSON are two
// renderings of the same report: [Report.WriteText] folds what differs in
// integer keys only, [Report.MarshalJSON] lists every finding by itself.
//
// Codes never change their meaning; [Codes] lists them and [Explain] has a page
// on each. A is always the old side and B the new one.
//
// Names come from files that nobody vouches for: everything printed as text is
// escaped by [pytree.Printable] first.
package report

import (
	"fmt"
	"math"
)

// Tally counts leaves, and the elements of those that are tensors. Elements that
// several tensors of one side share are counted once.
type Tally struct {
	Leaves, Tensors int
	Parameters      uint64
}

// Add counts a leaf: a tensor that adds n parameters, or anything else.
func (t *Tally) Add(tensor bool, n uint64) {
	t.Leaves++
	if !tensor {
		return
	}
	t.Tensors++
	if sum := t.Parameters + n; sum >= t.Parameters {
		t.Parameters = sum
	} else {
		t.Parameters = math.MaxUint64
	}
}

// Side is one of the two checkpoints in numbers.
type Side struct {
	// Name is the operand as the user gave it.
	Name string
	// Total is every leaf. Done is those of A whose value arrives in the new
	// tree, and those of B that get a value from A. Waived is the leaves of A
	// dropped by a rule, and those of B kept by one. Replaced is the leaves of B
	// that go with a subtree which a rule creates anew. All others are subject to
	// a finding.
	Total, Done, Waived, Replaced Tally
}

// RulesUse says how a rules file was used.
type RulesUse struct {
	File        string `json:"file"`
	Total, Used int
}

// Effect is what a suggested rule does.
type Effect string

// The effects of a [Fix].
const (
	Move   Effect = "move"
	Create Effect = "create"
	Drop   Effect = "drop"
	Keep   Effect = "keep"
)

// Fix is a rule that would remove findings. All fixes of a report can be
// applied together, but for those that offer a choice.
type Fix struct {
	// Rule is the line to add to the rules file, From and To its paths.
	Rule string `json:"rule"`
	From string `json:"from_path,omitempty"`
	To   string `json:"to_path,omitempty"`
	// Effect is what it does to the leaves that it covers, and Leaves how many
	// those are.
	Effect Effect `json:"effect"`
	Leaves int    `json:"leaves"`
	// Guess tells that nothing but shape and dtype speaks for the rule.
	Guess bool `json:"guess,omitempty"`
	// Replaces is the rule to put it in place of. Nil is none: the rule is added.
	Replaces *Position `json:"replaces,omitempty"`
	// Choices is how many fixes replace the same rule, of which one is to be
	// chosen; 0 for no choice.
	Choices int `json:"choices,omitempty"`
}

// Report is the outcome of a check.
type Report struct {
	A, B Side
	// Unplanned tells that the rules could not be read, so that nothing is known
	// about any leaf.
	Unplanned bool
	// Rules is nil where no rules were given.
	Rules    *RulesUse
	Findings Findings
	Fixes    []Fix
}

// Verdict is a report in one word.
type Verdict string

// The verdicts. Warnings do not make a report incompatible.
const (
	Compatible   Verdict = "compatible"
	Incompatible Verdict = "incompatible"
	// NotPlanned is the verdict where the rules could not be read.
	NotPlanned Verdict = "not-planned"
)

// Verdict is [Incompatible] if any finding is an error, and [NotPlanned] if
// nothing was compared.
func (r *Report) Verdict() Verdict {
	if r.Unplanned {
		return NotPlanned
	}
	if r.Findings.Count(Error) > 0 {
		return Incompatible
	}
	return Compatible
}

// Percent is part of whole as people read it, with one decimal. Only all is
// 100 %, and only nothing is 0 %: everything between is printed as less or more.
func Percent(part, whole uint64) string {
	switch p := percent(part, whole); {
	case whole == 0 || part >= whole:
		return "100 %"
	case part == 0:
		return "0 %"
	case p == 0:
		return "<0.1 %"
	default:
		return fmt.Sprintf("%.1f %%", p)
	}
}

// percent is rounded to one decimal, but 100 for all only.
func percent(part, whole uint64) float64 {
	if part >= whole {
		return 100
	}
	return math.Min(math.Round(float64(part)/float64(whole)*1000)/10, 99.9)
}

// Plural is "1 leaf" or "7 leaves".
func Plural(n int, one, many string) string {
	if n == 1 {
		return "1 " + one
	}
	return fmt.Sprintf("%d %s", n, many)
}
