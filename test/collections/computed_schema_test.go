package collections_test

import (
	"bytes"
	"encoding/json"
	"math/rand/v2"
	"strings"
	"testing"

	validator "github.com/santhosh-tekuri/jsonschema/v6"

	aql "github.com/aqltag/aqltag/runtime"
	"github.com/aqltag/aqltag/runtime/jsonschema"
	"github.com/aqltag/aqltag/test/collections/crates"
)

// compiledSchema compiles a schema that we make.
func compiledSchema(t *testing.T, schema *jsonschema.Schema) *validator.Schema {
	t.Helper()
	text, err := schema.Text()
	if err != nil {
		t.Fatal(err)
	}
	document, err := validator.UnmarshalJSON(bytes.NewReader(text))
	if err != nil {
		t.Fatal(err)
	}
	compiler := validator.NewCompiler()
	compiler.AssertFormat()
	if err := compiler.AddResource("schema.json", document); err != nil {
		t.Fatal(err)
	}
	compiled, err := compiler.Compile("schema.json")
	if err != nil {
		t.Fatal(err)
	}
	return compiled
}

// The schemas of parameters and results agree with the adapter about computed fields: which of them requests may name,
// and what their values are.
func TestSchemasOfComputedFields(t *testing.T) {
	depot := &crates.Depot{Crates: maker{rand.New(rand.NewPCG(1, 5))}.crates(6)}
	registry := crates.NewRegistry(depot, &crates.Scale{})
	definitions := registry.Definitions()
	session := crateAdapter(t, depot, aql.Options{}).NewSession()
	for _, tt := range []struct {
		operation, params string
		accepted          bool
	}{
		{"list_crates", `{"fields":["part_id","_computed.total","_computed.same_tags","_computed.same_sold_at"]}`, true},
		{"list_crates", `{"preset":"rich"}`, true},
		{"list_crates", `{"filter":{"_computed.same_minutes":{"gte":0},"_computed.same_tags":"milk"}}`, true},
		{"list_crates", `{"filter":{"_computed.same_sold_at":{"null":true}}}`, true},
		{"list_crates", `{"sort":{"field":"_computed.same_title"}}`, true},
		{"get_crate", `{"at":0,"fields":["_computed.total"]}`, true},
		{"get_crate", `{"at":0,"fields":"full"}`, true},
		{"list_shelves", `{"fields":["_computed.same_checked"]}`, true},
		{"list_crates", `{"fields":["_computed.none"]}`, false},
		{"list_crates", `{"fields":["_computed"]}`, false},
		{"list_crates", `{"fields":["_computed.total.sum"]}`, false},
		{"list_crates", `{"filter":{"_computed.total":1}}`, false},
		{"list_crates", `{"filter":{"_computed.same_minutes":"1"}}`, false},
		{"list_crates", `{"sort":{"field":"_computed.same_tags"}}`, false},
	} {
		o, ok := definitions.Operation(tt.operation)
		if !ok {
			t.Fatalf("there is no operation %s", tt.operation)
		}
		err := valid(t, compiledSchema(t, jsonschema.Params(&definitions, o)), []byte(tt.params))
		answer := send(t, session, tt.operation, tt.params)
		if (err == nil) != tt.accepted || (answer["success"] == true) != tt.accepted {
			t.Errorf("%s %s: the schema says %v, and the adapter %v", tt.operation, tt.params, err, answer)
		}
		if !tt.accepted {
			continue
		}
		result := compiledSchema(t, jsonschema.Result(&definitions, o.Returns.Name))
		if err := valid(t, result, encoded(t, at(answer, "data"))); err != nil {
			t.Errorf("%s %s: %v", tt.operation, tt.params, err)
		}
		for name, wrong := range map[string]string{
			`"total":{`: `"total":{"more":1,`, `"same_checked":`: `"same_checked":0,"x":`,
			`"_computed":{`: `"_computed":{"x":1,`,
		} {
			text := string(encoded(t, at(answer, "data")))
			if broken := strings.Replace(text, name, wrong, 1); broken != text && json.Valid([]byte(broken)) &&
				valid(t, result, []byte(broken)) == nil {
				t.Errorf("%s: the schema of results accepts %s", tt.operation, broken)
			}
		}
	}
}
