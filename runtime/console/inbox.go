package console

import (
	"context"
	"errors"
	"net/http"
	"net/url"
	"strconv"
	"time"

	"github.com/aqltag/aqltag/runtime/approve"
	"github.com/aqltag/aqltag/runtime/internal/desk"
	"github.com/aqltag/aqltag/runtime/words"
)

// perPage is how many items stand on a page.
const perPage = 50

// afterField and beforeField have, in the address of a page, the place of the entry before its first one, or behind its
// last one.
const afterField, beforeField = "after", "before"

// inboxPage is what waits.
type inboxPage struct {
	Waiting, Matching int
	Urgent, Rest      []row
	Filters           []choice
	Filtered          bool
	Done              string // what has become of the item that was decided last
	DoneID            string
	DoneWell          bool   // it was not denied
	Unread            string // what is wrong with the inbox
	First, Last       int    // the items of the page, counted from one
	Before, After     string // the addresses of the pages beside it
	At                moment
	follows
	Seen string // a digest of what the page shows
}

// showInbox is GET /.
func (c *console) showInbox(w http.ResponseWriter, r *http.Request, v *visit) {
	body, err := c.inboxNow(r.Context(), r.FormValue)
	if err == nil {
		err = c.sayDecided(r.Context(), body, r.FormValue("decided"))
	}
	if err != nil {
		c.fail(w, r, err)
		return
	}
	c.write(w, r, http.StatusOK, "inbox", body.title(), v, body)
}

// inboxNow returns what waits now, as chosen by the fields of a form: no item is on the page that was decided when it
// was asked for.
func (c *console) inboxNow(ctx context.Context, chosen func(string) string) (*inboxPage, error) {
	seen, sure, err := c.overview.current(ctx)
	if err != nil {
		return nil, err
	}
	body, shown := c.inboxOf(seen, chosen)
	if sure || c.overview.confirm(ctx, shown) {
		return body, nil
	}
	if seen, err = c.overview.anew(ctx); err != nil {
		return nil, err
	}
	body, _ = c.inboxOf(seen, chosen)
	return body, nil
}

// inboxOf returns what waits of a look, as chosen by the fields of a form, and the heads of the items on the page.
func (c *console) inboxOf(seen *look, chosen func(string) string) (*inboxPage, []*head) {
	now := c.now()
	body := &inboxPage{At: momentOf(now, now), Waiting: len(seen.waiting)}
	if seen.unread > 0 {
		body.Unread = sentence(&approve.UnreadableError{Entries: seen.unread})
	}
	query := url.Values{}
	var matching []*head
	body.Filters, matching = filtered(seen, chosen, query)
	body.Filtered = len(query) > 0
	body.Matching = len(matching)
	shown := body.cut(matching, seen.at, chosen, c.o.Path, query)
	for _, h := range shown {
		if line := h.row(now); line.Urgent {
			body.Urgent = append(body.Urgent, line)
		} else {
			body.Rest = append(body.Rest, line)
		}
	}
	body.Seen = seenInbox(body)
	body.Live = c.eventsOf(query, body.Seen)
	return body, shown
}

// sayDecided says on a page what has become of the item that a person has decided about.
func (c *console) sayDecided(ctx context.Context, body *inboxPage, id string) error {
	if !itemID.MatchString(id) {
		return nil
	}
	item, err := c.item(ctx, id)
	switch {
	case errors.Is(err, approve.ErrUnknown):
		return nil
	case err != nil:
		return err
	}
	body.Done, body.DoneID = decidedSays(&item, c.now()), item.ID
	body.DoneWell = item.State != approve.Denied
	return nil
}

// title is the title of the page.
func (p *inboxPage) title() string { return "Waiting: " + strconv.Itoa(p.Waiting) }

// Count says how much waits, and when that was looked at.
func (p *inboxPage) Count() string {
	text := "Nothing waits"
	if p.Waiting > 0 {
		text = words.Count(p.Waiting, "item")
	}
	return text + " at " + p.At.Clock
}

// decidedSays says what has become of the item that a person has decided about.
func decidedSays(item *approve.Item, now time.Time) string {
	switch {
	case desk.Holds(item) && item.State == approve.Used:
		return desk.Then(item, now)
	case item.Kind == approve.Continuation:
		return desk.Outcome(item, "Going on after the pause", now)
	}
	return desk.Outcome(item, title(item), now)
}

// cut returns the items of a page, and notes where the pages beside it are. In the query it leaves where this one is.
func (p *inboxPage) cut(
	all []*head, at time.Time, chosen func(string) string, path string, query url.Values,
) []*head {
	start := 0
	if after, ok := parsePosition(chosen(afterField)); ok {
		n, is := find(all, after, at)
		if start = n; is {
			start++
		}
	} else if before, ok := parsePosition(chosen(beforeField)); ok {
		n, _ := find(all, before, at)
		start = n - perPage
	}
	if start >= len(all) { // what stood here is decided
		start = len(all) - perPage
	}
	start = max(start, 0)
	end := min(start+perPage, len(all))
	p.First, p.Last = start+1, end
	address := func(field string, of *head) string {
		query.Set(field, positionOf(of, at).String())
		defer query.Del(field)
		return path + "/?" + query.Encode()
	}
	if start > 0 {
		p.Before = address(beforeField, all[start])
	}
	if end < len(all) {
		p.After = address(afterField, all[end-1])
	}
	if start > 0 {
		query.Set(afterField, positionOf(all[start-1], at).String())
	}
	return all[start:end]
}
