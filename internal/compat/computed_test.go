package compat_test

import (
	"testing"

	gocmp "github.com/google/go-cmp/cmp"

	"github.com/aqltag/aqltag/internal/compat"
	"github.com/aqltag/aqltag/runtime/gen"
)

// REQ-CF-03: a computed field that goes away, or whose values are others, breaks clients. One that is new does not.
func TestChangesOfComputedFields(t *testing.T) {
	with := func(fields ...gen.Param) *compat.Snapshot {
		s := newService()
		o := s.operation("list_notes")
		o.Params = append(o.Params, gen.Param{Name: "fields", Type: gen.TypeSelection, Presets: []string{"full"}})
		s.typ("Note").Computed = fields
		return s.snapshot(t)
	}
	length, words := gen.Param{Name: "length", Type: "integer"}, gen.Param{
		Name: "words", Type: "array", Items: &gen.Param{Type: "string"},
	}
	text, numbers := gen.Param{Name: "length", Type: "string"}, gen.Param{
		Name: "words", Type: "array", Items: &gen.Param{Type: "integer"},
	}
	for _, tt := range []struct {
		name          string
		before, after *compat.Snapshot
		want          []string
	}{
		{"the same", with(length, words), with(length, words), []string{}},
		{"a new one", with(length), with(length, words), []string{}},
		{"one less", with(length, words), with(length), []string{"breaking field-removed list_notes computed.words"}},
		{"another type", with(length), with(text), []string{"breaking type-changed list_notes computed.length"}},
		{"other elements", with(words), with(numbers), []string{"breaking type-changed list_notes computed.words[]"}},
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
