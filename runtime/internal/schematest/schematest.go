// Package schematest validates answers against the protocol's official JSON Schemas in tests. The schemas are not part
// of the project: they are read from the folder shared/schemas beside the repository.
package schematest

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"math"
	"os"
	"path/filepath"
	"testing"

	"github.com/google/jsonschema-go/jsonschema"
)

// Schema is one of the official schemas.
type Schema struct {
	name     string
	resolved *jsonschema.Resolved
}

// Load reads the schema called name, such as "operation-result", or the definition of it that is called definition, if
// that is not empty. It returns nil where the schemas are absent.
func Load(tb testing.TB, name, definition string) *Schema {
	tb.Helper()
	s, err := load(name, definition)
	if errors.Is(err, fs.ErrNotExist) {
		tb.Logf("the official schema %s is absent", name)
		return nil
	} else if err != nil {
		tb.Fatal(err)
	}
	return s
}

func load(name, definition string) (*Schema, error) {
	dir, err := folder()
	if err != nil {
		return nil, err
	}
	content, err := os.ReadFile(filepath.Join(dir, name+".schema.json"))
	if err != nil {
		return nil, fmt.Errorf("reading an official schema: %w", err)
	}
	schema, err := parse(content)
	if err != nil {
		return nil, fmt.Errorf("reading the official schema %s: %w", name, err)
	}
	if definition != "" {
		if schema.Defs[definition] == nil {
			return nil, fmt.Errorf("the official schema %s has no definition %s", name, definition)
		}
		schema = &jsonschema.Schema{Ref: "#/$defs/" + definition, Defs: schema.Defs}
	}
	resolved, err := schema.Resolve(nil)
	if err != nil {
		return nil, fmt.Errorf("reading the official schema %s: %w", name, err)
	}
	return &Schema{name: name, resolved: resolved}, nil
}

// Compile reads a schema that is not an official one.
func Compile(text []byte) (*Schema, error) {
	schema, err := parse(text)
	if err != nil {
		return nil, err
	}
	resolved, err := schema.Resolve(nil)
	return &Schema{name: "given", resolved: resolved}, err
}

// parse reads a schema and makes the validator check times, although it ignores formats.
func parse(text []byte) (*jsonschema.Schema, error) {
	var document any
	if err := json.Unmarshal(text, &document); err != nil {
		return nil, err
	}
	assertTimes(document)
	text, err := json.Marshal(document)
	if err != nil {
		return nil, err
	}
	schema := new(jsonschema.Schema)
	return schema, json.Unmarshal(text, schema)
}

// assertTimes gives the pattern of an RFC 3339 time to what has the format date-time.
func assertTimes(value any) {
	switch value := value.(type) {
	case []any:
		for _, element := range value {
			assertTimes(element)
		}
	case map[string]any:
		if value["format"] == "date-time" {
			value["pattern"] = `^\d{4}-\d{2}-\d{2}[Tt]\d{2}:\d{2}:\d{2}(\.\d+)?([Zz]|[+-]\d{2}:\d{2})$`
		}
		for _, member := range value {
			assertTimes(member)
		}
	}
}

// folder finds the schemas beside the repository, which is the nearest folder above that has a go.work file.
func folder() (string, error) {
	dir, err := os.Getwd()
	if err != nil {
		return "", fmt.Errorf("finding the official schemas: %w", err)
	}
	for {
		parent := filepath.Dir(dir)
		if _, err := os.Stat(filepath.Join(dir, "go.work")); err == nil {
			return filepath.Join(parent, "shared", "schemas"), nil
		}
		if parent == dir {
			return "", fmt.Errorf("finding the official schemas: %w", fs.ErrNotExist)
		}
		dir = parent
	}
}

// Validate returns an error that says where document, a JSON text, breaks the schema.
func (s *Schema) Validate(document []byte) error {
	value, err := decode(document)
	if err != nil {
		return fmt.Errorf("%w: %s", err, document)
	}
	if err := s.resolved.Validate(value); err != nil {
		return fmt.Errorf("%s\nbreaks the official schema %s: %w", document, s.name, err)
	}
	return nil
}

// decode reads a JSON text as encoding/json does. Numbers beyond the range of float64 become its largest ones: the
// schemas bound none.
func decode(document []byte) (any, error) {
	var value any
	if err := json.Unmarshal(document, &value); err == nil {
		return value, nil
	}
	decoder := json.NewDecoder(bytes.NewReader(document))
	decoder.UseNumber()
	if err := decoder.Decode(&value); err != nil {
		return nil, err
	}
	return floats(value), nil
}

func floats(value any) any {
	switch value := value.(type) {
	case json.Number:
		number, _ := value.Float64() // ±Inf beyond the range
		return max(-math.MaxFloat64, min(number, math.MaxFloat64))
	case []any:
		for i, element := range value {
			value[i] = floats(element)
		}
	case map[string]any:
		for name, member := range value {
			value[name] = floats(member)
		}
	}
	return value
}

// Check reports a test as failed when document breaks the schema. On a nil Schema it does nothing.
func (s *Schema) Check(tb testing.TB, document []byte) {
	tb.Helper()
	if s == nil {
		return
	}
	if err := s.Validate(document); err != nil {
		tb.Error(err)
	}
}
