package migrate

import (
	"fmt"
	"strings"
	"testing"

	"ckpt/pytree"
	"ckpt/report"
)

// layeredTree is a flat state dict of n leaves in blocks, as large models have.
func layeredTree(n int, prefix func(block int) string) *pytree.Tree {
	const perBlock = 100
	model := &pytree.Container{Kind: pytree.Mapping, Type: "collections.OrderedDict", Entries: make([]pytree.Entry, 0, n)}
	for i := range n {
		x := &pytree.Tensor{DType: pytree.Float32, Shape: []int64{16}, Storage: &pytree.Storage{Source: pytree.Section{N: 64}}}
		name := fmt.Sprintf("%s.sub%d.weight", prefix(i/perBlock), i%perBlock)
		model.Entries = append(model.Entries, pytree.Entry{Key: pytree.StringKey(name), Value: x})
	}
	return &pytree.Tree{Root: pytree.NewDict(pytree.Entry{Key: pytree.StringKey("model"), Value: model})}
}

// planCase is n leaves and n/1000 rules at least, each of which moves a block.
func planCase(n, rules int) (old, template *pytree.Tree, r *Rules) {
	renamed := func(block int) bool { return block < rules }
	old = layeredTree(n, func(b int) string { return fmt.Sprintf("encoder.layers.%d.block", b) })
	template = layeredTree(n, func(b int) string {
		if renamed(b) {
			return fmt.Sprintf("backbone.stage.%d.unit", b)
		}
		return fmt.Sprintf("encoder.layers.%d.block", b)
	})
	var text strings.Builder
	for i := range rules {
		fmt.Fprintf(&text, "rule { from_path: \"model.encoder.layers.%d\" to_path: \"model.backbone.stage.%d\" }\n",
			i, i)
	}
	// The block's last part differs as well, so the rules end inside the key.
	r, _ = ParseRules("bench", []byte(strings.NewReplacer(
		`" to_path`, `.block" to_path`, `" }`, `.unit" }`).Replace(text.String())))
	return old, template, r
}

// The figure to watch: a million leaves and a thousand rules plan in time linear
// in the leaves.
func BenchmarkPlan(b *testing.B) {
	for _, size := range []struct{ leaves, rules int }{{10_000, 100}, {100_000, 1000}, {1_000_000, 1000}} {
		old, template, rules := planCase(size.leaves, size.rules)
		b.Run(fmt.Sprintf("leaves=%d/rules=%d", size.leaves, size.rules), func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				if p := NewPlan(old, template, rules, Options{}); p.Report().Verdict() != report.Compatible {
					b.Fatal("the plan has findings")
				}
			}
		})
	}
}

// The same without any rule: nothing but what is preserved and what is not.
func BenchmarkPlanWithFindings(b *testing.B) {
	old, template, _ := planCase(100_000, 500)
	b.ReportAllocs()
	for b.Loop() {
		p := NewPlan(old, template, nil, Options{})
		if len(p.Report().Findings) != 100_000 {
			b.Fatal(len(p.Report().Findings))
		}
	}
}

func BenchmarkPlanWithoutTemplate(b *testing.B) {
	old, _, rules := planCase(100_000, 1000)
	b.ReportAllocs()
	for b.Loop() {
		if p := NewPlan(old, nil, rules, Options{}); p.Report().Verdict() != report.Compatible {
			b.Fatal("the plan has findings")
		}
	}
}

func BenchmarkApply(b *testing.B) {
	old, template, rules := planCase(100_000, 1000)
	p := NewPlan(old, template, rules, Options{})
	b.ReportAllocs()
	for b.Loop() {
		if _, err := p.Apply(); err != nil {
			b.Fatal(err)
		}
	}
}
