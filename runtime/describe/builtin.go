package describe

import (
	"fmt"
	"slices"
	"strconv"

	"github.com/aqltag/aqltag/runtime/gen"
)

// The names of the built-in operations, which adapters carry out themselves. Every adapter has introspect (MCP-AQL core
// §7.2); get_manifest is optional.
const (
	IntrospectName = "introspect"
	ManifestName   = "get_manifest"
)

// DetailsQuery is the query of introspect that shows several operations in full, with the types of their requests
// (MCP-AQL introspection §8.3).
const DetailsQuery = "details"

// The bounds of the parameters of introspect.
const (
	MostNames        = 20  // operations that DetailsQuery shows
	MostListed       = 100 // entries of a page, and of a list that nothing narrows
	LongestSearch    = 200 // characters
	LongestPrefix    = 100 // characters
	firstOfSearch    = 5   // entries that a search shows unless the request says how many
	firstOfSelection = 25  // entries of other pages
)

// IntrospectOperation returns the definition of introspect (MCP-AQL core §7.2), which is not among the definitions of
// an adapter. queries are those that it answers in addition to operations, types and DetailsQuery.
func IntrospectOperation(queries ...string) gen.Operation {
	o := gen.Operation{
		Name: IntrospectName, Category: gen.Read, Danger: gen.Safe, DangerSource: gen.DangerFromTag,
		Description: "Discover operations and types: all of them, the matches of a search, or some in full.",
		Params: append([]gen.Param{
			{
				Name: "query", Type: "string", Required: true, Description: "Kind of list",
				Enum: append([]string{"operations", "types", DetailsQuery}, queries...),
			},
			{Name: "name", Type: "string", Description: "One operation or type to show in full"},
		}, selectionParams()...),
		Returns: gen.Returns{Name: introspectionType, Kind: gen.KindObject},
		Examples: []gen.Example{
			{Params: `{"query":"operations"}`, Description: "All operations"},
			{Params: `{"query":"operations","name":"introspect"}`, Description: "One operation with its parameters"},
			{Params: `{"query":"operations","search":"find types"}`, Description: "Operations for a task"},
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

// selectionParams are the parameters of introspect that select what it shows (MCP-AQL introspection §8.3).
func selectionParams() []gen.Param {
	return []gen.Param{
		{
			Name: "names", Type: "array", Items: &gen.Param{Type: "string"}, MinItems: 1, MaxItems: MostNames,
			Description: "Only operations or types of these names; query details shows the operations in full, with the " +
				"types of their requests",
		},
		{
			Name: "search", Type: "string", MinLength: 1, MaxLength: LongestSearch,
			Description: "Words for the task, such as delete notes; the best matches come first",
		},
		{Name: "category", Type: "string", Enum: CategoryNames(), Description: "Only operations of this category"},
		{Name: "danger", Type: "string", Enum: DangerNames(), Description: "Only operations of this danger level"},
		{
			Name: "prefix", Type: "string", MinLength: 1, MaxLength: LongestPrefix,
			Description: "Only operations or types whose names begin with it",
		},
		{
			Name: "first", Type: "integer", Minimum: "1", Maximum: strconv.Itoa(MostListed),
			Description: fmt.Sprintf("How many to list; without it %d of a search and %d of other selections",
				firstOfSearch, firstOfSelection),
		},
		{Name: "after", Type: "string", Description: "Name of the last one listed; the list goes on after it"},
	}
}

// CategoryNames returns the values of the parameter category of introspect.
func CategoryNames() []string { return namesOf(gen.Categories()) }

// DangerNames returns the values of the parameter danger of introspect.
func DangerNames() []string { return namesOf(gen.Dangers()) }

func namesOf[T ~string](values []T) []string {
	names := make([]string, 0, len(values))
	for _, value := range values {
		names = append(names, string(value))
	}
	return names
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
// are those that introspect answers in addition to operations, types, DetailsQuery and FieldsQuery.
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
