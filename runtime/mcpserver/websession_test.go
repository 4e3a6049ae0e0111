package mcpserver

import (
	"context"
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"
)

// remove asks for the deletion of a session.
func remove(t *testing.T, url string, headers map[string]string) int {
	t.Helper()
	request, err := http.NewRequestWithContext(t.Context(), http.MethodDelete, url, nil)
	if err != nil {
		t.Fatal(err)
	}
	return send(t, request, headers).StatusCode
}

// The deletion of a session that the SDK refuses leaves it as it was, with the timer that ends it when it is idle.
func TestRefusedDeletion(t *testing.T) {
	for _, tt := range []struct {
		name, header, value string
		status              int
	}{
		{"an unknown version", "Mcp-Protocol-Version", "1999-01-01", http.StatusBadRequest},
		{"another host", "Host", "example.com", http.StatusForbidden},
	} {
		server := newServer(t, Options{}, nil)
		url := httpServer(t, server).URL
		id := begin(t, url, nil)
		status := remove(t, url, map[string]string{"Mcp-Session-Id": id, tt.header: tt.value})
		if status != tt.status || server.sessions.ofID(id) == nil {
			t.Errorf("%s: status %d, session %v", tt.name, status, server.sessions.ofID(id))
		}
	}
}

// Below zero, SessionTimeout keeps idle sessions.
func TestNoSessionTimeout(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		session, open := inMemorySession(t, -1, func() { t.Error("it is forgotten") })
		time.Sleep(24 * time.Hour)
		if !open() || !session.begin() {
			t.Error("the session has ended")
		}
		session.cancel()
	})
}

// inMemorySession is a session that has begun, and whether it goes on; it is for tests in a bubble.
func inMemorySession(t *testing.T, idle time.Duration, forget func()) (session *webSession, open func() bool) {
	t.Helper()
	server := newServer(t, Options{SessionTimeout: idle}, nil)
	here, there := mcp.NewInMemoryTransports()
	go server.mcp.Run(t.Context(), there)
	client, err := here.Connect(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { client.Close() })
	synctest.Wait()
	for connection := range server.mcp.Sessions() {
		session = newWebSession(connection, "", server.options.SessionTimeout, forget)
	}
	closed := make(chan struct{})
	go func() {
		session.connection.Wait()
		close(closed)
	}()
	return session, func() bool {
		synctest.Wait()
		select {
		case <-closed:
			return false
		default:
			return true
		}
	}
}

// A call is activity: a session ends when it was idle for as long as it may be, and not before.
func TestIdleSession(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		forgotten := false
		session, open := inMemorySession(t, time.Minute, func() { forgotten = true })
		request := new(http.Request)
		session.begin()
		session.arrived()
		time.Sleep(90 * time.Second)
		session.end(request)
		time.Sleep(45 * time.Second)
		session.begin()
		session.arrived()
		session.end(request)
		time.Sleep(45 * time.Second)
		if !open() {
			t.Error("the session ended before it was idle for a minute")
		}
		time.Sleep(46 * time.Second)
		if open() || !forgotten {
			t.Error("the idle session goes on")
		}
		if session.begin() {
			t.Error("a request that comes late begins in a session that has ended")
		}
	})
}

// A session may end between the arrival of a request and the end of its body. It does not run then.
func TestSessionEndsBeforeBody(t *testing.T) {
	server := newServer(t, Options{}, nil)
	url := httpServer(t, server).URL
	id := begin(t, url, nil)
	session := server.sessions.ofID(id)
	body, rest := io.Pipe()
	request, err := http.NewRequestWithContext(t.Context(), http.MethodPost, url, body)
	if err != nil {
		t.Fatal(err)
	}
	request.Header.Set("Content-Type", "application/json")
	request.Header.Set("Accept", "application/json, text/event-stream")
	request.Header.Set("Mcp-Session-Id", id)
	go func() {
		io.WriteString(rest, " ")
		for running := 0; running == 0; time.Sleep(time.Millisecond) {
			session.mu.Lock()
			running = session.running
			session.mu.Unlock()
		}
		remove(t, url, map[string]string{"Mcp-Session-Id": id})
		io.WriteString(rest, read("1"))
		rest.Close()
	}()
	response, err := http.DefaultClient.Do(request)
	if err != nil {
		t.Fatal(err)
	}
	defer response.Body.Close()
	if response.StatusCode != http.StatusNotFound {
		t.Error(response.Status)
	}
}

