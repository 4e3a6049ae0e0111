package mcpserver

import (
	"encoding/json"
	"io"
	"math"
	"net/http"
	"net/http/httptest"
	"os"
	"strings"
	"testing"
	"time"

	aql "github.com/aqltag/aqltag/runtime"
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

// stuck is a response whose client does not read.
type stuck struct {
	http.ResponseWriter
	ended chan struct{}
}

func (s stuck) Write([]byte) (int, error) {
	<-s.ended
	return 0, os.ErrDeadlineExceeded
}

func (s stuck) SetWriteDeadline(t time.Time) error {
	if t.Before(time.Now()) {
		close(s.ended)
	}
	return nil
}

// C1, C2: an answer that waits for a report of progress that its client does not read is counted, and gives way.
func TestAnswersBehindProgress(t *testing.T) {
	server := newServer(t, Options{}, nil)
	x := &exchange{hold: hold{buffers: server.buffers}, out: make([]byte, 1<<20)}
	w := stuck{httptest.NewRecorder(), make(chan struct{})}
	stream := &events{token: json.RawMessage("1"), web: &web{Server: server}, w: w, x: x}
	reported, answered := make(chan error), make(chan bool)
	go func() { reported <- stream.send(t.Context(), aql.Progress{Done: 1}) }()
	eventually(func() bool { // the report is being written
		locked := !stream.mu.TryLock()
		if !locked {
			stream.mu.Unlock()
		}
		return locked
	})
	go func() {
		stream.lock()
		stream.mu.Unlock()
		answered <- x.hold.lost
	}()
	waits := func() bool {
		server.buffers.mu.Lock()
		defer server.buffers.mu.Unlock()
		return len(server.buffers.waits) == 1 && server.buffers.held == cap(x.out)
	}
	eventually(waits)
	other := hold{buffers: server.buffers}
	if got := other.admit(server.options.MaxBufferedBytes); got != admitted {
		t.Errorf("outcome %d", got)
	}
	if err := <-reported; err == nil {
		t.Error("the report was read")
	}
	if !<-answered {
		t.Error("the answer has its memory")
	}
}

// greedy is a body at whose end another request takes all the memory.
type greedy struct {
	io.ReadCloser
	buffers *buffers
}

func (g greedy) Read(p []byte) (int, error) {
	n, err := g.ReadCloser.Read(p)
	if err == io.EOF { //nolint:errorlint // as readers have to return it
		other := hold{buffers: g.buffers}
		other.admit(g.buffers.limit)
		other.release()
	}
	return n, err
}

// C1: the connection of a request whose memory was given to others just when its body had come takes no further ones,
// which net/http might cancel.
func TestTheConnectionOfARequestThatGaveWay(t *testing.T) {
	server := newServer(t, Options{}, nil)
	handler, err := server.Handler()
	if err != nil {
		t.Fatal(err)
	}
	web := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.ContentLength > 1<<16 {
			r.Body = greedy{r.Body, server.buffers}
		}
		handler.ServeHTTP(w, r)
	}))
	defer web.Close()
	body := strings.TrimSuffix(read("1"), "}}") + "," + modernMeta + "}}"
	headers := map[string]string{
		"Mcp-Protocol-Version": sessionless, "Mcp-Method": "tools/call", "Mcp-Name": "mcp_aql_read",
	}
	refused := post(t, web.URL, strings.Repeat(" ", 1<<18)+body, headers)
	if status, answer := answered(t, refused); status != http.StatusServiceUnavailable || !refused.Close {
		t.Errorf("%d, close %t: %s", status, refused.Close, answer)
	}
	const get = `{"operation":"get_thing","params":{"id":"a"}}`
	body = strings.Replace(body, get, `{"operations":[`+get+`]}`, 1) // a batch that is cancelled says so
	if status, answer := answered(t, post(t, web.URL, body, headers)); !strings.Contains(answer, "got a") {
		t.Errorf("%d %s", status, answer)
	}
}
