package scan

import (
	"fmt"
	"slices"
	"strings"

	"github.com/aqltag/aqltag/runtime/gen"
	"github.com/aqltag/aqltag/tagparse"
)

// constrainer checks the constraints of one field against its type and against each other, and notes them in param.
type constrainer struct {
	*paramMaker
	field Declaration
	shape *Shape // behind pointers
	param *gen.Param
}

// fail reports what is wrong with the value of an item.
func (c constrainer) fail(item placedItem, code, message, suggestion string) {
	d := Diagnostic{Code: code, Message: message, Actual: item.Value, Suggestion: suggestion, FieldPath: c.field.path}
	if item.origin != "" { // which is sound for its own library
		d.Severity, d.Message = c.severity(SeverityWarning), item.origin+" is left out: "+message
	}
	c.report(item.value, d)
}

// severity is how serious it is what another library's tag says: in other modules nobody here can change it.
func (c constrainer) severity(here Severity) Severity {
	if c.editable(c.field.v.Pkg()) {
		return here
	}
	return SeverityNote
}

// applicable reports a key that the field's type has no use for.
func (c constrainer) applicable(item placedItem) bool {
	kind := wireKind(c.shape)
	keys := tagparse.Keys(tagparse.Parameter)
	for i := range keys {
		key := &keys[i]
		counted := c.shape.Kind != ShapeStruct && c.shape.Kind != ShapePatch || !strings.HasSuffix(key.Name, "items")
		if key.Name != item.Key || len(key.AppliesTo) == 0 || slices.Contains(key.AppliesTo, kind) && counted {
			continue
		}
		c.report(item.whole, Diagnostic{
			Code: codeType, FieldPath: c.field.path, Expected: strings.Join(key.AppliesTo, " or "), Actual: kind,
			Message:    fmt.Sprintf("%s does not apply to type %s; it is for %s", item.Key, c.text(c.field.v.Type()), strings.Join(key.AppliesTo, " and ")),
			Suggestion: c.otherKey(item.Key, kind),
		})
		return false
	}
	return true
}

// otherKey proposes the key that means the same for another kind of value.
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
		if kind == "array" && c.shape.Elem.Kind == ShapeString {
			return "give the elements a string type with typed constants"
		}
	}
	return "remove it"
}

// number checks a bound and returns it as written, or "" if it is none.
func (c constrainer) number(item placedItem) string {
	value, ok := parseNumber(item.Value)
	if !ok {
		c.fail(item, codeType, fmt.Sprintf("%s needs a JSON number, not %q", item.Key, item.Value), "write it like 10 or 0.5")
		return ""
	}
	if message := outOfType(c.shape, c.text(c.field.v.Type()), item.Value, value); message != "" {
		c.fail(item, codeType, item.Key+": "+message, "")
		return ""
	}
	return item.Value
}
