// Package webauthn lets people log in to a console with passkeys (Web Authentication Level 3), and sign with them what
// they approve:
//
//	serve.Main(registry, serve.Options{
//		Console: func(ctx context.Context, address string, o setup.Options) (func() string, func(), error) {
//			o.Passkeys = webauthn.New()
//			return console.Serve(ctx, address, o)
//		},
//	})
//
// Browsers have passkeys for names with HTTPS, and for no IP address: console.Options.Passkeys says where the console
// offers them. An authenticator must ask who the person is (user verification), and is not asked who has made it
// (attestation).
package webauthn

import (
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"

	"github.com/go-webauthn/webauthn/protocol"
	"github.com/go-webauthn/webauthn/webauthn"

	"github.com/aqltag/aqltag/runtime/console/setup"
)

// Why an answer does not count, beside what the library says.
var (
	errOrigin = errors.New("the answer is of another origin")
	errCopied = errors.New("the passkey has signed fewer times than was seen: there is a copy of it")
	errNobody = errors.New("the answer is of another person")
)

// passkeys implements setup.Passkeys.
type passkeys struct{}

// New returns what makes and verifies the passkeys of a console.
func New() setup.Passkeys { return passkeys{} }

// holder is a person as the library sees it.
type holder struct{ setup.Holder }

func (h holder) WebAuthnID() []byte          { return h.Handle }
func (h holder) WebAuthnName() string        { return h.Name }
func (h holder) WebAuthnDisplayName() string { return h.Name }

func (h holder) WebAuthnCredentials() []webauthn.Credential {
	all := make([]webauthn.Credential, 0, len(h.Passkeys))
	for i := range h.Passkeys {
		all = append(all, credential(&h.Passkeys[i]))
	}
	return all
}

// credential returns a passkey as the library sees it.
func credential(p *setup.Passkey) webauthn.Credential {
	of := webauthn.Credential{
		ID: p.ID, PublicKey: p.Key, Flags: webauthn.CredentialFlags{UserVerified: true, BackupEligible: p.Synced},
		Authenticator: webauthn.Authenticator{SignCount: p.Count},
	}
	for _, one := range p.Transports {
		of.Transport = append(of.Transport, protocol.AuthenticatorTransport(one))
	}
	return of
}

// descriptors name passkeys to browsers.
func descriptors(all []setup.Passkey) []protocol.CredentialDescriptor {
	var some []protocol.CredentialDescriptor
	for i := range all {
		one := credential(&all[i])
		some = append(some, one.Descriptor())
	}
	return some
}

// open returns the site as the library sees it.
func open(at setup.Site) (*webauthn.WebAuthn, error) {
	must := true
	of, err := webauthn.New(&webauthn.Config{
		RPID: at.Host, RPDisplayName: at.Name, RPOrigins: []string{at.Origin},
		AttestationPreference: protocol.PreferNoAttestation,
		AuthenticatorSelection: protocol.AuthenticatorSelection{
			ResidentKey: protocol.ResidentKeyRequirementRequired, RequireResidentKey: &must,
			UserVerification: protocol.VerificationRequired,
		},
		// Password managers add some that nobody has asked for, and none of them counts here.
		ExtensionsUnsolicitedOutputPolicy: protocol.UnsolicitedOutputPolicyIgnore,
	})
	if err != nil {
		return nil, fmt.Errorf("setting up passkeys for %s: %w", at.Host, err)
	}
	return of, nil
}

// asked is what the library keeps of a challenge.
func asked(at setup.Site, challenge []byte, of *setup.Holder) webauthn.SessionData {
	return webauthn.SessionData{
		Challenge: base64.RawURLEncoding.EncodeToString(challenge), RelyingPartyID: at.Host, UserID: of.Handle,
		UserVerification: protocol.VerificationRequired, CredParams: webauthn.CredentialParametersDefault(),
	}
}

// Create implements setup.Passkeys.
func (passkeys) Create(at setup.Site, challenge []byte, of setup.Holder) ([]byte, error) {
	site, err := open(at)
	if err != nil {
		return nil, err
	}
	options, _, err := site.BeginRegistration(holder{of}, webauthn.WithExclusions(descriptors(of.Passkeys)),
		func(o *protocol.PublicKeyCredentialCreationOptions) error {
			o.Challenge = challenge
			return nil
		})
	if err != nil {
		return nil, fmt.Errorf("making the options of a passkey: %w", err)
	}
	return encode(options.Response)
}

// encode writes options for browsers.
func encode(options any) ([]byte, error) {
	text, err := json.Marshal(options)
	if err != nil {
		return nil, fmt.Errorf("encoding the options of a passkey: %w", err)
	}
	return text, nil
}

// Created implements setup.Passkeys.
func (passkeys) Created(at setup.Site, challenge []byte, of setup.Holder, answer []byte) (setup.Passkey, error) {
	site, err := open(at)
	if err != nil {
		return setup.Passkey{}, err
	}
	read, err := protocol.ParseCredentialCreationResponseBytes(answer)
	if err == nil && read.Response.CollectedClientData.Origin != at.Origin {
		err = errOrigin
	}
	var made *webauthn.Credential
	if err == nil {
		made, err = site.CreateCredential(holder{of}, asked(at, challenge, &of), read)
	}
	if err != nil {
		return setup.Passkey{}, fmt.Errorf("reading a new passkey: %w", reason(err))
	}
	p := setup.Passkey{
		ID: made.ID, Key: made.PublicKey, Count: made.Authenticator.SignCount, Synced: made.Flags.BackupEligible,
		Attachment: string(made.Authenticator.Attachment),
	}
	for _, one := range made.Transport {
		p.Transports = append(p.Transports, string(one))
	}
	return p, nil
}

// Ask implements setup.Passkeys.
func (passkeys) Ask(at setup.Site, challenge []byte, with []setup.Passkey) ([]byte, error) {
	site, err := open(at)
	if err != nil {
		return nil, err
	}
	options, _, err := site.BeginDiscoverableLogin(webauthn.WithAllowedCredentials(descriptors(with)),
		func(o *protocol.PublicKeyCredentialRequestOptions) error {
			o.Challenge = challenge
			return nil
		})
	if err != nil {
		return nil, fmt.Errorf("making the options of a signature: %w", err)
	}
	return encode(options.Response)
}

// Verify implements setup.Passkeys.
func (passkeys) Verify(at setup.Site, challenge []byte, of setup.Holder, answer []byte) (setup.Passkey, error) {
	site, err := open(at)
	if err != nil {
		return setup.Passkey{}, err
	}
	read, err := protocol.ParseCredentialRequestResponseBytes(answer)
	switch {
	case err != nil:
	case read.Response.CollectedClientData.Origin != at.Origin:
		err = errOrigin
	case len(of.Handle) == 0:
		err = errNobody
	}
	var used *webauthn.Credential
	if err == nil {
		used, err = site.ValidateLogin(holder{of}, asked(at, challenge, &of), read)
	}
	if err == nil && used.Authenticator.CloneWarning {
		err = errCopied
	}
	if err != nil {
		return setup.Passkey{}, fmt.Errorf("verifying the signature of a passkey: %w", reason(err))
	}
	for _, p := range of.Passkeys {
		if string(p.ID) == string(used.ID) {
			p.Count = used.Authenticator.SignCount
			return p, nil
		}
	}
	return setup.Passkey{}, errNobody
}

// reason returns an error with what the library says for developers.
func reason(err error) error {
	if of, ok := errors.AsType[*protocol.Error](err); ok && of.DevInfo != "" {
		return fmt.Errorf("%w: %s", err, of.DevInfo)
	}
	return err
}
