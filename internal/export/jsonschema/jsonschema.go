// Package jsonschema writes what package runtime/jsonschema says of definitions as files.
package jsonschema

import (
	"cmp"
	"fmt"

	"github.com/aqltag/aqltag/internal/export"
	"github.com/aqltag/aqltag/runtime/gen"
	"github.com/aqltag/aqltag/runtime/jsonschema"
)

// Files returns all documents of an adapter: params/OPERATION.schema.json in the order of the operations, and
// results/TYPE.schema.json in the order in which operations first return the types. It fails on defaults and other
// literals that are not JSON.
func Files(a *gen.Definitions) ([]export.File, error) {
	var files []export.File
	var names export.FileNames
	add := func(folder, name string, schema *jsonschema.Schema) error {
		content, err := Render(schema)
		if err != nil {
			return fmt.Errorf("rendering the schema of %s: %w", name, err)
		}
		files = append(files, export.File{Name: names.Of(folder, name, ".schema.json"), Content: content})
		return nil
	}
	for i := range a.Operations {
		o := &a.Operations[i]
		if err := add("params/", o.Name, jsonschema.Params(a, o)); err != nil {
			return nil, err
		}
	}
	seen := make(map[string]bool)
	for i := range a.Operations {
		name := cmp.Or(a.Operations[i].Returns.Name, "Nothing")
		if seen[name] {
			continue
		}
		seen[name] = true
		if err := add("results/", name, jsonschema.Result(a, name)); err != nil {
			return nil, err
		}
	}
	return files, nil
}
