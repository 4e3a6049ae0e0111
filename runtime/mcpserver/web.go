package mcpserver

import (
	"context"
	"crypto/rand"
	"net/http"

	aql "github.com/aqltag/aqltag/runtime"
	"github.com/aqltag/aqltag/runtime/internal/rpc"
	"github.com/modelcontextprotocol/go-sdk/auth"
)

// web answers calls over HTTP, and leaves to the SDK's handlers what it does not know. Every body is read here first:
// they report the faults of headers.
type web struct {
	*Server
	direct              *direct
	stateful, stateless http.Handler
	clients             clients
}

// ServeHTTP serves a request whose host and origin are allowed, and whose caller is known.
func (h *web) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	sessionless := r.Header.Get(versionHeader) >= sessionless
	sdk := h.stateful
	if sessionless {
		sdk = h.stateless
	}
	x := h.newExchange(h.peer(r))
	x.http2 = r.ProtoMajor >= 2
	defer x.release()
	id := r.Header.Get(sessionHeader)
	var session *webSession
	known := sessionless || id == ""
	if !known {
		session = h.sessions.ofID(id)
		known = session != nil && session.belongsTo(r)
	}
	switch {
	case r.Method != http.MethodPost:
		h.serveOther(x, w, r, sdk, session)
		return
	case !known || !wellFormed(r) || session != nil && !session.begin():
		h.passUnread(x, w, r, sdk)
		return
	}
	if session != nil {
		defer session.end(r)
	}
	err := h.read(x, w, r)
	if session != nil {
		session.arrived()
	}
	switch {
	case err != nil:
		h.refuse(x, w, r, sdk, err)
	case sessionless:
		h.serveSessionless(x, w, r)
	case session == nil:
		h.serveBeginning(x, w, r)
	default:
		h.serveSession(session, x, w, r)
	}
}

// serveOther serves a request that is no message.
func (h *web) serveOther(x *exchange, w http.ResponseWriter, r *http.Request, sdk http.Handler, session *webSession) {
	r.Body = http.NoBody // nobody reads it, and net/http drops it
	switch {
	case session == nil:
	case r.Method == http.MethodDelete && session.belongsTo(r):
		h.passTo(x, w, r, sdk, func() { h.sessions.forget(r.Header.Get(sessionHeader)) })
		return
	case r.Method == http.MethodGet:
		session.streams.Add(1)
		defer session.streams.Add(-1)
	}
	h.passTo(x, w, r, sdk, nil)
}

// serveBeginning serves a request before the session that it may begin.
func (h *web) serveBeginning(x *exchange, w http.ResponseWriter, r *http.Request) {
	if x.begins {
		if !h.sessions.reserve(x.hold.caller) {
			w.Header().Set("Retry-After", "60")
			busy := rpc.Fault{Code: rpc.Busy, ID: x.message.ID, Message: "too many sessions are open; try again later"}
			h.write(w, nil, http.StatusServiceUnavailable, busy.Response())
			return
		}
		defer h.sessions.unreserve(x.hold.caller)
	}
	h.pass(x, w, r, h.stateful)
}

// serveSessionless serves a message of the sessionless protocol.
func (h *web) serveSessionless(x *exchange, w http.ResponseWriter, r *http.Request) {
	if h.direct.knows(&x.message) && x.message.Key != "" {
		if caller := h.client(r, &x.message); caller != nil {
			h.answer(r.Context(), w, r, x, caller, nil)
			return
		}
	}
	h.pass(x, w, r, h.stateless)
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

// serveSession serves a message of a session.
func (h *web) serveSession(session *webSession, x *exchange, w http.ResponseWriter, r *http.Request) {
	m := &x.message
	session.use(m)
	if h.direct == nil {
		h.pass(x, w, r, h.stateful)
		return
	}
	session.requests.Cancel(m)
	if !m.IsRequest() || m.Key == "" {
		h.pass(x, w, r, h.stateful)
		return
	}
	ctx, cancel := context.WithCancel(context.WithoutCancel(r.Context())) // a client may disconnect and go on
	defer cancel()
	if !session.requests.Begin(m.Key, cancel) {
		h.writeRefusal(w, duplicate(m))
		return
	}
	defer session.requests.End(m.Key)
	if h.direct.knows(m) && session.run(r, cancel) {
		if caller := session.clientFor(m, &h.clients); caller != nil && h.sees(r, m) {
			h.answer(ctx, w, r, x, caller, session)
			return
		}
	}
	h.pass(x, w, r, h.stateful)
}

// answer answers a call. A call of the sessionless protocol has no session.
func (h *web) answer(
	ctx context.Context, w http.ResponseWriter, r *http.Request, x *exchange, client *client, session *webSession,
) {
	if err := h.enter(x.hold.caller); err != nil {
		h.write(w, nil, http.StatusOK, appendError(nil, x.message.ID, err))
		return
	}
	ctx = h.pausing(ctx, x.hold.caller)
	stream := h.newEvents(w, x)
	var progress *notifier
	if stream != nil {
		progress = h.notifier(ctx, stream.send)
		ctx = aql.WithProgress(ctx, progress.report)
	}
	returned := false
	defer func() {
		if !returned {
			h.leave(x.hold.caller)
			h.lost(w, x)
		}
	}()
	var asks *aql.Reply
	var err error
	if x.http2 || stream != nil {
		asks, err = h.callApart(ctx, r, x, client, session)
	} else {
		asks, err = h.call(ctx, r, x, client, session)
	}
	returned = true
	h.leave(x.hold.caller)
	if progress != nil {
		progress.end() // without a place: it may wait for the client
	}
	if asks != nil {
		h.handOver(w, r, x, asks, session != nil)
		return
	}
	if err != nil {
		x.out = appendError(x.out[:0], x.message.ID, err)
	}
	if !stream.end(x.out) {
		h.write(w, x, http.StatusOK, x.out)
	}
}

// lost answers a call that has ended its goroutine without an answer.
func (h *web) lost(w http.ResponseWriter, x *exchange) {
	w.Header().Set("Connection", "close") // net/http closes it when the goroutine has ended
	h.write(w, x, http.StatusOK, appendError(nil, x.message.ID, errInternal()))
	_ = http.NewResponseController(w).Flush() // net/http does not finish the response
}

// callApart is call in a goroutine of its own: where that of a request ends, net/http resets the stream over HTTP/2,
// and breaks off a response without a length over HTTP/1.
func (h *web) callApart(
	ctx context.Context, r *http.Request, x *exchange, client *client, session *webSession,
) (asks *aql.Reply, err error) {
	return apart(ctx, h.Server, func() (*aql.Reply, error) { return h.call(ctx, r, x, client, session) })
}

// call makes a call. It returns the reply instead of a response if the client is to ask a person first.
func (h *web) call(
	ctx context.Context, r *http.Request, x *exchange, client *client, session *webSession,
) (asks *aql.Reply, err error) {
	caller := ownerOf(auth.TokenInfoFromContext(r.Context()))
	var own *aql.Session
	if session != nil {
		own = h.sessions.ofConnection(session.connection)
	} else {
		own = h.sessions.ofCaller(caller.Key())
	}
	ctx = aql.WithCaller(ctx, caller)
	if h.adapter.Observed() {
		ctx = within(ctx, networkOf(ctx), r.Header.Get(versionHeader), &x.message)
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
	h.pass(x, w, r, sdk)
}
