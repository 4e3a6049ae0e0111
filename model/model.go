// Package model describes what was found in Go packages: the handlers of operations with their definitions, and the Go
// types behind them. The scanner makes it, and package emit writes generated code from it.
package model

import "github.com/aqltag/aqltag/runtime/gen"

// Package is a Go package with operations.
type Package struct {
	Path string // import path
	Name string // of the package clause
	Dir  string // absolute directory

	Description string // what the service is, by the package comment; empty: nothing says it

	Handlers  []Handler
	Relations []Relation // between Types
	Types     []gen.Type // types that the operations mention, sorted by name
	Guards    []Guard    // structs that requests and results consist of
	Messages  bool       // some of them are messages of protocol buffers
	// Computed says how the computed fields of a type are computed, in the order of the definitions of its type, by its
	// name.
	Computed map[string][]Computed

	// Constants maps the values of enum types to the Go constants that generated code can name.
	Constants map[EnumConstant]GoType

	// Taken lists the identifiers that files other than the generated one declare, sorted. Imported lists those of Taken
	// that are only the names of imports.
	Taken, Imported []string

	// Places maps "operation.parameter", "Type" and "Type.field" to where they are declared, as far as that is in the
	// package. It is nil if the scan was not told to find them.
	Places map[string]Position
}

// EnumConstant is a value of an enum type.
type EnumConstant struct {
	Type  string // name of the type on the wire
	Value string
}

// Handler is an operation with the Go function that runs it.
type Handler struct {
	Operation      gen.Operation
	Func           string     // name of the function or method
	Receiver       *Receiver  // nil for a plain function
	Context        bool       // the first parameter is a context.Context
	Request        GoType     // the request struct; without text, the handler takes Arguments or nothing
	RequestPointer bool       // the handler takes a pointer to the request
	Arguments      []Argument // of a handler without a request struct, in their order
	Variadic       bool       // the last argument is variadic
	Run            bool       // the last parameter is a *aql.Run: Operation.Lifecycle is set
	Result         GoType     // the result before the error; without text, the error is the only one
	Adopted        *Adopted   // of a function that is named by //aql:adopt; nil: it is declared in the package
	Queried        *Queried   // of a function that returns a whole collection; nil: it returns the answer
	Guessed        bool       // nobody has reviewed category and danger level
	Merge          *Merge     // of an update that takes the whole resource; nil: the handler takes what was sent
	Position       Position
}

// Adopted is the signature of a function that is an operation as it stands, wherever it is declared.
type Adopted struct {
	Package  Import   // of a function without receiver
	Params   []GoType // all but the receiver; one without text has no name outside its package
	Results  []GoType // all of them
	Variadic bool     // the last parameter is variadic
	Value    int      // index of the result that agents get; -1: there is none
	Fails    bool     // the last result is an error
	Wrap     Wrap     // puts the request into what the function takes; empty: it takes the request
	Field    string   // of the result: what agents get; empty: the result itself

	// Of a handler of a web framework:

	Status    string     // of the result: the field with the HTTP status; empty: it has none
	Body      Allocated  // of the request: the pointer that is set where no parameter sets it; empty: there is none
	Responses []Response // the types of the result, which is an interface; nil: it is none
	Nullable  GoType     // of the result that some of Responses hold, and others do not; empty: there is no such result
}

// Queried is how a page of a collection is made of what a function returns. The result of the handler is the page.
type Queried struct {
	Field  string // of the generated request: the query
	Elem   GoType // type of the elements
	Method string // of the query, which takes what the function returns
	Plain  bool   // that is an iterator without errors
}

// Allocated is a field of a request that is a pointer, and the type that it points to.
type Allocated struct {
	Field string
	Type  GoType
}

// Response is a type that the result of a handler may have.
type Response struct {
	Type    GoType
	Status  int    // HTTP status; 0: the value says it, in the field Code
	Code    string // path of the field
	Success bool   // agents get what it holds; otherwise the call has failed
	Value   string // path of the field that holds something; empty: the response itself does
	Empty   bool   // it holds nothing
	Convert GoType // type that what it holds is converted to; empty: that of the field
}

// Wrap is a function that makes the argument of another one of a pointer to a request.
type Wrap struct {
	Package Import
	Func    string
}

// Merge is how an update gets the whole of the resource for its handler: another handler reads the resource, and the
// changes are merged into that. All paths are of Go fields.
type Merge struct {
	Get         Handler // reads the resource
	GetPointer  bool    // it returns a pointer
	Identifiers []Copy  // from the request to the parameters of Get

	Input        string // of the request: the field that takes the resource; empty: the request itself has its fields
	InputPointer bool   // that field is a pointer
	Resource     GoType // type of that field, or of what it points to
	Copies       []Copy // from what Get returns to the resource; empty: they have the same type
	Version      *Copy  // from what Get returns to the request, where that has none; nil: the handler takes none
}

// Copy is a value that one field gets from another.
type Copy struct{ To, From string }

// Relation is a relation with the Go function that loads it.
type Relation struct {
	gen.Relation           // without receivers and loader
	Func         string    // name of the function or method
	Receiver     *Receiver // nil for a plain function
	From, Key    GoType    // types of what has the relation, and of its key
	Elem         GoType    // type to a pointer of which the relation leads
	Field        string    // Go path of the field with the key
	Through      []string  // Go paths of the embedded pointers on the way to it, outermost first
	Pointer      bool      // the field is a pointer to the key
	Position     Position
}

// RelationDefinitions returns the definitions of the relations.
func (p *Package) RelationDefinitions() []gen.Relation {
	var definitions []gen.Relation
	for i := range p.Relations {
		definitions = append(definitions, p.Relations[i].Relation)
	}
	return definitions
}

// Argument is an argument of a handler that has no request struct.
type Argument struct {
	Field string // Go path of the parameter that has the argument's value
	Type  GoType // of a variadic argument: the slice
}

// Receiver is the receiver of a handler method.
type Receiver struct {
	Package    Import // empty: the handler's package
	Type       string // name of the type
	Pointer    bool
	TypeParams []TypeParam // of a generic type
}

// TypeParam is a type parameter of a receiver's type.
type TypeParam struct {
	Name       string
	Constraint GoType
}

// Guard is a Go struct that operations depend on. Generated code stops compiling when the struct changes.
type Guard struct {
	Type   GoType
	Fields []GuardField // in declaration order
	Whole  bool         // Fields has all fields of the struct
}

// GuardField is one field of a struct as Go declares it.
type GuardField struct {
	Name string
	Type GoType
}

// GoType is a Go type as source text.
type GoType struct {
	Text    string   // with the names that packages give themselves as qualifiers
	Imports []Import // the packages that Text mentions
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
