// Package jsonschema renders definitions as JSON Schema 2020-12: one document for the parameters of each operation,
// which accepts what the adapter accepts, and one for each type that operations return, which accepts what the adapter
// writes.
//
// Schemas of parameters are closed, because adapters refuse unknown names. Null means that a value is absent, so it is
// accepted for every optional value. Integers have the bounds of 64 bits, because definitions do not contain the Go
// type. Formats other than date-time are hints.
package jsonschema

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	document "github.com/invopop/jsonschema"

	"github.com/aqltag/aqltag/internal/export"
	"github.com/aqltag/aqltag/runtime/gen"
)

// Params returns the document about the parameters of an operation.
func Params(a *gen.Definitions, o *gen.Operation) *document.Schema {
	set := newSet(a, "#/$defs/")
	root := set.Params(o)
	root.Version, root.Title = document.Version, o.Name
	root.Definitions = set.Definitions()
	return root
}

// Result returns the document about the results of a type, which are the data of successes. A type that the adapter
// does not have is Nothing, whose value is null.
func Result(a *gen.Definitions, typeName string) *document.Schema {
	set := newSet(a, "#/$defs/")
	root := set.Result(gen.Returns{Name: typeName})
	if t, ok := a.Type(typeName); ok {
		// A document begins with its type. If the type is recursive, it is in $defs too.
		root = set.typed(t, output)
		if slices.ContainsFunc(a.Operations, func(o gen.Operation) bool {
			return o.Returns.Name == typeName && o.Returns.Nullable
		}) {
			root = orNull(root)
		}
	}
	root.Version, root.Title = document.Version, typeName
	root.Definitions = set.Definitions()
	if !refersTo(root, "#/$defs/"+typeName) {
		delete(root.Definitions, typeName)
	}
	return root
}

// refersTo reports whether a schema, or one of its definitions other than the target, contains a reference.
func refersTo(root *document.Schema, ref string) bool {
	own := root.Definitions
	root.Definitions = nil
	defer func() { root.Definitions = own }()
	for name, definition := range own {
		if "#/$defs/"+name == ref {
			continue
		}
		if text, err := json.Marshal(definition); err != nil || strings.Contains(string(text), `"`+ref+`"`) {
			return true
		}
	}
	text, err := json.Marshal(root)
	return err != nil || strings.Contains(string(text), `"`+ref+`"`)
}

// Files returns all documents of an adapter: params/OPERATION.schema.json in the order of the operations, and
// results/TYPE.schema.json in the order in which operations first return the types. It fails on defaults and other
// literals that are not JSON.
func Files(a *gen.Definitions) ([]export.File, error) {
	var files []export.File
	var names export.FileNames
	add := func(folder, name string, schema *document.Schema) error {
		content, err := Render(schema)
		if err != nil {
			return fmt.Errorf("rendering the schema of %s: %w", name, err)
		}
		files = append(files, export.File{Name: names.Of(folder, name, ".schema.json"), Content: content})
		return nil
	}
	for i := range a.Operations {
		o := &a.Operations[i]
		if err := add("params/", o.Name, Params(a, o)); err != nil {
			return nil, err
		}
	}
	seen := make(map[string]bool)
	for i := range a.Operations {
		name := a.Operations[i].Returns.Name
		if name == "" {
			name = nothing
		}
		if seen[name] {
			continue
		}
		seen[name] = true
		if err := add("results/", name, Result(a, name)); err != nil {
			return nil, err
		}
	}
	return files, nil
}
