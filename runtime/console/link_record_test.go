package console_test

import (
	"net/http"
	"testing"

	"github.com/aqltag/aqltag/runtime/audit"
	"github.com/aqltag/aqltag/runtime/console"
	"github.com/aqltag/aqltag/runtime/identity"
	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
)

// Who logs in by a link is on record.
func TestLinksAreOnRecord(t *testing.T) {
	var kept []audit.Record
	log := audit.New(audit.Options{Sinks: []audit.Sink{records{&kept}}, Wait: true})
	s := newSite(t, func(o *console.Options) { o.Audit = log })
	path := s.link("eve")
	s.browser().get(path)
	for _, want := range []int{http.StatusSeeOther, http.StatusGone} {
		if answer := s.browser().post(path, nil); answer.Code != want {
			t.Errorf("%d, want %d: %s", answer.Code, want, answer.Body)
		}
	}
	want := []audit.Record{{
		Time: s.now, Event: audit.LinkUsed, Adapter: "notes", Outcome: audit.Success, Caller: identity.User("eve"),
	}}
	if diff := cmp.Diff(want, kept, cmpopts.IgnoreFields(audit.Record{}, "ID")); diff != "" {
		t.Error(diff)
	}
}

// A link whose use cannot be recorded lets nobody in.
func TestUnrecordedLinks(t *testing.T) {
	log := audit.New(audit.Options{Sinks: []audit.Sink{records{new([]audit.Record)}}, Wait: true})
	if err := log.Close(t.Context()); err != nil {
		t.Fatal(err)
	}
	s := newSite(t, func(o *console.Options) { o.Audit = log })
	b := s.browser()
	if answer := b.post(s.link("eve"), nil); answer.Code != http.StatusServiceUnavailable || len(b.cookies) > 0 {
		t.Errorf("%d, and the browser has %v", answer.Code, b.cookies)
	}
}
