package params

import (
	"encoding/json"
	"fmt"

	"github.com/aqltag/aqltag/internal/diag"
	"github.com/aqltag/aqltag/internal/scan/jsonvalue"
	"github.com/aqltag/aqltag/internal/scan/shapes"
	"github.com/aqltag/aqltag/internal/scan/tags"
)

// applyDefault takes a default as a JSON literal, if the field would accept it.
func (c constrainer) applyDefault(item tags.Item, quotedNumber bool) {
	if c.param.Required {
		c.Report(item.At, diag.Diagnostic{
			Code: diag.CodeType, FieldPath: c.field.Path,
			Message:    "required and default contradict each other: a required parameter is never absent",
			Suggestion: "remove one of them",
		})
		return
	}
	literal, message := c.literal(item.Value)
	if message != "" {
		c.fail(item, diag.CodeType, message, "")
		return
	}
	value, err := jsonvalue.Parse(literal)
	if err != nil {
		c.fail(item, diag.CodeType, fmt.Sprintf("default is not valid JSON: %v", err), "")
		return
	}
	param := *c.param
	param.Quoted = false // a default is written as the value itself
	faults := jsonvalue.Check(c.shape, param, value)
	for _, fault := range faults {
		suggestion := ""
		if fault.Allowed != nil {
			suggestion = diag.DidYouMean(item.Value, fault.Allowed)
		}
		c.fail(item, diag.CodeType, "default "+item.Value+": "+fault.Message, suggestion)
	}
	if len(faults) > 0 {
		return
	}
	if quotedNumber {
		literal = jsonvalue.Quote(literal)
	}
	c.param.Default = literal
}

// literal returns a default as a JSON literal of the field's type, or a message.
func (c constrainer) literal(text string) (literal, message string) {
	switch c.shape.Kind {
	case shapes.String, shapes.Time, shapes.Bytes, shapes.Text:
		return jsonvalue.Quote(text), ""
	case shapes.Bool:
		if text != "true" && text != "false" {
			return "", fmt.Sprintf("default of a boolean is true or false, not %q", text)
		}
	case shapes.Int, shapes.Uint, shapes.Float, shapes.Number:
		if _, ok := jsonvalue.ParseNumber(text); !ok {
			return "", fmt.Sprintf("default of %s is a JSON number, not %q", c.text(c.field.Var.Type()), text)
		}
	case shapes.Struct, shapes.Patch:
		return "", "an object takes its defaults from its own fields"
	default:
		if shapes.JSONKind(c.shape) == "string" {
			return jsonvalue.Quote(text), ""
		}
		if !json.Valid([]byte(text)) {
			return "", fmt.Sprintf("default of %s is a JSON value such as [] or {}, not %q", c.text(c.field.Var.Type()), text)
		}
	}
	return text, ""
}
