package pickle

import (
	"math/rand/v2"
	"strconv"
	"testing"
)

// The stack behaves as one slice does, however deep it gets.
func TestStackAgainstSlice(t *testing.T) {
	rng := rand.New(rand.NewPCG(3, 4))
	for round := range 20 {
		var s stack
		var model []int64
		var marks []int
		next := int64(0)
		check := func(v Value, want int64) {
			if v.Int() != want {
				t.Fatalf("round %d: got %d, not %d, at depth %d", round, v.Int(), want, len(model))
			}
		}
		for range 400 {
			switch n := rng.IntN(stackTop); rng.IntN(6) {
			case 0, 1, 2:
				for range n {
					s.push(intValue(next))
					model = append(model, next)
					next++
				}
			case 3:
				if rng.IntN(3) > 0 {
					n %= 10
				}
				for range n {
					floor := 0
					if len(marks) > 0 {
						floor = marks[len(marks)-1]
					}
					if s.has(1) != (len(model) > floor) {
						t.Fatalf("round %d: has(1) is %t at depth %d above %d", round, s.has(1), len(model), floor)
					}
					if len(model) == floor {
						break
					}
					if len(model)-floor >= 3 {
						if !s.has(3) {
							t.Fatalf("round %d: has(3) is false", round)
						}
						check(*s.nth(3), model[len(model)-3])
					}
					check(s.pop(), model[len(model)-1])
					model = model[:len(model)-1]
				}
			case 4:
				s.mark()
				marks = append(marks, len(model))
			case 5:
				vals, _, ok := s.aboveMark()
				if ok != (len(marks) > 0) {
					t.Fatalf("round %d: aboveMark is %t with %d marks", round, ok, len(marks))
				}
				if !ok {
					continue
				}
				at := marks[len(marks)-1]
				marks = marks[:len(marks)-1]
				if len(vals) != len(model)-at {
					t.Fatalf("round %d: %d values, not %d", round, len(vals), len(model)-at)
				}
				for i, v := range vals {
					check(v, model[at+i])
				}
				model = model[:at]
			}
			if s.depth() != len(model) {
				t.Fatalf("round %d: depth %d, not %d", round, s.depth(), len(model))
			}
		}
	}
}

// The memo behaves as a map does.
func TestMemoAgainstMap(t *testing.T) {
	rng := rand.New(rand.NewPCG(5, 6))
	for round := range 50 {
		var m memo
		var a alloc
		model := map[uint32]Value{}
		for range 3000 {
			i := uint32(len(model))
			switch rng.IntN(8) {
			case 0:
				i = uint32(rng.IntN(len(model) + 1))
			case 1:
				i = uint32(rng.IntN(3 * memoPage))
			case 2:
				i = rng.Uint32()
			case 3:
				i = uint32(rng.IntN(5)) * memoPage * uint32(rng.IntN(100))
			}
			if got, ok := m.get(&a, i); ok != (model[i].Kind() != Invalid) || got != model[i] {
				t.Fatalf("round %d: entry %d is %v, not %v", round, i, got, model[i])
			}
			v := intValue(int64(rng.Uint64()))
			if rng.IntN(2) == 0 {
				v = objectValue(a.object(List, 0))
			}
			m.put(&a, i, v)
			model[i] = v
			if m.n != len(model) {
				t.Fatalf("round %d: %d entries, not %d", round, m.n, len(model))
			}
		}
		for i, v := range model {
			if got, ok := m.get(&a, i); !ok || got != v {
				t.Fatalf("round %d: entry %d is %v, not %v", round, i, got, v)
			}
		}
	}
}

