package shapes

import (
	"go/types"
	"math/big"
	"slices"
)

// TypeBounds returns the bounds of an integer type that agents should know. An integer without bounds has 64 bits and a
// sign.
func TypeBounds(shape *Shape) (low, high string) {
	switch bits := shape.Bits; {
	case shape.Kind == Uint:
		_, most := IntegerRange(shape)
		return "0", most.String()
	case shape.Kind == Int && bits > 0 && bits < 64:
		least, most := IntegerRange(shape)
		return least.String(), most.String()
	}
	return "", ""
}

// Indirect returns the shape behind all pointers, optionals and sql.Null.
func Indirect(shape *Shape) *Shape {
	for range 16 {
		if shape == nil || shape.Kind != Pointer && shape.Kind != Optional && shape.Kind != SQLNull {
			return shape
		}
		shape = shape.Elem
	}
	return shape
}

// JSONKind returns the kind of JSON value of a shape, as the table of tag keys names it. Dates and bytes are strings on
// the wire, but have kinds of their own, because the constraints on strings do not apply to them.
func JSONKind(shape *Shape) string {
	switch shape.Kind {
	case Bool:
		return "boolean"
	case Int, Uint:
		return "integer"
	case Float, Number:
		return "number"
	case String, Text:
		return "string"
	case Time:
		return "date-time"
	case Bytes:
		return "bytes"
	case Slice, Array:
		return "array"
	case Map, Struct, Patch, Filter:
		return "object"
	case JSON:
		if shape.Own != nil {
			return shape.Own.Type
		}
	}
	return "any"
}

// HasItems reports whether values of a shape have elements.
func HasItems(shape *Shape) bool {
	return shape.Kind == Slice || shape.Kind == Array || shape.Kind == Map
}

// IntegerRange returns the smallest and the largest value of an integer shape.
func IntegerRange(shape *Shape) (low, high *big.Int) {
	bits := uint(shape.Bits)
	if bits == 0 {
		bits = 64
	}
	one := big.NewInt(1)
	if shape.Kind == Uint {
		return big.NewInt(0), new(big.Int).Sub(new(big.Int).Lsh(one, bits), one)
	}
	limit := new(big.Int).Lsh(one, bits-1)
	return new(big.Int).Neg(limit), new(big.Int).Sub(limit, one)
}

// Element returns what a list consists of, and any other shape itself.
func Element(shape *Shape) *Shape {
	for shape != nil {
		switch shape.Kind {
		case Pointer, Slice, Array, Optional, SQLNull:
			shape = shape.Elem
		default:
			return shape
		}
	}
	return nil
}

// Clone returns a copy of a struct whose fields may be changed.
func (shape *Shape) Clone() *Shape {
	copied := *shape
	copied.Fields = slices.Clone(shape.Fields)
	return &copied
}

// IsNullable reports whether null is among the values of a shape that results hold: nil pointers, nil interfaces, raw
// JSON, optionals, sql.Null and types that are known to write it. Nil lists, maps and []byte are written as empty ones.
func IsNullable(shape *Shape) bool {
	return shape.Kind == Pointer || shape.Kind == Any || shape.Kind == Optional || shape.Kind == SQLNull ||
		writesNull(shape)
}

// writesNull reports whether a type is known to write null for its zero value.
func writesNull(shape *Shape) bool { return shape.Own != nil && shape.Own.Nullable }

// canBeEmpty reports whether encoding/json's omitempty ever leaves out a value of type t: not a struct or an array.
func canBeEmpty(t types.Type) bool {
	switch u := t.Underlying().(type) {
	case *types.Struct:
		return false
	case *types.Array:
		return u.Len() == 0
	default:
		return true
	}
}

// IsNilable reports whether a Go value of a shape can be nil, or absent.
func IsNilable(shape *Shape) bool {
	switch shape.Kind {
	case Pointer, Slice, Map, Bytes, Any, Optional, SQLNull:
		return true
	}
	return writesNull(shape)
}
