package jsonvalue

import (
	"cmp"
	"encoding/json"

	"github.com/aqltag/aqltag/internal/diag"
	"github.com/aqltag/aqltag/internal/scan/shapes"
	"github.com/aqltag/aqltag/runtime/gen"
)

// withOwn is a parameter with the constraints that its type adds.
func withOwn(param gen.Param, own *gen.Param) gen.Param {
	if own == nil {
		return param
	}
	param.Pattern, param.Format = cmp.Or(param.Pattern, own.Pattern), cmp.Or(param.Format, own.Format)
	param.MinLength, param.MaxLength = cmp.Or(param.MinLength, own.MinLength), cmp.Or(param.MaxLength, own.MaxLength)
	param.Minimum, param.Maximum = cmp.Or(param.Minimum, own.Minimum), cmp.Or(param.Maximum, own.Maximum)
	if len(param.Enum) == 0 {
		param.Enum = own.Enum
	}
	return param
}

// ownJSON checks a value of a type that reads itself, as far as its JSON is known.
func (c *checker) ownJSON(shape *shapes.Shape, param gen.Param, value any, path string) {
	kind, expected := KindOf(value), shapes.JSONKind(shape)
	number, isNumber := value.(json.Number)
	switch {
	case expected == "any":
	case kind != expected && (expected != "integer" || !isNumber):
		c.add(path, diag.CodeType, "expected "+expected+", not "+kind)
	case isNumber && expected == "integer":
		exact, ok := ParseNumber(number.String())
		if !ok || !exact.IsInt() {
			c.add(path, diag.CodeType, "expected integer, not "+number.String())
			return
		}
		c.number(shape, param, number, path)
	case isNumber:
		c.number(shape, param, number, path)
	case kind == "string":
		text, _ := value.(string)
		c.text(shape, param, text, path)
	}
}
