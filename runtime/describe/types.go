package describe

import (
	"slices"
	"strconv"

	"github.com/aqltag/aqltag/runtime/gen"
)

const (
	introspectionType = "IntrospectionResult"
	manifestType      = "CapabilityManifest"
	nothingType       = "Nothing"
	selectionType     = "FieldSelection"
)

// protocolTypes returns the types of the protocol (MCP-AQL introspection §5.3), and the result type of introspect.
func protocolTypes() []gen.Type {
	category := gen.Type{Name: "SemanticCategory", Kind: gen.KindEnum, Description: "Effect of an operation on data"}
	for _, c := range gen.Categories() {
		category.Values = append(category.Values, gen.EnumValue{Value: string(c)})
	}
	return []gen.Type{
		category,
		{Name: "OperationInput", Kind: gen.KindObject, Description: "A request", Fields: []gen.Param{
			{Name: "operation", Type: "string", Required: true, Description: "Name of the operation"},
			{Name: "params", Type: "object", Description: "Its parameters"},
		}},
		{
			Name: "OperationResult", Kind: gen.KindUnion, Description: "The answer to a request",
			Members: []string{"OperationSuccess", "OperationFailure"},
		},
		{Name: "OperationSuccess", Kind: gen.KindObject, Description: "The operation was carried out", Fields: []gen.Param{
			{Name: "success", Type: "boolean", Required: true, Description: "Always true"},
			{Name: "data", Type: "any", Required: true, Description: "The result of the operation, or null"},
		}},
		{
			Name: "OperationFailure", Kind: gen.KindObject, Description: "The operation failed",
			Fields: []gen.Param{
				{Name: "success", Type: "boolean", Required: true, Description: "Always false"},
				{
					Name: "error", Type: "object", Required: true,
					Description: "code (string), message (string) and, for most codes, details (object)",
				},
			},
		},
		{Name: "EndpointPermissions", Kind: gen.KindObject, Description: "Effects an operation may have", Fields: []gen.Param{
			{Name: "readOnly", Type: "boolean", Required: true, Description: "Only reads"},
			{Name: "destructive", Type: "boolean", Required: true, Description: "Can overwrite or remove state"},
		}},
		{
			Name: introspectionType, Kind: gen.KindObject, Description: "One of these, depending on query and name",
			Fields: []gen.Param{
				list("operations", "The operations; _protocol beside them tells version, capabilities and limits, and of a "+
					"selection its size in total and how many more there are"),
				{Name: "operation", Type: "object", Description: "The operation asked for, or null"},
				list("types", "The types"),
				{Name: "type", Type: "object", Description: "The type asked for, or null"},
				texts("unknown", "With query details: names of no operation"),
				texts("more_types", "With query details: types left out"),
			},
		},
	}
}

// manifestTypeDefinition is the result type of get_manifest.
var manifestTypeDefinition = gen.Type{
	Name: manifestType, Kind: gen.KindObject, Description: "Capabilities of the service: a declaration, not a contract",
	Fields: []gen.Param{
		{Name: "service", Type: "object", Required: true, Description: "name (string)"},
		{
			Name: "operations", Type: "array", Required: true, Items: &gen.Param{Type: "object"},
			Description: "name, description and parameters of each, with kind, datatype, required and multiple",
		},
	},
}

// selectionTypeDefinition is what field selection offers (MCP-AQL field selection §5.3).
var selectionTypeDefinition = gen.Type{
	Name: selectionType, Kind: gen.KindObject,
	Description: "Values of the parameter fields: a preset, or a list of fields",
	Fields: []gen.Param{
		{
			Name: "presets", Type: "array", Items: &gen.Param{Type: "string"},
			Description: "minimal, standard, full; the parameter fields of an operation names its own",
		},
		{Name: "fields", Type: "object", Description: "Those of the type of the result; a.b is b in a"},
		{Name: "computed_fields", Type: "array", Items: &gen.Param{Type: "string"}, Description: "None"},
	},
}

