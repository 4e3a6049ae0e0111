package golden_test

import (
	"bytes"
	"os"
	"path/filepath"
	"testing"

	"github.com/santhosh-tekuri/jsonschema/v6"
)

// schemaDir holds the protocol's official JSON Schemas, which are not part of the project.
const schemaDir = "../../../shared/schemas"

// officialSchemas validates responses; nil where the schemas are absent.
type officialSchemas struct{ result, introspection *jsonschema.Schema }

func loadSchemas(t *testing.T) *officialSchemas {
	t.Helper()
	if _, err := os.Stat(schemaDir); err != nil {
		t.Logf("responses are not validated: the official schemas are not in %s", schemaDir)
		return nil
	}
	compile := func(name string) *jsonschema.Schema {
		compiler := jsonschema.NewCompiler()
		compiler.AssertFormat()
		schema, err := compiler.Compile(filepath.Join(schemaDir, name+".schema.json"))
		if err != nil {
			t.Fatalf("compiling schema %s: %v", name, err)
		}
		return schema
	}
	return &officialSchemas{result: compile("operation-result"), introspection: compile("introspection-response")}
}

// validate checks a response against the operation-result schema, and one of introspect against its own closed schema
// too, unless it answers a query that the protocol does not have (requirements T-11).
func (s *officialSchemas) validate(t *testing.T, what string, response []byte) {
	t.Helper()
	if s == nil {
		return
	}
	document, err := jsonschema.UnmarshalJSON(bytes.NewReader(response))
	if err != nil {
		t.Errorf("%s: the reply is not JSON: %v\n%s", what, err, response)
		return
	}
	if err := s.result.Validate(document); err != nil {
		t.Errorf("%s: the reply breaks operation-result: %v\n%s", what, err, response)
	}
	isIntrospection := bytes.Contains(response, []byte(`"_protocol"`))
	for _, member := range []string{"operation", "types", "type"} {
		isIntrospection = isIntrospection || bytes.HasPrefix(response, []byte(`{"success":true,"data":{"`+member+`":`))
	}
	if isIntrospection {
		if err := s.introspection.Validate(document); err != nil {
			t.Errorf("%s: the reply breaks introspection-response: %v\n%s", what, err, response)
		}
	}
}
