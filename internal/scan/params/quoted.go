package params

import (
	"github.com/aqltag/aqltag/internal/scan/shapes"
	"github.com/aqltag/aqltag/runtime/gen"
)

// isInteger reports whether a shape is an integer, which may travel as a string.
func isInteger(shape *shapes.Shape) bool {
	return shape != nil && (shape.Kind == shapes.Int || shape.Kind == shapes.Uint)
}

// leaf returns what the lists and maps of a shape hold in the end.
func leaf(shape *shapes.Shape) *shapes.Shape {
	for range 16 {
		if shape = shapes.Indirect(shape); shape == nil || !shapes.HasItems(shape) {
			return shape
		}
		shape = shape.Elem
	}
	return nil
}

// quoteElements says that the integers in a list or map travel as strings. FillField says it of an integer itself.
func (c constrainer) quoteElements() {
	param := c.param
	for shape := c.shape; shapes.HasItems(shape); shape = shapes.Indirect(shape.Elem) {
		if param.Items == nil {
			param.Items = &gen.Param{}
		}
		param = param.Items
	}
	if param != c.param {
		param.Quoted = true
	}
}
