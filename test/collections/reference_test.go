package collections_test

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"strconv"
	"testing"
	"time"

	"github.com/aqltag/aqltag/test/collections/internal/reference"
)

// element is the JSON of an element.
type element map[string]any

func (e element) at(path string) any { return reference.Element(e).At(path) }

// schema is the fields of parts.Part, those by which summaries may group, and those which they may add up.
var schema = reference.Schema{
	Identity: []string{"part_id", "lot"},
	Groupable: []string{
		"country", "title", "note", "grade", "minutes", "serial", "checked", "address", "stock", "tags", "counts", "grades",
		"deep", "maker.name", "maker.rank", "maker.codes", "plan.step.grade",
	},
	Summable: []string{
		"minutes", "serial", "small", "weight", "ratio", "stock", "reserve", "deep", "maker.rank", "plan.step.count",
	},
	Searched: []string{"title", "tags"},
	Fields: map[string]*reference.Field{
		"country": textField(), "part_id": textField(), "lot": integerField(), "title": textField(),
		"note": missable(textField()), "grade": gradeField(), "minutes": integerField(), "serial": {
			Kind:    reference.Number,
			Operand: numberOf("0", "1", "4611686018427387904", "9223372036854775808", "18446744073709551615"),
		},
		"small": integerField(), "weight": floatField(reference.Float), "ratio": floatField(reference.ShortFloat),
		"checked": {Kind: reference.Boolean, Operand: func(r *rand.Rand) any { return r.IntN(2) == 0 }},
		"made_at": timeField(), "sold_at": missable(timeField()), "seen_at": missable(timeField()),
		"address": {Kind: reference.OwnText, Operand: func(r *rand.Rand) any { return fmt.Sprint("10.0.0.", r.IntN(12)) }},
		"stock":   missable(integerField()), "reserve": missable(floatField(reference.Float)),
		"tags": listOf(textField()), "counts": listOf(integerField()), "grades": listOf(gradeField()),
		"deep": missable(integerField()), "maker.name": textField(), "maker.rank": missable(integerField()),
		"maker.codes": listOf(integerField()), "plan.due_at": missable(timeField()),
		"plan.step.grade": missable(gradeField()),
		"plan.step.count": {
			Kind: reference.Number, Missable: true, Narrowed: []string{"eq", "lt", "null"}, Operand: integerField().Operand,
		},
	},
}

var (
	kinds = schema.Fields
	names = schema.Names()
)

func textField() *reference.Field {
	return &reference.Field{Kind: reference.Text, Operand: func(r *rand.Rand) any { return maker{r}.text() }}
}

func integerField() *reference.Field {
	return &reference.Field{Kind: reference.Number, Operand: numberOf(
		"-1", "0", "1", "2", "3", "127", "255", "256", "4611686018427387904", "9223372036854775807",
	)}
}

func floatField(kind reference.Kind) *reference.Field {
	return &reference.Field{Kind: kind, Operand: numberOf("-1", "-0.5", "0", "0.1", "0.2", "0.25", "0.3", "1")}
}

func timeField() *reference.Field {
	return &reference.Field{Kind: reference.Time, Operand: func(r *rand.Rand) any {
		return maker{r}.moment().In(time.FixedZone("", r.IntN(3)*3600)).Format(time.RFC3339Nano)
	}}
}

func gradeField() *reference.Field {
	return &reference.Field{
		Kind: reference.Enum, Constants: []string{"poor", "fair", "great"},
		Operand: func(r *rand.Rand) any { return string(maker{r}.grade()) },
	}
}

func numberOf(texts ...string) func(r *rand.Rand) any {
	return func(r *rand.Rand) any { return json.Number(texts[r.IntN(len(texts))]) }
}

func missable(f *reference.Field) *reference.Field {
	f.Missable = true
	return f
}

func listOf(f *reference.Field) *reference.Field {
	f.List = true
	return f
}

// operatorsOf are the operators of a field.
func operatorsOf(name string) []string { return schema.Operators(name) }

// elementKind is the field of which a list has many, and any other field itself.
func elementKind(f *reference.Field) *reference.Field {
	if !f.List {
		return f
	}
	one := *f
	one.List = false
	return &one
}

// compare compares two JSON values of a field.
func compare(t testing.TB, f *reference.Field, a, b any) int {
	t.Helper()
	return f.Compare(t, a, b)
}

// condition reports whether a comparison holds for a value.
func condition(t testing.TB, value any, f *reference.Field, operator string, operand any) bool {
	t.Helper()
	return f.Condition(t, value, operator, operand)
}

// expected returns the elements for which a filter holds, in an order.
func expected(t testing.TB, all []element, filter map[string]any, by string, descending bool) []element {
	t.Helper()
	return ofReference(schema.Select(t, toReference(all), filter, by, descending))
}

// having returns the elements that a search finds.
func having(t testing.TB, all []element, words string) []element {
	t.Helper()
	return ofReference(schema.Search(t, toReference(all), words))
}

func toReference(all []element) []reference.Element {
	list := make([]reference.Element, len(all))
	for i := range all {
		list[i] = reference.Element(all[i])
	}
	return list
}

func ofReference(list []reference.Element) (all []element) {
	for _, e := range list {
		all = append(all, element(e))
	}
	return all
}

func (m maker) filter(depth int) map[string]any { return schema.Filter(m.Rand, depth) }

func (m maker) operandOf(name, operator string) any { return schema.Operand(m.Rand, name, operator) }

// number is an integer as a decoder keeps it.
func number(n int) json.Number { return json.Number(strconv.Itoa(n)) }
