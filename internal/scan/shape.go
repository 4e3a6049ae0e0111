package scan

import (
	"fmt"
	"go/types"
	"strings"

	"golang.org/x/tools/go/types/typeutil"
)

// runtimePath is the import path of the aql package.
const runtimePath = "github.com/aqltag/aqltag/runtime"

// shaped is the result of shaping a Go type.
type shaped struct {
	shape *Shape
	fault *unsupported
}

// shaper makes the shapes of Go types for the package that code is generated for. Each type has one shape, so recursive
// types end. The parameters of fields are left to a paramMaker.
type shaper struct {
	*program
	own     *types.Package
	tags    *tagReader
	memo    typeutil.Map // types.Type → shaped
	structs []*Shape     // structs that newStructs has not returned yet
}

func newShaper(p *program, tags *tagReader, own *types.Package) *shaper {
	return &shaper{program: p, tags: tags, own: own}
}

// newStructs returns the structs that were shaped since its last call, each after those that its fields mention.
func (s *shaper) newStructs() []*Shape {
	list := s.structs
	s.structs = nil
	return list
}

// shapeOf returns the shape of t, or why t cannot be carried. Faults of the fields of a struct are reported at the fields;
// the struct has a shape all the same. place is the Go path where t is mentioned: a struct type without a name is named
// after the first place that mentions it.
func (s *shaper) shapeOf(t types.Type, place string) (*Shape, *unsupported) {
	t = types.Unalias(t)
	if known, ok := s.memo.At(t).(shaped); ok {
		return known.shape, known.fault
	}
	shape := &Shape{Type: t}
	s.memo.Set(t, shaped{shape: shape})
	if fault := s.fill(shape, place); fault != nil {
		s.memo.Set(t, shaped{fault: fault})
		return nil, fault
	}
	return shape, nil
}

// fill makes the shape of out.Type. Every kind of type that can be carried is a case here.
func (s *shaper) fill(out *Shape, place string) *unsupported {
	t := out.Type
	if fault := s.name(out, place); fault != nil {
		return fault
	}
	switch {
	case isNamed(t, "time", "Time"):
		out.Kind = ShapeTime
		return nil
	case isNamed(t, runtimePath, "Patch"):
		return s.fillPatch(out)
	case isNamed(t, runtimePath, "Optional"):
		return s.fillOptional(out)
	case isNamed(t, runtimePath, "Selection"):
		out.Kind = ShapeSelection
		return nil
	case isNamed(t, "encoding/json", "Number"):
		out.Kind = ShapeNumber
		return nil
	case isNamed(t, "encoding/json", "RawMessage"):
		out.Kind = ShapeAny
		return nil
	}
	switch method := marshalMethod(t); {
	case strings.HasSuffix(method, "JSON"):
		out.Kind = ShapeJSON
		return nil
	case method != "":
		out.Kind = ShapeText
		return nil
	}
	if param, ok := t.(*types.TypeParam); ok {
		return &unsupported{
			message:    fmt.Sprintf("nothing says what the type parameter %s stands for", param.Obj().Name()),
			suggestion: "use a type of its own, or write a function for one instance and make that the handler",
		}
	}
	switch u := t.Underlying().(type) {
	case *types.Basic:
		return s.fillBasic(out, t, u)
	case *types.Pointer:
		if pointsToItself(t) {
			return &unsupported{message: fmt.Sprintf("%s is a pointer to itself, so no value of it ends", s.text(t)), suggestion: "point to a struct"}
		}
		out.Kind = ShapePointer
		return s.elem(out, u.Elem(), place)
	case *types.Slice:
		if isByte(u.Elem()) {
			out.Kind = ShapeBytes
			return nil
		}
		out.Kind = ShapeSlice
		return s.elem(out, u.Elem(), place)
	case *types.Array:
		out.Kind, out.Len = ShapeArray, int(u.Len())
		return s.elem(out, u.Elem(), place)
	case *types.Map:
		key, fault := s.shapeOf(u.Key(), place)
		if fault == nil && !isKey(key, u.Key()) {
			fault = &unsupported{
				message:    fmt.Sprintf("maps with keys of type %s cannot be carried as JSON", s.text(u.Key())),
				suggestion: "use keys of a string or integer type, or of one with MarshalText and UnmarshalText",
			}
		}
		if fault != nil {
			return fault
		}
		out.Kind, out.Key = ShapeMap, key
		return s.elem(out, u.Elem(), place)
	case *types.Struct:
		out.Kind = ShapeStruct
		label := out.Go.Name
		if label == "" {
			label = place
			out.Label = strings.ReplaceAll(place, ".", "")
		}
		s.fillStruct(out, u, label)
		s.structs = append(s.structs, out)
		return nil
	case *types.Interface:
		if u.Empty() {
			out.Kind = ShapeAny
			return nil
		}
		return s.interfaceFault(t, u)
	case *types.Chan:
		return &unsupported{message: fmt.Sprintf("channel %s cannot be carried as JSON", s.text(t)), suggestion: "use a slice"}
	case *types.Signature:
		return &unsupported{message: fmt.Sprintf("%s cannot be carried as JSON", s.text(t)), suggestion: `leave the field out with json:"-"`}
	}
	return &unsupported{message: fmt.Sprintf("%s cannot be carried as JSON", s.text(t))}
}

