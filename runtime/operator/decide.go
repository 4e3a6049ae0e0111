package operator

import (
	"context"
	"errors"
	"fmt"

	"github.com/aqltag/aqltag/runtime/approve"
	"github.com/aqltag/aqltag/runtime/audit"
	"github.com/aqltag/aqltag/runtime/words"
)

// errNotTyped is the error of what a person has not confirmed.
var errNotTyped = errors.New("nothing is done: you did not type")

// errNothingToType is the error of a flag -type for an item that is decided by a word.
var errNothingToType = errors.New("not approved: this item has no value to type; leave out -type")

// approve approves an item.
func (d *Desk) approve(ctx context.Context, f Flags, id string) error {
	item, err := d.Inbox.Get(ctx, id)
	if err == nil && holds(&item) {
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
	known             bool // only who has a passphrase may
}

// decide shows an item on the terminal, and approves it if the person types a word.
func (d *Desk) decide(ctx context.Context, f Flags, item *approve.Item, of decision) error {
	t, err := d.dialog(of.where)
	if err != nil {
		return err
	}
	defer t.Close()
	if err := d.logIn(ctx, t, of.known); err != nil {
		return err
	}
	if err := d.writeItem(t, item); err != nil {
		return fmt.Errorf("writing to the terminal: %w", err)
	}
	if err := item.Refuses(d.by(true)); err != nil {
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
	return d.vote(ctx, item.ID, true, f)
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

// by returns a vote of who is at the desk.
func (d *Desk) by(approves bool) approve.Vote {
	return approve.Vote{By: d.Who, Groups: d.Groups, Channel: approve.Terminal, Approve: approves, At: d.now()}
}

// explain adds to the error of a vote what its person can do.
func (d *Desk) explain(err error, item *approve.Item) error {
	switch {
	case errors.Is(err, approve.ErrNotApprover):
		return fmt.Errorf("%w: %s", err, words.Printable(needs(&item.Needs)))
	case errors.Is(err, approve.ErrTooEarly):
		return fmt.Errorf("%w; wait until %s", err, d.clock(item.Ready))
	case errors.Is(err, approve.ErrMistyped):
		return fmt.Errorf("not approved: %w; nothing has run", err)
	case errors.Is(err, approve.ErrDecided):
		return fmt.Errorf("%w: it is %s", err, words.Printable(string(item.StateAt(d.now()))))
	}
	return err
}

// vote votes, records the vote, and says what has become of the item.
func (d *Desk) vote(ctx context.Context, id string, approves bool, f Flags) error {
	vote := d.by(approves)
	vote.Reason, vote.Typed = f.Reason, f.Type
	item, err := d.Inbox.Vote(ctx, id, vote)
	if err != nil {
		return d.explain(err, &item)
	}
	fmt.Fprintln(d.Stdout, d.outcome(&item))
	if d.Audit == nil || item.State == approve.Used { // what is lifted is on record already
		return nil
	}
	event := audit.ApprovalGranted
	if !approves {
		event = audit.ApprovalDenied
	}
	err = d.Audit.Write(ctx, audit.Record{
		Time: d.now(), Event: event, Adapter: item.Adapter, Operation: item.Operation, DangerLevel: item.Danger.Level(),
		Outcome: audit.Success, Reason: f.Reason, Rule: item.Rule, ApprovalID: item.ID, Caller: d.Who,
	})
	if err != nil {
		return fmt.Errorf("the vote counts, but it is not in the audit log: %w", err)
	}
	return nil
}

// outcome says what has become of an item after a vote.
func (d *Desk) outcome(item *approve.Item) string {
	id := words.Printable(item.ID)
	switch item.State {
	case approve.Approved:
		switch item.Kind {
		case approve.Continuation:
			return fmt.Sprintf("%s is approved. If the caller calls again until %s, all its calls go on until the quota resets.",
				id, d.clock(item.Expires))
		case approve.Enquiry:
			return fmt.Sprintf("%s is approved. The execution goes on.", id)
		case approve.Step:
			return fmt.Sprintf("%s is approved. The agent is told so if it reports the action again until %s.",
				id, d.clock(item.Expires))
		}
		return fmt.Sprintf("%s is approved. The agent can send its request again until %s; it then runs once.",
			id, d.clock(item.Expires))
	case approve.Used:
		return released(item)
	case approve.Denied:
		switch item.Kind {
		case approve.Continuation:
			return fmt.Sprintf("%s is denied. Until %s, all calls of the caller that meet the pause are told so.",
				id, d.clock(item.Expires))
		case approve.Enquiry:
			return fmt.Sprintf("%s is denied. The execution is told so.", id)
		}
		return fmt.Sprintf("%s is denied. The agent is told so when it sends its request again.", id)
	}
	return fmt.Sprintf("Your approval of %s counts. It still needs %s.", id, words.Printable(missing(item)))
}
