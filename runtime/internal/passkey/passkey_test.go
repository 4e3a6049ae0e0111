package passkey_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/aqltag/aqltag/runtime/console/setup"
	"github.com/aqltag/aqltag/runtime/identity"
	"github.com/aqltag/aqltag/runtime/internal/passkey"
	"github.com/aqltag/aqltag/runtime/store"
)

var (
	eve  = identity.User("eve")
	deed = passkey.Deed{Browser: "b1", Does: "approve", Of: "ask_1", Revision: "r1"}
)

// newBook returns an empty book whose clock a test sets.
func newBook() (book passkey.Book, now *time.Time) {
	at := time.Date(2026, 3, 1, 9, 0, 0, 0, time.UTC)
	clock := func() time.Time { return at }
	return passkey.Book{Store: &store.Memory{Now: clock}, Now: clock}, &at
}

// ask asks for a challenge for the deed.
func ask(t *testing.T, book passkey.Book) []byte {
	t.Helper()
	challenge, err := book.Ask(t.Context(), deed, "eve", 100)
	if err != nil || len(challenge) != 32 {
		t.Fatalf("%x, %v", challenge, err)
	}
	return challenge
}

// A challenge is answered once, within five minutes, and for what it was asked for.
func TestChallenges(t *testing.T) {
	for name, tt := range map[string]struct {
		change func(*passkey.Deed)
		after  time.Duration
		want   error
	}{
		"for the same":     {},
		"in another tab":   {change: func(d *passkey.Deed) { d.Browser = "b2" }, want: passkey.ErrOther},
		"another answer":   {change: func(d *passkey.Deed) { d.Does = "show a code" }, want: passkey.ErrOther},
		"another item":     {change: func(d *passkey.Deed) { d.Of = "ask_2" }, want: passkey.ErrOther},
		"another revision": {change: func(d *passkey.Deed) { d.Revision = "r2" }, want: passkey.ErrOther},
		"parts of others":  {change: func(d *passkey.Deed) { d.Does, d.Of = "approveask", "_1" }, want: passkey.ErrOther},
		"at the end":       {after: 5*time.Minute - time.Second},
		"too late":         {after: 5 * time.Minute, want: passkey.ErrOver},
	} {
		t.Run(name, func(t *testing.T) {
			book, now := newBook()
			challenge, of := ask(t, book), deed
			if tt.change != nil {
				tt.change(&of)
			}
			*now = now.Add(tt.after)
			if err := book.Answer(t.Context(), challenge, of); !errors.Is(err, tt.want) {
				t.Errorf("got %v, want %v", err, tt.want)
			}
			if err := book.Answer(t.Context(), challenge, deed); !errors.Is(err, passkey.ErrOver) {
				t.Errorf("once more: %v", err)
			}
		})
	}
	book, now := newBook()
	book.Store = new(store.Memory) // whose clock is behind that of who asks
	late := ask(t, book)
	*now = now.Add(5 * time.Minute)
	if err := book.Answer(t.Context(), late, deed); !errors.Is(err, passkey.ErrOver) {
		t.Errorf("too late, in a store that still has it: %v", err)
	}
	for _, challenge := range [][]byte{nil, []byte("x"), make([]byte, 32)} {
		if err := book.Answer(t.Context(), challenge, deed); !errors.Is(err, passkey.ErrOver) {
			t.Errorf("%x, which nobody has asked for: %v", challenge, err)
		}
	}
}

// Of many answers at the same time, one counts.
func TestChallengesAreGoodOnce(t *testing.T) {
	book, _ := newBook()
	challenge := ask(t, book)
	var all sync.WaitGroup
	var counted atomic.Int32
	for range 8 {
		all.Go(func() {
			switch err := book.Answer(t.Context(), challenge, deed); {
			case err == nil:
				counted.Add(1)
			case !errors.Is(err, passkey.ErrOver):
				t.Error(err)
			}
		})
	}
	all.Wait()
	if counted.Load() != 1 {
		t.Errorf("%d answers count", counted.Load())
	}
}

// Two challenges for the same are different, and the store has neither.
func TestTheStoreHasNoChallenges(t *testing.T) {
	book, _ := newBook()
	one, other := ask(t, book), ask(t, book)
	if string(one) == string(other) {
		t.Error("a challenge is asked twice")
	}
	entries, err := book.Store.List(t.Context(), "console/challenge/", "", 10)
	if err != nil || len(entries) != 2 {
		t.Fatalf("%d entries, %v", len(entries), err)
	}
	for _, entry := range entries {
		for _, secret := range [][]byte{one, other} {
			if text := entry.Key + string(entry.Value); strings.Contains(text, fmt.Sprintf("%x", secret)) ||
				strings.Contains(text, string(secret)) {
				t.Errorf("the challenge %x is in %s", secret, text)
			}
		}
	}
}

// Who asks for many fills no store, and keeps nobody else from asking.
func TestChallengesAreBounded(t *testing.T) {
	book, _ := newBook()
	for i := range 5 {
		_, err := book.Ask(t.Context(), deed, "eve", 3)
		if refused := errors.Is(err, passkey.ErrMany); refused != (i >= 3) {
			t.Errorf("challenge %d: %v", i+1, err)
		}
	}
	if _, err := book.Ask(t.Context(), deed, "bob", 3); err != nil {
		t.Errorf("of somebody else: %v", err)
	}
}

// kept is a passkey with an ID.
func kept(id, host string) passkey.Kept {
	return passkey.Kept{Passkey: setup.Passkey{ID: []byte(id), Key: []byte("k")}, Host: host, Name: "key " + id}
}

