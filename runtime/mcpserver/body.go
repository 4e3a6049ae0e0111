package mcpserver

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strings"
	"sync"
	"time"

	"github.com/aqltag/aqltag/runtime/internal/rpc"
)

// exchange is a request over HTTP, with its memory.
type exchange struct {
	parser  rpc.Parser
	message rpc.Message // of the body; empty if that is a batch, or empty
	begins  bool        // the body asks for a session
	body    []byte
	out     []byte
	hold    hold
	rest    io.Reader // of a body that cannot be read to its end; nil: it was
	waiting bool      // hold.wait was called
	http2   bool      // the request came over HTTP/2
}

var exchanges = sync.Pool{New: func() any { return new(exchange) }}

func (h *web) newExchange(caller string) *exchange {
	x := exchanges.Get().(*exchange)
	x.hold.buffers, x.hold.caller = h.buffers, caller
	return x
}

// maxKept is the size of a buffer up to which it is used again.
const maxKept = 64 << 10

func (x *exchange) release() {
	x.hold.release()
	x.hold = hold{}
	if cap(x.body) > maxKept {
		x.body = nil
	}
	if cap(x.out) > maxKept {
		x.out = nil
	}
	x.message, x.rest, x.begins, x.waiting = rpc.Message{}, nil, false, false
	exchanges.Put(x)
}

// maxBatch is the number of messages that a batch may have. Only the oldest version of the protocol has batches.
const maxBatch = 50

// refusal is why a request is not served.
type refusal struct {
	status     int
	retryAfter string // seconds
	fault      *rpc.Fault
}

func (f *refusal) Error() string { return f.fault.Message }

// errUnread is the error of a body that its client does not send to the end.
var errUnread = errors.New("failed to read body")

// read reads the body of a request, and parses it. Memory is admitted before it is filled. The error is a refusal, or
// errUnread. A body that is empty or a batch has no message, and is the SDK's to answer.
func (h *web) read(x *exchange, w http.ResponseWriter, r *http.Request) error {
	if r.ContentLength > h.options.MaxBodyBytes {
		return tooLong(h.options.MaxBodyBytes)
	}
	x.body, x.rest = x.body[:0], nil
	err := h.fill(x, w, r)
	if x.waiting && !x.hold.proceed() {
		return notAdmitted(takenAway)
	}
	if err != nil {
		return err
	}
	return x.parse()
}

// fill reads the bytes of a body.
func (h *web) fill(x *exchange, w http.ResponseWriter, r *http.Request) error {
	if refused := x.hold.admit(cap(x.body) + cap(x.out)); refused != admitted {
		return notAdmitted(refused)
	}
	for {
		if len(x.body) == cap(x.body) {
			if err := x.grow(r.ContentLength, h.options.MaxBodyBytes); err != nil {
				return err
			}
		}
		if x.hold.counted && !x.waiting {
			x.waiting = true
			x.hold.wait(func() {
				_ = http.NewResponseController(w).SetReadDeadline(time.Unix(1, 0)) // it has one, or none is needed
			})
		}
		n, err := r.Body.Read(x.body[len(x.body):cap(x.body)])
		x.body = x.body[:len(x.body)+n]
		switch {
		case int64(len(x.body)) > h.options.MaxBodyBytes:
			return tooLong(h.options.MaxBodyBytes)
		case errors.Is(err, io.EOF):
			return nil
		case isTimeout(err):
			return &refusal{status: http.StatusRequestTimeout, fault: &rpc.Fault{
				Code: rpc.InvalidRequest, Message: "the body of the request did not come in time",
			}}
		case err != nil:
			x.rest = io.MultiReader(bytes.NewReader(x.body), failing{err})
			return errUnread
		}
	}
}

// grow makes room for more of a body: twice what has come, and no more than is to come.
func (x *exchange) grow(length, limit int64) error {
	size := max(2*int64(cap(x.body)), 8<<10)
	if length >= 0 {
		size = min(size, length+1) // a byte more, to see the end without growing
	}
	size = max(min(size, limit+1), int64(len(x.body))+1)
	if refused := x.hold.admit(int(size) + cap(x.out)); refused != admitted {
		return notAdmitted(refused)
	}
	body := make([]byte, len(x.body), size)
	copy(body, x.body)
	x.body = body
	return nil
}

// failing is a body that cannot be read.
type failing struct{ err error }

func (f failing) Read([]byte) (int, error) { return 0, f.err }

func isTimeout(err error) bool {
	var timeout interface{ Timeout() bool }
	return errors.As(err, &timeout) && timeout.Timeout()
}

// parse parses the body.
func (x *exchange) parse() error {
	x.message, x.begins = rpc.Message{}, false
	start := bytes.TrimLeft(x.body, " \t\r\n")
	if len(start) == 0 {
		return nil
	}
	var fault *rpc.Fault
	if start[0] == '[' {
		var m rpc.Message
		fault = x.parser.ParseBatch(x.body, maxBatch, &m, func() { x.begins = x.begins || m.Method == "initialize" })
	} else {
		fault = x.parser.Parse(x.body, &x.message)
		x.begins = x.message.Method == "initialize"
	}
	if fault != nil {
		return &refusal{status: http.StatusBadRequest, fault: fault}
	}
	return nil
}

func tooLong(limit int64) *refusal {
	return &refusal{status: http.StatusRequestEntityTooLarge, fault: rpc.TooLong(int(limit))}
}

// notAdmitted is the refusal of a request for which there is no room.
func notAdmitted(reason outcome) *refusal {
	message, status := "the server is busy with other requests; try again", http.StatusServiceUnavailable
	switch reason {
	case ownTaken:
		message, status = "too much of yours is open; try again when some of it has ended", http.StatusTooManyRequests
	case takenAway:
		message = "the server needed the room of this request, which came slowly, for others; try again"
	}
	return &refusal{status: status, retryAfter: "1", fault: &rpc.Fault{Code: rpc.Busy, Message: message}}
}

// refuse answers a request that is not served. A body that was not read to its end is the SDK's to answer.
func (h *web) refuse(x *exchange, w http.ResponseWriter, r *http.Request, sdk http.Handler, err error) {
	var reason *refusal
	if !errors.As(err, &reason) {
		h.pass(x, w, r, sdk)
		return
	}
	h.writeRefusal(w, reason)
}

func (h *web) writeRefusal(w http.ResponseWriter, reason *refusal) {
	if reason.retryAfter != "" {
		w.Header().Set("Retry-After", reason.retryAfter)
	}
	h.write(w, nil, reason.status, reason.fault.Response())
}

// restored gives a request its body back.
func (x *exchange) restored(r *http.Request) *http.Request {
	body := x.rest
	if body == nil {
		body = bytes.NewReader(x.body)
	}
	r.Body = struct {
		io.Reader
		io.Closer
	}{body, r.Body}
	return r
}

// late is the body of a request that the SDK refuses before it reads. If it does read, the body is read as others are.
type late struct {
	io.Closer
	read func() (io.Reader, error)
	body io.Reader
}

func (l *late) Read(p []byte) (int, error) {
	if l.body == nil {
		body, err := l.read()
		if err != nil {
			body = failing{err}
		}
		l.body = body
	}
	return l.body.Read(p)
}

// duplicate is the response to a request with the id of one that runs.
func duplicate(m *rpc.Message) *refusal {
	return &refusal{status: http.StatusBadRequest, fault: &rpc.Fault{
		Code: rpc.InvalidRequest, ID: m.ID,
		Message: fmt.Sprintf("duplicate in-flight request ID %s", strings.Trim(m.Key, `"`)),
	}}
}
