package operator

import (
	"context"
	"errors"
	"fmt"

	"github.com/aqltag/aqltag/runtime/approve"
	"github.com/aqltag/aqltag/runtime/internal/desk"
	"github.com/aqltag/aqltag/runtime/words"
)

// errNotTyped is the error of what a person has not confirmed.
var errNotTyped = errors.New("nothing is done: you did not type")

// errNothingToType is the error of a flag -type for an item that is decided by a word.
var errNothingToType = errors.New("not approved: this item has no value to type; leave out -type")

// approve approves an item.
func (d *Desk) approve(ctx context.Context, f Flags, id string) error {
	item, err := d.Inbox.Get(ctx, id)
	if err == nil && desk.Holds(&item) {
		err = errHeld
	}
	if err != nil {
		return err
	}
	of := decision{word: "approve", lets: "let this request run once", where: "an approval is typed"}
	switch item.Kind {
	case approve.Continuation:
		of.lets = "let all calls of this caller go on until the quota resets"
	case approve.Enquiry:
		of.lets = "let this execution go on"
	case approve.Step:
		of.lets = "answer that with yes"
	}
	return d.decide(ctx, f, &item, of)
}

// decision is what a person decides at the terminal.
type decision struct {
	word, lets, where string
	known             bool // only who has a passphrase may, and types it
}

// decide shows an item on the terminal, and approves it if the person types a word.
func (d *Desk) decide(ctx context.Context, f Flags, item *approve.Item, of decision) error {
	t, err := d.dialog(of.where)
	if err != nil {
		return err
	}
	defer t.Close()
	of.known = of.known || item.Needs.Reauthenticate
	if err := d.logIn(ctx, t, of.known); err != nil {
		return err
	}
	if err := d.writeItem(t, item); err != nil {
		return fmt.Errorf("writing to the terminal: %w", err)
	}
	if err := d.person.Refuses(item, true, d.now()); err != nil {
		return d.explain(err, item)
	}
	if item.StateAt(d.now()) == approve.Open {
		if err := t.askToType(ctx, item, of, &f); err != nil {
			return err
		}
		if item.Needs.Reason && f.Reason == "" {
			if f.Reason, err = t.ask(ctx, "Reason: "); err != nil {
				return err
			}
		}
	}
	return d.vote(ctx, item.ID, f, approve.Vote{Approve: true, Authenticated: of.known})
}

// askToType asks for what decides an item: the value that it has people type, unless a flag has it, or a word.
func (t *dialog) askToType(ctx context.Context, item *approve.Item, of decision, f *Flags) (err error) {
	switch typing := item.Typing; {
	case typing.Param == "" && f.Type != "":
		return errNothingToType
	case typing.Param == "":
		typed, err := t.ask(ctx, "\nType "+of.word+" to "+of.lets+": ")
		if err == nil && typed != of.word {
			err = fmt.Errorf("%w %s", errNotTyped, of.word)
		}
		return err
	case f.Type == "":
		f.Type, err = t.ask(ctx, fmt.Sprintf("\nType the value of %s, which is %s, to %s: ",
			words.Printable(typing.Param), words.Printable(typing.Value), of.lets))
		return err
	}
	return nil
}

// explain adds to the error of a vote what its person can do.
func (d *Desk) explain(err error, item *approve.Item) error {
	switch {
	case errors.Is(err, approve.ErrNotApprover):
		return fmt.Errorf("%w: %s", err, desk.Needs(&item.Needs))
	case errors.Is(err, approve.ErrTooEarly):
		return fmt.Errorf("%w; wait until %s", err, d.clock(item.Ready))
	case errors.Is(err, approve.ErrMistyped):
		return fmt.Errorf("not approved: %w; nothing has run", err)
	case errors.Is(err, approve.ErrDecided):
		return fmt.Errorf("%w: it is %s", err, words.Printable(string(item.StateAt(d.now()))))
	}
	return err
}

// vote votes with the texts of the flags, records the vote, and says what has become of the item.
func (d *Desk) vote(ctx context.Context, id string, f Flags, v approve.Vote) error {
	v.Reason, v.Typed, v.At = f.Reason, f.Type, d.now()
	item, err := d.person.Vote(ctx, d.Inbox, d.Audit, id, v)
	_, unrecorded := errors.AsType[*desk.UnrecordedError](err)
	if err != nil && !unrecorded {
		return d.explain(err, &item)
	}
	if f.JSON {
		return errors.Join(d.printJSON(&item), err)
	}
	fmt.Fprintln(d.Stdout, desk.Outcome(&item, words.Printable(item.ID), d.now().Local()))
	return err
}
