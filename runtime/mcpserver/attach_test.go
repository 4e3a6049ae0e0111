package mcpserver

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"
	"time"

	aql "github.com/aqltag/aqltag/runtime"
	"github.com/aqltag/aqltag/runtime/audit"
	"github.com/aqltag/aqltag/runtime/policy"
	"github.com/modelcontextprotocol/go-sdk/auth"
	"github.com/modelcontextprotocol/go-sdk/mcp"
)

// attached returns an MCP server with tools of its own, to which the adapter of the tests is attached.
func attached(t *testing.T, adapting aql.Options, options AttachOptions, block <-chan struct{}) *mcp.Server {
	t.Helper()
	server := mcp.NewServer(&mcp.Implementation{Name: "service", Version: "3"}, nil)
	own(server)
	attachment, err := Attach(server, newServerOf(t, adapting, Options{}, block).adapter, options)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(attachment.Close)
	return server
}

// connectInMemory connects a client to an MCP server.
func connectInMemory(t *testing.T, server *mcp.Server, version string) *mcp.ClientSession {
	t.Helper()
	serverSide, clientSide := mcp.NewInMemoryTransports()
	go server.Run(t.Context(), serverSide)
	return connect(t, clientSide, version)
}

// streamable serves an MCP server over HTTP, behind the SDK's check of bearer tokens if there is a token.
func streamable(t *testing.T, server *mcp.Server, stateless bool) func(version, token string) *mcp.ClientSession {
	t.Helper()
	handler := http.Handler(mcp.NewStreamableHTTPHandler(
		func(*http.Request) *mcp.Server { return server }, &mcp.StreamableHTTPOptions{Stateless: stateless},
	))
	verified := auth.RequireBearerToken(
		func(_ context.Context, token string, _ *http.Request) (*auth.TokenInfo, error) {
			return &auth.TokenInfo{UserID: token, Scopes: []string{"things"}, Expiration: time.Now().Add(time.Hour)}, nil
		}, nil)(handler)
	web := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Header.Get("Authorization") != "" {
			verified.ServeHTTP(w, r)
			return
		}
		handler.ServeHTTP(w, r)
	}))
	t.Cleanup(web.Close)
	return func(version, token string) *mcp.ClientSession {
		transport := &mcp.StreamableClientTransport{Endpoint: web.URL}
		if token != "" {
			transport.HTTPClient = &http.Client{Transport: withToken(token)}
		}
		return connect(t, transport, version)
	}
}

// On each transport of the service's own, its tools and the adapter's are listed and called, the caller is the one that
// the service has verified, and a confirmation token is valid in the session that it was issued in, once.
func TestAttach(t *testing.T) {
	server := attached(t, aql.Options{}, AttachOptions{}, nil)
	stateful, stateless := streamable(t, server, false), streamable(t, server, true)
	for _, tt := range []struct {
		name, owner string
		open        func(t *testing.T) *mcp.ClientSession
	}{
		{"in memory", "", func(t *testing.T) *mcp.ClientSession { return connectInMemory(t, server, "") }},
		{
			"in memory, older protocol", "",
			func(t *testing.T) *mcp.ClientSession { return connectInMemory(t, server, "2025-06-18") },
		},
		{"HTTP", "", func(*testing.T) *mcp.ClientSession { return stateless("", "") }},
		{"HTTP, older protocol", "", func(*testing.T) *mcp.ClientSession { return stateful("2025-11-25", "") }},
		{
			"HTTP, older protocol without sessions", "bob",
			func(*testing.T) *mcp.ClientSession { return stateless("2025-06-18", "bob") },
		},
		{"HTTP with a token", "alice", func(*testing.T) *mcp.ClientSession { return stateless("", "alice") }},
		{
			"HTTP with a token, older protocol", "alice",
			func(*testing.T) *mcp.ClientSession { return stateful("2025-11-25", "alice") },
		},
	} {
		t.Run(tt.name, func(t *testing.T) {
			session := tt.open(t)
			tools, err := session.ListTools(t.Context(), nil)
			if err != nil || len(tools.Tools) != 7 {
				t.Errorf("%d tools, %v; want three of the adapter and four more", len(tools.Tools), err)
			}
			for _, want := range []struct{ tool, arguments, text string }{
				{"echo", `{"a":1}`, `{"a":1}`},
				{"mcp_aql_read", `{"operation":"who_thing"}`, `{"success":true,"data":"` + tt.owner + `"}`},
				{"mcp_aql_read", `{"operation":"get_thing","params":{"id":"a"}}`, `{"success":true,"data":"got a"}`},
			} {
				if got, _ := call(t, session, want.tool, want.arguments); got != want.text {
					t.Errorf("%s %s: %s, want %s", want.tool, want.arguments, got, want.text)
				}
			}
			const remove = `{"operation":"delete_thing"`
			answer, _ := call(t, session, "mcp_aql_delete", remove+`}`)
			confirmed := remove + `,"_confirmation":"` + token(t, answer) + `"}`
			if got, _ := call(t, session, "mcp_aql_delete", confirmed); !strings.Contains(got, "deleted") {
				t.Errorf("confirmed: %s", got)
			}
			if got, _ := call(t, session, "mcp_aql_delete", confirmed); !strings.Contains(got, "TOKEN_ALREADY_USED") {
				t.Errorf("confirmed twice: %s", got)
			}
		})
	}
}

