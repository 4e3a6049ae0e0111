package gotype_test

import (
	"go/types"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/aqltag/aqltag/internal/scan/gotype"
	"github.com/aqltag/aqltag/internal/scan/sourcetest"
	"github.com/aqltag/aqltag/model"
)

var texts = map[string]string{
	"example.com/app": `package app

import (
	"example.com/ext"
	"example.com/other/internal/hidden"
	"time"
)

type own struct{}

type G[K comparable, V any] struct{ k K; v V }

var (
	Own       own
	Map       map[string][]*ext.E
	Generic   G[time.Time, *own]
	Function  func(time.Time) error
	Struct    struct{ own own }
	Internal  hidden.H
	Unnamed   = ext.New()
)
`,
	"example.com/ext": "package ext\n\ntype E struct{}\n\ntype unexported struct{}\n\n" +
		"func New() unexported { return unexported{} }\n",
	"example.com/other/internal/hidden": "package hidden\n\ntype H struct{}\n",
}

// Generated code can name the types of its own package, and the exported ones of packages that it may import.
func TestSpell(t *testing.T) {
	ext := model.Import{Path: "example.com/ext", Name: "ext"}
	time := model.Import{Path: "time", Name: "time"}
	tests := map[string]struct {
		want model.GoType
		ok   bool
	}{
		"Own":      {model.GoType{Text: "own"}, true},
		"Map":      {model.GoType{Text: "map[string][]*ext.E", Imports: []model.Import{ext}}, true},
		"Generic":  {model.GoType{Text: "G[time.Time, *own]", Imports: []model.Import{time}}, true},
		"Function": {model.GoType{Text: "func(time.Time) error", Imports: []model.Import{time}}, true},
		"Struct":   {model.GoType{Text: "struct{own own}"}, true},
		"Internal": {model.GoType{}, false},
		"Unnamed":  {model.GoType{}, false},
	}
	own := check(t)
	speller := gotype.NewSpeller(own)
	for name, tt := range tests {
		got, ok := speller.Spell(own.Scope().Lookup(name).Type())
		if diff := cmp.Diff(tt.want, got); diff != "" || ok != tt.ok {
			t.Errorf("%s: %t (-want +got):\n%s", name, ok, diff)
		}
	}
}

// Is compares types by the package that declares them.
func TestIs(t *testing.T) {
	own := check(t)
	generic := own.Scope().Lookup("Generic").Type()
	if !gotype.Is(generic, "example.com/app", "G") || gotype.Is(generic, "example.com/ext", "G") ||
		gotype.Is(types.Typ[types.Int], "", "int") {
		t.Error("a type is taken for another")
	}
	if got := gotype.Text(own.Scope().Lookup("Map").Type(), own); got != "map[string][]*ext.E" {
		t.Errorf("got %s", got)
	}
}

func check(t *testing.T) *types.Package {
	t.Helper()
	_, own := sourcetest.Check(t, "example.com/app", texts)
	return own
}
