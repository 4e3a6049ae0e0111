package gen

import (
	"context"
	"time"
)

// Handler is an operation with the Go function that carries it out, as generated code declares it. NewRegistry makes an
// Operation of it.
//
// Every part of it is data that the linker lays out: declaring a Handler runs no code when the program starts. Parameters
// are the compact Field for the same reason, and not Param: an adapter of a thousand operations has fifteen thousand.
type Handler struct {
	Name         string
	Category     Category
	Family       string
	Danger       Danger
	DangerSource DangerSource // empty: DangerFromCategory
	Description  string
	Reasons      []string
	Confirm      string
	Params       []Field
	Returns      string // the name of a WireType of the same registry; empty: nothing is known of the result
	Examples     []Example
	Timeout      time.Duration
	Deprecated   string
	Replacement  string
	Source       string

	// Request is a nil pointer to the request struct: (*CreateTodoRequest)(nil).
	Request any
	// Result is a nil pointer to what the function returns beside its error: (**Todo)(nil) where that is a *Todo. It is nil
	// where the function returns an error alone.
	Result any
	// Call calls the function. receivers are those that NewRegistry was given, request is a pointer to the request struct.
	// The result has the type that Result points to.
	Call func(ctx context.Context, receivers []any, request any) (result any, err error)
}

// Field is a field of a Go struct and the parameter, or the member of a JSON object, that it holds.
type Field struct {
	Name        string // on the wire
	Go          string // path of the Go field, such as "Page.Limit"; empty: the struct itself
	Type        string // string, integer, number, boolean, object, array, any, or the name of a WireType
	Items       *Field // element of an array, or value of a map; it has neither Name nor Go
	Required    bool
	Sensitive   bool
	ReadOnly    bool
	AppendOnly  bool
	ID          bool
	OmitEmpty   bool // encoding/json's omitempty, omitzero and string
	OmitZero    bool
	Quoted      bool
	Rules       Rules
	Description string
}

// WireType is a type that fields mention by name, as generated code declares it.
type WireType struct {
	Name        string
	Kind        TypeKind
	Description string
	Values      []EnumValue // of an enum
	Fields      []Field     // of an object
	Members     []string    // of a union
	Items       *Field      // of an object whose members all have one type
	// Changes names the type whose values this one changes. Its fields are those of the other that an update may change.
	Changes string
}

// Exactly returns what p points to. Generated code uses it to break the build when a field's type is not exactly T any more.
func Exactly[T any](p *T) T { return *p }
