package scan

import (
	"github.com/aqltag/aqltag/internal/scan/gotype"
	"github.com/aqltag/aqltag/internal/scan/naming"
	"github.com/aqltag/aqltag/internal/scan/shapes"
)

// requirement makes fields of structs required for one use of their types. Other operations that use a type keep its
// fields.
type requirement struct {
	known  map[*shapes.Shape]*shapes.Shape // structs to what became of them
	deep   bool                            // also of structs in lists and maps
	demand func(f *shapes.Field) bool      // makes a field required, and reports whether it did
}

// apply returns the shape of a struct, or of what leads to one, with its fields required.
func (r requirement) apply(shape *shapes.Shape) *shapes.Shape {
	if known, ok := r.known[shape]; ok {
		return known
	}
	switch shape.Kind {
	case shapes.Struct:
		return r.applyToStruct(shape)
	case shapes.Slice, shapes.Array, shapes.Map:
		if !r.deep {
			return shape
		}
	case shapes.Pointer:
	default:
		return shape
	}
	elem := r.apply(shape.Elem)
	if elem == shape.Elem {
		return shape
	}
	out := *shape
	out.Elem = elem
	return &out
}

func (r requirement) applyToStruct(shape *shapes.Shape) *shapes.Shape {
	r.known[shape] = shape // of a type that contains itself, only the outer one changes
	out, changed := shape.Clone(), false
	for i := range out.Fields {
		f := &out.Fields[i]
		if inner := r.apply(f.Shape); inner != f.Shape {
			f.Shape, changed = inner, true
		}
		if r.demand(f) {
			changed = true
		}
	}
	if !changed {
		return shape
	}
	if shape.Go.Name != "" {
		out.Label, out.Go = naming.Exported(gotype.Name(shape.Type))+"Input", shapes.GoName{}
	}
	r.known[shape] = out
	return out
}
