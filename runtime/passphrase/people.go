package passphrase

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/aqltag/aqltag/runtime/identity"
)

// Person is somebody with a passphrase.
type Person struct {
	// Who is the person; anonymous: an earlier version has kept the passphrase, without names, or the entry is damaged
	// or sealed with another key.
	Who identity.Caller
	// Role is what the person may do; empty: nobody can read it, and the person may do nothing.
	Role identity.Role
	// Digest stands for the person in the state.
	Digest string
}

// People returns who has a passphrase, by name. Who has logged in to a console elsewhere is not among them.
func (b Book) People(ctx context.Context) ([]Person, error) {
	const pageSize = 500
	var all []Person
	for after := ""; ; {
		entries, err := b.Store.List(ctx, prefix, after, pageSize)
		if err != nil {
			return nil, fmt.Errorf("looking for people: %w", err)
		}
		for _, found := range entries {
			after = found.Key
			all = append(all, personOf(strings.TrimPrefix(found.Key, prefix), found.Value))
		}
		if len(entries) < pageSize {
			break
		}
	}
	slices.SortFunc(all, func(x, y Person) int {
		return cmp.Or(cmp.Compare(x.Who.Subject, y.Who.Subject), cmp.Compare(x.Digest, y.Digest))
	})
	return all, nil
}

// personOf returns the person of an entry. A name that is not that of its digest is none.
func personOf(digest string, text []byte) Person {
	p := Person{Digest: digest}
	e, ok := read(text)
	if !ok {
		return p
	}
	p.Role = roleOf(&e)
	if who := (identity.Caller{Subject: e.Name, Issuer: e.Issuer}); whose(who) == digest {
		p.Who = who
	}
	return p
}
