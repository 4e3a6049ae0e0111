package scan

import (
	"math/big"
	"slices"
	"strconv"
)

// typeBounds is what an integer type can hold, where that is not what agents take for granted; empty: no bound.
func typeBounds(shape *Shape) (low, high string) {
	bits := shape.Bits
	if shape.Kind == ShapeUint {
		if low = "0"; bits > 0 && bits < 64 {
			high = strconv.FormatUint(1<<bits-1, 10)
		}
		return low, high
	}
	if bits > 0 && bits < 64 {
		low, high = strconv.FormatInt(-1<<(bits-1), 10), strconv.FormatInt(1<<(bits-1)-1, 10)
	}
	return low, high
}

// pointed is the shape behind all pointers and optionals.
func pointed(shape *Shape) *Shape {
	for range 16 {
		if shape == nil || shape.Kind != ShapePointer && shape.Kind != ShapeOptional {
			return shape
		}
		shape = shape.Elem
	}
	return shape
}

// wireKind is the JSON kind of a shape, as the tag table names it. Dates and bytes are strings on the wire, but the
// constraints of strings are not theirs.
func wireKind(shape *Shape) string {
	switch shape.Kind {
	case ShapeBool:
		return "boolean"
	case ShapeInt, ShapeUint:
		return "integer"
	case ShapeFloat, ShapeNumber:
		return "number"
	case ShapeString, ShapeText:
		return "string"
	case ShapeTime:
		return "date-time"
	case ShapeBytes:
		return "bytes"
	case ShapeSlice, ShapeArray:
		return "array"
	case ShapeMap, ShapeStruct, ShapePatch:
		return "object"
	}
	return "any"
}

// hasItems reports whether values of a shape have elements that dive goes into.
func hasItems(shape *Shape) bool {
	return shape.Kind == ShapeSlice || shape.Kind == ShapeArray || shape.Kind == ShapeMap
}

// integerRange is what an integer shape can hold.
func integerRange(shape *Shape) (low, high *big.Int) {
	bits := uint(shape.Bits)
	if bits == 0 {
		bits = 64
	}
	one := big.NewInt(1)
	if shape.Kind == ShapeUint {
		return big.NewInt(0), new(big.Int).Sub(new(big.Int).Lsh(one, bits), one)
	}
	limit := new(big.Int).Lsh(one, bits-1)
	return new(big.Int).Neg(limit), new(big.Int).Sub(limit, one)
}

// element is what a list consists of, and any other shape itself.
func element(shape *Shape) *Shape {
	for shape != nil {
		switch shape.Kind {
		case ShapePointer, ShapeSlice, ShapeArray, ShapeOptional:
			shape = shape.Elem
		default:
			return shape
		}
	}
	return nil
}

// clone is a copy of a struct whose fields can be changed.
func (shape *Shape) clone() *Shape {
	copied := *shape
	copied.Fields = slices.Clone(shape.Fields)
	return &copied
}

// isNilable reports whether a Go value of a shape can say that there is none.
func isNilable(shape *Shape) bool {
	switch shape.Kind {
	case ShapePointer, ShapeSlice, ShapeMap, ShapeBytes, ShapeAny, ShapeOptional:
		return true
	}
	return false
}
