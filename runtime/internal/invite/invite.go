// Package invite keeps links that let a person into a console once. A person has one made at a terminal, with a
// passphrase, and opens it in a browser, which then needs none.
package invite

import (
	"context"
	"crypto/rand"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"github.com/aqltag/aqltag/runtime/identity"
	"github.com/aqltag/aqltag/runtime/internal/logout"
	"github.com/aqltag/aqltag/runtime/store"
)

// Lifetime is how long a link lets somebody in.
const Lifetime = 10 * time.Minute

// prefix begins the keys of links in the store. A digest of the secret follows, from which nobody learns it.
const prefix = "console/link/"

// ErrOver is the error of a link that lets nobody in.
var ErrOver = errors.New("the link was used, has expired, or never was one")

// Book has the links of a console in its store. Errors of the store are those of its methods.
type Book struct {
	Store store.Store
	Now   func() time.Time
}

// Link is one that can be used.
type Link struct {
	Who identity.Caller `json:"who"`
	// Passphrase is the version of the person's passphrase, with another one of which it lets nobody in.
	Passphrase store.Version `json:"passphrase"`
	// Era is that of the person (package logout), in another one of which it lets nobody in.
	Era     string    `json:"era,omitempty"`
	Expires time.Time `json:"expires"`

	key     string
	version store.Version
}

func keyOf(secret string) string {
	sum := sha256.Sum256([]byte("link " + secret))
	return prefix + hex.EncodeToString(sum[:])
}

// New makes a link for a person with a passphrase of a version, and returns what stands in its address. Nothing else
// has that.
func (b Book) New(ctx context.Context, who identity.Caller, passphrase store.Version) (secret string, err error) {
	era, err := logout.Book{Store: b.Store}.Era(ctx, who)
	if err != nil {
		return "", err
	}
	text, err := json.Marshal(Link{Who: who, Passphrase: passphrase, Era: era, Expires: b.Now().Add(Lifetime).UTC()})
	if err != nil {
		return "", fmt.Errorf("encoding a link: %w", err)
	}
	secret = rand.Text()
	if _, err := b.Store.Put(ctx, keyOf(secret), text, 0, Lifetime); err != nil {
		return "", fmt.Errorf("keeping a link: %w", err)
	}
	return secret, nil
}

// Find returns the link with a secret, and changes nothing. It fails with ErrOver if there is none that can be used.
func (b Book) Find(ctx context.Context, secret string) (Link, error) {
	found, err := b.Store.Get(ctx, keyOf(secret))
	if err != nil {
		return Link{}, fmt.Errorf("looking up a link: %w", err)
	}
	var link Link
	if !found.Exists() || json.Unmarshal(found.Value, &link) != nil || link.Who.Anonymous() || link.Passphrase == 0 ||
		!b.Now().Before(link.Expires) {
		return Link{}, ErrOver
	}
	switch era, err := (logout.Book{Store: b.Store}).Era(ctx, link.Who); {
	case err != nil:
		return Link{}, err
	case era != link.Era:
		return Link{}, ErrOver
	}
	link.key, link.version = found.Key, found.Version
	return link, nil
}

// Use uses up a link that Find has returned. Of several who do that at the same time, one succeeds, and the others fail
// with ErrOver.
func (b Book) Use(ctx context.Context, link Link) error {
	err := b.Store.Delete(ctx, link.key, link.version)
	switch {
	case errors.Is(err, store.ErrConflict):
		return ErrOver
	case err != nil:
		return fmt.Errorf("using a link up: %w", err)
	}
	return nil
}
