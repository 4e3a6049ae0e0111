package mcpserver

import (
	"context"
	"encoding/json"
	"io"
	"net/http"
	"strings"
	"testing"
	"time"

	aql "github.com/aqltag/aqltag/runtime"
)

// post is a request over HTTP, with the headers that MCP asks for and others; an empty value removes one.
func post(t *testing.T, url, body string, headers map[string]string) *http.Response {
	t.Helper()
	request, err := http.NewRequestWithContext(t.Context(), http.MethodPost, url, strings.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	request.Header.Set("Content-Type", "application/json")
	request.Header.Set("Accept", "application/json, text/event-stream")
	return send(t, request, headers)
}

// send sends a request with headers, of which an empty one is left out.
func send(t *testing.T, request *http.Request, headers map[string]string) *http.Response {
	t.Helper()
	for name, value := range headers {
		if value == "" {
			request.Header.Del(name)
		} else {
			request.Header.Set(name, value)
		}
	}
	if host := headers["Host"]; host != "" {
		request.Host = host
	}
	response, err := http.DefaultClient.Do(request)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { response.Body.Close() })
	return response
}

// answered returns the status of a response and its message, of JSON or in an event, in one form of its JSON.
func answered(t *testing.T, response *http.Response) (status int, message string) {
	t.Helper()
	body, err := io.ReadAll(response.Body)
	if err != nil {
		t.Fatal(err)
	}
	text := string(body)
	if _, data, ok := strings.Cut(text, "data: "); ok {
		text = strings.TrimSpace(data)
	}
	var a answer
	if json.Unmarshal([]byte(text), &a) != nil || a.ID == nil {
		return response.StatusCode, text
	}
	return response.StatusCode, render(t, a)
}

const initialize = `{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-06-18",` +
	`"capabilities":{},"clientInfo":{"name":"x","version":"1"}}}`

// begin begins a session over HTTP and returns its id.
func begin(t *testing.T, url string, headers map[string]string) string {
	t.Helper()
	response := post(t, url, initialize, headers)
	io.Copy(io.Discard, response.Body)
	id := response.Header.Get("Mcp-Session-Id")
	if id == "" {
		t.Fatalf("no session: %s", response.Status)
	}
	return id
}

const modernMeta = `"_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28",` +
	`"io.modelcontextprotocol/clientInfo":{"name":"x","version":"1"},"io.modelcontextprotocol/clientCapabilities":{}}`

