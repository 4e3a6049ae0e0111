// Package passphrase keeps the passphrases by which people who decide are known, and their roles: at a terminal
// (package operator) and in a browser (package console). A Book is in the store that they decide about.
package passphrase

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
	"unicode/utf8"

	"github.com/aqltag/aqltag/runtime/identity"
	"github.com/aqltag/aqltag/runtime/store"
)

// Shortest is the length of the shortest passphrase, in characters: see Short.
const Shortest = 12

// Short reports whether a passphrase has fewer characters than Shortest, whatever number of bytes each of them has.
func Short(typed string) bool { return utf8.RuneCountInString(typed) < Shortest }

const (
	// prefix begins the keys of passphrases in the store, and triesPart those of the counters of wrong ones.
	prefix, triesPart = "operator/passphrase/", "operator-tries/"
	// mostTries is how many wrong passphrases of a person are looked at in a minute, in each place.
	mostTries = 10
	// standardRounds is how often a passphrase is hashed, and mostRounds how often one from the store is at most.
	standardRounds, mostRounds = 600_000, 10_000_000
)

// Why a passphrase does not count.
var (
	ErrWrong   = errors.New("the passphrase is wrong")
	ErrTries   = errors.New("too many wrong passphrases were typed; wait a minute")
	errDamaged = errors.New("a passphrase in the state is damaged, or was written by a later version")
)

// Book has the passphrases of people. Errors of the store are those of its methods.
type Book struct {
	Store store.Store
	// Rounds is how often a passphrase that is chosen is hashed: with PBKDF2 and HMAC-SHA-256 (RFC 8018 §5.2). Zero:
	// 600,000. Fewer are for tests.
	Rounds int
	// Place is where passphrases are typed, such as console; empty: at a terminal. Wrong ones of one place keep nobody out
	// of another: more programs can reach a console than a state.
	Place string
}

// entry is what the store has of the passphrase of a person.
type entry struct {
	Salt   []byte `json:"salt"`
	Rounds int    `json:"rounds"`
	Key    []byte `json:"key"`
	// Role is what the person may do; empty: nobody has said it, and it may do everything.
	Role identity.Role `json:"role,omitempty"`
	// Mark is another one with each role that the person is given. Each passphrase has another salt.
	Mark string `json:"mark,omitempty"`
	// Name and Issuer are those of the person, for lists of people; empty: an earlier version has written it.
	Name   string `json:"name,omitempty"`
	Issuer string `json:"issuer,omitempty"`
}

// read reads an entry of the store; false: it is damaged, or of a later version.
func read(text []byte) (e entry, ok bool) {
	ok = json.Unmarshal(text, &e) == nil && len(e.Salt) >= 16 && 1 <= e.Rounds && e.Rounds <= mostRounds &&
		len(e.Key) == sha256.Size && (e.Role == "" || e.Role.Includes(identity.Viewer))
	return e, ok
}

// key derives the key of what was typed.
func (e *entry) key(typed string) ([]byte, error) {
	key, err := pbkdf2.Key(sha256.New, typed, e.Salt, e.Rounds, sha256.Size)
	if err != nil {
		return nil, fmt.Errorf("deriving from the passphrase: %w", err)
	}
	return key, nil
}

// tries returns the key of the counter of a person's wrong passphrases in the place of the book.
func (b Book) tries(who identity.Caller) string {
	if b.Place == "" {
		return triesPart + whose(who)
	}
	return triesPart + b.Place + "/" + whose(who)
}

// whose is how keys in the store name a person.
func whose(who identity.Caller) string {
	sum := sha256.Sum256([]byte(who.Key()))
	return hex.EncodeToString(sum[:16])
}

// find returns the passphrase of a person, and its version in the store: zero if there is none.
func (b Book) find(ctx context.Context, who identity.Caller) (e entry, v store.Version, err error) {
	found, err := b.Store.Get(ctx, prefix+whose(who))
	if err != nil {
		return entry{}, 0, fmt.Errorf("reading the passphrase: %w", err)
	}
	if !found.Exists() {
		return entry{}, 0, nil
	}
	e, ok := read(found.Value)
	if !ok {
		return entry{}, 0, errDamaged
	}
	return e, found.Version, nil
}

