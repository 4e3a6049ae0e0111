package mcpserver

import (
	"context"
	"encoding/json"
	"errors"
	"net/http"
	"sync"

	aql "github.com/aqltag/aqltag/runtime"
	"github.com/modelcontextprotocol/go-sdk/mcp"
)

// events is the stream of events that answers a call whose client asks for progress, once there is some to report: the
// response is the last event then.
type events struct {
	token json.RawMessage
	web   *web

	mu           sync.Mutex
	w            http.ResponseWriter
	x            *exchange
	begun, ended bool
}

// newEvents returns the stream of a call; nil: its client does not ask for progress.
func (h *web) newEvents(w http.ResponseWriter, x *exchange) *events {
	token := tokenOf(&x.message.Call)
	if token == nil {
		return nil
	}
	return &events{token: token, web: h, w: w, x: x}
}

// send sends a report.
func (e *events) send(_ context.Context, p aql.Progress) error {
	params, err := json.Marshal(&mcp.ProgressNotificationParams{
		ProgressToken: e.token, Progress: p.Done, Total: p.Total, Message: p.Message,
	})
	if err != nil {
		return err
	}
	e.mu.Lock()
	defer e.mu.Unlock()
	if e.ended {
		return errors.New("the call is answered")
	}
	if !e.begun {
		e.begun = true
		header := e.w.Header()
		header.Set("Content-Type", "text/event-stream")
		header["Cache-Control"] = uncached
		header.Set("Connection", "keep-alive")
	}
	return e.write(nil, []byte(`{"jsonrpc":"2.0","method":"notifications/progress","params":`), params, []byte("}"))
}

// end sends the response. It returns false if there was no report, so that the response is no event.
func (e *events) end(response []byte) bool {
	if e == nil {
		return false
	}
	e.mu.Lock()
	defer e.mu.Unlock()
	e.ended = true
	if e.begun {
		_ = e.write(e.x, response) // the client has gone
	}
	return e.begun
}

// write writes an event of one message. While it waits for the client, what x holds may be given to others.
func (e *events) write(x *exchange, parts ...[]byte) error {
	event := []byte("event: message\ndata: ")
	for _, part := range parts {
		event = append(event, part...)
	}
	if _, err := e.web.send(e.w, x, append(event, "\n\n"...)); err != nil {
		return err
	}
	return e.web.flush(e.w, e.x)
}
