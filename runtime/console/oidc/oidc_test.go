package oidc_test

import (
	"crypto/rand"
	"crypto/rsa"
	"encoding/base64"
	"errors"
	"maps"
	"net/http"
	"net/http/cookiejar"
	"net/http/httptest"
	"net/url"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/go-jose/go-jose/v4"

	"github.com/aqltag/aqltag/runtime/console"
	"github.com/aqltag/aqltag/runtime/console/oidc"
	"github.com/aqltag/aqltag/runtime/console/setup"
	"github.com/aqltag/aqltag/runtime/identity"
	"github.com/aqltag/aqltag/runtime/store"
)

const back = "https://console.example/login/back"

var began = time.Date(2026, 3, 1, 9, 0, 0, 0, time.UTC)

// world is a provider, and a login with it, at a time.
type world struct {
	*provider
	setup.Login
	now time.Time
}

func newWorld(t *testing.T) *world {
	t.Helper()
	w := &world{now: began}
	clock := func() time.Time { return w.now }
	w.provider = newProvider(t, clock)
	var err error
	w.Login, err = oidc.New(oidc.Options{
		Issuer: w.URL, ClientID: clientID, ClientSecret: clientSecret, Now: clock,
		Roles: map[identity.Role][]string{
			identity.Viewer: {"staff"}, identity.Approver: {"ops", "support"}, identity.Admin: {"platform"},
		},
	})
	if err != nil {
		t.Fatal(err)
	}
	return w
}

// visit begins a login, and returns what the browser keeps and what it comes back with.
func (w *world) visit(t *testing.T, again bool) (fields url.Values, kept string) {
	t.Helper()
	to, kept, err := w.Begin(t.Context(), back, again)
	if err != nil {
		t.Fatal(err)
	}
	client := &http.Client{CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }}
	r, err := http.NewRequestWithContext(t.Context(), http.MethodGet, to, nil)
	if err != nil {
		t.Fatal(err)
	}
	answer, err := client.Do(r)
	if err != nil {
		t.Fatal(err)
	}
	answer.Body.Close()
	at, err := answer.Location()
	if err != nil || !strings.HasPrefix(at.String(), back+"?") {
		t.Fatalf("the provider leads to %v, %v", at, err)
	}
	return at.Query(), kept
}

// Issue 19: a person is let in with the token that the provider has signed for this login, and with no other.
func TestTokens(t *testing.T) {
	claim := func(name string, value any) func(map[string]any) {
		return func(claims map[string]any) { claims[name] = value }
	}
	for name, tt := range map[string]struct {
		change func(map[string]any)
		sign   func(*provider, []byte) string
		ok     bool
	}{
		"as it should be":     {ok: true},
		"for another client":  {change: claim("aud", "another")},
		"for several clients": {change: claim("aud", []string{clientID, "another"})},
		"for several, to this one": {
			change: func(c map[string]any) { c["aud"], c["azp"] = []string{clientID, "another"}, clientID }, ok: true,
		},
		"to another client":      {change: claim("azp", "another")},
		"of another issuer":      {change: claim("iss", "https://evil.example")},
		"with another nonce":     {change: claim("nonce", "another")},
		"without a nonce":        {change: func(c map[string]any) { delete(c, "nonce") }},
		"that has expired":       {change: claim("exp", began.Add(-time.Minute).Unix())},
		"of nobody":              {change: claim("sub", "")},
		"with groups of numbers": {change: claim("groups", []int{1})},
		"of no group":            {change: claim("groups", []string{"guests"})},
		"without groups":         {change: func(c map[string]any) { delete(c, "groups") }},
		"with one group as text": {change: claim("groups", "ops"), ok: true},
		"signed by somebody else": {sign: func(p *provider, payload []byte) string {
			key, err := rsa.GenerateKey(rand.Reader, 2048)
			if err != nil {
				p.t.Error(err)
			}
			return p.signed(jose.RS256, key, payload)
		}},
		"signed with what clients know": {sign: func(p *provider, payload []byte) string {
			return p.signed(jose.HS256, []byte(strings.Repeat(clientSecret, 4)), payload)
		}},
		"not signed": {sign: func(_ *provider, payload []byte) string {
			encode := base64.RawURLEncoding.EncodeToString
			return encode([]byte(`{"alg":"none"}`)) + "." + encode(payload) + "."
		}},
		"that is none": {sign: func(*provider, []byte) string { return "x" }},
	} {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t)
			w.change, w.sign = tt.change, tt.sign
			fields, kept := w.visit(t, false)
			person, err := w.Finish(t.Context(), back, fields, kept)
			if !tt.ok {
				if _, refused := errors.AsType[*setup.RefusedError](err); !refused || !person.Who.Anonymous() {
					t.Errorf("%+v, %v", person, err)
				}
				return
			}
			if err != nil || person.Who.Subject != "248289761001" || person.Who.Issuer != w.URL ||
				person.Role != identity.Approver || !slices.Contains(person.Groups, "ops") || !person.At.IsZero() {
				t.Errorf("%+v, %v", person, err)
			}
		})
	}
}

