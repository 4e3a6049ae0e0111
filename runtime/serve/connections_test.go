package serve

import (
	"context"
	"fmt"
	"io"
	"net"
	"net/http"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/modelcontextprotocol/go-sdk/mcp"
)

// remote is a connection from an address.
type remote struct {
	net.Conn
	address string
	closed  *[]string
	name    string
}

func (r remote) RemoteAddr() net.Addr { return &net.TCPAddr{IP: net.ParseIP(r.address), Port: 1} }

func (r remote) Close() error {
	*r.closed = append(*r.closed, r.name)
	return nil
}

// C1: the connection that gives way is of the address with most; first one that waits for its client, then one with an
// event stream, then one that is served; the longest first.
func TestConnectionsGiveWay(t *testing.T) {
	type open struct {
		name, address string
		phase         int32
		since         int64
		writing       int64
	}
	for _, tt := range []struct {
		name string
		open []open
		want string
	}{
		{
			"the greediest address", []open{
				{"a", "192.0.2.1", waiting, 1, 0}, {"b", "192.0.2.2", working, 2, 0}, {"c", "192.0.2.2", working, 3, 0},
			}, "b",
		},
		{
			"the greediest network of IPv6", []open{
				{"a", "2001:db8:1::1", streaming, 1, 0}, {"b", "2001:db8:1::1", waiting, 2, 0},
				{"c", "2001:db8:2::1", working, 3, 0}, {"d", "2001:db8:2::2", working, 4, 0},
				{"e", "2001:db8:2::3", working, 5, 0},
			}, "c",
		},
		{
			"one that waits", []open{
				{"a", "::1", working, 1, 0}, {"b", "::1", waiting, 3, 0}, {"c", "::1", streaming, 2, 0},
			}, "b",
		},
		{"one that waits for longest", []open{{"a", "::1", waiting, 2, 0}, {"b", "::1", waiting, 1, 0}}, "b"},
		{"one whose client does not read", []open{{"a", "::1", waiting, 3, 0}, {"b", "::1", working, 4, 2}}, "b"},
		{"a stream before a call", []open{{"a", "::1", working, 1, 0}, {"b", "::1", streaming, 2, 0}}, "b"},
		{"the longest call", []open{{"a", "::1", working, 1, 0}, {"b", "::1", working, 2, 0}}, "a"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			var closed []string
			c := newConnections(nil, len(tt.open))
			for _, o := range tt.open {
				added := c.add(remote{address: o.address, closed: &closed, name: o.name}).(*connection)
				added.phase.Store(o.phase)
				added.since.Store(o.since)
				added.writing.Store(o.writing)
			}
			c.add(remote{address: "192.0.2.3", closed: &closed, name: "newest"})
			if diff := cmp.Diff([]string{tt.want}, closed); diff != "" {
				t.Error(diff)
			}
			if n := len(c.open); n != len(tt.open) {
				t.Errorf("%d connections are open", n)
			}
		})
	}
}

// fewFiles is a listener of a process that has no more files at first.
type fewFiles struct {
	net.Listener
	refused *int
	conn    net.Conn
}

func (f fewFiles) Accept() (net.Conn, error) {
	if *f.refused++; *f.refused <= 2 {
		return nil, fmt.Errorf("accept: %w", syscall.EMFILE)
	}
	return f.conn, nil
}

// C1: where the process has no more files, others give way, and no client waits. Without others, net/http waits.
func TestConnectionsWithoutFiles(t *testing.T) {
	var closed []string
	var refused int
	c := newConnections(fewFiles{refused: &refused, conn: remote{address: "::1", closed: &closed, name: "accepted"}}, 100)
	if _, err := c.Accept(); err == nil {
		t.Error("there is none to give way, and no error")
	}
	refused = 0
	for _, name := range []string{"a", "b", "c"} {
		c.add(remote{address: "::1", closed: &closed, name: name}).(*connection).since.Store(int64(name[0]))
	}
	if _, err := c.Accept(); err != nil {
		t.Error(err)
	}
	if diff := cmp.Diff([]string{"a", "b"}, closed); diff != "" {
		t.Error(diff)
	}
}

