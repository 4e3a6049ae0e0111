package shapes

import (
	"fmt"
	"go/types"
	"strings"

	"golang.org/x/tools/go/types/typeutil"

	"github.com/aqltag/aqltag/internal/scan/gotype"
	"github.com/aqltag/aqltag/internal/scan/source"
	"github.com/aqltag/aqltag/internal/scan/tags"
)

// runtimePath is the import path of the aql package.
const runtimePath = "github.com/aqltag/aqltag/runtime"

// collectionPath is the import path of what aql.Query[T] consists of.
const collectionPath = runtimePath + "/internal/collection"

// shaped is the result of shaping a Go type.
type shaped struct {
	shape *Shape
	fault *Fault
}

// Maker makes the shapes of Go types for the package that code is generated for. Each type has one shape, so recursive
// types end. The parameters of fields are left to package params.
type Maker struct {
	*source.Program
	own     *types.Package
	tags    *tags.Reader
	memo    typeutil.Map // types.Type → shaped
	structs []*Shape     // structs that NewStructs has not returned yet
	folded  []Declaration
	open    *instance // the generic type that is being shaped
	endless map[*types.Named]bool
	enums   map[*types.TypeName]*Shape // of enums in messages
	// Verbatim says that names below parameters are those that encoding/json writes. It is set before the first shape.
	Verbatim bool
	// Directives are what the package says of types and fields.
	Directives Directives
}

// NewMaker makes a maker for the operations of package own.
func NewMaker(p *source.Program, tags *tags.Reader, own *types.Package) *Maker {
	return &Maker{
		Program: p, tags: tags, own: own, endless: make(map[*types.Named]bool), enums: make(map[*types.TypeName]*Shape),
	}
}

// NewStructs returns the structs that were shaped since its last call, each after those that its fields mention.
func (m *Maker) NewStructs() []*Shape {
	list := m.structs
	m.structs = nil
	return list
}

// Folded returns the fields whose wire names are not those of their json tags, since these are not valid.
func (m *Maker) Folded() []Declaration { return m.folded }

// Of returns the shape of t, or why t cannot be carried. The faults of a struct's fields are reported at the fields;
// the struct has a shape all the same. place is the Go path that mentions t, after which a struct type without a name
// is named.
func (m *Maker) Of(t types.Type, place string) (*Shape, *Fault) {
	t = types.Unalias(t)
	if known, ok := m.memo.At(t).(shaped); ok {
		return known.shape, known.fault
	}
	shape := &Shape{Type: t}
	outer := m.open
	open, fault := m.within(outer, t)
	if fault == nil {
		m.memo.Set(t, shaped{shape: shape})
		m.open = open
		fault = m.fill(shape, place)
		m.open = outer
	}
	if fault == nil {
		m.direct(shape)
	}
	if fault != nil {
		*shape = Shape{Kind: Any, Type: t} // types within t may have it already
		m.memo.Set(t, shaped{fault: fault})
		return nil, fault
	}
	return shape, nil
}

