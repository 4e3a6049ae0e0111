package mcpserver

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	aql "github.com/aqltag/aqltag/runtime"
	"github.com/aqltag/aqltag/runtime/gen"
	"github.com/google/go-cmp/cmp"
	"github.com/modelcontextprotocol/go-sdk/mcp"
)

// eventually waits until something holds.
func eventually(holds func() bool) {
	for !holds() {
		time.Sleep(time.Millisecond)
	}
}

// C1: a caller has no more than a half of the memory for bodies and answers. Where there is none left, those who wait
// longest for their clients lose theirs, of the caller who holds most; those who are served keep it.
func TestBuffers(t *testing.T) {
	const mib = 1 << 20
	type request struct {
		caller  string
		bytes   int
		waits   bool
		outcome outcome
	}
	for _, tt := range []struct {
		name     string
		requests []request
		evicted  []int
	}{
		{"what is small is not counted", []request{{"", 8 * mib, false, admitted}, {"a", 16 << 10, false, admitted}}, nil},
		{"what is served stays", []request{{"", 8 * mib, false, admitted}, {"", mib, false, allTaken}}, nil},
		{
			"the one that waits longest gives way",
			[]request{{"", 4 * mib, true, admitted}, {"", 4 * mib, true, admitted}, {"", mib, false, admitted}}, []int{0},
		},
		{"a half", []request{{"a", 4 * mib, false, admitted}, {"a", mib, false, ownTaken}, {"b", mib, false, admitted}}, nil},
		{
			"a caller's own gives way",
			[]request{{"b", 2 * mib, true, admitted}, {"a", 4 * mib, true, admitted}, {"a", 2 * mib, false, admitted}},
			[]int{1},
		},
		{
			"the greediest gives way",
			[]request{
				{"a", mib, true, admitted}, {"b", 3 * mib, true, admitted}, {"c", 4 * mib, false, admitted},
				{"d", 2 * mib, false, admitted},
			}, []int{1},
		},
		{"as many as it takes", []request{
			{"", 3 * mib, true, admitted}, {"", 3 * mib, true, admitted}, {"", 2 * mib, true, admitted},
			{"", 5 * mib, false, admitted},
		}, []int{0, 1}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			b := newBuffers(8 * mib)
			var evicted []int
			holds := make([]hold, len(tt.requests))
			for i, r := range tt.requests {
				h := &holds[i]
				h.buffers, h.caller = b, r.caller
				if got := h.admit(r.bytes); got != r.outcome {
					t.Errorf("request %d: outcome %d, want %d", i, got, r.outcome)
				}
				if r.waits {
					h.wait(func() { evicted = append(evicted, i) })
					h.since = time.Unix(int64(i), 0)
				}
			}
			if diff := cmp.Diff(tt.evicted, evicted); diff != "" {
				t.Error(diff)
			}
			for _, i := range evicted {
				if holds[i].proceed() || holds[i].admit(mib) != takenAway {
					t.Errorf("request %d goes on", i)
				}
			}
			if b.held > b.limit {
				t.Errorf("%d bytes of %d", b.held, b.limit)
			}
			for i := range holds {
				holds[i].release()
			}
			if b.held != 0 || len(b.of) != 0 || len(b.waits) != 0 {
				t.Errorf("%d bytes, %v and %d who wait are left", b.held, b.of, len(b.waits))
			}
		})
	}
}

// C1: bodies that are held back take the memory that there is for them, and keep nobody out: a whole one is served.
func TestHeldBackBodies(t *testing.T) {
	server := newServer(t, Options{ClientTimeout: time.Hour}, nil)
	web := httpServer(t, server)
	session := begin(t, web.URL, nil)
	const size = 1 << 20
	for range 2 * server.options.MaxBufferedBytes / size {
		conn, err := net.Dial("tcp", web.Listener.Addr().String())
		if err != nil {
			t.Fatal(err)
		}
		defer conn.Close()
		fmt.Fprintf(conn, "POST / HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n"+
			"Accept: */*\r\nMcp-Session-Id: %s\r\nContent-Length: %d\r\n\r\n%s", session, size, strings.Repeat(" ", size-1))
	}
	held := func() int {
		server.buffers.mu.Lock()
		defer server.buffers.mu.Unlock()
		return server.buffers.held
	}
	eventually(func() bool { return held() > server.options.MaxBufferedBytes-size })
	message := strings.Repeat(" ", size) + read("1")
	status, answer := answered(t, post(t, web.URL, message, map[string]string{"Mcp-Session-Id": session}))
	if status != http.StatusOK || !strings.Contains(answer, "got a") {
		t.Errorf("%d %s", status, answer)
	}
	if got := held(); got > server.options.MaxBufferedBytes {
		t.Errorf("%d bytes are held, of %d", got, server.options.MaxBufferedBytes)
	}
}

