// Package wiretype finds the types that operations mention, names them, and describes them as introspection shows them.
package wiretype

import (
	"cmp"
	"fmt"
	"go/types"
	"slices"
	"strings"

	"github.com/aqltag/aqltag/internal/diag"
	"github.com/aqltag/aqltag/internal/scan/naming"
	"github.com/aqltag/aqltag/internal/scan/shapes"
	"github.com/aqltag/aqltag/internal/scan/source"
	"github.com/aqltag/aqltag/model"
	"github.com/aqltag/aqltag/runtime/gen"
)

// variant distinguishes the wire types of one Go type.
type variant int

const (
	plain  variant = iota // the type itself
	update                // the changes in an aql.Patch of it
	list                  // {"items": […]} of it
	dictionary
	scalar
)

// wireKey identifies a wire type.
type wireKey struct {
	shape *shapes.Shape
	as    variant
}

// wireType is a type that operations mention by name.
type wireType struct {
	key  wireKey
	base string // the name that it gets if no other type has it
	name string
}

// Set collects and names the wire types of one package.
type Set struct {
	*source.Program
	own           *types.Package
	known         map[wireKey]*wireType
	all           []*wireType
	results       map[wireKey]gen.Returns
	completed     map[*shapes.Shape]bool
	creatable     map[*shapes.Shape]bool // structs in resources, which a patch may create
	resources     map[*shapes.Shape]bool // what results consist of, and what patches change
	requested     map[*shapes.Shape]bool // what requests consist of
	returned      map[*shapes.Shape]bool // what results consist of
	nullableItems map[wireKey]bool       // lists in which an operation may return nil elements
	nothing       bool                   // an operation returns nothing
	open          []*shapes.Shape        // lists and maps whose elements are being described
	reserved      []string               // names that no type gets
	ConstantNames map[model.EnumConstant]model.GoType
}

// NewSet makes an empty set for the operations of package own.
func NewSet(p *source.Program, own *types.Package) *Set {
	return &Set{
		Program: p, own: own, known: make(map[wireKey]*wireType), results: make(map[wireKey]gen.Returns),
		completed: make(map[*shapes.Shape]bool),
		creatable: make(map[*shapes.Shape]bool),
		requested: make(map[*shapes.Shape]bool), returned: make(map[*shapes.Shape]bool),
		resources: make(map[*shapes.Shape]bool), nullableItems: make(map[wireKey]bool),
		ConstantNames: make(map[model.EnumConstant]model.GoType),
	}
}

// nothing is what operations without a result return.
const nothing = "Nothing"

// add adds a wire type. It returns false if the type is known.
func (s *Set) add(shape *shapes.Shape, as variant) bool {
	key := wireKey{shape, as}
	if s.known[key] != nil {
		return false
	}
	t := &wireType{key: key, base: s.baseName(shape, as)}
	s.known[key] = t
	s.all = append(s.all, t)
	return true
}

// AddHandler adds the wire types of a handler's parameters and result. Both may be nil.
func (s *Set) AddHandler(request, result *shapes.Shape) {
	if request != nil {
		for _, field := range request.Fields {
			s.visit(field.Shape, false)
		}
		addParts(request, s.requested)
	}
	if result != nil {
		s.visitResult(result)
		addParts(result, s.resources)
		addParts(result, s.returned)
	}
}

// addParts adds a shape and all that it consists of to a set.
func addParts(shape *shapes.Shape, to map[*shapes.Shape]bool) {
	if shape == nil || to[shape] {
		return
	}
	to[shape] = true
	addParts(shape.Elem, to)
	for _, field := range shape.Fields {
		addParts(field.Shape, to)
	}
}

// visit adds every wire type that shape mentions. inPatch means that shape is part of a resource that a patch changes.
func (s *Set) visit(shape *shapes.Shape, inPatch bool) {
	switch shape.Kind {
	case shapes.String:
		if len(shape.Enum) > 0 {
			s.add(shape, plain)
		}
	case shapes.Pointer, shapes.Map, shapes.Optional, shapes.SQLNull:
		if s.first(shape, inPatch) {
			s.visit(shape.Elem, inPatch)
		}
	case shapes.Slice, shapes.Array:
		if s.first(shape, false) {
			s.visit(shape.Elem, false)
		}
	case shapes.Filter:
		if s.add(shape, plain) {
			s.visit(shape.Elem, false)
		}
	case shapes.Patch:
		s.visit(shape.Elem, false) // the type of the resource is described too
		addParts(shape.Elem, s.resources)
		s.visit(shape.Elem, true)
	case shapes.Struct:
		as := plain
		if inPatch {
			as = update
		}
		if !s.add(shape, as) {
			return
		}
		for i, field := range shape.Fields {
			if shapes.Indirect(field.Shape).Kind == shapes.Patch {
				s.reportNestedPatch(shape, i)
				continue
			}
			if inPatch && !field.Param.Updatable() {
				continue
			}
			if inPatch {
				s.creatable[mergesWith(field.Shape)] = true
			}
			s.visit(field.Shape, inPatch)
		}
	}
}

// mergesWith is the shape that a patch merges with where it has an object for a field.
func mergesWith(shape *shapes.Shape) *shapes.Shape {
	for range 16 {
		if shape = shapes.Indirect(shape); shape.Kind != shapes.Map {
			break
		}
		shape = shape.Elem
	}
	return shape
}

// first reports whether a list or map is visited for the first time, which ends recursive ones.
func (s *Set) first(shape *shapes.Shape, inPatch bool) bool {
	if shape.Go.Name == "" {
		return true
	}
	key := wireKey{shape, -1}
	if inPatch {
		key.as = -2
	}
	if s.known[key] != nil {
		return false
	}
	s.known[key] = &wireType{key: key}
	return true
}

