package scan

import (
	"fmt"
	"go/token"
	"go/types"
	"strings"

	"golang.org/x/tools/go/types/typeutil"

	"github.com/aqltag/aqltag/model"
)

// runtimePath is the import path of the aql package.
const runtimePath = "github.com/aqltag/aqltag/runtime"

// unsupported says why a Go type cannot be carried as JSON and what to use instead.
type unsupported struct {
	message    string
	suggestion string
	invalid    bool // the type checker could not make sense of the type
}

// shaped is what a Go type became.
type shaped struct {
	shape *model.Shape
	fault *unsupported
}

// shaper turns the Go types of one package into shapes, one per type, so that recursive types end.
type shaper struct {
	*program
	own     *types.Package
	memo    typeutil.Map // types.Type → shaped
	structs map[*model.Shape]*structSource
	goTypes map[*model.Shape]types.Type
	unnamed map[*model.Shape]string // names that struct types without one get on the wire
	texts   map[types.Type]typeText // source texts of types
	place   string                  // Go path of the field being shaped

	hopeless []foreignFault              // embedded structs of other modules that cannot be filled, while the fields of a struct are collected
	remarked map[foreignRemark]token.Pos // where rules of other modules were first remarked on
}

// foreignRemark is a remark on a rule in the tags of a type of another module.
type foreignRemark struct {
	pkg       *types.Package
	typ, rule string
}

func newShaper(p *program, own *types.Package) *shaper {
	return &shaper{
		program: p, own: own, structs: make(map[*model.Shape]*structSource),
		goTypes: make(map[*model.Shape]types.Type), unnamed: make(map[*model.Shape]string),
		texts: make(map[types.Type]typeText), remarked: make(map[foreignRemark]token.Pos),
	}
}

// shapeOf makes the shape of t, or tells why there is none. Faults of the fields of a struct are reported at the fields
// and do not make the struct unsupported.
func (s *shaper) shapeOf(t types.Type) (*model.Shape, *unsupported) {
	t = types.Unalias(t)
	if known, ok := s.memo.At(t).(shaped); ok {
		return known.shape, known.fault
	}
	shape := new(model.Shape)
	s.goTypes[shape] = t
	s.memo.Set(t, shaped{shape: shape})
	if fault := s.fill(shape, t); fault != nil {
		s.memo.Set(t, shaped{fault: fault})
		return nil, fault
	}
	return shape, nil
}

// fieldShape is shapeOf for the type of a struct field or argument. Structs without a name go by the place where they are
// met first, which path tells: the field's Go path.
func (s *shaper) fieldShape(t types.Type, path string) (*model.Shape, *unsupported) {
	outer := s.place
	s.place = path
	defer func() { s.place = outer }()
	return s.shapeOf(t)
}

