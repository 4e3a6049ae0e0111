package collections_test

import (
	"encoding/json"
	"fmt"
	"math/big"
	"strconv"
	"testing"

	"github.com/aqltag/aqltag/test/collections/internal/reference"
)

// groupable and summable are the fields of parts.Part by which summaries may group, and which they may add up.
var (
	groupable = []string{
		"country", "title", "note", "grade", "minutes", "serial", "checked", "address", "stock", "tags", "counts", "grades",
		"deep", "maker.name", "maker.rank", "maker.codes", "plan.step.grade",
	}
	summable = []string{
		"minutes", "serial", "small", "weight", "ratio", "stock", "reserve", "deep", "maker.rank", "plan.step.count",
	}
)

// functions are those of summaries in the order in which answers have them.
var functions = []string{"count", "sum", "avg", "min", "max"}

// summary is what elements amount to.
func summary(t *testing.T, found []element, expression map[string]any) any {
	t.Helper()
	by, grouped := expression["group_by"].(string)
	if !grouped {
		return amount(t, found, expression)
	}
	groups := map[string][]element{}
	for _, e := range found {
		for name := range groupsOf(kinds[by], e.at(by)) {
			groups[name] = append(groups[name], e)
		}
	}
	answer := map[string]any{}
	for name, group := range groups {
		answer[name] = amount(t, group, expression)
	}
	return answer
}

// groupsOf are the names of the groups to which an element with a value of a field belongs.
func groupsOf(f *reference.Field, value any) map[string]bool {
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
func amount(t *testing.T, group []element, expression map[string]any) any {
	t.Helper()
	answer := map[string]any{}
	for _, function := range functions {
		switch field, _ := expression[function].(string); {
		case function == "count" && expression[function] == true:
			answer[function] = json.Number(fmt.Sprint(len(group)))
		case field != "":
			answer[function] = apply(t, function, field, group)
		}
	}
	if len(answer) == 1 {
		for _, only := range answer {
			return only
		}
	}
	return answer
}

// apply applies a function other than count to a field.
func apply(t *testing.T, function, field string, group []element) any {
	t.Helper()
	sum, n := new(big.Rat), int64(0)
	var best any
	for _, e := range group {
		value := e.at(field)
		if value == nil {
			continue
		}
		n++
		switch function {
		case "min", "max":
			if best != nil {
				if c := compare(t, kinds[field], value, best); c == 0 || c < 0 != (function == "min") {
					continue
				}
			}
			best = value
		default:
			sum.Add(sum, exactly(t, kinds[field], value))
		}
	}
	switch {
	case function == "min" || function == "max":
		return best
	case function == "avg" && n == 0:
		return nil
	case function == "avg":
		return nearest(t, sum.Quo(sum, big.NewRat(n, 1)))
	case kinds[field].Kind == reference.Float || kinds[field].Kind == reference.ShortFloat:
		return nearest(t, sum)
	case sum.Num().CmpAbs(big.NewInt(1<<53-1)) > 0:
		return sum.Num().String()
	default:
		return json.Number(sum.Num().String())
	}
}

// exactly is a number as its field holds it.
func exactly(t *testing.T, f *reference.Field, v any) *big.Rat {
	t.Helper()
	text, bits := string(v.(json.Number)), 64
	if f.Kind != reference.Float && f.Kind != reference.ShortFloat {
		r, ok := new(big.Rat).SetString(text)
		if !ok {
			t.Fatalf("%s is no number", text)
		}
		return r
	}
	if f.Kind == reference.ShortFloat {
		bits = 32
	}
	held, err := strconv.ParseFloat(text, bits)
	if err != nil {
		t.Fatal(err)
	}
	return new(big.Rat).SetFloat64(held)
}

// nearest is the JSON of the floating-point number next to r.
func nearest(t *testing.T, r *big.Rat) json.Number {
	t.Helper()
	f, _ := r.Float64()
	return json.Number(encoded(t, f))
}
