package console

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"net/url"
	"slices"
	"time"

	"github.com/aqltag/aqltag/runtime/approve"
)

const (
	// beatEvery is how often a page is told something in any case. A session that has ended is found at a beat.
	beatEvery = 15 * time.Second
	// longestWrite bounds how long a browser may take to receive what a page is told.
	longestWrite = 10 * time.Second
	// seenField has, in the address of the events of a page, what the page shows.
	seenField, itemField = "seen", "item"
	// revisionField has in which state an execution was when its page was loaded.
	revisionField = "revision"
)

// event is what a page is told when something that it shows has changed. A page of an item is told nothing but that.
type event struct {
	Title string `json:"title,omitempty"`
	Count string `json:"count,omitempty"`
	Rows  string `json:"rows,omitempty"` // HTML
}

// showEvents is GET /events: server-sent events (HTML §9.2) for a page that shows what waits.
func (c *console) showEvents(w http.ResponseWriter, r *http.Request) {
	c.follow(w, r, c.watch.join, (*stream).run)
}

// follow has run tell a page of what it follows, after join, until leave. What is looked at by itself keeps no session.
func (c *console) follow(
	w http.ResponseWriter, r *http.Request, join func() (leave func(), err error), run func(*stream) error,
) {
	if site := r.Header.Get("Sec-Fetch-Site"); site != "" && site != "same-origin" {
		http.Error(w, "another site asks", http.StatusForbidden)
		return
	}
	_, err := c.look(r)
	var leave func()
	if err == nil {
		leave, err = join()
	}
	switch {
	case errors.Is(err, errNoSession):
		http.Error(w, "nobody is logged in", http.StatusUnauthorized)
		return
	case errors.Is(err, errOpen):
		http.Error(w, errOpen.Error(), http.StatusTooManyRequests)
		return
	case err != nil:
		c.o.Logger.ErrorContext(r.Context(), "the console cannot answer", slog.Any("error", err))
		http.Error(w, "the state cannot be reached", http.StatusServiceUnavailable)
		return
	}
	defer leave()
	w.Header().Set("Content-Type", "text/event-stream")
	s := stream{console: c, w: w, control: http.NewResponseController(w), r: r, seen: r.Header.Get("Last-Event-ID")}
	if s.seen == "" {
		s.seen = r.FormValue(seenField)
	}
	if err := run(&s); err != nil && r.Context().Err() == nil {
		c.o.Logger.DebugContext(r.Context(), "a page is told nothing more", slog.Any("error", err))
	}
}

// stream tells a page of changes.
type stream struct {
	*console
	w       http.ResponseWriter
	control *http.ResponseController
	r       *http.Request
	seen    string // what the page shows
	item    *head  // of the item of the page, when that was looked at last
	over    bool   // the item had expired then
}

// run tells the page of changes until it is closed, its session ends, or the serving does.
func (s *stream) run() error {
	beat := time.NewTicker(beatEvery)
	defer beat.Stop()
	if err := s.beat(); err != nil {
		return err
	}
	for {
		last := s.watch.tells()
		if err := s.tell(last); err != nil {
			return err
		}
		if on, err := s.wait(beat, last.later); !on {
			return err
		}
	}
}

// wait waits until there is something to look at. on says that the page is still open, and its session has not ended.
func (s *stream) wait(beat *time.Ticker, later <-chan struct{}) (on bool, err error) {
	for {
		select {
		case <-s.r.Context().Done():
			return false, nil
		case <-ending(s.r.Context()):
			return false, nil
		case <-later:
			return true, nil
		case <-beat.C:
			if _, err := s.look(s.r); err != nil {
				return false, errors.Join(err, s.send("event: ended\ndata:\n\n"))
			}
			if err := s.beat(); err != nil {
				return false, err
			}
		}
	}
}

// tell tells the page of a look, unless it shows that already.
func (s *stream) tell(last *told) error {
	if last.look == nil {
		return nil
	}
	if id := s.r.FormValue(itemField); id != "" {
		return s.tellItem(last.look, id)
	}
	body, _ := s.inboxOf(last.look, s.r.FormValue)
	return s.tellRows("inbox", body.Seen, body)
}

// tellItem tells the page of an item that it has changed, unless it has not.
func (s *stream) tellItem(last *look, id string) error {
	h, now := last.head(id), s.now()
	if h != nil && h == s.item && h.over(now) == s.over {
		return nil
	}
	seen := "gone"
	if h != nil {
		item, err := s.console.item(s.r.Context(), id)
		switch {
		case err == nil:
			seen = seenItem(&item, now)
		case !errors.Is(err, approve.ErrUnknown):
			return nil // the page stays as it is
		}
		s.item, s.over = h, h.over(now)
	}
	if seen == s.seen {
		return nil
	}
	return s.sendEvent(seen, event{})
}

// sendEvent sends an event, after which the page shows something.
func (s *stream) sendEvent(seen string, of event) error {
	data, err := json.Marshal(of)
	if err != nil {
		return fmt.Errorf("encoding what waits: %w", err)
	}
	s.seen = seen
	return s.send(fmt.Sprintf("id: %s\ndata: %s\n\n", seen, data))
}

// beat tells the page that it is still told of changes, and what time it is.
func (s *stream) beat() error {
	return s.send("event: beat\ndata: " + s.now().UTC().Format(time.RFC3339) + "\n\n")
}

// send sends a text at once. Between two texts there is no deadline: over HTTP/2 it would end the stream.
func (s *stream) send(text string) error {
	_ = s.control.SetWriteDeadline(time.Now().Add(longestWrite)) // where the server has such
	if _, err := s.w.Write([]byte(text)); err != nil {
		return err
	}
	if err := s.control.Flush(); err != nil {
		return err
	}
	_ = s.control.SetWriteDeadline(time.Time{})
	return nil
}

// seenItem returns what the page of an item shows, except for times.
func seenItem(item *approve.Item, now time.Time) string {
	return item.Revision() + "-" + string(item.StateAt(now))
}

// eventsOf returns the address of the events for a page with a query that shows something.
func (c *console) eventsOf(query url.Values, seen string) string {
	query.Set(seenField, seen)
	return c.o.Path + "/events?" + query.Encode()
}

// seenInbox returns a digest of what a page of the inbox shows, except for times.
func seenInbox(p *inboxPage) string {
	sum := sha256.New()
	fmt.Fprintln(sum, p.Waiting, p.Matching, p.First, p.Last, p.Unread)
	for _, line := range slices.Concat(p.Urgent, p.Rest) {
		fmt.Fprintln(sum, line.ID, line.Urgent, line.Missing)
	}
	return hex.EncodeToString(sum.Sum(nil)[:8])
}