// The end of a session cancels its calls. The end of the server lets them go on, as a shutdown needs, until their
// clients disconnect.
func TestCallsOfSessionsThatEnd(t *testing.T) {
	for _, tt := range []struct {
		name string
		end  func(server *Server, web *httptest.Server, id string, block chan<- struct{})
		want string // in the response; empty: there is none
	}{
		{"deletion", func(_ *Server, web *httptest.Server, id string, _ chan<- struct{}) {
			if status := remove(t, web.URL, map[string]string{"Mcp-Session-Id": id}); status != http.StatusNoContent {
				t.Errorf("status %d", status)
			}
		}, "cancelled"},
		{"Server.Close, and the call ends", func(server *Server, _ *httptest.Server, _ string, block chan<- struct{}) {
			server.Close()
			block <- struct{}{}
		}, "waited"},
		{"Server.Close, and the client disconnects", func(server *Server, web *httptest.Server, _ string, _ chan<- struct{}) {
			server.Close()
			web.CloseClientConnections()
		}, ""},
	} {
		t.Run(tt.name, func(t *testing.T) {
			block := make(chan struct{})
			server := newServer(t, Options{}, block)
			web := httpServer(t, server)
			id := begin(t, web.URL, nil)
			done := make(chan string)
			go func() {
				request, _ := http.NewRequestWithContext(t.Context(), http.MethodPost, web.URL, strings.NewReader(wait("7")))
				request.Header = http.Header{
					"Content-Type": {"application/json"}, "Accept": {"*/*"}, "Mcp-Session-Id": {id},
				}
				response, err := http.DefaultClient.Do(request)
				if err != nil {
					done <- ""
					return
				}
				body, _ := io.ReadAll(response.Body)
				response.Body.Close()
				done <- string(body)
			}()
			for server.inFlight.taken.Load() == 0 {
				time.Sleep(time.Millisecond)
			}
			tt.end(server, web, id, block)
			if got := <-done; !strings.Contains(got, tt.want) || (got == "") != (tt.want == "") {
				t.Errorf("%q", got)
			}
			for server.inFlight.taken.Load() > 0 {
				time.Sleep(time.Millisecond)
			}
		})
	}
}

// A session that the SDK keeps has a timer, also if middleware failed after it was initialized. Another
// initialization, which the SDK refuses, leaves it as it is.
func TestMiddlewareFailsAfterInitialize(t *testing.T) {
	server := newServer(t, Options{Setup: func(server *mcp.Server) {
		server.AddReceivingMiddleware(func(next mcp.MethodHandler) mcp.MethodHandler {
			return func(ctx context.Context, method string, request mcp.Request) (mcp.Result, error) {
				result, err := next(ctx, method, request)
				if method == "initialize" && err == nil {
					err = errors.New("this fails")
				}
				return result, err
			}
		})
	}}, nil)
	url := httpServer(t, server).URL
	_, _ = answered(t, post(t, url, initialize, nil))
	var id string
	for connection := range server.mcp.Sessions() {
		id = connection.ID()
	}
	session := server.sessions.ofID(id)
	if session == nil {
		t.Fatalf("session %q has no timer", id)
	}
	_, message := answered(t, post(t, url, initialize, map[string]string{"Mcp-Session-Id": id}))
	if !strings.Contains(message, "the session has begun already") || server.sessions.ofID(id) != session {
		t.Errorf("initialized again: %s", message)
	}
}