func (s *Set) reportNestedPatch(shape *shapes.Shape, i int) {
	f := shape.Fields[i]
	s.Report(f.Tag.At, diag.Diagnostic{
		Code: diag.CodeType, FieldPath: f.Path,
		Message:    fmt.Sprintf("field %s: aql.Patch is for the parameter input of an UPDATE operation", f.Path),
		Suggestion: "use the resource type itself",
	})
}

// baseName is the natural name of a wire type: Todo, TodoPatch, TodoList, ThingPage for Page[Thing].
func (s *Set) baseName(shape *shapes.Shape, as variant) string {
	switch as {
	case update:
		return s.baseName(shape, plain) + "Patch"
	case list:
		return s.baseName(shape, plain) + "List"
	}
	if shape.Name != "" {
		return shape.Name
	}
	if shape.Go.Name != "" && shape.Kind != shapes.Time && shape.Kind != shapes.Patch &&
		shape.Kind != shapes.Optional && shape.Kind != shapes.SQLNull {
		var b strings.Builder
		for _, arg := range shape.Go.Args {
			b.WriteString(naming.Exported(s.baseName(arg, plain)))
		}
		return b.String() + shape.Go.Name
	}
	switch shape.Kind {
	case shapes.Struct:
		return naming.Exported(shape.Label)
	case shapes.Pointer, shapes.Optional, shapes.SQLNull:
		return s.baseName(shape.Elem, plain)
	case shapes.Patch:
		return s.baseName(shape.Elem, update)
	case shapes.Slice, shapes.Array:
		return naming.Exported(s.baseName(shape.Elem, plain)) + "List"
	case shapes.Map:
		return naming.Exported(s.baseName(shape.Elem, plain)) + "Map"
	case shapes.Time:
		return "DateTime"
	case shapes.Bytes:
		return "Bytes"
	}
	return naming.Exported(shapes.JSONKind(shape))
}

// AssignNames names the wire types: each by its own name, with the name of its package in front where several types
// share one (types.Status → TypesStatus). The types of the package itself keep theirs.
func (s *Set) AssignNames() {
	taken := map[string]bool{
		nothing: true, "SemanticCategory": true, "OperationInput": true, "OperationResult": true, "OperationSuccess": true,
		"OperationFailure": true, "EndpointPermissions": true, "IntrospectionResult": true, "FieldSelection": true,
	}
	for _, name := range s.reserved {
		taken[name] = true
	}
	byBase := make(map[string][]*wireType)
	for _, t := range s.all {
		byBase[t.base] = append(byBase[t.base], t)
	}
	ordered := slices.Clone(s.all)
	slices.SortStableFunc(ordered, func(a, b *wireType) int {
		return cmp.Or(-compareBool(s.isOwn(a), s.isOwn(b)), cmp.Compare(a.key.as, b.key.as),
			cmp.Compare(a.key.shape.Go.PkgPath, b.key.shape.Go.PkgPath), cmp.Compare(a.base, b.base))
	})
	for _, t := range ordered {
		candidates := []string{t.base}
		if len(byBase[t.base]) > 1 && !s.isOwn(t) {
			candidates = nil
		}
		if t.key.shape.Go.PkgName != "" {
			candidates = append(candidates, naming.Exported(t.key.shape.Go.PkgName)+naming.Exported(t.base))
		}
		last := append([]string{t.base}, candidates...)[len(candidates)]
		for n := 2; t.name == ""; n++ {
			for _, candidate := range candidates {
				if t.name == "" && !taken[candidate] {
					t.name = candidate
				}
			}
			candidates = []string{fmt.Sprintf("%s%d", last, n)}
		}
		taken[t.name] = true
	}
}

// isOwn reports whether a wire type is a type of the package itself.
func (s *Set) isOwn(t *wireType) bool { return t.key.shape.Go.PkgPath == s.own.Path() }

func compareBool(a, b bool) int {
	switch {
	case a == b:
		return 0
	case a:
		return 1
	}
	return -1
}

// ReserveRelationships keeps the names of the types of the operation query_relationships for it.
func (s *Set) ReserveRelationships() {
	for _, t := range gen.RelationshipTypes() {
		s.reserved = append(s.reserved, t.Name)
	}
}

// ReserveExecutions keeps the names of the types for executions of an operation for them.
func (s *Set) ReserveExecutions(o *gen.Operation) {
	s.reserved = append(s.reserved, gen.ExecutionOf(o).Name)
	for _, t := range gen.ExecutionTypes([]gen.Operation{*o}) {
		s.reserved = append(s.reserved, t.Name)
	}
}

// Name returns the name of the wire type of a struct; false: no operation mentions it.
func (s *Set) Name(shape *shapes.Shape) (string, bool) {
	t := s.known[wireKey{shape, plain}]
	if t == nil {
		return "", false
	}
	return t.name, true
}

// nameOf is the name of a known wire type.
func (s *Set) nameOf(shape *shapes.Shape, as variant) string {
	if t := s.known[wireKey{shape, as}]; t != nil {
		return t.name
	}
	return "object"
}

// Declared calls each with the places where wire types and their fields are declared, by "Type" and "Type.field".
func (s *Set) Declared(each func(name string, at model.Position)) {
	for _, t := range s.all {
		if named, ok := types.Unalias(t.key.shape.Type).(*types.Named); ok {
			each(t.name, s.Position(named.Obj().Pos()))
		}
		for _, field := range t.key.shape.Fields {
			each(t.name+"."+field.Param.Name, field.Position)
		}
	}
}
