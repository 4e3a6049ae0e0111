package console_test

import (
	"encoding/base64"
	"encoding/json"
	"errors"
	"net/http"
	"net/url"
	"testing"
	"time"

	aql "github.com/aqltag/aqltag/runtime"
	"github.com/aqltag/aqltag/runtime/approve"
	"github.com/aqltag/aqltag/runtime/console"
	"github.com/aqltag/aqltag/runtime/console/setup"
	"github.com/aqltag/aqltag/runtime/gen"
	"github.com/aqltag/aqltag/runtime/identity"
)

// signer has passkeys that sign whatever they are asked to. What verifies true ones is in package webauthn, with the
// tests of what does not count.
type signer struct{ attachment string }

func (*signer) options(challenge []byte) ([]byte, error) {
	return json.Marshal(map[string]string{"challenge": base64.RawURLEncoding.EncodeToString(challenge)})
}

func (s *signer) Create(_ setup.Site, challenge []byte, _ setup.Holder) ([]byte, error) {
	return s.options(challenge)
}

func (s *signer) Ask(_ setup.Site, challenge []byte, _ []setup.Passkey) ([]byte, error) {
	return s.options(challenge)
}

func (s *signer) Created(_ setup.Site, _ []byte, of setup.Holder, _ []byte) (setup.Passkey, error) {
	return setup.Passkey{
		ID: []byte{byte(len(of.Passkeys))}, Attachment: s.attachment, Synced: s.attachment == "platform",
	}, nil
}

func (s *signer) Verify(_ setup.Site, _ []byte, of setup.Holder, _ []byte) (setup.Passkey, error) {
	if len(of.Passkeys) == 0 {
		return setup.Passkey{}, errors.New("the person has none")
	}
	return of.Passkeys[0], nil
}

// signing has a console offer passkeys.
func signing(o *console.Options) { o.Passkeys, o.Secure = &signer{"platform"}, true }

// signs returns the answer of a passkey to a challenge that a form asks for.
func (b *browser) signs(path string, form url.Values) string {
	b.t.Helper()
	answer := b.post(path, form)
	var read struct {
		Options struct{ Challenge string }
	}
	if err := json.Unmarshal(answer.Body.Bytes(), &read); err != nil || answer.Code != http.StatusOK {
		b.t.Fatalf("%d %s: %v", answer.Code, answer.Body, err)
	}
	client, err := json.Marshal(map[string]string{"challenge": read.Options.Challenge})
	if err != nil {
		b.t.Fatal(err)
	}
	text, err := json.Marshal(map[string]any{
		"response": map[string]string{"clientDataJSON": base64.RawURLEncoding.EncodeToString(client)},
	})
	if err != nil {
		b.t.Fatal(err)
	}
	return string(text)
}

// token returns the token of the session of a browser.
func (b *browser) token() string {
	b.t.Helper()
	return hidden.FindStringSubmatch(b.get("/").Body.String())[2]
}

// registration returns the form that registers a passkey, which the browser has made.
func (b *browser) registration(name string) url.Values {
	b.t.Helper()
	form := url.Values{"csrf": {b.token()}, "does": {"register"}, "passphrase": {secretWord}}
	return url.Values{"csrf": {b.token()}, "name": {name}, "passkey": {b.signs("/challenge", form)}}
}

// register registers a passkey.
func (b *browser) register(name string) *browser {
	b.t.Helper()
	if answer := b.post("/passkeys", b.registration(name)); answer.Code != http.StatusSeeOther {
		b.t.Fatalf("%d %s", answer.Code, answer.Body)
	}
	return b
}

