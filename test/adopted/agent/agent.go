// Package agent calls the adapters of this module as an agent does, in tests.
package agent

import (
	"bytes"
	"context"
	"encoding/json"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/modelcontextprotocol/go-sdk/mcp"

	aql "github.com/aqltag/aqltag/runtime"
	"github.com/aqltag/aqltag/runtime/mcpserver"
)

// Agent calls the operations of one adapter and fails the test where an answer is not as expected.
type Agent struct {
	*testing.T
	call func(ctx context.Context, tool, request string) []byte
}

// New returns an agent with a session of its own, without MCP.
func New(t *testing.T, registry *aql.Registry) Agent {
	t.Helper()
	session := adapter(t, registry).NewSession()
	t.Cleanup(session.Close)
	return Agent{t, func(ctx context.Context, tool, request string) []byte {
		return session.Call(ctx, tool, []byte(request)).JSON
	}}
}

// Connect returns an agent that is an MCP client, connected to a server with the adapter.
func Connect(t *testing.T, registry *aql.Registry) Agent {
	t.Helper()
	server := mcpserver.New(adapter(t, registry), mcpserver.Options{})
	serverSide, clientSide := mcp.NewInMemoryTransports()
	ended := make(chan error, 1)
	go func() { ended <- server.Run(t.Context(), serverSide) }()
	client, err := mcp.NewClient(&mcp.Implementation{Name: "agent", Version: "1.0.0"}, nil).
		Connect(t.Context(), clientSide, nil)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := client.Close(); err != nil {
			t.Error(err)
		}
		<-ended //nolint:errcheck // the client ended it
		server.Close()
	})
	return Agent{t, func(ctx context.Context, tool, request string) []byte {
		t.Helper()
		result, err := client.CallTool(ctx, &mcp.CallToolParams{Name: tool, Arguments: json.RawMessage(request)})
		if err != nil {
			t.Fatal(err)
		}
		text, ok := result.Content[0].(*mcp.TextContent)
		if !ok || len(result.Content) != 1 {
			t.Fatalf("%d contents came back, the first is %T", len(result.Content), result.Content[0])
		}
		return []byte(text.Text)
	}}
}

func adapter(t *testing.T, registry *aql.Registry) *aql.Adapter {
	t.Helper()
	made, err := aql.New(registry, aql.Options{Name: "adopted", Version: "1.0.0"})
	if err != nil {
		t.Fatal(err)
	}
	return made
}

type answer struct {
	Success bool
	Data    any
	Error   struct {
		Code, Message string
		Details       map[string]any
	}
}

func (a Agent) answer(tool, operation, params string) (answer, string) {
	a.Helper()
	text := a.call(a.Context(), "mcp_aql_"+tool, `{"operation":"`+operation+`","params":`+params+`}`)
	var got answer
	if err := decode(text, &got); err != nil {
		a.Fatalf("%s: %v in %s", operation, err, text)
	}
	return got, string(text)
}

// Data makes a call that must succeed and returns the data. tool is create, read, update, delete or execute; params is
// JSON.
func (a Agent) Data(tool, operation, params string) any {
	a.Helper()
	got, text := a.answer(tool, operation, params)
	if !got.Success {
		a.Fatalf("%s %s: %s", operation, params, text)
	}
	return got.Data
}

// Want is Data for a call whose data is known, as JSON.
func (a Agent) Want(tool, operation, params, want string) {
	a.Helper()
	a.Check(operation+" "+params, a.Data(tool, operation, params), want)
}

// Refused makes a call that must fail with a code, and returns the details.
func (a Agent) Refused(tool, operation, params, code string) map[string]any {
	a.Helper()
	got, text := a.answer(tool, operation, params)
	if got.Success || got.Error.Code != code {
		a.Fatalf("%s %s: got %s, want %s", operation, params, text, code)
	}
	return got.Error.Details
}

// Try makes a call that may fail, and returns the data and the answer.
func (a Agent) Try(tool, operation, params string) (data any, succeeded bool, text string) {
	a.Helper()
	got, text := a.answer(tool, operation, params)
	return got.Data, got.Success, text
}

// Confirmed makes a call that is asked about first, and agrees. question is empty where the author wrote none.
func (a Agent) Confirmed(tool, operation, params, question string) any {
	a.Helper()
	details := a.Refused(tool, operation, params, "CONFIRMATION_REQUIRED")
	if asked, _ := details["confirmation_message"].(string); asked != question {
		a.Errorf("%s asks %q, want %q", operation, asked, question)
	}
	token, _ := details["confirmation_token"].(string)
	return a.Data(tool, operation, params[:len(params)-1]+`,"confirmation_token":"`+token+`"}`)
}

// Operations tells the parameters of each operation but introspect, required ones with a star, as introspection shows
// them.
func (a Agent) Operations() map[string]string {
	a.Helper()
	all := make(map[string]string)
	list, _ := a.Data("read", "introspect", `{"query":"operations"}`).(map[string]any)["operations"].([]any)
	for _, listed := range list {
		name, _ := listed.(map[string]any)["name"].(string)
		if name == "introspect" {
			continue
		}
		data, _ := a.Data("read", "introspect", `{"query":"operations","name":"`+name+`"}`).(map[string]any)
		shown, _ := data["operation"].(map[string]any)
		text, _ := shown["semantic_category"].(string)
		params, _ := shown["parameters"].([]any)
		for _, param := range params {
			p, _ := param.(map[string]any)
			text += " " + p["name"].(string)
			if p["required"] == true {
				text += "*"
			}
		}
		all[name] = text
	}
	return all
}

// Fields tells the names and types of a type's fields, as introspection shows them.
func (a Agent) Fields(name string) map[string]string {
	a.Helper()
	data, _ := a.Data("read", "introspect", `{"query":"types","name":"`+name+`"}`).(map[string]any)
	shown, _ := data["type"].(map[string]any)
	fields, _ := shown["fields"].([]any)
	all := make(map[string]string)
	for _, field := range fields {
		f, _ := field.(map[string]any)
		all[f["name"].(string)], _ = f["type"].(string)
	}
	return all
}

// Check compares a value with JSON.
func (a Agent) Check(what string, got any, want string) {
	a.Helper()
	var wanted any
	if err := decode([]byte(want), &wanted); err != nil {
		a.Fatalf("%s: %v", want, err)
	}
	if diff := cmp.Diff(wanted, got); diff != "" {
		a.Errorf("%s (-want +got):\n%s", what, diff)
	}
}

// decode keeps numbers as they are written: identifiers may have more digits than a float64 holds.
func decode(text []byte, into any) error {
	decoder := json.NewDecoder(bytes.NewReader(text))
	decoder.UseNumber()
	return decoder.Decode(into)
}
