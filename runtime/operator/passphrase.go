package operator

import (
	"context"
	"errors"
	"fmt"

	"github.com/aqltag/aqltag/runtime/passphrase"
	"github.com/aqltag/aqltag/runtime/words"
)

// Why a person is not let in.
var (
	errNoPassphrase = errors.New("you have no passphrase yet. Without one, every program of your user that makes a " +
		"terminal could do this. Choose one with: operator passphrase")
	errTypedTwice = errors.New("the passphrase stays as it was: you typed two that differ")
	errShort      = fmt.Errorf("the passphrase stays as it was: one has %d characters or more", passphrase.Shortest)
)

// book has the passphrases of the people at the desk.
func (d *Desk) book() passphrase.Book { return passphrase.Book{Store: d.State, Rounds: d.rounds} }

// logIn asks for the passphrase of the person. Who has none is let in, unless one is required.
func (d *Desk) logIn(ctx context.Context, t *dialog, required bool) error {
	switch {
	case d.State == nil && required:
		return errNoState
	case d.State == nil:
		return nil
	}
	known, err := d.book().Version(ctx, d.Who)
	switch {
	case err != nil:
		return err
	case known == 0 && required:
		return errNoPassphrase
	case known == 0:
		return nil
	}
	_, err = d.book().Check(ctx, d.Who, func() (string, error) {
		return t.askUnseen(ctx, "Passphrase of "+words.Printable(d.Who.Subject)+": ")
	})
	return err
}

// choose sets the passphrase of the person, who types the one before first.
func (d *Desk) choose(ctx context.Context) error {
	t, err := d.dialog("a passphrase is typed")
	if err != nil {
		return err
	}
	defer t.Close()
	before, err := d.book().Version(ctx, d.Who)
	if err == nil {
		err = d.logIn(ctx, t, false)
	}
	if err != nil {
		return err
	}
	typed, err := t.askNew(ctx, "New passphrase")
	if err != nil {
		return err
	}
	if err := d.book().Choose(ctx, d.Who, before, typed); err != nil {
		return err
	}
	fmt.Fprintf(d.Stdout, "%s is asked for this passphrase from now on.\n", words.Printable(d.Who.Subject))
	return nil
}

// askNew asks twice for a passphrase that is chosen.
func (t *dialog) askNew(ctx context.Context, what string) (string, error) {
	typed, err := t.askUnseen(ctx, fmt.Sprintf("%s, of %d characters or more: ", what, passphrase.Shortest))
	if err != nil {
		return "", err
	}
	if passphrase.Short(typed) {
		return "", errShort
	}
	again, err := t.askUnseen(ctx, "The same once more: ")
	if err == nil && typed != again {
		err = errTypedTwice
	}
	return typed, err
}
