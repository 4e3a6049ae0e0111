package describe

import "github.com/aqltag/aqltag/runtime/gen"

// computedInfo is a computed field of an operation (MCP-AQL introspection §3.3).
type computedInfo struct {
	Name        string `json:"name"` // without the prefix
	Type        string `json:"type"`
	Description string `json:"description,omitempty"`
	Filterable  bool   `json:"filterable,omitempty"`
	Sortable    bool   `json:"sortable,omitempty"`
}

func computedInfos(fields []gen.ComputedField) []computedInfo {
	var infos []computedInfo
	for _, f := range fields {
		infos = append(infos, computedInfo{
			f.Name, computedType(f.Param), paramDescription(f.Param), f.Filterable, f.Sortable,
		})
	}
	return infos
}

// computedType spells the type of a computed field, of whose elements the schema of introspection has no member.
func computedType(p *gen.Param) string {
	if p.Type == "array" && p.Items != nil {
		return computedType(p.Items) + "[]"
	}
	return p.Type
}
