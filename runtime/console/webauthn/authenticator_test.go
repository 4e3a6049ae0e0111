package webauthn_test

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/sha256"
	"encoding/base64"
	"encoding/binary"
	"encoding/json"
	"slices"
	"testing"
)

// The flags of authenticator data (Web Authentication Level 3 §6.1).
const present, verified, synced, withKey = 0x01, 0x04, 0x08, 0x40

// authenticator is one with a passkey, in a browser that does what a test says.
type authenticator struct {
	t      testing.TB
	key    *ecdsa.PrivateKey
	id     []byte
	handle []byte // of the person, from when it is registered
	count  uint32
	flags  byte

	// What the browser says, which a true one does not choose.
	origin, host, kind string
	challenge          []byte // instead of the one that was asked
}

// newAuthenticator returns one that has asked who the person is, in a browser at an origin of a host.
func newAuthenticator(t testing.TB, origin, host string) *authenticator {
	t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	return &authenticator{
		t: t, key: key, id: []byte(rand.Text()), flags: present | verified, origin: origin, host: host,
	}
}

// options are those of the console, as far as an authenticator reads them.
type options struct {
	Challenge string `json:"challenge"`
	RPID      string `json:"rpId"`
	RP        struct {
		ID string `json:"id"`
	} `json:"rp"`
	User struct {
		ID string `json:"id"`
	} `json:"user"`
	UserVerification string `json:"userVerification"`
	Allowed          []struct {
		ID string `json:"id"`
	} `json:"allowCredentials"`
	Excluded []struct {
		ID string `json:"id"`
	} `json:"excludeCredentials"`
	Selection struct {
		ResidentKey      string `json:"residentKey"`
		UserVerification string `json:"userVerification"`
	} `json:"authenticatorSelection"`
}

func (a *authenticator) read(text []byte) options {
	a.t.Helper()
	var of options
	if err := json.Unmarshal(text, &of); err != nil {
		a.t.Fatalf("%s: %v", text, err)
	}
	return of
}

func (a *authenticator) decode(text string) []byte {
	a.t.Helper()
	read, err := base64.RawURLEncoding.DecodeString(text)
	if err != nil {
		a.t.Fatal(err)
	}
	return read
}

func encode(text []byte) string { return base64.RawURLEncoding.EncodeToString(text) }

// client returns what the browser says of itself.
func (a *authenticator) client(kind, challenge string) []byte {
	a.t.Helper()
	if a.kind != "" {
		kind = a.kind
	}
	if a.challenge != nil {
		challenge = encode(a.challenge)
	}
	text, err := json.Marshal(map[string]any{
		"type": kind, "challenge": challenge, "origin": a.origin, "crossOrigin": false,
	})
	if err != nil {
		a.t.Fatal(err)
	}
	return text
}

// data returns the authenticator data.
func (a *authenticator) data(flags byte) []byte {
	host := sha256.Sum256([]byte(a.host))
	return binary.BigEndian.AppendUint32(append(host[:], flags), a.count)
}

// create answers the options of a new passkey.
func (a *authenticator) create(text []byte) []byte {
	a.t.Helper()
	of := a.read(text)
	a.handle = a.decode(of.User.ID)
	point, err := a.key.PublicKey.Bytes()
	if err != nil {
		a.t.Fatal(err)
	}
	data := append(a.data(a.flags|withKey), make([]byte, 16)...) // of no make
	data = binary.BigEndian.AppendUint16(data, uint16(len(a.id)))
	data = append(data, a.id...)
	// A COSE key: of two coordinates, ES256, P-256.
	data = slices.Concat(data, []byte{0xa5, 1, 2, 3, 0x26, 0x20, 1, 0x21, 0x58, 32}, point[1:33],
		[]byte{0x22, 0x58, 32}, point[33:])
	// {"fmt": "none", "attStmt": {}, "authData": data}
	object := slices.Concat([]byte("\xa3\x63fmt\x64none\x67attStmt\xa0\x68authData\x58"), []byte{byte(len(data))}, data)
	return a.answer(map[string]any{
		"clientDataJSON": encode(a.client("webauthn.create", of.Challenge)), "attestationObject": encode(object),
		"transports": []string{"usb"},
	})
}

// get answers the options of a signature.
func (a *authenticator) get(text []byte) []byte {
	a.t.Helper()
	of := a.read(text)
	a.count++
	client, data := a.client("webauthn.get", of.Challenge), a.data(a.flags)
	hash := sha256.Sum256(client)
	sum := sha256.Sum256(append(slices.Clone(data), hash[:]...))
	signature, err := ecdsa.SignASN1(rand.Reader, a.key, sum[:])
	if err != nil {
		a.t.Fatal(err)
	}
	return a.answer(map[string]any{
		"clientDataJSON": encode(client), "authenticatorData": encode(data), "signature": encode(signature),
		"userHandle": encode(a.handle),
	})
}

func (a *authenticator) answer(response map[string]any) []byte {
	a.t.Helper()
	text, err := json.Marshal(map[string]any{
		"id": encode(a.id), "rawId": encode(a.id), "type": "public-key", "response": response,
		"authenticatorAttachment": "cross-platform", "clientExtensionResults": map[string]any{},
	})
	if err != nil {
		a.t.Fatal(err)
	}
	return text
}
