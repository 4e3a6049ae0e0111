package describe

import (
	"bytes"
	"os"
	"path/filepath"
	"testing"

	"github.com/aqltag/aqltag/runtime/gen"
	"github.com/santhosh-tekuri/jsonschema/v6"
)

// officialSchemas is where the protocol's own schemas lie beside the repository; they are not part of it.
const officialSchemas = "../../../shared/schemas"

func officialSchema(t *testing.T, name string) *jsonschema.Schema {
	t.Helper()
	path := filepath.Join(officialSchemas, name)
	if _, err := os.Stat(path); err != nil {
		t.Skipf("the protocol's schemas are not there: %v", err)
	}
	compiler := jsonschema.NewCompiler()
	compiler.AssertFormat()
	schema, err := compiler.Compile(path)
	if err != nil {
		t.Fatal(err)
	}
	return schema
}

func validate(t *testing.T, schema *jsonschema.Schema, where string, text []byte) {
	t.Helper()
	value, err := jsonschema.UnmarshalJSON(bytes.NewReader(text))
	if err != nil {
		t.Fatalf("%s: %v in %s", where, err, text)
	}
	if err := schema.Validate(value); err != nil {
		t.Errorf("%s: %v in %s", where, err, text)
	}
}

// REQ-IN-06, REQ-IN-07, REQ-IN-09, REQ-IN-10, REQ-PM-03, REQ-TY-02, REQ-TY-03, T-11, T-79: whatever the definitions and
// the surface, every answer is valid against the closed schema.
func TestEveryAnswerIsValid(t *testing.T) {
	schema := officialSchema(t, "introspection-response.schema.json")
	for name, s := range everySurface(t) {
		for _, a := range []*gen.Adapter{todoAdapter(), manyOperations(20), {}} {
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

// The check can fail: what the schema closes, it refuses.
func TestOfficialSchemaRefusesExtras(t *testing.T) {
	schema := officialSchema(t, "introspection-response.schema.json")
	value, err := jsonschema.UnmarshalJSON(bytes.NewReader([]byte(`{"success":true,"data":{"operation":null,"danger":"safe"}}`)))
	if err != nil {
		t.Fatal(err)
	}
	if schema.Validate(value) == nil {
		t.Error("an extra member was accepted")
	}
}

// REQ-IN-14 and REQ-TL-11: every example is a request, in the official schema's sense and in that of the tools.
func TestExamplesAreRequests(t *testing.T) {
	official := officialSchema(t, "operation-input.schema.json")
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

func compile(t *testing.T, text []byte) *jsonschema.Schema {
	t.Helper()
	value, err := jsonschema.UnmarshalJSON(bytes.NewReader(text))
	if err != nil {
		t.Fatal(err)
	}
	compiler := jsonschema.NewCompiler()
	if err := compiler.AddResource("mem:schema", value); err != nil {
		t.Fatal(err)
	}
	schema, err := compiler.Compile("mem:schema")
	if err != nil {
		t.Fatalf("%v in %s", err, text)
	}
	return schema
}