// C1, REQ-DE-05: a body has a time in which it has to come, whoever would read it, and a length. What is refused is
// said with an error of JSON-RPC.
func TestBodiesThatAreRefused(t *testing.T) {
	// A busy machine takes its time to write an answer, too, which is to come within this.
	slow := httpServer(t, newServer(t, Options{ClientTimeout: time.Second}, nil))
	plain := httpServer(t, newServer(t, Options{}, nil))
	for _, tt := range []struct {
		name, url, header, body string
		length, status          int
	}{
		{"late", slow.URL, "", "", 10, http.StatusRequestTimeout},
		{"late, in the sessionless protocol", slow.URL, "Mcp-Protocol-Version: 2026-07-28\r\n", "{", 10, 408},
		{"late, for the SDK to refuse", slow.URL, "Mcp-Protocol-Version: 2027-01-01\r\n", "{", 10, 408},
		{"too long by its header", plain.URL, "", "", 2 << 20, http.StatusRequestEntityTooLarge},
		{"too long, for the SDK to refuse", plain.URL, "Mcp-Protocol-Version: 2027-01-01\r\n", "", 2 << 20, 413},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			conn, err := net.Dial("tcp", strings.TrimPrefix(tt.url, "http://"))
			if err != nil {
				t.Fatal(err)
			}
			defer conn.Close()
			fmt.Fprintf(conn, "POST / HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n"+
				"Accept: */*\r\n%sContent-Length: %d\r\n\r\n%s", tt.header, tt.length, tt.body)
			response, err := http.ReadResponse(bufio.NewReader(conn), nil)
			if err != nil {
				t.Fatal(err)
			}
			var a answer
			if err := json.NewDecoder(response.Body).Decode(&a); err != nil || response.StatusCode != tt.status ||
				a.Error.Code != -32600 {
				t.Errorf("%d %+v, %v", response.StatusCode, a, err)
			}
		})
	}
	many := "[" + strings.Repeat(`{"jsonrpc":"2.0","method":"x"},`, maxBatch) + `{"jsonrpc":"2.0","method":"x"}]`
	headers := map[string]string{"Mcp-Protocol-Version": "2025-03-26", "Mcp-Session-Id": begin(t, plain.URL, nil)}
	response := post(t, plain.URL, many, headers)
	if status, message := answered(t, response); status != 400 || !strings.Contains(message, "more than 50 messages") {
		t.Errorf("a huge batch: %d %s", status, message)
	}
}

// newBigServer has an operation whose answers no client's buffers hold, with progress before them.
func newBigServer(t *testing.T, options Options) *Server {
	t.Helper()
	registry := gen.NewRegistry([]gen.Handler{{
		Name: "big_thing", Category: gen.Read, Danger: gen.Safe, Description: "Is big.", Returns: "Text",
		Request: (*thing)(nil), Result: (*string)(nil),
		Params: []gen.Field{{Name: "id", Go: "ID", Type: "string"}},
		Call: func(ctx context.Context, _ []any, _ any) (any, error) {
			aql.ReportProgress(ctx, 1, 2, strings.Repeat("x", 1000))
			return strings.Repeat("x", 9<<20), nil
		},
	}}, []gen.WireType{{Name: "Text", Kind: gen.KindScalar}})
	adapter, err := aql.New(registry, aql.Options{Name: "things", Version: "1.0.0"})
	if err != nil {
		t.Fatal(err)
	}
	server := New(adapter, options)
	t.Cleanup(server.Close)
	return server
}

