package execution

import (
	"crypto/aes"
	"crypto/cipher"
	"crypto/hkdf"
	"crypto/rand"
	"crypto/sha256"
	"errors"
	"fmt"
)

// makeBoxes derives what encrypts from the keys.
func (e *Engine) makeBoxes() error {
	for _, secret := range e.o.Keys {
		key, err := hkdf.Key(sha256.New, secret, nil, "aqltag state key: executions", 32)
		if err != nil {
			return fmt.Errorf("deriving the key of executions: %w", err)
		}
		block, err := aes.NewCipher(key)
		if err != nil {
			return fmt.Errorf("deriving the key of executions: %w", err)
		}
		box, err := cipher.NewGCM(block)
		if err != nil {
			return fmt.Errorf("deriving the key of executions: %w", err)
		}
		e.boxes = append(e.boxes, box)
	}
	return nil
}

// errSealed says that what the store has was not written with one of the keys: by somebody else, or without a key.
var errSealed = errors.New("it was not written with one of the state keys")

// seal encrypts a text, if there is a key. It opens only as the same part of the same execution, operation and caller:
// who can write the store can neither make an execution nor give one to another caller.
func (e *Engine) seal(r *Record, part string, text []byte) []byte {
	if len(e.boxes) == 0 || text == nil {
		return text
	}
	return e.sealAs(boundTo(r, part), text)
}

// sealAs encrypts a text with the first key.
func (e *Engine) sealAs(bound, text []byte) []byte {
	box := e.boxes[0]
	nonce := make([]byte, box.NonceSize(), box.NonceSize()+len(text)+box.Overhead())
	rand.Read(nonce) // never fails (crypto/rand)
	return box.Seal(nonce, nonce, text, bound)
}

// open returns the text that seal was given.
func (e *Engine) open(r *Record, part string, sealed []byte) ([]byte, error) {
	if len(e.boxes) == 0 || sealed == nil {
		return sealed, nil
	}
	text, _, err := e.openAs(boundTo(r, part), sealed)
	if err != nil {
		return nil, fmt.Errorf("reading %s of execution %s: %w", part, r.ID, err)
	}
	return text, nil
}

// openAs returns the text that sealAs was given, and which of the keys has sealed it.
func (e *Engine) openAs(bound, sealed []byte) (text []byte, key int, err error) {
	for i, box := range e.boxes {
		if size := box.NonceSize(); len(sealed) > size {
			if text, err := box.Open(nil, sealed[:size], sealed[size:], bound); err == nil {
				return text, i, nil
			}
		}
	}
	return nil, 0, errSealed
}

func boundTo(r *Record, part string) []byte {
	return []byte(digest(r.ID, r.Operation, r.CallerKey, string(r.Caller), part))
}
