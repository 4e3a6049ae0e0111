package console

import (
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"net/url"
	"strconv"

	aql "github.com/aqltag/aqltag/runtime"
	"github.com/aqltag/aqltag/runtime/approve"
	"github.com/aqltag/aqltag/runtime/audit"
	"github.com/aqltag/aqltag/runtime/console/setup"
	"github.com/aqltag/aqltag/runtime/execution"
	"github.com/aqltag/aqltag/runtime/gen"
	"github.com/aqltag/aqltag/runtime/internal/desk"
	"github.com/aqltag/aqltag/runtime/internal/passkey"
	"github.com/aqltag/aqltag/runtime/passphrase"
	"github.com/aqltag/aqltag/runtime/words"
)

// executionPage is everything about one execution but what it was given and has come to.
type executionPage struct {
	ID, Title, Danger, State, StateSays, Who string
	Address                                  string
	Progress                                 progress
	Failure                                  string
	Item                                     string // the address of what it asks a person; empty: nothing
	Agent                                    string // the address of its agent; empty: there is none, or no page of it
	Facts                                    []fact
	Created                                  moment
	Moved                                    bool // it has come to another state since the page was loaded
	Seen                                     string
	follows
	cancelForm
}

// title is the title of the page.
func (p *executionPage) title() string { return p.Title }

// Count says who has asked for it, and when.
func (p *executionPage) Count() string {
	return "asked for by " + p.Who + " " + p.Created.Away + " ago"
}

// cancelForm is the form with which a person ends an execution.
type cancelForm struct {
	CanCancel        bool
	Revision, Reason string
	Refused          string // why the person cannot end it
	Error            string
	again
}

// showExecution is GET /executions/{execution}.
func (c *console) showExecution(w http.ResponseWriter, r *http.Request, v *visit) {
	of, err := c.o.Executions.Execution(r.Context(), r.PathValue("execution"))
	if err != nil {
		c.notCancelled(w, r, v, nil, cancelForm{}, err)
		return
	}
	c.writeExecution(w, r, http.StatusOK, v, &of, cancelForm{})
}

// writeExecution writes the page of an execution, with what stood in its form before.
func (c *console) writeExecution(
	w http.ResponseWriter, r *http.Request, status int, v *visit, of *aql.Overseen, before cancelForm,
) {
	body, person := c.executionPage(of), desk.Person{Role: v.role}
	body.cancelForm = before
	if err := person.Ends(); !of.State.Terminal() && !of.Cancel {
		if body.CanCancel = err == nil; err != nil {
			body.Refused = sentence(err)
		}
	}
	body.again, body.Revision = c.againOf(r, c.cancelAsksAgain(of), v, ""), executionRevision(of)
	if !of.State.Terminal() {
		body.Live = body.Address + "/events?" +
			url.Values{seenField: {body.Seen}, revisionField: {body.Revision}}.Encode()
	}
	c.write(w, r, status, "execution", body.Title, v, body)
}

// executionPage returns the page of an execution, without a form.
func (c *console) executionPage(of *aql.Overseen) *executionPage {
	now := c.now()
	body := &executionPage{
		ID: words.Printable(of.ID), Title: nameOf(of), Danger: dangerOf(of.Danger), State: stateOf(of),
		StateSays: c.executionSays(of), Who: desk.Name(of.Caller), Address: executionAddress(c.o.Path, of.ID),
		Progress: progressOf(of.Progress), Created: momentOf(of.Created, now), Facts: c.factsOf(of),
	}
	if of.Failure != nil {
		body.Failure = words.Clip(of.Failure.Code+": "+of.Failure.Message, longestReason)
	}
	if itemID.MatchString(of.Item) {
		body.Item = setup.ItemAddress(c.o.Path, of.Item)
	}
	if hasAgents(&c.o) && of.Agent != "" {
		body.Agent = agentAddress(c.o.Path, of.Agent)
	}
	body.Seen = seenExecution(body, now)
	return body
}

// longestReason is how much of what an execution has failed with is shown, in characters.
const longestReason = 2000

// executionRevision is what a person has seen of an execution who ends it: how far it is does not count.
func executionRevision(of *aql.Overseen) string {
	return fmt.Sprintf("%s-%t-%d", of.State, of.Cancel, of.Again)
}

// cancelAsksAgain reports whether to end an execution takes the passphrase once more: where to approve of its operation
// would. What was begun and not ended may be as bad.
func (c *console) cancelAsksAgain(of *aql.Overseen) bool {
	level := of.Danger.Level()
	return level < 0 || level >= c.o.ReauthenticateFrom.Level()
}

// executionSays says in sentences how far an execution has come.
func (c *console) executionSays(of *aql.Overseen) string {
	due := momentOf(of.Due, c.now())
	switch {
	case of.State.Terminal():
	case of.Cancel:
		return "Was asked to end, and has not yet. It may also complete meanwhile."
	case of.Outside:
		return "Is carried out by the agent, which reports each step."
	}
	switch of.State {
	case execution.Pending:
		return "Waits for a worker."
	case execution.Running:
		return "A worker has it."
	case execution.Retrying:
		return "An attempt has failed. The next one is due at " + due.Clock + "."
	case execution.Paused:
		switch w := of.Waiting; {
		case w == nil:
			return "Goes on later, at " + due.Clock + "."
		case w.From == execution.FromPerson:
			return "Waits until a person has decided."
		default:
			return "Waits for an answer of its caller: " + words.Quote(w.Name, longestLine, 0) + "."
		}
	case execution.Completed:
		return "Has done what it was started for."
	case execution.Failed:
		return "Has failed, and does not go on by itself."
	case execution.Cancelled:
		if of.Reason != "" {
			return "Was ended: “" + words.Clip(of.Reason, longestReason) + "”"
		}
		return "Was ended before it was done."
	}
	return "This console does not know the state: a later version of the program has written it."
}