// elem makes the shape of the element type of out.
func (s *shaper) elem(out *Shape, t types.Type, place string) *unsupported {
	elem, fault := s.shapeOf(t, place)
	if fault == nil && elem.Kind == ShapePatch {
		fault = &unsupported{message: "aql.Patch cannot be an element of another type", suggestion: "make it the field input of an UPDATE request"}
	}
	out.Elem = elem
	return fault
}

// fillBasic makes the shape of a type whose underlying type is b.
func (s *shaper) fillBasic(out *Shape, t types.Type, b *types.Basic) *unsupported {
	if b.Kind() == types.Invalid {
		return &unsupported{message: "the type is not known", invalid: true}
	}
	bits := func(plain types.BasicKind) int {
		if b.Kind() == plain {
			return 0
		}
		return int(s.sizes().Sizeof(b)) * 8
	}
	switch {
	case b.Info()&types.IsBoolean != 0:
		out.Kind = ShapeBool
	case b.Info()&types.IsUnsigned != 0:
		out.Kind, out.Bits = ShapeUint, bits(types.Uint)
	case b.Info()&types.IsInteger != 0:
		out.Kind, out.Bits = ShapeInt, bits(types.Int)
	case b.Info()&types.IsFloat != 0:
		out.Kind, out.Bits = ShapeFloat, bits(types.Invalid)
	case b.Info()&types.IsString != 0:
		out.Kind = ShapeString
		out.Enum = s.enumOf(t)
	case b.Info()&types.IsComplex != 0:
		return &unsupported{message: fmt.Sprintf("%s cannot be carried as JSON", s.text(t)), suggestion: "use two float64 fields"}
	default:
		return &unsupported{message: fmt.Sprintf("%s cannot be carried as JSON", s.text(t))}
	}
	return nil
}

func (s *shaper) sizes() types.Sizes {
	if loaded := s.packages[s.own]; loaded != nil && loaded.TypesSizes != nil {
		return loaded.TypesSizes
	}
	return types.SizesFor("gc", "amd64")
}

// fillPatch makes the shape of aql.Patch[T], whose type argument name has been shaped already.
func (s *shaper) fillPatch(out *Shape) *unsupported {
	if len(out.Go.Args) != 1 {
		return &unsupported{message: "aql.Patch needs one type argument", invalid: true}
	}
	out.Kind, out.Elem = ShapePatch, out.Go.Args[0]
	if out.Elem.Kind != ShapeStruct {
		return &unsupported{message: "aql.Patch needs a struct type", suggestion: "use aql.Patch[T] with a named struct T"}
	}
	return nil
}

// fillOptional makes the shape of aql.Optional[T], whose type argument has been shaped already.
func (s *shaper) fillOptional(out *Shape) *unsupported {
	if len(out.Go.Args) != 1 {
		return &unsupported{message: "aql.Optional needs one type argument", invalid: true}
	}
	out.Kind, out.Elem = ShapeOptional, out.Go.Args[0]
	if kind := out.Elem.Kind; kind == ShapeOptional || kind == ShapePatch {
		return &unsupported{message: fmt.Sprintf("aql.Optional cannot hold %s", s.text(out.Elem.Type)), suggestion: "use aql.Optional[T] with the type of the value itself"}
	}
	return nil
}

