package scan_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/aqltag/aqltag/internal/scan"
	"github.com/aqltag/aqltag/internal/scan/shapes"
	"github.com/aqltag/aqltag/internal/scantest"
	"github.com/aqltag/aqltag/model"
	"github.com/aqltag/aqltag/runtime/gen"
)

// shapeText is a shape in short: kind, Go name, wire type, and the fields of structs, each struct once.
func shapeText(shape *shapes.Shape, seen map[*shapes.Shape]bool) string {
	name := shape.Go.Name
	if shape.Go.PkgPath != "" && shape.Go.PkgPath != "example.com/app" {
		name = shape.Go.PkgName + "." + name
	}
	for _, arg := range shape.Go.Args {
		name += "<" + shapeText(arg, seen) + ">"
	}
	if name != "" {
		name = " " + name
	}
	switch shape.Kind {
	case shapes.Int, shapes.Uint, shapes.Float:
		return fmt.Sprintf("%s%d%s", shape.Kind, shape.Bits, name)
	case shapes.Pointer:
		return "*" + shapeText(shape.Elem, seen) + name
	case shapes.Slice:
		return "[]" + shapeText(shape.Elem, seen) + name
	case shapes.Array:
		return fmt.Sprintf("[%d]%s%s", shape.Len, shapeText(shape.Elem, seen), name)
	case shapes.Map:
		return fmt.Sprintf("map[%s]%s%s", shapeText(shape.Key, seen), shapeText(shape.Elem, seen), name)
	case shapes.Patch:
		return "patch of " + shapeText(shape.Elem, seen)
	case shapes.Struct:
		if seen[shape] {
			return "struct" + name
		}
		seen[shape] = true
		var fields []string
		for _, f := range shape.Fields {
			fields = append(fields, fmt.Sprintf("%s=%s", f.Param.Name, shapeText(f.Shape, seen)))
		}
		return fmt.Sprintf("struct%s{%s}", name, strings.Join(fields, " "))
	}
	return string(shape.Kind) + name
}

// request is the request shape of the only operation of a package with these declarations.
func request(t *testing.T, declarations string) *shapes.Shape {
	t.Helper()
	source := "package app\n\n" + declarations + "\n\n// Get reads.\nfunc Get(Request) error { return nil }\n"
	one(t, source)
	shape, err := scan.RequestShape(t.Context(), scan.Options{
		Dir: scantest.Write(t, "-- app.go --\n"+source), Env: []string{"GOWORK=off", "GOFLAGS=", "GOPROXY=off"},
	})
	if err != nil {
		t.Fatal(err)
	}
	return shape
}