// D1: over HTTP, too, an answer is that of the SDK, in both eras, or the SDK's own: also to requests with faults.
func TestSameAnswersOverHTTP(t *testing.T) {
	const get = `"name":"mcp_aql_read","arguments":{"operation":"get_thing","params":{"id":"<a>"}}`
	tool := func(params string) string {
		return `{"jsonrpc":"2.0","id":5,"method":"tools/call","params":{` + params + `}}`
	}
	modern := func(more ...string) map[string]string {
		headers := map[string]string{
			"Mcp-Protocol-Version": "2026-07-28", "Mcp-Method": "tools/call", "Mcp-Name": "mcp_aql_read",
		}
		for i := 0; i < len(more); i += 2 {
			headers[more[i]] = more[i+1]
		}
		return headers
	}
	const inSession = "Mcp-Session-Id"
	older := func(more ...string) map[string]string {
		headers := map[string]string{inSession: "begun", "Mcp-Protocol-Version": "2025-06-18"}
		for i := 0; i < len(more); i += 2 {
			headers[more[i]] = more[i+1]
		}
		return headers
	}
	for _, tt := range []struct {
		name, body string
		headers    map[string]string
		here       bool // answered here, and not by the SDK
	}{
		{"a call", tool(get), older(), true},
		{"without a version", tool(get), older("Mcp-Protocol-Version", ""), true},
		{"with parameters of the types", tool(get), older(
			"Content-Type", "application/json; charset=utf-8", "Accept", "text/event-stream;q=1, application/*"), true},
		{"another type", tool(get), older("Content-Type", "text/plain"), false},
		{"accepting JSON alone", tool(get), older("Accept", "application/json"), false},
		{"accepting anything", tool(get), older("Accept", "*/*"), true},
		{"another host", tool(get), older("Host", "example.com"), false},
		{"an unknown version", tool(get), older("Mcp-Protocol-Version", "2024-01-01"), false},
		{"an unknown session", tool(get), older(inSession, "nothing"), false},
		{"no session", tool(get), older(inSession, ""), false},
		{"an event to continue after", tool(get), older("Last-Event-ID", "x_1"), false},
		{"an unknown tool", tool(`"name":"nothing","arguments":{}`), older(), false},
		{"metadata of the sessionless protocol", tool(get + "," + modernMeta), older(), false},
		{"a failure", tool(`"name":"mcp_aql_read","arguments":{"operation":"nothing"}`), older(), true},
		{"a batch in a version without them", "[" + tool(get) + "]", older(), false},
		{"a batch in a version that has them", "[" + tool(get) + "]", older("Mcp-Protocol-Version", "2025-03-26"), false},
		{"an empty body", ``, older(), false},
		{"a ping", `{"jsonrpc":"2.0","id":5,"method":"ping"}`, older(), false},
		{"a notification", `{"jsonrpc":"2.0","method":"notifications/initialized"}`, older(), false},
		{"a body too long", tool(get + `,"x":"` + strings.Repeat("x", 5<<20) + `"`), older(), false},
		{"the sessionless protocol", tool(get + "," + modernMeta), modern(), true},
		{"a failure in it", tool(`"name":"mcp_aql_read","arguments":{},` + modernMeta), modern(), true},
		{"another name in the header", tool(get + "," + modernMeta), modern("Mcp-Name", "mcp_aql_create"), false},
		{"no name in the header", tool(get + "," + modernMeta), modern("Mcp-Name", ""), false},
		{"another method in the header", tool(get + "," + modernMeta), modern("Mcp-Method", "tools/list"), false},
		{"no metadata", tool(get), modern(), false},
		{"a newer version", tool(get + "," + modernMeta), modern("Mcp-Protocol-Version", "2099-07-28"), false},
		{"too long for it", tool(get + "," + modernMeta + `,"x":"` + strings.Repeat("x", 5<<20) + `"`), modern(), false},
	} {
		t.Run(tt.name, func(t *testing.T) {
			ask := func(options Options) (*http.Response, int, string) {
				url := httpServer(t, newServer(t, options, nil)).URL
				if tt.headers[inSession] == "begun" {
					headers := map[string]string{inSession: begin(t, url, nil)}
					for name, value := range tt.headers {
						if name != inSession {
							headers[name] = value
						}
					}
					response := post(t, url, tt.body, headers)
					status, message := answered(t, response)
					return response, status, message
				}
				response := post(t, url, tt.body, tt.headers)
				status, message := answered(t, response)
				return response, status, message
			}
			response, status, message := ask(Options{})
			_, wantStatus, want := ask(Options{Setup: throughMiddleware})
			if status != wantStatus || message != want {
				t.Errorf("\nhere %d %s\nSDK  %d %s", status, message, wantStatus, want)
			}
			here := response.StatusCode == http.StatusOK && response.Header.Get("Content-Type") == "application/json"
			if here != tt.here {
				t.Errorf("answered here: %v, want %v", here, tt.here)
			}
		})
	}
}