// recorder keeps audit records as JSON.
type recorder struct{ text string }

func (r *recorder) Write(_ context.Context, records []audit.Record) error {
	text, err := json.Marshal(records)
	r.text += string(text)
	return err
}

func (r *recorder) Close() error { return nil }

// Validation, policy and the audit log hold for what is attached; a caller's token is of no use to another.
func TestAttachGate(t *testing.T) {
	var records recorder
	log := audit.New(audit.Options{Sinks: []audit.Sink{&records}, Wait: true})
	server := attached(t, aql.Options{Audit: log, Policy: &policy.Policy{Rules: []policy.Rule{
		{Name: "not bob", Operations: []string{"delete_thing"}, Callers: []string{"bob"}, Effect: policy.Deny},
	}}}, AttachOptions{}, nil)
	open := streamable(t, server, true)
	alice, bob, carol := open("", "alice"), open("", "bob"), open("", "carol")
	const remove = `{"operation":"delete_thing"`
	if got, _ := call(t, bob, "mcp_aql_delete", remove+`}`); !strings.Contains(got, "PERMISSION_DENIED") {
		t.Errorf("bob: %s", got)
	}
	if got, _ := call(t, bob, "mcp_aql_read", `{"operation":"get_thing","params":{"x":1}}`); !strings.Contains(
		got, "VALIDATION_UNKNOWN_PARAM") {
		t.Errorf("an unknown parameter: %s", got)
	}
	answer, _ := call(t, alice, "mcp_aql_delete", remove+`}`)
	confirmed := remove + `,"_confirmation":"` + token(t, answer) + `"}`
	if got, _ := call(t, carol, "mcp_aql_delete", confirmed); strings.Contains(got, "deleted") {
		t.Errorf("carol with alice's token: %s", got)
	}
	if got, _ := call(t, alice, "mcp_aql_delete", confirmed); !strings.Contains(got, "deleted") {
		t.Errorf("alice: %s", got)
	}
	log.Close(t.Context())
	for _, want := range []string{`"alice"`, `"bob"`, "delete_thing"} {
		if !strings.Contains(records.text, want) {
			t.Errorf("%s is not on record in\n%s", want, records.text)
		}
	}
}

// With HideDenied a caller sees only the adapter's tools that he may call, and all of the service's own.
func TestAttachHidesDenied(t *testing.T) {
	server := attached(t, aql.Options{HideDenied: true, Policy: &policy.Policy{Rules: []policy.Rule{
		{Name: "bob reads", Operations: []string{"delete_thing"}, Callers: []string{"bob"}, Effect: policy.Deny},
	}}}, AttachOptions{}, nil)
	open := streamable(t, server, true)
	for caller, want := range map[string]bool{"alice": true, "bob": false} {
		session := open("", caller)
		tools, err := session.ListTools(t.Context(), nil)
		if err != nil {
			t.Fatal(err)
		}
		var names []string
		for _, tool := range tools.Tools {
			names = append(names, tool.Name)
		}
		if slices.Contains(names, "mcp_aql_delete") != want || !slices.Contains(names, "echo") {
			t.Errorf("%s sees %v", caller, names)
		}
		if got, _ := call(t, session, "echo", `{}`); got != `{}` {
			t.Errorf("%s: %s", caller, got)
		}
	}
}

// AttachOptions.Caller decides who calls. Without a caller nothing runs.
func TestAttachCaller(t *testing.T) {
	var who aql.Caller
	var failure error
	server := attached(t, aql.Options{}, AttachOptions{
		Caller: func(context.Context, mcp.Request) (aql.Caller, error) { return who, failure },
	}, nil)
	session := connectInMemory(t, server, "")
	who = aql.Caller{Subject: "dora"}
	if got, _ := call(t, session, "mcp_aql_read", `{"operation":"who_thing"}`); !strings.Contains(got, `"dora"`) {
		t.Error(got)
	}
	failure = errors.New("reading accounts: secret")
	_, err := session.CallTool(t.Context(), &mcp.CallToolParams{
		Name: "mcp_aql_read", Arguments: json.RawMessage(`{"operation":"who_thing"}`),
	})
	if err == nil || !strings.Contains(err.Error(), "cannot be identified") || strings.Contains(err.Error(), "secret") {
		t.Errorf("an unknown caller: %v", err)
	}
}

