package mcpserver

import (
	"context"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"testing/iotest"
)

// loopback is an address that is no *net.TCPAddr, as that of a listener of another package may be.
type loopback struct{}

func (loopback) Network() string { return "other" }
func (loopback) String() string  { return "127.0.0.1:80" }

// A name that was rebound is refused on every listener, whatever the type of its address is.
func TestReboundOnAnotherListener(t *testing.T) {
	handler, err := newServer(t, Options{}, nil).Handler()
	if err != nil {
		t.Fatal(err)
	}
	const tool = `{"jsonrpc":"2.0","id":5,"method":"tools/call","params":{"name":"mcp_aql_read",` +
		`"arguments":{"operation":"get_thing"},` + modernMeta + `}}`
	for _, tt := range []struct {
		address net.Addr
		host    string
		status  int
	}{
		{loopback{}, "localhost", http.StatusOK},
		{loopback{}, "example.com", http.StatusForbidden},
		{&net.TCPAddr{IP: net.IPv6loopback}, "example.com", http.StatusForbidden},
		{&net.UnixAddr{Name: "/run/s", Net: "unix"}, "example.com", http.StatusOK},
	} {
		ctx := context.WithValue(t.Context(), http.LocalAddrContextKey, tt.address)
		request := httptest.NewRequestWithContext(ctx, http.MethodPost, "http://"+tt.host+"/mcp", strings.NewReader(tool))
		for name, value := range map[string]string{
			"Content-Type": "application/json", "Accept": "application/json, text/event-stream",
			"Mcp-Protocol-Version": "2026-07-28", "Mcp-Method": "tools/call", "Mcp-Name": "mcp_aql_read",
		} {
			request.Header.Set(name, value)
		}
		response := httptest.NewRecorder()
		handler.ServeHTTP(response, request)
		if response.Code != tt.status {
			t.Errorf("%s on %T: %d", tt.host, tt.address, response.Code)
		}
	}
}

// A body that is too long is so also if its end comes with its last bytes.
func TestLimitAtTheEndOfTheBody(t *testing.T) {
	message := read("1")
	for limit, want := range map[int]bool{len(message): true, len(message) - 1: false} {
		body := iotest.DataErrReader(strings.NewReader(message))
		r := httptest.NewRequestWithContext(t.Context(), http.MethodPost, "/", body)
		h := &web{Server: &Server{buffers: newBuffers(1 << 20), options: Options{MaxBodyBytes: int64(limit)}}}
		x := h.newExchange("")
		x.body = make([]byte, 0, 2*len(message))
		if err := h.read(x, httptest.NewRecorder(), r); (err == nil) != want {
			t.Errorf("limit %d of %d: %v", limit, len(message), err)
		}
		x.release()
	}
}
