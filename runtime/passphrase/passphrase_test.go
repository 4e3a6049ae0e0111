package passphrase_test

import (
	"errors"
	"testing"

	"github.com/aqltag/aqltag/runtime/identity"
	"github.com/aqltag/aqltag/runtime/passphrase"
	"github.com/aqltag/aqltag/runtime/store"
)

var eve = identity.Caller{Subject: "eve", Issuer: "stdio"}

func typed(text string) func() (string, error) { return func() (string, error) { return text, nil } }

// F63: only the passphrase of the person is right, and choosing another one makes the version another.
func TestPassphrases(t *testing.T) {
	book := passphrase.Book{Store: new(store.Memory), Rounds: 10}
	if any, err := book.Any(t.Context()); any || err != nil {
		t.Errorf("an empty book has passphrases: %t, %v", any, err)
	}
	if err := book.Choose(t.Context(), eve, 0, "correct horse battery"); err != nil {
		t.Fatal(err)
	}
	if any, err := book.Any(t.Context()); !any || err != nil {
		t.Errorf("a book with a passphrase has some: %t, %v", any, err)
	}
	before, err := book.Check(t.Context(), eve, typed("correct horse battery"))
	if err != nil || before == 0 {
		t.Errorf("the right passphrase: version %d, %v", before, err)
	}
	if _, err := book.Check(t.Context(), eve, typed("correct horse batter")); !errors.Is(err, passphrase.ErrWrong) {
		t.Errorf("a wrong passphrase: %v", err)
	}
	if err := book.Choose(t.Context(), eve, 0, "another passphrase"); !errors.Is(err, store.ErrConflict) {
		t.Errorf("a second first passphrase: %v", err)
	}
	if err := book.Choose(t.Context(), eve, before, "another passphrase"); err != nil {
		t.Fatal(err)
	}
	after, err := book.Version(t.Context(), eve)
	if err != nil || after == before {
		t.Errorf("another passphrase has the version %d of the one before, %v", after, err)
	}
}

// Who has no passphrase is answered as who typed a wrong one, also after ten of them.
func TestNobodyLearnsWhoHasAPassphrase(t *testing.T) {
	book := passphrase.Book{Store: new(store.Memory), Rounds: 10}
	if err := book.Choose(t.Context(), eve, 0, "correct horse battery"); err != nil {
		t.Fatal(err)
	}
	for _, who := range []identity.Caller{eve, {Subject: "bob", Issuer: "stdio"}} {
		for i := range 12 {
			want := passphrase.ErrWrong
			if i >= 10 {
				want = passphrase.ErrTries
			}
			if _, err := book.Check(t.Context(), who, typed("a wrong passphrase")); !errors.Is(err, want) {
				t.Errorf("%s, try %d: got %v, want %v", who.Subject, i+1, err, want)
			}
		}
	}
}

// Whoever can reach a console can type wrong passphrases there. The person is still let in at a terminal.
func TestOnePlaceKeepsNobodyOutOfAnother(t *testing.T) {
	terminal := passphrase.Book{Store: new(store.Memory), Rounds: 10}
	console := terminal
	console.Place = "console"
	if err := terminal.Choose(t.Context(), eve, 0, "correct horse battery"); err != nil {
		t.Fatal(err)
	}
	for range 10 {
		if _, err := console.Check(t.Context(), eve, typed("a wrong passphrase")); !errors.Is(err, passphrase.ErrWrong) {
			t.Fatal(err)
		}
	}
	if _, err := console.Check(t.Context(), eve, typed("correct horse battery")); !errors.Is(err, passphrase.ErrTries) {
		t.Errorf("after ten wrong ones in the console: %v there", err)
	}
	if _, err := terminal.Check(t.Context(), eve, typed("correct horse battery")); err != nil {
		t.Errorf("after ten wrong ones in the console: %v at the terminal", err)
	}
}

// A person without a passphrase is not let in by the one of nobody: an empty one, or any other.
func TestWithoutAPassphraseNothingIsRight(t *testing.T) {
	book := passphrase.Book{Store: new(store.Memory), Rounds: 10}
	for _, text := range []string{"", "correct horse battery"} {
		if _, err := book.Check(t.Context(), eve, typed(text)); !errors.Is(err, passphrase.ErrWrong) {
			t.Errorf("%q: %v", text, err)
		}
	}
}
