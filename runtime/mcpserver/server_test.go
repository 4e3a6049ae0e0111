package mcpserver

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
	"time"

	aql "github.com/aqltag/aqltag/runtime"
	"github.com/aqltag/aqltag/runtime/gen"
	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	"github.com/modelcontextprotocol/go-sdk/mcp"
)

// thing is the request of every operation of the test's service.
type thing struct{ ID string }

func newServer(t *testing.T, options Options, block <-chan struct{}) *Server {
	t.Helper()
	return newServerOf(t, aql.Options{}, options, block)
}

func newServerOf(t *testing.T, adapting aql.Options, options Options, block <-chan struct{}) *Server {
	t.Helper()
	operation := func(
		name string, category gen.Category, danger gen.Danger, run func(context.Context) (string, error),
	) gen.Handler {
		return gen.Handler{
			Name: name, Category: category, Danger: danger, Description: "Does it.",
			Params: []gen.Field{{Name: "id", Go: "ID", Type: "string"}}, Returns: "Text",
			Request: (*thing)(nil), Result: (*string)(nil),
			Call: func(ctx context.Context, _ []any, request any) (any, error) {
				answer, err := run(ctx)
				return answer + request.(*thing).ID, err
			},
		}
	}
	registry := gen.NewRegistry([]gen.Handler{
		operation("get_thing", gen.Read, gen.Safe, func(context.Context) (string, error) { return "got ", nil }),
		operation(
			"who_thing", gen.Read, gen.Safe, func(ctx context.Context) (string, error) { return aql.CallerOf(ctx).Subject, nil },
		),
		operation(
			"delete_thing", gen.Delete, gen.Destructive, func(context.Context) (string, error) { return "deleted ", nil },
		),
		operation(
			"fail_thing", gen.Execute, gen.Reversible, func(context.Context) (string, error) { return "", errors.New("secret") },
		),
		operation("wait_thing", gen.Execute, gen.Reversible, func(ctx context.Context) (string, error) {
			select {
			case <-block:
				return "waited ", nil
			case <-ctx.Done():
				return "", ctx.Err()
			}
		}),
	}, []gen.WireType{{Name: "Text", Kind: gen.KindScalar}})
	adapting.Name, adapting.Version = "things", "1.0.0"
	adapter, err := aql.New(registry, adapting)
	if err != nil {
		t.Fatal(err)
	}
	server := New(adapter, options)
	t.Cleanup(server.Close)
	return server
}

// inMemory connects a client to the server; version "" is the newest protocol.
func inMemory(t *testing.T, server *Server, version string) *mcp.ClientSession {
	t.Helper()
	serverSide, clientSide := mcp.NewInMemoryTransports()
	go server.Run(t.Context(), serverSide)
	return connect(t, clientSide, version)
}

func connect(t *testing.T, transport mcp.Transport, version string) *mcp.ClientSession {
	t.Helper()
	client := mcp.NewClient(&mcp.Implementation{Name: "test", Version: "1"}, nil)
	session, err := client.Connect(t.Context(), transport, &mcp.ClientSessionOptions{ProtocolVersion: version})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { session.Close() })
	return session
}

func call(t *testing.T, session *mcp.ClientSession, tool, arguments string) (string, bool) {
	t.Helper()
	result, err := session.CallTool(t.Context(), &mcp.CallToolParams{Name: tool, Arguments: json.RawMessage(arguments)})
	if err != nil {
		t.Fatal(err)
	}
	if len(result.Content) != 1 {
		t.Fatalf("%d contents", len(result.Content))
	}
	return result.Content[0].(*mcp.TextContent).Text, result.IsError
}

func token(t *testing.T, answer string) string {
	t.Helper()
	start := strings.Index(answer, "conf_")
	if start < 0 {
		t.Fatalf("no token in %s", answer)
	}
	return answer[start : start+48]
}

// T-38: both hints are on the wire, false ones too.
func TestAnnotationsOnTheWire(t *testing.T) {
	session := inMemory(t, newServerOf(t, aql.Options{Profile: aql.ProfileCrude}, Options{}, nil), "")
	tools, err := session.ListTools(t.Context(), nil)
	if err != nil {
		t.Fatal(err)
	}
	want := map[string][2]bool{ // read-only, destructive
		"mcp_aql_create": {false, false}, "mcp_aql_read": {true, false}, "mcp_aql_update": {false, true},
		"mcp_aql_delete": {false, true}, "mcp_aql_execute": {false, true},
	}
	for _, tool := range tools.Tools {
		hints, known := want[tool.Name]
		if !known || tool.Annotations.DestructiveHint == nil || tool.Annotations.ReadOnlyHint != hints[0] ||
			*tool.Annotations.DestructiveHint != hints[1] {
			t.Errorf("%s: %+v", tool.Name, tool.Annotations)
		}
		delete(want, tool.Name)
	}
	if len(want) > 0 {
		t.Errorf("not listed: %v", want)
	}
}

