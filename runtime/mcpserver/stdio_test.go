package mcpserver

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/aqltag/aqltag/runtime/internal/rpc"
	"github.com/modelcontextprotocol/go-sdk/mcp"
)

// answer is a line of the server.
type answer struct {
	JSONRPC string          `json:"jsonrpc"`
	ID      json.RawMessage `json:"id"`
	Method  string          `json:"method"`
	Result  json.RawMessage `json:"result"`
	Error   struct {
		Code    int    `json:"code"`
		Message string `json:"message"`
	} `json:"error"`
}

// peer speaks with a server on stdio, line by line.
type peer struct {
	t    *testing.T
	in   *io.PipeWriter
	out  *bufio.Reader
	done chan error
}

func newPeer(t *testing.T, server *Server) *peer {
	t.Helper()
	in, toServer := io.Pipe()
	fromServer, out := io.Pipe()
	p := &peer{t: t, in: toServer, out: bufio.NewReader(fromServer), done: make(chan error, 1)}
	go func() {
		err := server.RunStdio(t.Context(), in, out)
		out.Close()
		p.done <- err
	}()
	t.Cleanup(func() {
		p.in.Close()
		go io.Copy(io.Discard, p.out)
		if err := <-p.done; err != nil {
			t.Errorf("serving: %v", err)
		}
	})
	return p
}

func (p *peer) send(lines ...string) {
	for _, line := range lines {
		if _, err := io.WriteString(p.in, line+"\n"); err != nil {
			p.t.Fatal(err)
		}
	}
}

func (p *peer) receive() answer {
	p.t.Helper()
	line, err := p.out.ReadBytes('\n')
	var a answer
	if err == nil {
		err = json.Unmarshal(line, &a)
	}
	if err != nil {
		p.t.Fatalf("%q: %v", line, err)
	}
	return a
}

// initialize begins a session of an older protocol.
func (p *peer) initialize() {
	p.t.Helper()
	p.send(`{"jsonrpc":"2.0","id":"init","method":"initialize","params":{"protocolVersion":"2025-06-18",` +
		`"capabilities":{},"clientInfo":{"name":"x","version":"1"}}}`)
	if a := p.receive(); a.Error.Code != 0 {
		p.t.Fatalf("%+v", a)
	}
	p.send(`{"jsonrpc":"2.0","method":"notifications/initialized"}`)
}

// request is a call of an operation with a parameter.
func request(id, tool, operation, parameter string) string {
	return fmt.Sprintf(`{"jsonrpc":"2.0","id":%s,"method":"tools/call","params":{"name":%q,"arguments":`+
		`{"operation":%q,"params":{"id":%q}}}}`, id, tool, operation, parameter)
}

func read(id string) string { return request(id, "mcp_aql_read", "get_thing", "a") }

func wait(id string) string { return request(id, "mcp_aql_execute", "wait_thing", "a") }

// D8, REQ-RS-07: what the SDK would end the session for is answered, and the session goes on.
func TestBadLines(t *testing.T) {
	for _, tt := range []struct {
		name, line string
		code       int
		id         string
	}{
		{"garbage", `garbage`, -32700, "null"},
		{"two values", `{"jsonrpc":"2.0","id":1,"method":"ping"}{}`, -32700, "null"},
		{"a batch", `[{"jsonrpc":"2.0","id":1,"method":"ping"}]`, -32600, "null"},
		{"no method", `{"jsonrpc":"2.0","id":"a"}`, -32600, `"a"`},
		{"a fraction as id", `{"jsonrpc":"2.0","id":1.5,"method":"ping"}`, -32600, "null"},
		{"null as id", `{"jsonrpc":"2.0","id":null,"method":"ping"}`, -32600, "null"},
		{"two arguments", strings.Replace(read("1"), `"arguments"`, `"arguments":{},"arguments"`, 1), -32600, "1"},
		{"too long", strings.Repeat(" ", 5000) + read("1"), -32600, "null"},
		{"too long for what is read at once", strings.Repeat(" x", 100_000), -32600, "null"},
		{"an error that is none", `{"jsonrpc":"2.0","id":1,"error":5}`, -32600, "1"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			p := newPeer(t, newServer(t, Options{MaxLineBytes: 4000}, nil))
			p.initialize()
			p.send(tt.line)
			a := p.receive()
			if a.JSONRPC != "2.0" || a.Error.Code != tt.code || string(a.ID) != tt.id || a.Error.Message == "" {
				t.Errorf("answer %+v, want code %d for id %s", a, tt.code, tt.id)
			}
			p.send(read("2"))
			if a := p.receive(); string(a.ID) != "2" || a.Result == nil {
				t.Errorf("the call after it: %+v", a)
			}
		})
	}
}