// D8: over HTTP, too, what is no message is answered with an error of JSON-RPC.
func TestBadBodies(t *testing.T) {
	url := httpServer(t, newServer(t, Options{}, nil)).URL
	session := begin(t, url, nil)
	for _, headers := range []map[string]string{
		{"Mcp-Session-Id": session},
		{"Mcp-Protocol-Version": "2026-07-28", "Mcp-Method": "tools/call", "Mcp-Name": "mcp_aql_read"},
	} {
		for _, tt := range []struct {
			name, body string
			code       int
		}{
			{"not JSON", `{`, -32700},
			{"something after it", read("1") + "x", -32700},
			{"a scalar", `7`, -32600},
			{"a member twice", strings.Replace(read("1"), `"id"`, `"id":1,"id"`, 1), -32600},
			{"an id that not all hold", read("9007199254740993"), -32600},
		} {
			response := post(t, url, tt.body, headers)
			var a answer
			if err := json.NewDecoder(response.Body).Decode(&a); err != nil || response.StatusCode != http.StatusBadRequest ||
				a.Error.Code != tt.code {
				t.Errorf("%s: %d %+v, %v", tt.name, response.StatusCode, a, err)
			}
		}
	}
}

// D1: in the older era a cancellation comes in a request of its own, and ends the call in its own session alone.
func TestCancelledOverHTTP(t *testing.T) {
	server := newServer(t, Options{}, nil)
	url := httpServer(t, server).URL
	first, second := begin(t, url, nil), begin(t, url, nil)
	done := make(chan string)
	go func() {
		response := post(t, url, wait("7"), map[string]string{"Mcp-Session-Id": first})
		_, message := answered(t, response)
		done <- message
	}()
	for server.inFlight.taken.Load() == 0 {
		time.Sleep(time.Millisecond)
	}
	status, message := answered(t, post(t, url, wait("7"), map[string]string{"Mcp-Session-Id": first}))
	if status != http.StatusBadRequest || !strings.Contains(message, "duplicate in-flight request ID 7") {
		t.Errorf("the same id again: %d %s", status, message)
	}
	const cancel = `{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":7}}`
	for _, session := range []string{second, first} {
		if server.inFlight.taken.Load() != 1 {
			t.Error("another session cancelled the call")
		}
		if r := post(t, url, cancel, map[string]string{"Mcp-Session-Id": session}); r.StatusCode != http.StatusAccepted {
			t.Error(r.Status)
		}
	}
	if message := <-done; !strings.Contains(message, "cancelled") {
		t.Error(message)
	}
}

// A session that its client has ended is not found, from then on.
func TestDeletedSession(t *testing.T) {
	url := httpServer(t, newServer(t, Options{}, nil)).URL
	headers := map[string]string{"Mcp-Session-Id": begin(t, url, nil)}
	if status, message := answered(t, post(t, url, read("1"), headers)); status != http.StatusOK {
		t.Fatalf("%d %s", status, message)
	}
	request, err := http.NewRequestWithContext(t.Context(), http.MethodDelete, url, nil)
	if err != nil {
		t.Fatal(err)
	}
	request.Header.Set("Mcp-Session-Id", headers["Mcp-Session-Id"])
	response, err := http.DefaultClient.Do(request)
	if err != nil || response.StatusCode != http.StatusNoContent {
		t.Fatalf("%v, %v", response, err)
	}
	response.Body.Close()
	if status, message := answered(t, post(t, url, read("2"), headers)); status != http.StatusNotFound {
		t.Errorf("%d %s", status, message)
	}
}

// A session is its caller's, also for calls that the SDK does not see.
func TestSessionOfAnother(t *testing.T) {
	verify := func(_ context.Context, token string) (aql.Caller, time.Time, error) {
		return aql.Caller{Subject: token}, time.Now().Add(time.Hour), nil
	}
	url := httpServer(t, newServer(t, Options{Bearer: &Bearer{Verify: verify}}, nil)).URL
	session := begin(t, url, map[string]string{"Authorization": "Bearer alice"})
	who := request("1", "mcp_aql_read", "who_thing", "")
	for token, want := range map[string]string{"alice": "alice", "bob": "session user mismatch"} {
		response := post(t, url, who, map[string]string{"Authorization": "Bearer " + token, "Mcp-Session-Id": session})
		if _, message := answered(t, response); !strings.Contains(message, want) {
			t.Errorf("%s: %s", token, message)
		}
	}
}
