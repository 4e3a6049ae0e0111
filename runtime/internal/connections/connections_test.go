package connections

import (
	"crypto/tls"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
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
			c := newSet(nil, len(tt.open))
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
	c := newSet(fewFiles{refused: &refused, conn: remote{address: "::1", closed: &closed, name: "accepted"}}, 100)
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

// A connection waits for its client, has an event stream, or is served.
func TestConnectionStates(t *testing.T) {
	client, server := net.Pipe()
	defer client.Close()
	c := newSet(nil, 1)
	conn := c.add(server).(*connection)
	if phase, _ := conn.state(); phase != waiting {
		t.Errorf("new: phase %d", phase)
	}
	ctx := Context(t.Context(), conn)
	var seen []int32
	handler := Track(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
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
		Changed(conn, http.StateIdle)
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

// Over one connection of HTTP/2 several requests send their bodies at the same time, and each gets its own.
func TestBodiesOverHTTP2(t *testing.T) {
	listener, err := new(net.ListenConfig).Listen(t.Context(), "tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	protocols := new(http.Protocols)
	protocols.SetUnencryptedHTTP2(true)
	both := make(chan struct{}, 2)
	web := &http.Server{
		Protocols: protocols, ConnState: Changed, ConnContext: Context, ReadHeaderTimeout: time.Minute,
		Handler: Track(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			both <- struct{}{}
			_, _ = io.Copy(w, r.Body)
		})),
	}
	ended := make(chan error)
	go func() { ended <- web.Serve(Limit(listener, 1)) }() // a second connection would end the first
	client := &http.Client{Transport: &http.Transport{Protocols: protocols}}
	answers := make(chan string)
	send := func(body io.Reader) {
		request, err := http.NewRequestWithContext(t.Context(), http.MethodPost, "http://"+listener.Addr().String(), body)
		if err != nil {
			answers <- err.Error()
			return
		}
		answer, err := client.Do(request)
		if err != nil {
			answers <- err.Error()
			return
		}
		defer answer.Body.Close()
		text, err := io.ReadAll(answer.Body)
		answers <- fmt.Sprint(string(text), err, answer.ProtoMajor)
	}
	first, second := io.Pipe()
	go send(first)
	<-both
	go send(strings.NewReader("short"))
	<-both
	if diff := cmp.Diff("short<nil> 2", <-answers); diff != "" {
		t.Error(diff)
	}
	for range 64 {
		if _, err := io.WriteString(second, "long "); err != nil {
			t.Fatal(err)
		}
	}
	second.Close()
	if diff := cmp.Diff(strings.Repeat("long ", 64)+"<nil> 2", <-answers); diff != "" {
		t.Error(diff)
	}
	if err := web.Close(); err != nil {
		t.Error(err)
	}
	if err := <-ended; !errors.Is(err, http.ErrServerClosed) {
		t.Error(err)
	}
}

// A connection below TLS is one of the listener.
func TestConnectionBelowTLS(t *testing.T) {
	client, server := net.Pipe()
	defer client.Close()
	conn := newSet(nil, 1).add(server).(*connection)
	conn.enter(working)
	Changed(tls.Server(conn, nil), http.StateIdle)
	if phase, _ := conn.state(); phase != waiting {
		t.Errorf("phase %d", phase)
	}
	if got := Context(t.Context(), tls.Server(conn, nil)).Value(connectionKey{}); got != conn {
		t.Errorf("the context has %v", got)
	}
	if got := of(client); got != nil {
		t.Errorf("a connection of no listener: %v", got)
	}
}
