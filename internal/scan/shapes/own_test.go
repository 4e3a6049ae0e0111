package shapes_test

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/aqltag/aqltag/runtime/gen"
)

// B8: the schema that a type brings is read where its method returns a literal that says all, and nothing is taken from
// any other.
func TestSchemasThatTypesBring(t *testing.T) {
	for name, tt := range map[string]struct {
		method string // of Code
		want   *gen.Param
	}{
		"a pointer to a literal": {
			`JSONSchema() *Schema { return &Schema{Type: "string", Pattern: "^[A-Z]+$", Description: "A code."} }`,
			&gen.Param{Type: "string", Pattern: "^[A-Z]+$", Description: "A code."},
		},
		"a literal": {
			`JSONSchema() Schema { return Schema{Type: "string", Format: "hostname", Title: "Host"} }`,
			&gen.Param{Type: "string", Format: "hostname"},
		},
		"the type and the format of Kubernetes": {
			`OpenAPISchemaType() []string { return []string{"string"} }
			func (Code) OpenAPISchemaFormat() string { return "date" }`,
			&gen.Param{Type: "string", Format: "date"},
		},
		"several types":              {`OpenAPISchemaType() []string { return []string{"string", "integer"} }`, nil},
		"no types":                   {`OpenAPISchemaType() []string { return nil }`, nil},
		"a rule that cannot be told": {`JSONSchema() *Schema { return &Schema{Type: "string", Enum: []any{"a"}} }`, nil},
		"a type that is computed": {
			`JSONSchema() *Schema { return &Schema{Type: kind()} }
			func kind() string { return "string" }`, nil,
		},
		"a pattern that is no expression": {`JSONSchema() *Schema { return &Schema{Type: "string", Pattern: "("} }`, nil},
		"a type that JSON does not have":  {`JSONSchema() *Schema { return &Schema{Type: "text"} }`, nil},
		"no type":                         {`JSONSchema() *Schema { return &Schema{Format: "date"} }`, nil},
		"a literal without names": {
			`JSONSchema() Pair { return Pair{"string", "date"} }
			type Pair struct{ Type, Format string }`, nil,
		},
		"two statements": {`JSONSchema() *Schema { s := &Schema{Type: "string"}; return s }`, nil},
		"a parameter":    {`JSONSchema(int) *Schema { return &Schema{Type: "string"} }`, nil},
		"two results":    {`JSONSchema() (*Schema, error) { return &Schema{Type: "string"}, nil }`, nil},
	} {
		t.Run(name, func(t *testing.T) {
			dir := t.TempDir() // bodies are read from files
			text := `package ext

type Code struct{ hidden int }

type Schema struct {
	Type, Format, Pattern, Description, Title string
	Enum                                      []any
}

func (Code) MarshalJSON() ([]byte, error) { return nil, nil }

func (Code) ` + tt.method + "\n"
			if err := os.WriteFile(filepath.Join(dir, "file.go"), []byte(text), 0o600); err != nil {
				t.Fatal(err)
			}
			own := formOf(t, filepath.ToSlash(dir), text, "Code")
			if diff := cmp.Diff(tt.want, own); diff != "" {
				t.Errorf("-want +got:\n%s", diff)
			}
		})
	}
}