// selectionDefinition returns selectionTypeDefinition, as far as computed fields may be selected.
func selectionDefinition(a *gen.Definitions) gen.Type {
	t := selectionTypeDefinition
	if a.Computes() {
		t.Fields = slices.Clone(t.Fields)
		t.Fields[len(t.Fields)-1].Description = "Among fields as _computed.name; the details of an operation list its own"
	}
	if a.Relates() {
		t.Fields = slices.Clone(t.Fields)
		t.Fields[1].Description += ", which has no relations there; relation.b is b in what it leads to, and no more than " +
			strconv.Itoa(gen.MaxRelations) + " relations follow each other"
	}
	return t
}

// texts returns a parameter that is a list of strings.
func texts(name, description string) gen.Param {
	return gen.Param{Name: name, Type: "array", Description: description, Items: &gen.Param{Type: "string"}}
}

// list returns a parameter that is a list of objects.
func list(name, description string) gen.Param {
	return gen.Param{Name: name, Type: "array", Description: description, Items: &gen.Param{Type: "object"}}
}

// allTypes returns the types of the protocol and then those of the adapter.
func (s Surface) allTypes(a *gen.Definitions) []gen.Type {
	types := protocolTypes()
	if ShowsFields(a) {
		result := &types[len(types)-1]
		result.Fields = append(result.Fields, list("fields", "The fields found; more beside them counts those left out"))
	}
	if s.GetManifest {
		types = append(types, manifestTypeDefinition)
	}
	if _, has := a.Type(selectionType); !has && a.SelectsFields() {
		types = append(types, selectionDefinition(a))
	}
	types = append(types, a.Types...)
	void := slices.ContainsFunc(a.Operations, func(o gen.Operation) bool { return o.Returns.Name == "" })
	if _, has := a.Type(nothingType); void && !has {
		types = append(types, gen.Type{Name: nothingType, Kind: gen.KindScalar, Description: "No data (null)"})
	}
	return types
}

// typeInfo is an entry of the types list, and the result of an operation.
type typeInfo struct {
	Name        string       `json:"name"`
	Kind        gen.TypeKind `json:"kind"`
	Description string       `json:"description,omitempty"`
}

func typeInfos(types []gen.Type) []typeInfo {
	infos := make([]typeInfo, 0, len(types))
	for i := range types {
		infos = append(infos, typeInfo{types[i].Name, types[i].Kind, types[i].Description})
	}
	return infos
}

// typeDetails is one type in full. It has one of the last three members, depending on the kind: nil leaves a member
// out, an empty list does not.
type typeDetails struct {
	typeInfo
	Values  *[]string        `json:"values,omitempty"`
	Fields  *[]parameterInfo `json:"fields,omitempty"`
	Members *[]string        `json:"members,omitempty"`
}

func typeDetailsOf(t *gen.Type) typeDetails {
	details := typeDetails{typeInfo: typeInfo{t.Name, t.Kind, t.Description}}
	switch t.Kind {
	case gen.KindEnum:
		values := make([]string, 0, len(t.Values))
		var described notes
		described.add(t.Description)
		for _, v := range t.Values {
			values = append(values, v.Value)
			if v.Description != "" {
				described.add(v.Value + ": " + v.Description)
			}
		}
		details.Values, details.Description = &values, described.String()
	case gen.KindObject:
		fields := append(parameterInfos(writtenFields(t)), relatedInfos(t)...)
		for i := range t.Fields {
			if p := &t.Fields[i]; t.Changes != "" && p.Type == "any" && !p.Nullable {
				fields[i].Description = sentences(fields[i].Description, "Not null")
			}
		}
		var described notes
		described.add(t.Description)
		described.add(originalsNote(t.Fields))
		details.Fields, details.Description = &fields, described.String()
	case gen.KindUnion:
		members := append(make([]string, 0, len(t.Members)), t.Members...)
		details.Members = &members
	}
	return details
}