// D8: blanks around a message, blank lines and a last line without an end are no faults.
func TestBlanks(t *testing.T) {
	p := newPeer(t, newServer(t, Options{}, nil))
	p.initialize()
	p.send(read("1")+" \t", "", "   \r", " "+read("2")+"\r", `{"jsonrpc":"2.0","id":3,"method":"ping"}  `)
	seen := make(map[string]bool)
	for range 3 {
		a := p.receive()
		seen[string(a.ID)] = a.Result != nil
	}
	for _, id := range []string{"1", "2", "3"} {
		if !seen[id] {
			t.Errorf("id %s: not answered", id)
		}
	}
	io.WriteString(p.in, read("4"))
	p.in.Close()
	if a := p.receive(); string(a.ID) != "4" || a.Result == nil {
		t.Errorf("the last line: %+v", a)
	}
}

// D1: an answer of the connection is that of the SDK, in both eras of the protocol. The same server answers with
// middleware, which leaves the calls to the SDK.
func TestSameAnswers(t *testing.T) {
	meta := func(more string) string {
		return `"_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28",` +
			`"io.modelcontextprotocol/clientInfo":{"name":"x","version":"1"},` +
			`"io.modelcontextprotocol/clientCapabilities":{}` + more + `}`
	}
	tool := func(params string) string {
		return `{"jsonrpc":"2.0","id":5,"method":"tools/call","params":{` + params + `}}`
	}
	const get = `"name":"mcp_aql_read","arguments":{"operation":"get_thing","params":{"id":"<a>\u2028\""}}`
	lines := []struct{ name, line string }{
		{"a call", tool(get)},
		{"a failure", tool(`"name":"mcp_aql_read","arguments":{"operation":"nothing"}`)},
		{"no arguments", tool(`"name":"mcp_aql_read"`)},
		{"arguments of null", tool(`"name":"mcp_aql_read","arguments":null`)},
		{"arguments in a list", tool(`"name":"mcp_aql_read","arguments":[1]`)},
		{"a name twice in the arguments", tool(`"name":"mcp_aql_read","arguments":{"operation":"a","operation":"b"}`)},
		{"arguments that are not UTF-8", tool("\"name\":\"mcp_aql_read\",\"arguments\":{\"operation\":\"\xff\"}")},
		{"an unknown tool", tool(`"name":"nothing","arguments":{}`)},
		{"a name that is no text", tool(`"name":5,"arguments":{}`)},
		{"no name", tool(`"arguments":{}`)},
		{"no params", `{"jsonrpc":"2.0","id":5,"method":"tools/call"}`},
		{"an id with escapes", strings.Replace(tool(get), "5", `"\u0061\n"`, 1)},
		{"unknown metadata", tool(get + `,"_meta":{"trace":"x"}`)},
		{"metadata that is no object", tool(get + `,"_meta":5`)},
		{"a member more", tool(get + `,"task":{}`)},
		{"the sessionless protocol", tool(get + "," + meta(""))},
		{"a failure in it", tool(`"name":"mcp_aql_read","arguments":{},` + meta(""))},
		{"a level of the log", tool(get + "," + meta(`,"io.modelcontextprotocol/logLevel":"info"`))},
		{"an unknown version", tool(get + "," + strings.Replace(meta(""), "2026", "2099", 1))},
		{"an older version", tool(get + "," + strings.Replace(meta(""), "2026", "2025", 1))},
		{"no capabilities", tool(get + "," + strings.Replace(meta(""), "clientCap", "clientKap", 1))},
		{"capabilities of null", tool(get + "," + strings.Replace(meta(""), `es":{}`, `es":null`, 1))},
		{"capabilities of another type", tool(get + "," + strings.Replace(meta(""), `es":{}`, `es":{"elicitation":5}`, 1))},
		{"a client without a name", tool(get + "," + strings.Replace(meta(""), `"name":"x"`, `"name":5`, 1))},
		{"a ping", `{"jsonrpc":"2.0","id":5,"method":"ping"}`},
		{"an unknown method", `{"jsonrpc":"2.0","id":5,"method":"nothing"}`},
		{"another sense of an id", strings.Replace(tool(get), "5", "-7", 1)},
	}
	for _, begin := range []string{"not initialized", "initialized", "sessionless"} {
		t.Run(begin, func(t *testing.T) {
			ask := func(server *Server, line string) (a answer) {
				p := newPeer(t, server)
				switch begin {
				case "initialized":
					p.initialize()
				case "sessionless":
					p.send(tool(get + "," + meta("")))
					p.receive()
				}
				p.send(line)
				return p.receive()
			}
			for _, tt := range lines {
				here, sdk := newServer(t, Options{}, nil), newServer(t, Options{Setup: throughMiddleware}, nil)
				if got, want := render(t, ask(here, tt.line)), render(t, ask(sdk, tt.line)); got != want {
					t.Errorf("%s:\nhere %s\nSDK  %s", tt.name, got, want)
				}
			}
		})
	}
}