// The adapter's calls are bounded, and recover from panics; the service's own are the service's.
func TestAttachBounds(t *testing.T) {
	block := make(chan struct{})
	entered := make(chan struct{}, 1)
	panics := false
	server := attached(t, aql.Options{}, AttachOptions{
		MaxInFlight: 1,
		Caller: func(context.Context, mcp.Request) (aql.Caller, error) {
			if panics {
				panic("secret")
			}
			entered <- struct{}{}
			return aql.Caller{}, nil
		},
	}, block)
	session := connectInMemory(t, server, "")
	done := make(chan string)
	go func() {
		text, _ := call(t, session, "mcp_aql_execute", `{"operation":"wait_thing"}`)
		done <- text
	}()
	<-entered
	params := &mcp.CallToolParams{Name: "mcp_aql_read", Arguments: json.RawMessage(`{"operation":"get_thing"}`)}
	if _, err := session.CallTool(t.Context(), params); err == nil || !strings.Contains(err.Error(), "busy") {
		t.Errorf("a call beyond the bound: %v", err)
	}
	if got, _ := call(t, session, "echo", `{}`); got != `{}` {
		t.Errorf("a tool of the service: %s", got)
	}
	close(block)
	if got := <-done; !strings.Contains(got, "waited") {
		t.Error(got)
	}
	panics = true
	_, err := session.CallTool(t.Context(), params)
	if err == nil || !strings.Contains(err.Error(), "internal error") || strings.Contains(err.Error(), "secret") {
		t.Errorf("a panic: %v", err)
	}
}

// The client asks its person in the same call, as with a Server.
func TestAttachElicit(t *testing.T) {
	server := attached(t, aql.Options{}, AttachOptions{Elicit: true}, nil)
	for _, version := range []string{"", "2025-11-25"} {
		serverSide, clientSide := mcp.NewInMemoryTransports()
		go server.Run(t.Context(), serverSide)
		client := mcp.NewClient(&mcp.Implementation{Name: "test", Version: "1"}, &mcp.ClientOptions{
			ElicitationHandler: func(context.Context, *mcp.ElicitRequest) (*mcp.ElicitResult, error) {
				return &mcp.ElicitResult{Action: "accept", Content: map[string]any{approval: true}}, nil
			},
		})
		session, err := client.Connect(t.Context(), clientSide, &mcp.ClientSessionOptions{ProtocolVersion: version})
		if err != nil {
			t.Fatal(err)
		}
		if got, _ := call(t, session, "mcp_aql_delete", `{"operation":"delete_thing"}`); !strings.Contains(got, "deleted") {
			t.Errorf("version %q: %s", version, got)
		}
		session.Close()
	}
}

// What has the name of one of the adapter's tools is found, on a server with pages of tools too. An adapter cannot be
// attached twice, and not to a server that lists no tools.
func TestAttachClash(t *testing.T) {
	adapter := newServer(t, Options{}, nil).adapter
	server := mcp.NewServer(&mcp.Implementation{Name: "service"}, &mcp.ServerOptions{PageSize: 2})
	for i := range 5 {
		server.AddTool(&mcp.Tool{Name: fmt.Sprintf("a%d", i), InputSchema: anyObject}, nil)
	}
	if _, err := Attach(server, adapter, AttachOptions{}); err != nil {
		t.Fatal(err)
	}
	_, err := Attach(server, adapter, AttachOptions{})
	if err == nil || strings.Count(err.Error(), "the server has another tool of this name") != 3 {
		t.Errorf("attached twice: %v", err)
	}
	private := mcp.NewServer(&mcp.Implementation{Name: "service"}, nil)
	private.AddReceivingMiddleware(func(mcp.MethodHandler) mcp.MethodHandler {
		return func(context.Context, string, mcp.Request) (mcp.Result, error) { return nil, errors.New("who are you?") }
	})
	_, err = Attach(private, adapter, AttachOptions{})
	if err == nil || !strings.Contains(err.Error(), "listing the tools that the server has") {
		t.Errorf("a server that lists nothing: %v", err)
	}
}

// The end of an attachment ends the adapter's sessions, and not those of the server.
func TestAttachmentClose(t *testing.T) {
	server := mcp.NewServer(&mcp.Implementation{Name: "service"}, nil)
	attachment, err := Attach(server, newServer(t, Options{}, nil).adapter, AttachOptions{})
	if err != nil {
		t.Fatal(err)
	}
	connected, alice := connectInMemory(t, server, ""), streamable(t, server, true)("", "alice")
	for _, session := range []*mcp.ClientSession{connected, alice} {
		asked, _ := call(t, session, "mcp_aql_delete", `{"operation":"delete_thing"}`)
		attachment.Close()
		got, _ := call(t, session, "mcp_aql_delete", `{"operation":"delete_thing","_confirmation":"`+token(t, asked)+`"}`)
		if !strings.Contains(got, "TOKEN_INVALID") {
			t.Errorf("after the end of the session: %s", got)
		}
	}
}
