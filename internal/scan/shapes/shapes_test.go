package shapes_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/aqltag/aqltag/internal/scan/shapes"
	"github.com/aqltag/aqltag/internal/scan/sourcetest"
	"github.com/aqltag/aqltag/internal/scan/tags"
)

// describe is a shape in short.
func describe(s *shapes.Shape) string {
	switch s.Kind {
	case shapes.Pointer:
		return "*" + describe(s.Elem)
	case shapes.Slice:
		return "[]" + describe(s.Elem)
	case shapes.Map:
		return fmt.Sprintf("map[%s]%s", describe(s.Key), describe(s.Elem))
	case shapes.Patch, shapes.Optional:
		return fmt.Sprintf("%s of %s", s.Kind, describe(s.Elem))
	case shapes.Struct:
		var names []string
		for _, field := range s.Fields {
			names = append(names, strings.Join(field.Selector, "."))
		}
		return fmt.Sprintf("struct %s{%s}", s.Go.Name+s.Label, strings.Join(names, " "))
	}
	return string(s.Kind)
}

// A type has the shape that encoding/json gives it, or a reason why it has none.
func TestOf(t *testing.T) {
	tests := map[string]struct{ declaration, shape, fault string }{
		"basic":       {"type T bool", "bool", ""},
		"bytes":       {"type T []byte", "bytes", ""},
		"named bytes": {"type T []B; type B byte", "bytes", ""},
		"list":        {"type T []*string", "[]*string", ""},
		"map":         {"type T map[int]any", "map[int]any", ""},
		"time":        {"type T []time.Time", "[]time", ""},
		"patch":       {"type T struct { P aql.Patch[U] }; type U struct{ A string }", "struct T{P}", ""},
		"optional":    {"type T []aql.Optional[int]", "[]optional of int", ""},
		"embedded":    {"type T struct { U; C int }; type U struct { A, B int }", "struct T{U.A U.B C}", ""},
		"shadowed":    {"type T struct { U; A int }; type U struct { A, B int }", "struct T{U.B A}", ""},
		"hidden":      {"type T struct { A, b int; C int `json:\"-\"` }", "struct T{A}", ""},
		"text":        {"type T struct{}; func (T) MarshalText() ([]byte, error) { return nil, nil }", "text", ""},
		"own JSON":    {"type T struct{}; func (*T) UnmarshalJSON([]byte) error { return nil }", "json", ""},
		"a channel":   {"type T chan int", "", "channel T cannot be carried as JSON"},
		"a function":  {"type T []func()", "", "func() cannot be carried as JSON"},
		"complex":     {"type T complex64", "", "T cannot be carried as JSON"},
		"keys":        {"type T map[bool]int", "", "maps with keys of type bool cannot be carried as JSON"},
		"itself":      {"type T *T", "", "T is a pointer to itself, so no value of it ends"},
		// A12: the generated code named fields that it cannot see.
		"stripped": {"type T time.Time", "", "T has the hidden fields of time.Time without its methods"},
		// A12: the string option on a pointer to the struct itself crashed the generator.
		"a quoted loop": {"type T = *U; type U struct { Next *U `json:\"next,string\"` }", "*struct U{Next}", ""},
		"an open question": {"type T interface{ M() }; type U struct{}; func (U) M() {}", "", "interface T cannot be " +
			"carried"},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			text := "package app\n\nimport (\n\taql \"" + sourcetest.Runtime + "\"\n\t\"time\"\n)\n\n" +
				"var _ aql.Patch[time.Time]\n\n" + tt.declaration
			program, own := sourcetest.Check(t, "example.com/app", map[string]string{"example.com/app": text})
			maker := shapes.NewMaker(program, tags.NewReader(program), own)
			shape, fault := maker.Of(own.Scope().Lookup("T").Type(), "")
			switch {
			case fault != nil && (tt.fault == "" || !strings.HasPrefix(fault.Message, tt.fault)):
				t.Errorf("got the fault %q, want %q", fault.Message, tt.fault)
			case fault == nil && tt.fault != "":
				t.Errorf("got %s, want the fault %q", describe(shape), tt.fault)
			case fault == nil && describe(shape) != tt.shape:
				t.Errorf("got %s, want %s", describe(shape), tt.shape)
			}
			if len(program.Diagnostics) > 0 {
				t.Errorf("diagnostics: %v", program.Diagnostics)
			}
		})
	}
}

// A recursive type is a cycle of shapes, and the structs come after those that they mention.
func TestNewStructs(t *testing.T) {
	const text = "package app\n\ntype T struct { Next *T; U U; In struct { U []U } }\n\ntype U struct { A int }\n"
	program, own := sourcetest.Check(t, "example.com/app", map[string]string{"example.com/app": text})
	maker := shapes.NewMaker(program, tags.NewReader(program), own)
	shape, fault := maker.Of(own.Scope().Lookup("T").Type(), "")
	if fault != nil {
		t.Fatal(fault.Message)
	}
	if shape.Fields[0].Shape.Elem != shape {
		t.Error("the type within itself has another shape")
	}
	var names []string
	for _, s := range maker.NewStructs() {
		names = append(names, s.Go.Name+s.Label)
	}
	if diff := cmp.Diff([]string{"U", "TIn", "T"}, names); diff != "" {
		t.Errorf("structs (-want +got):\n%s", diff)
	}
	if again := maker.NewStructs(); len(again) > 0 {
		t.Errorf("%d structs are new twice", len(again))
	}
}

// Fields of other modules that cannot be carried are not reported where the user cannot edit them.
func TestForeign(t *testing.T) {
	texts := map[string]string{
		"example.com/app": "package app\n\nimport \"example.com/ext\"\n\ntype T struct { E ext.E; Mine chan int }\n",
		"example.com/ext": "package ext\n\ntype E struct { C chan int; N int }\n",
	}
	program, own := sourcetest.Check(t, "example.com/app", texts)
	maker := shapes.NewMaker(program, tags.NewReader(program), own)
	shape, fault := maker.Of(own.Scope().Lookup("T").Type(), "")
	if fault != nil {
		t.Fatal(fault.Message)
	}
	if !shape.Faulty || len(program.Diagnostics) != 1 || program.Diagnostics[0].FieldPath != "T.Mine" {
		t.Errorf("faulty %t, diagnostics %v", shape.Faulty, program.Diagnostics)
	}
	foreign := shape.Fields[0].Shape.Foreign
	if !slices.ContainsFunc(foreign, func(f shapes.ForeignFault) bool { return f.Field.Path == "E.C" }) {
		t.Errorf("got %v", foreign)
	}
}
