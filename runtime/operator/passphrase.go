package operator

import (
	"cmp"
	"context"
	"crypto/pbkdf2"
	"crypto/rand"
	"crypto/sha256"
	"crypto/subtle"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"github.com/aqltag/aqltag/runtime/store"
	"github.com/aqltag/aqltag/runtime/words"
)

const (
	// passphrasePart begins the keys of the passphrases of people in the state, and triesPart those of the counters of
	// wrong ones.
	passphrasePart, triesPart = "operator/passphrase/", "operator-tries/"
	// mostTries is how many wrong passphrases of a person are looked at in a minute.
	mostTries = 10
	// shortestPassphrase is in bytes.
	shortestPassphrase = 12
	// standardRounds is how often a passphrase is hashed, and mostRounds how often one from the state is at most.
	standardRounds, mostRounds = 600_000, 10_000_000
)

// Why a person is not let in.
var (
	errNoPassphrase = errors.New("you have no passphrase yet. Without one, every program of your user that makes a " +
		"terminal could do this. Choose one with: operator passphrase")
	errPassphrase     = errors.New("the passphrase is wrong")
	errTries          = errors.New("too many wrong passphrases were typed; wait a minute")
	errTypedTwice     = errors.New("the passphrase stays as it was: you typed two that differ")
	errShort          = fmt.Errorf("the passphrase stays as it was: one has %d characters or more", shortestPassphrase)
	errPassphraseText = errors.New("a passphrase in the state is damaged, or was written by a later version")
)

// passphrase is what the state has of the passphrase of a person.
type passphrase struct {
	Salt   []byte `json:"salt"`
	Rounds int    `json:"rounds"` // of PBKDF2 with HMAC-SHA-256 (RFC 8018 §5.2)
	Key    []byte `json:"key"`
}

// key derives the key of what was typed.
func (p *passphrase) key(typed string) ([]byte, error) {
	return pbkdf2.Key(sha256.New, typed, p.Salt, p.Rounds, sha256.Size)
}

// whose is how keys in the state name the person.
func (d *Desk) whose() string {
	sum := sha256.Sum256([]byte(d.Who.Key()))
	return hex.EncodeToString(sum[:16])
}

// passphrase returns the passphrase of the person, and its entry in the state; nil: there is none.
func (d *Desk) passphrase(ctx context.Context) (*passphrase, store.Entry, error) {
	entry, err := d.State.Get(ctx, passphrasePart+d.whose())
	if err != nil {
		return nil, entry, fmt.Errorf("reading the passphrase: %w", err)
	}
	if !entry.Exists() {
		return nil, entry, nil
	}
	var p passphrase
	if json.Unmarshal(entry.Value, &p) != nil || len(p.Salt) < 16 || p.Rounds < 1 || p.Rounds > mostRounds ||
		len(p.Key) != sha256.Size {
		return nil, entry, errPassphraseText
	}
	return &p, entry, nil
}

// logIn asks for the passphrase of the person. Who has none is let in, unless one is required.
func (d *Desk) logIn(ctx context.Context, t *dialog, required bool) error {
	if d.State == nil && !required {
		return nil
	}
	known, _, err := d.passphrase(ctx)
	switch {
	case err != nil:
		return err
	case known == nil && required:
		return errNoPassphrase
	case known == nil:
		return nil
	}
	claim := store.Claim{Key: triesPart + d.whose(), N: 1, Limit: mostTries, Window: time.Minute}
	counts, err := d.State.Take(ctx, []store.Claim{claim}) // as a wrong one, until it is right
	if err != nil {
		return fmt.Errorf("counting passphrases: %w", err)
	}
	if counts[0].Refused {
		return errTries
	}
	typed, err := t.askUnseen(ctx, "Passphrase of "+words.Printable(d.Who.Subject)+": ")
	if err != nil {
		return err
	}
	key, err := known.key(typed)
	if err != nil {
		return fmt.Errorf("checking the passphrase: %w", err)
	}
	if subtle.ConstantTimeCompare(key, known.Key) != 1 {
		return errPassphrase
	}
	claim.N = -1
	if _, err := d.State.Take(ctx, []store.Claim{claim}); err != nil {
		return fmt.Errorf("counting passphrases: %w", err)
	}
	return nil
}

// choose sets the passphrase of the person, who types the one before first.
func (d *Desk) choose(ctx context.Context) error {
	t, err := d.dialog("a passphrase is typed")
	if err != nil {
		return err
	}
	defer t.Close()
	_, before, err := d.passphrase(ctx)
	if err == nil {
		err = d.logIn(ctx, t, false)
	}
	if err != nil {
		return err
	}
	typed, err := t.askUnseen(ctx, fmt.Sprintf("New passphrase, of %d characters or more: ", shortestPassphrase))
	if err != nil {
		return err
	}
	if len(typed) < shortestPassphrase {
		return errShort
	}
	again, err := t.askUnseen(ctx, "The same once more: ")
	if err != nil {
		return err
	}
	if typed != again {
		return errTypedTwice
	}
	next := passphrase{Salt: make([]byte, 16), Rounds: cmp.Or(d.rounds, standardRounds)}
	rand.Read(next.Salt) // never fails (crypto/rand)
	if next.Key, err = next.key(typed); err != nil {
		return fmt.Errorf("deriving from the passphrase: %w", err)
	}
	text, err := json.Marshal(next)
	if err != nil {
		return fmt.Errorf("encoding the passphrase: %w", err)
	}
	if _, err := d.State.Put(ctx, passphrasePart+d.whose(), text, before.Version, 0); err != nil {
		return fmt.Errorf("keeping the passphrase: %w", err)
	}
	fmt.Fprintf(d.Stdout, "%s is asked for this passphrase from now on.\n", words.Printable(d.Who.Subject))
	return nil
}
