package wiretype

import "github.com/aqltag/aqltag/internal/scan/shapes"

// AddComputed adds the wire types of the computed fields of a resource.
func (s *Set) AddComputed(resource *shapes.Shape) {
	for _, field := range resource.Computed {
		s.visit(field.Shape, false)
		addParts(field.Shape, s.resources)
		addParts(field.Shape, s.returned)
	}
}

// NameOf returns the name of the wire type of a resource. It comes after AssignNames.
func (s *Set) NameOf(resource *shapes.Shape) string { return s.nameOf(resource, plain) }
