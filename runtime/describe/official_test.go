package describe

import (
	"bytes"
	"strings"
	"testing"

	"github.com/aqltag/aqltag/runtime/gen"
	"github.com/aqltag/aqltag/runtime/internal/schematest"
)

// officialSchema loads one of the protocol's own schemas, or skips the test where they are absent.
func officialSchema(t *testing.T, name string) *schematest.Schema {
	t.Helper()
	schema := schematest.Load(t, name, "")
	if schema == nil {
		t.Skip("the official schemas are absent")
	}
	return schema
}

func validate(t *testing.T, schema *schematest.Schema, where string, text []byte) {
	t.Helper()
	if err := schema.Validate(text); err != nil {
		t.Errorf("%s: %v in %s", where, err, text)
	}
}

// REQ-IN-06, REQ-IN-07, REQ-IN-09, REQ-IN-10, REQ-PM-03, REQ-TY-02, REQ-TY-03, T-11, T-79: whatever the definitions and
// the surface, every answer is valid against the closed schema.
func TestEveryAnswerIsValid(t *testing.T) {
	schema := officialSchema(t, "introspection-response")
	for name, s := range everySurface(t) {
		for _, a := range []*gen.Definitions{todoAdapter(), manyOperations(20), {}} {
			for _, answer := range answers(introspect(t, a, s)) {
				validate(t, schema, name+" "+a.Name, answer)
			}
		}
	}
	for seed := range uint64(40) {
		for _, answer := range answers(introspect(t, randomAdapter(seed), surfaceOf(t, Semantic, "semantic"))) {
			validate(t, schema, "random", answer)
		}
	}
}

// The check can fail: what the schema closes, it refuses, at every depth.
func TestOfficialSchemaRefusesWrongAnswers(t *testing.T) {
	schema := officialSchema(t, "introspection-response")
	const operation = `{"name":"a","semantic_category":"READ","endpoint":"read","description":"d",` +
		`"mcpTool":"mcp_aql_read",` +
		`"permissions":{"readOnly":true,"destructive":false},"parameters":[%PARAMETER],"returns":{"name":"T",` +
		`"kind":"object"}}`
	for name, tt := range map[string]struct {
		answer string
		valid  bool
	}{
		"a failure":                 {`{"success":false,"error":{"code":"INTROSPECTION_ERROR","message":"m"}}`, true},
		"an unknown operation":      {`{"success":true,"data":{"operation":null}}`, true},
		"an extra member of data":   {`{"success":true,"data":{"operation":null,"danger":"safe"}}`, false},
		"an extra member of all":    {`{"success":true,"data":{"operation":null},"danger":"safe"}`, false},
		"a success that is a text":  {`{"success":"true","data":{"operation":null}}`, false},
		"data of a failure":         {`{"success":false,"data":{"operation":null}}`, false},
		"a type of an unknown kind": {`{"success":true,"data":{"types":[{"name":"T","kind":"struct"}]}}`, false},
		"a type without a kind":     {`{"success":true,"data":{"types":[{"name":"T"}]}}`, false},
		"a list of types":           {`{"success":true,"data":{"types":[{"name":"T","kind":"scalar"}]}}`, true},
		"an operation":              {operationWith(operation, `{"name":"p","type":"string","required":true}`), true},
		"an extra member, deep": {operationWith(operation, `{"name":"p","type":"string","required":true,"hidden":1}`),
			false},
		"a parameter without a type": {operationWith(operation, `{"name":"p","required":true}`), false},
		"a bound that is not a count": {
			operationWith(operation, `{"name":"p","type":"string","required":true,"maxLength":-1}`), false,
		},
	} {
		if err := schema.Validate([]byte(tt.answer)); (err == nil) != tt.valid {
			t.Errorf("%s: %v, want valid %t", name, err, tt.valid)
		}
	}
}

func operationWith(operation, parameter string) string {
	return `{"success":true,"data":{"operation":` + strings.Replace(operation, "%PARAMETER", parameter, 1) + `}}`
}

// REQ-IN-14 and REQ-TL-11: every example is a request, in the official schema's sense and in that of the tools.
func TestExamplesAreRequests(t *testing.T) {
	official := officialSchema(t, "operation-input")
	base := compile(t, []byte(baseSchema))
	in := introspect(t, todoAdapter(), surfaceOf(t, Semantic, "crude"))
	for _, name := range []string{"create_todo", "introspect"} {
		var answer struct {
			Data struct {
				Operation struct{ Examples []struct{ Request rawText } }
			}
		}
		decode(t, in.Operation(name), &answer)
		if len(answer.Data.Operation.Examples) == 0 {
			t.Errorf("%s has no examples", name)
		}
		for _, example := range answer.Data.Operation.Examples {
			validate(t, official, name, example.Request)
			validate(t, base, name, example.Request)
		}
	}
}

type rawText []byte

func (r *rawText) UnmarshalJSON(text []byte) error { *r = bytes.Clone(text); return nil }

func compile(t *testing.T, text []byte) *schematest.Schema {
	t.Helper()
	schema, err := schematest.Compile(text)
	if err != nil {
		t.Fatalf("%v in %s", err, text)
	}
	return schema
}
