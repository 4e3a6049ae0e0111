package conform_test

import (
	"bytes"
	"io"
	"net/http"
	"net/http/httptest"
	"net/http/httptrace"
	"net/http/httputil"
	"net/url"
	"strings"
	"testing"
)

// forwarder forwards requests to the origin of an endpoint. It reads a request before it forwards it. Otherwise the
// server may answer while the proxy still looks for the end of the request's body, which net/http closes when the
// answer begins; the proxy's connection to the server is closed then, with the rest of the answer (golang/go#40747).
type forwarder struct{ proxy *httputil.ReverseProxy }

func forwardTo(t *testing.T, endpoint string) forwarder {
	t.Helper()
	target, err := url.Parse(endpoint)
	if err != nil {
		t.Fatal(err)
	}
	return forwarder{httputil.NewSingleHostReverseProxy(&url.URL{Scheme: target.Scheme, Host: target.Host})}
}

func (f forwarder) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	body, err := io.ReadAll(r.Body)
	if err != nil {
		http.Error(w, "the body of the request did not come", http.StatusBadRequest)
		return
	}
	r.Body = io.NopCloser(bytes.NewReader(body))
	f.proxy.ServeHTTP(w, r)
}

// An answer that begins before the proxy has seen the end of the request arrives whole.
func TestForwarderAndFastServer(t *testing.T) {
	begun, rest := make(chan struct{}), make(chan struct{})
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		io.Copy(io.Discard, r.Body)
		w.Header().Set("Content-Type", "text/event-stream")
		io.WriteString(w, "begun, ")
		http.NewResponseController(w).Flush()
		<-rest
		io.WriteString(w, "ended")
	}))
	defer server.Close()
	slow := &slowToEnd{begun: begun, forwarded: make(chan error, 1)}
	forward := forwardTo(t, server.URL)
	forward.proxy.Transport = slow
	over := httptest.NewServer(forward)
	defer over.Close()
	response, err := http.Post(over.URL, "text/plain", strings.NewReader("request"))
	if err != nil {
		t.Fatal(err)
	}
	defer response.Body.Close()
	close(begun)
	if err := <-slow.forwarded; err != nil {
		t.Errorf("forwarding the request: %v", err)
	}
	close(rest)
	if answer, err := io.ReadAll(response.Body); err != nil || string(answer) != "begun, ended" {
		t.Errorf("%q, %v", answer, err)
	}
}

// slowToEnd is a transport that sees the end of a request when its answer has begun.
type slowToEnd struct {
	begun     <-chan struct{}
	forwarded chan error // of the request
}

func (s *slowToEnd) RoundTrip(r *http.Request) (*http.Response, error) {
	trace := &httptrace.ClientTrace{WroteRequest: func(i httptrace.WroteRequestInfo) { s.forwarded <- i.Err }}
	r = r.WithContext(httptrace.WithClientTrace(r.Context(), trace))
	r.Body = &lateEnd{ReadCloser: r.Body, left: r.ContentLength, begun: s.begun}
	return http.DefaultTransport.RoundTrip(r)
}

// lateEnd is a body whose end comes when the answer has begun.
type lateEnd struct {
	io.ReadCloser
	left  int64
	begun <-chan struct{}
}

func (l *lateEnd) Read(p []byte) (int, error) {
	if l.left == 0 {
		<-l.begun
	}
	n, err := l.ReadCloser.Read(p)
	l.left -= int64(n)
	return n, err
}
