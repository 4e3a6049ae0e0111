// Package aqltest helps to test adapters that are made with aql-tag. It calls operations as agents do, down to the
// bytes, and checks every answer against the rules for all answers. It also pins what agents see in golden files, and
// runs the conformance checks.
//
//	func TestTodos(t *testing.T) {
//		adapter, err := aql.New(todo.NewRegistry(service), aql.Options{Name: "todo"})
//		if err != nil {
//			t.Fatal(err)
//		}
//		var created todo.Todo
//		aqltest.Call(t, adapter, "create_todo", `{"title":"Buy milk"}`).Decode(t, &created)
//		aqltest.Call(t, adapter, "get_todo", map[string]string{"todo_id": created.TodoID}).Succeeds(t)
//		aqltest.Call(t, adapter, "get_todo", `{"todo_id":"nowhere"}`).Fails(t, "NOT_FOUND_RESOURCE")
//		aqltest.Confirmed(t, adapter, "delete_todo", `{"todo_id":"`+created.TodoID+`"}`).Succeeds(t)
//	}
//
//	func TestWhatAgentsSee(t *testing.T) {
//		aqltest.Golden(t, todo.NewRegistry(nil), "testdata/agent.golden", aql.Options{Name: "todo"})
//	}
//
// It is a module of its own, so that a service does not depend on what only its tests need.
package aqltest

import (
	"context"
	"encoding/json"
	"slices"
	"testing"

	aql "github.com/aqltag/aqltag/runtime"
)

// Call calls an operation through its MCP tool, in a session of its own, and returns the answer, a success or a
// failure. params is a Go value that encoding/json can encode, JSON as a string, []byte or json.RawMessage, or nil for
// no parameters. The test fails if the answer breaks a rule for all answers: it must have the form of a response
// (MCP-AQL operations §3), and its messages must not show anything internal (MCP-AQL introspection §8.1.3).
func Call(tb testing.TB, adapter *aql.Adapter, operation string, params any) Answer {
	tb.Helper()
	return NewSession(tb, adapter).Call(operation, params)
}

// Confirmed calls an operation that requires confirmation, and confirms it, in a session of its own. See
// Session.Confirmed.
func Confirmed(tb testing.TB, adapter *aql.Adapter, operation string, params any) Answer {
	tb.Helper()
	return NewSession(tb, adapter).Confirmed(operation, params)
}

// Session is a connection of an agent to an adapter. Confirmation tokens are valid only in their session.
type Session struct {
	tb      testing.TB
	ctx     context.Context
	adapter *aql.Adapter
	session *aql.Session
}

// NewSession returns a new session, which ends with the test. Its calls have no caller; see As.
func NewSession(tb testing.TB, adapter *aql.Adapter) *Session {
	tb.Helper()
	s := &Session{tb: tb, ctx: tb.Context(), adapter: adapter, session: adapter.NewSession()}
	tb.Cleanup(s.session.Close)
	return s
}

// As returns the same session with calls from a caller, as if a transport had verified it.
func (s *Session) As(caller aql.Caller) *Session {
	return s.With(aql.WithCaller(s.ctx, caller))
}

// With returns the same session with calls in a context, such as one that is canceled.
func (s *Session) With(ctx context.Context) *Session {
	with := *s
	with.ctx = ctx
	return &with
}

// In returns the same session for a subtest, which then fails in place of the test of NewSession.
func (s *Session) In(tb testing.TB) *Session {
	in := *s
	in.tb = tb
	return &in
}

// Call calls an operation like the function Call.
func (s *Session) Call(operation string, params any) Answer {
	s.tb.Helper()
	return s.send(request{Operation: operation, Params: s.encode(operation, params)})
}

// maxConfirmations is how often an operation may require confirmation before it runs: for its danger and for a quota.
const maxConfirmations = 3

// Confirmed calls an operation that requires confirmation, and sends the same request again with the token in the
// answer (MCP-AQL confirmation tokens §4), for each confirmation that is required. Where a person has to type a value,
// it does what a client does whose user types that. It returns the last answer. The test fails if the operation does
// not require confirmation, or if an answer has no token.
func (s *Session) Confirmed(operation string, params any) Answer {
	s.tb.Helper()
	r := request{Operation: operation, Params: s.encode(operation, params)}
	answer, question := s.ask(s.adapter.WithAsker(s.ctx), s.tool(operation), s.marshal(operation, r))
	if question != nil && question.Typing.Param != "" {
		return s.typed(r, question)
	}
	if answer.Code != confirmationRequired {
		s.tb.Errorf("%s runs without confirmation, or fails before it asks for one; the answer is %s", operation, answer.JSON)
		return answer
	}
	for range maxConfirmations {
		var details struct {
			Token string `json:"confirmation_token"`
		}
		if answer.Code != confirmationRequired {
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

const confirmationRequired = "CONFIRMATION_REQUIRED"

// Send sends a request to a tool as it is. It is for requests that Call cannot make, such as malformed ones and those
// to the wrong tool.
func (s *Session) Send(tool, request string) Answer {
	s.tb.Helper()
	answer, _ := s.ask(s.ctx, tool, request)
	return answer
}

// typed sends a request again, as a client does whose user has typed what the question asks for.
func (s *Session) typed(r request, question *aql.Question) Answer {
	s.tb.Helper()
	state, err := s.session.Seal(s.ctx, question)
	if err != nil {
		s.tb.Fatalf("asking a person about %s: %v", r.Operation, err)
	}
	ctx := aql.WithAnswer(s.ctx, aql.Answer{State: state, Typed: question.Typing.Value})
	answer, _ := s.ask(ctx, s.tool(r.Operation), s.marshal(r.Operation, r))
	return answer
}

// ask sends a request to a tool, and returns the answer and what a person can be asked in its place.
func (s *Session) ask(ctx context.Context, tool, request string) (Answer, *aql.Question) {
	s.tb.Helper()
	reply := s.session.Call(ctx, tool, []byte(request))
	answer, faults := read(slices.Clone(reply.JSON), request)
	for _, fault := range faults {
		s.tb.Errorf("%s\nis answered with a response that %s:\n%s", request, fault, reply.JSON)
	}
	return answer, reply.Question
}

// Request is one operation of a batch.
type Request struct {
	Operation string
	Params    any // as Call takes them
}

// Batch calls several operations with one request (MCP-AQL operations §7). The request goes to the tool of the
// operations. If they have several tools, it goes to the tool for all operations or, if the adapter has none, to that
// of the first. Answer.Results holds the answers of the operations. The answer itself is a success even if operations
// fail.
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

// request is a request as JSON.
type request struct {
	Operation    string          `json:"operation"`
	Params       json.RawMessage `json:"params,omitempty"`
	Confirmation string          `json:"_confirmation,omitempty"`
}

func (s *Session) send(r request) Answer {
	s.tb.Helper()
	return s.Send(s.tool(r.Operation), s.marshal(r.Operation, r))
}

// tool returns the tool of an operation, or that of introspect for an unknown one.
func (s *Session) tool(operation string) string {
	if tool := s.adapter.Tool(operation); tool != "" {
		return tool
	}
	return s.adapter.Tool("introspect")
}

// encode returns parameters as JSON.
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