// People are called as the provider calls them, and known by what it identifies them with.
func TestNamesOfPeople(t *testing.T) {
	for name, tt := range map[string]struct {
		claims map[string]any
		want   string
	}{
		"a user name and a name": {map[string]any{"preferred_username": "eve", "name": "Eve Example"}, "eve"},
		"a name":                 {map[string]any{"name": "Eve Example"}, "Eve Example"},
		"an empty user name":     {map[string]any{"preferred_username": "", "name": "Eve Example"}, "Eve Example"},
		"a number":               {map[string]any{"preferred_username": 7}, ""},
		"none":                   {nil, ""},
	} {
		w := newWorld(t)
		maps.Copy(w.claims, tt.claims)
		fields, kept := w.visit(t, false)
		person, err := w.Finish(t.Context(), back, fields, kept)
		if err != nil || person.Name != tt.want || person.Who.Subject != "248289761001" {
			t.Errorf("%s: %+v, %v, want %q", name, person, err, tt.want)
		}
	}
}

// What comes back to another browser, or a second time, lets nobody in.
func TestWhatComesBack(t *testing.T) {
	set := func(name, value string) func(*testing.T, *world, url.Values, *string) {
		return func(_ *testing.T, _ *world, fields url.Values, _ *string) { fields.Set(name, value) }
	}
	for name, change := range map[string]func(t *testing.T, w *world, fields url.Values, kept *string){
		"of another state":     set("state", "x"),
		"without a state":      func(_ *testing.T, _ *world, fields url.Values, _ *string) { fields.Del("state") },
		"of another issuer":    set("iss", "https://evil.example"),
		"with another code":    set("code", "x"),
		"with an error":        set("error", "access_denied"),
		"to who keeps nothing": func(_ *testing.T, _ *world, _ url.Values, kept *string) { *kept = "" },
		"to who keeps no secrets": func(_ *testing.T, _ *world, fields url.Values, kept *string) {
			*kept = "{}"
			fields.Del("state")
		},
		"to another browser": func(t *testing.T, w *world, _ url.Values, kept *string) { _, *kept = w.visit(t, false) },
		"with the code of another browser": func(t *testing.T, w *world, fields url.Values, _ *string) {
			other, _ := w.visit(t, false)
			fields.Set("code", other.Get("code"))
		},
		"a second time": func(t *testing.T, w *world, fields url.Values, kept *string) {
			if _, err := w.Finish(t.Context(), back, fields, *kept); err != nil {
				t.Fatal(err)
			}
		},
	} {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t)
			fields, kept := w.visit(t, false)
			change(t, w, fields, &kept)
			person, err := w.Finish(t.Context(), back, fields, kept)
			if _, refused := errors.AsType[*setup.RefusedError](err); !refused || !person.Who.Anonymous() {
				t.Errorf("%+v, %v", person, err)
			}
		})
	}
}

// Who has several groups has the greatest role of them.
func TestRolesOfGroups(t *testing.T) {
	for _, tt := range []struct {
		groups []string
		role   identity.Role
	}{
		{[]string{"staff"}, identity.Viewer}, {[]string{"staff", "support"}, identity.Approver},
		{[]string{"platform", "staff", "ops"}, identity.Admin}, {[]string{"Platform"}, ""}, {nil, ""},
	} {
		w := newWorld(t)
		w.claims["groups"] = tt.groups
		fields, kept := w.visit(t, false)
		person, err := w.Finish(t.Context(), back, fields, kept)
		if person.Role != tt.role || (err == nil) != (tt.role != "") {
			t.Errorf("%v: %q, %v, want %q", tt.groups, person.Role, err, tt.role)
		}
	}
}