// fill makes the shape of out.Type. It has a case for every kind of type that can be carried.
func (m *Maker) fill(out *Shape, place string) *Fault {
	t := out.Type
	if fault := m.name(out, place); fault != nil {
		return fault
	}
	switch {
	case isMessage(t):
		return m.fillMessage(out)
	case gotype.Is(t, "time", "Time"):
		out.Kind = Time
		return nil
	case gotype.Is(t, runtimePath, "Patch"):
		return m.fillPatch(out)
	case gotype.Is(t, runtimePath, "Optional"):
		return m.fillOptional(out)
	case gotype.Is(t, runtimePath, "Selection"):
		out.Kind = Selection
		return nil
	case gotype.Is(t, runtimePath, "Query"):
		return &Fault{
			Message:    "aql.Query is no value of a parameter: its parameters are those of the request that embeds it",
			Suggestion: "embed it in the request struct, without a name",
		}
	case gotype.Is(t, collectionPath, "Filter"):
		return m.fillFilter(out)
	case isSQLNull(t):
		out.Kind = SQLNull
		return m.elem(out, t.Underlying().(*types.Struct).Field(0).Type(), place)
	case gotype.Is(t, "encoding/json", "Number"):
		out.Kind = Number
		return nil
	case gotype.Is(t, "encoding/json", "RawMessage"):
		out.Kind = Any
		return nil
	}
	switch method := MarshalMethod(t); {
	case strings.HasSuffix(method, "JSON"):
		out.Kind, out.Own = JSON, m.ownForm(t)
		return nil
	case method != "":
		if out.Kind, out.Own = Text, m.ownForm(t); out.Own != nil && out.Own.Type != "string" {
			out.Own = nil
		}
		return nil
	}
	if param, ok := t.(*types.TypeParam); ok {
		return &Fault{
			Message:    fmt.Sprintf("nothing says what the type parameter %s stands for", param.Obj().Name()),
			Suggestion: "use a type of its own, or write a function for one instance and make that the handler",
		}
	}
	switch u := t.Underlying().(type) {
	case *types.Basic:
		return m.fillBasic(out, t, u)
	case *types.Pointer:
		if pointsToItself(t) {
			return &Fault{
				Message:    fmt.Sprintf("%s is a pointer to itself, so no value of it ends", m.text(t)),
				Suggestion: "point to a struct",
			}
		}
		out.Kind = Pointer
		return m.elem(out, u.Elem(), place)
	case *types.Slice:
		if isByte(u.Elem()) {
			out.Kind = Bytes
			return nil
		}
		out.Kind = Slice
		return m.elem(out, u.Elem(), place)
	case *types.Array:
		if u.Len() == 0 {
			return &Fault{
				Message:    fmt.Sprintf("%s has no elements, so JSON carries nothing of it", m.text(t)),
				Suggestion: `leave the field out with json:"-"`,
			}
		}
		out.Kind, out.Len = Array, int(u.Len())
		return m.elem(out, u.Elem(), place)
	case *types.Map:
		key, fault := m.Of(u.Key(), place)
		if fault == nil && !isKey(key, u.Key()) {
			fault = &Fault{
				Message:    fmt.Sprintf("maps with keys of type %s cannot be carried as JSON", m.text(u.Key())),
				Suggestion: "use keys of a string or integer type, or of one with MarshalText and UnmarshalText",
			}
		}
		if fault != nil {
			return fault
		}
		out.Kind, out.Key = Map, key
		return m.elem(out, u.Elem(), place)
	case *types.Struct:
		if fault := m.strippedFault(t, u); fault != nil {
			return fault
		}
		out.Kind = Struct
		label := out.Go.Name
		if label == "" {
			label = place
			out.Label = strings.ReplaceAll(place, ".", "")
		}
		m.fillStruct(out, u, label)
		if IsRuntime(packageOf(t)) {
			out.Doc = protocolDoc(out.Go)
		}
		m.structs = append(m.structs, out)
		return nil
	case *types.Interface:
		if u.Empty() {
			out.Kind = Any
			return nil
		}
		return m.interfaceFault(t, u)
	case *types.Chan:
		return &Fault{Message: fmt.Sprintf("channel %s cannot be carried as JSON", m.text(t)), Suggestion: "use a slice"}
	case *types.Signature:
		return &Fault{
			Message: fmt.Sprintf("%s cannot be carried as JSON", m.text(t)), Suggestion: `leave the field out with json:"-"`,
		}
	}
	return &Fault{Message: fmt.Sprintf("%s cannot be carried as JSON", m.text(t))}
}

// elem makes the shape of the element type of out.
func (m *Maker) elem(out *Shape, t types.Type, place string) *Fault {
	elem, fault := m.Of(t, place)
	if fault == nil && elem.Kind == Patch {
		fault = &Fault{
			Message:    "aql.Patch cannot be an element of another type",
			Suggestion: "make it the field input of an UPDATE request",
		}
	}
	out.Elem = elem
	return fault
}

// fillBasic makes the shape of a type whose underlying type is b.
func (m *Maker) fillBasic(out *Shape, t types.Type, b *types.Basic) *Fault {
	if b.Kind() == types.Invalid {
		return &Fault{Message: "the type is not known", Invalid: true}
	}
	bits := func(plain types.BasicKind) int {
		if b.Kind() == plain {
			return 0
		}
		return int(m.sizes().Sizeof(b)) * 8
	}
	switch {
	case b.Info()&types.IsBoolean != 0:
		out.Kind = Bool
	case b.Info()&types.IsUnsigned != 0:
		out.Kind, out.Bits = Uint, bits(types.Uint)
	case b.Info()&types.IsInteger != 0:
		out.Kind, out.Bits = Int, bits(types.Int)
	case b.Info()&types.IsFloat != 0:
		out.Kind, out.Bits = Float, bits(types.Invalid)
	case b.Info()&types.IsString != 0:
		out.Kind = String
		out.Enum = m.enumOf(t)
	case b.Info()&types.IsComplex != 0:
		return &Fault{Message: fmt.Sprintf("%s cannot be carried as JSON", m.text(t)), Suggestion: "use two float64 fields"}
	default:
		return &Fault{Message: fmt.Sprintf("%s cannot be carried as JSON", m.text(t))}
	}
	return nil
}

