package mcpserver

import (
	"net/http"
	"strconv"
	"time"
)

var (
	jsonType = []string{"application/json"}
	uncached = []string{"no-cache, no-transform"}
)

// write writes a response. For plain calls, it is all that waits for a client over HTTP. While it waits, the bytes that
// the request holds may be given to others; without x, it holds none.
func (h *web) write(w http.ResponseWriter, x *exchange, status int, body []byte) {
	header := w.Header()
	header["Content-Type"] = jsonType
	header["Content-Length"] = []string{strconv.Itoa(len(body))}
	header["Cache-Control"] = uncached
	w.WriteHeader(status)
	_, _ = h.send(w, x, body) // the client has gone
}

// piece is how many bytes a client has to read in the time that it has.
const piece = 1 << 20

// send writes bytes, for which the client has a time that begins again with each piece.
func (h *web) send(w http.ResponseWriter, x *exchange, body []byte) (written int, err error) {
	if x == nil {
		x = new(exchange)
	}
	x.hold.force(cap(x.body) + cap(x.out))
	for first := true; first || len(body) > 0; first = false {
		next := body[:min(len(body), piece)]
		h.deadline(w)
		x.hold.wait(func() { _ = http.NewResponseController(w).SetWriteDeadline(time.Unix(1, 0)) })
		n, err := w.Write(next)
		x.hold.proceed()
		if written += n; err != nil {
			return written, err
		}
		body = body[len(next):]
	}
	return written, nil
}

// flush sends what was written. Over HTTP/2 a deadline that passes ends the response, also while nothing is written, so
// that it ends here. Over HTTP/1 only writes have it, of which the last is that of net/http after the handler.
func (h *web) flush(w http.ResponseWriter, x *exchange) error {
	controller := http.NewResponseController(w)
	err := controller.Flush()
	if x.http2 {
		_ = controller.SetWriteDeadline(time.Time{})
	}
	return err
}

// deadline begins the time in which the client has to read what is written next. The response of a test, or of
// middleware, may have no deadlines.
func (h *web) deadline(w http.ResponseWriter) {
	_ = http.NewResponseController(w).SetWriteDeadline(time.Now().Add(h.options.ClientTimeout))
}
