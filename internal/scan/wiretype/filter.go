package wiretype

import (
	"github.com/aqltag/aqltag/internal/scan/shapes"
	"github.com/aqltag/aqltag/runtime/gen"
)

// filter is the type of a parameter filter as introspection shows it.
func (s *Set) filter(t *wireType) gen.Type {
	elem := t.key.shape.Elem
	fields := make([]gen.Param, len(elem.Fields))
	for i := range elem.Fields {
		fields[i] = elem.Fields[i].Param
	}
	nested := make([]gen.Param, len(t.key.shape.Nested))
	for i := range nested {
		nested[i] = t.key.shape.Nested[i].Param
	}
	of := s.nameOf(elem, plain)
	return gen.Type{
		Name: t.name, Kind: gen.KindObject, Filters: of, Description: gen.FilterDescription(of),
		Fields: gen.FilterFields(t.name, fields, nested),
	}
}

// MayBeMissing reports whether results may lack the value of a field: null and absence are the same to a filter.
func MayBeMissing(field *shapes.Field) bool {
	switch shape := field.Shape; shape.Kind {
	case shapes.Pointer, shapes.Optional, shapes.SQLNull:
		return true
	default:
		return shape.Kind == shapes.Time && field.Param.OmitZero
	}
}
