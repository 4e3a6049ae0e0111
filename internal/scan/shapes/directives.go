package shapes

import (
	"fmt"
	"go/types"
	"regexp"
	"slices"
	"strconv"

	"github.com/aqltag/aqltag/internal/diag"
	"github.com/aqltag/aqltag/internal/scan/source"
	"github.com/aqltag/aqltag/internal/scan/tags"
	"github.com/aqltag/aqltag/runtime/gen"
)

// Directives are what the //aql:type and //aql:hide directives of a package say of types and their fields, which may be
// those of other modules.
type Directives struct {
	Types  map[*types.TypeName]*TypeDirective
	Hidden map[*types.Var]*HideDirective
}

// TypeDirective is one //aql:type.
type TypeDirective struct {
	Items []tags.Item
	At    source.Span
	Used  bool // a type that it is about has been shaped
}

// HideDirective is one //aql:hide.
type HideDirective struct {
	At   source.Span
	Used bool
}

// hides reports whether a directive hides a field from agents.
func (m *Maker) hides(v *types.Var) bool {
	hidden := m.Directives.Hidden[v.Origin()]
	if hidden != nil {
		hidden.Used = true
	}
	return hidden != nil
}

// direct applies what a directive says of the type of a shape that is complete.
func (m *Maker) direct(out *Shape) {
	named, ok := out.Type.(*types.Named)
	if !ok {
		return
	}
	d := m.Directives.Types[named.Origin().Obj()]
	if d == nil {
		return
	}
	reported := d.Used
	d.Used = true
	report := func(item tags.Item, message, suggestion string) {
		if !reported {
			m.Report(item.At, diag.Diagnostic{
				Code: diag.CodeType, FieldPath: m.text(out.Type), Actual: item.Key, Message: message, Suggestion: suggestion,
			})
		}
	}
	own := gen.Param{}
	if out.Own != nil {
		own = *out.Own
	}
	for _, item := range d.Items {
		switch item.Key {
		case "name":
			out.Name = item.Value
		case "desc":
			out.Doc, own.Description = item.Value, item.Value
		case "nullable":
			own.Nullable = true
		case "string", "integer", "number", "boolean", "array", "object":
			if out.Kind != JSON && (out.Kind != Text || item.Key != "string") {
				report(item, fmt.Sprintf("%s travels as %s, since it has no method that writes its JSON",
					m.text(out.Type), JSONKind(out)), "remove "+item.Key)
				continue
			}
			own.Type = item.Key
		}
	}
	switch {
	case out.Kind == Text:
		own.Type = "string"
	case out.Kind == JSON && own.Type == "": // its values are of several kinds, or nobody knows
		own.Type = "any"
	}
	kind := own.Type
	if kind == "" {
		kind = JSONKind(out)
	}
	if !m.constrain(&own, out.Type, kind, d.Items, report) && out.Kind != JSON && out.Kind != Text {
		return
	}
	out.Own = &own
}

// constrain sets the constraints that a directive demands of values of a JSON kind, and reports whether there are any.
func (m *Maker) constrain(
	own *gen.Param, t types.Type, kind string, items []tags.Item, report func(item tags.Item, message, suggestion string),
) (some bool) {
	onText := []string{"format", "pattern", "enum", "minlen", "maxlen"}
	for _, item := range items {
		number := item.Key == "min" || item.Key == "max"
		if !number && !slices.Contains(onText, item.Key) {
			continue
		}
		if number != (kind == "integer" || kind == "number") || !number && kind != "string" {
			suggestion := "remove it"
			if kind == "any" {
				suggestion = "say first what its values are: string, integer or number"
			}
			report(item, fmt.Sprintf("%s does not apply to %s, which travels as %s", item.Key, m.text(t), kind), suggestion)
			continue
		}
		some = true
		switch item.Key {
		case "format":
			own.Format = item.Value
		case "pattern":
			if _, err := regexp.Compile(item.Value); err != nil {
				report(item, fmt.Sprintf("pattern is not a valid regular expression: %v", err), "")
				continue
			}
			own.Pattern = item.Value
		case "enum":
			own.Enum = item.List
		case "minlen":
			own.MinLength = count(item, report)
		case "maxlen":
			own.MaxLength = count(item, report)
		case "min":
			own.Minimum = item.Value
		case "max":
			own.Maximum = item.Value
		}
	}
	return some
}

func count(item tags.Item, report func(item tags.Item, message, suggestion string)) int {
	n, err := strconv.Atoi(item.Value)
	if err != nil || n < 0 {
		report(item, fmt.Sprintf("%s needs a whole number from 0, not %q", item.Key, item.Value), "")
	}
	return n
}