// throughMiddleware adds middleware, so that the SDK answers the calls.
func throughMiddleware(server *mcp.Server) {
	server.AddReceivingMiddleware(func(next mcp.MethodHandler) mcp.MethodHandler {
		return func(ctx context.Context, method string, request mcp.Request) (mcp.Result, error) {
			return next(ctx, method, request)
		}
	})
}

// render writes an answer in one form of its JSON.
func render(t *testing.T, a answer) string {
	t.Helper()
	var result any
	if a.Result != nil {
		if err := json.Unmarshal(a.Result, &result); err != nil {
			t.Fatal(err)
		}
	}
	var id any
	if err := json.Unmarshal(a.ID, &id); err != nil {
		t.Fatal(err)
	}
	text, err := json.Marshal([]any{id, result, a.Error})
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

// The id of a request that runs is not free, whoever answers; and the SDK's answers free theirs.
func TestDuplicateIDs(t *testing.T) {
	block := make(chan struct{})
	server := newServer(t, Options{}, block)
	p := newPeer(t, server)
	p.initialize()
	p.send(wait("7"))
	for _, line := range []string{read("7"), `{"jsonrpc":"2.0","id":7,"method":"ping"}`} {
		p.send(line)
		if a := p.receive(); string(a.ID) != "null" || a.Error.Code != -32600 {
			t.Errorf("%s: %+v", line, a)
		}
	}
	close(block)
	if a := p.receive(); string(a.ID) != "7" || a.Result == nil {
		t.Errorf("%+v", a)
	}
	for range 2 {
		p.send(`{"jsonrpc":"2.0","id":7,"method":"ping"}`)
		if a := p.receive(); string(a.ID) != "7" || a.Result == nil {
			t.Errorf("%+v", a)
		}
	}
}

// D1: a cancellation ends the context of the call, of whatever form the id is, and of no other call.
func TestCancelled(t *testing.T) {
	server := newServer(t, Options{}, nil)
	p := newPeer(t, server)
	p.initialize()
	p.send(wait("7"), wait(`"7"`), wait(`"\u0061"`))
	p.send(`{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":"7"}}`)
	if a := p.receive(); string(a.ID) != `"7"` || !strings.Contains(string(a.Result), "cancelled") {
		t.Errorf("%s %s", a.ID, a.Result)
	}
	p.send(`{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":"a","reason":"x"}}`)
	if a := p.receive(); string(a.ID) != `"\u0061"` || !strings.Contains(string(a.Result), "cancelled") {
		t.Errorf("%s %s", a.ID, a.Result)
	}
	p.send(`{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":7}}`)
	if a := p.receive(); string(a.ID) != "7" {
		t.Errorf("%s", a.ID)
	}
}

// A call beyond the bound is refused, and the places are given back.
func TestBusyOnStdio(t *testing.T) {
	block := make(chan struct{})
	p := newPeer(t, newServer(t, Options{MaxInFlight: 2}, block))
	p.initialize()
	p.send(wait("1"), wait("2"), read("3"))
	a := p.receive()
	if string(a.ID) != "3" || a.Error.Code != -32000 || !strings.Contains(a.Error.Message, "busy with 2") {
		t.Errorf("%+v", a)
	}
	close(block)
	p.receive()
	p.receive()
	for range 5 {
		p.send(read("4"))
		if a := p.receive(); a.Result == nil {
			t.Errorf("%+v", a)
		}
	}
}

// The end of the context ends the session, after the calls that run have ended.
func TestStdioStops(t *testing.T) {
	block := make(chan struct{})
	server := newServer(t, Options{}, block)
	in, toServer := io.Pipe()
	fromServer, out := io.Pipe()
	ctx, stop := context.WithCancel(t.Context())
	p := &peer{t: t, in: toServer, out: bufio.NewReader(fromServer), done: make(chan error, 1)}
	go func() { p.done <- server.RunStdio(ctx, in, out) }()
	p.initialize()
	p.send(wait("1"))
	for server.inFlight.taken.Load() == 0 {
		time.Sleep(time.Millisecond)
	}
	stop()
	close(block)
	if a := p.receive(); !strings.Contains(string(a.Result), "waited") {
		t.Errorf("%+v", a)
	}
	if err := <-p.done; err != nil {
		t.Error(err)
	}
}

// A panic below a call is an error of the call, without its text.
func TestPanicIsAnError(t *testing.T) {
	d := newDirect(newServer(t, Options{}, nil))
	_, _, err := d.answer(t.Context(), nil, &rpc.Message{ID: "1", Call: rpc.Call{Name: "mcp_aql_read"}}, &plainClient, nil)
	if err == nil || !strings.Contains(err.Error(), internalError) {
		t.Errorf("%v", err)
	}
}

// C2: the end of the input or of the context ends RunStdio within 5 seconds, also where the client does not read, or a
// call does not end.
func TestStdioEnds(t *testing.T) {
	stuck := func(release chan struct{}) func(*mcp.Server) {
		return func(server *mcp.Server) {
			server.AddTool(&mcp.Tool{Name: "stuck", InputSchema: anyObject},
				func(context.Context, *mcp.CallToolRequest) (*mcp.CallToolResult, error) {
					<-release
					return says("late"), nil
				})
		}
	}
	call := `{"jsonrpc":"2.0","id":5,"method":"tools/call","params":{"name":"stuck","arguments":{}}}`
	for _, end := range []string{"input", "context"} {
		for _, tt := range []struct {
			name  string
			reads bool
			line  string
		}{
			{"nobody reads a response of the SDK", false, `{"jsonrpc":"2.0","id":1,"method":"ping"}`},
			{"nobody reads a response of the connection", false, read("1")},
			{"nobody reads the answer to a line that is no message", false, "garbage"},
			{"a call does not end", true, call},
		} {
			t.Run(end+": "+tt.name, func(t *testing.T) {
				synctest.Test(t, func(t *testing.T) {
					release := make(chan struct{})
					server := newServer(t, Options{Setup: stuck(release)}, nil)
					in, toServer := io.Pipe()
					fromServer, out := io.Pipe()
					ctx, stop := context.WithCancel(t.Context())
					defer stop()
					p := &peer{t: t, in: toServer, out: bufio.NewReader(fromServer), done: make(chan error, 1)}
					go func() { p.done <- server.RunStdio(ctx, in, out) }()
					p.initialize()
					p.send(tt.line)
					synctest.Wait()
					if tt.reads {
						go io.Copy(io.Discard, p.out)
					}
					start := time.Now()
					if end == "input" {
						p.in.Close()
					} else {
						stop()
					}
					if err := <-p.done; (err != nil) != (tt.line == call) { // C3: it tells that the call was cut off
						t.Errorf("serving: %v", err)
					}
					if took := time.Since(start); took > server.options.DrainTimeout {
						t.Errorf("it takes %s", took)
					}
					close(release)
					fromServer.Close()
					p.in.Close()
					server.Close()
				})
			})
		}
	}
}

// C3: the end of the input ends RunStdio also where the client has sent more than what may wait for it, and reads none
// of the answers.
func TestStdioEndsWhereNobodyReads(t *testing.T) {
	for _, tt := range []struct{ name, line string }{
		{"answers of the connection", read("1")},
		{"answers of the SDK", `{"jsonrpc":"2.0","id":1,"method":"ping"}`},
		{"answers to what is no message", "garbage"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				in, toServer := io.Pipe()
				fromServer, out := io.Pipe()
				server := newServer(t, Options{}, nil)
				p := &peer{t: t, in: toServer, out: bufio.NewReader(fromServer), done: make(chan error, 1)}
				go func() { p.done <- server.RunStdio(t.Context(), in, out) }()
				p.initialize()
				for i := range 8000 { // more than 256 KiB of answers, and less than 1 MiB after them
					p.send(strings.Replace(tt.line, `"id":1`, fmt.Sprintf(`"id":%d`, i), 1))
				}
				p.in.Close()
				<-p.done
				fromServer.Close()
				server.Close()
			})
		})
	}
}

