package model

import "github.com/aqltag/aqltag/runtime/gen"

// Package is what the scanner found in one Go package: all that the generator needs to write its file.
type Package struct {
	Path     string // import path
	Name     string // package clause
	Dir      string // absolute directory
	Handlers []Handler
	Types    []gen.Type // wire types the operations mention, sorted by name
	Guards   []Guard    // structs that requests and results consist of
	// Constants are the Go constants of enum values that generated code can name.
	Constants map[EnumConstant]GoType
	Taken     []string // identifiers declared in the package outside generated code, sorted
	Imported  []string // those of Taken that are only the names of imports in some file, sorted
	// Places are where parameters and types are declared, by "operation.parameter", "Type" and "Type.field", so far as
	// that is in the package; nil: not asked for.
	Places map[string]Position
}

// EnumConstant is one value of an enum type, by their names on the wire.
type EnumConstant struct{ Type, Value string }

// Handler ties an operation to the Go function that carries it out.
type Handler struct {
	Operation      gen.Operation
	Func           string     // name of the function or method
	Receiver       *Receiver  // nil for a plain function
	Context        bool       // the first parameter is a context.Context
	Request        GoType     // the request struct; no text: the handler takes Arguments, or nothing
	RequestPointer bool       // the handler takes a pointer to it
	Arguments      []Argument // of a handler without a request struct, in their order
	Variadic       bool       // the last argument is variadic
	Result         GoType     // what is returned beside the error; no text: the error alone
	Position       Position
}

// Argument is a plain argument of a handler. A parameter whose Go path is Field holds its value.
type Argument struct {
	Field string
	Type  GoType // of a variadic argument: the slice
}

// Receiver is the receiver of a handler method.
type Receiver struct {
	Type       string // name of the type in the handler's package
	Pointer    bool
	TypeParams []TypeParam // of a generic type
}

// TypeParam is a type parameter of a receiver's type.
type TypeParam struct {
	Name       string
	Constraint GoType
}

// Guard is a Go struct that operations depend on, as it was when code was generated for it.
type Guard struct {
	Type   GoType
	Fields []GuardField
	Whole  bool // Fields are all the fields there are, in declaration order
}

// GuardField is one field of a struct as Go declares it.
type GuardField struct {
	Name  string
	Locks bool // holds a lock, so that no code may copy it
	Type  GoType
}

// GoType is the source text of a Go type, with the packages that it mentions. In Text each package qualifier is the
// package's own name; Imports tells which packages those are.
type GoType struct {
	Text    string
	Imports []Import
}

// Import is a package that a GoType mentions.
type Import struct {
	Path string
	Name string
}

// Position is a place in a source file.
type Position struct {
	File   string // absolute path
	Line   int
	Column int // in bytes, from 1
}
