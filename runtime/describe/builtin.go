package describe

import (
	"fmt"
	"slices"

	"github.com/aqltag/aqltag/runtime/gen"
)

// The names of the built-in operations, which adapters carry out themselves. Every adapter has introspect (MCP-AQL core
// §7.2); get_manifest is optional.
const (
	IntrospectName = "introspect"
	ManifestName   = "get_manifest"
)

// IntrospectOperation returns the definition of introspect (MCP-AQL core §7.2), which is not among the definitions of
// an adapter. queries are those that it answers in addition to operations and types.
func IntrospectOperation(queries ...string) gen.Operation {
	o := gen.Operation{
		Name: IntrospectName, Category: gen.Read, Danger: gen.Safe, DangerSource: gen.DangerFromTag,
		Description: "Discover operations and types: all of them, or one in full by name.",
		Params: []gen.Param{
			{
				Name: "query", Type: "string", Required: true, Description: "Kind of list",
				Enum: append([]string{"operations", "types"}, queries...),
			},
			{Name: "name", Type: "string", Description: "One operation or type to show in full"},
		},
		Returns: gen.Returns{Name: introspectionType, Kind: gen.KindObject},
		Examples: []gen.Example{
			{Params: `{"query":"operations"}`, Description: "All operations"},
			{Params: `{"query":"operations","name":"introspect"}`, Description: "One operation with its parameters"},
		},
	}
	if slices.Contains(queries, FieldsQuery) {
		o.Params = append(o.Params, gen.Param{
			Name: fieldName, Type: "string",
			Description: "With query fields and the name of an operation: a field of its request, such as title or " +
				"input.title, or of its result, such as returns.title",
		})
	}
	return o
}

// manifestOperation returns the definition of get_manifest.
func manifestOperation() gen.Operation {
	return gen.Operation{
		Name: ManifestName, Category: gen.Read, Danger: gen.Safe, DangerSource: gen.DangerFromTag,
		Description: "Get the service's operations and their parameters as a declaration of capabilities. " +
			"Datatypes in it are labels; introspect tells how requests look.",
		Returns:  gen.Returns{Name: manifestType, Kind: gen.KindObject},
		Examples: []gen.Example{{Params: `{}`, Description: "The whole manifest"}},
	}
}

// BuiltIns returns the definitions of the built-in operations of an adapter, which come first in every list. queries
// are those that introspect answers in addition to operations, types and FieldsQuery.
func (s Surface) BuiltIns(a *gen.Definitions, queries ...string) []gen.Operation {
	if ShowsFields(a) {
		queries = append([]string{FieldsQuery}, queries...)
	}
	builtIns := []gen.Operation{IntrospectOperation(queries...)}
	if s.GetManifest {
		builtIns = append(builtIns, manifestOperation())
	}
	return builtIns
}

func (s Surface) isBuiltIn(name string) bool {
	return name == IntrospectName || s.GetManifest && name == ManifestName
}

// collision returns the error for an operation of the service that has the name of a built-in one.
func collision(o *gen.Operation) error {
	advice := "rename it"
	if o.Name == ManifestName {
		advice = "rename it, or leave GetManifest off, which adds the built-in one"
	}
	where := ""
	if o.Source != "" {
		where = " at " + o.Source
	}
	return fmt.Errorf("the service's operation %q%s has the name of the built-in operation %q; %s", o.Name, where, o.Name,
		advice)
}
