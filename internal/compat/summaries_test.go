package compat_test

import (
	"testing"

	gocmp "github.com/google/go-cmp/cmp"

	"github.com/aqltag/aqltag/internal/compat"
	"github.com/aqltag/aqltag/runtime/gen"
)

// REQ-AG-05: a field to group by or to add up that goes away breaks clients, and so does a function.
func TestChangesOfSummaries(t *testing.T) {
	with := func(group, sum []string) *compat.Snapshot {
		s := newService()
		o := s.operation("list_notes")
		o.Params = append(o.Params, gen.Param{Name: "aggregate", Type: "object", Items: &gen.Param{Type: "NoteSummary"}})
		summary := gen.Type{Name: "NoteSummary", Kind: gen.KindObject, Fields: []gen.Param{{Name: "count", Type: "boolean"}}}
		for _, function := range []gen.Param{
			{Name: "group_by", Type: "string", Enum: group}, {Name: "sum", Type: "string", Enum: sum},
		} {
			if function.Enum != nil {
				summary.Fields = append(summary.Fields, function)
			}
		}
		s.adapter.Types = append(s.adapter.Types, summary)
		return s.snapshot(t)
	}
	all := with([]string{"owner", "tags"}, []string{"size", "cost"})
	for _, tt := range []struct {
		name  string
		after *compat.Snapshot
		want  []string
	}{
		{"nothing", with([]string{"owner", "tags"}, []string{"size", "cost"}), []string{}},
		{"a group more", with([]string{"owner", "tags", "size"}, []string{"size", "cost"}), []string{}},
		{"a group", with([]string{"owner"}, []string{"size", "cost"}),
			[]string{"breaking enum-narrowed NoteSummary group_by"}},
		{"a sum", with([]string{"owner", "tags"}, []string{"cost"}), []string{"breaking enum-narrowed NoteSummary sum"}},
		{"all sums", with([]string{"owner", "tags"}, nil), []string{"breaking field-removed NoteSummary sum"}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			breaking := []string{}
			for _, c := range compat.Compare(all, tt.after) {
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
