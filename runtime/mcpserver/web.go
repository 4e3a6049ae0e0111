package mcpserver

import (
	"bytes"
	"context"
	"crypto/rand"
	"errors"
	"io"
	"net/http"
	"strconv"
	"strings"
	"sync"

	aql "github.com/aqltag/aqltag/runtime"
	"github.com/aqltag/aqltag/runtime/internal/rpc"
	"github.com/modelcontextprotocol/go-sdk/auth"
)

// web answers calls over HTTP, and leaves to the SDK's handlers what it does not know. They report the faults of
// requests, but for a body that is no message.
type web struct {
	*Server
	direct              *direct
	stateful, stateless http.Handler
	clients             clients
}

// ServeHTTP serves a request whose host and origin are allowed, and whose caller is known.
func (h *web) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	if r.Header.Get(versionHeader) >= sessionless {
		h.serveSessionless(w, r)
		return
	}
	id := r.Header.Get(sessionHeader)
	session := h.sessions.ofID(id)
	switch {
	case r.Method == http.MethodPost && id == "" && h.full():
		w.Header().Set("Retry-After", "60")
		http.Error(w, "too many sessions are open; try again later", http.StatusServiceUnavailable)
	case session == nil || !session.belongsTo(r):
		h.stateful.ServeHTTP(w, r)
	case r.Method == http.MethodPost && session.begin():
		defer session.end(r)
		h.serveSession(session, w, r)
	case r.Method == http.MethodDelete:
		h.stateful.ServeHTTP(&deletion{w, func() { h.sessions.forget(id) }}, r)
	default:
		h.stateful.ServeHTTP(w, r)
	}
}

// deletion is the response to the deletion of a session. The SDK may refuse it, and keeps the session then.
type deletion struct {
	http.ResponseWriter
	ended func() // is called before the client hears that the session has ended
}

func (d *deletion) WriteHeader(status int) {
	if status == http.StatusNoContent {
		d.ended()
	}
	d.ResponseWriter.WriteHeader(status)
}

// Unwrap is for http.ResponseController.
func (d *deletion) Unwrap() http.ResponseWriter { return d.ResponseWriter }

// serveSessionless serves a request of the sessionless protocol.
func (h *web) serveSessionless(w http.ResponseWriter, r *http.Request) {
	if h.direct == nil || !wellFormed(r) || r.ContentLength > h.options.MaxBodyBytes {
		h.stateless.ServeHTTP(w, r)
		return
	}
	x := newExchange()
	defer x.release()
	if !x.read(r, h.options.MaxBodyBytes) {
		x.refuse(w, r, h.stateless)
		return
	}
	if h.direct.knows(&x.message) && x.message.Key != "" {
		if caller := h.client(r, &x.message); caller != nil {
			h.answer(r.Context(), w, r, x, caller, nil)
			return
		}
	}
	h.stateless.ServeHTTP(w, x.restored(r))
}

// client returns the client of a call of the sessionless protocol; nil: the call is not as it has to be. Its headers
// have to say what its body says.
func (h *web) client(r *http.Request, m *rpc.Message) *client {
	known := h.clients.of(&m.Call.Meta)
	if known == nil || !known.sessionless || known.version != r.Header.Get(versionHeader) ||
		r.Header.Get("Mcp-Method") != m.Method || r.Header.Get("Mcp-Name") != m.Call.Name || !h.sees(r, m) {
		return nil
	}
	return known
}

// sees reports whether the caller of a request sees the tool that is called.
func (h *web) sees(r *http.Request, m *rpc.Message) bool {
	return h.direct.sees(r.Context(), ownerOf(auth.TokenInfoFromContext(r.Context())), m.Call.Name)
}

// serveSession serves a POST request of a session.
func (h *web) serveSession(session *webSession, w http.ResponseWriter, r *http.Request) {
	if h.direct == nil || !wellFormed(r) || r.ContentLength > h.options.MaxBodyBytes {
		h.stateful.ServeHTTP(w, r)
		return
	}
	x := newExchange()
	defer x.release()
	if !x.read(r, h.options.MaxBodyBytes) {
		x.refuse(w, r, h.stateful)
		return
	}
	m := &x.message
	session.requests.Cancel(m)
	if !m.IsRequest() || m.Key == "" {
		h.stateful.ServeHTTP(w, x.restored(r))
		return
	}
	ctx, cancel := context.WithCancel(context.WithoutCancel(r.Context())) // a client may disconnect and go on
	defer cancel()
	if !session.requests.Begin(m.Key, cancel) {
		duplicate := "duplicate in-flight request ID " + strings.Trim(m.Key, `"`)
		x.out = rpc.AppendError(x.out[:0], m.ID, rpc.InvalidRequest, duplicate)
		write(w, http.StatusBadRequest, x.out)
		return
	}
	defer session.requests.End(m.Key)
	if h.direct.knows(m) && session.run(r, cancel) {
		if caller := session.clientFor(m, &h.clients); caller != nil && h.sees(r, m) {
			h.answer(ctx, w, r, x, caller, session)
			return
		}
	}
	h.stateful.ServeHTTP(w, x.restored(r))
}

