package console

import (
	"errors"
	"net/http"
	"net/url"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"

	"github.com/aqltag/aqltag/runtime/approve"
	"github.com/aqltag/aqltag/runtime/internal/desk"
	"github.com/aqltag/aqltag/runtime/words"
)

// itemPage is everything about one item.
type itemPage struct {
	ID, Title, Danger, Asker, State, StateSays string
	Message                                    []string // the author's words, line by line
	Reasons                                    []string
	Facts                                      []itemFact
	Needs, Missing                             string
	Votes                                      []vote
	Opened, Expires, Ready                     moment
	said
	follows
	form
}

// form is what a person can do about an item.
type form struct {
	CanApprove, CanDeny bool
	CanShow             bool   // the code of an agent that is held
	Approve, Deny       string // what stands on the buttons
	Refused             string // why the person cannot approve
	NeedsReason         bool
	Typing              *approve.Typing
	Revision            string
	Reason, Typed       string // what stood in the form before
	Error, Note         string // why that did not count, or where it comes from
	again                      // for an approval
}

// fact is a line about an item.
type fact struct{ Name, Value string }

// itemFact is one about an item. The console may have a page of what it names.
type itemFact struct {
	fact
	Address string // of the page; empty: there is none
}

// vote is the vote of one person.
type vote struct {
	Who, Did, Reason, Channel string
	Approves                  bool
	At                        moment
}

// showItem is GET /items/{id}.
func (c *console) showItem(w http.ResponseWriter, r *http.Request, v *visit) {
	item, err := c.item(r.Context(), r.PathValue("id"))
	switch {
	case errors.Is(err, approve.ErrUnknown):
		c.showGone(w, r, v)
	case err != nil:
		c.fail(w, r, err)
	default:
		c.writeItem(w, r, http.StatusOK, v, &item, form{})
	}
}

// showGone says that there is no such item.
func (c *console) showGone(w http.ResponseWriter, r *http.Request, v *visit) {
	c.write(w, r, http.StatusNotFound, "problem", "This item is gone", v, problem{
		"This item is gone", "There is none with this address. It was decided and forgotten, it has expired, or what " +
			"asked has ended. An agent that still needs a decision asks again.",
	})
}

// writeItem writes the page of an item, with what stood in its form before.
func (c *console) writeItem(
	w http.ResponseWriter, r *http.Request, status int, v *visit, item *approve.Item, before form,
) {
	now := c.now()
	person, err := c.person(r, v)
	if err != nil {
		c.fail(w, r, err)
		return
	}
	body := itemPage{
		ID: item.ID, Title: title(item), Danger: danger(item), Asker: desk.Name(item.Caller),
		State: string(item.StateAt(now)), StateSays: c.stateSays(item),
		Reasons: printable(item.Reasons), said: c.saidOf(item),
		Needs: desk.Needs(&item.Needs), Facts: c.itemFacts(item), Opened: momentOf(item.Opened, now),
		Expires: momentOf(item.Expires, now), form: before,
	}
	if item.Ready.After(now) {
		body.Ready = momentOf(item.Ready, now)
	}
	for line := range strings.Lines(item.Message) {
		body.Message = append(body.Message, words.Printable(strings.TrimSuffix(line, "\n")))
	}
	for _, one := range item.Votes {
		body.Votes = append(body.Votes, vote{
			Who: desk.Name(one.By) + desk.Called(one.Name), Did: did(&one), Reason: words.Printable(one.Reason),
			Approves: one.Approve, Channel: words.Printable(one.Channel), At: momentOf(one.At, now),
		})
	}
	if item.StateAt(now) == approve.Open && len(item.Votes) > 0 {
		body.Missing = desk.Missing(item)
	}
	if state := item.StateAt(now); state == approve.Open || state == approve.Approved {
		body.Live = c.eventsOf(url.Values{itemField: {item.ID}}, seenItem(item, now))
	}
	body.offer(item, &person, now)
	body.again = c.againOf(r, c.asksAgain(item), v, item.ID)
	c.write(w, r, status, "item", body.Title, v, body)
}

