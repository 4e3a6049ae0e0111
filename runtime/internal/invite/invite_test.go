package invite_test

import (
	"errors"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/aqltag/aqltag/runtime/identity"
	"github.com/aqltag/aqltag/runtime/internal/invite"
	"github.com/aqltag/aqltag/runtime/store"
)

var eve = identity.User("eve")

// newBook returns an empty book whose clock a test sets.
func newBook() (book invite.Book, now *time.Time) {
	at := time.Date(2026, 3, 1, 9, 0, 0, 0, time.UTC)
	clock := func() time.Time { return at }
	return invite.Book{Store: &store.Memory{Now: clock}, Now: clock}, &at
}

// A link lets in whom it was made for, for ten minutes, and looking at it does not use it up.
func TestLinks(t *testing.T) {
	for after, want := range map[time.Duration]error{
		0: nil, 10*time.Minute - time.Second: nil, 10 * time.Minute: invite.ErrOver,
	} {
		book, now := newBook()
		secret, err := book.New(t.Context(), eve, 7)
		if err != nil || len(secret) < 26 {
			t.Fatalf("%q, %v", secret, err)
		}
		*now = now.Add(after)
		for range 3 {
			link, err := book.Find(t.Context(), secret)
			if !errors.Is(err, want) || err == nil && (link.Who.Key() != eve.Key() || link.Passphrase != 7) {
				t.Errorf("after %v: %+v, %v, want %v", after, link, err, want)
			}
		}
	}
	book, _ := newBook()
	for _, secret := range []string{"", "x", strings.Repeat("A", 26)} {
		if _, err := book.Find(t.Context(), secret); !errors.Is(err, invite.ErrOver) {
			t.Errorf("%q: %v", secret, err)
		}
	}
}

// Of many who use a link at the same time, one is let in.
func TestLinksAreGoodOnce(t *testing.T) {
	book, _ := newBook()
	secret, err := book.New(t.Context(), eve, 7)
	if err != nil {
		t.Fatal(err)
	}
	link, err := book.Find(t.Context(), secret)
	if err != nil {
		t.Fatal(err)
	}
	var all sync.WaitGroup
	var in atomic.Int32
	for range 8 {
		all.Go(func() {
			switch err := book.Use(t.Context(), link); {
			case err == nil:
				in.Add(1)
			case !errors.Is(err, invite.ErrOver):
				t.Error(err)
			}
		})
	}
	all.Wait()
	if in.Load() != 1 {
		t.Errorf("%d were let in", in.Load())
	}
	if _, err := book.Find(t.Context(), secret); !errors.Is(err, invite.ErrOver) {
		t.Errorf("afterwards: %v", err)
	}
}

// Who reads the store finds no link.
func TestTheStoreHasNoSecrets(t *testing.T) {
	book, _ := newBook()
	secret, err := book.New(t.Context(), eve, 7)
	if err != nil {
		t.Fatal(err)
	}
	entries, err := book.Store.List(t.Context(), "", "", 10)
	if err != nil || len(entries) != 1 {
		t.Fatalf("%d entries, %v", len(entries), err)
	}
	if text := entries[0].Key + string(entries[0].Value); strings.Contains(text, secret) {
		t.Errorf("the secret %q is in %s", secret, text)
	}
}
