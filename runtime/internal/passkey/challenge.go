package passkey

import (
	"context"
	"crypto/rand"
	"crypto/sha256"
	"crypto/subtle"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"github.com/aqltag/aqltag/runtime/store"
)

// Lifetime is for how long a challenge can be answered.
const Lifetime = 5 * time.Minute

// challengePart begins the keys of challenges in the store, after which a digest follows, and countPart those of their
// counters.
const challengePart, countPart = "console/challenge/", "console-challenges/"

// Why a challenge is not asked, or an answer does not count.
var (
	ErrOver  = errors.New("the challenge was answered, has expired, or never was one")
	ErrOther = errors.New("the challenge is for something else, or of another browser")
	ErrMany  = errors.New("too many challenges were asked for in the last minute")
)

// Deed is what a person signs: whatever of it differs makes another challenge.
type Deed struct {
	Browser  string `json:"browser"` // the digest of a secret that this browser has
	Does     string `json:"does"`    // such as approve
	Of       string `json:"of,omitempty"`
	Revision string `json:"revision,omitempty"`
}

// asked is what the store has of a challenge.
type asked struct {
	Nonce   string    `json:"nonce"`
	Expires time.Time `json:"expires"`
}

// challenge returns the challenge of a deed: SHA-256 of it and of a nonce.
func (d *Deed) challenge(nonce string) ([]byte, error) {
	text, err := json.Marshal(struct {
		Nonce string `json:"nonce"`
		Deed  *Deed  `json:"deed"`
	}{nonce, d})
	if err != nil {
		return nil, fmt.Errorf("encoding what is signed: %w", err)
	}
	sum := sha256.Sum256(text)
	return sum[:], nil
}

func challengeKey(challenge []byte) string {
	sum := sha256.Sum256(challenge)
	return challengePart + hex.EncodeToString(sum[:])
}

// Ask returns a challenge for a deed, which can be answered once. Those of one name are bounded in each minute: beyond
// that it fails with ErrMany.
func (b Book) Ask(ctx context.Context, deed Deed, name string, most int64) ([]byte, error) {
	sum := sha256.Sum256([]byte(name))
	counts, err := b.Store.Take(ctx, []store.Claim{{
		Key: countPart + hex.EncodeToString(sum[:16]), N: 1, Limit: most, Window: time.Minute,
	}})
	switch {
	case err != nil:
		return nil, fmt.Errorf("counting challenges: %w", err)
	case counts[0].Refused:
		return nil, ErrMany
	}
	of := asked{Nonce: rand.Text(), Expires: b.Now().Add(Lifetime).UTC()}
	challenge, err := deed.challenge(of.Nonce)
	if err != nil {
		return nil, err
	}
	text, err := json.Marshal(of)
	if err != nil {
		return nil, fmt.Errorf("encoding a challenge: %w", err)
	}
	if _, err := b.Store.Put(ctx, challengeKey(challenge), text, 0, Lifetime); err != nil {
		return nil, fmt.Errorf("keeping a challenge: %w", err)
	}
	return challenge, nil
}

// Answer uses up a challenge, also where it fails: with ErrOver if nobody waits for an answer to it, and with ErrOther
// if it was asked for another deed.
func (b Book) Answer(ctx context.Context, challenge []byte, deed Deed) error {
	entry, err := b.Store.Get(ctx, challengeKey(challenge))
	if err != nil {
		return fmt.Errorf("looking up a challenge: %w", err)
	}
	var of asked
	if !entry.Exists() || json.Unmarshal(entry.Value, &of) != nil {
		return ErrOver
	}
	err = b.Store.Delete(ctx, entry.Key, entry.Version)
	switch {
	case errors.Is(err, store.ErrConflict):
		return ErrOver
	case err != nil:
		return fmt.Errorf("using a challenge up: %w", err)
	case !b.Now().Before(of.Expires):
		return ErrOver
	}
	want, err := deed.challenge(of.Nonce)
	if err == nil && subtle.ConstantTimeCompare(want, challenge) != 1 {
		err = ErrOther
	}
	return err
}
