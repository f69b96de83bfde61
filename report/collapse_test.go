package report

import (
	"fmt"
	"math/rand/v2"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
)

func TestCollapse(t *testing.T) {
	tests := []struct {
		why   string
		items []Item
		want  []string // name, other, members
	}{
		{"runs and gaps", layers(0, 1, 2, 3, 5, 6, 7), []string{"layers.{0-3,5-7}.w  [0 1 2 3 4 5 6]"}},
		{"natural order, not that of text", layers(10, 9, 2), []string{"layers.{2,9-10}.w  [2 1 0]"}},
		{"the odd one stands alone", append(layers(0, 1), Item{Name: "layers.2.w", Same: "other"}), []string{
			"layers.{0-1}.w  [0 1]", "layers.2.w  [2]",
		}},
		{"a full grid", []Item{{Name: "a.0.b.0"}, {Name: "a.0.b.1"}, {Name: "a.1.b.0"}, {Name: "a.1.b.1"}}, []string{"a.{0-1}.b.{0-1}  [0 1 2 3]"}},
		{"a grid with a hole is not a grid", []Item{{Name: "a.0.b.0"}, {Name: "a.0.b.1"}, {Name: "a.1.b.0"}}, []string{
			"a.0.b.{0-1}  [0 1]", "a.1.b.0  [2]",
		}},
		{"numbers that go together", []Item{
			{Name: "a.0.w", Other: "b.0.w"}, {Name: "a.1.w", Other: "b.1.w"},
		}, []string{"a.{0-1}.w b.{0-1}.w [0 1]"}},
		{"numbers that do not", []Item{
			{Name: "a.0.w", Other: "b.1.w"}, {Name: "a.1.w", Other: "b.0.w"},
		}, []string{"a.0.w b.1.w [0]", "a.1.w b.0.w [1]"}},
		{"a number inside a name is not a key", []Item{{Name: "conv1.w"}, {Name: "conv2.w"}}, []string{"conv1.w  [0]", "conv2.w  [1]"}},
		{"nor is one that is written otherwise", []Item{{Name: "a.01"}, {Name: "a.1"}, {Name: "a.2"}}, []string{"a.01  [0]", "a.{1-2}  [1 2]"}},
		{"nor one too large", []Item{{Name: "a.99999999999999999999"}, {Name: "a.1"}}, []string{"a.1  [1]", "a.99999999999999999999  [0]"}},
		{"exact paths", []Item{{Name: `["a.b",0,"x"]`}, {Name: `["a.b",1,"x"]`}}, []string{`["a.b",{0-1},"x"]  [0 1]`}},
		{"the same name twice is two things", []Item{{Name: "a.1"}, {Name: "a.1"}}, []string{"a.1  [0]", "a.1  [1]"}},
	}
	for _, test := range tests {
		var got []string
		for _, g := range Collapse(test.items) {
			got = append(got, fmt.Sprintf("%s %s %v", g.Name, g.Other, g.Members))
		}
		if !slices.Equal(got, test.want) {
			t.Errorf("%s:\n%s\nwant\n%s", test.why, strings.Join(got, "\n"), strings.Join(test.want, "\n"))
		}
	}
}

func layers(numbers ...int) []Item {
	var items []Item
	for _, n := range numbers {
		items = append(items, Item{Name: fmt.Sprintf("layers.%d.w", n)})
	}
	return items
}

// Written out again, the groups are the items: none missing, none added, none
// with another's rest.
func TestCollapseIsExact(t *testing.T) {
	for seed := range uint64(2000) {
		rng := rand.New(rand.NewPCG(seed, 1))
		var items []Item
		for range rng.IntN(30) {
			a, b, c := rng.IntN(4), rng.IntN(3), rng.IntN(2)
			items = append(items, Item{
				Name:  fmt.Sprintf("%s.%d.x.%d", []string{"a", "b"}[c], a, b),
				Other: []string{"", fmt.Sprintf("o.%d", a), fmt.Sprintf("o.%d.%d", b, a), "o.1"}[rng.IntN(4)],
				Same:  strconv.Itoa(rng.IntN(2)),
			})
		}
		var got, want []string
		for _, it := range items {
			want = append(want, fmt.Sprintf("%s|%s", it.Name, it.Same))
		}
		members := 0
		for _, g := range Collapse(items) {
			names := expand(g.Name)
			if len(names) != len(g.Members) {
				t.Fatalf("seed %d: %s stands for %d names, but has %d members", seed, g.Name, len(names), len(g.Members))
			}
			members += len(g.Members)
			for _, n := range names {
				got = append(got, fmt.Sprintf("%s|%s", n, items[g.Members[0]].Same))
			}
			others := expand(g.Other)
			for _, m := range g.Members {
				if items[m].Same != items[g.Members[0]].Same || !slices.Contains(others, items[m].Other) {
					t.Fatalf("seed %d: %+v is in %+v", seed, items[m], g)
				}
			}
		}
		slices.Sort(got)
		slices.Sort(want)
		if !slices.Equal(got, want) || members != len(items) {
			t.Fatalf("seed %d:\n%s\nwant\n%s", seed, strings.Join(got, "\n"), strings.Join(want, "\n"))
		}
	}
}

var set = regexp.MustCompile(`\{[0-9,-]+\}`)

// expand writes out every set in a name.
func expand(name string) []string {
	at := set.FindStringIndex(name)
	if at == nil {
		return []string{name}
	}
	var names []string
	for part := range strings.SplitSeq(name[at[0]+1:at[1]-1], ",") {
		low, high, ok := strings.Cut(part, "-")
		if !ok {
			high = low
		}
		a, _ := strconv.Atoi(low)
		b, _ := strconv.Atoi(high)
		for n := a; n <= b; n++ {
			names = append(names, expand(name[:at[0]]+strconv.Itoa(n)+name[at[1]:])...)
		}
	}
	return names
}

func BenchmarkCollapse(b *testing.B) {
	items := make([]Item, 100_000)
	for i := range items {
		items[i] = Item{Name: fmt.Sprintf("model.layers.%d.mlp.%d.weight", i/100, i%100)}
	}
	b.ReportAllocs()
	for b.Loop() {
		if g := Collapse(items); len(g) != 1 {
			b.Fatal(len(g))
		}
	}
}
