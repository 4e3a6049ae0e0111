package console_test

import (
	"net/http"
	"net/url"
	"strings"
	"testing"
	"time"

	"github.com/aqltag/aqltag/runtime/approve"
	"github.com/aqltag/aqltag/runtime/identity"
	"github.com/aqltag/aqltag/runtime/internal/logout"
)

// The token of one session is none in another one, also of the same person.
func TestTokensAreOfOneSession(t *testing.T) {
	s := newSite(t, nil)
	eve, again, item := s.person("eve"), s.browser().logIn("eve"), s.ask(nil)
	if answer := again.post("/items/"+item.ID, eve.form(item.ID, "approve")); answer.Code != http.StatusForbidden {
		t.Errorf("the status is %d", answer.Code)
	}
	if state := s.get(item.ID).State; state != approve.Open {
		t.Errorf("the item is %s", state)
	}
}

// Nobody who is not logged in sees what waits, or gets a code.
func TestStrangersSeeNothing(t *testing.T) {
	s := newSite(t, nil)
	s.knows("eve", secretWord)
	item, held := s.ask(nil), s.hold(isBlocked)
	for _, path := range []string{
		"/", "/items/" + item.ID, "/items/" + item.ID + "/whole", "/items/" + held.ID, "/?decided=" + item.ID, "/other",
	} {
		answer := s.browser().get(path)
		if answer.Code != http.StatusSeeOther || !strings.HasPrefix(answer.Header().Get("Location"), "/login") {
			t.Errorf("%s: %d to %q", path, answer.Code, answer.Header().Get("Location"))
		}
		if body := answer.Body.String(); strings.Contains(body, "delete_note") || strings.Contains(body, "release_bot") {
			t.Errorf("%s says what waits: %s", path, body)
		}
	}
	if answer := s.browser().post("/items/"+held.ID+"/code", nil); answer.Code != http.StatusUnauthorized {
		t.Errorf("a code for a stranger: %d %s", answer.Code, answer.Body)
	}
}

// After the log-in a person gets to an item, and to no address of others.
func TestTheLogInLeadsToItemsOnly(t *testing.T) {
	for item, want := range map[string]string{
		"ask_ABC": "/items/ask_ABC", "": "/", "//evil.example": "/", "../logout": "/", "https://evil.example": "/",
		"ask_1?answer=approve": "/", "ask\r\nSet-Cookie: x=y": "/", `\evil.example`: "/",
	} {
		s := newSite(t, nil)
		s.knows("eve", secretWord)
		answer := s.browser().post("/login", url.Values{"name": {"eve"}, "passphrase": {secretWord}, "item": {item}})
		if got := answer.Header().Get("Location"); got != want {
			t.Errorf("%q leads to %q, want %q", item, got, want)
		}
	}
}

// Sessions are in the store as digests: who reads it cannot be the person. A log-in keeps no secret that was there
// before, and a session ends by logging out, with the time, and with the passphrase.
func TestSessions(t *testing.T) {
	for name, tt := range map[string]struct {
		then  func(*site, *browser)
		known bool
	}{
		"at once":               {func(*site, *browser) {}, true},
		"after 29 minutes":      {func(s *site, _ *browser) { s.now = s.now.Add(29 * time.Minute) }, true},
		"after 31 idle minutes": {func(s *site, _ *browser) { s.now = s.now.Add(31 * time.Minute) }, false},
		"after 31 idle minutes, in a store whose clock stands": {func(s *site, _ *browser) {
			s.store.Now = func() time.Time { return opened }
			s.now = s.now.Add(31 * time.Minute)
		}, false},
		"after an hour with visits":            {func(s *site, b *browser) { s.visits(b, time.Hour) }, true},
		"after nine hours with visits":         {func(s *site, b *browser) { s.visits(b, 9*time.Hour) }, false},
		"after all of its sessions were ended": {func(s *site, _ *browser) { s.ends(identity.User("eve")) }, false},
		"after those of others were ended": {func(s *site, _ *browser) {
			s.ends(identity.User("bob"))
			s.ends(identity.Caller{Subject: "eve", Issuer: "https://login.example"})
		}, true},
		"after another passphrase":   {func(s *site, _ *browser) { s.knows("eve", "another passphrase") }, false},
		"after another's passphrase": {func(s *site, _ *browser) { s.knows("bob", "another passphrase") }, true},
		"after logging out": {func(_ *site, b *browser) {
			kept := b.cookies[cookie]
			form := b.form(b.ask(nil).ID, "")
			if answer := b.post("/logout", form); answer.Code != http.StatusSeeOther || b.cookies[cookie] != "" {
				b.t.Errorf("logging out: %d, the cookie is %q", answer.Code, b.cookies[cookie])
			}
			b.cookies[cookie] = kept
		}, false},
	} {
		t.Run(name, func(t *testing.T) {
			s := newSite(t, nil)
			b := s.person("eve")
			tt.then(s, b)
			if known := b.get("/").Code == http.StatusOK; known != tt.known {
				t.Errorf("the person is known: %t", known)
			}
		})
	}
}