// factsOf are the lines about an execution.
func (c *console) factsOf(of *aql.Overseen) []fact {
	now := c.now()
	all := []fact{
		{"Operation", of.Operation}, {"Asked by", desk.Name(of.Caller)}, {"Worker", of.Worker},
		{"Attempts", number(of.Attempt)}, {"Repeated after failures", number(of.Repeats)},
		{"Started again by its caller", number(of.Again)}, {"Workers lost in a row", number(of.Lost)},
		{"Steps done", number(of.Steps)}, {"Asked for", momentOf(of.Created, now).Clock},
		{"Started", momentOf(of.Started, now).Clock}, {"Ended", momentOf(of.Finished, now).Clock},
		{"Ends with its connection", yes(of.Attached)}, {"Execution", of.ID},
	}
	if !of.State.Terminal() {
		all = append(all, fact{"Fails if nothing is heard of it until", momentOf(of.Until, now).Clock})
	}
	var known []fact
	for _, one := range all {
		if one.Value != "" {
			known = append(known, fact{one.Name, words.Clip(one.Value, longestLine)})
		}
	}
	return known
}

// number returns a number; empty for zero.
func number(n int) string {
	if n == 0 {
		return ""
	}
	return strconv.Itoa(n)
}

func yes(b bool) string {
	if b {
		return "yes"
	}
	return ""
}

// The errors of forms that end an execution.
var (
	errEnded = errors.New("it has ended, or is to end already")
	errMoved = errors.New("it has gone on since you have looked at it")
)

// cancelStatuses are those of the answers to forms that do not count.
var cancelStatuses = []known{
	{desk.ErrLooksOnly, http.StatusForbidden},
	{errEnded, http.StatusConflict},
	{errMoved, http.StatusConflict},
	{approve.ErrLongReason, http.StatusUnprocessableEntity},
	{errNoPassphrase, http.StatusUnprocessableEntity},
	{errNotFresh, http.StatusForbidden},
	{errSigned, http.StatusForbidden},
	{passphrase.ErrWrong, http.StatusForbidden},
	{passphrase.ErrTries, http.StatusTooManyRequests},
}

// longestCancelReason bounds the reason of a person, in bytes, as that of a vote is.
const longestCancelReason = 500

// cancelExecution is POST /executions/{execution}. It is on record before it is done.
func (c *console) cancelExecution(w http.ResponseWriter, r *http.Request, v *visit) {
	before := cancelForm{Reason: r.PostFormValue("reason")}
	person := desk.Person{Role: v.role}
	of, err := c.o.Executions.Execution(r.Context(), r.PathValue("execution"))
	switch {
	case err != nil:
		c.notCancelled(w, r, v, nil, before, err)
		return
	case person.Ends() != nil:
		err = person.Ends()
	case of.State.Terminal() || of.Cancel:
		err = errEnded
	case r.PostFormValue("revision") != executionRevision(&of):
		err = errMoved
	case len(before.Reason) > longestCancelReason:
		err = approve.ErrLongReason
	case c.cancelAsksAgain(&of):
		err = c.reauthenticate(r, v, passkey.Deed{Does: toEnd, Of: of.ID, Revision: executionRevision(&of)})
	}
	if err == nil {
		err = c.recordCancel(r, v, &of, before.Reason)
	}
	if err == nil {
		err = c.o.Executions.CancelExecution(r.Context(), of.ID, before.Reason)
	}
	if _, ended := errors.AsType[*execution.StateError](err); ended {
		err = errEnded
	}
	if err != nil {
		c.notCancelled(w, r, v, &of, before, err)
		return
	}
	http.Redirect(w, r, executionAddress(c.o.Path, of.ID), http.StatusSeeOther)
}

// recordCancel records that a person ends an execution.
func (c *console) recordCancel(r *http.Request, v *visit, of *aql.Overseen, reason string) error {
	params, err := json.Marshal(map[string]string{"execution_id": of.ID})
	if err != nil {
		return fmt.Errorf("encoding a record: %w", err)
	}
	err = c.o.Audit.Write(r.Context(), audit.Record{
		Time: c.now(), Event: audit.OperationAllowed, Adapter: c.o.Name, Operation: gen.CancelExecution,
		DangerLevel: max(of.Danger.Level(), 0), Outcome: audit.Allowed, Reason: reason, Rule: "console", Agent: of.Agent,
		Caller: v.Who, Parameters: params, Identifiers: []string{"execution_id"},
	})
	if err != nil {
		return fmt.Errorf("recording that a person ends an execution: %w", err)
	}
	return nil
}

// notCancelled says why an execution is not shown, or not ended. With the execution it shows that as it is by now.
func (c *console) notCancelled(
	w http.ResponseWriter, r *http.Request, v *visit, of *aql.Overseen, before cancelForm, err error,
) {
	if errors.Is(err, execution.ErrNotFound) {
		c.write(w, r, http.StatusNotFound, "problem", "This execution is gone", v, problem{
			"This execution is gone", "There is none with this address. It has ended, and was kept for as long as its " +
				"operation says.",
		})
		return
	}
	why, ok := knownError(err, cancelStatuses)
	if of == nil || !ok {
		c.o.Logger.ErrorContext(r.Context(), "the console cannot show or end an execution", slog.Any("error", err))
		c.fail(w, r, err)
		return
	}
	if why.status == http.StatusTooManyRequests {
		w.Header().Set("Retry-After", triesEvery)
	}
	if now, failed := c.o.Executions.Execution(r.Context(), of.ID); failed == nil {
		of = &now
	}
	before.Error = "Nothing was done. " + sentence(why.err)
	c.writeExecution(w, r, why.status, v, of, before)
}
