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

// lasting and passing begin what is sealed of an entry: whether the store keeps it until somebody removes it.
const lasting, passing byte = 'l', 'p'

// sealEntry encrypts the value of an entry of the store. It opens only as the value of that one.
func (k key) sealEntry(entry string, value []byte, lasts bool) []byte {
	size := k.entries.NonceSize()
	sealed := make([]byte, size, size+1+len(value)+k.entries.Overhead())
	rand.Read(sealed) // never fails (crypto/rand)
	text := append(sealed[size:], passing)
	if lasts {
		text[0] = lasting
	}
	text = append(text, value...)
	return k.entries.Seal(sealed, sealed, text, []byte(entry))
}

// entry is what the keys have made of the value of an entry.
type entry struct {
	value []byte
	lasts bool
	old   bool // another key than the first one has sealed it
}

// entry returns the value that sealEntry was given for an entry; ok is false if none of the keys has sealed it.
func (r keyring) entry(name string, sealed []byte) (e entry, ok bool) {
	for i, k := range r {
		size := k.entries.NonceSize()
		if len(sealed) < size {
			return entry{}, false
		}
		text, err := k.entries.Open(nil, sealed[:size], sealed[size:], []byte(name))
		if err == nil && len(text) > 0 {
			return entry{value: text[1:], lasts: text[0] == lasting, old: i > 0}, true
		}
	}
	return entry{}, false
}
