package scan_test

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/aqltag/aqltag/internal/scantest"
	"github.com/aqltag/aqltag/runtime/gen"
)

// Every operation key reaches the definition; an explicit level wins over the name, even downwards (REQ-DL-01,
// REQ-DL-10).
func TestOperationKeys(t *testing.T) {
	got := operation(t, one(t, `package app

type Request struct {
	_ struct{} `+"`aql:\"op=drop_caches,category=DELETE,danger=reversible,endpoint=manage,timeout=90s,"+
		"deprecated='Use it no more',replacement=clear_caches\"`"+`
}

// DropIt drops the caches.
//
//aql:reason One
//aql:reason Two
func DropIt(Request) error { return nil }
`), "drop_caches")
	want := gen.Operation{
		Name: "drop_caches", Category: gen.Delete, Family: "manage", Description: "Drops the caches.",
		Danger: gen.Reversible, DangerSource: gen.DangerFromTag, Reasons: []string{"One", "Two"},
		Returns: gen.Returns{Name: "Nothing", Kind: gen.KindScalar, Description: "No data (null)."},
		Timeout: 90 * time.Second, Deprecated: "Use it no more", Replacement: "clear_caches", Source: "app.go:11",
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("operation (-want +got):\n%s", diff)
	}
}

// Every parameter key reaches the definition, values as JSON literals.
func TestParameterKeys(t *testing.T) {
	op := operation(t, one(t, `package app

import "time"

type Level string

const (
	// Low is quiet.
	Low, High Level = "low", "high"
	Again     Level = "low"
)

type Request struct {
	_ struct{} `+"`aql:\"category=READ\"`"+`
	// A is the first one.
	A string   `+"`json:\"a\" aql:\"required,minlen=1,maxlen=9,pattern='^[a-z|]+$',format=email\"`"+`
	B int8     `+"`json:\"b\" aql:\"min=-128,max=1e2,default=7\"`"+` // B is counted
	C float64  `+"`json:\"c\" aql:\"min=0.50,default=1.0\"`"+`
	D bool     `+"`json:\"d\" aql:\"default=true\"`"+`
	E Level    `+"`json:\"e\" aql:\"default=high\"`"+`
	F Level    `+"`json:\"f\" aql:\"enum=low\"`"+`
	G string   `+"`json:\"g\" aql:\"enum=x|'y,z',default='y,z',desc='Given, here'\"`"+` // not this
	H []string `+"`json:\"h\" aql:\"minitems=1,maxitems=2,default='[\\\"a\\\"]'\"`"+`
	I map[string]int `+"`json:\"i\" aql:\"default={}\"`"+`
	J string   `+"`json:\"j\" aql:\"sensitive,id,alias=jj|jjj,deprecated\"`"+`
	K time.Time `+"`json:\"k\" aql:\"default=2026-01-02T15:04:05Z\"`"+`
	L int      `+"`json:\"l,string\" aql:\"default=5\"`"+`
	M *string  `+"`json:\"m\" aql:\"default='a \\\"<b>\\\"'\"`"+`
	N [2]bool  `+"`json:\"n\"`"+`
}

// Get reads.
func Get(Request) error { return nil }
`), "get")
	want := []gen.Param{
		{
			Name: "a", Type: "string", Required: true, Description: "The first one.", MinLength: 1, MaxLength: 9,
			Pattern: "^[a-z|]+$", Format: "email",
		},
		{Name: "b", Type: "integer", Description: "Is counted", Minimum: "-128", Maximum: "1e2", Default: "7"},
		{Name: "c", Type: "number", Minimum: "0.50", Default: "1.0"},
		{Name: "d", Type: "boolean", Default: "true"},
		{Name: "e", Type: "Level", Default: `"high"`, Enum: []string{"low", "high"}},
		{Name: "f", Type: "string", Enum: []string{"low"}},
		{Name: "g", Type: "string", Description: "Given, here", Default: `"y,z"`, Enum: []string{"x", "y,z"}},
		{Name: "h", Type: "array", Default: `["a"]`, MinItems: 1, MaxItems: 2, Items: &gen.Param{Type: "string"}},
		{Name: "i", Type: "object", Default: "{}", Items: &gen.Param{Type: "integer"}},
		{Name: "j", Type: "string", Sensitive: true, ID: true, Aliases: []string{"jj", "jjj"}, Deprecated: "Deprecated."},
		{Name: "k", Type: "string", Default: `"2026-01-02T15:04:05Z"`, Format: "date-time"},
		{Name: "l", Type: "string", Default: `"5"`, Pattern: gen.PatternInteger, Description: quotedInteger},
		{Name: "m", Type: "string", Default: `"a \"<b>\""`},
		{Name: "n", Type: "array", MinItems: 2, MaxItems: 2, Items: &gen.Param{Type: "boolean"}},
	}
	if diff := cmp.Diff(want, op.Params, ignoreGo); diff != "" {
		t.Errorf("parameters (-want +got):\n%s", diff)
	}
}

