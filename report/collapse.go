package report

import (
	"slices"
	"strconv"
	"strings"

	"ckpt/pytree"
)

// Item is a name that [Collapse] may fold together with its like.
type Item struct {
	// Name is the path: "layers.3.ln.weight".
	Name string
	// Other is a second path that goes along with the name, such as the one it
	// came from. Numbers in it that are the name's own may differ from item to
	// item.
	Other string
	// Same is everything else about the item: only items that agree in it fold.
	Same string
}

// Group is items that differ in nothing but integer keys.
type Group struct {
	// Name and Other are the items' with the integers that differ as sets:
	// "layers.{0-3,5-11}.ln.weight". They stand for the members and no others.
	Name, Other string
	// Members are the indices of the items, in natural order of their names.
	Members []int
}

// Collapse folds items whose names differ in integer keys only, and in nothing
// else, into groups. Every item is in exactly one group, the name of a group
// stands for its members and for nothing more, and groups come in natural order
// of their first members.
func Collapse(items []Item) []Group {
	type bucket struct {
		parts  split
		number []int64 // the integers of all rows, one row after another
		rows   []int
	}
	buckets := make(map[string]*bucket)
	order := make([]*bucket, 0)
	seen := make(map[string]int) // how often a name occurs with the same rest
	var key []byte
	for i, it := range items {
		s := splitName(it.Name)
		other := splitOther(it.Other, s.numbers)
		key = key[:0]
		for _, part := range []string{it.Same, other} {
			key = strconv.AppendQuote(key, part)
		}
		for _, lit := range s.literals {
			key = strconv.AppendQuote(key, lit)
		}
		// The same name twice is two things: they must not become one member.
		if len(items) > 1 {
			full := string(key) + "\x00" + it.Name
			if n := seen[full]; n > 0 {
				key = strconv.AppendInt(key, int64(n), 10)
			}
			seen[full]++
		}
		b, ok := buckets[string(key)]
		if !ok {
			b = &bucket{parts: split{literals: s.literals, other: other}}
			buckets[string(key)] = b
			order = append(order, b)
		}
		b.number = append(b.number, s.numbers...)
		b.rows = append(b.rows, i)
	}
	var groups []Group
	for _, b := range order {
		k := len(b.parts.literals) - 1
		m := merger{columns: k}
		for r, i := range b.rows {
			m.add(b.number[r*k:r*k+k], i)
		}
		for _, row := range m.merge() {
			g := Group{Name: b.parts.name(row.cells), Members: row.members}
			g.Other = b.parts.otherName(row.cells)
			slices.SortFunc(g.Members, func(x, y int) int {
				if c := pytree.NaturalCompare(items[x].Name, items[y].Name); c != 0 {
					return c
				}
				return x - y
			})
			groups = append(groups, g)
		}
	}
	slices.SortStableFunc(groups, func(a, b Group) int {
		if c := pytree.NaturalCompare(items[a.Members[0]].Name, items[b.Members[0]].Name); c != 0 {
			return c
		}
		return a.Members[0] - b.Members[0]
	})
	return groups
}

// split is a name cut at its integer keys: one literal more than integers.
type split struct {
	literals []string
	numbers  []int64
	other    string
}

// maxNumbers is how many integers of a name may differ; any more are part of
// the text around them.
const maxNumbers = 64

// splitName cuts a name at the integers that are whole keys.
func splitName(name string) split {
	var s split
	start := 0
	for i := 0; i < len(name) && len(s.numbers) < maxNumbers; {
		if !isDigit(name[i]) {
			i++
			continue
		}
		j := i
		for j < len(name) && isDigit(name[j]) {
			j++
		}
		if n, ok := wholeKey(name, i, j); ok {
			s.literals = append(s.literals, name[start:i])
			s.numbers = append(s.numbers, n)
			start = j
		}
		i = j
	}
	s.literals = append(s.literals, name[start:])
	return s
}

// wholeKey reads name[i:j] as an integer if it is a key of its own, in a dotted
// or an exact path, and written as integers are.
func wholeKey(name string, i, j int) (int64, bool) {
	if i > 0 && strings.IndexByte(".,[\"\n", name[i-1]) < 0 || j < len(name) && strings.IndexByte(".,]\"\\\n", name[j]) < 0 {
		return 0, false
	}
	if name[i] == '0' && j > i+1 || j-i > 18 {
		return 0, false
	}
	n, err := strconv.ParseInt(name[i:j], 10, 64)
	return n, err == nil
}

