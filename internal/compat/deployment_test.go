package compat_test

import (
	"testing"

	"github.com/aqltag/aqltag/internal/compat"
	"github.com/aqltag/aqltag/runtime/describe"
	"github.com/aqltag/aqltag/runtime/gen"
	"github.com/google/go-cmp/cmp"
)

// What only the options of a run decide is no difference between an old version and a source that is fitted to it.
func TestDeploymentFitsTheSourceToTheRun(t *testing.T) {
	own := describe.Profile{Name: "own", Introspect: "learn", Families: []describe.Family{
		{Name: "learn"}, {Name: "use", Categories: []gen.Category{gen.Read, gen.Execute}},
		{Name: "edit", Categories: []gen.Category{gen.Create, gen.Update, gen.Delete}},
	}}
	for _, tt := range []struct {
		name    string
		run     func(s *service)
		unknown bool
	}{
		{"without options", func(*service) {}, false},
		{"in single mode", func(s *service) { s.surface.Mode = describe.Single }, false},
		{"in both", func(s *service) { s.surface.Mode = describe.All }, false},
		{"with a profile", func(s *service) { s.surface.Profile, _ = describe.FindProfile("semantic", nil) }, false},
		{"with a profile of its own", func(s *service) { s.surface.Profile = own }, true},
		{"with a prefix", func(s *service) { s.surface.Prefix = "notes_" }, false},
		{"with limits", func(s *service) { s.protocol.Limits = describe.Limits{RequestSize: 5, NestingDepth: 6} }, false},
		{"without stated limits", func(s *service) { s.protocol.Limits = describe.Limits{} }, false},
		{"serialized, without etags", func(s *service) {
			s.protocol.Concurrency, s.protocol.SupportsETag, s.protocol.MaxConcurrentRequests = "serialized", false, 0
		}, false},
		{"with get_manifest", func(s *service) { s.surface.GetManifest = true }, false},
		{"without queries", func(s *service) { s.protocol.Queries = nil }, false},
		{"without confirmation", func(s *service) { s.protocol.Gate, s.protocol.Capabilities.Confirmation = nil, false },
			false},
		{"with a policy", func(s *service) {
			s.protocol.Gate = func(o *gen.Operation) describe.Gating {
				return map[string]describe.Gating{"list_notes": describe.SometimesConfirmed, "delete_note": describe.Denied}[o.Name]
			}
		}, false},
	} {
		t.Run(tt.name, func(t *testing.T) {
			old, source := newService(), newService()
			tt.run(old)
			before := old.snapshot(t)
			var known bool
			source.surface, source.protocol, known = before.Deployment(&source.adapter, source.surface, source.protocol)
			if known == tt.unknown {
				t.Errorf("the profile is known: %v", known)
			}
			if got := briefs(compat.Compare(before, source.snapshot(t))); len(got) > 0 {
				t.Errorf("changes: %v", got)
			}
		})
	}
}

// A danger that the source raises is asked about as ever, unless the run asks for nothing.
func TestDeploymentAsksAboutNewDanger(t *testing.T) {
	for asks, want := range map[bool]int{true: 2, false: 1} {
		old, source := newService(), newService()
		if !asks {
			old.protocol.Gate, old.protocol.Capabilities.Confirmation = nil, false
		}
		before := old.snapshot(t)
		source.operation("list_notes").Danger = gen.Dangerous
		source.surface, source.protocol, _ = before.Deployment(&source.adapter, source.surface, source.protocol)
		changes := compat.Compare(before, source.snapshot(t))
		if got := compat.Count(changes, compat.Breaking); got != want {
			t.Errorf("asking %v: %d breaking changes, want %d: %v", asks, got, want, briefs(changes))
		}
	}
}

// What the source has a person type is compared, and where it asks for nothing of the kind, tokens confirm.
func TestDeploymentComparesWhatPeopleType(t *testing.T) {
	for name, tt := range map[string]struct {
		before, after string
		want          []string
	}{
		"nothing more": {"note_id", "", []string{
			"compatible confirmation-removed delete_note confirmation", "compatible typing-removed delete_note typed",
		}},
		"from now on": {"", "note_id", []string{
			"breaking confirmation-added delete_note confirmation", "breaking typing-added delete_note typed",
		}},
		"another parameter": {"note_id", "title", []string{"compatible typing-changed delete_note typed"}},
		"as before":         {"note_id", "note_id", []string{}},
	} {
		t.Run(name, func(t *testing.T) {
			old, source := newService(), newService()
			old.operation("delete_note").TypeToConfirm = tt.before
			source.operation("delete_note").TypeToConfirm = tt.after
			before := old.snapshot(t)
			source.surface, source.protocol, _ = before.Deployment(&source.adapter, source.surface, source.protocol)
			got := briefs(compat.Compare(before, source.snapshot(t)))
			if diff := cmp.Diff(tt.want, got); diff != "" {
				t.Error(diff)
			}
		})
	}
}
