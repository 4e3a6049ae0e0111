package webauthn_test

import (
	"fmt"
	"maps"
	"net/http"
	"net/url"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/aqltag/aqltag/runtime/approve"
	"github.com/aqltag/aqltag/runtime/console"
)

// logIn logs in with a passkey, after a change of the form.
func (b *browser) logIn(a *authenticator, changes ...func(url.Values)) int {
	b.t.Helper()
	form := url.Values{"passkey": {string(a.get(b.challenge("/login/challenge", nil)))}}
	for _, change := range changes {
		change(form)
	}
	return b.post("/login", form).Code
}

// A person registers a passkey with the passphrase, sees it, logs in with it, and removes it. Both is on record.
func TestPasskeys(t *testing.T) {
	s := newSite(t)
	a, b := s.with("eve")
	s.now = s.now.Add(10 * time.Minute)
	page := b.page("/passkeys")
	for _, part := range []string{"eve&#39;s key", "console.example", "a key or another device", "never"} {
		if !strings.Contains(page, part) {
			t.Errorf("the page has no %q: %s", part, page)
		}
	}
	item, other := s.ask("n1"), s.browser()
	if code := other.logIn(a, func(form url.Values) { form.Set("item", item.ID) }); code != http.StatusSeeOther {
		t.Fatalf("logging in: %d", code)
	}
	if page := other.page("/passkeys"); !strings.Contains(page, ">eve<") || strings.Contains(page, "never") {
		t.Errorf("logged in: %s", page)
	}
	if len(other.cookies) != 1 {
		t.Errorf("the browser keeps %v", other.cookies)
	}
	answer := other.post("/passkeys/remove", other.form("/passkeys", "of", encode(a.id)))
	if answer.Code != http.StatusSeeOther || !strings.Contains(other.page("/passkeys"), "You have no passkey") {
		t.Errorf("removing: %d", answer.Code)
	}
	if code := s.browser().logIn(a); code != http.StatusForbidden {
		t.Errorf("with what was removed: %d", code)
	}
	for _, event := range []string{"PASSKEY_REGISTERED", "PASSKEY_REMOVED"} {
		if count := strings.Count(s.log.String(), event); count != 1 || !strings.Contains(s.log.String(), "eve's key") {
			t.Errorf("%s is on record %d times: %s", event, count, &s.log)
		}
	}
}

// A session alone registers nothing: it takes the passphrase, and what was made for this challenge.
func TestWhatRegisteringTakes(t *testing.T) {
	s := newSite(t)
	b := s.person("eve")
	for _, typed := range []string{"", "a wrong passphrase"} {
		form := b.form("/passkeys", "does", "register", "passphrase", typed)
		if answer := b.post("/challenge", form); answer.Code < 400 || strings.Contains(answer.Body.String(), "challenge\"") {
			t.Errorf("%q: %d %s", typed, answer.Code, answer.Body)
		}
	}
	a := newAuthenticator(t, "https://"+host, "console.example")
	options := b.challenge("/challenge", b.form("/passkeys", "does", "register", "passphrase", secretWord))
	made := string(a.create(options))
	bob := s.person("bob")
	for name, form := range map[string]url.Values{
		"no name":           b.form("/passkeys", "passkey", made),
		"a long name":       b.form("/passkeys", "passkey", made, "name", strings.Repeat("x", 61)),
		"another challenge": b.form("/passkeys", "passkey", string(a.create([]byte(`{"challenge":"AAAA"}`))), "name", "x"),
		"no answer":         b.form("/passkeys", "passkey", "{}", "name", "x"),
		"without a token":   {"passkey": {made}, "name": {"x"}},
	} {
		if answer := b.post("/passkeys", form); answer.Code < 400 {
			t.Errorf("%s: %d", name, answer.Code)
		}
	}
	if answer := bob.post("/passkeys", bob.form("/passkeys", "passkey", made, "name", "x")); answer.Code < 400 {
		t.Errorf("for somebody else: %d", answer.Code)
	}
	if answer := b.post("/passkeys", b.form("/passkeys", "passkey", made, "name", "x")); answer.Code < 400 {
		t.Errorf("after the challenge was used up: %d", answer.Code)
	}
	if answer := b.register(a, "x"); answer.Code != http.StatusSeeOther {
		t.Errorf("as it is meant: %d %s", answer.Code, answer.Body)
	}
}

