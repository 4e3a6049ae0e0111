package reference

import (
	"maps"
	"math/rand/v2"
	"slices"
)

// deepest is the greatest depth of a random filter; that of a request has one level more.
const deepest = 3

// Texts are values that go wrong where texts are quoted, folded, or taken for patterns or placeholders.
var Texts = []string{
	"", "milk", "Milk", "MILK bread", "Ärger", "ärger", "K", "k", "\u212a", "100%", "under_score", `back\slash`,
	`"quoted"`, "it's", "$1", "?", "; --", "日本", "a", "ab", "b",
	"a ", "a\t", " a", "\uffee", "😀",
}

// Names returns the paths of all fields, sorted.
func (s *Schema) Names() []string { return slices.Sorted(maps.Keys(s.Fields)) }

// Filter makes a random filter. depth is that of the filter in the one of the request, which has 0.
func (s *Schema) Filter(r *rand.Rand, depth int) map[string]any {
	filter, names := map[string]any{}, s.Names()
	for range r.IntN(deepest + 1 - depth) {
		switch name := names[r.IntN(len(names))]; {
		case depth < deepest && r.IntN(6) == 0:
			filter["_not"] = s.Filter(r, depth+1)
		case depth < deepest && r.IntN(6) == 0:
			filter["_or"] = []any{s.Filter(r, depth+1), s.Filter(r, depth+1)}
		case r.IntN(3) == 0:
			filter[name] = s.Operand(r, name, "eq")
		default:
			operators, conditions := s.Operators(name), map[string]any{}
			for range 1 + r.IntN(2) {
				operator := operators[r.IntN(len(operators))]
				conditions[operator] = s.Operand(r, name, operator)
			}
			filter[name] = conditions
		}
	}
	return filter
}

// Operand makes a random operand of an operator.
func (s *Schema) Operand(r *rand.Rand, name, operator string) any {
	switch operator {
	case "null":
		return r.IntN(2) == 0
	case "in", "all":
		operands := []any{}
		for range r.IntN(4) {
			operands = append(operands, s.Fields[name].Operand(r))
		}
		return operands
	default:
		return s.Fields[name].Operand(r)
	}
}

// Sort makes a random order: the path of a field that has one value at most, or nothing, and the direction.
func (s *Schema) Sort(r *rand.Rand) (by string, descending bool) {
	if r.IntN(4) == 0 {
		return "", false
	}
	names := slices.DeleteFunc(s.Names(), func(name string) bool { return s.Fields[name].List })
	return names[r.IntN(len(names))], r.IntN(2) == 0
}

// Order returns the parameter sort.
func Order(by string, descending bool) map[string]any {
	if descending {
		return map[string]any{"field": by, "order": "desc"}
	}
	return map[string]any{"field": by, "order": "asc"}
}
