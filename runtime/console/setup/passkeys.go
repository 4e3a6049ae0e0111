package setup

// Passkeys has browsers make passkeys and sign with them (Web Authentication Level 3), such as package
// console/webauthn. It keeps nothing: the console has the passkeys of people, and what it has asked browsers to sign.
// Options and answers are the JSON that browsers read and write.
type Passkeys interface {
	// Create returns the options with which a browser makes a passkey for a person
	// (PublicKeyCredentialCreationOptionsJSON).
	Create(at Site, challenge []byte, of Holder) ([]byte, error)
	// Created returns the passkey that a browser has made so (RegistrationResponseJSON). It fails if the answer is not to
	// this challenge, from another site, or of a browser that has not asked who the person is.
	Created(at Site, challenge []byte, of Holder, answer []byte) (Passkey, error)
	// Ask returns the options with which a browser has a person sign a challenge
	// (PublicKeyCredentialRequestOptionsJSON), with one of some passkeys; none: with any that the person has for the site.
	Ask(at Site, challenge []byte, with []Passkey) ([]byte, error)
	// Verify returns the passkey of a person that has signed a challenge, as it is afterwards
	// (AuthenticationResponseJSON). It fails as Created does, and if the passkey is none of the person, or has signed
	// fewer times than was seen: then there is a copy of it.
	Verify(at Site, challenge []byte, of Holder, answer []byte) (Passkey, error)
}

// Site is what a passkey is good for: the console under one of its names.
type Site struct {
	Name   string // the adapter's, for people
	Host   string // without the port: the RP ID
	Origin string // such as https://console.example:9090
}

// Holder is a person with the passkeys that it has for a site.
type Holder struct {
	Handle   []byte // stands for the person in passkeys, and says nothing about it
	Name     string
	Passkeys []Passkey
}

// Passkey is what the console keeps of a passkey: nothing with which anybody could sign.
type Passkey struct {
	ID  []byte `json:"id"`
	Key []byte `json:"key"` // the public one, as a COSE key (RFC 9052)
	// Count is how often it has signed, where it counts.
	Count uint32 `json:"count,omitempty"`
	// Synced says that it may be on several devices of the person.
	Synced bool `json:"synced,omitempty"`
	// Attachment is platform or cross-platform, as the browser says, whom nobody has verified; empty: it does not say.
	Attachment string   `json:"attachment,omitempty"`
	Transports []string `json:"transports,omitempty"` // by which browsers find it again
}
