package console

import (
	"errors"
	"fmt"
	"net/http"
	"net/url"

	"github.com/aqltag/aqltag/runtime/approve"
	"github.com/aqltag/aqltag/runtime/internal/desk"
	"github.com/aqltag/aqltag/runtime/internal/passkey"
	"github.com/aqltag/aqltag/runtime/passphrase"
)

// person returns who is logged in.
func (c *console) person(r *http.Request, v *visit) (desk.Person, error) {
	person := desk.Person{Who: v.Who, Name: v.Name, Role: v.role, Groups: v.Groups, Channel: approve.Console}
	if c.o.Groups == nil || v.Passphrase == 0 {
		return person, nil
	}
	var err error
	if person.Groups, err = c.o.Groups(r.Context(), v.Who); err != nil {
		return person, fmt.Errorf("looking up the groups of a person: %w", err)
	}
	return person, nil
}

// decide is POST /items/{id}.
func (c *console) decide(w http.ResponseWriter, r *http.Request, v *visit) {
	answer := r.PostFormValue("answer")
	filled := form{Reason: r.PostFormValue("reason"), Typed: r.PostFormValue("typed")}
	person, err := c.person(r, v)
	if err != nil {
		c.fail(w, r, err)
		return
	}
	vote := approve.Vote{
		Approve: answer == "approve", Reason: filled.Reason, Typed: filled.Typed, Revision: r.PostFormValue("revision"),
		At: c.now(),
	}
	if answer != "approve" && answer != "deny" || vote.Revision == "" {
		c.refuse(w, r, http.StatusBadRequest, "This form is not whole",
			"Nothing was done. Go back to the item, load it again, and decide then.")
		return
	}
	id := r.PathValue("id")
	item, err := c.vote(r, v, &person, id, vote)
	if err != nil {
		c.notDecided(w, r, v, id, filled, err)
		return
	}
	http.Redirect(w, r, c.o.Path+"/?"+url.Values{"decided": {item.ID}}.Encode(), http.StatusSeeOther)
}

// vote adds the vote of a form to an item, if the form has the passphrase where one is needed.
func (c *console) vote(
	r *http.Request, v *visit, person *desk.Person, id string, vote approve.Vote,
) (approve.Item, error) {
	inbox, err := c.near(r.Context(), id)
	if err != nil {
		return approve.Item{}, err
	}
	if vote.Approve {
		item, err := inbox.Get(r.Context(), id)
		if err == nil {
			err = person.Refuses(&item, true, vote.At)
		}
		if err == nil && c.asksAgain(&item) {
			err = c.reauthenticate(r, v, passkey.Deed{Does: toApprove, Of: id, Revision: vote.Revision})
			vote.Authenticated = err == nil
		}
		if err != nil {
			return item, err
		}
	}
	return person.Vote(r.Context(), inbox, c.o.Audit, id, vote)
}

// known is an error that people are told, and the status of its answer.
type known struct {
	err    error
	status int
}

// knownError returns the first of the errors that people are told which an error is; false: they are told of none.
func knownError(err error, lists ...[]known) (known, bool) {
	for _, all := range lists {
		for _, one := range all {
			if errors.Is(err, one.err) {
				return one, true
			}
		}
	}
	return known{}, false
}

// statuses are those of the answers to votes that do not count.
var statuses = []known{
	{approve.ErrDecided, http.StatusConflict},
	{approve.ErrChanged, http.StatusConflict},
	{approve.ErrExpired, http.StatusConflict},
	{approve.ErrVoted, http.StatusConflict},
	{approve.ErrRequester, http.StatusForbidden},
	{approve.ErrNotApprover, http.StatusForbidden},
	{desk.ErrLooksOnly, http.StatusForbidden},
	{desk.ErrNotAdmin, http.StatusForbidden},
	{approve.ErrNoReason, http.StatusUnprocessableEntity},
	{approve.ErrLongReason, http.StatusUnprocessableEntity},
	{approve.ErrMistyped, http.StatusUnprocessableEntity},
	{approve.ErrTooEarly, http.StatusUnprocessableEntity},
	{approve.ErrHeld, http.StatusUnprocessableEntity},
	{errNoPassphrase, http.StatusUnprocessableEntity},
	{approve.ErrNotAnew, http.StatusForbidden},
	{errNotFresh, http.StatusForbidden},
	{errSigned, http.StatusForbidden},
	{passphrase.ErrWrong, http.StatusForbidden},
	{passphrase.ErrTries, http.StatusTooManyRequests},
}

// notDecided shows an item as it is by now, and says why a vote about it, or the wish to see its code, does not count.
func (c *console) notDecided(w http.ResponseWriter, r *http.Request, v *visit, id string, filled form, err error) {
	if unrecorded, ok := errors.AsType[*desk.UnrecordedError](err); ok {
		c.o.Logger.ErrorContext(r.Context(), "a vote is not in the audit log", "item", id, "error", unrecorded.Err)
		c.refuse(w, r, http.StatusInternalServerError, "Your vote counts, but it is not on record",
			"The audit log fails. The log of the adapter says how.")
		return
	}
	if errors.Is(err, approve.ErrUnknown) {
		c.showGone(w, r, v)
		return
	}
	of, ok := knownError(err, statuses)
	if !ok {
		c.fail(w, r, err)
		return
	}
	if of.status == http.StatusTooManyRequests {
		w.Header().Set("Retry-After", triesEvery)
	}
	item, failure := c.item(r.Context(), id)
	switch {
	case errors.Is(failure, approve.ErrUnknown):
		c.showGone(w, r, v)
	case failure != nil:
		c.fail(w, r, failure)
	default:
		filled.Error = "Nothing was done. " + sentence(of.err)
		if errors.Is(of.err, approve.ErrDecided) || errors.Is(of.err, approve.ErrChanged) {
			filled.Error = "Somebody was faster, and your answer does not count. " + sentence(of.err)
		}
		c.writeItem(w, r, of.status, v, &item, filled)
	}
}
