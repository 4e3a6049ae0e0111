// Package aqltest helps to test adapters made with aql-tag: it calls operations the way agents do, down to the bytes, holds
// every answer against the rules that all answers keep, and pins what agents see in golden files.
package aqltest

import (
	"context"
	"encoding/json"
	"slices"
	"testing"

	aql "github.com/aqltag/aqltag/runtime"
)

// Call calls an operation through its MCP tool, in a session of its own, and returns the answer whatever it says. params is
// a Go value that encoding/json can write, JSON as a string, []byte or json.RawMessage, or nil for none. The test fails if
// the answer breaks a rule that every answer keeps: it has the form of a response (MCP-AQL operations §3), and its messages
// show nothing internal (requirements REQ-ER-14).
func Call(tb testing.TB, adapter *aql.Adapter, operation string, params any) Answer {
	tb.Helper()
	return NewSession(tb, adapter).Call(operation, params)
}

// Confirmed calls an operation that asks for confirmation, and confirms. See Session.Confirmed.
func Confirmed(tb testing.TB, adapter *aql.Adapter, operation string, params any) Answer {
	tb.Helper()
	return NewSession(tb, adapter).Confirmed(operation, params)
}

// Session is one connection of an agent to an adapter. What belongs to a session, such as confirmation tokens, one of another
// does not know.
type Session struct {
	tb      testing.TB
	ctx     context.Context
	adapter *aql.Adapter
	session *aql.Session
}

// NewSession begins a session, which ends with the test. Calls come from nobody in particular.
func NewSession(tb testing.TB, adapter *aql.Adapter) *Session {
	tb.Helper()
	s := &Session{tb: tb, ctx: tb.Context(), adapter: adapter, session: adapter.NewSession()}
	tb.Cleanup(s.session.Close)
	return s
}

// As is the same session with calls from a caller, as a transport would have verified it.
func (s *Session) As(caller aql.Caller) *Session {
	return s.With(aql.WithCaller(s.ctx, caller))
}

// With is the same session with calls in a context, such as one that is cancelled or that has a caller.
func (s *Session) With(ctx context.Context) *Session {
	with := *s
	with.ctx = ctx
	return &with
}

// In is the same session for a subtest, which then fails instead of the test that the session was begun in.
func (s *Session) In(tb testing.TB) *Session {
	in := *s
	in.tb = tb
	return &in
}

// Call calls an operation like the function of that name.
func (s *Session) Call(operation string, params any) Answer {
	s.tb.Helper()
	return s.send(request{Operation: operation, Params: s.encode(operation, params)})
}

// mostRounds is how often an operation may ask before it runs: for its danger and for a quota.
const mostRounds = 3

// Confirmed calls an operation, is asked for confirmation, and sends the same request again with the token it got, as often
// as it is asked. It returns the last answer. The test fails if the operation does not ask, or asks without giving a token.
func (s *Session) Confirmed(operation string, params any) Answer {
	s.tb.Helper()
	r := request{Operation: operation, Params: s.encode(operation, params)}
	answer := s.send(r)
	if answer.Code != codeConfirm {
		s.tb.Errorf("%s runs without confirmation, or fails before it asks for one; the answer is %s", operation, answer.JSON)
		return answer
	}
	for range mostRounds {
		var details struct {
			Token string `json:"confirmation_token"`
		}
		if answer.Code != codeConfirm {
			break
		}
		if err := json.Unmarshal(answer.Details, &details); err != nil || details.Token == "" {
			s.tb.Errorf("%s asks for confirmation and gives no token; the answer is %s", operation, answer.JSON)
			return answer
		}
		r.Confirmation = details.Token
		answer = s.send(r)
	}
	return answer
}

const codeConfirm = "CONFIRMATION_REQUIRED"

// Send sends a request as it is through a tool. It is for requests that Call cannot make, such as ones that are malformed
// or go to the wrong tool.
func (s *Session) Send(tool, request string) Answer {
	s.tb.Helper()
	reply := s.session.Call(s.ctx, tool, []byte(request))
	answer, faults := read(slices.Clone(reply.JSON), request)
	for _, fault := range faults {
		s.tb.Errorf("%s\nis answered with a response that %s:\n%s", request, fault, reply.JSON)
	}
	return answer
}

// Request is one operation of a batch.
type Request struct {
	Operation string
	Params    any // as Call takes them
}

// Batch calls several operations with one request (MCP-AQL operations §7). They go to the tool of all of them: where the
// adapter has one tool for each family and the operations are of several, to that of the first. Answer.Results holds their
// answers; the answer itself is a success also where operations fail.
func (s *Session) Batch(requests ...Request) Answer {
	s.tb.Helper()
	batch := struct {
		Operations []request `json:"operations"`
	}{[]request{}}
	var tools []string
	for _, r := range requests {
		batch.Operations = append(batch.Operations, request{Operation: r.Operation, Params: s.encode(r.Operation, r.Params)})
		if tool := s.tool(r.Operation); !slices.Contains(tools, tool) {
			tools = append(tools, tool)
		}
	}
	tool := s.tool("")
	if len(tools) > 0 {
		tool = tools[0]
	}
	if len(tools) > 1 {
		for _, t := range s.adapter.Tools() {
			if t.Family == "" {
				tool = t.Name
			}
		}
	}
	return s.Send(tool, s.marshal("the batch", batch))
}

// request is a request as it travels.
type request struct {
	Operation    string          `json:"operation"`
	Params       json.RawMessage `json:"params,omitempty"`
	Confirmation string          `json:"_confirmation,omitempty"`
}

func (s *Session) send(r request) Answer {
	s.tb.Helper()
	return s.Send(s.tool(r.Operation), s.marshal(r.Operation, r))
}

// tool is the tool of an operation; of one that does not exist, the one that tells so.
func (s *Session) tool(operation string) string {
	if tool := s.adapter.Tool(operation); tool != "" {
		return tool
	}
	return s.adapter.Tool("introspect")
}

// encode makes JSON of parameters.
func (s *Session) encode(operation string, params any) json.RawMessage {
	s.tb.Helper()
	switch params := params.(type) {
	case nil:
		return nil
	case string:
		return s.valid(operation, []byte(params))
	case []byte:
		return s.valid(operation, params)
	case json.RawMessage:
		return s.valid(operation, params)
	}
	return json.RawMessage(s.marshal("the parameters of "+operation, params))
}

func (s *Session) valid(operation string, text []byte) json.RawMessage {
	s.tb.Helper()
	if !json.Valid(text) {
		s.tb.Fatalf("the parameters of %s are not JSON; use Session.Send to send what is malformed: %s", operation, text)
	}
	return text
}

func (s *Session) marshal(what string, v any) string {
	s.tb.Helper()
	text, err := json.Marshal(v)
	if err != nil {
		s.tb.Fatalf("writing %s as JSON: %v", what, err)
	}
	return string(text)
}