// A dict keeps what a list that is searched from its start would keep.
func TestDictAgainstList(t *testing.T) {
	rng := rand.New(rand.NewPCG(7, 8))
	key := func() string {
		n := rng.IntN(20)
		switch rng.IntN(12) {
		case 0:
			return "I" + strconv.Itoa(n) + "\n"
		case 1:
			return "F" + strconv.Itoa(n) + ".0\n"
		case 2:
			return "F" + strconv.Itoa(n) + ".5\n"
		case 3:
			return "I0" + strconv.Itoa(n%2) + "\n"
		case 4:
			return "V" + strconv.Itoa(n) + "\n"
		case 5:
			return "S'" + strconv.Itoa(n) + "'\n"
		case 6:
			return "C\x01" + string(rune('0'+n%10))
		case 7:
			return "I" + strconv.Itoa(n%3) + "\nF" + strconv.Itoa(n%3) + "\n\x86"
		case 8:
			return "L922337203685477580" + strconv.Itoa(n) + "L\n"
		case 9:
			return "F9223372036854775808\n"
		case 10:
			return []string{"N", ")", "N\x85", "Fnan\n", "cm\nC\n", "V" + k + "\n"}[n%6]
		}
		return "I-" + strconv.Itoa(n) + "\n"
	}
	for round := range 300 {
		in := "}"
		marked := round%2 == 0
		if marked {
			in += "("
		}
		var keys []string
		for i := range rng.IntN(100) {
			keys = append(keys, key())
			in += keys[len(keys)-1] + "I" + strconv.Itoa(i) + "\n"
			if !marked {
				in += "s"
			}
		}
		if marked {
			in += "u"
		}
		p, err := readString(in + ".")
		if err != nil {
			t.Fatal(err)
		}
		var want []Value
		for i, k := range keys {
			q := mustRead(t, k, []byte(k+"."))
			at := len(want)
			for j := 0; j < len(want); j += 2 {
				if want[j].Kind() == Global && q.Root.Kind() == Global || sameKey(want[j], q.Root) {
					at = j
					break
				}
			}
			if at == len(want) {
				want = append(want, q.Root, Value{})
			}
			want[at+1] = intValue(int64(i))
		}
		o := Object{Kind: Dict, Items: want}
		if got, want := dump(p.Root), dump(ValueOf(&o)); got != want {
			t.Fatalf("%q\n got %s\nwant %s", in, got, want)
		}
	}
}

func TestValue(t *testing.T) {
	for _, i := range []int64{0, 1, -1, 1<<55 - 1, 1 << 55, -1 << 55, -1<<55 - 1, 1<<63 - 1, -1 << 63} {
		if v := intValue(i); v.Kind() != Int || v.Int() != i || v.Obj() != nil || v.Str() != "" {
			t.Errorf("%d became %v %d", i, v.Kind(), v.Int())
		}
	}
	for _, k := range []Kind{Text, Bytes, Raw} {
		for _, s := range []string{"", "a", "\x00", k.String()} {
			if v := stringValue(k, s); v.Kind() != k || v.Str() != s || v.Obj() != nil {
				t.Errorf("%v %q became %v %q", k, s, v.Kind(), v.Str())
			}
		}
	}
	for k := LongText; k <= Buffer; k++ {
		o := &Object{Kind: k}
		if v := ValueOf(o); v.Kind() != k || v.Obj() != o || v.Str() != "" {
			t.Errorf("%v became %v", k, v.Kind())
		}
		if k.String() == "" || k.String() == "unknown kind" {
			t.Errorf("kind %d has no name", k)
		}
	}
	if v := (Value{}); v.Kind() != Invalid || v.Obj() != nil || v.Str() != "" {
		t.Error("the zero Value is not Invalid")
	}
	for _, c := range []struct {
		v    Value
		want string
		ok   bool
	}{
		{stringValue(Text, "a"), "a", true},
		{stringValue(Raw, "b"), "b", true},
		{stringValue(Raw, "\xff"), "\xff", false},
		{stringValue(Bytes, "c"), "", false},
		{intValue(1), "", false},
	} {
		if s, ok := String(c.v); s != c.want || ok != c.ok {
			t.Errorf("%v gives %q, %t", c.v.Kind(), s, ok)
		}
	}
	if !boolValue(true).Bool() || boolValue(false).Bool() || noneValue().Bool() {
		t.Error("bools are mixed up")
	}
}
