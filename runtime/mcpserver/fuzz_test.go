package mcpserver

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"io"
	"log"
	"net"
	"net/http"
	"net/http/httptest"
	"strconv"
	"strings"
	"testing"
	"time"

	aql "github.com/aqltag/aqltag/runtime"
	"github.com/aqltag/aqltag/runtime/gen"
	"github.com/aqltag/aqltag/runtime/internal/rpc"
)

// pipes is a listener for connections in memory.
type pipes chan net.Conn

func (p pipes) Accept() (net.Conn, error) {
	if conn, ok := <-p; ok {
		return conn, nil
	}
	return nil, net.ErrClosed
}
func (p pipes) Close() error   { return nil }
func (p pipes) Addr() net.Addr { return &net.TCPAddr{} }

// lastRequest ends a connection.
const lastRequest = "GET /last HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n"

// C1, C8: whatever bytes come on a connection, each response is one of HTTP, no handler panics, no error has words of
// Go, and what is no message of JSON-RPC is no success. An answer has the id of its request.
func FuzzHTTP(f *testing.F) {
	head := func(method, headers string) string {
		return method + " / HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\nAccept: */*\r\n" + headers
	}
	sized := func(body string) string { return "Content-Length: " + strconv.Itoa(len(body)) + "\r\n\r\n" + body }
	const inSession, modern = "Mcp-Session-Id: SESSION\r\n",
		"Mcp-Protocol-Version: 2026-07-28\r\nMcp-Method: tools/call\r\nMcp-Name: mcp_aql_read\r\n"
	seeds := []string{
		head("POST", inSession) + sized(read("7")), head("POST", "") + sized(initialize),
		head("POST", modern) + sized(strings.Replace(read("8"), `"arguments"`, modernMeta+`,"arguments"`, 1)),
		head("POST", inSession+"Mcp-Protocol-Version: 2025-03-26\r\n") + sized("["+read("1")+","+read("2")+"]"),
		head("POST", inSession) + "Transfer-Encoding: chunked\r\n\r\n2\r\n{}\r\n0\r\n\r\n",
		head("POST", inSession) + "Content-Length: 99999999\r\n\r\n{", head("POST", inSession) + sized(""),
		head("POST", inSession+"Expect: 100-continue\r\n") + sized(read(`"x"`)),
		head("GET", inSession) + "\r\n", head("DELETE", "Mcp-Session-Id: none\r\n") + "\r\n", "\x00\xff\r\n\r\n",
		head("PUT", "") + sized("x"), head("POST", inSession+"Last-Event-ID: 1\r\n") + sized("[]"),
		head("POST", "Mcp-Protocol-Version: 2027-01-01\r\n") + sized(read("3")),
		head("POST", inSession) + sized(`{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":[]}}`),
	}
	for _, seed := range seeds {
		f.Add([]byte(seed))
	}
	server := newFuzzServer(f)
	handler, err := server.Handler()
	if err != nil {
		f.Fatal(err)
	}
	var logged lockedBuffer
	listener := make(pipes)
	web := &http.Server{
		ReadHeaderTimeout: 20 * time.Millisecond, IdleTimeout: 20 * time.Millisecond, ErrorLog: log.New(&logged, "", 0),
		ReadTimeout: time.Second, // net/http refuses unknown expectations by itself, and waits for the body
	}
	web.Handler = http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		ctx, cancel := context.WithTimeout(r.Context(), 50*time.Millisecond) // ends event streams
		defer cancel()
		handler.ServeHTTP(w, r.WithContext(ctx))
	})
	go web.Serve(listener) //nolint:errcheck // it ends with the process
	f.Fuzz(func(t *testing.T, input []byte) {
		begun := httptest.NewRecorder()
		begin := httptest.NewRequestWithContext(t.Context(), http.MethodPost, "/", strings.NewReader(initialize))
		begin.Header.Set("Content-Type", "application/json")
		begin.Header.Set("Accept", "*/*")
		handler.ServeHTTP(begun, begin)
		input = bytes.ReplaceAll(input, []byte("SESSION"), []byte(begun.Header().Get("Mcp-Session-Id")))
		first := firstRequest(input)

		here, there := net.Pipe()
		listener <- there
		go func() {
			_, _ = here.Write(append(bytes.Clone(input), lastRequest...)) // the server may end the connection before
		}()
		responses := bufio.NewReader(here)
		for i := 0; ; i++ {
			if _, err := responses.Peek(1); err != nil {
				break
			}
			request := &http.Request{Method: http.MethodPost}
			if first != nil && i == 0 {
				request.Method = first.method
			}
			response, err := http.ReadResponse(responses, request)
			if err != nil {
				if request.Method == http.MethodHead || i > 0 { // of a later request, which may be HEAD
					break
				}
				t.Fatalf("%q: response %d: %v", input, i, err)
			}
			body, err := io.ReadAll(response.Body)
			if err != nil && !errors.Is(err, io.ErrUnexpectedEOF) {
				t.Fatalf("%q: body %d: %v", input, i, err)
			}
			if response.StatusCode == http.StatusContinue {
				i--
				continue
			}
			checkResponse(t, input, response.StatusCode, string(body))
			if first != nil && i == 0 {
				first.check(t, input, response.StatusCode, body)
			}
		}
		here.Close()
		if text := logged.String(); strings.Contains(text, "panic") {
			t.Fatalf("%q: %s", input, text)
		}
	})
}