// offer fills in what a person can do at a time.
func (f *form) offer(item *approve.Item, person *desk.Person, now time.Time) {
	refused := person.Refuses(item, true, now)
	f.CanApprove = refused == nil
	f.CanDeny = person.Refuses(item, false, now) == nil && !desk.Holds(item)
	open := item.StateAt(now) == approve.Open
	f.CanShow = open && desk.Holds(item) && person.SeesCode(item, now) == nil
	if refused != nil && open {
		f.Refused = sentence(refused)
	}
	f.NeedsReason, f.Revision = item.Needs.Reason, item.Revision()
	if item.Typing.Param != "" {
		f.Typing = &approve.Typing{
			Param: words.Printable(item.Typing.Param), Value: words.Printable(item.Typing.Value),
		}
	}
	f.Approve, f.Deny = "Approve once", "Deny"
	switch {
	case item.State == approve.Approved:
		f.Deny = "Take the approval back"
	case desk.Holds(item):
		f.Approve = "Let the agent go on"
	case item.Kind == approve.Continuation:
		f.Approve = "Let all calls go on"
	case item.Kind == approve.Enquiry, item.Kind == approve.Step:
		f.Approve = "Approve"
	}
}

// title says what an item is about, in a few words.
func title(item *approve.Item) string {
	switch name := words.Quote(item.Agent, longestLine, 0); item.Kind {
	case approve.Block:
		return name + " is blocked"
	case approve.Pause:
		return name + " is paused"
	case approve.Continuation:
		return "All operations"
	}
	return words.Printable(item.Operation)
}

// stateSays says how far an item has come.
func (c *console) stateSays(item *approve.Item) string {
	now := c.now()
	switch state := item.StateAt(now); {
	case state == approve.Open:
		return "Waits for a decision."
	case state == approve.Expired:
		return "Nobody has decided in time. Nothing has run. The agent has to ask again."
	case state == approve.Used && item.Kind == approve.Confirmation:
		return "Was approved, and has run."
	case state == approve.Used && !desk.Holds(item):
		return "Was approved. " + desk.Then(item, now)
	}
	return desk.Then(item, now)
}

// did says what a vote is.
func did(v *approve.Vote) string {
	if v.Approve {
		return "approved"
	}
	return "denied"
}

// itemFacts are the lines about an item that people need now and then.
func (c *console) itemFacts(item *approve.Item) []itemFact {
	about := "Asked by"
	if desk.Holds(item) {
		about = "Caller"
	}
	all := []fact{
		{about, desk.Name(item.Caller)}, {"Agent", item.Agent}, {"Adapter", item.Adapter}, {"Kind", kinds[item.Kind]},
		{"Met by a call of", metBy(item)},
		{"Execution", item.Execution}, {"Rule of the policy", item.Rule}, {"Item", item.ID},
		{"Challenge", item.Challenge},
	}
	addresses := make(map[string]string)
	if hasAgents(&c.o) {
		addresses["Agent"] = agentAddress(c.o.Path, item.Agent)
	}
	if hasExecutions(&c.o) {
		addresses["Execution"] = executionAddress(c.o.Path, item.Execution)
	}
	var known []itemFact
	for _, one := range all {
		if one.Value != "" {
			known = append(known, itemFact{fact{one.Name, words.Printable(one.Value)}, addresses[one.Name]})
		}
	}
	return known
}

// metBy returns the operation whose call met the pause that an item is about; empty: it is about something else.
func metBy(item *approve.Item) string {
	if item.Kind != approve.Continuation {
		return ""
	}
	return item.Operation
}

// kinds say what the kinds of items are.
var kinds = map[approve.Kind]string{
	approve.Confirmation: "a request that runs once if it is approved",
	approve.Continuation: "whether all calls of the caller go on after the pause of a quota",
	approve.Enquiry:      "a question of an execution, which goes on with the answer",
	approve.Step:         "what an agent will do next",
	approve.Pause:        "a pause of one execution of the agent",
	approve.Block:        "a block of the agent, in all its executions",
}

// printable returns texts without what misleads.
func printable(texts []string) []string {
	var all []string
	for _, text := range texts {
		all = append(all, words.Printable(text))
	}
	return all
}

// sentence makes a sentence of an error.
func sentence(err error) string {
	text := err.Error()
	first, size := utf8.DecodeRuneInString(text)
	return string(unicode.ToUpper(first)) + strings.TrimSuffix(text[size:], ".") + "."
}