// REQ-RS-06, REQ-RS-07, REQ-TL-13, T-34: answers are one text; what an agent can act on is no error, and nothing that
// an operation answers is an error of JSON-RPC.
func TestIsError(t *testing.T) {
	session := inMemory(t, newServer(t, Options{}, nil), "")
	for arguments, want := range map[string]bool{
		`{"operation":"get_thing"}`: false, `{"operation":"no_such"}`: false,
		`{"operation":"get_thing","params":{"x":1}}`: false, `[]`: true,
	} {
		if text, isError := call(t, session, "mcp_aql_read", arguments); isError != want {
			t.Errorf("%s: isError %v, %s", arguments, isError, text)
		}
	}
	if text, isError := call(t, session, "mcp_aql_execute", `{"operation":"fail_thing"}`); !isError ||
		strings.Contains(text, "secret") {
		t.Errorf("a failing handler: isError %v, %s", isError, text)
	}
}

// T-89: bytes reach the adapter as they were sent, so that it can refuse what a decoder would have repaired.
func TestArgumentsAreVerbatim(t *testing.T) {
	session := inMemory(t, newServer(t, Options{}, nil), "")
	text, _ := call(t, session, "mcp_aql_read", `{"operation":"get_thing","params":{"id":"a","id":"b"}}`)
	if !strings.Contains(text, "VALIDATION_DUPLICATE_PARAM") {
		t.Errorf("duplicate names: %s", text)
	}
}

// REQ-SE-01, REQ-SE-02, REQ-SE-05: the state of a session ends with it, on every transport that has sessions.
func TestTokensDieWithTheSession(t *testing.T) {
	server := newServer(t, Options{}, nil)
	web := httpServer(t, server)
	for name, open := range map[string]func() *mcp.ClientSession{
		"in memory, sessionless protocol": func() *mcp.ClientSession { return inMemory(t, server, "") },
		"in memory, older protocol":       func() *mcp.ClientSession { return inMemory(t, server, "2025-06-18") },
		"HTTP, older protocol": func() *mcp.ClientSession {
			return connect(t, &mcp.StreamableClientTransport{Endpoint: web.URL}, "2025-06-18")
		},
	} {
		t.Run(name, func(t *testing.T) {
			first := open()
			asked, _ := call(t, first, "mcp_aql_delete", `{"operation":"delete_thing"}`)
			other, _ := call(t, open(), "mcp_aql_delete", `{"operation":"delete_thing","_confirmation":"`+token(t, asked)+`"}`)
			if !strings.Contains(other, "TOKEN_INVALID") {
				t.Errorf("in another session: %s", other)
			}
			own, _ := call(t, first, "mcp_aql_delete", `{"operation":"delete_thing","_confirmation":"`+token(t, asked)+`"}`)
			if !strings.Contains(own, "deleted") {
				t.Errorf("in its own session: %s", own)
			}
			if err := first.Close(); err != nil {
				t.Error(err)
			}
		})
	}
	for ; ; time.Sleep(5 * time.Millisecond) {
		server.sessions.mu.Lock()
		left := len(server.sessions.bound)
		server.sessions.mu.Unlock()
		if left <= 3 { // the second client of each row is open until the test ends
			break
		}
	}
}

// On the protocol without sessions a token is redeemed by a later request of the same caller.
func TestTokensOnTheSessionlessProtocol(t *testing.T) {
	session := connect(t, &mcp.StreamableClientTransport{Endpoint: httpServer(t, newServer(t, Options{}, nil)).URL}, "")
	asked, _ := call(t, session, "mcp_aql_delete", `{"operation":"delete_thing"}`)
	if text, _ := call(
		t, session, "mcp_aql_delete", `{"operation":"delete_thing","_confirmation":"`+token(t, asked)+`"}`,
	); !strings.Contains(text, "deleted") {
		t.Errorf("got %s", text)
	}
}

func httpServer(t *testing.T, server *Server) *httptest.Server {
	t.Helper()
	handler, err := server.Handler()
	if err != nil {
		t.Fatal(err)
	}
	web := httptest.NewServer(handler)
	t.Cleanup(web.Close)
	return web
}

// Calls beyond the bound are refused at once; the others are not disturbed.
func TestInFlightBound(t *testing.T) {
	block := make(chan struct{})
	server := newServer(t, Options{MaxInFlight: 1}, block)
	session := inMemory(t, server, "")
	done := make(chan string, 1)
	go func() {
		text, _ := call(t, session, "mcp_aql_execute", `{"operation":"wait_thing"}`)
		done <- text
	}()
	for server.inFlight.taken.Load() == 0 {
		time.Sleep(time.Millisecond)
	}
	_, err := session.CallTool(t.Context(), &mcp.CallToolParams{Name: "mcp_aql_read", Arguments: json.RawMessage(`{}`)})
	var refused *jsonrpc.Error
	if !errors.As(err, &refused) || refused.Code != codeBusy {
		t.Errorf("error %v, want code %d", err, codeBusy)
	}
	close(block)
	if text := <-done; !strings.Contains(text, "waited") {
		t.Errorf("the first call: %s", text)
	}
	if text, _ := call(t, session, "mcp_aql_read", `{"operation":"get_thing"}`); !strings.Contains(text, "got") {
		t.Errorf("afterwards: %s", text)
	}
}

