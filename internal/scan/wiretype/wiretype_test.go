package wiretype_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/aqltag/aqltag/internal/scan/params"
	"github.com/aqltag/aqltag/internal/scan/shapes"
	"github.com/aqltag/aqltag/internal/scan/sourcetest"
	"github.com/aqltag/aqltag/internal/scan/tags"
	"github.com/aqltag/aqltag/internal/scan/wiretype"
	"github.com/aqltag/aqltag/runtime/gen"
)

// definitions are the wire types of an operation that takes R and returns T, in short.
func definitions(t *testing.T, declarations string) []string {
	t.Helper()
	texts := map[string]string{
		"example.com/app": "package app\n\nimport (\n\taql \"" + sourcetest.Runtime + "\"\n\t\"example.com/ext\"\n)\n\n" +
			"var _ aql.Patch[ext.Status]\n\n" + declarations,
		"example.com/ext": "package ext\n\ntype Status struct { Code int `json:\"code\"` }\n",
	}
	program, own := sourcetest.Check(t, "example.com/app", texts)
	maker := shapes.NewMaker(program, tags.NewReader(program), own)
	var mentioned []*shapes.Shape
	for _, name := range []string{"R", "T"} {
		shape, fault := maker.Of(own.Scope().Lookup(name).Type(), name)
		if fault != nil {
			t.Fatal(fault.Message)
		}
		mentioned = append(mentioned, shape)
	}
	params.NewMaker(program, own).Fill(maker.NewStructs())
	set := wiretype.NewSet(program, own)
	set.AddHandler(mentioned[0], mentioned[1])
	set.AssignNames()
	for _, shape := range mentioned {
		set.Complete(shape)
	}
	set.Returns(mentioned[1])
	var list []string
	for _, d := range set.Definitions() {
		var fields []string
		for _, field := range d.Fields {
			fields = append(fields, field.Name+" "+field.Type)
		}
		slices.Sort(fields)
		list = append(list, fmt.Sprintf("%s %s {%s}", d.Kind, d.Name, strings.Join(fields, ", ")))
	}
	return list
}

// Types go by their Go names, and by what they are made of where they have none.
func TestDefinitions(t *testing.T) {
	tests := map[string]struct {
		declarations string
		want         []string
	}{
		"a resource": {
			"type R struct{}; type T struct { A string `json:\"a\"`; U *U `json:\"u\"` }; type U struct { B bool `json:\"b\"` }",
			[]string{"object T {a string, u U}", "object U {b boolean}"},
		},
		"a list": {
			"type R struct{}; type T []U; type U struct { B bool `json:\"b\"` }",
			[]string{"object U {b boolean}", "object UList {items array}"},
		},
		"a patch": {
			"type R struct { Input aql.Patch[U] }; type T struct{}; type U struct { B bool `json:\"b\"`; " +
				"C int `json:\"c\" aql:\"readonly\"` }",
			[]string{"object T {}", "object U {b boolean, c integer}", "object UPatch {b boolean}"},
		},
		"an enum": {
			"type R struct { E E }; const A E = \"a\"; type E string; type T struct{}",
			[]string{"enum E {}", "object T {}"},
		},
		"two types of one name": {
			"type R struct { S Status; E ext.Status }; type T struct{}; type Status struct{}",
			[]string{"object ExtStatus {code integer}", "object Status {}", "object T {}"},
		},
		"a type without a name": {
			"type R struct{}; type T struct { In struct { A int `json:\"a\"` } `json:\"in\"` }",
			[]string{"object T {in TIn}", "object TIn {a integer}"},
		},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			if diff := cmp.Diff(tt.want, definitions(t, tt.declarations)); diff != "" {
				t.Errorf("types (-want +got):\n%s", diff)
			}
		})
	}
}

// An operation without a result returns a type of its own.
func TestNothing(t *testing.T) {
	program, own := sourcetest.Check(t, "example.com/app", map[string]string{"example.com/app": "package app"})
	set := wiretype.NewSet(program, own)
	set.AddHandler(nil, nil)
	set.AssignNames()
	returns := set.Returns(nil)
	if list := set.Definitions(); len(list) != 1 || list[0].Name != returns.Name || list[0].Kind != gen.KindScalar {
		t.Errorf("got %+v, which returns %q", list, returns.Name)
	}
}

// Lists of maps and of structs, both without names, are different results (A12: comparing them crashed the generator).
func TestListsWithoutNames(t *testing.T) {
	const text = "package app\n\ntype T []map[string]*int\n\ntype U []struct{ A int }\n"
	program, own := sourcetest.Check(t, "example.com/app", map[string]string{"example.com/app": text})
	maker := shapes.NewMaker(program, tags.NewReader(program), own)
	set := wiretype.NewSet(program, own)
	for _, name := range []string{"T", "U"} {
		shape, fault := maker.Of(own.Scope().Lookup(name).Type().Underlying(), name)
		if fault != nil {
			t.Fatal(fault.Message)
		}
		set.AddHandler(nil, shape)
	}
	set.AssignNames()
	var names []string
	for _, d := range set.Definitions() {
		names = append(names, d.Name)
	}
	if diff := cmp.Diff([]string{"IntegerMapList", "U", "UList"}, names); diff != "" {
		t.Errorf("types (-want +got):\n%s", diff)
	}
}
