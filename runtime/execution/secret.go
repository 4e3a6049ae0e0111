package execution

import (
	"context"
	"crypto/hmac"
	"crypto/rand"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"hash"

	"github.com/aqltag/aqltag/runtime/store"
)

// secretPart is the key of the secret of all digests from which nobody is to guess a text.
const secretPart = "secret"

// makeSecret reads the secret of the executions in the store, and makes one where there is none. Without a key there is
// no secret. It is sealed with a key, and is the same for all processes and all keys: what was digested is found again
// after a new key has become the first. Whoever has that seals the secret anew, so that the keys before it can go.
func (e *Engine) makeSecret(ctx context.Context) error {
	if len(e.boxes) == 0 || e.secret.Load() != nil {
		return nil
	}
	key, bound := e.root+secretPart, []byte(digest(secretPart, e.o.Name))
	for {
		entry, err := e.o.Store.Get(ctx, key)
		if err != nil {
			return fmt.Errorf("reading the secret of executions: %w", err)
		}
		secret, by := make([]byte, sha256.Size), -1
		if !entry.Exists() {
			rand.Read(secret) // never fails (crypto/rand)
		} else if secret, by, err = e.openAs(bound, entry.Value); err != nil {
			return fmt.Errorf("reading the secret of executions: %w", err)
		}
		if by != 0 {
			_, err = e.o.Store.Put(ctx, key, e.sealAs(bound, secret), entry.Version, 0)
			if errors.Is(err, store.ErrConflict) {
				continue
			}
			if err != nil { // it is unknown which one the store has
				return fmt.Errorf("writing the secret of executions: %w", err)
			}
		}
		e.secret.Store(&secret)
		return nil
	}
}

// mark is a digest of texts, which are kept apart. Who does not have the secret cannot find out whether it is of texts
// that they guess. Without a key there is no secret, and everybody can.
func (e *Engine) mark(texts ...string) string {
	secret := e.secret.Load()
	if secret == nil {
		return digest(texts...)
	}
	return digestWith(hmac.New(sha256.New, *secret), texts)
}

// digest is a text of fixed length for texts, which are kept apart.
func digest(texts ...string) string { return digestWith(sha256.New(), texts) }

func digestWith(h hash.Hash, texts []string) string {
	for _, text := range texts {
		fmt.Fprintf(h, "%d:%s", len(text), text)
	}
	return hex.EncodeToString(h.Sum(nil)[:16])
}
