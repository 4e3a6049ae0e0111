package console

import "net/http"

// showCallEvents is GET /calls/events: server-sent events (HTML §9.2) for a page that shows what was asked.
func (c *console) showCallEvents(w http.ResponseWriter, r *http.Request) {
	c.follow(w, r, c.feed.join, func(s *stream) error { return s.often(s.tellCalls) })
}

// tellCalls tells the page what was asked, unless it shows that already.
func (s *stream) tellCalls() error {
	all := s.feed.shared(s.r.Context())
	if all.digest == s.seen {
		return nil
	}
	return s.tellRows("calls", all.digest, s.callsPage(all, s.r.FormValue))
}
