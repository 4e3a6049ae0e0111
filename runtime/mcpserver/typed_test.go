package mcpserver

import (
	"context"
	"encoding/json"
	"strings"
	"sync/atomic"
	"testing"

	aql "github.com/aqltag/aqltag/runtime"
	"github.com/aqltag/aqltag/runtime/gen"
	"github.com/modelcontextprotocol/go-sdk/mcp"
)

// The form has the person type a value, with every protocol version. Another value declines, and the person is told.
func TestTypedElicitation(t *testing.T) {
	const dropX = `{"operation":"drop_thing","params":{"id":"x \"1\""}}`
	const wantForm = `{"type":"object","properties":{"typed":{"type":"string","title":"Type x \"1\"","description":"The ` +
		`value of id, to let the agent do this, once. Anything else declines.","minLength":1}},"required":["typed"]}`
	for name, tt := range map[string]struct {
		content map[string]any
		want    string
	}{
		"the value":                {map[string]any{"typed": `x "1"`}, `"data":"dropped x \"1\""`},
		"the value, blanks around": {map[string]any{"typed": ` x "1" `}, `"data":"dropped`},
		"another value":            {map[string]any{"typed": "x"}, "typed something else, so nothing was run; tell them"},
		"approval":                 {map[string]any{"approve": true}, "did not approve"},
		"a number":                 {map[string]any{"typed": 1}, "did not approve"},
		"nothing":                  {nil, "did not approve"},
	} {
		t.Run(name, func(t *testing.T) {
			var form atomic.Value
			h := &human{answer: func(asked *mcp.ElicitParams) *mcp.ElicitResult {
				text, _ := json.Marshal(asked.RequestedSchema)
				form.Store(string(text))
				return &mcp.ElicitResult{Action: "accept", Content: tt.content}
			}}
			for era, open := range eras(t, typingServer(t), h) {
				result, err := open().CallTool(t.Context(), &mcp.CallToolParams{
					Name: "mcp_aql_delete", Arguments: json.RawMessage(dropX),
				})
				if err != nil { // a client may check the answer of its user by the form
					if name == "the value" || !strings.Contains(err.Error(), "requested schema") {
						t.Errorf("%s: %v", era, err)
					}
					continue
				}
				text := result.Content[0].(*mcp.TextContent).Text
				if !strings.Contains(text, tt.want) || strings.Contains(text, "conf_") {
					t.Errorf("%s: %s", era, text)
				}
				var got, want any
				_ = json.Unmarshal([]byte(form.Load().(string)), &got)
				_ = json.Unmarshal([]byte(wantForm), &want)
				if one, two := canonical(t, got), canonical(t, want); one != two {
					t.Errorf("%s: the form is %s, want %s", era, one, two)
				}
				if asked := h.last.Load().(string); !strings.HasSuffix(asked, "\nTo approve, type the value of id: x \"1\"") {
					t.Errorf("%s: asked %q", era, asked)
				}
			}
		})
	}
}

// typingServer serves drop_thing, before which a person types the id.
func typingServer(t *testing.T) *Server {
	t.Helper()
	registry := gen.NewRegistry([]gen.Handler{{
		Name: "drop_thing", Category: gen.Delete, Danger: gen.Dangerous, Description: "Drops it.", TypeToConfirm: "id",
		Params:  []gen.Field{{Name: "id", Go: "ID", Type: "string", Required: true}},
		Request: (*thing)(nil), Result: (*string)(nil), Returns: "Text",
		Call: func(_ context.Context, _ []any, request any) (any, error) {
			return "dropped " + request.(*thing).ID, nil
		},
	}}, []gen.WireType{{Name: "Text", Kind: gen.KindScalar}})
	adapter, err := aql.New(registry, aql.Options{Name: "things", Version: "1.0.0"})
	if err != nil {
		t.Fatal(err)
	}
	server := New(adapter, Options{Elicit: true})
	t.Cleanup(server.Close)
	return server
}

func canonical(t *testing.T, value any) string {
	t.Helper()
	text, err := json.Marshal(value)
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}