// ends ends all sessions of a person, as operator logout does.
func (s *site) ends(who identity.Caller) {
	s.t.Helper()
	if err := (logout.Book{Store: s.store}).End(s.t.Context(), who); err != nil {
		s.t.Error(err)
	}
}

// Who is logged out everywhere may log in again, in whatever way, but not by a link that was made before.
func TestLoggingInAfterAllSessionsEnded(t *testing.T) {
	s, e := away(t, identity.Admin)
	link, eve, other, item := s.link("eve"), s.person("eve"), s.browser(), s.ask(nil)
	other.comeBack("/login/other")
	form := other.form(item.ID, "approve")
	for _, who := range []identity.Caller{identity.User("eve"), e.person.Who} {
		s.ends(who)
	}
	for name, b := range map[string]*browser{"with a passphrase": eve, "elsewhere": other} {
		if answer := b.get("/"); answer.Code == http.StatusOK {
			t.Errorf("who has logged in %s is still known", name)
		}
	}
	if answer := other.post("/items/"+item.ID, form); answer.Code == http.StatusSeeOther ||
		s.get(item.ID).State != approve.Open {
		t.Errorf("a form of a session that has ended: %d, the item is %s", answer.Code, s.get(item.ID).State)
	}
	if answer := s.browser().post(link, nil); answer.Code != http.StatusGone {
		t.Errorf("a link that was made before: %d", answer.Code)
	}
	if answer := s.browser().logIn("eve").get("/"); answer.Code != http.StatusOK {
		t.Errorf("with the passphrase again: %d", answer.Code)
	}
	again := s.browser()
	if again.comeBack("/login/other"); again.get("/").Code != http.StatusOK {
		t.Error("elsewhere again: nobody is known")
	}
}

// visits has a person look at a page every ten minutes.
func (s *site) visits(b *browser, during time.Duration) {
	for end := s.now.Add(during); s.now.Before(end); {
		s.now = s.now.Add(10 * time.Minute)
		b.get("/")
	}
}

// A secret that somebody else has set in the browser is no session after the log-in (session fixation).
func TestLogInsDrawNewSecrets(t *testing.T) {
	s := newSite(t, nil)
	s.knows("eve", secretWord)
	b := s.browser()
	b.cookies[cookie] = "AAAAAAAAAAAAAAAAAAAAAAAAAA"
	if b.logIn("eve"); b.cookies[cookie] == "AAAAAAAAAAAAAAAAAAAAAAAAAA" {
		t.Error("the secret from before is that of the session")
	}
	first := b.cookies[cookie]
	b.logIn("eve")
	old := func(r *http.Request) { r.Header.Set("Cookie", cookie+"="+first) }
	if answer := s.browser().get("/", old); answer.Code == http.StatusOK {
		t.Error("the session before the second log-in goes on")
	}
}

// Who reads the store finds no secret of a browser, and no token of a form.
func TestTheStoreHasDigestsOnly(t *testing.T) {
	s := newSite(t, nil)
	b := s.person("eve")
	held := s.hold(isBlocked)
	csrf := b.form(held.ID, "").Get("csrf")
	page := b.post("/items/"+held.ID+"/code", b.form(held.ID, "")).Body.String()
	code := shownCode.FindStringSubmatch(page)
	if code == nil {
		t.Fatalf("no code is shown: %s", page)
	}
	entries, err := s.store.List(t.Context(), "", "", 1000)
	if err != nil || len(entries) == 0 {
		t.Fatalf("%d entries, %v", len(entries), err)
	}
	for _, entry := range entries {
		for _, secret := range []string{b.cookies[cookie], csrf, code[1], strings.ReplaceAll(code[1], "-", ""), secretWord} {
			if secret == "" || strings.Contains(entry.Key+string(entry.Value), secret) {
				t.Errorf("%s has the secret %q", entry.Key, secret)
			}
		}
	}
}