// An answer logs in once, in the browser that has begun, and in time.
func TestLogInsThatDoNotCount(t *testing.T) {
	for name, tt := range map[string]struct {
		do   func(s *site, a *authenticator, b *browser, form url.Values)
		want int
	}{
		"nothing is wrong": {want: http.StatusSeeOther},
		"too late": {do: func(s *site, _ *authenticator, _ *browser, _ url.Values) {
			s.now = s.now.Add(6 * time.Minute)
		}},
		"a replay": {do: func(s *site, _ *authenticator, b *browser, form url.Values) {
			kept := maps.Clone(b.cookies)
			if code := b.post("/login", form).Code; code != http.StatusSeeOther {
				s.t.Errorf("the first time: %d", code)
			}
			b.cookies = kept
		}},
		"another browser": {do: func(_ *site, _ *authenticator, b *browser, _ url.Values) { clear(b.cookies) }},
		"a browser that has begun, too": {do: func(s *site, _ *authenticator, b *browser, _ url.Values) {
			other := s.browser()
			other.challenge("/login/challenge", nil)
			b.cookies = other.cookies
		}},
		"another passphrase by now": {do: func(s *site, _ *authenticator, _ *browser, _ url.Values) { s.choose("eve") }},
		"no JSON": {do: func(_ *site, _ *authenticator, _ *browser, form url.Values) {
			form.Set("passkey", "x")
		}},
		"an answer without end": {do: func(_ *site, _ *authenticator, _ *browser, form url.Values) {
			form.Set("passkey", form.Get("passkey")+strings.Repeat(" ", 32<<10))
		}},
		"a handle of nobody": {do: func(_ *site, a *authenticator, b *browser, form url.Values) {
			a.handle = []byte("nobody")
			form.Set("passkey", string(a.get(b.challenge("/login/challenge", nil))))
		}},
		"a copy of the passkey": {do: func(s *site, a *authenticator, b *browser, form url.Values) {
			before := a.count
			if code := s.browser().logIn(a); code != http.StatusSeeOther {
				s.t.Errorf("the passkey itself: %d", code)
			}
			a.count = before - 1
			form.Set("passkey", string(a.get(b.challenge("/login/challenge", nil))))
		}},
	} {
		t.Run(name, func(t *testing.T) {
			s := newSite(t)
			a, _ := s.with("eve")
			b := s.browser()
			form := url.Values{"passkey": {string(a.get(b.challenge("/login/challenge", nil)))}}
			if tt.do != nil {
				tt.do(s, a, b, form)
			}
			if tt.want == 0 {
				tt.want = http.StatusForbidden
			}
			if got := b.post("/login", form).Code; got != tt.want {
				t.Errorf("got %d, want %d", got, tt.want)
			}
		})
	}
}

