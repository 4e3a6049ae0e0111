package compat_test

import (
	"testing"

	gocmp "github.com/google/go-cmp/cmp"

	"github.com/aqltag/aqltag/internal/compat"
	"github.com/aqltag/aqltag/runtime/gen"
)

// REQ-CQ-05: an operator, a field of a filter or a field to sort by that goes away breaks clients.
func TestChangesOfCollections(t *testing.T) {
	fields := func(owner, note, tags, due []string) []gen.Param {
		return gen.FilterFields("NoteFilter", []gen.Param{
			{Name: "owner", Type: "string", Filter: owner},
			{Name: "note", Type: "integer", Filter: note},
			{Name: "tags", Type: "array", Items: &gen.Param{Type: "string"}, Filter: tags},
			{Name: "due", Type: "string", Format: "date-time", Filter: due},
		}, nil)
	}
	text := gen.Operators(&gen.Param{Type: "string"})
	number := gen.Operators(&gen.Param{Type: "integer"})
	list := []string{"contains", "in", "all"}
	due := append(gen.Operators(&gen.Param{Type: "string", Format: "date-time"}), "null")
	for _, tt := range []struct {
		name       string
		before     []gen.Param
		after      []gen.Param
		there, ago []string
	}{
		{"nothing", fields(text, number, list, due), fields(text, number, list, due), []string{}, []string{}},
		{
			"an operator of a text", fields(text, number, list, due), fields([]string{"eq", "in"}, number, list, due),
			[]string{
				"breaking operator-removed NoteFilter owner", "breaking operator-removed NoteFilter owner",
				"breaking operator-removed NoteFilter owner", "breaking operator-removed NoteFilter owner",
				"breaking operator-removed NoteFilter owner", "breaking operator-removed NoteFilter owner",
				"breaking operator-removed NoteFilter owner",
			},
			[]string{
				"compatible operator-added NoteFilter owner", "compatible operator-added NoteFilter owner",
				"compatible operator-added NoteFilter owner", "compatible operator-added NoteFilter owner",
				"compatible operator-added NoteFilter owner", "compatible operator-added NoteFilter owner",
				"compatible operator-added NoteFilter owner",
			},
		},
		{
			"all of a list", fields(text, number, list, due), fields(text, number, list[:2], due),
			[]string{"breaking operator-removed NoteFilter tags"}, []string{"compatible operator-added NoteFilter tags"},
		},
		{
			"null", fields(text, number, list, due), fields(text, number, list, due[:len(due)-1]),
			[]string{"breaking operator-removed NoteFilter due"}, []string{"compatible operator-added NoteFilter due"},
		},
		{
			"a field", fields(text, number, list, due), fields(text, nil, list, due),
			[]string{"breaking field-removed NoteFilter note"}, []string{"compatible field-added NoteFilter note"},
		},
	} {
		t.Run(tt.name, func(t *testing.T) {
			with := func(fields []gen.Param) *compat.Snapshot {
				s := newService()
				*s.typ("Filter") = gen.Type{Name: "NoteFilter", Kind: gen.KindObject, Filters: "Note", Fields: fields}
				s.param("filter").Type = "NoteFilter"
				return s.snapshot(t)
			}
			before, after := with(tt.before), with(tt.after)
			if diff := gocmp.Diff(tt.there, briefs(withoutDescriptions(compat.Compare(before, after)))); diff != "" {
				t.Errorf("there (-want +got):\n%s", diff)
			}
			if diff := gocmp.Diff(tt.ago, briefs(withoutDescriptions(compat.Compare(after, before)))); diff != "" {
				t.Errorf("back (-want +got):\n%s", diff)
			}
		})
	}
}

func withoutDescriptions(changes []compat.Change) (rest []compat.Change) {
	for _, c := range changes {
		if c.Kind != "description-changed" {
			rest = append(rest, c)
		}
	}
	return rest
}
