package serve

import (
	"context"
	"io"
	"net"
	"net/http"
	"strings"
	"testing"

	"github.com/modelcontextprotocol/go-sdk/mcp"
)

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