// What a passkey signs is the answer about one item as it was seen, and nothing else.
func TestApprovingWithAPasskey(t *testing.T) {
	for name, tt := range map[string]struct {
		challenge []string // what the challenge is for, instead
		do        func(s *site, b *browser, form url.Values, item approve.Item)
		counts    bool
	}{
		"nothing is wrong": {counts: true},
		"another item":     {challenge: []string{"of", "ask_other"}},
		"another revision": {challenge: []string{"revision", "0123"}},
		"another answer":   {challenge: []string{"does", "show a code"}},
		"to end something": {challenge: []string{"does", "end"}},
		"of another session": {do: func(s *site, b *browser, form url.Values, item approve.Item) {
			b.cookies = s.person("eve").cookies
			form.Set("csrf", b.form("/items/"+item.ID).Get("csrf"))
		}},
		"somebody has voted": {do: func(s *site, _ *browser, _ url.Values, item approve.Item) {
			bob := s.person("bob")
			form := bob.form("/items/"+item.ID, "answer", "deny", "reason", "no")
			if code := bob.post("/items/"+item.ID, form).Code; code != http.StatusSeeOther {
				s.t.Errorf("bob: %d", code)
			}
		}},
		"a replay for the next item": {do: func(s *site, b *browser, form url.Values, item approve.Item) {
			if code := b.post("/items/"+item.ID, maps.Clone(form)).Code; code != http.StatusSeeOther {
				s.t.Errorf("the first time: %d", code)
			}
		}},
	} {
		t.Run(name, func(t *testing.T) {
			s := newSite(t)
			a, b := s.with("eve")
			item := s.ask("n1")
			page := "/items/" + item.ID
			if text := b.page(page); !strings.Contains(text, `data-does="approve"`) ||
				!strings.Contains(text, "passkey.js") || !strings.Contains(text, `name="passphrase"`) {
				t.Errorf("the page: %s", text)
			}
			ask := b.form(page, append([]string{"does", "approve", "of", item.ID}, tt.challenge...)...)
			form := b.form(page, "answer", "approve", "passkey", string(a.get(b.challenge("/challenge", ask))))
			if tt.do != nil {
				tt.do(s, b, form, item)
			}
			votes := len(s.get(item.ID).Votes)
			answer := b.post(page, form)
			if got := len(s.get(item.ID).Votes) > votes; got != tt.counts || got != (answer.Code == http.StatusSeeOther) {
				t.Errorf("%d, counts: %t", answer.Code, got)
			}
		})
	}
}

// A passkey of somebody else signs nothing for a person.
func TestPasskeysOfOthers(t *testing.T) {
	s := newSite(t)
	_, eve := s.with("eve")
	bobs, _ := s.with("bob")
	item := s.ask("n1")
	page := "/items/" + item.ID
	options := eve.challenge("/challenge", eve.form(page, "does", "approve", "of", item.ID))
	for _, handle := range [][]byte{bobs.handle, nil} {
		bobs.handle = handle
		answer := eve.post(page, eve.form(page, "answer", "approve", "passkey", string(bobs.get(options))))
		if answer.Code != http.StatusForbidden || len(s.get(item.ID).Votes) > 0 {
			t.Errorf("%d", answer.Code)
		}
		options = eve.challenge("/challenge", eve.form(page, "does", "approve", "of", item.ID))
	}
}

var shownCode = regexp.MustCompile(`id="secret"[^>]*>[0-9A-Z-]{26,}<`)

// A code is shown for a signature about this item, as it is.
func TestCodesWithAPasskey(t *testing.T) {
	s := newSite(t)
	a, b := s.with("eve")
	item := s.hold()
	page := "/items/" + item.ID
	for _, tt := range []struct {
		of, does, revision string
		shown              bool
	}{
		{item.ID, "approve", item.Revision(), false}, {"ask_other", "show a code", item.Revision(), false},
		{item.ID, "show a code", "0123", false}, {item.ID, "show a code", item.Revision(), true},
	} {
		options := b.challenge("/challenge", b.form(page, "does", tt.does, "of", tt.of, "revision", tt.revision))
		answer := b.post(page+"/code", b.form(page, "revision", tt.revision, "passkey", string(a.get(options))))
		if shownCode.MatchString(answer.Body.String()) != tt.shown {
			t.Errorf("%s %s: %d %s", tt.does, tt.of, answer.Code, answer.Body)
		}
	}
}