// F63: the pages of passkeys, and what others have for them. -update rewrites the files.
func TestPasskeyPages(t *testing.T) {
	dangerous := func(q *approve.Question) { q.Danger = gen.Dangerous }
	for name, tt := range map[string]struct {
		visit  func(*site) answer
		status int
	}{
		"passkeys-login": {visit: func(s *site) answer {
			s.knows("eve", secretWord)
			return s.browser().get("/login")
		}, status: 200},
		"passkeys-empty": {visit: func(s *site) answer { return s.person("eve").get("/passkeys") }, status: 200},
		"passkeys-two": {visit: func(s *site) answer {
			b := s.person("eve").register("laptop")
			item := s.ask(dangerous)
			form := b.form(item.ID, "approve")
			form.Set("does", "approve")
			form.Set("of", item.ID)
			form.Set("passkey", b.signs("/challenge", form))
			form.Del("passphrase")
			if answer := b.post("/items/"+item.ID, form); answer.Code != http.StatusSeeOther {
				t.Errorf("approving: %d %s", answer.Code, answer.Body)
			}
			s.now = s.now.Add(time.Minute)
			return b.register("<b>phone</b>").get("/passkeys")
		}, status: 200},
		"passkeys-full": {visit: func(s *site) answer {
			b := s.person("eve")
			for range 10 {
				b.register("one of many")
			}
			return b.get("/passkeys")
		}, status: 200},
		"passkeys-no-name": {visit: func(s *site) answer {
			b := s.person("eve")
			return b.post("/passkeys", url.Values{"csrf": {b.token()}, "passkey": {"{}"}})
		}, status: 422},
		"passkeys-removed-before": {visit: func(s *site) answer {
			b := s.person("eve")
			return b.post("/passkeys/remove", url.Values{"csrf": {b.token()}, "of": {"AAAA"}})
		}, status: 404},
		"passkeys-item": {visit: func(s *site) answer {
			return s.person("eve").register("laptop").get("/items/" + s.ask(dangerous).ID)
		}, status: 200},
		"passkeys-blocked": {visit: func(s *site) answer {
			return s.person("eve").register("laptop").get("/items/" + s.hold(isBlocked).ID)
		}, status: 200},
		"passkeys-item-refused": {visit: func(s *site) answer {
			b, item := s.person("eve").register("laptop"), s.ask(dangerous)
			form := b.form(item.ID, "approve")
			form.Set("passkey", "{}")
			return b.post("/items/"+item.ID, form)
		}, status: 403},
		"passkeys-login-refused": {visit: func(s *site) answer {
			s.knows("eve", secretWord)
			return s.browser().post("/login", url.Values{"passkey": {"{}"}})
		}, status: 403},
	} {
		t.Run(name, func(t *testing.T) { checkAnswer(t, name, tt.visit(newSite(t, signing)), tt.status) })
	}
}

// A dangerous execution is ended with a passkey, which has signed which one, and how far it was.
func TestEndingExecutionsWithAPasskey(t *testing.T) {
	for name, tt := range map[string]struct {
		of, revision string
		status       int
	}{
		"nothing is wrong": {status: http.StatusSeeOther},
		"another one":      {of: "exec_2", status: http.StatusForbidden},
		"another state":    {revision: "completed-false-0", status: http.StatusForbidden},
	} {
		t.Run(name, func(t *testing.T) {
			of := &begun{all: []aql.Overseen{running("exec_1", func(of *aql.Overseen) { of.Danger = gen.Dangerous })}}
			s := newSite(t, func(o *console.Options) { signing(o); of.with(o) })
			b := s.person("eve").register("laptop")
			form := b.cancelForm("exec_1")
			ask := url.Values{"csrf": form["csrf"], "revision": form["revision"], "does": {"end"}, "of": {"exec_1"}}
			if tt.of != "" {
				ask.Set("of", tt.of)
			}
			if tt.revision != "" {
				ask.Set("revision", tt.revision)
			}
			form.Set("passkey", b.signs("/challenge", ask))
			form.Del("passphrase")
			if answer := b.post("/executions/exec_1", form); answer.Code != tt.status {
				t.Errorf("%d, want %d: %s", answer.Code, tt.status, answer.Body)
			}
			if ended := len(of.cancelled) == 1; ended != (tt.status == http.StatusSeeOther) {
				t.Errorf("ended: %v", of.cancelled)
			}
		})
	}
}

// Who has logged in elsewhere has no passkey here, and is asked for none.
func TestPasskeysOfAnotherLogin(t *testing.T) {
	s, _ := away(t, identity.Admin, signing)
	b := s.browser()
	b.get("/login/other")
	if answer := b.get("/login/back?code=good"); answer.Code != http.StatusOK {
		t.Fatalf("%d %s", answer.Code, answer.Body)
	}
	checkAnswer(t, "passkeys-elsewhere", b.get("/passkeys"), http.StatusOK)
	answer := b.post("/challenge", url.Values{"csrf": {b.token()}, "does": {"register"}})
	if answer.Code != http.StatusForbidden {
		t.Errorf("a challenge: %d %s", answer.Code, answer.Body)
	}
}
