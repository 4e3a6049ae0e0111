package console

import (
	"cmp"
	"strings"
	"time"

	"github.com/aqltag/aqltag/runtime/approve"
	"github.com/aqltag/aqltag/runtime/console/setup"
	"github.com/aqltag/aqltag/runtime/identity"
	"github.com/aqltag/aqltag/runtime/internal/desk"
	"github.com/aqltag/aqltag/runtime/words"
)

const (
	// urgentBefore is how long before its end an item is urgent.
	urgentBefore = time.Minute
	// mostShownParams and longestShownParam bound what a row has of the parameters of its item, and longestLine what it
	// has of other texts, in characters.
	mostShownParams, longestShownParam, longestLine = 3, 60, 200
)

// head is what lists need of an item: little, however much the item has. Nobody changes one.
type head struct {
	entry           // from which it was read
	id              string
	state           approve.State
	opened, expires time.Time
	caller          identity.Caller      // without scopes
	holds           holding              // the agent that an open item is about
	of              [len(filters)]string // what it has for each filter
	shown           row                  // of an open item, without times
}

// headOf returns the head of an item that an entry has.
func headOf(item *approve.Item, from entry, path string) *head {
	h := &head{entry: from, id: item.ID, state: item.State, opened: item.Opened, expires: item.Expires}
	h.caller = identity.Caller{Subject: item.Caller.Subject, Issuer: item.Caller.Issuer}
	if item.State == approve.Open {
		h.holds = holdingOf(item)
		for i := range filters {
			h.of[i] = filters[i].of(item)
		}
		h.shown = rowOf(item, path)
	}
	return h
}

// holding is what lists of agents need of an item.
type holding struct {
	agent string     // that the item is about; empty: none, or one of which only the execution is known
	step  string     // the execution of the agent whose next step the item is about; empty: it is about none
	why   string     // the agent stands still
	state agentState // of the agent
}

// holdingOf returns how an item has an agent stand still.
func holdingOf(item *approve.Item) holding {
	of := holding{agent: strings.Clone(item.Agent), state: agentPaused}
	switch item.Kind {
	case approve.Block:
		of.state = agentBlocked
	case approve.Step:
		of.step = executionOf(item)
	}
	if of.agent != "" || of.step != "" {
		of.why = strings.Clone(words.Clip(about(item), longestLine))
	}
	return of
}

// waits reports whether nobody has decided about the item, and it has not expired.
func (h *head) waits(now time.Time) bool { return h.state == approve.Open && !h.over(now) }

// over reports whether the time of the item has passed, where it has one.
func (h *head) over(now time.Time) bool { return !h.expires.IsZero() && !now.Before(h.expires) }

// urgent reports whether the item goes before those that have waited for longer: an agent stands still, or there is
// little time left.
func (h *head) urgent(now time.Time) bool {
	return h.shown.Held || !h.expires.IsZero() && h.expires.Sub(now) < urgentBefore
}

// turns returns when the item, which waits, becomes urgent or expires, whichever is next; zero: never.
func (h *head) turns(now time.Time) time.Time {
	if h.expires.IsZero() || h.urgent(now) {
		return h.expires
	}
	return h.expires.Add(1 - urgentBefore)
}

// row returns the row of the item at a time.
func (h *head) row(now time.Time) row {
	line := h.shown
	line.Opened, line.Expires, line.Urgent = momentOf(h.opened, now), momentOf(h.expires, now), h.urgent(now)
	return line
}

// compare orders heads by their age.
func (h *head) compare(other *head) int {
	return cmp.Or(h.opened.Compare(other.opened), cmp.Compare(h.id, other.id))
}

// row is one item of the inbox.
type row struct {
	ID, Address, Title, Danger, Asker, Message string
	Params                                     []desk.Param
	More                                       int // parameters that the row has not
	Opened, Expires                            moment
	Held, Urgent                               bool
	Missing                                    string // who must approve still, after the first vote
}

// rowOf returns the row of an item in a console with a path, without times. It keeps nothing of what it leaves out.
func rowOf(item *approve.Item, path string) row {
	params := desk.Params(item.Params)
	line := row{
		ID: item.ID, Address: setup.ItemAddress(path, item.ID), Title: title(item), Danger: danger(item),
		Asker:   desk.Name(item.Caller),
		Message: strings.Clone(words.Clip(strings.Join(strings.Fields(about(item)), " "), longestLine)),
		Held:    desk.Holds(item), More: max(len(params)-mostShownParams, 0),
	}
	if len(item.Votes) > 0 {
		line.Missing = desk.Missing(item)
	}
	for _, param := range params[:len(params)-line.More] {
		line.Params = append(line.Params, desk.Param{
			Name:  strings.Clone(words.Clip(param.Name, longestShownParam)),
			Value: strings.Clone(words.Clip(param.Value, longestShownParam)),
		})
	}
	return line
}

// about says what an item is about: of an agent that is held, why.
func about(item *approve.Item) string {
	if desk.Holds(item) && len(item.Reasons) > 0 {
		return strings.Join(item.Reasons, "; ")
	}
	return item.Message
}