// A panic in any method ends neither the process nor the session, and shows nothing.
func TestPanicIsContained(t *testing.T) {
	server := newServer(t, Options{}, nil)
	_, err := server.guard(func(context.Context, string, mcp.Request) (mcp.Result, error) { panic("secret") })(
		t.Context(), "tools/list", nil,
	)
	var answer *jsonrpc.Error
	if !errors.As(err, &answer) || answer.Code != codeInternal || strings.Contains(answer.Message, "secret") {
		t.Errorf("got %v", err)
	}
}

// What must not come in over HTTP does not.
func TestHTTPGuards(t *testing.T) {
	web := httpServer(
		t, newServer(t, Options{MaxSessions: 2, TrustedOrigins: []string{"https://console.example.com"}}, nil),
	)
	const initialize = `{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-06-18",` +
		`"capabilities":{},"clientInfo":{"name":"x","version":"1"}}}`
	post := func(body string, header map[string]string) (int, string) {
		t.Helper()
		request, err := http.NewRequestWithContext(t.Context(), http.MethodPost, web.URL, strings.NewReader(body))
		if err != nil {
			t.Fatal(err)
		}
		request.Header.Set("Content-Type", "application/json")
		request.Header.Set("Accept", "application/json, text/event-stream")
		for name, value := range header {
			request.Header.Set(name, value)
			if name == "Host" {
				request.Host = value
			}
		}
		response, err := http.DefaultClient.Do(request)
		if err != nil {
			t.Fatal(err)
		}
		defer response.Body.Close()
		text, err := io.ReadAll(response.Body)
		if err != nil {
			t.Fatal(err)
		}
		return response.StatusCode, string(text)
	}
	for _, tt := range []struct {
		name, body string
		header     map[string]string
		want       int
	}{
		{
			"a page of another origin", initialize,
			map[string]string{"Origin": "https://evil.example", "Sec-Fetch-Site": "cross-site"}, http.StatusForbidden,
		},
		{
			"another origin without fetch metadata", initialize, map[string]string{"Origin": "https://evil.example"},
			http.StatusForbidden,
		},
		{"another host name on loopback", initialize, map[string]string{"Host": "evil.example"}, http.StatusForbidden},
		{"a body beyond the limit", `{"x":"` + strings.Repeat("x", 5<<20) + `"}`, nil, http.StatusRequestEntityTooLarge},
		{"no JSON", `{`, nil, http.StatusBadRequest},
		{
			"a trusted origin", initialize,
			map[string]string{"Origin": "https://console.example.com", "Sec-Fetch-Site": "cross-site"}, http.StatusOK,
		},
		{"a program", initialize, nil, http.StatusOK},
		{"one session too many, in place of the first", initialize, nil, http.StatusOK},
	} {
		status, body := post(tt.body, tt.header)
		if status != tt.want {
			t.Errorf("%s: status %d, want %d: %s", tt.name, status, tt.want, body)
		}
	}
}

// REQ-DE-10: one byte beyond the request limit is the adapter's to answer, on HTTP too.
func TestOversizeRequestGetsAStructuredAnswer(t *testing.T) {
	session := connect(t, &mcp.StreamableClientTransport{Endpoint: httpServer(t, newServer(t, Options{}, nil)).URL}, "")
	arguments := `{"operation":"get_thing","params":{"id":"` + strings.Repeat("x", 1<<20) + `"}}`
	if text, _ := call(t, session, "mcp_aql_read", arguments); !strings.Contains(text, `"limit_type":"request_size"`) {
		t.Errorf("got %.200s", text)
	}
}

// A session over a pair of streams outlives bad lines and ends with its input.
func TestRunStdio(t *testing.T) {
	in, client := io.Pipe()
	var out lockedBuffer
	done := make(chan error, 1)
	go func() { done <- newServer(t, Options{}, nil).RunStdio(t.Context(), in, &out) }()
	for _, line := range []string{
		`{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-06-18","capabilities":{},` +
			`"clientInfo":{"name":"x","version":"1"}}}`,
		`garbage`,
		`{"jsonrpc":"2.0","id":2,"method":"tools/call","params":{"name":"mcp_aql_read",` +
			`"arguments":{"operation":"get_thing"}}}`,
	} {
		if _, err := io.WriteString(client, line+"\n"); err != nil {
			t.Fatal(err)
		}
	}
	client.Close() // at once: requests so far are answered nevertheless
	if err := <-done; err != nil {
		t.Errorf("ended with %v", err)
	}
	for _, want := range []string{`"id":1,"result"`, `"code":-32700`, `got `} {
		if !strings.Contains(out.String(), want) {
			t.Errorf("the output lacks %s:\n%s", want, out.String())
		}
	}
}

// lockedBuffer is written by the server and read by the test.
type lockedBuffer struct {
	mu     sync.Mutex
	buffer bytes.Buffer
}

func (b *lockedBuffer) Write(p []byte) (int, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.buffer.Write(p)
}

func (b *lockedBuffer) String() string {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.buffer.String()
}
