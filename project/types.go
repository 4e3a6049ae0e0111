package project

import (
	"slices"

	"github.com/aqltag/aqltag/model"
)

const (
	introspectionType = "IntrospectionResult"
	manifestType      = "CapabilityManifest"
	nothingType       = "Nothing"
)

// protocolTypes are the types that the protocol itself brings (MCP-AQL introspection §5.3), and the one that introspect
// returns.
func protocolTypes() []model.Type {
	category := model.Type{Name: "SemanticCategory", Kind: model.KindEnum, Description: "Effect of an operation on data"}
	for _, c := range model.Categories() {
		category.Values = append(category.Values, model.EnumValue{Value: string(c)})
	}
	list := func(name, description string) model.Param {
		return model.Param{Name: name, Type: "array", Description: description, Items: &model.Param{Type: "object"}}
	}
	return []model.Type{
		category,
		{Name: "OperationInput", Kind: model.KindObject, Description: "A request", Fields: []model.Param{
			{Name: "operation", Type: "string", Required: true, Description: "Name of the operation"},
			{Name: "params", Type: "object", Description: "Its parameters"},
		}},
		{Name: "OperationResult", Kind: model.KindUnion, Description: "The answer to a request", Members: []string{"OperationSuccess", "OperationFailure"}},
		{Name: "OperationSuccess", Kind: model.KindObject, Description: "The operation was carried out", Fields: []model.Param{
			{Name: "success", Type: "boolean", Required: true, Description: "Always true"},
			{Name: "data", Type: "any", Required: true, Description: "The result of the operation"},
		}},
		{Name: "OperationFailure", Kind: model.KindObject, Description: "The operation was not carried out", Fields: []model.Param{
			{Name: "success", Type: "boolean", Required: true, Description: "Always false"},
			{Name: "error", Type: "object", Required: true, Description: "code (string), message (string) and, for most codes, details (object)"},
		}},
		{Name: "EndpointPermissions", Kind: model.KindObject, Description: "Effects an operation may have", Fields: []model.Param{
			{Name: "readOnly", Type: "boolean", Required: true, Description: "Only reads"},
			{Name: "destructive", Type: "boolean", Required: true, Description: "Can overwrite or remove state"},
		}},
		{Name: introspectionType, Kind: model.KindObject, Description: "One of these, depending on query and name", Fields: []model.Param{
			list("operations", "All operations; _protocol beside them tells version, capabilities and limits"),
			{Name: "operation", Type: "object", Description: "The operation asked for, or null"},
			list("types", "All types"),
			{Name: "type", Type: "object", Description: "The type asked for, or null"},
		}},
	}
}

// allTypes lists the protocol's types and the adapter's, in this order.
func (s Surface) allTypes(a *model.Adapter) []model.Type {
	types := protocolTypes()
	if s.GetManifest {
		types = append(types, model.Type{
			Name: manifestType, Kind: model.KindObject, Description: "Capabilities of the service: a declaration, not a contract", Fields: []model.Param{
				{Name: "service", Type: "object", Required: true, Description: "name (string)"},
				{Name: "operations", Type: "array", Required: true, Items: &model.Param{Type: "object"},
					Description: "name, description and parameters of each, with kind, datatype, required and multiple"},
			},
		})
	}
	types = append(types, a.Types...)
	void := slices.ContainsFunc(a.Operations, func(o model.Operation) bool { return o.Returns.Name == "" })
	if _, has := a.Type(nothingType); void && !has {
		types = append(types, model.Type{Name: nothingType, Kind: model.KindScalar, Description: "No data (null)"})
	}
	return types
}

// typeInfo is an entry of the types list, and what an operation returns; the schema closes it.
type typeInfo struct {
	Name        string         `json:"name"`
	Kind        model.TypeKind `json:"kind"`
	Description string         `json:"description,omitempty"`
}

// typeDetails is one type in full. Which of the last three members it has depends on the kind, and the schema allows no
// other; nil leaves one out, empty does not.
type typeDetails struct {
	typeInfo
	Values  *[]string        `json:"values,omitempty"`
	Fields  *[]parameterInfo `json:"fields,omitempty"`
	Members *[]string        `json:"members,omitempty"`
}

func typeDetailsOf(t *model.Type) typeDetails {
	details := typeDetails{typeInfo: typeInfo{t.Name, t.Kind, t.Description}}
	switch t.Kind {
	case model.KindEnum:
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
	case model.KindObject:
		fields := parameterInfos(t.Fields)
		details.Fields = &fields
	case model.KindUnion:
		members := append(make([]string, 0, len(t.Members)), t.Members...)
		details.Members = &members
	}
	return details
}
