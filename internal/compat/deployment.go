package compat

import (
	"encoding/json"
	"slices"

	"github.com/aqltag/aqltag/runtime/describe"
	"github.com/aqltag/aqltag/runtime/gen"
)

// Deployment returns the surface and the metadata with which to render definitions so that they can be compared with
// the snapshot: those given, changed to how the adapter of the snapshot ran. That is its mode, profile and prefix, its
// limits, and, for operations whose danger level is the same, its confirmations. The changes that remain come from the
// source and not from options of the run. profileKnown is false if the snapshot's profile is not a shipped one: the
// families of operations are then guessed from the categories.
func (s *Snapshot) Deployment(
	a *gen.Definitions, surface describe.Surface, protocol describe.Protocol,
) (_ describe.Surface, _ describe.Protocol, profileKnown bool) {
	_, own := a.Operation(describe.ManifestName)
	surface.GetManifest = s.byName[describe.ManifestName] != nil && !own
	if mode, err := describe.ParseMode(s.protocol.Mode); err == nil {
		surface.Mode = mode
	}
	surface.Prefix = s.prefix()
	profileKnown = true
	if profile, err := describe.FindProfile(s.protocol.Profile, nil); err == nil {
		surface.Profile = profile
	} else {
		surface.Profile, profileKnown = s.profile(), false
	}

	protocol.Limits = describe.Limits{}
	if limits, err := json.Marshal(s.protocol.Limits); err == nil {
		// Adapters of this runtime have no limits that are not numbers.
		_ = json.Unmarshal(limits, &protocol.Limits)
	}
	protocol.Concurrency, protocol.SupportsETag = s.protocol.Concurrency, s.protocol.SupportsETag
	protocol.MaxConcurrentRequests = s.protocol.MaxConcurrent
	protocol.Queries = s.queries()
	confirms := string(s.protocol.Capabilities["confirmation"]) == "true"
	protocol.Capabilities.Confirmation = confirms
	gate := protocol.Gate
	protocol.Gate = func(o *gen.Operation) describe.Gating {
		before := s.byName[o.Name]
		switch {
		case before != nil && gen.Danger(before.notes.danger).Level() == max(o.Danger.Level(), 0):
			if before.notes.typed != o.TypeToConfirm { // that a user approves may come from the source, and no longer does
				return describe.Gating(before.notes.gating.byToken())
			}
			return describe.Gating(before.notes.gating)
		case gate == nil, !confirms:
			return describe.Ungated
		default:
			return gate(o)
		}
	}
	return surface, protocol, profileKnown
}

// profile returns a profile with the families of the snapshot, each with the categories of its operations.
func (s *Snapshot) profile() describe.Profile {
	p := describe.Profile{Name: s.protocol.Profile}
	taken := make(map[gen.Category]bool)
	index := make(map[string]int)
	family := func(name string) *describe.Family {
		if _, has := index[name]; !has {
			index[name] = len(p.Families)
			p.Families = append(p.Families, describe.Family{Name: name})
		}
		return &p.Families[index[name]]
	}
	for _, o := range s.sequence {
		if o.Name == describe.IntrospectName {
			p.Introspect = o.Endpoint
			family(o.Endpoint)
			continue
		}
		f := family(o.Endpoint)
		if category := gen.Category(o.Category); !taken[category] && slices.Contains(gen.Categories(), category) {
			taken[category] = true
			f.Categories = append(f.Categories, category)
		}
	}
	for _, category := range gen.Categories() {
		if !taken[category] && len(p.Families) > 0 {
			p.Families[0].Categories = append(p.Families[0].Categories, category)
		}
	}
	return p
}

// queries returns the queries that introspect answers in addition to operations and types.
func (s *Snapshot) queries() []string {
	o := s.byName[describe.IntrospectName]
	if o == nil {
		return nil
	}
	var queries []string
	for _, p := range o.Parameters {
		if p.Name != "query" {
			continue
		}
		for _, text := range p.Enum {
			var query string
			if json.Unmarshal(text, &query) == nil && query != "operations" && query != "types" {
				queries = append(queries, query)
			}
		}
	}
	return queries
}
