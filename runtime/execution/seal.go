package execution

import (
	"crypto/aes"
	"crypto/cipher"
	"crypto/hkdf"
	"crypto/hmac"
	"crypto/rand"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
)

// makeBoxes derives what encrypts from the keys.
func (e *Engine) makeBoxes() error {
	for i, secret := range e.o.Keys {
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
		if i == 0 {
			if e.mac, err = hkdf.Key(sha256.New, secret, nil, "aqltag state key: once", 32); err != nil {
				return fmt.Errorf("deriving the key of executions: %w", err)
			}
		}
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
	nonce := make([]byte, e.boxes[0].NonceSize(), e.boxes[0].NonceSize()+len(text)+e.boxes[0].Overhead())
	rand.Read(nonce) // never fails (crypto/rand)
	return e.boxes[0].Seal(nonce, nonce, text, boundTo(r, part))
}

// open returns the text that seal was given.
func (e *Engine) open(r *Record, part string, sealed []byte) ([]byte, error) {
	if len(e.boxes) == 0 || sealed == nil {
		return sealed, nil
	}
	for _, box := range e.boxes {
		if size := box.NonceSize(); len(sealed) > size {
			if text, err := box.Open(nil, sealed[:size], sealed[size:], boundTo(r, part)); err == nil {
				return text, nil
			}
		}
	}
	return nil, fmt.Errorf("reading %s of execution %s: %w", part, r.ID, errSealed)
}

func boundTo(r *Record, part string) []byte {
	return []byte(digest(r.ID, r.Operation, r.CallerKey, string(r.Caller), part))
}

// digestOf is a digest of parameters from which nobody can guess them who does not have the key.
func (e *Engine) digestOf(params []byte) string {
	if e.mac == nil {
		return digest(string(params))
	}
	h := hmac.New(sha256.New, e.mac)
	h.Write(params)
	return hex.EncodeToString(h.Sum(nil)[:16])
}

// Params returns the parameters of an execution that is not attached.
func (e *Engine) Params(r *Record) ([]byte, error) { return e.open(r, "params", r.Params) }

// Result returns what a completed execution has come to.
func (e *Engine) Result(r *Record) ([]byte, error) { return e.open(r, "result", r.Result) }
