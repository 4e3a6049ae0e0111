package scan

import (
	"go/types"

	"github.com/aqltag/aqltag/model"
	"github.com/aqltag/aqltag/runtime/gen"
)

// ShapeKind is how a Go type travels as JSON.
type ShapeKind string

// The kinds of shapes.
const (
	ShapeBool      ShapeKind = "bool"
	ShapeInt       ShapeKind = "int"
	ShapeUint      ShapeKind = "uint"
	ShapeFloat     ShapeKind = "float"
	ShapeString    ShapeKind = "string"
	ShapeBytes     ShapeKind = "bytes" // []byte as base64
	ShapeTime      ShapeKind = "time"  // time.Time
	ShapeAny       ShapeKind = "any"   // the empty interface
	ShapePointer   ShapeKind = "pointer"
	ShapeSlice     ShapeKind = "slice"
	ShapeArray     ShapeKind = "array"
	ShapeMap       ShapeKind = "map"
	ShapeStruct    ShapeKind = "struct"
	ShapePatch     ShapeKind = "patch"     // aql.Patch[Elem]
	ShapeOptional  ShapeKind = "optional"  // aql.Optional[Elem]
	ShapeSelection ShapeKind = "selection" // aql.Selection
	ShapeNumber    ShapeKind = "number"    // json.Number
	ShapeText      ShapeKind = "text"      // reads and writes itself as text
	ShapeJSON      ShapeKind = "json"      // reads and writes itself as JSON
)

// Shape is a Go type as JSON carries it. All uses of one type share one Shape, so recursive types are cycles of pointers.
type Shape struct {
	Kind    ShapeKind
	Type    types.Type // nil for the parameters of a function
	Go      GoName     // of a named type
	Label   string     // of a struct type without a name: what it is called on the wire
	Bits    int        // of int, uint, float: 8, 16, 32, 64; 0 for int and uint themselves
	Len     int        // of an array
	Key     *Shape     // of a map
	Elem    *Shape     // of a pointer, slice, array, map, patch, optional
	Enum    []EnumConst
	Fields  []Field        // of a struct
	Faulty  bool           // a field of the struct is not in Fields because its type cannot travel
	Foreign []foreignFault // such fields that the user cannot edit; they are reported where the user mentions the struct
}

// GoName is the name of a Go type.
type GoName struct {
	PkgPath string
	PkgName string
	Name    string
	Args    []*Shape // type arguments of a generic type
}

// EnumConst is a typed string constant.
type EnumConst struct {
	Name  string // Go identifier
	Value string
}

// Declaration is where a field of a struct or an argument of a function is declared.
type Declaration struct {
	path    string       // Go path, such as "CreateTodoRequest.Title"
	through *Declaration // the user's field that embeds the struct of another module which has the field
	tag     fieldTag
	v       *types.Var
}

// Field is a struct field that travels as JSON, or an argument of a function.
type Field struct {
	Declaration
	Selector []string // path from the struct, through embedded structs: {"Page", "Limit"}
	Shape    *Shape
	Param    gen.Param // wire name, constraints, description; Type and Items come last
	Position model.Position
}

// foreignFault is a field that cannot travel, of a struct that is not the user's to edit.
type foreignFault struct {
	field Declaration
	fault *unsupported
}

// unsupported says why a Go type cannot be carried as JSON and what to use instead.
type unsupported struct {
	message    string
	suggestion string
	invalid    bool // the type checker could not make sense of the type
}