// Who has to show once more who it is comes back with the time of that, and otherwise is not let in.
func TestOnceMore(t *testing.T) {
	at := func(d time.Duration) func(map[string]any) {
		return func(claims map[string]any) { claims["auth_time"] = began.Add(d).Unix() }
	}
	for name, tt := range map[string]struct {
		again  bool
		change func(map[string]any)
		ok     bool
		at     time.Time
	}{
		"just now":                     {again: true, ok: true, at: began},
		"before":                       {again: true, change: at(-2 * time.Minute)},
		"by a clock that is behind":    {again: true, change: at(-time.Minute), ok: true, at: began.Add(-time.Minute)},
		"by a clock that is ahead":     {again: true, change: at(30 * time.Second), ok: true, at: began},
		"by a clock that is far ahead": {again: true, change: at(time.Hour)},
		"nobody knows when":            {again: true, change: func(c map[string]any) { delete(c, "auth_time") }},
		"not asked, before":            {change: at(-time.Hour), ok: true, at: began.Add(-time.Hour)},
		"not asked, far ahead":         {change: at(time.Hour), ok: true},
	} {
		w := newWorld(t)
		w.change = tt.change
		fields, kept := w.visit(t, tt.again)
		person, err := w.Finish(t.Context(), back, fields, kept)
		if (err == nil) != tt.ok || !person.At.Equal(tt.at) && tt.ok {
			t.Errorf("%s: at %v, %v", name, person.At, err)
		}
	}
}

// A provider that fails, or is away, is no reason to let somebody in, and one that is back is asked again.
func TestProvidersThatFail(t *testing.T) {
	w := newWorld(t)
	fields, kept := w.visit(t, false)
	for name, answers := range map[string]func(http.ResponseWriter) bool{
		"without a token": func(rw http.ResponseWriter) bool {
			w.write(rw, map[string]string{"access_token": "x", "token_type": "Bearer"})
			return true
		},
		"with an error": func(rw http.ResponseWriter) bool { rw.WriteHeader(http.StatusInternalServerError); return true },
		"with nothing":  func(rw http.ResponseWriter) bool { _, _ = rw.Write([]byte("<html>")); return true },
	} {
		w.answers = answers
		if person, err := w.Finish(t.Context(), back, fields, kept); err == nil || !person.Who.Anonymous() {
			t.Errorf("%s: %+v, %v", name, person, err)
		}
	}
	away, err := oidc.New(oidc.Options{
		Issuer: "http://127.0.0.1:1", ClientID: clientID, Roles: map[identity.Role][]string{identity.Admin: {"*"}},
	})
	if err != nil {
		t.Fatal(err)
	}
	if _, _, err := away.Begin(t.Context(), back, false); err == nil {
		t.Error("a login has begun at a provider that is not there")
	}
}

func TestOptions(t *testing.T) {
	admins := map[identity.Role][]string{identity.Admin: {"*"}}
	for name, tt := range map[string]struct {
		o  oidc.Options
		ok bool
	}{
		"whole":             {oidc.Options{Issuer: "https://login.example", ClientID: clientID, Roles: admins}, true},
		"on this machine":   {oidc.Options{Issuer: "http://127.0.0.1:8080", ClientID: clientID, Roles: admins}, true},
		"without HTTPS":     {oidc.Options{Issuer: "http://login.example", ClientID: clientID, Roles: admins}, false},
		"without an issuer": {oidc.Options{ClientID: clientID, Roles: admins}, false},
		"without a client":  {oidc.Options{Issuer: "https://login.example", Roles: admins}, false},
		"without roles":     {oidc.Options{Issuer: "https://login.example", ClientID: clientID}, false},
		"with another role": {oidc.Options{
			Issuer: "https://login.example", ClientID: clientID, Roles: map[identity.Role][]string{"root": {"*"}},
		}, false},
	} {
		if login, err := oidc.New(tt.o); (err == nil) != tt.ok || (login != nil) != tt.ok {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// A browser goes from the console to the provider and back, and its person is logged in.
func TestInTheConsole(t *testing.T) {
	w := newWorld(t)
	server := httptest.NewUnstartedServer(nil)
	handler, err := console.New(console.Options{
		Name: "notes", Store: new(store.Memory), Hosts: []string{server.Listener.Addr().String()}, Login: w.Login,
	})
	if err != nil {
		t.Fatal(err)
	}
	server.Config.Handler = handler
	server.Start()
	defer server.Close()
	jar, err := cookiejar.New(nil)
	if err != nil {
		t.Fatal(err)
	}
	browser := &http.Client{Jar: jar}
	for _, step := range []struct {
		path, says string
		status     int
	}{
		{"/", "Log in with 127.0.0.1", 200}, {"/login/other", "You are logged in", 200}, {"/", "248289761001", 200},
		{"/login/back?code=x&state=y", "You are not logged in", 403},
	} {
		r, err := http.NewRequestWithContext(t.Context(), http.MethodGet, server.URL+step.path, nil)
		if err != nil {
			t.Fatal(err)
		}
		answer, err := browser.Do(r)
		if err != nil {
			t.Fatal(err)
		}
		var text strings.Builder
		if err := answer.Write(&text); err != nil {
			t.Fatal(err)
		}
		if answer.StatusCode != step.status || !strings.Contains(text.String(), step.says) {
			t.Errorf("%s: %d, want %d with %q:\n%s", step.path, answer.StatusCode, step.status, step.says, &text)
		}
	}
}
