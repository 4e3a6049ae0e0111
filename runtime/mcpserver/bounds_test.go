package mcpserver

import (
	"io"
	"math"
	"net/http"
	"strings"
	"testing"
)

// C1, REQ-DE-05: with the largest bound that there is, a body still has twice the memory of before whenever it grows.
func TestBodiesWithTheLargestBound(t *testing.T) {
	server := newServer(t, Options{MaxBodyBytes: math.MaxInt64}, nil)
	x := &exchange{hold: hold{buffers: server.buffers}}
	for size := 8 << 10; size <= 1<<20; size *= 2 {
		if err := x.grow(-1, server.options.MaxBodyBytes); err != nil {
			t.Fatal(err)
		}
		if cap(x.body) < size {
			t.Fatalf("%d bytes of memory, not %d", cap(x.body), size)
		}
		x.body = x.body[:cap(x.body)]
	}
	if held := server.options.MaxBufferedBytes; held <= 0 {
		t.Errorf("the bound of all bodies is %d", held)
	}
}

// C1: a caller may send a body of the largest size, in chunks, also to the SDK, which has it in memory more than once.
func TestTheLargestBodyOfACaller(t *testing.T) {
	const size = 6 << 20
	server := newServer(t, Options{MaxBodyBytes: size, Peer: byHeader, Setup: throughMiddleware}, nil)
	web := httpServer(t, server)
	headers := map[string]string{"X-Peer": "a"}
	headers["Mcp-Session-Id"] = begin(t, web.URL, headers)
	body := read("1")
	body = strings.Repeat(" ", size-len(body)) + body
	chunked := io.MultiReader(strings.NewReader(body))
	request, err := http.NewRequestWithContext(t.Context(), http.MethodPost, web.URL, chunked)
	if err != nil {
		t.Fatal(err)
	}
	request.Header.Set("Content-Type", "application/json")
	request.Header.Set("Accept", "application/json, text/event-stream")
	status, answer := answered(t, send(t, request, headers))
	if status != http.StatusOK || !strings.Contains(answer, "got a") {
		t.Errorf("%d %s", status, answer)
	}
}

// REQ-DE-05: a bound below zero is the default.
func TestBoundsBelowZero(t *testing.T) {
	server := newServer(t, Options{
		MaxInFlight: -1, MaxInFlightPerCaller: -1, MaxBodyBytes: -1, MaxBufferedBytes: -1, ClientTimeout: -1,
		MaxLineBytes: -1, DrainTimeout: -1, MaxSessions: -1, MaxSessionsPerCaller: -1,
	}, nil)
	web := httpServer(t, server)
	for _, headers := range []map[string]string{
		{"Mcp-Session-Id": begin(t, web.URL, nil)},
		{"Mcp-Protocol-Version": sessionless, "Mcp-Method": "tools/call", "Mcp-Name": "mcp_aql_read"},
	} {
		body := strings.TrimSuffix(read("1"), "}}")
		if headers["Mcp-Session-Id"] == "" {
			body += "," + modernMeta
		}
		status, answer := answered(t, post(t, web.URL, body+"}}", headers))
		if status != http.StatusOK || !strings.Contains(answer, "got a") {
			t.Errorf("%v: %d %s", headers, status, answer)
		}
	}
}
