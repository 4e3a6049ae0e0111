// Package logout ends all sessions of a person in consoles at once. A session has the era of its person in which it
// began, and is over in another one: so nobody has to look for the sessions of a person.
package logout

import (
	"context"
	"crypto/rand"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"

	"github.com/aqltag/aqltag/runtime/identity"
	"github.com/aqltag/aqltag/runtime/store"
)

// prefix begins the keys of eras in the store. A digest of the person follows. An entry stays: without it, sessions
// that were ended would go on.
const prefix = "console/era/"

// Book has the eras of people in the store of their sessions. Errors of the store are those of its methods.
type Book struct{ Store store.Store }

func keyOf(who identity.Caller) string {
	sum := sha256.Sum256([]byte(who.Key()))
	return prefix + hex.EncodeToString(sum[:16])
}

// Era returns the era of a person; empty: the sessions of the person were never ended.
func (b Book) Era(ctx context.Context, who identity.Caller) (string, error) {
	entry, err := b.Store.Get(ctx, keyOf(who))
	if err != nil {
		return "", fmt.Errorf("looking up whether sessions were ended: %w", err)
	}
	return string(entry.Value), nil
}

// End ends all sessions of a person that have begun by now, by beginning another era.
func (b Book) End(ctx context.Context, who identity.Caller) error {
	for ctx.Err() == nil {
		entry, err := b.Store.Get(ctx, keyOf(who))
		if err == nil {
			_, err = b.Store.Put(ctx, keyOf(who), []byte(rand.Text()), entry.Version, 0)
		}
		switch {
		case err == nil:
			return nil
		case !errors.Is(err, store.ErrConflict): // nobody else has ended them at the same time
			return fmt.Errorf("ending sessions: %w", err)
		}
	}
	return fmt.Errorf("ending sessions: %w", ctx.Err())
}
