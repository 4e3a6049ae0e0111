package gate

import (
	"context"
	"crypto/aes"
	"crypto/cipher"
	"crypto/rand"
	"encoding/base64"
	"errors"
	"fmt"

	"github.com/aqltag/aqltag/runtime/identity"
	"github.com/aqltag/aqltag/runtime/store"
)

// sealKey and cursorKey are where the store holds the keys with which tokens and cursors are sealed. Replicas that share
// a store share the keys.
const (
	sealKey   = "key/seal"
	cursorKey = "key/cursor"
)

const sealKeyBytes = 32

// Seal encrypts a token, so that a client can hold it without being able to present it. Only a gate with the same store
// can decrypt it.
func (g *Gate) Seal(ctx context.Context, token string, caller identity.Caller) (string, error) {
	ctx, cancel := g.Bound(ctx)
	defer cancel()
	box, err := g.box(ctx)
	if err != nil {
		return "", err
	}
	nonce := make([]byte, box.NonceSize(), box.NonceSize()+len(token)+box.Overhead())
	rand.Read(nonce) // never fails (crypto/rand)
	return base64.RawURLEncoding.EncodeToString(box.Seal(nonce, nonce, []byte(token), g.sealedFor(caller))), nil
}

// unseal returns the token that Seal encrypted for a caller; empty: sealed is something else.
func (g *Gate) unseal(ctx context.Context, sealed string, caller identity.Caller) (string, error) {
	data, err := base64.RawURLEncoding.DecodeString(sealed)
	if err != nil {
		return "", nil //nolint:nilerr // a text that is not sealed is no failure
	}
	box, err := g.box(ctx)
	if err != nil {
		return "", err
	}
	if len(data) < box.NonceSize() {
		return "", nil
	}
	token, err := box.Open(nil, data[:box.NonceSize()], data[box.NonceSize():], g.sealedFor(caller))
	if err != nil {
		return "", nil //nolint:nilerr // a forgery is no failure
	}
	return string(token), nil
}

func (g *Gate) sealedFor(caller identity.Caller) []byte {
	return []byte(g.adapter + "\x00" + caller.Key())
}

// CursorKey returns the key in the store with which cursors are sealed. If there is none, it creates one.
func (g *Gate) CursorKey(ctx context.Context) ([]byte, error) {
	ctx, cancel := g.Bound(ctx)
	defer cancel()
	return g.key(ctx, cursorKey)
}

// box returns the cipher with the key in the store.
func (g *Gate) box(ctx context.Context) (cipher.AEAD, error) {
	key, err := g.key(ctx, sealKey)
	if err != nil {
		return nil, err
	}
	block, err := aes.NewCipher(key)
	if err != nil {
		return nil, fmt.Errorf("making the key of seals: %w", err)
	}
	return cipher.NewGCM(block)
}

// key returns a key in the store. If there is none, it creates one.
func (g *Gate) key(ctx context.Context, name string) ([]byte, error) {
	entry, err := g.options.Store.Get(ctx, name)
	if err == nil && !entry.Exists() {
		key := make([]byte, sealKeyBytes)
		rand.Read(key) // never fails (crypto/rand)
		if _, err = g.options.Store.Put(ctx, name, key, 0, 0); err == nil || errors.Is(err, store.ErrConflict) {
			entry, err = g.options.Store.Get(ctx, name)
		}
	}
	if err != nil {
		return nil, fmt.Errorf("looking up the key of seals: %w", err)
	}
	if len(entry.Value) != sealKeyBytes {
		return nil, fmt.Errorf("looking up the key of seals: %w", errDamaged)
	}
	return entry.Value, nil
}
