package describe

import (
	"strings"
	"testing"

	"github.com/aqltag/aqltag/runtime/gen"
	"github.com/google/go-cmp/cmp"
)

// What an operation can answer with follows from its definition (MCP-AQL structured error codes §4).
func TestFailures(t *testing.T) {
	id := gen.Param{Name: "todo_id", Type: "string", Required: true}
	adapter := &gen.Definitions{Types: []gen.Type{
		{Name: "Priority", Kind: gen.KindEnum, Values: []gen.EnumValue{{Value: "low"}}},
		{Name: "Todo", Kind: gen.KindObject, Fields: []gen.Param{
			{Name: "todo_id", Type: "string", ReadOnly: true}, {Name: "log", Type: "array", AppendOnly: true},
		}},
		{Name: "TodoPatch", Kind: gen.KindObject, Changes: "Todo", Fields: []gen.Param{{Name: "title", Type: "string"}}},
		{Name: "Node", Kind: gen.KindObject,
			Fields: []gen.Param{{Name: "left", Type: "Node"}, {Name: "value", Type: "integer"}}},
	}}
	for _, tt := range []struct {
		name      string
		operation gen.Operation
		want      string
	}{
		{"no parameters", gen.Operation{Category: gen.Read}, ""},
		{"rules of parameters", gen.Operation{Category: gen.Create, Params: []gen.Param{
			{Name: "title", Type: "string", Required: true, MinLength: 1}, {Name: "priority", Type: "Priority"},
			{Name: "slug", Type: "string", Pattern: "^[a-z]+$"},
		}}, "MISSING_PARAM INVALID_TYPE INVALID_ENUM OUT_OF_RANGE PATTERN_MISMATCH ALREADY_EXISTS"},
		{"rules of nested values", gen.Operation{Category: gen.Read, Params: []gen.Param{
			{Name: "where", Type: "array", Items: &gen.Param{Type: "Node"}},
		}}, "INVALID_TYPE UNKNOWN_FIELD OUT_OF_RANGE"},
		{"field selection", gen.Operation{Category: gen.Read, Params: []gen.Param{{Name: "fields", Type: gen.TypeSelection}}},
			"INVALID_TYPE UNKNOWN_FIELD INVALID_ENUM PATTERN_MISMATCH"},
		{"an update", gen.Operation{Category: gen.Update, Params: []gen.Param{
			id, {Name: "input", Type: "TodoPatch", Required: true}, {Name: "if_match", Type: "string"},
		}}, "MISSING_PARAM INVALID_TYPE UNKNOWN_FIELD READ_ONLY_FIELD APPEND_ONLY RESOURCE VERSION_MISMATCH"},
		{"a destructive operation", gen.Operation{Category: gen.Delete, Danger: gen.Destructive, Params: []gen.Param{id}},
			"MISSING_PARAM INVALID_TYPE RESOURCE CONFIRMATION_REQUIRED TOKEN_INVALID TOKEN_EXPIRED"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			var codes []string
			for _, f := range Failures(adapter, &tt.operation, tt.operation.Danger == gen.Destructive) {
				short := f.Code
				for _, prefix := range []string{"VALIDATION_", "NOT_FOUND_", "CONFLICT_"} {
					short = strings.TrimPrefix(short, prefix)
				}
				codes = append(codes, short)
			}
			if diff := cmp.Diff(tt.want, strings.Join(codes, " ")); diff != "" {
				t.Errorf("-want +got: %s", diff)
			}
			own := Failures(adapter, &tt.operation, true)
			for _, f := range append(CommonFailures(), own...) {
				if !strings.HasSuffix(f.When, ".") {
					t.Errorf("%s: %q is no sentence", f.Code, f.When)
				}
			}
		})
	}
}
