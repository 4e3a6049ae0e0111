package jsonschema

import (
	"testing"

	"github.com/aqltag/aqltag/runtime/gen"
	"github.com/google/go-cmp/cmp"
)

// In the schema of a tool, fields of filters that differ in nothing but their names and descriptions share what they
// are compared with. One that is alone has it where it is, and a type of the service keeps its name. Each tool has its
// own definitions, under the same names.
func TestToolsShareConditions(t *testing.T) {
	equality := []string{gen.OpEq, gen.OpIn}
	list := gen.Operation{Category: gen.Read, Params: []gen.Param{{Name: "filter", Type: "NoteFilter"}}}
	a := &gen.Definitions{
		Operations: []gen.Operation{list, list},
		Types: []gen.Type{
			{Name: "StringCondition", Kind: gen.KindObject},
			{Name: "NoteFilter", Kind: gen.KindObject, Filters: "Note", Fields: []gen.Param{
				{Name: "a", Type: "string", Filter: equality, Description: "Only eq, in"},
				{Name: "b", Type: "string", Filter: equality, Aliases: []string{"bb"}},
				{Name: "c", Type: "string", Filter: []string{gen.OpEq, gen.OpNull}},
				{Name: "d", Type: "string", Filter: []string{gen.OpEq}},
				{Name: "e", Type: "string", Filter: []string{gen.OpEq}},
			}},
		},
	}
	const (
		object = `"additionalProperties":false,"minProperties":1}]}`
		both   = `{"anyOf":[{"type":"string"},{"type":"object","properties":{"eq":{"type":"string"},` +
			`"in":{"type":"array","items":{"type":"string"},"maxItems":100}},` + object
		nullable = `{"anyOf":[{"type":"string"},{"type":"object","properties":{"eq":{"type":"string"},` +
			`"null":{"type":"boolean"}},` + object
		equal = `{"anyOf":[{"type":"string"},{"type":"object","properties":{"eq":{"type":"string"}},` + object
		want  = `{"type":"object","properties":{"filter":{"description":"` + filterOfTool + `","type":"object",` +
			`"properties":{"a":{"$ref":"#/$defs/StringCondition_"},"b":{"$ref":"#/$defs/StringCondition_"},"c":` + nullable +
			`,"d":{"$ref":"#/$defs/StringCondition__"},"e":{"$ref":"#/$defs/StringCondition__"}},` +
			`"additionalProperties":false}},"additionalProperties":false,"$defs":{"StringCondition_":` + both +
			`,"StringCondition__":` + equal + `}}`
	)
	tools := NewTools(a)
	for i := range a.Operations {
		text, err := tools.Arguments(&a.Operations[i], false).Text()
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(want, string(text)); diff != "" {
			t.Errorf("tool %d (-want +got):\n%s", i, diff)
		}
	}
}
