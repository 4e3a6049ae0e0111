package passphrase_test

import (
	"context"
	"errors"
	"strings"
	"sync"
	"testing"

	"github.com/aqltag/aqltag/runtime/identity"
	"github.com/aqltag/aqltag/runtime/passphrase"
	"github.com/aqltag/aqltag/runtime/store"
)

var bob = identity.Caller{Subject: "bob", Issuer: "stdio"}

// account returns what a book has of a person.
func account(t *testing.T, book passphrase.Book, who identity.Caller) passphrase.Account {
	t.Helper()
	got, err := book.Account(t.Context(), who)
	if err != nil {
		t.Fatal(err)
	}
	return got
}

// Until somebody is given a role, all may do everything, as they could before there were roles. After that, who had a
// passphrase before still may, and who comes new looks.
func TestWhoHasNoRole(t *testing.T) {
	book := passphrase.Book{Store: new(store.Memory), Rounds: 10}
	if got := account(t, book, eve); got != (passphrase.Account{Role: identity.Admin}) {
		t.Errorf("in an empty book: %+v", got)
	}
	if err := book.Choose(t.Context(), eve, 0, "correct horse battery"); err != nil {
		t.Fatal(err)
	}
	for _, who := range []identity.Caller{eve, bob} {
		if got := account(t, book, who); got.Role != identity.Admin || (got.Version != 0) != (who.Subject == "eve") {
			t.Errorf("%s, before somebody has a role: %+v", who.Subject, got)
		}
	}
	carol := identity.User("carol")
	if err := book.Enrol(t.Context(), carol, 0, "correct horse battery", identity.Approver); err != nil {
		t.Fatal(err)
	}
	for who, want := range map[string]identity.Role{
		"eve": identity.Admin, "bob": identity.Viewer, "carol": identity.Approver,
	} {
		if got := account(t, book, identity.User(who)); got.Role != want {
			t.Errorf("%s, when carol has a role: %+v, want %s", who, got, want)
		}
	}
	if err := book.Choose(t.Context(), bob, 0, "correct horse battery"); err != nil {
		t.Fatal(err)
	}
	if got := account(t, book, bob); got.Role != identity.Viewer || got.Version == 0 {
		t.Errorf("bob, with a passphrase: %+v", got)
	}
}

// A choice is another one after each passphrase and each role, also one from before, and is that of no other person. It
// is the same when the store has written the entry anew.
func TestChoices(t *testing.T) {
	state := new(store.Memory)
	book := passphrase.Book{Store: state, Rounds: 10}
	if got := account(t, book, eve).Choice; got != "" {
		t.Errorf("without a passphrase: %q", got)
	}
	seen := make(map[string]string)
	check := func(when string, who identity.Caller, err error) {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
		got := account(t, book, who).Choice
		if before, ok := seen[got]; ok || got == "" {
			t.Errorf("%s: %q, as %s", when, got, before)
		}
		seen[got] = when
	}
	choose := func(who identity.Caller) error {
		return book.Choose(t.Context(), who, account(t, book, who).Version, "correct horse battery")
	}
	check("the first one", eve, choose(eve))
	check("the same once more", eve, choose(eve))
	check("of bob", bob, choose(bob))
	for _, role := range []identity.Role{identity.Viewer, identity.Admin, identity.Viewer} {
		check("as "+string(role), bob, book.Enrol(t.Context(), bob, account(t, book, bob).Version, "", role))
	}
	before := account(t, book, bob)
	entries, err := state.List(t.Context(), "", "", 10)
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range entries {
		if _, err := state.Put(t.Context(), e.Key, e.Value, e.Version, 0); err != nil {
			t.Fatal(err)
		}
	}
	if after := account(t, book, bob); after.Choice != before.Choice || after.Version == before.Version {
		t.Errorf("written anew: %+v, before %+v", after, before)
	}
}

// Another role makes another version, so that sessions end, and leaves the passphrase as it is. Another passphrase
// leaves the role as it is.
func TestRoles(t *testing.T) {
	book := passphrase.Book{Store: new(store.Memory), Rounds: 10}
	if err := book.Choose(t.Context(), eve, 0, "the word of an admin"); err != nil {
		t.Fatal(err)
	}
	if err := book.Enrol(t.Context(), bob, 0, "correct horse battery", identity.Viewer); err != nil {
		t.Fatal(err)
	}
	first, err := book.Check(t.Context(), bob, typed("correct horse battery"))
	if err != nil {
		t.Fatal(err)
	}
	if err := book.Enrol(t.Context(), bob, first, "", identity.Approver); err != nil {
		t.Fatal(err)
	}
	second, err := book.Check(t.Context(), bob, typed("correct horse battery"))
	if err != nil || second == first {
		t.Errorf("after another role: version %d, %v", second, err)
	}
	if err := book.Enrol(t.Context(), bob, first, "", identity.Admin); !errors.Is(err, store.ErrConflict) {
		t.Errorf("over a version from before: %v", err)
	}
	if err := book.Choose(t.Context(), bob, second, "another passphrase"); err != nil {
		t.Fatal(err)
	}
	if got := account(t, book, bob); got.Role != identity.Approver {
		t.Errorf("after another passphrase: %+v", got)
	}
	if err := book.Enrol(t.Context(), bob, account(t, book, bob).Version, "", "root"); err == nil {
		t.Error("a role that there is not was given")
	}
}

