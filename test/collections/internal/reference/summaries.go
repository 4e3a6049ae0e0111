package reference

import (
	"encoding/json"
	"fmt"
	"math/big"
	"math/rand/v2"
	"slices"
	"strconv"
	"testing"
)

// functions are those of summaries in the order in which answers have them.
var functions = []string{"count", "sum", "avg", "min", "max"}

// Aggregate makes random summaries with labels.
func (s *Schema) Aggregate(r *rand.Rand) map[string]any {
	sortable := slices.DeleteFunc(s.Names(), func(name string) bool { return s.Fields[name].List })
	labels := map[string]any{}
	for i := range 1 + r.IntN(4) {
		expression := map[string]any{}
		if r.IntN(3) > 0 {
			expression["group_by"] = s.Groupable[r.IntN(len(s.Groupable))]
		}
		for wanted := false; !wanted; {
			for _, function := range functions {
				if r.IntN(3) > 0 {
					continue
				}
				wanted = true
				switch function {
				case "count":
					expression[function] = true
				case "sum", "avg":
					expression[function] = s.Summable[r.IntN(len(s.Summable))]
				default:
					expression[function] = sortable[r.IntN(len(sortable))]
				}
			}
		}
		labels[[]string{"a", "by \"x\"", "ä", "B"}[i]] = expression
	}
	return labels
}

// Summary is what elements amount to.
func (s *Schema) Summary(t testing.TB, found []Element, expression map[string]any) any {
	t.Helper()
	by, grouped := expression["group_by"].(string)
	if !grouped {
		return s.amount(t, found, expression)
	}
	groups := map[string][]Element{}
	for _, e := range found {
		for name := range groupsOf(s.Fields[by], e.At(by)) {
			groups[name] = append(groups[name], e)
		}
	}
	answer := map[string]any{}
	for name, group := range groups {
		answer[name] = s.amount(t, group, expression)
	}
	return answer
}

// groupsOf are the names of the groups to which an element with a value of a field belongs.
func groupsOf(f *Field, value any) map[string]bool {
	names := map[string]bool{}
	switch list, isList := value.([]any); {
	case isList || f.List: // an empty one belongs to none
		for _, one := range list {
			names[fmt.Sprint(one)] = true
		}
	case value == nil:
		names["null"] = true
	default:
		names[fmt.Sprint(value)] = true
	}
	return names
}

// amount is what the elements of one group amount to.
func (s *Schema) amount(t testing.TB, group []Element, expression map[string]any) any {
	t.Helper()
	answer := map[string]any{}
	for _, function := range functions {
		switch field, _ := expression[function].(string); {
		case function == "count" && expression[function] == true:
			answer[function] = json.Number(fmt.Sprint(len(group)))
		case field != "":
			answer[function] = s.Fields[field].apply(t, function, field, group)
		}
	}
	if len(answer) == 1 {
		for _, only := range answer {
			return only
		}
	}
	return answer
}

// apply applies a function other than count to the values of a field at a path.
func (f *Field) apply(t testing.TB, function, path string, group []Element) any {
	t.Helper()
	sum, n := new(big.Rat), int64(0)
	var best any
	for _, e := range group {
		value := e.At(path)
		if value == nil {
			continue
		}
		n++
		switch function {
		case "min", "max":
			if best != nil {
				if c := f.Compare(t, value, best); c == 0 || c < 0 != (function == "min") {
					continue
				}
			}
			best = value
		default:
			sum.Add(sum, f.exactly(t, value))
		}
	}
	switch {
	case function == "min" || function == "max":
		return best
	case function == "avg" && n == 0:
		return nil
	case function == "avg":
		return nearest(t, sum.Quo(sum, big.NewRat(n, 1)))
	case f.Kind == Float || f.Kind == ShortFloat:
		return nearest(t, sum)
	case sum.Num().CmpAbs(big.NewInt(1<<53-1)) > 0:
		return sum.Num().String()
	default:
		return json.Number(sum.Num().String())
	}
}

// exactly is a number as its field holds it.
func (f *Field) exactly(t testing.TB, v any) *big.Rat {
	t.Helper()
	text, bits := string(v.(json.Number)), 64
	if f.Kind != Float && f.Kind != ShortFloat {
		r, ok := new(big.Rat).SetString(text)
		if !ok {
			t.Fatalf("%s is no number", text)
		}
		return r
	}
	if f.Kind == ShortFloat {
		bits = 32
	}
	held, err := strconv.ParseFloat(text, bits)
	if err != nil {
		t.Fatal(err)
	}
	return new(big.Rat).SetFloat64(held)
}

// nearest is the JSON of the floating-point number next to r.
func nearest(t testing.TB, r *big.Rat) json.Number {
	t.Helper()
	f, _ := r.Float64()
	text, err := json.Marshal(f)
	if err != nil {
		t.Fatal(err)
	}
	return json.Number(text)
}