// numberMark stands in another name for an integer of the item's own name; the
// byte after it tells which.
const numberMark = '\x00'

// splitOther writes a second name with the integers that it shares with the
// first one, in order, as marks.
func splitOther(name string, numbers []int64) string {
	if name == "" {
		return ""
	}
	s := splitName(name)
	var b strings.Builder
	next := 0
	for i, lit := range s.literals {
		b.WriteString(lit)
		if i == len(s.numbers) {
			break
		}
		at := slices.Index(numbers[next:], s.numbers[i])
		if at < 0 {
			b.WriteString(strconv.FormatInt(s.numbers[i], 10))
			continue
		}
		b.WriteByte(numberMark)
		b.WriteByte(byte(next + at))
		next += at + 1
	}
	return b.String()
}

func (s split) name(cells []string) string {
	var b strings.Builder
	for i, lit := range s.literals {
		b.WriteString(lit)
		if i < len(cells) {
			b.WriteString(cells[i])
		}
	}
	return b.String()
}

func (s split) otherName(cells []string) string {
	if strings.IndexByte(s.other, numberMark) < 0 {
		return s.other
	}
	var b strings.Builder
	for i := 0; i < len(s.other); i++ {
		if s.other[i] == numberMark && i+1 < len(s.other) && int(s.other[i+1]) < len(cells) {
			i++
			b.WriteString(cells[s.other[i]])
			continue
		}
		b.WriteByte(s.other[i])
	}
	return b.String()
}

// merger folds rows of integers into rows of sets that stand for exactly those.
type merger struct {
	columns int
	rows    []mergeRow
}

type mergeRow struct {
	numbers []int64
	cells   []string
	members []int
}

func (m *merger) add(numbers []int64, member int) {
	cells := make([]string, m.columns)
	for i, n := range numbers {
		cells[i] = strconv.FormatInt(n, 10)
	}
	m.rows = append(m.rows, mergeRow{numbers, cells, []int{member}})
}

func (m *merger) merge() []mergeRow {
	rows := m.rows
	for c := m.columns - 1; c >= 0 && len(rows) > 1; c-- {
		rows = m.mergeColumn(rows, c)
	}
	return rows
}

// mergeColumn folds rows that differ in column c only.
func (m *merger) mergeColumn(rows []mergeRow, c int) []mergeRow {
	type set struct {
		numbers []int64
		row     mergeRow
	}
	index := make(map[string]int, len(rows))
	var sets []set
	var key []byte
	for _, row := range rows {
		key = key[:0]
		for i, cell := range row.cells {
			if i != c {
				key = append(append(key, cell...), '.')
			}
		}
		at, ok := index[string(key)]
		if !ok {
			at = len(sets)
			index[string(key)] = at
			sets = append(sets, set{row: row})
		} else {
			sets[at].row.members = append(sets[at].row.members, row.members...)
		}
		sets[at].numbers = append(sets[at].numbers, row.numbers[c])
	}
	merged := make([]mergeRow, len(sets))
	for i, s := range sets {
		s.row.cells[c] = Ranges(s.numbers)
		merged[i] = s.row
	}
	return merged
}

// Ranges writes a set of integers as its runs, "{0-3,5-11}", or as the integer
// alone where there is but one.
func Ranges(numbers []int64) string {
	slices.Sort(numbers)
	numbers = slices.Compact(numbers)
	if len(numbers) == 1 {
		return strconv.FormatInt(numbers[0], 10)
	}
	b := []byte{'{'}
	for i := 0; i < len(numbers); {
		j := i
		for j+1 < len(numbers) && numbers[j+1] == numbers[j]+1 {
			j++
		}
		if i > 0 {
			b = append(b, ',')
		}
		b = strconv.AppendInt(b, numbers[i], 10)
		if j > i {
			b = strconv.AppendInt(append(b, '-'), numbers[j], 10)
		}
		i = j + 1
	}
	return string(append(b, '}'))
}

func isDigit(c byte) bool { return c >= '0' && c <= '9' }