// C1, C2: an answer that its client does not read ends the connection, as JSON, as an event of ours and of the SDK's.
func TestAnswersThatAreNotRead(t *testing.T) {
	for _, tt := range []struct {
		name, meta string
		setup      func(*mcp.Server)
	}{
		{"JSON", "", nil},
		{"an event", `,"_meta":{"progressToken":1}`, nil},
		{"an event of the SDK", "", throughMiddleware},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			server := newBigServer(t, Options{ClientTimeout: time.Second, Setup: tt.setup}) // which others keep to
			handler, err := server.Handler()
			if err != nil {
				t.Fatal(err)
			}
			served := make(chan struct{}, 1)
			closed := make(chan struct{}, 1)
			web := httptest.NewUnstartedServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				handler.ServeHTTP(w, r)
				if strings.Contains(r.Header.Get("X-Greedy"), "yes") {
					served <- struct{}{}
				}
			}))
			web.Config.ConnState = func(conn net.Conn, state http.ConnState) {
				if tcp, ok := conn.(*net.TCPConn); ok && state == http.StateNew {
					_ = tcp.SetWriteBuffer(64 << 10)
				}
				if state == http.StateClosed {
					select {
					case closed <- struct{}{}:
					default:
					}
				}
			}
			web.Start()
			defer web.Close()
			session := begin(t, web.URL, nil)
			conn, err := net.Dial("tcp", web.Listener.Addr().String())
			if err != nil {
				t.Fatal(err)
			}
			defer conn.Close()
			_ = conn.(*net.TCPConn).SetReadBuffer(4 << 10)
			body := `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"mcp_aql_read","arguments":` +
				`{"operation":"big_thing"}` + tt.meta + `}}`
			fmt.Fprintf(conn, "POST / HTTP/1.1\r\nHost: localhost\r\nX-Greedy: yes\r\nContent-Type: application/json\r\n"+
				"Accept: */*\r\nMcp-Session-Id: %s\r\nContent-Length: %d\r\n\r\n%s", session, len(body), body)
			<-served // the handler does not wait for its client for ever
			<-closed
			eventually(func() bool {
				server.buffers.mu.Lock()
				defer server.buffers.mu.Unlock()
				return server.buffers.held == 0 && server.inFlight.taken.Load() == 0 && server.open.taken.Load() == 0
			})
		})
	}
}

// byHeader tells callers apart in tests.
func byHeader(r *http.Request) string { return r.Header.Get("X-Peer") }

// C2: a caller whose calls do not end has a quarter of the places, and others have theirs; also where the SDK answers.
func TestPlacesOfACaller(t *testing.T) {
	for name, setup := range map[string]func(*mcp.Server){"answered here": nil, "answered by the SDK": throughMiddleware} {
		t.Run(name, func(t *testing.T) {
			block := make(chan struct{})
			server := newServer(t, Options{MaxInFlight: 8, Peer: byHeader, Setup: setup}, block)
			url := httpServer(t, server).URL
			greedy, honest := map[string]string{"X-Peer": "greedy"}, map[string]string{"X-Peer": "honest"}
			greedy["Mcp-Session-Id"], honest["Mcp-Session-Id"] = begin(t, url, greedy), begin(t, url, honest)
			done := make(chan string)
			for i := range 2 {
				go func() {
					_, message := answered(t, post(t, url, wait(fmt.Sprint(100+i)), greedy))
					done <- message
				}()
			}
			eventually(func() bool { return server.inFlight.taken.Load() == 2 })
			if _, message := answered(t, post(t, url, wait("3"), greedy)); !strings.Contains(message, "2 of your calls run") {
				t.Errorf("a call too many: %s", message)
			}
			if _, message := answered(t, post(t, url, read("4"), honest)); !strings.Contains(message, "got a") {
				t.Errorf("the call of another: %s", message)
			}
			close(block)
			for range 2 {
				if message := <-done; !strings.Contains(message, "waited a") {
					t.Error(message)
				}
			}
			if _, message := answered(t, post(t, url, read("5"), greedy)); !strings.Contains(message, "got a") {
				t.Errorf("after they ended: %s", message)
			}
		})
	}
}

