package gate

import (
	"crypto/aes"
	"crypto/cipher"
	"crypto/hkdf"
	"crypto/rand"
	"crypto/sha256"
	"encoding/base64"
	"fmt"
)

// ShortestKey is the least length of a state key, in bytes.
const ShortestKey = 32

// key is what is derived from one secret.
type key struct {
	box     cipher.AEAD // of seals
	entries cipher.AEAD // of what the store holds
	mac     []byte      // of what items are bound to
}

// keyring are the keys of an adapter. The first one seals; all of them open.
type keyring []key

// newKeyring derives the keys of secrets.
func newKeyring(secrets ...[]byte) (keyring, error) {
	var ring keyring
	for _, secret := range secrets {
		if len(secret) < ShortestKey {
			return nil, fmt.Errorf("a state key of %d bytes: it has %d or more", len(secret), ShortestKey)
		}
		var derived key
		seals, err := hkdf.Key(sha256.New, secret, nil, "aqltag state key: seals", 32)
		if err == nil {
			derived.mac, err = hkdf.Key(sha256.New, secret, nil, "aqltag state key: bindings", sha256.Size)
		}
		if err == nil {
			derived.box, err = newBox(seals)
		}
		if err == nil {
			derived.entries, err = entryBox(secret)
		}
		if err != nil {
			return nil, fmt.Errorf("deriving from a state key: %w", err)
		}
		ring = append(ring, derived)
	}
	return ring, nil
}

func entryBox(secret []byte) (cipher.AEAD, error) {
	entries, err := hkdf.Key(sha256.New, secret, nil, "aqltag state key: entries", 32)
	if err != nil {
		return nil, err
	}
	return newBox(entries)
}

func newBox(key []byte) (cipher.AEAD, error) {
	block, err := aes.NewCipher(key)
	if err != nil {
		return nil, err
	}
	return cipher.NewGCM(block)
}

// seal encrypts a text. It opens only with the same context.
func (k key) seal(text, context string) string {
	nonce := make([]byte, k.box.NonceSize(), k.box.NonceSize()+len(text)+k.box.Overhead())
	rand.Read(nonce) // never fails (crypto/rand)
	return base64.RawURLEncoding.EncodeToString(k.box.Seal(nonce, nonce, []byte(text), []byte(context)))
}

// open returns the text that seal encrypted with one of the keys; empty: sealed is something else.
func (r keyring) open(sealed, context string) string {
	data, err := base64.RawURLEncoding.DecodeString(sealed)
	if err != nil {
		return ""
	}
	for _, k := range r {
		size := k.box.NonceSize()
		if len(data) < size {
			return ""
		}
		if text, err := k.box.Open(nil, data[:size], data[size:], []byte(context)); err == nil {
			return string(text)
		}
	}
	return ""
}

// sealEntry encrypts the value of an entry of the store. It opens only as the value of that one.
func (k key) sealEntry(entry string, value []byte) []byte {
	nonce := make([]byte, k.entries.NonceSize(), k.entries.NonceSize()+len(value)+k.entries.Overhead())
	rand.Read(nonce) // never fails (crypto/rand)
	return k.entries.Seal(nonce, nonce, value, []byte(entry))
}

// entry returns the value that sealEntry was given for an entry; ok is false if none of the keys has sealed it.
func (r keyring) entry(entry string, sealed []byte) (value []byte, ok bool) {
	for _, k := range r {
		size := k.entries.NonceSize()
		if len(sealed) < size {
			return nil, false
		}
		if value, err := k.entries.Open(nil, sealed[:size], sealed[size:], []byte(entry)); err == nil {
			return value, true
		}
	}
	return nil, false
}
