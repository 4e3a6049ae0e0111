package compat_test

import (
	"testing"

	gocmp "github.com/google/go-cmp/cmp"

	"github.com/aqltag/aqltag/internal/compat"
	"github.com/aqltag/aqltag/runtime/gen"
)

// A relation that requests can select and that goes away, or leads elsewhere, breaks clients. One that is new does not.
func TestChangesOfSelectedRelations(t *testing.T) {
	with := func(relations ...gen.Param) *compat.Snapshot {
		s := newService()
		o := s.operation("list_notes")
		o.Params = append(o.Params, gen.Param{Name: "fields", Type: gen.TypeSelection, Presets: []string{"full"}})
		s.typ("Note").Related = relations
		return s.snapshot(t)
	}
	parent := gen.Param{Name: "parent", Type: "Note", Nullable: true}
	parents := gen.Param{Name: "parent", Type: "array", Items: &gen.Param{Type: "Note"}}
	replies := gen.Param{Name: "replies", Type: "array", Items: &gen.Param{Type: "Note"}}
	for _, tt := range []struct {
		name          string
		before, after *compat.Snapshot
		want          []string
	}{
		{"the same", with(parent, replies), with(parent, replies), []string{}},
		{"a new one", with(parent), with(parent, replies), []string{}},
		{"one less", with(parent, replies), with(parent), []string{"breaking field-removed Note replies"}},
		{"many instead of one", with(parent), with(parents), []string{"breaking type-changed Note parent"}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			breaking := []string{}
			for _, c := range compat.Compare(tt.before, tt.after) {
				if c.Class == compat.Breaking {
					breaking = append(breaking, brief(c))
				}
			}
			if diff := gocmp.Diff(tt.want, breaking); diff != "" {
				t.Errorf("what breaks (-want +got):\n%s", diff)
			}
		})
	}
}
