package gen

import (
	"context"
	"time"
)

// Handler is an operation and the Go function that carries it out, as generated code declares them. NewRegistry makes
// an Operation of it. Members that both have mean the same.
//
// A Handler is data that the linker lays out: it runs no code when a program starts. Its parameters are Fields and not
// Params for the sake of size: a Param takes 288 bytes of a binary, a Field 112 and what its rules need.
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
	Returns      string // name of a WireType of the same file; empty: nothing is known of the result
	Examples     []Example
	Timeout      time.Duration
	Deprecated   string
	Replacement  string
	Source       string

	// Request is a nil pointer to the request struct: (*CreateTodoRequest)(nil).
	Request any
	// Result is a nil pointer to what the function returns beside its error: (**Todo)(nil) if that is a *Todo. It is nil
	// if the function returns only an error.
	Result any
	// Receivers are the places of the receivers that Call uses; nil: it uses all.
	Receivers []int
	// Call calls the function. receivers are those that NewRegistry was given, or NewRegistryFor has chosen; request is a
	// pointer to the request struct. The result has the type that Result points to.
	Call func(ctx context.Context, receivers []any, request any) (result any, err error)
	// Execution is set in place of Call where the operation outlives its call.
	Execution *Execution
	// TypeToConfirm is a parameter of Params, as in Operation.
	TypeToConfirm string
}

// Field is a field of a Go struct, and the parameter or the member of a JSON object that it holds. NewRegistry makes a
// Param of it. Members that both have mean the same.
type Field struct {
	Name        string // on the wire
	Go          string // as in Param
	Type        string // string, integer, number, boolean, object, array, any, or the name of a WireType
	Items       *Field // element of an array, or value of a map; it has neither Name nor Go
	Keys        *Field // of a map: the values that the names of its entries spell; nil: every text is a name
	Required    bool
	Nullable    bool
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
	// Filters names the type of the elements that values of this one select. Its fields are those of the other that have
	// a rule Filter.
	Filters string
	// Withheld are the names of the fields that are not among Fields, since results leave them out.
	Withheld []string
	// Computed are the computed fields of an object.
	Computed []Computed
}

// Exactly returns what p points to. Generated code mentions it to break the build when the type of a field is no longer
// exactly T.
func Exactly[T any](p *T) T { return *p }