// C1: clients that hold connections, and send nothing, or a part, keep nobody out, and end no call.
func TestHeldConnections(t *testing.T) {
	entered, leave := make(chan struct{}), make(chan struct{})
	r := start(t, registry(entered, leave), Options{MaxConnections: 8})
	honest := r.connect(t, "2026-07-28")
	called := make(chan error)
	go func() {
		_, err := honest.CallTool(context.WithoutCancel(t.Context()), &mcp.CallToolParams{
			Name: "mcp_aql_execute", Arguments: map[string]any{"operation": "wait"},
		})
		called <- err
	}()
	<-entered
	address := strings.TrimPrefix(r.url, "http://")
	var held []net.Conn
	for _, sent := range []string{
		"", "POST /mcp HTTP/1.1\r\nHost: loc",
		"POST /mcp HTTP/1.1\r\nHost: localhost\r\nContent-Length: 100\r\n\r\n{",
		"POST /mcp HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\nAccept: */*\r\n" +
			"Content-Length: 9\r\n\r\n{",
		"POST /healthz HTTP/1.1\r\nHost: localhost\r\nContent-Length: 100\r\n\r\n{",
		"OPTIONS * HTTP/1.1\r\nHost: localhost\r\nContent-Length: 100\r\n\r\n{",
		"POST /mcp HTTP/1.1\r\nHost: localhost\r\nExpect: much\r\nContent-Length: 100\r\n\r\n{", // which net/http refuses
	} {
		for range 10 {
			conn, err := net.Dial("tcp", address)
			if err != nil {
				t.Fatal(err)
			}
			held = append(held, conn)
			if _, err := io.WriteString(conn, sent); err != nil {
				t.Fatal(err)
			}
		}
		response, err := http.Get(r.url + "/healthz")
		if err != nil {
			t.Fatalf("%q: %v", sent, err)
		}
		response.Body.Close()
		if response.StatusCode != http.StatusOK {
			t.Errorf("%q: %s", sent, response.Status)
		}
	}
	for _, conn := range held {
		conn.Close()
	}
	close(leave)
	if err := <-called; err != nil {
		t.Errorf("the call that ran meanwhile: %v", err)
	}
	r.stop()
	if code := <-r.code; code != exitOK {
		t.Errorf("exit code %d", code)
	}
}

// A connection waits for its client, has an event stream, or is served.
func TestConnectionStates(t *testing.T) {
	client, server := net.Pipe()
	defer client.Close()
	c := newConnections(nil, 1)
	conn := c.add(server).(*connection)
	if phase, _ := conn.state(); phase != waiting {
		t.Errorf("new: phase %d", phase)
	}
	ctx := withConnection(t.Context(), conn)
	var seen []int32
	handler := tracked(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		phase, _ := conn.state()
		seen = append(seen, phase)
		_, _ = io.ReadAll(r.Body)
		phase, _ = conn.state()
		seen = append(seen, phase)
	}))
	for _, request := range []struct {
		method, body string
		length       int64
	}{{http.MethodPost, "{}", 2}, {http.MethodGet, "", 0}, {http.MethodDelete, "", 0}, {http.MethodPost, "{}", -1}} {
		r, err := http.NewRequestWithContext(ctx, request.method, "http://localhost/mcp", strings.NewReader(request.body))
		if err != nil {
			t.Fatal(err)
		}
		r.ContentLength = request.length
		handler.ServeHTTP(nil, r)
		observe(conn, http.StateIdle)
		phase, _ := conn.state()
		seen = append(seen, phase)
	}
	want := []int32{
		waiting, working, waiting, streaming, streaming, waiting, working, working, waiting, waiting, working, waiting,
	}
	if diff := cmp.Diff(want, seen); diff != "" {
		t.Error(diff)
	}
	go conn.Write([]byte("x"))
	for conn.writing.Load() == 0 {
		time.Sleep(time.Millisecond)
	}
	if phase, since := conn.state(); phase != waiting || since != conn.writing.Load() {
		t.Errorf("writing: phase %d since %d", phase, since)
	}
	if _, err := client.Read(make([]byte, 1)); err != nil {
		t.Error(err)
	}
}
