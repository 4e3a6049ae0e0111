package generate_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/aqltag/aqltag/internal/generate"
	"github.com/aqltag/aqltag/model"
	"github.com/aqltag/aqltag/runtime/gen"
)

// pkg is a package with one operation and one type.
func pkg(name, operation string, t gen.Type) model.Package {
	return model.Package{
		Path: "example.com/" + name, Name: name, Types: []gen.Type{t},
		Handlers: []model.Handler{{Operation: gen.Operation{Name: operation}}},
	}
}

// Packages that share no operation and agree on their types are one adapter, by the name of the first.
func TestAdapter(t *testing.T) {
	note, other := gen.Type{Name: "Note", Kind: gen.KindObject}, gen.Type{Name: "Note", Kind: gen.KindScalar}
	got, err := generate.Adapter([]model.Package{pkg("a", "get_a", note), pkg("b", "get_b", note)})
	want := &gen.Definitions{
		Name: "a", Operations: []gen.Operation{{Name: "get_a"}, {Name: "get_b"}}, Types: []gen.Type{note},
	}
	if diff := cmp.Diff(want, got); diff != "" || err != nil {
		t.Errorf("%v (-want +got):\n%s", err, diff)
	}
	// B10, as in aql.Merge: types of one name that differ have the names of their packages in front.
	first, second := pkg("a", "get_a", note), pkg("b", "get_b", other)
	first.Handlers[0].Operation.Source, second.Handlers[0].Operation.Source = "a/a.go:1", "b/b.go:1"
	got, err = generate.Adapter([]model.Package{first, second})
	want = &gen.Definitions{
		Name: "a", Operations: []gen.Operation{{Name: "get_a", Source: "a/a.go:1"}, {Name: "get_b", Source: "b/b.go:1"}},
		Types: []gen.Type{{Name: "ANote", Kind: gen.KindObject}, {Name: "BNote", Kind: gen.KindScalar}},
	}
	if diff := cmp.Diff(want, got); diff != "" || err != nil {
		t.Errorf("%v (-want +got):\n%s", err, diff)
	}
	// B10: where folders do not tell them apart, they are numbered.
	got, err = generate.Adapter([]model.Package{pkg("a", "get_a", note), pkg("b", "get_b", other)})
	want = &gen.Definitions{
		Name: "a", Operations: []gen.Operation{{Name: "get_a"}, {Name: "get_b"}},
		Types: []gen.Type{{Name: "Note1", Kind: gen.KindObject}, {Name: "Note2", Kind: gen.KindScalar}},
	}
	if diff := cmp.Diff(want, got); diff != "" || err != nil {
		t.Errorf("%v (-want +got):\n%s", err, diff)
	}
	if _, err := generate.Adapter([]model.Package{pkg("a", "get_a", note), pkg("b", "get_a", note)}); err == nil {
		t.Error("two operations of one name were joined")
	}
}
