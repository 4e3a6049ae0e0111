package aql

import (
	"encoding/json"
	"slices"
	"strings"

	"github.com/aqltag/aqltag/runtime/gen"
	"github.com/aqltag/aqltag/runtime/internal/codec"
)

// leaveOutOfExamples leaves out the examples that filter by, sort by, summarise or select a field or a relation of a
// hidden name in what their operation returns, at whatever depth.
func (h hiddenFields) leaveOutOfExamples(definitions *gen.Definitions) {
	if len(h) == 0 {
		return
	}
	definitions.Operations = slices.Clone(definitions.Operations)
	for i := range definitions.Operations {
		o := &definitions.Operations[i]
		if len(o.Examples) == 0 {
			continue
		}
		naming := make(map[string]bool) // the parameters that name fields
		for k := range o.Params {
			switch p := &o.Params[k]; p.Name {
			case "filter", "sort", "aggregate":
				naming[p.Name] = codec.Queries(o)
			default:
				naming[p.Name] = p.Type == gen.TypeSelection
			}
		}
		hidden := h.namesIn(definitions, o.Returns)
		o.Examples = slices.DeleteFunc(slices.Clone(o.Examples), func(e gen.Example) bool {
			var params map[string]any
			if len(hidden) == 0 || json.Unmarshal([]byte(e.Params), &params) != nil {
				return false
			}
			for name, value := range params {
				if naming[name] && names(value, name == "filter", hidden) {
					return true
				}
			}
			return false
		})
	}
}

// namesIn returns the names of the hidden fields of what an operation returns, of whichever of its types they are, and
// of those to which relations lead.
func (h hiddenFields) namesIn(definitions *gen.Definitions, returns gen.Returns) map[string]bool {
	types := make(map[string]*gen.Type, len(definitions.Types))
	for i := range definitions.Types {
		types[definitions.Types[i].Name] = &definitions.Types[i]
	}
	returned := make(map[string]bool)
	gen.Mention(types, returns.Name, returned)
	hidden := make(map[string]bool)
	for typ := range returned {
		t := types[typ]
		for _, name := range h[t.Name] {
			hidden[strings.TrimPrefix(name, gen.ComputedPrefix)] = true
			for _, f := range t.Fields {
				for _, alias := range f.Aliases {
					hidden[alias] = hidden[alias] || f.Name == name
				}
			}
		}
	}
	return hidden
}

// names reports whether a value of JSON has a path to one of the names: as a text, or by its keys.
func names(value any, keys bool, hidden map[string]bool) bool {
	isPath := func(text string) bool {
		return slices.ContainsFunc(strings.Split(text, "."), func(name string) bool { return hidden[name] })
	}
	switch value := value.(type) {
	case string:
		return !keys && isPath(value)
	case []any:
		return slices.ContainsFunc(value, func(v any) bool { return names(v, keys, hidden) })
	case map[string]any:
		for key, v := range value {
			if keys && isPath(key) || names(v, keys, hidden) {
				return true
			}
		}
	}
	return false
}
