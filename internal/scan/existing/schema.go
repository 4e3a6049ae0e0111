package existing

import (
	"encoding/json"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/aqltag/aqltag/internal/scan/foreigntag"
	"github.com/aqltag/aqltag/internal/scan/jsonvalue"
	"github.com/aqltag/aqltag/internal/scan/shapes"
	"github.com/aqltag/aqltag/internal/scan/tags"
)

// schemaItem translates an item of a jsonschema tag. As in invopop/jsonschema, an item on a list is about its elements
// unless it is about lists.
func (d *deriver) schemaItem(item tags.SchemaItem) {
	shape, _ := d.at(0)
	depth := 0
	switch item.Key {
	case "description": // read with the tag
		return
	case "title":
		d.title(item)
		return
	case "required":
		d.emit(item.Origin, 0, "required", "")
		return
	case "nullable":
		if slices.ContainsFunc(d.out, func(other derived) bool { return other.Key == "required" && other.depth == 0 }) {
			d.remark(item.Origin, item.Key, "null cannot stand for a required parameter, so nullable has no meaning in MCP-AQL",
				"remove required if null is allowed")
		}
		return // null counts as absent
	case "-":
		d.remark(item.Origin, item.Key, `the jsonschema tag "-" does not keep the field from agents`, `json:"-" does`)
		return
	case "example", "examples":
		d.remark(item.Origin, item.Key, "examples of parameters have no place in MCP-AQL, those of operations have",
			"write //aql:example {…} above the handler")
		return
	case "minItems", "maxItems":
		if shape.Kind == shapes.Slice || shape.Kind == shapes.Array {
			d.emitCount(item, 0, strings.ToLower(item.Key))
			return
		}
	case "default":
		d.defaultValue(item, shape)
		return
	default:
		if shape.Kind == shapes.Slice || shape.Kind == shapes.Array {
			depth = 1
			shape, _ = d.at(depth)
		}
	}
	if item.Flag {
		d.remark(item.Origin, item.Key, fmt.Sprintf("jsonschema rule %q has no value and no meaning", item.Text),
			`write \\, for a comma inside a value`)
		return
	}
	d.keyword(item, shape, depth)
}

// keyword translates an item about a single value.
func (d *deriver) keyword(item tags.SchemaItem, shape *shapes.Shape, depth int) {
	text := shape.Kind == shapes.String || shape.Kind == shapes.Text
	number := shape.Kind == shapes.Int || shape.Kind == shapes.Uint || shape.Kind == shapes.Float ||
		shape.Kind == shapes.Number
	whole := shape.Kind == shapes.Int || shape.Kind == shapes.Uint
	switch key := item.Key; {
	case key == "minLength" && text:
		d.emitCount(item, depth, "minlen")
	case key == "maxLength" && text:
		d.emitCount(item, depth, "maxlen")
	case key == "minimum" && number:
		d.emit(item.Origin, depth, "min", item.Value)
	case key == "maximum" && number:
		d.emit(item.Origin, depth, "max", item.Value)
	case key == "exclusiveMinimum" && whole:
		d.bound(d.asRule(item, depth), shape, "min", 1)
	case key == "exclusiveMaximum" && whole:
		d.bound(d.asRule(item, depth), shape, "max", -1)
	case (key == "pattern" || key == "format") && text && item.Value != "":
		d.emit(item.Origin, depth, key, item.Value)
	case key == "enum" && shape.Kind == shapes.String:
		for i := range d.out {
			if other := &d.out[i]; other.source.Tag == item.Tag && other.Key == key && other.depth == depth {
				other.List = append(other.List, item.Value)
				other.Value += "|" + item.Value
				return
			}
		}
		d.emitList(item.Origin, depth, key, []string{item.Value})
	case key == "format" && shape.Kind == shapes.Time && item.Value == "date-time":
	case key == "readOnly":
		if set, err := strconv.ParseBool(item.Value); err == nil && set && depth == 0 {
			d.emit(item.Origin, depth, "readonly", "")
		}
	case slices.Contains([]string{
		"minLength", "maxLength", "minimum", "maximum", "pattern", "format", "enum", "minItems", "maxItems",
	},
		key):
		d.warnUntranslated(item.Origin, key, "type "+d.text(shape.Type))
	case key == "exclusiveMinimum", key == "exclusiveMaximum":
		d.warnUntranslated(item.Origin, key, "numbers with fractions")
	default:
		d.warnUntranslated(item.Origin, key, "")
	}
}

// asRule returns the rule of validator that means the same as an item.
func (d *deriver) asRule(item tags.SchemaItem, depth int) tags.Rule {
	return tags.Rule{Rule: foreigntag.Rule{Name: item.Key, Param: item.Value, Depth: depth}, Origin: item.Origin}
}

// emitCount adds a bound of a length. A minimum of 0 adds nothing.
func (d *deriver) emitCount(item tags.SchemaItem, depth int, key string) {
	n, err := strconv.ParseUint(item.Value, 10, 31)
	switch {
	case err != nil:
		d.remark(item.Origin, item.Key, fmt.Sprintf("%s needs a whole number from 0", item.Spelled()), "")
	case n > 0:
		d.emit(item.Origin, depth, key, item.Value)
	case strings.HasPrefix(key, "max"):
		d.warnUntranslated(item.Origin, item.Text, "")
	}
}

// title adds a title as the description of a field without one.
func (d *deriver) title(item tags.SchemaItem) {
	tag := d.field.Tag
	if tag.Foreign.Description == "" && (tag.Field == nil || tag.Field.Doc == nil && tag.Field.Comment == nil) &&
		item.Value != "" {
		d.emit(item.Origin, 0, "desc", item.Value)
	}
}

// defaultValue adds a default. A list has one for each of its elements.
func (d *deriver) defaultValue(item tags.SchemaItem, shape *shapes.Shape) {
	if shape.Kind != shapes.Slice && shape.Kind != shapes.Array {
		if item.Value == "" {
			d.warnUntranslated(item.Origin, item.Text, "")
			return
		}
		d.emit(item.Origin, 0, item.Key, item.Value)
		return
	}
	value := item.Value
	if shapes.Indirect(shape.Elem).Kind == shapes.String || !json.Valid([]byte(value)) {
		value = jsonvalue.Quote(value)
	}
	for i := range d.out {
		if other := &d.out[i]; other.source.Tag == item.Tag && other.Key == item.Key {
			other.Value = strings.TrimSuffix(other.Value, "]") + "," + value + "]"
			return
		}
	}
	d.emit(item.Origin, 0, item.Key, "["+value+"]")
}