// C6: who has most sessions loses one when there are too many: first one that was never used, then the one that is idle
// for longest. A caller who has a quarter of all loses his own.
func TestSessionsOfACaller(t *testing.T) {
	server := newServer(t, Options{MaxSessions: 8, MaxSessionsPerCaller: 4, Peer: byHeader}, nil)
	url := httpServer(t, server).URL
	headers := func(peer, id string) map[string]string {
		return map[string]string{"X-Peer": peer, "Mcp-Session-Id": id}
	}
	use := func(peer, id string) bool {
		status, _ := answered(t, post(t, url, read("1"), headers(peer, id)))
		return status == http.StatusOK
	}
	open := func(peer string) string { return begin(t, url, headers(peer, "")) }
	isOpen := func(id string) bool { return server.sessions.ofID(id) != nil }

	honest := open("honest")
	if !use("honest", honest) {
		t.Fatal("the session of the honest caller does not begin")
	}
	used := open("greedy")
	use("greedy", used)
	unused := open("greedy")
	for range 20 {
		open("greedy")
	}
	if isOpen(unused) || !isOpen(used) {
		t.Errorf("of the greedy caller: unused %v, used %v", isOpen(unused), isOpen(used))
	}
	for i := range 20 {
		open(fmt.Sprintf("one of many %d", i%5))
	}
	if !use("honest", honest) {
		t.Error("the honest caller lost the session that is in use")
	}
	server.sessions.mu.Lock()
	defer server.sessions.mu.Unlock()
	if n := len(server.sessions.web); n != 8 {
		t.Errorf("%d sessions are open", n)
	}
	if len(server.sessions.pending) > 0 {
		t.Errorf("sessions begin: %v", server.sessions.pending)
	}
}

// C6: a session with a call that runs is nobody's to take. Where all have one, one more is refused.
func TestBusySessionsStay(t *testing.T) {
	block := make(chan struct{})
	server := newServer(t, Options{MaxSessions: 1}, block)
	url := httpServer(t, server).URL
	session := begin(t, url, nil)
	done := make(chan string)
	go func() {
		_, message := answered(t, post(t, url, wait("7"), map[string]string{"Mcp-Session-Id": session}))
		done <- message
	}()
	eventually(func() bool { return server.inFlight.taken.Load() == 1 })
	response := post(t, url, initialize, nil)
	status, message := answered(t, response)
	if status != http.StatusServiceUnavailable || response.Header.Get("Retry-After") == "" ||
		!strings.Contains(message, "too many sessions") {
		t.Errorf("%d %s", status, message)
	}
	close(block)
	if message := <-done; !strings.Contains(message, "waited a") {
		t.Error(message)
	}
}

// The name of a caller is that of the token, or else the address, where that says something.
func TestPeers(t *testing.T) {
	server := newServer(t, Options{}, nil)
	for address, want := range map[string]string{
		"192.0.2.7:1234": "192.0.2.7", "[::ffff:192.0.2.7]:1234": "192.0.2.7", "[2001:db8:1:2:3::4]:1": "2001:db8:1:2::",
		"127.0.0.1:1234": "", "[::1]:1": "", "@": "", "": "", "pipe": "",
	} {
		r := httptest.NewRequestWithContext(t.Context(), http.MethodPost, "/", nil)
		r.RemoteAddr = address
		if got := server.peer(r); got != want {
			t.Errorf("%q: %q, want %q", address, got, want)
		}
	}
}

// C8, REQ-DE-05: nothing that the SDK says of Go, or repeats, reaches a client over HTTP.
func TestWordsOverHTTP(t *testing.T) {
	const secret = "s3cret"
	message := func(members string) string {
		return `{"jsonrpc":"2.0",` + strings.ReplaceAll(members, "SECRET", secret) + "}"
	}
	bodies := map[string]string{
		"a name that is a list":      message(`"id":1,"method":"tools/call","params":{"name":["SECRET"]}`),
		"metadata that is a number":  message(`"id":1,"method":"tools/call","params":{"name":"SECRET","_meta":1}`),
		"params in a list":           message(`"id":1,"method":"tools/call","params":["SECRET"]`),
		"a cursor that is a number":  message(`"id":1,"method":"tools/list","params":{"cursor":5,"x":"SECRET"}`),
		"a URI that is an object":    message(`"id":1,"method":"resources/read","params":{"uri":{"a":"SECRET"}}`),
		"a cancellation of a type":   message(`"method":"notifications/cancelled","params":{"requestId":["SECRET"]}`),
		"an unknown method":          message(`"id":1,"method":"SECRET"`),
		"a notification with an id":  message(`"id":1,"method":"notifications/initialized"`),
		"a request without an id":    message(`"method":"tools/call","params":{"name":"SECRET"}`),
		"no params":                  message(`"id":1,"method":"tools/call"`),
		"malformed":                  `{"` + secret + `"`,
		"malformed batch":            `[{"` + secret + `"`,
		"initialize with a number":   message(`"id":1,"method":"initialize","params":{"protocolVersion":5,"x":"SECRET"}`),
		"a version that is no text":  `{"jsonrpc":5,"id":1,"method":"` + secret + `"}`,
		"an answer to nothing":       message(`"id":"SECRET","result":{}`),
		"an error that is no object": message(`"id":1,"error":{"code":"SECRET"}`),
	}
	foreign := []string{"json:", "unmarshal", "Go ", "mcp.", "jsonrpc2", "handling", "EOF", "invalid character"}
	for server, setup := range map[string]func(*mcp.Server){"plain": nil, "with middleware": throughMiddleware} {
		url := httpServer(t, newServer(t, Options{Setup: setup}, nil)).URL
		for era, headers := range map[string]map[string]string{
			"session":             {"Mcp-Session-Id": begin(t, url, nil)},
			"before a session":    {},
			"sessionless":         {"Mcp-Protocol-Version": "2026-07-28", "Mcp-Method": "tools/call"},
			"another host":        {"Host": secret},
			"a version":           {"Mcp-Protocol-Version": "2027-" + secret},
			"an event to go on":   {"Mcp-Session-Id": begin(t, url, nil), "Last-Event-ID": secret},
			"a session of nobody": {"Mcp-Session-Id": secret},
		} {
			for name, body := range bodies {
				status, message := answered(t, post(t, url, body, headers))
				for _, word := range foreign {
					if strings.Contains(message, word) {
						t.Errorf("%s, %s, %s: %d %s", server, era, name, status, message)
					}
				}
				if strings.Contains(strings.ReplaceAll(message, `"id":"`+secret, ""), secret) {
					t.Errorf("%s, %s, %s is repeated: %d %s", server, era, name, status, message)
				}
			}
		}
	}
}

