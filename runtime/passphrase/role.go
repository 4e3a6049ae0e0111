package passphrase

import (
	"cmp"
	"context"
	"crypto/rand"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"

	"github.com/aqltag/aqltag/runtime/identity"
	"github.com/aqltag/aqltag/runtime/store"
)

// ErrLastAdmin is the error of a change after which nobody could give roles any more.
var ErrLastAdmin = errors.New("nobody else is admin, and somebody has to be: enrol another admin first")

// Account is what the book has of a person.
type Account struct {
	// Version is that of the passphrase, and zero if there is none: see Book.Version.
	Version store.Version
	// Choice stands for this passphrase in this role: it is another one after each choice and each role, and stays the
	// same where the store seals the entry with another key, unlike Version. Empty: there is no passphrase.
	Choice string
	// Role is what the person may do. Who has a passphrase and was never given a role may do everything, and so may who
	// has none as long as nobody was ever given a role. After that, who is not in the book may look.
	Role identity.Role
}

// Account returns what the book has of a person.
func (b Book) Account(ctx context.Context, who identity.Caller) (Account, error) {
	known, version, err := b.find(ctx, who)
	if err != nil {
		return Account{}, err
	}
	if version != 0 {
		return Account{version, known.choice(), roleOf(&known)}, nil
	}
	given, err := b.given(ctx)
	if err != nil {
		return Account{}, err
	}
	if given.some {
		return Account{Role: identity.Viewer}, nil
	}
	return Account{Role: identity.Admin}, nil
}

// choice is Account.Choice.
func (e *entry) choice() string {
	sum := sha256.Sum256(fmt.Appendf(nil, "%q %x %q", e.Mark, e.Salt, e.Role))
	return hex.EncodeToString(sum[:16])
}

func roleOf(e *entry) identity.Role { return cmp.Or(e.Role, identity.Admin) }

// Enrol gives a role to a person with a passphrase of a version, and to one who has none, version zero, also the
// passphrase that was typed for it. All sessions of the person end. Enrol fails with ErrLastAdmin if nobody were admin
// after that, and with store.ErrConflict if the person has another passphrase or role meanwhile.
func (b Book) Enrol(
	ctx context.Context, who identity.Caller, before store.Version, typed string, role identity.Role,
) error {
	if !role.Includes(identity.Viewer) {
		return fmt.Errorf("giving a role: %q is none", role)
	}
	known, version, err := b.find(ctx, who)
	switch {
	case err != nil:
		return err
	case version != before:
		return fmt.Errorf("giving a role: %w", store.ErrConflict)
	}
	steps := version != 0 && roleOf(&known) == identity.Admin && role != identity.Admin
	if role != identity.Admin {
		given, err := b.given(ctx)
		if err != nil {
			return err
		}
		if steps {
			given.admins--
		}
		if given.admins < 1 {
			return ErrLastAdmin
		}
	}
	if version == 0 {
		return b.put(ctx, who, 0, typed, role)
	}
	next := known
	next.Role, next.Mark = role, rand.Text()
	version, err = b.write(ctx, who, version, &next)
	if err != nil || !steps {
		return err
	}
	return b.stepped(ctx, who, version, &known)
}

// stepped gives an admin who was one no more the role back if nobody is admin now, because others became something else
// at the same time. All of them may do so: nobody who was admin is left out, and nobody else becomes one.
func (b Book) stepped(ctx context.Context, who identity.Caller, version store.Version, before *entry) error {
	given, err := b.given(ctx)
	if err != nil || given.admins > 0 {
		return err
	}
	if _, err := b.write(ctx, who, version, before); err != nil && !errors.Is(err, store.ErrConflict) {
		return err
	}
	return ErrLastAdmin
}

// given is what the people in a book were given.
type given struct {
	some   bool // somebody was given a role
	admins int  // who may do everything
}

// given returns what the people in the book were given. Who is in an entry that cannot be read counts as given a role,
// and not as admin.
func (b Book) given(ctx context.Context) (all given, err error) {
	const pageSize = 500
	for after := ""; ; {
		entries, err := b.Store.List(ctx, prefix, after, pageSize)
		if err != nil {
			return given{}, fmt.Errorf("looking for roles: %w", err)
		}
		for _, found := range entries {
			after = found.Key
			e, ok := read(found.Value)
			if !ok {
				all.some = true
				continue
			}
			all.some = all.some || e.Role != ""
			if roleOf(&e) == identity.Admin {
				all.admins++
			}
		}
		if len(entries) < pageSize {
			return all, nil
		}
	}
}
