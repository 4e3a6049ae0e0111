package aql

import (
	"fmt"
	"strings"
	"testing"

	"github.com/aqltag/aqltag/runtime/gen"
)

// B13, REQ-IN-21: an adapter with many types answers the query fields, and one with few knows neither the query nor its
// parameter.
func TestFieldsQuery(t *testing.T) {
	types := noteTypes
	for i := range 60 {
		types = append(types[:len(types):len(types)], gen.WireType{Name: fmt.Sprintf("Unused%d", i), Kind: gen.KindScalar})
	}
	for _, tt := range []struct {
		name, params string
		types        []gen.WireType
		want         string
	}{
		{
			"a field", `{"query":"fields","name":"get_note","field":"note_id"}`, types,
			`{"success":true,"data":{"fields":[{"name":"note_id",`,
		},
		{"an unknown operation", `{"query":"fields","name":"no_note","field":"x"}`, types, `"data":{"fields":null}`},
		{
			"all fields", `{"query":"fields","name":"get_note","field":null}`, types,
			`{"success":true,"data":{"fields":[{"name":"note_id",`,
		},
		{
			"without an operation", `{"query":"fields","field":"x"}`, types,
			`"code":"INTROSPECTION_ERROR","message":"Query 'fields' needs 'name', the name of an operation"`,
		},
		{
			"the parameter with another query", `{"query":"types","field":"x"}`, types,
			`"code":"INTROSPECTION_ERROR","message":"Parameter 'field' goes with query 'fields' only"`,
		},
		{"twice", `{"query":"fields","name":"get_note","field":"x","field":"y"}`, types, `VALIDATION_DUPLICATE_PARAM`},
		{"no text", `{"query":"fields","name":"get_note","field":7}`, types, `VALIDATION_`},
		{
			"an unknown query", `{"query":"field"}`, types,
			`Unknown query type: 'field'. Supported types: operations, types, details, fields"`,
		},
		{"few types: the query", `{"query":"fields"}`, noteTypes, `Supported types: operations, types, details"`},
		{"few types: the parameter", `{"query":"types","field":"x"}`, noteTypes, `VALIDATION_UNKNOWN_PARAM`},
	} {
		t.Run(tt.name, func(t *testing.T) {
			adapter, err := New(gen.NewRegistry([]gen.Handler{noteOperation("get_note", gen.Read, gen.Safe, nil,
				gen.Field{Name: "note_id", Go: "NoteID", Type: "string"})}, tt.types),
				Options{Mode: "single"})
			if err != nil {
				t.Fatal(err)
			}
			session := adapter.NewSession()
			defer session.Close()
			answer := session.Call(t.Context(), "mcp_aql", []byte(`{"operation":"introspect","params":`+tt.params+`}`)).JSON
			if !strings.Contains(string(answer), tt.want) {
				t.Errorf("%s", answer)
			}
		})
	}
}