// isKey reports whether encoding/json can spell the keys of a map.
func isKey(key *Shape, t types.Type) bool {
	switch key.Kind {
	case ShapeString, ShapeInt, ShapeUint, ShapeText:
		return true
	case ShapeJSON, ShapeNumber: // a string or integer whose own JSON does not count for keys
		basic, ok := t.Underlying().(*types.Basic)
		return ok && basic.Info()&(types.IsString|types.IsInteger) != 0
	}
	return false
}

// interfaceFault tells what to do about an interface, and which types its author may have meant.
func (s *shaper) interfaceFault(t types.Type, u *types.Interface) *unsupported {
	fault := &unsupported{
		message:    fmt.Sprintf("interface %s cannot be carried as JSON: nothing says which type to decode into", s.text(t)),
		suggestion: "use any or a concrete type",
	}
	named, ok := t.(*types.Named)
	if !ok || !inMainModule(s.packages[named.Obj().Pkg()]) {
		return fault
	}
	var variants []string
	scope := named.Obj().Pkg().Scope()
	for _, name := range scope.Names() {
		object, ok := scope.Lookup(name).(*types.TypeName)
		if !ok || object.IsAlias() || object == named.Obj() || types.IsInterface(object.Type()) {
			continue
		}
		if types.Implements(object.Type(), u) || types.Implements(types.NewPointer(object.Type()), u) {
			variants = append(variants, name)
		}
	}
	if len(variants) > 0 && len(variants) <= 8 {
		fault.message += fmt.Sprintf(" (%s implement it)", strings.Join(variants, ", "))
		fault.suggestion = "use a struct with a pointer field for each of them, of which one is set, or a type with MarshalJSON and UnmarshalJSON"
	}
	return fault
}

// name fills in the Go name of a named type.
func (s *shaper) name(out *Shape, place string) *unsupported {
	named, ok := out.Type.(*types.Named)
	if !ok {
		return nil
	}
	object := named.Obj()
	if object.Pkg() == nil { // error, comparable
		return nil
	}
	if loaded := s.packages[object.Pkg()]; loaded != nil && len(loaded.Errors) > 0 {
		s.reportSyntax(loaded, s.position(object.Pos()).File)
	}
	out.Go = GoName{PkgPath: object.Pkg().Path(), PkgName: object.Pkg().Name(), Name: object.Name()}
	for arg := range named.TypeArgs().Types() {
		shape, fault := s.shapeOf(arg, place)
		if fault != nil {
			return fault
		}
		out.Go.Args = append(out.Go.Args, shape)
	}
	return nil
}

// text is a Go type as the user writes it.
func (s *shaper) text(t types.Type) string { return typeText(t, s.own) }

// pointsToItself reports whether following a pointer type never leads to anything else: `type P *P`.
func pointsToItself(t types.Type) bool {
	for range 64 {
		pointer, ok := t.Underlying().(*types.Pointer)
		if !ok {
			return false
		}
		t = pointer.Elem()
	}
	return true
}

// isByte reports whether encoding/json takes a slice of t for binary data.
func isByte(t types.Type) bool {
	basic, ok := t.Underlying().(*types.Basic)
	return ok && basic.Kind() == types.Uint8 && marshalMethod(types.Unalias(t)) == ""
}

// marshalMethod names a method by which encoding/json would let t, or a pointer to it, write or read itself.
func marshalMethod(t types.Type) string {
	if _, pointer := t.Underlying().(*types.Pointer); pointer {
		return ""
	}
	if _, isInterface := t.Underlying().(*types.Interface); isInterface {
		return ""
	}
	for _, name := range []string{"MarshalJSON", "UnmarshalJSON", "MarshalText", "UnmarshalText"} {
		object, _, _ := types.LookupFieldOrMethod(types.NewPointer(t), false, nil, name)
		method, ok := object.(*types.Func)
		if !ok {
			continue
		}
		signature := method.Signature()
		reads := strings.HasPrefix(name, "Un")
		if reads && signature.Params().Len() == 1 && signature.Results().Len() == 1 ||
			!reads && signature.Params().Len() == 0 && signature.Results().Len() == 2 {
			return name
		}
	}
	return ""
}