func (m *Maker) sizes() types.Sizes {
	if loaded := m.Packages[m.own]; loaded != nil && loaded.TypesSizes != nil {
		return loaded.TypesSizes
	}
	return types.SizesFor("gc", "amd64")
}

// fillPatch makes the shape of aql.Patch[T]. Its type argument is shaped already.
func (m *Maker) fillPatch(out *Shape) *Fault {
	if len(out.Go.Args) != 1 {
		return &Fault{Message: "aql.Patch needs one type argument", Invalid: true}
	}
	out.Kind, out.Elem = Patch, out.Go.Args[0]
	if out.Elem.Kind != Struct {
		return &Fault{Message: "aql.Patch needs a struct type", Suggestion: "use aql.Patch[T] with a named struct T"}
	}
	return nil
}

// fillOptional makes the shape of aql.Optional[T]. Its type argument is shaped already.
func (m *Maker) fillOptional(out *Shape) *Fault {
	if len(out.Go.Args) != 1 {
		return &Fault{Message: "aql.Optional needs one type argument", Invalid: true}
	}
	out.Kind, out.Elem = Optional, out.Go.Args[0]
	if kind := out.Elem.Kind; kind == Optional || kind == Patch {
		return &Fault{
			Message:    fmt.Sprintf("aql.Optional cannot hold %s", m.text(out.Elem.Type)),
			Suggestion: "use aql.Optional[T] with the type of the value itself",
		}
	}
	return nil
}

// isKey reports whether encoding/json can write a type as the key of a map.
func isKey(key *Shape, t types.Type) bool {
	switch key.Kind {
	case String, Int, Uint, Text, Time:
		return true
	case JSON, Number: // encoding/json writes such keys as the string or integer that they are
		basic, ok := t.Underlying().(*types.Basic)
		return ok && basic.Info()&(types.IsString|types.IsInteger) != 0
	}
	return false
}

// name fills in the Go name of a named type.
func (m *Maker) name(out *Shape, place string) *Fault {
	named, ok := out.Type.(*types.Named)
	if !ok {
		return nil
	}
	object := named.Obj()
	if object.Pkg() == nil { // error, comparable
		return nil
	}
	if loaded := m.Packages[object.Pkg()]; loaded != nil && len(loaded.Errors) > 0 {
		m.ReportSyntax(loaded, m.Position(object.Pos()).File)
	}
	out.Go = GoName{PkgPath: object.Pkg().Path(), PkgName: object.Pkg().Name(), Name: object.Name()}
	for arg := range named.TypeArgs().Types() {
		shape, fault := m.Of(arg, place)
		if fault != nil {
			return fault
		}
		out.Go.Args = append(out.Go.Args, shape)
	}
	return nil
}

// text is a Go type as the user writes it.
func (m *Maker) text(t types.Type) string { return gotype.Text(t, m.own) }

// isByte reports whether encoding/json writes a slice of t as base64.
func isByte(t types.Type) bool {
	basic, ok := t.Underlying().(*types.Basic)
	return ok && basic.Kind() == types.Uint8 && MarshalMethod(types.Unalias(t)) == ""
}

// MarshalMethod returns the name of a method by which t, or a pointer to it, writes or reads itself for encoding/json.
// It is empty if there is none.
func MarshalMethod(t types.Type) string {
	if _, pointer := t.Underlying().(*types.Pointer); pointer {
		return ""
	}
	if _, isInterface := t.Underlying().(*types.Interface); isInterface {
		return ""
	}
	if EmbedsEndlessly(t) {
		return ""
	}
	for _, name := range []string{"MarshalJSON", "UnmarshalJSON", "MarshalText", "UnmarshalText"} {
		if hasMethod(t, name) {
			return name
		}
	}
	return ""
}

// hasMethod reports whether t, or a pointer to it, has a method of this name that encoding/json calls.
func hasMethod(t types.Type, name string) bool {
	object, _, _ := types.LookupFieldOrMethod(types.NewPointer(t), false, nil, name)
	method, ok := object.(*types.Func)
	if !ok {
		return false
	}
	signature := method.Signature()
	if strings.HasPrefix(name, "Un") {
		return signature.Params().Len() == 1 && signature.Results().Len() == 1
	}
	return signature.Params().Len() == 0 && signature.Results().Len() == 2
}