// C12: of two arguments none wins, on any way to a tool.
func TestArgumentsTwice(t *testing.T) {
	const call = `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"mcp_aql_read","arguments":` +
		`{"operation":"get_thing","params":{"id":"a"}},"arguments":{"operation":"get_thing","params":{"id":"b"}}}}`
	for server, setup := range map[string]func(*mcp.Server){"plain": nil, "with middleware": throughMiddleware} {
		url := httpServer(t, newServer(t, Options{Setup: setup}, nil)).URL
		for name, headers := range map[string]map[string]string{
			"session":            {"Mcp-Session-Id": begin(t, url, nil)},
			"before a session":   {},
			"before a known one": {"Mcp-Protocol-Version": "2025-03-26"},
			"sessionless": {
				"Mcp-Protocol-Version": "2026-07-28", "Mcp-Method": "tools/call", "Mcp-Name": "mcp_aql_read",
			},
			"a version to come":     {"Mcp-Protocol-Version": "2027-01-01"},
			"an old one, for batch": {"Mcp-Session-Id": begin(t, url, nil), "Mcp-Protocol-Version": "2025-03-26"},
		} {
			for _, body := range []string{call, "[" + call + "]"} {
				status, message := answered(t, post(t, url, body, headers))
				if status != http.StatusBadRequest || !strings.Contains(message, "stands twice") {
					t.Errorf("%s, %s: %d %s", server, name, status, message)
				}
			}
		}
		in, out := strings.NewReader(call+"\n"), new(strings.Builder)
		if err := newServer(t, Options{Setup: setup}, nil).RunStdio(t.Context(), in, out); err != nil ||
			!strings.Contains(out.String(), "stands twice") {
			t.Errorf("%s, stdio: %v %s", server, err, out)
		}
	}
}

// Notifications that a client does not read hold no place: the answer waits for them without one.
func TestProgressHoldsNoPlace(t *testing.T) {
	server := newBigServer(t, Options{MaxInFlight: 1, ClientTimeout: time.Hour})
	server.lastReports = time.Hour // the first report is sent, however slow the machine is
	url := httpServer(t, server).URL
	session := begin(t, url, nil)
	body := `{"jsonrpc":"2.0","id":%d,"method":"tools/call","params":{"name":"mcp_aql_read","arguments":` +
		`{"operation":"big_thing"},"_meta":{"progressToken":1}}}`
	var unread []io.Closer
	for i := range 3 {
		response := post(t, url, fmt.Sprintf(body, i+1), map[string]string{"Mcp-Session-Id": session})
		unread = append(unread, response.Body)
		eventually(func() bool { return server.inFlight.taken.Load() == 0 })
		if response.Header.Get("Content-Type") != "text/event-stream" {
			t.Errorf("call %d: %s %v", i, response.Status, response.Header)
		}
	}
	for _, body := range unread {
		body.Close()
	}
}
