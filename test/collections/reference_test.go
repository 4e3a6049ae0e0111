package collections_test

import (
	"cmp"
	"encoding/json"
	"math/big"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"
)

// element is the JSON of an element.
type element map[string]any

// kinds are those of the fields of parts.Part. Lists begin with "list of ".
var kinds = map[string]string{
	"country": "text", "part_id": "text", "lot": "number", "title": "text", "note": "text", "grade": "grade",
	"minutes": "number", "serial": "natural", "small": "number", "weight": "float", "ratio": "short float",
	"checked": "boolean", "made_at": "time", "sold_at": "time", "seen_at": "time", "address": "own text",
	"stock": "number", "reserve": "float", "tags": "list of text", "counts": "list of number",
	"grades": "list of grade", "deep": "number", "maker.name": "text", "maker.rank": "number",
	"maker.codes": "list of number", "plan.due_at": "time", "plan.step.grade": "grade", "plan.step.count": "number",
}

// at returns the value of a field, or of one in objects of it.
func (e element) at(path string) any {
	first, rest, deeper := strings.Cut(path, ".")
	if inner, ok := e[first].(map[string]any); ok && deeper {
		return element(inner).at(rest)
	} else if deeper {
		return nil
	}
	return e[first]
}

// missable are the fields that an element may lack.
var missable = []string{
	"note", "sold_at", "seen_at", "stock", "reserve", "deep", "maker.rank", "plan.due_at", "plan.step.grade",
}

// operatorsOf are the operators of a field.
func operatorsOf(name string) []string {
	if name == "plan.step.count" {
		return []string{"eq", "lt", "null"}
	}
	operators := []string{"eq", "ne", "in"}
	switch kind := kinds[name]; {
	case strings.HasPrefix(kind, "list"):
		return []string{"contains", "in", "all"}
	case kind == "text":
		operators = append(operators, "gt", "gte", "lt", "lte", "contains", "starts")
	case slices.Contains([]string{"number", "natural", "float", "short float", "time"}, kind):
		operators = append(operators, "gt", "gte", "lt", "lte")
	}
	if slices.Contains(missable, name) {
		operators = append(operators, "null")
	}
	return operators
}

// compare compares two JSON values of a kind.
func compare(t *testing.T, kind string, a, b any) int {
	t.Helper()
	switch kind {
	case "number", "natural":
		return rational(t, a).Cmp(rational(t, b))
	case "float", "short float":
		bits := 64 - 32*(len(kind)-len("float"))/len("short ")
		return cmp.Compare(float(t, a, bits), float(t, b, bits))
	case "boolean":
		return slices.Index([]any{false, true}, a) - slices.Index([]any{false, true}, b)
	case "time":
		return instant(t, a).Compare(instant(t, b))
	case "grade":
		grades := []any{"poor", "fair", "great"}
		return slices.Index(grades, a) - slices.Index(grades, b)
	default:
		return strings.Compare(a.(string), b.(string))
	}
}

func rational(t *testing.T, v any) *big.Rat {
	t.Helper()
	r, ok := new(big.Rat).SetString(string(v.(json.Number)))
	if !ok {
		t.Fatalf("%v is no number", v)
	}
	return r
}

// float is a number as a type of so many bits holds it.
func float(t *testing.T, v any, bits int) float64 {
	t.Helper()
	f, err := strconv.ParseFloat(string(v.(json.Number)), bits)
	if err != nil {
		t.Fatal(err)
	}
	return f
}

func instant(t *testing.T, v any) time.Time {
	t.Helper()
	at, err := time.Parse(time.RFC3339Nano, v.(string))
	if err != nil {
		t.Fatal(err)
	}
	return at
}

// holds reports whether a filter holds for an element.
func holds(t *testing.T, filter map[string]any, e element) bool {
	t.Helper()
	for name, value := range filter {
		switch name {
		case "_or":
			if !slices.ContainsFunc(value.([]any), func(f any) bool { return holds(t, f.(map[string]any), e) }) {
				return false
			}
		case "_not":
			if holds(t, value.(map[string]any), e) {
				return false
			}
		default:
			conditions, ok := value.(map[string]any)
			if !ok {
				conditions = map[string]any{operatorsOf(name)[0]: value}
			}
			for operator, operand := range conditions {
				if !condition(t, e.at(name), kinds[name], operator, operand) {
					return false
				}
			}
		}
	}
	return true
}

// condition reports whether a comparison holds for a value.
func condition(t *testing.T, value any, kind, operator string, operand any) bool {
	t.Helper()
	if operator == "null" {
		return operand == (value == nil)
	}
	if of, isList := strings.CutPrefix(kind, "list of "); isList {
		items, _ := value.([]any) // null: there are none
		has := func(v any) bool {
			return slices.ContainsFunc(items, func(own any) bool { return compare(t, of, own, v) == 0 })
		}
		switch operator {
		case "contains":
			return has(operand)
		case "in":
			return slices.ContainsFunc(operand.([]any), has)
		default:
			return !slices.ContainsFunc(operand.([]any), func(v any) bool { return !has(v) })
		}
	}
	if value == nil {
		return operator == "ne"
	}
	switch operator {
	case "eq":
		return compare(t, kind, value, operand) == 0
	case "ne":
		return compare(t, kind, value, operand) != 0
	case "in":
		return slices.ContainsFunc(operand.([]any), func(v any) bool { return compare(t, kind, value, v) == 0 })
	case "gt":
		return compare(t, kind, value, operand) > 0
	case "gte":
		return compare(t, kind, value, operand) >= 0
	case "lt":
		return compare(t, kind, value, operand) < 0
	case "lte":
		return compare(t, kind, value, operand) <= 0
	case "contains":
		return strings.Contains(folded(value), folded(operand))
	default:
		return strings.HasPrefix(folded(value), folded(operand))
	}
}

// folded is a text with ASCII letters small.
func folded(v any) string {
	letters := []byte(v.(string))
	for i, c := range letters {
		if strings.IndexByte("ABCDEFGHIJKLMNOPQRSTUVWXYZ", c) >= 0 {
			letters[i] = c | 0x20
		}
	}
	return string(letters)
}

// expected returns the elements for which a filter holds, in an order.
func expected(t *testing.T, all []element, filter map[string]any, by string, descending bool) []element {
	t.Helper()
	var found []element
	for _, e := range all {
		if holds(t, filter, e) {
			found = append(found, e)
		}
	}
	slices.SortFunc(found, func(a, b element) int {
		for _, name := range []string{by, "part_id", "lot"} {
			if name == "" {
				continue
			}
			va, vb := a.at(name), b.at(name)
			switch {
			case va == nil && vb == nil:
				continue
			case va == nil:
				return 1
			case vb == nil:
				return -1
			}
			if c := compare(t, kinds[name], va, vb); c != 0 && descending {
				return -c
			} else if c != 0 {
				return c
			}
		}
		return 0
	})
	return found
}

// number is an integer as a decoder keeps it.
func number(n int) json.Number { return json.Number(strconv.Itoa(n)) }
