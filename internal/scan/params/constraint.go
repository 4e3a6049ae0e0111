package params

import (
	"fmt"
	"slices"
	"strings"

	"github.com/aqltag/aqltag/internal/diag"
	"github.com/aqltag/aqltag/internal/scan/shapes"
	"github.com/aqltag/aqltag/internal/scan/tags"
	"github.com/aqltag/aqltag/runtime/gen"
	"github.com/aqltag/aqltag/tagparse"
)

// constrainer checks the constraints of one field against its type and against each other, and sets them in param.
type constrainer struct {
	*Maker
	field shapes.Declaration
	shape *shapes.Shape // behind pointers
	param *gen.Param
}

// fail reports a mistake in the value of an item.
func (c constrainer) fail(item tags.Item, code, message, suggestion string) {
	d := diag.Diagnostic{Code: code, Message: message, Actual: item.Value, Suggestion: suggestion, FieldPath: c.field.Path}
	if item.Origin != "" { // it is valid for its own library
		d.Severity, d.Message = c.severity(diag.Warning), item.Origin+" is left out: "+message
	}
	c.Report(item.ValueAt, d)
}

// severity is the severity of a mistake in another library's tag. In other modules, where the user cannot edit it, it
// is a note.
func (c constrainer) severity(here diag.Severity) diag.Severity {
	if c.Editable(c.field.Var.Pkg()) {
		return here
	}
	return diag.Note
}

// applicable reports whether a key applies to the type of the field. If not, that is a diagnostic.
func (c constrainer) applicable(item tags.Item) bool {
	kind := shapes.JSONKind(c.shape)
	if item.Key == "mime" && isBinary(c.shape) {
		kind = "bytes" // or a list or map of such
	}
	if item.Key == "string" && isInteger(leaf(c.shape)) {
		kind = "integer"
	}
	keys := tagparse.Keys(tagparse.Parameter)
	for i := range keys {
		key := &keys[i]
		counted := c.shape.Kind != shapes.Struct && c.shape.Kind != shapes.Patch || !strings.HasSuffix(key.Name, "items")
		if key.Name != item.Key || len(key.AppliesTo) == 0 || slices.Contains(key.AppliesTo, kind) && counted {
			continue
		}
		c.Report(item.At, diag.Diagnostic{
			Code: diag.CodeType, FieldPath: c.field.Path, Expected: strings.Join(key.AppliesTo, " or "), Actual: kind,
			Message: fmt.Sprintf("%s does not apply to type %s; it is for %s", item.Key, c.text(c.field.Var.Type()),
				strings.Join(key.AppliesTo, " and ")),
			Suggestion: c.otherKey(item.Key, kind),
		})
		return false
	}
	return true
}

// otherKey suggests the key that means the same for another kind of value.
func (c constrainer) otherKey(key, kind string) string {
	lower := strings.HasPrefix(key, "min")
	bound := func(suffix string) string {
		if lower {
			return "use min" + suffix
		}
		return "use max" + suffix
	}
	switch key {
	case "min", "max", "minlen", "maxlen", "minitems", "maxitems":
		switch kind {
		case "string":
			return bound("len")
		case "array":
			return bound("items")
		case "integer", "number":
			return bound("")
		}
	case "enum", "pattern":
		if kind == "array" && c.shape.Elem.Kind == shapes.String {
			return "give the elements a string type with typed constants"
		}
	}
	return "remove it"
}

// apply applies one item of the tag.
func (c constrainer) apply(item tags.Item) {
	if !c.applicable(item) {
		return
	}
	switch item.Key {
	case "required":
		c.param.Required = true
	case "sensitive":
		c.param.Sensitive = true
	case "readonly":
		c.param.ReadOnly = true
	case "appendonly":
		c.param.AppendOnly = true
	case "id":
		c.param.ID = true
	case "dryrun":
		c.param.DryRun = true
	case "desc":
		c.param.Description = item.Value
	case "deprecated":
		c.param.Deprecated = item.Value
		if item.Flag {
			c.param.Deprecated = "Deprecated."
		}
	case "string":
		c.quoteElements()
	case "format":
		c.param.Format = item.Value
	case "alias":
		c.param.Aliases = item.List
	case "preset":
		c.param.Presets = item.List
	case "enum":
		c.applyEnum(item)
	case "min":
		c.param.Minimum = c.number(item)
	case "max":
		c.param.Maximum = c.number(item)
	case "minlen":
		c.param.MinLength = c.count(item)
	case "maxlen":
		c.param.MaxLength = c.count(item)
	case "minitems":
		c.param.MinItems = c.count(item)
	case "maxitems":
		c.param.MaxItems = c.count(item)
	case "pattern":
		c.applyPattern(item)
	}
}
