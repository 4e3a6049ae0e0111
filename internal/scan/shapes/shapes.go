// Package shapes turns Go types into shapes: types as JSON carries them, by the rules of encoding/json.
package shapes

import (
	"go/types"

	"github.com/aqltag/aqltag/internal/scan/tags"
	"github.com/aqltag/aqltag/model"
	"github.com/aqltag/aqltag/runtime/gen"
)

// Kind is how JSON carries a Go type.
type Kind string

// The kinds of shapes.
const (
	Bool      Kind = "bool"
	Int       Kind = "int"
	Uint      Kind = "uint"
	Float     Kind = "float"
	String    Kind = "string"
	Bytes     Kind = "bytes" // []byte as base64
	Time      Kind = "time"  // time.Time
	Any       Kind = "any"   // the empty interface
	Pointer   Kind = "pointer"
	Slice     Kind = "slice"
	Array     Kind = "array"
	Map       Kind = "map"
	Struct    Kind = "struct"
	Patch     Kind = "patch"     // aql.Patch[Elem]
	Optional  Kind = "optional"  // aql.Optional[Elem]
	SQLNull   Kind = "sqlnull"   // sql.Null[Elem], sql.NullString and the like
	Selection Kind = "selection" // aql.Selection
	Filter    Kind = "filter"    // the parameter filter of aql.Query[Elem]
	Number    Kind = "number"    // json.Number
	Text      Kind = "text"      // reads and writes itself as text
	JSON      Kind = "json"      // reads and writes itself as JSON
)

// Shape is a Go type as JSON carries it. A type has one Shape, so recursive types are cycles of pointers.
type Shape struct {
	Kind    Kind
	Type    types.Type // nil for the parameters of a function
	Go      GoName     // of a named type
	Label   string     // of a struct type without a name: its name on the wire
	Name    string     // on the wire, where an //aql:type says it
	Doc     string     // description, where an //aql:type says it
	Own     *gen.Param // what is known of values of a type that writes itself, or what an //aql:type demands; may be nil
	Bits    int        // of int, uint, float: 8, 16, 32, 64; 0 for int and uint themselves
	Len     int        // of an array
	Key     *Shape     // of a map
	Elem    *Shape     // of a pointer, slice, array, map, patch, optional, sqlnull
	Enum    []EnumConst
	Message bool    // a message of protocol buffers, or an enum in one; protojson reads and writes it
	Quoted  bool    // an integer that travels in a string wherever it is: of 64 bits, in a message
	Fields  []Field // of a struct
	// Computed are the computed fields of a struct; their declarations are those of functions.
	Computed []Field
	Nested   []Field        // of a filter: those in structs of its elements, with their paths as names of parameters
	Faulty   bool           // a field is not in Fields because its type cannot be carried
	Foreign  []ForeignFault // such fields of other modules, not reported yet
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
	Const *types.Const // of an enum in a message; may be nil
}

// Declaration is where a field of a struct or an argument of a function is declared.
type Declaration struct {
	Path    string       // Go path, such as "CreateTodoRequest.Title"
	Through *Declaration // the user's field that embeds the struct of another module with this field
	Tag     tags.Tag
	Var     *types.Var
}

// Field is a struct field that JSON carries, or an argument of a function.
type Field struct {
	Declaration
	Selector []string // path from the struct, through embedded structs: {"Page", "Limit"}
	Shape    *Shape
	Param    gen.Param // Type and Items are filled in last
	OneOf    string    // of a message: the oneof that the field is a member of
	Position model.Position
}

// ForeignFault is a field of another module that cannot be carried.
type ForeignFault struct {
	Field Declaration
	Fault *Fault
}

// Fault is why a Go type cannot be carried, and what to use instead.
type Fault struct {
	Message    string
	Suggestion string
	Invalid    bool // the type has errors
}
