package webauthn_test

import (
	"bytes"
	"encoding/json"
	"testing"

	"github.com/aqltag/aqltag/runtime/console/webauthn"
)

// parts are what a browser says of a passkey: that it was made, or that it has signed.
type parts struct {
	Response struct {
		Client    string `json:"clientDataJSON"`
		Object    string `json:"attestationObject"`
		Data      string `json:"authenticatorData"`
		Signature string `json:"signature"`
	} `json:"response"`
}

// Whatever is said of a passkey is read or refused. What counts as a signature is what the passkey has signed.
func FuzzAnswers(f *testing.F) {
	a, of, challenge := newAuthenticator(f, at.Origin, at.Host), newHolder(), newChallenge()
	register(f, a, of)
	read := func(answer []byte) (client, object, data, signature []byte) {
		var p parts
		if err := json.Unmarshal(answer, &p); err != nil {
			f.Fatal(err)
		}
		r := p.Response
		return a.decode(r.Client), a.decode(r.Object), a.decode(r.Data), a.decode(r.Signature)
	}
	options, err := webauthn.New().Create(at, challenge, *of)
	if err != nil {
		f.Fatal(err)
	}
	made, object, _, _ := read(a.create(options))
	if options, err = webauthn.New().Ask(at, challenge, of.Passkeys); err != nil {
		f.Fatal(err)
	}
	signed, _, data, signature := read(a.get(options))
	f.Add(made, object, signed, data, signature)
	f.Add([]byte("{}"), []byte{0xa0}, []byte("{}"), make([]byte, 37), []byte{0x30, 0})
	f.Fuzz(func(t *testing.T, client, object, signedClient, signedData, signature []byte) {
		browser := &authenticator{t: t, id: a.id}
		answer := browser.answer(map[string]any{"clientDataJSON": encode(client), "attestationObject": encode(object)})
		if got, err := webauthn.New().Created(at, challenge, *of, answer); err == nil {
			if len(got.ID) == 0 || len(got.Key) == 0 || !bytes.Contains(client, []byte(at.Host)) {
				t.Errorf("%+v is kept of %q and %x", got, client, object)
			}
		}
		answer = browser.answer(map[string]any{
			"clientDataJSON": encode(signedClient), "authenticatorData": encode(signedData), "signature": encode(signature),
			"userHandle": encode(of.Handle),
		})
		_, err := webauthn.New().Verify(at, challenge, *of, answer)
		if same := bytes.Equal(signedClient, signed) && bytes.Equal(signedData, data); err == nil && !same {
			t.Errorf("%q and %x count, signed by %x", signedClient, signedData, signature)
		}
	})
}