// A directive makes an operation of a function whose request type cannot be edited (design §3.1).
func TestDirectiveOperation(t *testing.T) {
	dir := scantest.Write(t, `
-- app.go --
package app

import (
	"context"

	"example.com/app/types"
)

type service struct{}

// find looks for things.
//
//aql:op category=READ,op=find_things
//aql:example {"text":"x"}
func (service) find(ctx context.Context, q *types.Query) ([]string, error) { return nil, nil }

// count counts them.
//
//aql:op category=READ,op=count_things
func (service) count(q types.Query) (int, error) { return 0, nil }
-- types/types.go --
package types

// Query selects things.
type Query struct {
	Text string // What to look for
}
`)
	result := scantest.Load(t, dir)
	clean(t, dir, result)
	handlers := result.Packages[0].Handlers
	if len(handlers) != 2 {
		t.Fatalf("got %d handlers, want 2", len(handlers))
	}
	find, count := handlers[0], handlers[1]
	if find.Func != "find" || !find.Context || !find.RequestPointer || find.Receiver.Pointer ||
		find.Receiver.Type != "service" {
		t.Errorf("handler %+v", find)
	}
	if find.Request.Text != count.Request.Text {
		t.Error("two uses of one type have two shapes")
	}
	want := []gen.Param{{Name: "text", Type: "string", Description: "What to look for"}}
	if diff := cmp.Diff(want, find.Operation.Params, ignoreGo); diff != "" {
		t.Errorf("parameters (-want +got):\n%s", diff)
	}
	if got := find.Operation.Returns.Name + " " + count.Operation.Returns.Name; got != "StringList Integer" {
		t.Errorf("returns %s", got)
	}
}

// Handlers come in the order of their source: by file name, then by place.
func TestHandlerOrder(t *testing.T) {
	dir := scantest.Write(t, `
-- b.go --
package app

type R1 struct {
	_ struct{} `+"`aql:\"category=READ\"`"+`
}

// GetB reads.
func GetB(R1) error { return nil }
-- a.go --
package app

type R2 struct {
	_ struct{} `+"`aql:\"category=READ\"`"+`
}

// GetZ reads.
func GetZ(R2) error { return nil }

type R3 struct {
	_ struct{} `+"`aql:\"category=READ\"`"+`
}

// GetA reads.
func GetA(R3) error { return nil }
`)
	result := scantest.Load(t, dir)
	clean(t, dir, result)
	var got []string
	for _, handler := range result.Packages[0].Handlers {
		got = append(got, handler.Func)
	}
	if diff := cmp.Diff([]string{"GetZ", "GetA", "GetB"}, got); diff != "" {
		t.Errorf("order (-want +got):\n%s", diff)
	}
}

// quotedInteger is what T-110 has a definition say of an integer that travels as a string.
const quotedInteger = "An integer, as a string; a number is accepted between -(2^53-1) and 2^53-1."
