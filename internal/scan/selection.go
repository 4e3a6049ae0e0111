package scan

import (
	"fmt"
	"slices"
	"strings"

	"github.com/aqltag/aqltag/internal/diag"
	"github.com/aqltag/aqltag/internal/scan/shapes"
	"github.com/aqltag/aqltag/runtime/gen"
)

// checkSelection checks the parameters of aql.Fields in a request, and fills in the presets and fields that they may
// name (MCP-AQL field selection §2, §3).
func (b *builder) checkSelection(handler *handled) {
	for i := range handler.request.Fields {
		field := &handler.request.Fields[i]
		if field.Shape.Kind != shapes.Selection {
			continue
		}
		at := field.Tag.At
		if field.Through != nil {
			at = field.Through.Tag.At
		}
		switch handler.Operation.Category {
		case gen.Read:
		case "": // which is reported
			continue
		default:
			b.Report(at, diag.Diagnostic{
				Code: diag.CodeType, FieldPath: field.Path,
				Message: fmt.Sprintf("aql.Fields has no meaning in %s operation %s: "+
					"fields are selected of what READ operations return",
					handler.Operation.Category, handler.Operation.Name),
				Suggestion: "remove it",
			})
			continue
		}
		resource := selectable(handler.result)
		if resource == nil {
			b.Report(at, diag.Diagnostic{
				Code: diag.CodeType, FieldPath: field.Path,
				Message: fmt.Sprintf("aql.Fields has no meaning in operation %s, whose result has no fields",
					handler.Operation.Name),
				Suggestion: "return a struct, or a list of structs",
			})
			continue
		}
		fillSelection(handler, resource, nil)
	}
}

// fillSelection fills in what the parameters of aql.Fields in a request may name. related are the presets of relations.
func fillSelection(handler *handled, resource *shapes.Shape, related []string) {
	presets := presetsOf(resource, related)
	for i := range handler.request.Fields {
		field := &handler.request.Fields[i]
		if field.Shape.Kind != shapes.Selection {
			continue
		}
		field.Param.Presets = presets
		field.Param.Description = selectionDescription(presets, standardPreset(handler, resource, related))
		if resource.Computed != nil {
			field.Param.Description += " and _computed.c, with c of computed_fields"
		}
		preset := shapes.PathOf(append(slices.Clone(field.Selector[:len(field.Selector)-1]), "Preset"))
		for j := range handler.request.Fields {
			if other := &handler.request.Fields[j]; other.Param.Go == preset {
				other.Param.Enum = presets
				other.Param.Description = "Preset of fields; fields may name it too"
			}
		}
	}
}

// selectable is the struct that a result consists of: alone, in a list, or in the items of a page. It is nil if there
// is none.
func selectable(result *shapes.Shape) *shapes.Shape {
	shape := shapes.Element(result)
	if shape == nil || shape.Kind != shapes.Struct {
		return nil
	}
	if shape == shapes.Indirect(result) {
		for _, field := range shape.Fields {
			list := shapes.Indirect(field.Shape)
			if field.Param.Name != "items" || list.Kind != shapes.Slice && list.Kind != shapes.Array {
				continue
			}
			if item := shapes.Element(list); item.Kind == shapes.Struct {
				return item
			}
		}
	}
	return shape
}

// presetsOf lists the presets of a resource: those of every resource, those that its tags add, and those of its
// relations.
func presetsOf(resource *shapes.Shape, related []string) []string {
	presets := []string{"minimal", "standard", "full"}
	add := func(more []string) {
		for _, preset := range more {
			if !slices.Contains(presets, preset) {
				presets = append(presets, preset)
			}
		}
	}
	for _, field := range slices.Concat(resource.Fields, resource.Computed) {
		add(field.Param.Presets)
	}
	add(related)
	return presets
}

// standardPreset is the preset of a request that names none (MCP-AQL field selection §3.2), empty if every preset is
// the whole resource.
func standardPreset(handler *handled, resource *shapes.Shape, related []string) string {
	tagged := func(f shapes.Field) bool { return len(f.Param.Presets) > 0 }
	switch {
	case related == nil && !slices.ContainsFunc(slices.Concat(resource.Fields, resource.Computed), tagged):
		return ""
	case strings.HasPrefix(handler.Operation.Name, "search_"):
		return "minimal"
	case resource != shapes.Indirect(handler.result):
		return "standard"
	default:
		return "full"
	}
}

func selectionDescription(presets []string, standard string) string {
	names := slices.Clone(presets)
	if at := slices.Index(names, standard); at >= 0 {
		names[at] += " (default)"
	}
	return "What to return: " + strings.Join(names, ", ") + `, or a list of fields such as ["a","b.c"]`
}
