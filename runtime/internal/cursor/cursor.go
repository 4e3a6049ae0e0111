// Package cursor seals positions in a collection: a client can hold them and hand them back, but neither read nor make
// them (MCP-AQL pagination §6.4).
//
// A cursor is sealed with AES-256-GCM. Its nonce is the HMAC-SHA-256 of what is sealed, so a position has one cursor:
// equal requests get equal answers, and a nonce returns only with the text that it was used for. A random nonce would
// give each answer other cursors, and be bound to 2³² cursors in the life of a key, which a store may hold for years.
package cursor

import (
	"crypto/aes"
	"crypto/cipher"
	"crypto/hkdf"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/base64"
	"fmt"
	"hash"
	"sync"
)

// KeySize is the least length of a key, in bytes.
const KeySize = 32

// Box seals and opens cursors. It is safe for concurrent use.
type Box struct {
	seals []seal
	// encoding is strict: bits that say nothing are zero, so there is one text for each cursor.
	encoding *base64.Encoding
}

// mostKept is the length of the longest cursor whose memory is used again.
const mostKept = 4096

// seal seals with one key.
type seal struct {
	aead    cipher.AEAD
	scratch *sync.Pool
}

// scratch is what the work on a cursor uses again.
type scratch struct {
	mac  hash.Hash // of nonces
	text []byte
	out  []byte
}

// NewBox returns a Box that seals with the first key and opens what was sealed with any of them.
func NewBox(keys ...[]byte) (*Box, error) {
	b := &Box{encoding: base64.RawURLEncoding.Strict()}
	for _, key := range keys {
		s, err := newSeal(key)
		if err != nil {
			return nil, fmt.Errorf("making the key of cursors: %w", err)
		}
		b.seals = append(b.seals, s)
	}
	if len(b.seals) == 0 {
		return nil, fmt.Errorf("making the key of cursors: there is none")
	}
	return b, nil
}

func newSeal(key []byte) (seal, error) {
	if len(key) < KeySize {
		return seal{}, fmt.Errorf("it has %d bytes, and needs %d", len(key), KeySize)
	}
	sealing, err := hkdf.Key(sha256.New, key, nil, "aql cursor seal", KeySize)
	if err != nil {
		return seal{}, err
	}
	nonce, err := hkdf.Key(sha256.New, key, nil, "aql cursor nonce", KeySize)
	if err != nil {
		return seal{}, err
	}
	block, err := aes.NewCipher(sealing)
	if err != nil {
		return seal{}, err
	}
	aead, err := cipher.NewGCM(block)
	return seal{aead, &sync.Pool{New: func() any {
		return &scratch{mac: hmac.New(sha256.New, nonce)}
	}}}, err
}

// Seal returns the cursor of a position. It opens only for what it is bound to.
func (b *Box) Seal(bound, position []byte) string {
	s := &b.seals[0]
	w := s.scratch.Get().(*scratch)
	w.mac.Reset()
	w.mac.Write(bound)
	w.mac.Write(position)
	w.text = w.mac.Sum(w.text[:0])[:s.aead.NonceSize()]
	w.text = s.aead.Seal(w.text, w.text, position, bound)
	w.out = b.encoding.AppendEncode(w.out[:0], w.text)
	cursor := string(w.out)
	if len(cursor) <= mostKept {
		s.scratch.Put(w)
	}
	return cursor
}

// Open returns the position of a cursor; false: no key of the Box has sealed it for what it is bound to.
func (b *Box) Open(bound []byte, cursor string) (position []byte, ok bool) {
	text, err := b.encoding.DecodeString(cursor)
	if err != nil || b.encoding.EncodedLen(len(text)) != len(cursor) { // line breaks are ignored
		return nil, false
	}
	for i := range b.seals {
		aead := b.seals[i].aead
		if size := aead.NonceSize(); len(text) > size {
			var into []byte
			if i == len(b.seals)-1 { // for which text need not be left as it is
				into = text[size:size]
			}
			if position, err := aead.Open(into, text[:size], text[size:], bound); err == nil {
				return position, true
			}
		}
	}
	return nil, false
}
