package gate

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"

	"github.com/aqltag/aqltag/runtime/identity"
	"github.com/aqltag/aqltag/runtime/store"
)

// sealKey is where the store holds the secret with which tokens are sealed, if the adapter has no state key. Replicas
// that share a store share it, and so does everybody who reads the store.
const sealKey = "key/seal"

// cursorKey is where the store holds the secret with which cursors are sealed, if the adapter has no state key.
const cursorKey = "key/cursor"

// seal encrypts a token, so that a client can hold it without being able to present it. Only a gate with the same state
// keys, or without any and with the same store, can decrypt it.
func (g *Gate) seal(ctx context.Context, token string, caller identity.Caller) (string, error) {
	ctx, cancel := g.Bound(ctx)
	defer cancel()
	ring, err := g.sealKeys(ctx)
	if err != nil {
		return "", err
	}
	return ring[0].seal(token, g.sealedFor(caller)), nil
}

// unseal returns the token that seal encrypted for a caller; empty: sealed is something else.
func (g *Gate) unseal(ctx context.Context, sealed string, caller identity.Caller) (string, error) {
	ring, err := g.sealKeys(ctx)
	if err != nil {
		return "", err
	}
	return ring.open(sealed, g.sealedFor(caller)), nil
}

func (g *Gate) sealedFor(caller identity.Caller) string { return g.adapter + "\x00" + caller.Key() }

// sealKeys returns the adapter's state keys, else the key of the secret in the store. If there is no secret, it makes
// one.
func (g *Gate) sealKeys(ctx context.Context) (keyring, error) {
	if g.keys != nil {
		return g.keys, nil
	}
	secret, err := g.secret(ctx, sealKey)
	if err != nil {
		return nil, err
	}
	return newKeyring(secret)
}

// CursorKeys returns the secrets with which cursors are sealed: the adapter's state keys, else the one in the store. If
// there is none, it makes one.
func (g *Gate) CursorKeys(ctx context.Context) ([][]byte, error) {
	if len(g.options.StateKeys) > 0 {
		return g.options.StateKeys, nil
	}
	ctx, cancel := g.Bound(ctx)
	defer cancel()
	secret, err := g.secret(ctx, cursorKey)
	return [][]byte{secret}, err
}

// secret returns a secret in the store. If there is none, it makes one.
func (g *Gate) secret(ctx context.Context, name string) ([]byte, error) {
	entry, err := g.options.Store.Get(ctx, name)
	if err == nil && !entry.Exists() {
		secret := make([]byte, ShortestKey)
		rand.Read(secret) // never fails (crypto/rand)
		if _, err = g.options.Store.Put(ctx, name, secret, 0, 0); err == nil || errors.Is(err, store.ErrConflict) {
			entry, err = g.options.Store.Get(ctx, name)
		}
	}
	if err != nil {
		return nil, fmt.Errorf("looking up the key of seals: %w", err)
	}
	if len(entry.Value) != ShortestKey {
		return nil, fmt.Errorf("looking up the key of seals: %w", errDamaged)
	}
	return entry.Value, nil
}
