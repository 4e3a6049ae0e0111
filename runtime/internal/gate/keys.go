package gate

import (
	"crypto/aes"
	"crypto/cipher"
	"crypto/hkdf"
	"crypto/hmac"
	"crypto/rand"
	"crypto/sha256"
	"encoding/base64"
	"encoding/binary"
	"fmt"
)

// ShortestKey is the least length of a state key, in bytes.
const ShortestKey = 32

// key is what is derived from one secret.
type key struct {
	box cipher.AEAD // of seals
	mac []byte      // of what the store holds
}

// keyring are the keys of an adapter. The first one seals and signs; all of them open and verify.
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
			derived.mac, err = hkdf.Key(sha256.New, secret, nil, "aqltag state key: entries", sha256.Size)
		}
		if err == nil {
			derived.box, err = newBox(seals)
		}
		if err != nil {
			return nil, fmt.Errorf("deriving from a state key: %w", err)
		}
		ring = append(ring, derived)
	}
	return ring, nil
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

// signed returns the value of an entry of the store with its signature, which is one of the entry's key, too.
func (k key) signed(entry string, value []byte) []byte {
	return append(value[:len(value):len(value)], k.signature(entry, value)...)
}

func (k key) signature(entry string, value []byte) []byte {
	mac := hmac.New(sha256.New, k.mac)
	mac.Write(binary.AppendUvarint(nil, uint64(len(entry))))
	mac.Write([]byte(entry))
	mac.Write(value)
	return mac.Sum(nil)
}

// verified returns the value that signed was given for an entry; ok is false if none of the keys has signed it.
func (r keyring) verified(entry string, signed []byte) (value []byte, ok bool) {
	if len(signed) < sha256.Size {
		return nil, false
	}
	value, signature := signed[:len(signed)-sha256.Size], signed[len(signed)-sha256.Size:]
	for _, k := range r {
		if hmac.Equal(signature, k.signature(entry, value)) {
			return value, true
		}
	}
	return nil, false
}