func newFuzzServer(f *testing.F) *Server {
	f.Helper()
	registry := gen.NewRegistry([]gen.Handler{{
		Name: "get_thing", Category: gen.Read, Danger: gen.Safe, Description: "Gets it.", Returns: "Text",
		Params:  []gen.Field{{Name: "id", Go: "ID", Type: "string"}},
		Request: (*thing)(nil), Result: (*string)(nil),
		Call: func(context.Context, []any, any) (any, error) { return "got it", nil },
	}}, []gen.WireType{{Name: "Text", Kind: gen.KindScalar}})
	adapter, err := aql.New(registry, aql.Options{Name: "things", Version: "1.0.0"})
	if err != nil {
		f.Fatal(err)
	}
	server := New(adapter, Options{ClientTimeout: 20 * time.Millisecond})
	f.Cleanup(server.Close)
	return server
}

// checkResponse checks what holds for all responses.
func checkResponse(t *testing.T, input []byte, status int, body string) {
	t.Helper()
	if status < 400 {
		return
	}
	for _, word := range []string{"json:", "unmarshal", "Go struct", "mcp.", "jsonrpc2", "handling '", "goroutine"} {
		if strings.Contains(body, word) && !bytes.Contains(input, []byte(word)) {
			t.Fatalf("%q is answered with %d %s", input, status, body)
		}
	}
}

// whole is a request with the whole of its body.
type whole struct {
	method string
	body   []byte
}

// firstRequest returns the first request in bytes; nil: it does not end there.
func firstRequest(input []byte) *whole {
	r, err := http.ReadRequest(bufio.NewReader(bytes.NewReader(input)))
	if err != nil {
		return nil
	}
	body, err := io.ReadAll(r.Body)
	if err != nil {
		return nil
	}
	return &whole{r.Method, body}
}

// check checks the answer to a message.
func (r *whole) check(t *testing.T, input []byte, status int, answer []byte) {
	t.Helper()
	if r.method != http.MethodPost || bytes.HasPrefix(bytes.TrimSpace(r.body), []byte("[")) {
		return
	}
	var m rpc.Message
	fault := new(rpc.Parser).Parse(r.body, &m)
	if fault != nil && status < 400 {
		t.Fatalf("%q is no message (%s), and answered with %d %s", input, fault.Message, status, answer)
	}
	_, data, isEvent := strings.Cut(string(answer), "data: ")
	if !isEvent {
		data = string(answer)
	}
	var a struct {
		ID            json.RawMessage
		Result, Error json.RawMessage
	}
	if status != http.StatusOK || fault != nil || json.Unmarshal([]byte(data), &a) != nil || a.ID == nil {
		return
	}
	var got, want any
	if json.Unmarshal(a.ID, &got) != nil || json.Unmarshal([]byte(m.ID), &want) != nil || got != want {
		t.Fatalf("%q with id %s is answered with that of %s", input, m.ID, a.ID)
	}
}