// Version returns the version of a person's passphrase, which is another one after each choice, and after each
// role that the person is given; zero: there is none.
func (b Book) Version(ctx context.Context, who identity.Caller) (store.Version, error) {
	_, version, err := b.find(ctx, who)
	return version, err
}

// Any reports whether anybody has a passphrase.
func (b Book) Any(ctx context.Context) (bool, error) {
	found, err := b.Store.List(ctx, prefix, "", 1)
	if err != nil {
		return false, fmt.Errorf("looking for passphrases: %w", err)
	}
	return len(found) > 0, nil
}

// Check fails with ErrWrong unless ask returns the passphrase of the person, and with ErrTries, before it calls ask, if
// too many were wrong lately in this place. Who has none gets the same answers, after as much time. It returns the
// version of the passphrase that was right.
func (b Book) Check(ctx context.Context, who identity.Caller, ask func() (string, error)) (store.Version, error) {
	known, version, err := b.find(ctx, who)
	if err != nil {
		return 0, err
	}
	if version == 0 {
		known = entry{Salt: make([]byte, 16), Rounds: cmp.Or(b.Rounds, standardRounds)}
	}
	claim := store.Claim{Key: b.tries(who), N: 1, Limit: mostTries, Window: time.Minute}
	counts, err := b.Store.Take(ctx, []store.Claim{claim}) // as a wrong one, until it is right
	if err != nil {
		return 0, fmt.Errorf("counting passphrases: %w", err)
	}
	if counts[0].Refused {
		return 0, ErrTries
	}
	typed, err := ask()
	if err != nil {
		return 0, err
	}
	key, err := known.key(typed)
	if err != nil {
		return 0, err
	}
	if subtle.ConstantTimeCompare(key, known.Key) != 1 || version == 0 {
		return 0, ErrWrong
	}
	claim.N = -1
	if _, err := b.Store.Take(ctx, []store.Claim{claim}); err != nil {
		return 0, fmt.Errorf("counting passphrases: %w", err)
	}
	return version, nil
}

// Choose keeps a passphrase in the place of the one of a version; zero: the person has none. The person keeps its role.
// It fails with store.ErrConflict if the person has another one meanwhile. Who calls it has checked its length and the
// one before.
func (b Book) Choose(ctx context.Context, who identity.Caller, before store.Version, typed string) error {
	known, version, err := b.find(ctx, who)
	if err != nil {
		return err
	}
	role := known.Role
	if version == 0 {
		given, err := b.given(ctx)
		if err != nil {
			return err
		}
		if given.some {
			role = identity.Viewer
		}
	}
	return b.put(ctx, who, before, typed, role)
}

// put keeps a passphrase and a role over a version.
func (b Book) put(
	ctx context.Context, who identity.Caller, before store.Version, typed string, role identity.Role,
) error {
	next := entry{Salt: make([]byte, 16), Rounds: cmp.Or(b.Rounds, standardRounds), Role: role}
	rand.Read(next.Salt) // never fails (crypto/rand)
	var err error
	if next.Key, err = next.key(typed); err != nil {
		return err
	}
	_, err = b.write(ctx, who, before, &next)
	return err
}

// write writes an entry over a version, and returns the new one.
func (b Book) write(
	ctx context.Context, who identity.Caller, before store.Version, e *entry,
) (store.Version, error) {
	e.Name, e.Issuer = who.Subject, who.Issuer
	text, err := json.Marshal(e)
	if err != nil {
		return 0, fmt.Errorf("encoding the passphrase: %w", err)
	}
	version, err := b.Store.Put(ctx, prefix+whose(who), text, before, 0)
	if err != nil {
		return 0, fmt.Errorf("keeping the passphrase: %w", err)
	}
	return version, nil
}
