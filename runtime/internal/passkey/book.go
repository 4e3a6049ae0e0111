// Package passkey keeps the passkeys of people in the store of a console, and what their browsers are asked to sign.
// It verifies no signature: see setup.Passkeys.
package passkey

import (
	"bytes"
	"context"
	"crypto/rand"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/aqltag/aqltag/runtime/console/setup"
	"github.com/aqltag/aqltag/runtime/identity"
	"github.com/aqltag/aqltag/runtime/store"
)

// Most is how many passkeys a person has at most.
const Most = 10

// ofPart begins the keys under which the store has the passkeys of people, and handlePart those that lead from the
// handle of a person to its name.
const ofPart, handlePart = "console/passkeys/", "console/passkey-handle/"

// Why a passkey is not kept, or does not count.
var (
	ErrMost    = fmt.Errorf("you have %d passkeys, and more are not kept: remove one", Most)
	ErrKnown   = errors.New("the passkey is registered already")
	ErrUnknown = errors.New("it is a passkey of nobody, or was removed")
)

// Book has the passkeys of people in a store. Errors of the store are those of its methods.
type Book struct {
	Store store.Store
	Now   func() time.Time
}

// Kept is a passkey of a person.
type Kept struct {
	setup.Passkey
	Host string    `json:"host"` // for which it was made
	Name string    `json:"name"` // that the person has given it
	Made time.Time `json:"made"`
	Used time.Time `json:"used,omitzero"`
}

// Person is somebody with a passphrase, and the passkeys that were made while it was that one.
type Person struct {
	Who        identity.Caller `json:"who"`
	Passphrase string          `json:"passphrase"` // or role: see passphrase.Account.Choice
	Handle     []byte          `json:"handle"`
	Passkeys   []Kept          `json:"passkeys,omitempty"`

	version store.Version
}

// At returns the person with the passkeys for a host.
func (p *Person) At(host string) setup.Holder {
	of := setup.Holder{Handle: p.Handle, Name: p.Who.Subject}
	for _, one := range p.Passkeys {
		if one.Host == host {
			of.Passkeys = append(of.Passkeys, one.Passkey)
		}
	}
	return of
}

func (p *Person) index(id []byte) int {
	return slices.IndexFunc(p.Passkeys, func(one Kept) bool { return bytes.Equal(one.ID, id) })
}

// Find returns the passkey of the person with an ID; false: there is none.
func (p *Person) Find(id []byte) (Kept, bool) {
	at := p.index(id)
	if at < 0 {
		return Kept{}, false
	}
	return p.Passkeys[at], true
}

func keyOf(who identity.Caller) string {
	sum := sha256.Sum256([]byte(who.Key()))
	return ofPart + hex.EncodeToString(sum[:])
}

func handleKey(handle []byte) string {
	sum := sha256.Sum256(handle)
	return handlePart + hex.EncodeToString(sum[:])
}

// Of returns a person with a passphrase, for which its choice stands. Passkeys that were made before it was chosen are
// not those of the person any more. Who has never had one has no handle.
func (b Book) Of(ctx context.Context, who identity.Caller, passphrase string) (Person, error) {
	entry, err := b.Store.Get(ctx, keyOf(who))
	if err != nil {
		return Person{}, fmt.Errorf("looking up passkeys: %w", err)
	}
	p := Person{version: entry.Version}
	if entry.Exists() && (json.Unmarshal(entry.Value, &p) != nil || p.Who.Key() != who.Key()) {
		return Person{}, errors.New("looking up passkeys: an entry of the state is damaged, or of a later version")
	}
	if p.Who = who; p.Passphrase != passphrase {
		p.Passphrase, p.Passkeys = passphrase, nil
	}
	return p, nil
}

// Open is Of for a person who is to get a passkey, and gives it a handle.
func (b Book) Open(ctx context.Context, who identity.Caller, passphrase string) (Person, error) {
	for {
		p, err := b.Of(ctx, who, passphrase)
		if err != nil || len(p.Handle) > 0 {
			return p, err
		}
		if err := b.handle(ctx, &p); !errors.Is(err, store.ErrConflict) { // no other tab of the person was faster
			return p, err
		}
	}
}

// handle gives a person a handle. It fails with store.ErrConflict, and keeps none, if the person has changed since it
// was read.
func (b Book) handle(ctx context.Context, p *Person) error {
	p.Handle = make([]byte, 32)
	rand.Read(p.Handle) // never fails (crypto/rand)
	text, err := json.Marshal(p.Who)
	if err != nil {
		return fmt.Errorf("encoding a person: %w", err)
	}
	version, err := b.Store.Put(ctx, handleKey(p.Handle), text, 0, 0)
	if err != nil {
		return fmt.Errorf("keeping the handle of a person: %w", err)
	}
	if err = b.keep(ctx, p); errors.Is(err, store.ErrConflict) {
		err = errors.Join(err, b.Store.Delete(ctx, handleKey(p.Handle), version))
	}
	return err
}

// Who returns whom a handle stands for. It fails with ErrUnknown if that is nobody.
func (b Book) Who(ctx context.Context, handle []byte) (identity.Caller, error) {
	entry, err := b.Store.Get(ctx, handleKey(handle))
	if err != nil {
		return identity.Caller{}, fmt.Errorf("looking up the handle of a person: %w", err)
	}
	var who identity.Caller
	if !entry.Exists() || json.Unmarshal(entry.Value, &who) != nil || who.Anonymous() {
		return identity.Caller{}, ErrUnknown
	}
	return who, nil
}

// keep writes a person over the entry that was read.
func (b Book) keep(ctx context.Context, p *Person) error {
	text, err := json.Marshal(p)
	if err != nil {
		return fmt.Errorf("encoding passkeys: %w", err)
	}
	if p.version, err = b.Store.Put(ctx, keyOf(p.Who), text, p.version, 0); err != nil {
		return fmt.Errorf("keeping passkeys: %w", err)
	}
	return nil
}

// Add adds a passkey to those of a person. It fails with ErrMost if there are enough, with ErrKnown if it is one of
// them, and with store.ErrConflict if they have changed since they were read.
func (b Book) Add(ctx context.Context, p Person, one Kept) error {
	switch {
	case len(p.Passkeys) >= Most:
		return ErrMost
	case p.index(one.ID) >= 0:
		return ErrKnown
	}
	p.Passkeys = append(slices.Clone(p.Passkeys), one)
	return b.keep(ctx, &p)
}

// Remove removes a passkey from those of a person. It fails with ErrUnknown if the person has no such, and as Add does.
func (b Book) Remove(ctx context.Context, p Person, id []byte) error {
	at := p.index(id)
	if at < 0 {
		return ErrUnknown
	}
	p.Passkeys = slices.Delete(slices.Clone(p.Passkeys), at, at+1)
	return b.keep(ctx, &p)
}

// Use notes that a passkey of a person has signed: as it is now, and when. It fails as Remove does.
func (b Book) Use(ctx context.Context, p Person, now setup.Passkey) error {
	at := p.index(now.ID)
	if at < 0 {
		return ErrUnknown
	}
	p.Passkeys = slices.Clone(p.Passkeys)
	p.Passkeys[at].Passkey, p.Passkeys[at].Used = now, b.Now().UTC()
	return b.keep(ctx, &p)
}