// A person has passkeys for hosts, removes them, and has none any more with another passphrase or role.
func TestPeople(t *testing.T) {
	book, now := newBook()
	ctx := t.Context()
	read := func(passphrase string) passkey.Person {
		t.Helper()
		p, err := book.Open(ctx, eve, passphrase)
		if err != nil {
			t.Fatal(err)
		}
		return p
	}
	for _, one := range []passkey.Kept{kept("1", "a.example"), kept("2", "b.example"), kept("3", "a.example")} {
		if err := book.Add(ctx, read("7"), one); err != nil {
			t.Fatal(err)
		}
	}
	before := read("7")
	if err := book.Add(ctx, before, kept("3", "b.example")); !errors.Is(err, passkey.ErrKnown) {
		t.Errorf("the same passkey: %v", err)
	}
	want := []setup.Passkey{kept("1", "").Passkey, kept("3", "").Passkey}
	if diff := cmp.Diff(want, before.At("a.example").Passkeys); diff != "" {
		t.Errorf("for a host (-want +got):\n%s", diff)
	}
	if who, err := book.Who(ctx, before.Handle); err != nil || who.Key() != eve.Key() {
		t.Errorf("the handle leads to %v, %v", who, err)
	}
	if err := book.Remove(ctx, before, []byte("1")); err != nil {
		t.Fatal(err)
	}
	if err := book.Remove(ctx, before, []byte("2")); !errors.Is(err, store.ErrConflict) {
		t.Errorf("removing from what was read before: %v", err)
	}
	*now = now.Add(time.Hour)
	used := kept("3", "").Passkey
	used.Count = 9
	if err := book.Use(ctx, read("7"), used); err != nil {
		t.Fatal(err)
	}
	if err := book.Use(ctx, read("7"), kept("1", "").Passkey); !errors.Is(err, passkey.ErrUnknown) {
		t.Errorf("using what was removed: %v", err)
	}
	last := kept("3", "a.example")
	last.Count, last.Used = 9, *now
	after := read("7")
	if diff := cmp.Diff([]passkey.Kept{kept("2", "b.example"), last}, after.Passkeys, cmpopts.EquateEmpty()); diff != "" {
		t.Errorf("what is left (-want +got):\n%s", diff)
	}
	if other := read("8"); len(other.Passkeys) > 0 || string(other.Handle) != string(before.Handle) {
		t.Errorf("with another passphrase: %+v", other)
	}
}

// slow is a store that has read everything before anything is written.
type slow struct {
	store.Store
	all *sync.WaitGroup
}

func (s slow) Get(ctx context.Context, key string) (store.Entry, error) {
	entry, err := s.Store.Get(ctx, key)
	if !entry.Exists() {
		s.all.Done()
		s.all.Wait()
	}
	return entry, err
}

// Whoever is to get the first passkey in several tabs at the same time has one handle, and the store no other.
func TestOneHandle(t *testing.T) {
	book, _ := newBook()
	state, tabs := book.Store, new(sync.WaitGroup)
	tabs.Add(3)
	book.Store = slow{state, tabs}
	handles := make(chan string, 3)
	var all sync.WaitGroup
	for range cap(handles) {
		all.Go(func() {
			p, err := book.Open(t.Context(), eve, "7")
			if err != nil {
				t.Error(err)
			}
			handles <- string(p.Handle)
		})
	}
	all.Wait()
	if first := <-handles; first == "" || <-handles != first || <-handles != first {
		t.Error("the handles differ")
	}
	if entries, err := state.List(t.Context(), "console/", "", 10); err != nil || len(entries) != 2 {
		t.Errorf("%d entries, %v", len(entries), err)
	}
}

// A person has ten at most.
func TestPasskeysAreBounded(t *testing.T) {
	book, _ := newBook()
	for i := range passkey.Most + 1 {
		p, err := book.Open(t.Context(), eve, "7")
		if err == nil {
			err = book.Add(t.Context(), p, kept(fmt.Sprint(i), "a.example"))
		}
		if full := errors.Is(err, passkey.ErrMost); full != (i == passkey.Most) || err != nil && !full {
			t.Errorf("passkey %d: %v", i+1, err)
		}
	}
}

// A handle of nobody leads to nobody, and what cannot be read is no passkey.
func TestDamagedPasskeys(t *testing.T) {
	book, _ := newBook()
	for _, handle := range [][]byte{nil, []byte("x")} {
		if _, err := book.Who(t.Context(), handle); !errors.Is(err, passkey.ErrUnknown) {
			t.Errorf("%q: %v", handle, err)
		}
	}
	if _, err := book.Open(t.Context(), eve, "7"); err != nil {
		t.Fatal(err)
	}
	entries, err := book.Store.List(t.Context(), "console/passkeys/", "", 2)
	if err != nil || len(entries) != 1 {
		t.Fatalf("%d entries, %v", len(entries), err)
	}
	for _, text := range []string{"{", `{"who":{"subject":"bob","issuer":"stdio"},"passphrase":"7"}`} {
		entry, err := book.Store.Get(t.Context(), entries[0].Key)
		if err == nil {
			_, err = book.Store.Put(t.Context(), entry.Key, []byte(text), entry.Version, 0)
		}
		if err != nil {
			t.Fatal(err)
		}
		if p, err := book.Of(t.Context(), eve, "7"); err == nil {
			t.Errorf("%s is read as %+v", text, p)
		}
	}
}