// answer answers a call. A call of the sessionless protocol has no session.
func (h *web) answer(
	ctx context.Context, w http.ResponseWriter, r *http.Request, x *exchange, client *client, session *webSession,
) {
	if err := h.enter(); err != nil {
		write(w, http.StatusOK, appendError(x.out[:0], x.message.ID, err))
		return
	}
	stream := newEvents(w, &x.message.Call)
	asks, err := h.call(ctx, r, x, client, session, stream)
	h.leave()
	if asks != nil {
		h.handOver(w, r, x, asks, session != nil)
		return
	}
	if err != nil {
		x.out = appendError(x.out[:0], x.message.ID, err)
	}
	if !stream.end(x.out) {
		write(w, http.StatusOK, x.out)
	}
}

// call makes a call, whose client is told of progress if it asked for that. It returns the reply instead of a response
// if the client is to ask a person first.
func (h *web) call(
	ctx context.Context, r *http.Request, x *exchange, client *client, session *webSession, stream *events,
) (asks *aql.Reply, err error) {
	caller := ownerOf(auth.TokenInfoFromContext(r.Context()))
	var own *aql.Session
	if session != nil {
		own = h.sessions.ofConnection(session.connection)
	} else {
		own = h.sessions.ofCaller(caller.Key())
	}
	ctx = aql.WithCaller(ctx, caller)
	if stream != nil {
		progress := h.notifier(ctx, stream.send)
		defer progress.end()
		ctx = aql.WithProgress(ctx, progress.report)
	}
	x.out, asks, err = h.direct.answer(ctx, own, &x.message, client, x.out[:0])
	return asks, err
}

// handOver has the SDK go on with a call that was made, and after which its client is to ask a person. Nothing was
// written yet: a call that waits for a person has not run.
func (h *web) handOver(w http.ResponseWriter, r *http.Request, x *exchange, asks *aql.Reply, inSession bool) {
	key := rand.Text()
	h.replies.Store(key, asks)
	defer h.replies.Delete(key)
	r.Header[replyHeader] = []string{key}
	sdk := h.stateless
	if inSession {
		sdk = h.stateful
	}
	sdk.ServeHTTP(w, x.restored(r))
}

// exchange is a request over HTTP that is answered here, with its memory.
type exchange struct {
	parser  rpc.Parser
	message rpc.Message
	body    []byte
	out     []byte
	fault   *rpc.Fault // of a body that is no message
	rest    io.Reader  // of a body that was not read to its end; nil: it was
}

var exchanges = sync.Pool{New: func() any { return new(exchange) }}

func newExchange() *exchange { return exchanges.Get().(*exchange) }

// maxKept is the size of a buffer up to which it is used again.
const maxKept = 64 << 10

func (x *exchange) release() {
	if cap(x.body) > maxKept {
		x.body = nil
	}
	if cap(x.out) > maxKept {
		x.out = nil
	}
	x.message, x.fault, x.rest = rpc.Message{}, nil, nil
	exchanges.Put(x)
}

// read reads the body of a request and reports whether it is a message of no more than so many bytes. For plain calls,
// bytes are taken in here alone.
func (x *exchange) read(r *http.Request, limit int64) bool {
	x.body, x.fault, x.rest = x.body[:0], nil, nil
	if size := min(r.ContentLength, maxKept); size > int64(cap(x.body)) {
		x.body = make([]byte, 0, size)
	}
	for {
		if len(x.body) == cap(x.body) {
			x.body = append(x.body, 0)[:len(x.body)]
		}
		n, err := r.Body.Read(x.body[len(x.body):cap(x.body)])
		x.body = x.body[:len(x.body)+n]
		switch {
		case int64(len(x.body)) > limit, err != nil && !errors.Is(err, io.EOF):
			x.rest = r.Body
			return false
		case err != nil:
			x.fault = x.parser.Parse(x.body, &x.message)
			return x.fault == nil
		}
	}
}

// refuse answers a request whose body was not read as a message. One that is too long, cannot be read, or is empty, or
// is a batch, which older versions of the protocol have, is the SDK's to answer.
func (x *exchange) refuse(w http.ResponseWriter, r *http.Request, sdk http.Handler) {
	if start := bytes.TrimLeft(x.body, " \t\r\n"); x.fault == nil || len(start) == 0 || start[0] == '[' {
		sdk.ServeHTTP(w, x.restored(r))
		return
	}
	write(w, http.StatusBadRequest, x.fault.Response())
}

// restored gives a request its body back.
func (x *exchange) restored(r *http.Request) *http.Request {
	var body io.Reader = bytes.NewReader(x.body)
	if x.rest != nil {
		body = io.MultiReader(body, x.rest)
	}
	r.Body = struct {
		io.Reader
		io.Closer
	}{body, r.Body}
	return r
}

var jsonType = []string{"application/json"}

// write writes a response. For plain calls, it is all that waits for a client over HTTP.
func write(w http.ResponseWriter, status int, body []byte) {
	header := w.Header()
	header["Content-Type"] = jsonType
	header["Content-Length"] = []string{strconv.Itoa(len(body))}
	header["Cache-Control"] = uncached
	w.WriteHeader(status)
	w.Write(body) //nolint:errcheck // the client has gone
}

var uncached = []string{"no-cache, no-transform"}
