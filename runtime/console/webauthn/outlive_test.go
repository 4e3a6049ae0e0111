package webauthn_test

import (
	"bytes"
	"net/http"
	"strings"
	"testing"

	"github.com/aqltag/aqltag/runtime/console"
	"github.com/aqltag/aqltag/runtime/identity"
	"github.com/aqltag/aqltag/runtime/internal/gate"
	"github.com/aqltag/aqltag/runtime/store"
)

// Passkeys are good for longer than the state key that they were made with, as docs/operators.md has keys replaced, and
// sessions are not. No passkey is left with another passphrase, or after a role was taken and given back.
func TestPasskeysOutliveStateKeys(t *testing.T) {
	state := new(store.Memory)
	open := func(keys ...string) *site {
		var secrets [][]byte
		for _, key := range keys {
			secrets = append(secrets, bytes.Repeat([]byte(key), gate.ShortestKey))
		}
		sealed, err := gate.SealedStore(state, secrets...)
		if err != nil {
			t.Fatal(err)
		}
		return newSite(t, func(o *console.Options) { o.Store = sealed })
	}
	a, b := open("a").with("eve")
	for _, keys := range [][]string{{"a", "b"}, {"b", "a"}, {"a", "b"}, {"b", "a"}, {"b"}} {
		if code := open(keys...).browser().logIn(a); code != http.StatusSeeOther {
			t.Errorf("with the keys %v: %d", keys, code)
		}
	}
	b.site = open("b", "a")
	if answer := b.send(http.MethodGet, "/", nil); answer.Code != http.StatusSeeOther {
		t.Errorf("with a session from before: %d", answer.Code)
	}
	s := open("b")
	for name, change := range map[string]func(){
		"another passphrase": func() { s.choose("eve") },
		"a role that was taken and given back": func() {
			s.enrol("eve", identity.Viewer)
			s.enrol("eve", identity.Admin)
		},
	} {
		change()
		if code := s.browser().logIn(a); code != http.StatusForbidden {
			t.Errorf("after %s: %d", name, code)
		}
		if answer := s.person("eve").register(a, "again"); answer.Code != http.StatusSeeOther {
			t.Errorf("registering again after %s: %d", name, answer.Code)
		}
	}
}

// Another passphrase ends all passkeys, and the person who has none is offered none.
func TestAnotherPassphraseEndsPasskeys(t *testing.T) {
	s := newSite(t)
	a, _ := s.with("eve")
	s.choose("eve")
	b := s.person("eve")
	if page := b.page("/passkeys"); !strings.Contains(page, "You have no passkey") {
		t.Errorf("the passkeys: %s", page)
	}
	item := s.ask("n1")
	if page := b.page("/items/" + item.ID); strings.Contains(page, "data-does") {
		t.Errorf("the item: %s", page)
	}
	form := b.form("/items/"+item.ID, "does", "approve", "of", item.ID)
	if answer := b.post("/challenge", form); answer.Code != http.StatusNotFound {
		t.Errorf("a challenge: %d", answer.Code)
	}
	if answer := b.register(a, "again"); answer.Code != http.StatusSeeOther {
		t.Errorf("registering the same again: %d", answer.Code)
	}
}