// An admin whose passphrase cannot be read is none: the last of the others stays.
func TestDamagedAdmins(t *testing.T) {
	state := new(store.Memory)
	book := passphrase.Book{Store: state, Rounds: 10}
	if err := book.Enrol(t.Context(), bob, 0, "correct horse battery", identity.Admin); err != nil {
		t.Fatal(err)
	}
	entries, err := state.List(t.Context(), "", "", 10)
	if err != nil || len(entries) != 1 {
		t.Fatal(entries, err)
	}
	damaged := strings.Replace(string(entries[0].Value), `"salt":"`, `"salt":"AAAA","before":"`, 1)
	if _, err := state.Put(t.Context(), entries[0].Key, []byte(damaged), entries[0].Version, 0); err != nil {
		t.Fatal(err)
	}
	if err := book.Enrol(t.Context(), eve, 0, "correct horse battery", identity.Admin); err != nil {
		t.Fatal(err)
	}
	err = book.Enrol(t.Context(), eve, account(t, book, eve).Version, "", identity.Viewer)
	if !errors.Is(err, passphrase.ErrLastAdmin) {
		t.Errorf("the last admin steps down: %v", err)
	}
}

// Somebody is always admin.
func TestTheLastAdminStays(t *testing.T) {
	book := passphrase.Book{Store: new(store.Memory), Rounds: 10}
	if err := book.Enrol(t.Context(), bob, 0, "x", identity.Viewer); !errors.Is(err, passphrase.ErrLastAdmin) {
		t.Errorf("a viewer as the first: %v", err)
	}
	if err := book.Choose(t.Context(), eve, 0, "correct horse battery"); err != nil {
		t.Fatal(err)
	}
	before := account(t, book, eve).Version
	if err := book.Enrol(t.Context(), eve, before, "", identity.Viewer); !errors.Is(err, passphrase.ErrLastAdmin) {
		t.Errorf("the only one becomes viewer: %v", err)
	}
	if err := book.Enrol(t.Context(), bob, 0, "x", identity.Admin); err != nil {
		t.Fatal(err)
	}
	if err := book.Enrol(t.Context(), eve, before, "", identity.Viewer); err != nil {
		t.Errorf("one of two becomes viewer: %v", err)
	}
}

// A role that a later version may have written, or somebody else, lets nobody do anything.
func TestStrangeRoles(t *testing.T) {
	state := new(store.Memory)
	book := passphrase.Book{Store: state, Rounds: 10}
	if err := book.Enrol(t.Context(), eve, 0, "correct horse battery", identity.Admin); err != nil {
		t.Fatal(err)
	}
	entries, err := state.List(t.Context(), "operator/passphrase/", "", 2)
	if err != nil || len(entries) != 1 {
		t.Fatalf("%d entries, %v", len(entries), err)
	}
	text := strings.Replace(string(entries[0].Value), `"admin"`, `"root"`, 1)
	if _, err := state.Put(t.Context(), entries[0].Key, []byte(text), entries[0].Version, 0); err != nil {
		t.Fatal(err)
	}
	if got, err := book.Account(t.Context(), eve); err == nil || got.Role != "" {
		t.Errorf("%+v, %v", got, err)
	}
}

// counting is a store whose lists are waited for by all who change something at the same time.
type counting struct {
	store.Store
	listed func()
}

func (c counting) List(ctx context.Context, prefix, after string, limit int) ([]store.Entry, error) {
	entries, err := c.Store.List(ctx, prefix, after, limit)
	c.listed()
	return entries, err
}

// Of admins who take the role from one another at the same time, some stay admin.
func TestAdminsWhoStepDownTogether(t *testing.T) {
	state := new(store.Memory)
	book := passphrase.Book{Store: state, Rounds: 10}
	for _, who := range []identity.Caller{eve, bob} {
		if err := book.Enrol(t.Context(), who, 0, "correct horse battery", identity.Admin); err != nil {
			t.Fatal(err)
		}
	}
	var both sync.WaitGroup // have counted the admins for the first time
	both.Add(2)
	var changes sync.WaitGroup
	for _, who := range []identity.Caller{eve, bob} {
		before := account(t, book, who).Version
		first := true
		mine := passphrase.Book{Rounds: 10, Store: counting{state, func() {
			if first {
				first = false
				both.Done()
				both.Wait()
			}
		}}}
		changes.Go(func() {
			err := mine.Enrol(t.Context(), who, before, "", identity.Viewer)
			if err != nil && !errors.Is(err, passphrase.ErrLastAdmin) {
				t.Error(err)
			}
		})
	}
	changes.Wait()
	if account(t, book, eve).Role != identity.Admin && account(t, book, bob).Role != identity.Admin {
		t.Error("nobody is admin")
	}
}