// A client that begins to read in time gets all answers, those too to what was read ahead.
func TestStdioReadsAhead(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		in, toServer := io.Pipe()
		fromServer, out := io.Pipe()
		server := newServer(t, Options{}, nil)
		p := &peer{t: t, in: toServer, out: bufio.NewReader(fromServer), done: make(chan error, 1)}
		go func() { p.done <- server.RunStdio(t.Context(), in, out) }()
		p.initialize()
		const calls = 8000
		for i := range calls {
			p.send(fmt.Sprintf(`{"jsonrpc":"2.0","id":%d,"method":"ping"}`, i))
		}
		answered := make(map[string]bool)
		for i := range calls {
			if i == calls/2 {
				p.in.Close()
			}
			answered[string(p.receive().ID)] = true
		}
		if len(answered) != calls {
			t.Errorf("%d answers, want %d", len(answered), calls)
		}
		if err := <-p.done; err != nil {
			t.Error(err)
		}
		fromServer.Close()
		server.Close()
	})
}

// C8, REQ-RS-07: an answer to params of another form names the method, but no Go type and nothing of what was sent.
func TestMalformedParams(t *testing.T) {
	const code = -32602
	for _, tt := range []struct{ name, method, params, want string }{
		{"a name that is no text", "tools/call", `{"name":5,"arguments":{"secret":"hunter2"}}`, "tools/call"},
		{"params in a list", "tools/call", `["hunter2"]`, "tools/call"},
		{"metadata that is no object", "tools/call", `{"name":"mcp_aql_read","_meta":"hunter2"}`, "tools/call"},
		{
			"a state that is no text", "tools/call", `{"name":"mcp_aql_read","arguments":{},"requestState":{"hunter2":1}}`,
			"tools/call",
		},
		{"a URI that is no text", "resources/read", `{"uri":7,"x":"hunter2"}`, "resources/read"},
		{"a cursor that is no text", "tools/list", `{"cursor":["hunter2"]}`, "tools/list"},
		{"an initialization", "initialize", `{"protocolVersion":5,"capabilities":{},"x":"hunter2"}`, "initialize"},
		{"a cancellation as a request", "notifications/cancelled", `{"requestId":1,"reason":{"hunter2":1}}`, ""},
	} {
		t.Run(tt.name, func(t *testing.T) {
			p := newPeer(t, newServer(t, Options{}, nil))
			p.initialize()
			p.send(fmt.Sprintf(`{"jsonrpc":"2.0","id":5,"method":%q,"params":%s}`, tt.method, tt.params))
			want := "params of '" + tt.want + "' are not valid"
			if tt.want == "" {
				want = "the params are not valid"
			}
			if a := p.receive(); a.Error.Code != code || a.Error.Message != want || string(a.ID) != "5" {
				t.Errorf("%+v, want %q", a, want)
			}
		})
	}
}