// Every kind of type has its shape and its type on the wire (design §3.3).
func TestShapes(t *testing.T) {
	tests := []struct {
		goType string
		shape  string
		wire   string
	}{
		{"bool", "bool", "boolean"},
		{"int", "int0", "integer"},
		{"int8", "int8", "integer"},
		{"rune", "int32", "integer"},
		{"int64", "int64", "integer"},
		{"uint", "uint0", "integer"},
		{"byte", "uint8", "integer"},
		{"uint64", "uint64", "integer"},
		{"float32", "float32", "number float"},
		{"float64", "float64", "number"},
		{"string", "string", "string"},
		{"Count", "int32 Count", "integer"},
		{"Color", "string Color", "Color"},
		{"Text", "string Text", "string"},
		{"time.Duration", "int64 time.Duration", "integer"},
		{"time.Time", "time time.Time", "string date-time"},
		{"*time.Time", "*time time.Time", "string date-time"},
		{"[]byte", "bytes", "string byte"},
		{"Blob", "bytes Blob", "string byte"},
		{"any", "any", "any"},
		{"interface{}", "any", "any"},
		{"**int", "**int0", "integer"},
		{"[]string", "[]string", "array of string"},
		{"[][]Color", "[][]string Color", "array of array of Color"},
		{"[3]int", "[3]int0", "array of integer"},
		{"[2]byte", "[2]uint8", "array of integer"},
		{"map[string]int", "map[string]int0", "object of integer"},
		{"map[Color][]bool", "map[string Color][]bool", "object of array of boolean"},
		{"Words", "[]string Words", "array of string"},
		{"Alias", "[]string", "array of string"},
		{"Tree", "struct Tree{children=[]*struct Tree}", "Tree"},
		{
			"Page[Item]", "struct Page<struct Item{name=string}>{items=[]struct Item next=*struct Page<struct Item>}",
			"ItemPage",
		},
		{"Pair[int, []string]", "struct Pair<int0><[]string>{a=int0 b=[]string}", "IntegerStringListPair"},
		{"struct{ X int }", "struct{x=int0}", "RequestV"},
		{"url.Userinfo", "struct url.Userinfo{}", "Userinfo"},
		{"sql.IsolationLevel", "int0 sql.IsolationLevel", "integer"},
	}
	const declarations = `
import (
	"database/sql"
	"net/url"
	"time"
)

type (
	Count int32
	Color string
	Text  string
	Blob  []byte
	Words []string
	Alias = []string
	Item  struct{ Name string }
	Tree  struct{ Children []*Tree }
	Page[T any] struct {
		Items []T
		Next  *Page[T]
	}
	Pair[A, B any] struct {
		A A
		B B
	}
)

const Red Color = "red"

var _ = sql.ErrNoRows
var _ url.URL
var _ time.Time

`
	var fields strings.Builder
	for i, tt := range tests {
		fmt.Fprintf(&fields, "\tV%d %s `json:\"v%d\"`\n", i, tt.goType, i)
	}
	shape := request(t, declarations+"type Request struct {\n\t_ struct{} `aql:\"category=READ\"`\n"+fields.String()+"}\n")
	for i, tt := range tests {
		t.Run(tt.goType, func(t *testing.T) {
			field := shape.Fields[slices.IndexFunc(shape.Fields, func(f shapes.Field) bool {
				return f.Param.Name == fmt.Sprintf("v%d", i)
			})]
			if got := shapeText(field.Shape, map[*shapes.Shape]bool{}); got != tt.shape {
				t.Errorf("shape %s, want %s", got, tt.shape)
			}
			got := strings.TrimSuffix(wireText(field.Param), fmt.Sprint(i)) // the field's own number, in RequestV33
			if got != tt.wire {
				t.Errorf("wire type %s, want %s", got, tt.wire)
			}
		})
	}
}

func wireText(param gen.Param) string {
	text := param.Type
	if param.Format != "" {
		text += " " + param.Format
	}
	if param.Items != nil {
		text += " of " + wireText(*param.Items)
	}
	return text
}

// Types that contain themselves through slices and maps end.
func TestRecursiveTypesEnd(t *testing.T) {
	shape := request(t, `
type Nest []Nest

type Dirs map[string]Dirs

type Request struct {
	_ struct{} `+"`aql:\"category=READ\"`"+`
	A Nest
	B Dirs
	C *Mutual
}

type Mutual struct{ Other *Other }

type Other struct{ Back []Mutual }
`)
	if a := shape.Fields[0].Shape; a.Elem != a {
		t.Error("the element of Nest is not Nest itself")
	}
	if b := shape.Fields[1].Shape; b.Elem != b {
		t.Error("the element of Dirs is not Dirs itself")
	}
	c := shape.Fields[2].Shape.Elem
	if c.Fields[0].Shape.Elem.Fields[0].Shape.Elem != c {
		t.Error("Mutual does not come back to itself")
	}
}

// Fields follow encoding/json: embedding, shadowing by depth and by tag, names from tags.
func TestFields(t *testing.T) {
	shape := request(t, `
import "time"

type Base struct {
	ID      string `+"`json:\"id\"`"+`
	Shadow  string `+"`json:\"shadow\"`"+`
	Deep
}

type Deep struct {
	Shadow string `+"`json:\"shadow\"`"+`
	Bottom string
}

type Named struct{ X int }

type lower struct{ Promoted int }

type Word string

type Request struct {
	_ struct{} `+"`aql:\"category=READ\"`"+`
	*Base
	Named `+"`json:\"named\"`"+`
	lower
	Word
	Shadow     int    `+"`json:\"shadow,omitempty\"`"+`
	HTTPServer string
	Tagged     string `+"`json:\"from_json\" aql:\"name=from_aql\"`"+`
	NoName     string `+"`json:\",omitempty\"`"+`
	Number     int64  `+"`json:\"number,string\"`"+`
	Since      time.Time `+"`json:\"since,omitzero\"`"+`
	Gone       string `+"`json:\"-\"`"+`
	unexported string
}
`)
	type field struct {
		Name     string
		Selector string
		Flags    string
	}
	var got []field
	for _, f := range shape.Fields {
		flags := ""
		for flag, set := range map[string]bool{
			"omitempty": f.Param.OmitEmpty, "omitzero": f.Param.OmitZero, "string": f.Param.Quoted,
		} {
			if set {
				flags = flag
			}
		}
		got = append(got, field{f.Param.Name, strings.Join(f.Selector, "."), flags})
	}
	want := []field{
		{"id", "Base.ID", ""},
		{"bottom", "Base.Deep.Bottom", ""},
		{"named", "Named", ""},
		{"promoted", "lower.Promoted", ""},
		{"word", "Word", ""},
		{"shadow", "Shadow", "omitempty"},
		{"http_server", "HTTPServer", ""},
		{"from_aql", "Tagged", ""},
		{"no_name", "NoName", "omitempty"},
		{"number", "Number", "string"},
		{"since", "Since", "omitzero"},
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("fields (-want +got):\n%s", diff)
	}
}

