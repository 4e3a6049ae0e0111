package browser

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/sha256"
	"crypto/x509"
	"encoding/base64"
	"encoding/pem"
	"math/big"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/chromedp/cdproto/webauthn"
	"github.com/chromedp/chromedp"

	"github.com/aqltag/aqltag/runtime/approve"
	"github.com/aqltag/aqltag/runtime/console"
	passkeys "github.com/aqltag/aqltag/runtime/console/webauthn"
	"github.com/aqltag/aqltag/runtime/gen"
)

// proof is a certificate for a name below .example, in files.
type proof struct {
	cert, key string
	pin       string // the digest of its public key, by which a browser is told to trust it
}

func newProof(t *testing.T, name string) proof {
	t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	of := &x509.Certificate{
		SerialNumber: big.NewInt(1), NotBefore: time.Now().Add(-time.Hour), NotAfter: time.Now().Add(24 * time.Hour),
		DNSNames: []string{name},
	}
	der, err := x509.CreateCertificate(rand.Reader, of, of, key.Public(), key)
	if err != nil {
		t.Fatal(err)
	}
	secret, err := x509.MarshalPKCS8PrivateKey(key)
	if err != nil {
		t.Fatal(err)
	}
	public, err := x509.MarshalPKIXPublicKey(key.Public())
	if err != nil {
		t.Fatal(err)
	}
	at, sum := t.TempDir(), sha256.Sum256(public)
	p := proof{
		cert: filepath.Join(at, "cert.pem"), key: filepath.Join(at, "key.pem"),
		pin: base64.StdEncoding.EncodeToString(sum[:]),
	}
	for file, block := range map[string]*pem.Block{
		p.cert: {Type: "CERTIFICATE", Bytes: der}, p.key: {Type: "PRIVATE KEY", Bytes: secret},
	} {
		if err := os.WriteFile(file, pem.EncodeToMemory(block), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	return p
}

// newSecureSite returns a console with passkeys at https://console.example, and a browser that trusts it, with an
// authenticator that knows its person.
func newSecureSite(t *testing.T) (*site, *tab) {
	t.Helper()
	of := newProof(t, "console.example")
	s := newSite(t, func(o *console.Options) {
		o.Certificate, o.Key, o.Passkeys = of.cert, of.key, passkeys.New()
	})
	b := open(t, chromedp.Flag("ignore-certificate-errors-spki-list", of.pin))
	if _, err := chromedp.Call(b.Context(), webauthn.Enable, webauthn.EnableParams{}); err != nil {
		t.Fatal(err)
	}
	_, err := chromedp.Call(b.Context(), webauthn.AddVirtualAuthenticator, webauthn.AddVirtualAuthenticatorParams{
		Options: &webauthn.VirtualAuthenticatorOptions{
			Protocol: webauthn.AuthenticatorProtocolCtap2, Transport: webauthn.AuthenticatorTransportUsb,
			HasResidentKey: true, HasUserVerification: true, IsUserVerified: true, AutomaticPresenceSimulation: true,
		},
	})
	if err != nil {
		t.Fatal(err)
	}
	return s, b
}

// register registers a passkey on the page of them.
func (s *site) register(b *tab, name string) {
	s.t.Helper()
	b.visit(s.url + "passkeys")
	b.types("#name", name)
	b.types("#passphrase", secretWord)
	b.click("button[data-does=register]")
	b.waitForText(name)
	b.waitFor("form[action$=remove]")
}

// A person registers a passkey, approves with it what is dangerous, has a code shown, and logs in with it, and types a
// passphrase for none of that but the first.
func TestPasskeys(t *testing.T) {
	s, b := newSecureSite(t)
	s.logIn(b, "eve")
	s.register(b, "the key on my desk")
	item, held := s.ask(func(q *approve.Question) { q.Danger = gen.Dangerous }), s.hold(nil)
	b.visit(s.at(item))
	b.click("button[data-does=approve]")
	b.waitForText("delete_note is approved.")
	if state := s.stateOf(item); state != approve.Approved {
		t.Errorf("the item is %s", state)
	}
	b.visit(s.at(held))
	b.click("button[data-does='show a code']")
	b.waitFor("#secret")
	b.click(".who button")
	b.waitForText("You are logged out")
	b.click("button[data-does='log in']")
	b.waitFor("#rows")
	if who := b.text(".who .name"); !strings.Contains(who, "eve") {
		t.Errorf("logged in is %q", who)
	}
	b.visit(s.url + "passkeys")
	b.click("form[action$=remove] button")
	b.waitForText("You have no passkey")
}

// Where the authenticator has no passkey for the site, or a browser runs no script, the passphrase stays.
func TestWithoutPasskeys(t *testing.T) {
	s, b := newSecureSite(t)
	b.visit(s.url + "login")
	b.click("button[data-does='log in']")
	b.waitForText("or type your passphrase")
	s.logIn(b, "eve")
	s.register(b, "desk")
	if err := b.WithoutScript(); err != nil {
		t.Fatal(err)
	}
	item := s.ask(func(q *approve.Question) { q.Danger = gen.Dangerous })
	b.visit(s.at(item))
	b.types("#passphrase", secretWord)
	b.click("button[value=approve]")
	b.waitForText("delete_note is approved.")
}

// These pages are as accessible as the others.
func TestPasskeyPages(t *testing.T) {
	s, b := newSecureSite(t)
	item := s.ask(func(q *approve.Question) { q.Danger = gen.Dangerous })
	lookAtAllIn(t, b, []state{
		{"login-passkey", func(b *tab) { b.visit(s.url + "login") }},
		{"passkeys-empty", func(b *tab) {
			s.logIn(b, "eve")
			b.visit(s.url + "passkeys")
		}},
		{"passkeys", func(b *tab) { s.register(b, "the key on my desk") }},
		{"item-passkey", func(b *tab) { b.visit(s.at(item)) }},
	})
}
