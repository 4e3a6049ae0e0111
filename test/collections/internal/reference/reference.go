// Package reference evaluates queries of collections over the JSON of the elements, and makes random queries. It shares
// no code with the runtime, whose answers tests hold against it.
package reference

import (
	"cmp"
	"encoding/json"
	"math/big"
	"math/rand/v2"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"
)

// Element is the JSON of an element. Its numbers are json.Number.
type Element map[string]any

// Kind says how values are compared.
type Kind string

// The kinds.
const (
	Text       Kind = "text"
	OwnText    Kind = "text of a type of its own" // it has no order among the operators
	Enum       Kind = "enum"
	Boolean    Kind = "boolean"
	Number     Kind = "number"
	Float      Kind = "float of 64 bits"
	ShortFloat Kind = "float of 32 bits"
	Time       Kind = "time"
)

// Field is what a filter can ask of a field.
type Field struct {
	Kind      Kind     // of a value, or of each in a list
	List      bool     // it has any number of values
	Missable  bool     // it may have none
	Constants []string // of an enum, in their order
	Narrowed  []string // the only operators; nil: all of the kind

	Operand func(r *rand.Rand) any // makes a value to compare with
}

// Schema is the fields of elements.
type Schema struct {
	Fields   map[string]*Field // by their paths
	Identity []string          // the paths of the fields that identify an element

	Groupable, Summable []string // the paths of the fields by which summaries group, and of those which they add up
	Searched            []string // the paths of the fields that a search looks into
}

// At returns the value at a path, nil if there is none.
func (e Element) At(path string) any {
	first, rest, deeper := strings.Cut(path, ".")
	if inner, ok := e[first].(map[string]any); ok && deeper {
		return Element(inner).At(rest)
	} else if deeper {
		return nil
	}
	return e[first]
}

// Operators returns the operators of a field; the first is that of a value that stands alone.
func (s *Schema) Operators(name string) []string {
	f := s.Fields[name]
	switch {
	case f.Narrowed != nil:
		return f.Narrowed
	case f.List:
		return []string{"contains", "in", "all"}
	}
	operators := []string{"eq", "ne", "in"}
	switch f.Kind {
	case Text:
		operators = append(operators, "gt", "gte", "lt", "lte", "contains", "starts")
	case Number, Float, ShortFloat, Time:
		operators = append(operators, "gt", "gte", "lt", "lte")
	}
	if f.Missable {
		operators = append(operators, "null")
	}
	return operators
}

// Compare compares two JSON values of a field.
func (f *Field) Compare(t testing.TB, a, b any) int {
	t.Helper()
	switch f.Kind {
	case Number:
		return rational(t, a).Cmp(rational(t, b))
	case Float:
		return cmp.Compare(float(t, a, 64), float(t, b, 64))
	case ShortFloat:
		return cmp.Compare(float(t, a, 32), float(t, b, 32))
	case Boolean:
		return slices.Index([]any{false, true}, a) - slices.Index([]any{false, true}, b)
	case Time:
		return instant(t, a).Compare(instant(t, b))
	case Enum:
		return slices.Index(f.Constants, a.(string)) - slices.Index(f.Constants, b.(string))
	default:
		return strings.Compare(a.(string), b.(string))
	}
}

func rational(t testing.TB, v any) *big.Rat {
	t.Helper()
	r, ok := new(big.Rat).SetString(string(v.(json.Number)))
	if !ok {
		t.Fatalf("%v is no number", v)
	}
	return r
}

// float is a number as a type of so many bits holds it.
func float(t testing.TB, v any, bits int) float64 {
	t.Helper()
	f, err := strconv.ParseFloat(string(v.(json.Number)), bits)
	if err != nil {
		t.Fatal(err)
	}
	return f
}

func instant(t testing.TB, v any) time.Time {
	t.Helper()
	at, err := time.Parse(time.RFC3339Nano, v.(string))
	if err != nil {
		t.Fatal(err)
	}
	return at
}

// Holds reports whether a filter, as JSON, holds for an element.
func (s *Schema) Holds(t testing.TB, filter map[string]any, e Element) bool {
	t.Helper()
	for name, value := range filter {
		switch name {
		case "_or":
			if !slices.ContainsFunc(value.([]any), func(f any) bool { return s.Holds(t, f.(map[string]any), e) }) {
				return false
			}
		case "_not":
			if s.Holds(t, value.(map[string]any), e) {
				return false
			}
		default:
			conditions, ok := value.(map[string]any)
			if !ok {
				conditions = map[string]any{s.Operators(name)[0]: value}
			}
			f := s.Fields[name]
			for operator, operand := range conditions {
				if !f.Condition(t, e.At(name), operator, operand) {
					return false
				}
			}
		}
	}
	return true
}

// Condition reports whether a comparison holds for a value.
func (f *Field) Condition(t testing.TB, value any, operator string, operand any) bool {
	t.Helper()
	if operator == "null" {
		return operand == (value == nil)
	}
	if f.List {
		items, _ := value.([]any) // null: there are none
		has := func(v any) bool {
			return slices.ContainsFunc(items, func(own any) bool { return f.Compare(t, own, v) == 0 })
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
		return f.Compare(t, value, operand) == 0
	case "ne":
		return f.Compare(t, value, operand) != 0
	case "in":
		return slices.ContainsFunc(operand.([]any), func(v any) bool { return f.Compare(t, value, v) == 0 })
	case "gt":
		return f.Compare(t, value, operand) > 0
	case "gte":
		return f.Compare(t, value, operand) >= 0
	case "lt":
		return f.Compare(t, value, operand) < 0
	case "lte":
		return f.Compare(t, value, operand) <= 0
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

// Select returns the elements for which a filter holds, in an order. by is the path of a field; empty: by what
// identifies the elements.
func (s *Schema) Select(t testing.TB, all []Element, filter map[string]any, by string, descending bool) []Element {
	t.Helper()
	var found []Element
	for _, e := range all {
		if s.Holds(t, filter, e) {
			found = append(found, e)
		}
	}
	keys := s.Identity
	if by != "" {
		keys = append([]string{by}, keys...)
	}
	slices.SortFunc(found, func(a, b Element) int {
		for _, name := range keys {
			va, vb := a.At(name), b.At(name)
			switch {
			case va == nil && vb == nil:
				continue
			case va == nil:
				return 1
			case vb == nil:
				return -1
			}
			f := s.Fields[name]
			if c := f.Compare(t, va, vb); c != 0 && descending {
				return -c
			} else if c != 0 {
				return c
			}
		}
		return 0
	})
	return found
}
