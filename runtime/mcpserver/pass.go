package mcpserver

import (
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"strings"

	"github.com/aqltag/aqltag/runtime/internal/rpc"
	"github.com/aqltag/aqltag/runtime/mcpserver/internal/front"
	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
)

// copies is how many times the SDK has the bytes of a body in memory.
const copies = 3

// pass has the SDK answer a request whose body was read.
func (h *web) pass(x *exchange, w http.ResponseWriter, r *http.Request, sdk http.Handler) {
	if len(x.body) > uncounted {
		if refused := x.hold.admit(cap(x.out) + (1+copies)*cap(x.body)); refused != admitted {
			h.writeRefusal(w, notAdmitted(refused))
			return
		}
	}
	h.passTo(x, w, x.restored(r), sdk, nil)
}

// passUnread has the SDK answer a request that it refuses for its headers.
func (h *web) passUnread(x *exchange, w http.ResponseWriter, r *http.Request, sdk http.Handler) {
	answer := &sdkResponse{ResponseWriter: w, web: h, x: x}
	original := *r
	defer func() { r.Body = original.Body }() // net/http looks at it when it writes the header of a short response
	r.Body = &late{Closer: r.Body, read: func() (io.Reader, error) {
		err := h.read(x, w, &original)
		if errors.As(err, &answer.refused) && answer.refused.status == http.StatusBadRequest &&
			len(original.Header["Last-Event-Id"]) > 0 { // which the SDK refuses whatever the body is
			answer.refused, err = nil, nil
		}
		if x.rest != nil {
			return x.rest, nil
		}
		return bytes.NewReader(x.body), err
	}}
	h.serveSDK(answer, r, sdk)
}

// passTo has the SDK answer a request. A session that is deleted is forgotten.
func (h *web) passTo(x *exchange, w http.ResponseWriter, r *http.Request, sdk http.Handler, deleted func()) {
	h.serveSDK(&sdkResponse{ResponseWriter: w, web: h, x: x, deleted: deleted}, r, sdk)
}

func (h *web) serveSDK(answer *sdkResponse, r *http.Request, sdk http.Handler) {
	caller := answer.x.hold.caller
	if refused := h.open.take(caller); refused != admitted {
		h.writeRefusal(answer.ResponseWriter, notAdmitted(refused))
		return
	}
	defer h.open.give(caller)
	sdk.ServeHTTP(answer, withPeer(r, caller))
}

// sdkResponse is a response of the SDK: its words are ours, and its client has to read it in time.
type sdkResponse struct {
	http.ResponseWriter
	web     *web
	x       *exchange
	refused *refusal // why the body could not be read: the SDK is told that it ended
	deleted func()   // is called before the client hears that the session has ended; nil: it is not to end
	silent  bool     // the response was written
}

func (s *sdkResponse) WriteHeader(status int) {
	switch {
	case s.silent:
		return
	case s.refused != nil:
		s.silent = true
		s.Header().Del("X-Content-Type-Options")
		s.web.writeRefusal(s.ResponseWriter, s.refused)
		return
	case status == http.StatusNoContent && s.deleted != nil:
		s.deleted()
	}
	s.web.deadline(s.ResponseWriter)
	s.ResponseWriter.WriteHeader(status)
}

func (s *sdkResponse) Write(p []byte) (int, error) {
	if s.refused != nil {
		s.WriteHeader(http.StatusBadRequest)
	}
	if s.silent {
		return len(p), nil
	}
	if err := s.web.send(s.ResponseWriter, s.x, s.words(p)); err != nil {
		return 0, err
	}
	return len(p), nil
}

// FlushError is for http.ResponseController.
func (s *sdkResponse) FlushError() error {
	if s.silent {
		return nil
	}
	s.web.deadline(s.ResponseWriter)
	return s.web.flush(s.ResponseWriter, s.x)
}

// Unwrap is for http.ResponseController.
func (s *sdkResponse) Unwrap() http.ResponseWriter { return s.ResponseWriter }

// words returns what the SDK writes, as clients may see it. It writes one message, or one text, at once.
func (s *sdkResponse) words(p []byte) []byte {
	kind := s.Header().Get("Content-Type")
	switch {
	case strings.HasPrefix(kind, "text/plain"):
		return []byte(plainText(string(p)))
	case kind == "application/json":
		if message := plainMessage(p); message != nil {
			return message
		}
	case bytes.HasPrefix(p, eventPrefix) && bytes.HasSuffix(p, eventSuffix):
		if message := plainMessage(p[len(eventPrefix) : len(p)-len(eventSuffix)]); message != nil {
			return bytes.Join([][]byte{eventPrefix, message, eventSuffix}, nil)
		}
	}
	return p
}

var eventPrefix, eventSuffix = []byte("event: message\ndata: "), []byte("\n\n")

// plainMessage returns a message with an error of the SDK as clients may see it; nil: it may stay.
func plainMessage(text []byte) []byte {
	var m rpc.Message
	if !bytes.Contains(text, []byte(`"error":`)) || new(rpc.Parser).Parse(text, &m) != nil || m.Error == "" {
		return nil
	}
	var reported *jsonrpc.Error
	if json.Unmarshal([]byte(m.Error), &reported) != nil || reported == nil {
		return nil
	}
	if strings.HasPrefix(reported.Message, notHandled) {
		reported.Message = "the method is not supported"
		return rpc.AppendError(nil, m.ID, int(reported.Code), reported.Message)
	}
	var plain *jsonrpc.Error
	if !errors.As(front.Plain(reported), &plain) || plain == reported {
		return nil
	}
	return rpc.AppendError(nil, m.ID, int(plain.Code), plain.Message)
}

// notHandled begins the SDK's text about a method that it does not know.
const notHandled = "JSON RPC not handled: "

// plainTexts are the SDK's texts that repeat what was sent, or are those of Go, by how they begin, and ours.
var plainTexts = []struct{ start, text string }{
	{"malformed payload: ", "the body is not a message of JSON-RPC"},
	{"malformed Last-Event-ID", "malformed Last-Event-ID"},
	{"failed to read body", "failed to read body"},
	{"storing stream: ", "internal error"},
	{notHandled, "the method is not supported"},
	{"invalid request: missing required ", "the request has no params"},
	{"invalid request: unexpected id ", "the method is that of a notification, which has no id"},
	{"invalid request: missing id ", "the method is that of a request, which has an id"},
	{"invalid request", "the request is not valid"},
}

// plainText returns an answer of the SDK that is no message, as clients may see it.
func plainText(text string) string {
	for _, known := range plainTexts {
		if strings.HasPrefix(text, known.start) {
			return known.text + "\n"
		}
	}
	return text
}