// fill makes the shape of t. Every kind of type that can be carried is a case here.
func (s *shaper) fill(out *model.Shape, t types.Type) *unsupported {
	if fault := s.name(out, t); fault != nil {
		return fault
	}
	switch {
	case isNamed(t, "time", "Time"):
		out.Kind = model.ShapeTime
		return nil
	case isNamed(t, runtimePath, "Patch"):
		return s.fillPatch(out)
	case isNamed(t, runtimePath, "Optional"):
		return s.fillOptional(out)
	case isNamed(t, runtimePath, "Selection"):
		out.Kind = model.ShapeSelection
		return nil
	case isNamed(t, "encoding/json", "Number"):
		out.Kind = model.ShapeNumber
		return nil
	case isNamed(t, "encoding/json", "RawMessage"):
		out.Kind = model.ShapeAny
		return nil
	}
	switch method := marshalMethod(t); {
	case strings.HasSuffix(method, "JSON"):
		out.Kind = model.ShapeJSON
		return nil
	case method != "":
		out.Kind = model.ShapeText
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
		out.Kind = model.ShapePointer
		return s.elem(out, u.Elem())
	case *types.Slice:
		if isByte(u.Elem()) {
			out.Kind = model.ShapeBytes
			return nil
		}
		out.Kind = model.ShapeSlice
		return s.elem(out, u.Elem())
	case *types.Array:
		out.Kind, out.Len = model.ShapeArray, int(u.Len())
		return s.elem(out, u.Elem())
	case *types.Map:
		key, fault := s.shapeOf(u.Key())
		if fault == nil && !isKey(key, u.Key()) {
			fault = &unsupported{
				message:    fmt.Sprintf("maps with keys of type %s cannot be carried as JSON", s.text(u.Key())),
				suggestion: "use keys of a string or integer type, or of one with MarshalText and UnmarshalText",
			}
		}
		if fault != nil {
			return fault
		}
		out.Kind, out.Key = model.ShapeMap, key
		return s.elem(out, u.Elem())
	case *types.Struct:
		out.Kind = model.ShapeStruct
		label := out.Go.Name
		if label == "" { // it goes by the name of the place where it is met first
			label = s.place
			s.unnamed[out] = strings.ReplaceAll(label, ".", "")
		}
		s.fillStruct(out, u, label)
		return nil
	case *types.Interface:
		if u.Empty() {
			out.Kind = model.ShapeAny
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
func (s *shaper) elem(out *model.Shape, t types.Type) *unsupported {
	elem, fault := s.shapeOf(t)
	if fault == nil && elem.Kind == model.ShapePatch {
		fault = &unsupported{message: "aql.Patch cannot be an element of another type", suggestion: "make it the field input of an UPDATE request"}
	}
	out.Elem = elem
	return fault
}

// fillBasic makes the shape of a type whose underlying type is b.
func (s *shaper) fillBasic(out *model.Shape, t types.Type, b *types.Basic) *unsupported {
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
		out.Kind = model.ShapeBool
	case b.Info()&types.IsUnsigned != 0:
		out.Kind, out.Bits = model.ShapeUint, bits(types.Uint)
	case b.Info()&types.IsInteger != 0:
		out.Kind, out.Bits = model.ShapeInt, bits(types.Int)
	case b.Info()&types.IsFloat != 0:
		out.Kind, out.Bits = model.ShapeFloat, bits(types.Invalid)
	case b.Info()&types.IsString != 0:
		out.Kind = model.ShapeString
		out.Enum = s.constantsOf(t)
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
func (s *shaper) fillPatch(out *model.Shape) *unsupported {
	if len(out.Go.Args) != 1 {
		return &unsupported{message: "aql.Patch needs one type argument", invalid: true}
	}
	out.Kind, out.Elem = model.ShapePatch, out.Go.Args[0]
	if out.Elem.Kind != model.ShapeStruct {
		return &unsupported{message: "aql.Patch needs a struct type", suggestion: "use aql.Patch[T] with a named struct T"}
	}
	return nil
}

// fillOptional makes the shape of aql.Optional[T], whose type argument has been shaped already.
func (s *shaper) fillOptional(out *model.Shape) *unsupported {
	if len(out.Go.Args) != 1 {
		return &unsupported{message: "aql.Optional needs one type argument", invalid: true}
	}
	out.Kind, out.Elem = model.ShapeOptional, out.Go.Args[0]
	if kind := out.Elem.Kind; kind == model.ShapeOptional || kind == model.ShapePatch {
		return &unsupported{message: fmt.Sprintf("aql.Optional cannot hold %s", s.text(s.goTypes[out.Elem])), suggestion: "use aql.Optional[T] with the type of the value itself"}
	}
	return nil
}

// isKey reports whether encoding/json can spell the keys of a map.
func isKey(key *model.Shape, t types.Type) bool {
	switch key.Kind {
	case model.ShapeString, model.ShapeInt, model.ShapeUint, model.ShapeText:
		return true
	case model.ShapeJSON, model.ShapeNumber: // a string or integer whose own JSON does not count for keys
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
func (s *shaper) name(out *model.Shape, t types.Type) *unsupported {
	named, ok := t.(*types.Named)
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
	out.Go = model.GoName{PkgPath: object.Pkg().Path(), PkgName: object.Pkg().Name(), Name: object.Name()}
	for arg := range named.TypeArgs().Types() {
		shape, fault := s.shapeOf(arg)
		if fault != nil {
			return fault
		}
		out.Go.Args = append(out.Go.Args, shape)
	}
	return nil
}

// canName reports whether code in the package being generated may mention a type.
func (s *shaper) canName(object *types.TypeName) bool {
	pkg := object.Pkg()
	if pkg == nil || pkg == s.own {
		return true
	}
	return object.Exported() && pkg.Name() != "main" && canImport(s.own.Path(), pkg.Path())
}

// canImport applies the rule of internal packages.
func canImport(from, target string) bool {
	i := strings.LastIndex("/"+target+"/", "/internal/")
	if i <= 0 {
		return i < 0
	}
	parent := target[:i-1]
	return from == parent || strings.HasPrefix(from, parent+"/")
}

// text is a Go type as users write it, packages by name.
func (s *shaper) text(t types.Type) string {
	return types.TypeString(t, func(pkg *types.Package) string {
		if pkg == s.own {
			return ""
		}
		return pkg.Name()
	})
}

// isNamed reports whether t is the named type name of package pkgPath, or an instance of it.
func isNamed(t types.Type, pkgPath, name string) bool {
	named, ok := types.Unalias(t).(*types.Named)
	if !ok {
		return false
	}
	object := named.Obj()
	return object.Name() == name && object.Pkg() != nil && object.Pkg().Path() == pkgPath
}

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
