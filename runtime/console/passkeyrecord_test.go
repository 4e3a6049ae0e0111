package console_test

import (
	"context"
	"encoding/base64"
	"errors"
	"net/http"
	"net/url"
	"strings"
	"testing"
	"time"

	"github.com/aqltag/aqltag/runtime/audit"
	"github.com/aqltag/aqltag/runtime/console"
	"github.com/aqltag/aqltag/runtime/identity"
	"github.com/aqltag/aqltag/runtime/store"
	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
)

// forgetful is a store that keeps the passkeys of nobody while it is full.
type forgetful struct {
	store.Store
	full bool
}

func (f *forgetful) Put(
	ctx context.Context, key string, value []byte, old store.Version, ttl time.Duration,
) (store.Version, error) {
	if f.full && strings.HasPrefix(key, "console/passkeys/") {
		return 0, errors.New("the disk is full")
	}
	return f.Store.Put(ctx, key, value, old, ttl)
}

// That a person gets a passkey, or gives one up, is on record before it is done, and that it failed afterwards.
func TestPasskeysAreOnRecord(t *testing.T) {
	var kept []audit.Record
	var state *forgetful
	log := audit.New(audit.Options{Sinks: []audit.Sink{records{&kept}}, Wait: true})
	s := newSite(t, func(o *console.Options) {
		signing(o)
		state = &forgetful{Store: o.Store}
		o.Store, o.Audit = state, log
	})
	b := s.person("eve")
	removal := url.Values{"csrf": {b.token()}, "of": {base64.RawURLEncoding.EncodeToString([]byte{0})}}
	for _, tt := range []struct {
		full bool
		path string
		form url.Values
		want int
	}{
		{false, "/passkeys", b.registration("phone"), http.StatusSeeOther},
		{true, "/passkeys/remove", removal, http.StatusServiceUnavailable},
		{false, "/passkeys/remove", removal, http.StatusSeeOther},
		{true, "/passkeys", b.registration("stick"), http.StatusServiceUnavailable},
	} {
		state.full = tt.full
		if answer := b.post(tt.path, tt.form); answer.Code != tt.want {
			t.Errorf("%s: %d, want %d: %s", tt.path, answer.Code, tt.want, answer.Body)
		}
	}
	of := func(event audit.Event, outcome audit.Outcome, name string) audit.Record {
		return audit.Record{
			Time: s.now, Event: event, Adapter: "notes", Outcome: outcome, Reason: name, Rule: "console",
			Caller: identity.User("eve"),
		}
	}
	want := []audit.Record{
		of(audit.PasskeyRegistered, audit.Allowed, "phone"),
		of(audit.PasskeyRemoved, audit.Allowed, "phone"), of(audit.PasskeyRemoved, audit.Failure, "phone"),
		of(audit.PasskeyRemoved, audit.Allowed, "phone"),
		of(audit.PasskeyRegistered, audit.Allowed, "stick"), of(audit.PasskeyRegistered, audit.Failure, "stick"),
	}
	if diff := cmp.Diff(want, kept, cmpopts.IgnoreFields(audit.Record{}, "ID")); diff != "" {
		t.Error(diff)
	}
}

// A passkey that cannot be put on record is neither kept nor removed.
func TestUnrecordedPasskeys(t *testing.T) {
	log := audit.New(audit.Options{Sinks: []audit.Sink{records{new([]audit.Record)}}, Wait: true})
	s := newSite(t, func(o *console.Options) {
		signing(o)
		o.Audit = log
	})
	b := s.person("eve").register("phone")
	form := b.registration("stick")
	if err := log.Close(t.Context()); err != nil {
		t.Fatal(err)
	}
	removal := url.Values{"csrf": {b.token()}, "of": {base64.RawURLEncoding.EncodeToString([]byte{0})}}
	for path, form := range map[string]url.Values{"/passkeys": form, "/passkeys/remove": removal} {
		if answer := b.post(path, form); answer.Code != http.StatusServiceUnavailable {
			t.Errorf("%s: %d", path, answer.Code)
		}
	}
	if page := b.get("/passkeys").Body.String(); !strings.Contains(page, "phone") || strings.Contains(page, "stick") {
		t.Errorf("the passkeys: %s", page)
	}
}