// A guard repeats a struct as Go declares it, blank and unexported fields included. Of a struct of another package it
// repeats what travels.
func TestGuards(t *testing.T) {
	pkg := one(t, `package app

import (
	"net/url"
	"sync"
	"time"

	aql "github.com/aqltag/aqltag/runtime"
)

type Base struct{ X int }

type Request struct {
	_ struct{} `+"`aql:\"category=UPDATE,op=update_it\"`"+`
	Base
	Input  aql.Patch[Base] `+"`json:\"input\"`"+`
	At     map[string]*time.Time
	URL    url.URL
	Once   Once
	Fn     func(time.Duration) error `+"`json:\"-\"`"+`
	hidden *sync.Mutex
}

type Once struct{ sync.Mutex }

// Get reads.
func Get(Request) error { return nil }
`)
	clock := model.Import{Path: "time", Name: "time"}
	want := model.Guard{Type: model.GoType{Text: "Request"}, Whole: true, Fields: []model.GuardField{
		{Name: "_", Type: model.GoType{Text: "struct{}"}},
		{Name: "Base", Type: model.GoType{Text: "Base"}},
		{Name: "Input", Type: model.GoType{
			Text: "aql.Patch[Base]", Imports: []model.Import{{Path: "github.com/aqltag/aqltag/runtime", Name: "aql"}},
		}},
		{Name: "At", Type: model.GoType{Text: "map[string]*time.Time", Imports: []model.Import{clock}}},
		{Name: "URL", Type: model.GoType{Text: "url.URL", Imports: []model.Import{{Path: "net/url", Name: "url"}}}},
		{Name: "Once", Type: model.GoType{Text: "Once"}},
		{Name: "Fn", Type: model.GoType{Text: "func(time.Duration) error", Imports: []model.Import{clock}}},
		{Name: "hidden", Type: model.GoType{Text: "*sync.Mutex", Imports: []model.Import{{Path: "sync", Name: "sync"}}}},
	}}
	if diff := cmp.Diff(want, pkg.Guards[0]); diff != "" {
		t.Errorf("guard (-want +got):\n%s", diff)
	}
	var names []string
	for _, guard := range pkg.Guards {
		names = append(names, guard.Type.Text)
		if guard.Type.Text == "url.URL" && guard.Whole {
			t.Error("a struct of another package is guarded as a whole, so that its next release breaks the build")
		}
	}
	if diff := cmp.Diff([]string{"Request", "Base", "url.URL", "Once"}, names); diff != "" {
		t.Errorf("guarded (-want +got):\n%s", diff)
	}
}

