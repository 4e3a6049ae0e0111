package webauthn_test

import (
	"crypto/rand"
	"encoding/json"
	"slices"
	"strings"
	"testing"

	"github.com/aqltag/aqltag/runtime/console/setup"
	"github.com/aqltag/aqltag/runtime/console/webauthn"
)

var at = setup.Site{Name: "notes", Host: "console.example", Origin: "https://console.example:9090"}

// newChallenge draws a challenge.
func newChallenge() []byte {
	challenge := make([]byte, 32)
	rand.Read(challenge) // never fails (crypto/rand)
	return challenge
}

// register has an authenticator make a passkey for a person.
func register(t testing.TB, a *authenticator, of *setup.Holder) {
	t.Helper()
	challenge := newChallenge()
	options, err := webauthn.New().Create(at, challenge, *of)
	if err != nil {
		t.Fatal(err)
	}
	made, err := webauthn.New().Created(at, challenge, *of, a.create(options))
	if err != nil {
		t.Fatal(err)
	}
	of.Passkeys = append(of.Passkeys, made)
}

func newHolder() *setup.Holder { return &setup.Holder{Handle: newChallenge(), Name: "eve"} }

// The options demand a passkey that is found without a name, and a person who shows who it is.
func TestOptions(t *testing.T) {
	a, of, challenge := newAuthenticator(t, at.Origin, at.Host), newHolder(), newChallenge()
	register(t, a, of)
	text, err := webauthn.New().Create(at, challenge, *of)
	if err != nil {
		t.Fatal(err)
	}
	made := a.read(text)
	if made.RP.ID != at.Host || made.Challenge != encode(challenge) || made.User.ID != encode(of.Handle) ||
		made.Selection.ResidentKey != "required" || made.Selection.UserVerification != "required" ||
		len(made.Excluded) != 1 || made.Excluded[0].ID != encode(a.id) || !strings.Contains(string(text), `"none"`) {
		t.Errorf("to make one: %s", text)
	}
	for _, with := range [][]setup.Passkey{nil, of.Passkeys} {
		text, err := webauthn.New().Ask(at, challenge, with)
		if err != nil {
			t.Fatal(err)
		}
		asked := a.read(text)
		if asked.RPID != at.Host || asked.Challenge != encode(challenge) || asked.UserVerification != "required" ||
			len(asked.Allowed) != len(with) {
			t.Errorf("to sign: %s", text)
		}
	}
}

// What is kept of a passkey is what the authenticator says, and nothing with which anybody could sign.
func TestRegistering(t *testing.T) {
	a, of := newAuthenticator(t, at.Origin, at.Host), newHolder()
	a.flags |= synced
	register(t, a, of)
	got := of.Passkeys[0]
	if string(got.ID) != string(a.id) || !got.Synced || got.Attachment != "cross-platform" || len(got.Key) == 0 ||
		!slices.Equal(got.Transports, []string{"usb"}) {
		t.Errorf("%+v", got)
	}
}

// forgeries are what a browser may say that is not at the site, or whose person has not shown who it is.
var forgeries = map[string]func(*authenticator){
	"another origin":      func(a *authenticator) { a.origin = "https://evil.example" },
	"another port":        func(a *authenticator) { a.origin = "https://console.example:9091" },
	"more than an origin": func(a *authenticator) { a.origin += "/evil" },
	"without HTTPS":       func(a *authenticator) { a.origin = "http://console.example:9090" },
	"another RP":          func(a *authenticator) { a.host = "evil.example" },
	"another challenge":   func(a *authenticator) { a.challenge = newChallenge() },
	"no challenge":        func(a *authenticator) { a.challenge = []byte{} },
	"nobody is there":     func(a *authenticator) { a.flags &^= present },
	"nobody has said it":  func(a *authenticator) { a.flags &^= verified },
	"synced by now":       func(a *authenticator) { a.flags |= 0x10 },
}

func TestForgedRegistrations(t *testing.T) {
	for name, forge := range forgeries {
		a, of, challenge := newAuthenticator(t, at.Origin, at.Host), newHolder(), newChallenge()
		options, err := webauthn.New().Create(at, challenge, *of)
		if err != nil {
			t.Fatal(err)
		}
		forge(a)
		if got, err := webauthn.New().Created(at, challenge, *of, a.create(options)); err == nil {
			t.Errorf("%s: %+v is kept", name, got)
		}
	}
}

func TestForgedSignatures(t *testing.T) {
	more := map[string]func(*authenticator){
		"nothing is wrong":    func(*authenticator) {},
		"another ceremony":    func(a *authenticator) { a.kind = "webauthn.create" },
		"another handle":      func(a *authenticator) { a.handle = newChallenge() },
		"another passkey":     func(a *authenticator) { a.id = []byte("another") },
		"another key":         func(a *authenticator) { a.key = newAuthenticator(a.t, "", "").key },
		"a counter from then": func(a *authenticator) { a.count = 4 },
		"the same counter":    func(a *authenticator) { a.count-- },
		"to be synced":        func(a *authenticator) { a.flags |= synced },
	}
	for name, forge := range forgeries {
		more[name] = forge
	}
	for name, forge := range more {
		t.Run(name, func(t *testing.T) {
			a, of := newAuthenticator(t, at.Origin, at.Host), newHolder()
			a.count = 8
			register(t, a, of)
			sign := func() (setup.Passkey, error) {
				challenge := newChallenge()
				options, err := webauthn.New().Ask(at, challenge, of.Passkeys)
				if err != nil {
					t.Fatal(err)
				}
				return webauthn.New().Verify(at, challenge, *of, a.get(options))
			}
			used, err := sign()
			if err != nil || used.Count != 9 {
				t.Fatalf("before: %+v, %v", used, err)
			}
			of.Passkeys[0] = used
			forge(a)
			used, err = sign()
			if counts := name == "nothing is wrong"; (err == nil) != counts || counts && used.Count != 10 {
				t.Errorf("%+v, %v", used, err)
			}
		})
	}
}

// What is no answer is refused, and what was signed with a passkey of somebody else.
func TestNoAnswers(t *testing.T) {
	a, of, other := newAuthenticator(t, at.Origin, at.Host), newHolder(), newHolder()
	register(t, a, of)
	challenge := newChallenge()
	options, err := webauthn.New().Ask(at, challenge, of.Passkeys)
	if err != nil {
		t.Fatal(err)
	}
	good := a.get(options)
	var parts map[string]any
	if err := json.Unmarshal(good, &parts); err != nil {
		t.Fatal(err)
	}
	for _, text := range []string{"", "{}", "null", "[]", string(good[:len(good)/2]), `{"id":"","response":{}}`} {
		if _, err := webauthn.New().Verify(at, challenge, *of, []byte(text)); err == nil {
			t.Errorf("%s counts", text)
		}
		if _, err := webauthn.New().Created(at, challenge, *of, []byte(text)); err == nil {
			t.Errorf("%s is kept", text)
		}
	}
	for name, who := range map[string]setup.Holder{
		"of somebody without one": *other, "of nobody": {}, "of somebody with another": {
			Handle: other.Handle, Passkeys: of.Passkeys,
		},
	} {
		if _, err := webauthn.New().Verify(at, challenge, who, good); err == nil {
			t.Errorf("it counts as one %s", name)
		}
	}
	if _, err := webauthn.New().Verify(at, challenge, *of, good); err != nil {
		t.Errorf("of its person: %v", err)
	}
}