// Browsers have passkeys for names with HTTPS: elsewhere nothing offers one, and nothing takes one.
func TestWherePasskeysAre(t *testing.T) {
	for at, want := range map[string]bool{
		"console.example:9090": true, "console.example": true, "localhost:9090": true, "192.0.2.1:9090": false,
		"[2001:db8::1]:9090": false, "127.0.0.1": false, "CONSOLE.Example:9090": true, "a.b1": true,
		"xn--bcher-kva.example:9090": true, "console:9090": false, "my_console.example": false, "bücher.example": false,
		"console.example.:9090": false, "[fe80::1%eth0]:9090": false, "0x7f.1": false,
	} {
		s := newSite(t, func(o *console.Options) { o.Hosts = []string{at} })
		b := s.person("eve")
		login, code := s.browser().page("/login"), s.browser().post("/login/challenge", nil).Code
		page := b.page("/")
		if strings.Contains(login, "passkey") != want || strings.Contains(page, "Passkeys") != want ||
			(code == http.StatusOK) != want {
			t.Errorf("%s: %d %s %s", at, code, login, page)
		}
	}
	for _, at := range []string{"localhost:9090", "127.0.0.1:9090"} {
		s := newSite(t, func(o *console.Options) { o.Hosts, o.Secure = []string{at}, false })
		if page := s.browser().page("/login"); strings.Contains(page, "passkey") {
			t.Errorf("%s without HTTPS: %s", at, page)
		}
	}
}

// At one of two addresses there are passkeys, and the other says why there are none.
func TestAtAnAddress(t *testing.T) {
	s := newSite(t, func(o *console.Options) { o.Hosts = []string{host, "192.0.2.1:9090"} })
	_, b := s.with("eve")
	s.host = "192.0.2.1:9090"
	page := b.page("/passkeys")
	if !strings.Contains(page, "by a name, with HTTPS") || strings.Contains(page, "data-does") {
		t.Errorf("at the address: %s", page)
	}
}

// Nobody has more than ten, and nobody keeps others from signing.
func TestPasskeysAreBounded(t *testing.T) {
	s := newSite(t)
	b := s.person("eve")
	for i := range 10 {
		a := newAuthenticator(t, "https://"+host, "console.example")
		if answer := b.register(a, fmt.Sprint(i)); answer.Code != http.StatusSeeOther {
			t.Fatalf("%d: %d %s", i, answer.Code, answer.Body)
		}
	}
	form := b.form("/passkeys", "does", "register", "passphrase", secretWord)
	if answer := b.post("/challenge", form); answer.Code != http.StatusConflict {
		t.Errorf("one more: %d", answer.Code)
	}
	_, bob := s.with("bob")
	ask := func(b *browser) int {
		return b.post("/challenge", b.form("/passkeys", "does", "approve", "of", "ask_1", "revision", "1")).Code
	}
	for range 60 {
		ask(b)
	}
	if code := ask(b); code != http.StatusTooManyRequests {
		t.Errorf("one challenge more: %d", code)
	}
	if code := ask(bob); code != http.StatusOK {
		t.Errorf("one of somebody else: %d", code)
	}
}

// Who asks for very many challenges keeps others from logging in with passkeys, but not with the passphrase, nor from
// signing where they have logged in.
func TestManyLogInsWithPasskeys(t *testing.T) {
	s := newSite(t)
	a, b := s.with("eve")
	for range 600 {
		s.browser().post("/login/challenge", nil)
	}
	if answer := s.browser().post("/login/challenge", nil); answer.Code != http.StatusTooManyRequests {
		t.Errorf("one challenge more: %d", answer.Code)
	}
	s.person("bob")
	item := s.ask("n1")
	page := "/items/" + item.ID
	options := b.challenge("/challenge", b.form(page, "does", "approve", "of", item.ID))
	if answer := b.post(page, b.form(page, "answer", "approve", "passkey", string(a.get(options)))); answer.Code !=
		http.StatusSeeOther {
		t.Errorf("signing: %d %s", answer.Code, answer.Body)
	}
	s.now = s.now.Add(2 * time.Minute)
	if code := s.browser().logIn(a); code != http.StatusSeeOther {
		t.Errorf("two minutes later: %d", code)
	}
}
