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

// sealKey is where the store holds the key with which tokens are sealed. Replicas that share a store share the key.
const sealKey = "key/seal"

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

// box returns the cipher with the key in the store. If there is no key, it creates one.
func (g *Gate) box(ctx context.Context) (cipher.AEAD, error) {
	entry, err := g.options.Store.Get(ctx, sealKey)
	if err == nil && !entry.Exists() {
		key := make([]byte, sealKeyBytes)
		rand.Read(key) // never fails (crypto/rand)
		if _, err = g.options.Store.Put(ctx, sealKey, key, 0, 0); err == nil || errors.Is(err, store.ErrConflict) {
			entry, err = g.options.Store.Get(ctx, sealKey)
		}
	}
	if err != nil {
		return nil, fmt.Errorf("looking up the key of seals: %w", err)
	}
	if len(entry.Value) != sealKeyBytes {
		return nil, fmt.Errorf("looking up the key of seals: %w", errDamaged)
	}
	block, err := aes.NewCipher(entry.Value)
	if err != nil {
		return nil, fmt.Errorf("making the key of seals: %w", err)
	}
	return cipher.NewGCM(block)
}
