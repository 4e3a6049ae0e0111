package aql

import (
	"testing"

	"github.com/aqltag/aqltag/runtime/gen"
	"github.com/aqltag/aqltag/runtime/internal/wire"
)

// The first stage of validation that found a problem decides, and within it the order of the definition.
func TestInvalidParameters(t *testing.T) {
	o := stageOperation("add", "create",
		gen.Param{Name: "title", Type: "string", Description: "Heading of it. More about it."},
		gen.Param{Name: "pin", Type: "string", Sensitive: true},
		gen.Param{Name: "to", Type: "Address"},
	)
	missing := wire.Problem{Stage: wire.StageMissing, Path: "title", Expected: "string"}
	wrongTitle := wire.Problem{Stage: wire.StageType, Path: "title", Expected: "string", Actual: "number", Value: "5"}
	wrongPin := wire.Problem{Stage: wire.StageType, Path: "pin", Expected: "string", Actual: "number", Value: "1234"}
	unknownField := wire.Problem{Stage: wire.StageUnknown, Path: "to.town", Name: "town", Allowed: []string{"city", "pin"}}
	tooLong := wire.Problem{Stage: wire.StageConstraint, Path: "title", Rule: "max_length", Limit: "3", Value: `"four"`}
	readOnly := wire.Problem{Stage: wire.StageConstraint, Path: "title", Rule: "read_only"}
	for _, tt := range []struct {
		name     string
		problems []wire.Problem
		unknown  []string
		legacy   bool
		want     string
	}{
		{name: "missing before wrong types", problems: []wire.Problem{wrongPin, missing}, unknown: []string{"titel"},
			want: `{"code":"VALIDATION_MISSING_PARAM","message":"Missing required parameter 'title'. Expected: string ` +
				`(Heading of it)",` +
				`"details":{"param_name":"title","operation":"add","unknown_params":["titel"],"suggestions":{"titel":"title"}}}`},
		{name: "wrong types before unknown names", problems: []wire.Problem{wrongTitle}, unknown: []string{"x"},
			want: `{"code":"VALIDATION_INVALID_TYPE","message":"Parameter 'title' expected 'string', got 'number'",` +
				`"details":{"param_name":"title","expected_type":"string","actual_type":"number","value":5}}`},
		{name: "the order of the definition", problems: []wire.Problem{wrongPin, wrongTitle},
			want: `{"code":"VALIDATION_INVALID_TYPE","message":"Parameter 'title' expected 'string', got 'number'",` +
				`"details":{"param_name":"title","expected_type":"string","actual_type":"number","value":5}}`},
		{name: "a sensitive value is not repeated", problems: []wire.Problem{wrongPin},
			want: `{"code":"VALIDATION_INVALID_TYPE","message":"Parameter 'pin' expected 'string', got 'number'",` +
				`"details":{"param_name":"pin","expected_type":"string","actual_type":"number"}}`},
		{name: "unknown names before unknown fields", problems: []wire.Problem{unknownField}, unknown: []string{"x"},
			want: `{"code":"VALIDATION_UNKNOWN_PARAM","message":"Unknown parameter(s) for operation 'add': x",` +
				`"details":{"operation":"add","unknown_params":["x"],"valid_params":["title","pin","to"]}}`},
		{name: "unknown fields before constraints", problems: []wire.Problem{tooLong, unknownField},
			want: `{"code":"VALIDATION_UNKNOWN_FIELD","message":"Unknown field(s) in 'to' for operation 'add': town",` +
				`"details":{"operation":"add","param_name":"to","unknown_fields":["town"],"valid_fields":["city","pin"]}}`},
		{name: "a constraint", problems: []wire.Problem{tooLong},
			want: `{"code":"VALIDATION_OUT_OF_RANGE","message":"Parameter 'title' must have a length <= '3'",` +
				`"details":{"param_name":"title","value":"four","max_length":3}}`},
		{name: "a constraint, with the legacy codes", problems: []wire.Problem{tooLong}, legacy: true,
			want: `{"code":"VALIDATION_INVALID_TYPE","message":"Parameter 'title' must have a length <= '3'",` +
				`"details":{"param_name":"title","value":"four","max_length":3}}`},
		{name: "a field that no update may change", problems: []wire.Problem{readOnly},
			want: `{"code":"VALIDATION_READ_ONLY_FIELD","message":"Field 'title' is read-only and cannot be updated.",` +
				`"details":{"field":"title","operation":"add"}}`},
	} {
		t.Run(tt.name, func(t *testing.T) {
			checkText(t, "failure", tt.want, asJSON((&invalid{o, tt.problems, tt.unknown, tt.legacy, false, false}).failure()))
		})
	}
}