// Two types of one name get the name of their package in front, except the package's own: types.Status is
// TypesStatus.
func TestTypeNameCollisions(t *testing.T) {
	dir := scantest.Write(t, `
-- app.go --
package app

import (
	"example.com/app/types"
	other "example.com/app/v2/types"
)

type Status struct{ A int }

type Request struct {
	_ struct{} `+"`aql:\"category=READ\"`"+`
	A Status
	B types.Status
	C other.Status
	D types.Kind
	E OperationResult
}

type OperationResult struct{ A int }

// Get reads.
func Get(Request) ([]types.Status, error) { return nil, nil }
-- types/types.go --
package types

type Status struct{ B int }

type Kind string

const (
	// One is the first.
	One    Kind = "one"
	hidden Kind = "hidden"
)
-- v2/types/types.go --
package types

type Status struct{ C int }
`)
	result := scantest.Load(t, dir)
	clean(t, dir, result)
	pkg := result.Packages[0]
	var names []string
	for _, definition := range pkg.Types {
		names = append(names, definition.Name)
	}
	want := []string{"AppOperationResult", "Kind", "Status", "StatusList", "TypesStatus", "TypesStatus2"}
	if diff := cmp.Diff(want, names); diff != "" {
		t.Errorf("types (-want +got):\n%s", diff)
	}
	op := pkg.Handlers[0].Operation
	var got []string
	for _, param := range op.Params {
		got = append(got, param.Type)
	}
	if diff := cmp.Diff([]string{"Status", "TypesStatus", "TypesStatus2", "Kind", "AppOperationResult"}, got); diff != "" {
		t.Errorf("parameter types (-want +got):\n%s", diff)
	}
	if diff := cmp.Diff([]string{"one"}, op.Params[3].Enum); diff != "" {
		t.Errorf("unexported constants of another package are no values (-want +got):\n%s", diff)
	}
}

// Bare results have a type of their own, as introspection has no arrays (T-90, REQ-TY-06).
func TestReturns(t *testing.T) {
	tests := map[string]gen.Returns{
		"error":              {Name: "Nothing", Kind: gen.KindScalar, Description: "No data (null)."},
		"(string, error)":    {Name: "String", Kind: gen.KindScalar, Description: "JSON string."},
		"(*int, error)":      {Name: "Integer", Kind: gen.KindScalar, Description: "JSON integer.", Nullable: true},
		"(time.Time, error)": {Name: "DateTime", Kind: gen.KindScalar, Description: "Date and time, RFC 3339."},
		"([]byte, error)":    {Name: "Bytes", Kind: gen.KindScalar, Description: "Bytes, base64."},
		"(any, error)":       {Name: "Any", Kind: gen.KindScalar, Description: "Any JSON value."},
		"(Level, error)":     {Name: "Level", Kind: gen.KindEnum, Description: "How loud."},
		"(Item, error)":      {Name: "Item", Kind: gen.KindObject, Description: "An item."},
		"([]Item, error)":    {Name: "ItemList", Kind: gen.KindObject, Description: "List of Item in items."},
		"([]*Item, error)":   {Name: "ItemList", Kind: gen.KindObject, Description: "List of Item in items."},
		"(*[]string, error)": {
			Name: "StringList", Kind: gen.KindObject, Description: "List of string in items.", Nullable: true,
		},
		"(map[string]Item, error)": {Name: "ItemMap", Kind: gen.KindObject, Description: "Object whose members have " +
			"type Item."},
		"(result *Item, err error)": {Name: "Item", Kind: gen.KindObject, Description: "An item.", Nullable: true},
		"([]map[string][]Level, error)": {
			Name: "LevelListMapList", Kind: gen.KindObject, Description: "List of object in items.",
		},
	}
	var archive strings.Builder // a package for each, as loading one costs as much as loading all
	folders := make(map[string]string)
	for results := range tests {
		folder := fmt.Sprintf("returns%d", len(folders))
		folders["example.com/app/"+folder] = results
		fmt.Fprintf(&archive, "-- %[1]s/%[1]s.go --\npackage %[1]s\n%s", folder, `
import "time"

// Item is an item.
type Item struct{ Name string }

// Level is how loud.
type Level string

const Loud Level = "loud"

var _ time.Time

type Request struct {
	_ struct{} `+"`aql:\"category=READ\"`"+`
}

// Get reads.
func Get(Request) `+results+` { panic("") }
`)
	}
	dir := scantest.Write(t, archive.String())
	result := scantest.Load(t, dir, "./...")
	if text := scantest.Render(t, dir, result); result.HasErrors() || len(result.Packages) != len(tests) {
		t.Fatalf("%d packages, want %d:\n%s", len(result.Packages), len(tests), text)
	}
	for _, pkg := range result.Packages {
		results := folders[pkg.Path]
		t.Run(results, func(t *testing.T) {
			want := tests[results]
			if diff := cmp.Diff(want, pkg.Handlers[0].Operation.Returns); diff != "" {
				t.Errorf("returns (-want +got):\n%s", diff)
			}
			found := false
			for _, definition := range pkg.Types {
				found = found || definition.Name == want.Name && definition.Kind == want.Kind
			}
			if !found {
				t.Errorf("type %s is not registered: %v", want.Name, pkg.Types)
			}
		})
	}
}
