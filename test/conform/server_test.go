package conform_test

import (
	"context"
	"encoding/json"
	"strings"
	"testing"

	"github.com/aqltag/aqltag/conform"
	"github.com/aqltag/aqltag/examples/todo/todo"
	aql "github.com/aqltag/aqltag/runtime"
)

// session is an adapter in this process as a server for conform.
type session struct {
	adapter *aql.Adapter
	session *aql.Session
}

func (s *session) Tools(context.Context) ([]conform.Tool, error) {
	var all []conform.Tool
	for _, tool := range s.adapter.Tools() {
		all = append(all, conform.Tool{
			Name: tool.Name, Description: tool.Description, InputSchema: tool.InputSchema,
			ReadOnly: &tool.ReadOnly, Destructive: &tool.Destructive,
		})
	}
	return all, nil
}

func (s *session) Call(ctx context.Context, tool string, arguments json.RawMessage) (conform.Reply, error) {
	reply := s.session.Call(ctx, tool, arguments)
	return conform.Reply{Text: string(reply.JSON), IsError: reply.IsError}, nil
}

// newTodo returns the example in an endpoint mode, with a database of its own.
func newTodo(t *testing.T, mode string) *session {
	t.Helper()
	service, err := todo.Open(todo.Memory)
	if err != nil {
		t.Fatal(err)
	}
	adapter, err := aql.New(todo.NewRegistry(service), aql.Options{
		Name: "todo", Version: "1.0.0", Mode: aql.Mode(mode), SupportsETag: true,
	})
	if err != nil {
		t.Fatal(err)
	}
	s := adapter.NewSession()
	t.Cleanup(func() {
		s.Close()
		if err := service.Close(); err != nil {
			t.Error(err)
		}
	})
	return &session{adapter, s}
}

// request is a decoded request.
type request struct {
	tool      string
	root      map[string]any // all of it
	operation string
	params    map[string]any // never nil
}

// call passes a request on to the server that a mutant wraps.
type call func(r request) answer

// answer is a decoded answer.
type answer struct {
	root    map[string]any
	isError bool
	fault   string
}

func (a answer) code() string {
	failure, _ := a.root["error"].(map[string]any)
	code, _ := failure["code"].(string)
	return code
}

func (a answer) failure() map[string]any {
	failure, _ := a.root["error"].(map[string]any)
	return failure
}

func (a answer) ok() bool { return a.root["success"] == true }

func (a answer) data() map[string]any {
	data, _ := a.root["data"].(map[string]any)
	return data
}

func success(data any) answer {
	return answer{root: map[string]any{"success": true, "data": data}}
}

func failed(code, message string, details map[string]any) answer {
	failure := map[string]any{"code": code, "message": message}
	if details != nil {
		failure["details"] = details
	}
	return answer{root: map[string]any{"success": false, "error": failure}}
}

// mutated is a server that is broken in one way.
type mutated struct {
	conform.Server
	tools func(all []conform.Tool) []conform.Tool
	call  func(r request, next call) answer // each request that is not a batch, and each in one
	batch func(a answer) answer             // the answer to a batch
	text  func(arguments string, next func(arguments string) string) string
}

func (m *mutated) Tools(ctx context.Context) ([]conform.Tool, error) {
	all, err := m.Server.Tools(ctx)
	if m.tools != nil {
		all = m.tools(all)
	}
	return all, err
}

func (m *mutated) Call(ctx context.Context, tool string, arguments json.RawMessage) (conform.Reply, error) {
	if m.text != nil {
		reply := conform.Reply{}
		var err error
		text := m.text(string(arguments), func(arguments string) string {
			reply, err = m.Server.Call(ctx, tool, json.RawMessage(arguments))
			return reply.Text
		})
		reply.Text = text
		return reply, err
	}
	var failure error
	next := func(r request) answer {
		reply, err := m.Server.Call(ctx, r.tool, text(r.arguments()))
		if err != nil {
			failure = err
		}
		return answer{object(reply.Text), reply.IsError, reply.Fault}
	}
	root := object(string(arguments))
	if items, ok := root["operations"].([]any); ok {
		a := next(request{tool: tool, root: root})
		a = m.items(tool, items, a, next)
		return conform.Reply{Text: string(text(a.root)), IsError: a.isError, Fault: a.fault}, failure
	}
	r := request{tool: tool, root: root}
	r.operation, _ = root["operation"].(string)
	params, isObject := root["params"].(map[string]any)
	if r.params = params; !isObject {
		r.params = map[string]any{}
	}
	var a answer
	if m.call == nil {
		a = next(r)
	} else {
		a = m.call(r, next)
	}
	return conform.Reply{Text: string(text(a.root)), IsError: a.isError, Fault: a.fault}, failure
}

// items replaces the answers in a batch by those that the mutant gives to single requests.
func (m *mutated) items(tool string, items []any, a answer, next call) answer {
	results, _ := a.root["results"].([]any)
	succeeded := 0
	for i, item := range results {
		result := item.(map[string]any)
		if m.call != nil && i < len(items) {
			root, _ := items[i].(map[string]any)
			r := request{tool: tool, root: root, operation: root["operation"].(string)}
			r.params, _ = root["params"].(map[string]any)
			result["result"] = m.call(r, next).root
		}
		if inner, _ := result["result"].(map[string]any); inner["success"] == true {
			succeeded++
		}
	}
	if results != nil && a.root["halted_at"] == nil {
		a.root["summary"] = map[string]any{"total": len(results), "succeeded": succeeded, "failed": len(results) - succeeded}
	}
	if m.batch != nil {
		a = m.batch(a)
	}
	return a
}

// arguments returns the request as JSON.
func (r request) arguments() map[string]any {
	if _, batch := r.root["operations"]; batch {
		return r.root
	}
	root := map[string]any{}
	for name, value := range r.root {
		root[name] = value
	}
	if _, isObject := root["params"].(map[string]any); isObject || root["params"] == nil && len(r.params) > 0 {
		root["params"] = r.params
	}
	return root
}

// with returns the request with a parameter, or without it if the value is nil.
func (r request) with(name string, value any) request {
	params := map[string]any{}
	for n, v := range r.params {
		params[n] = v
	}
	params[name] = value
	if value == nil {
		delete(params, name)
	}
	r.params = params
	return r
}

func object(text string) map[string]any {
	decoder := json.NewDecoder(strings.NewReader(text))
	decoder.UseNumber()
	var value map[string]any
	if err := decoder.Decode(&value); err != nil {
		return nil
	}
	return value
}

func text(value any) []byte {
	text, err := json.Marshal(value)
	if err != nil {
		panic(err)
	}
	return text
}
