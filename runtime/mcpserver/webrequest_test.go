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

// ofHere is an address that is no *net.TCPAddr, as that of a listener of another package may be.
type ofHere struct{}

func (ofHere) Network() string { return "other" }
func (ofHere) String() string  { return "127.0.0.1:80" }

// A name that was rebound is refused on every listener, whatever the type of its address is. Where the server has
// names, because a proxy on this machine is in front of it, it goes by those alone, and so does the SDK.
func TestReboundOnAnotherListener(t *testing.T) {
	const tool = `{"jsonrpc":"2.0","id":5,"method":"tools/call","params":{"name":"mcp_aql_read",` +
		`"arguments":{"operation":"get_thing"},` + modernMeta + `}}`
	const list = `{"jsonrpc":"2.0","id":5,"method":"tools/list","params":{` + modernMeta + `}}`
	proxied := []string{"example.com", "b.example.com:8443"}
	for _, tt := range []struct {
		allowed []string
		address net.Addr
		host    string
		status  int
	}{
		{nil, ofHere{}, "localhost", http.StatusOK},
		{nil, ofHere{}, "example.com", http.StatusForbidden},
		{nil, &net.TCPAddr{IP: net.IPv6loopback}, "example.com", http.StatusForbidden},
		{nil, &net.UnixAddr{Name: "/run/s", Net: "unix"}, "example.com", http.StatusOK},
		{proxied, ofHere{}, "example.com", http.StatusOK},
		{proxied, &net.TCPAddr{IP: net.IPv6loopback}, "example.com:443", http.StatusOK},
		{proxied, &net.TCPAddr{IP: net.IPv6loopback}, "b.example.com:8443", http.StatusOK},
		{proxied, &net.TCPAddr{IP: net.IPv6loopback}, "b.example.com", http.StatusForbidden},
		{proxied, ofHere{}, "example.net", http.StatusForbidden},
		{proxied, ofHere{}, "localhost", http.StatusForbidden},
	} {
		handler, err := newServer(t, Options{AllowedHosts: tt.allowed}, nil).Handler()
		if err != nil {
			t.Fatal(err)
		}
		for method, body := range map[string]string{"tools/call": tool, "tools/list": list} {
			ctx := context.WithValue(t.Context(), http.LocalAddrContextKey, tt.address)
			request := httptest.NewRequestWithContext(ctx, http.MethodPost, "http://"+tt.host+"/mcp", strings.NewReader(body))
			for name, value := range map[string]string{
				"Content-Type": "application/json", "Accept": "application/json, text/event-stream",
				"Mcp-Protocol-Version": "2026-07-28", "Mcp-Method": method,
			} {
				request.Header.Set(name, value)
			}
			if method == "tools/call" {
				request.Header.Set("Mcp-Name", "mcp_aql_read")
			}
			response := httptest.NewRecorder()
			handler.ServeHTTP(response, request)
			if response.Code != tt.status {
				t.Errorf("%s of %s on %T, known as %q: %d: %s",
					method, tt.host, tt.address, tt.allowed, response.Code, response.Body)
			}
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
