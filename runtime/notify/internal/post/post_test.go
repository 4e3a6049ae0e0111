package post

import (
	"context"
	"crypto/x509"
	"errors"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"
)

func open(t *testing.T, location string) *Address {
	t.Helper()
	a, err := Open(location)
	if err != nil {
		t.Fatal(err)
	}
	return a
}

// A redirect is a failure, and what was posted is sent nowhere else.
func TestRedirectsAreNotFollowed(t *testing.T) {
	elsewhere := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) {
		t.Error("the redirect was followed")
	}))
	defer elsewhere.Close()
	for _, status := range []int{301, 302, 303, 307, 308} {
		server := httptest.NewServer(http.RedirectHandler(elsewhere.URL, status))
		defer server.Close()
		err := open(t, server.URL).Send(t.Context(), []byte("{}"), nil)
		if failed, ok := errors.AsType[*Error](err); !ok || failed.Status != status {
			t.Errorf("a redirect with %d is %v", status, err)
		}
	}
}

// A receiver says how long it wants to be left alone.
func TestRetryAfter(t *testing.T) {
	for text, want := range map[string]time.Duration{
		"": 0, "7": 7 * time.Second, "-1": 0, "99999999": 24 * time.Hour, "Wed, 21 Oct 2015 07:28:00 GMT": 0, "1e3": 0,
	} {
		server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Retry-After", text)
			w.WriteHeader(http.StatusServiceUnavailable)
		}))
		defer server.Close()
		err := open(t, server.URL).Send(t.Context(), []byte("{}"), nil)
		var later interface{ RetryAfter() time.Duration }
		if !errors.As(err, &later) || later.RetryAfter() != want {
			t.Errorf("after %q: %v, want %v", text, err, want)
		}
	}
}

// A receiver that answers without an end, or not at all, holds nothing up for longer than the context lasts.
func TestReceiversThatDoNotEnd(t *testing.T) {
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if _, err := io.Copy(io.Discard, r.Body); err != nil { // else nobody notices that the sender has gone
			t.Error(err)
		}
		if r.URL.Path == "/silent" {
			<-r.Context().Done()
			return
		}
		w.WriteHeader(http.StatusOK)
		for r.Context().Err() == nil {
			if _, err := w.Write(make([]byte, 64<<10)); err != nil {
				return
			}
		}
	}))
	defer server.Close()
	if err := open(t, server.URL+"/endless").Send(t.Context(), []byte("{}"), nil); err != nil {
		t.Errorf("an answer that does not end is %v", err)
	}
	ctx, cancel := context.WithTimeout(t.Context(), 50*time.Millisecond)
	defer cancel()
	if err := open(t, server.URL+"/silent").Send(ctx, []byte("{}"), nil); !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("no answer is %v", err)
	}
}

// Over https the receiver has to be who it says.
func TestCertificates(t *testing.T) {
	reached := 0
	server := httptest.NewTLSServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { reached++ }))
	defer server.Close()
	server.Config.ErrorLog = nil
	a := open(t, server.URL)
	if err := a.Send(t.Context(), []byte("{}"), nil); err == nil || reached > 0 {
		t.Errorf("a certificate that nobody knows is accepted: %v", err)
	}
	transport := a.client.Transport.(*http.Transport)
	transport.TLSClientConfig = server.Client().Transport.(*http.Transport).TLSClientConfig.Clone()
	if err := a.Send(t.Context(), []byte("{}"), nil); err != nil || reached != 1 {
		t.Errorf("a certificate that is known is not: %v", err)
	}
	transport.TLSClientConfig.RootCAs = x509.NewCertPool()
	if err := a.Send(t.Context(), []byte("{}"), nil); err == nil {
		t.Error("it is accepted when it is known no more")
	}
}

// A name that leads to where no receiver is gets nothing: http to another machine, or the addresses at which clouds
// tell machines who they are.
func TestAddressesThatAreNotConnectedTo(t *testing.T) {
	for _, tt := range []struct{ location, to, want string }{
		{"http://localhost/", "192.0.2.1:80", "it is not this machine"},
		{"http://localhost/", "[2001:db8::1]:80", "it is not this machine"},
		{"https://hooks.example.com/", "169.254.169.254:443", "no receiver"},
		{"https://hooks.example.com/", "[::ffff:169.254.169.254]:443", "no receiver"},
		{"https://hooks.example.com/", "[fe80::1]:443", "no receiver"},
		{"https://hooks.example.com/", "0.0.0.0:443", "no receiver"},
		{"https://hooks.example.com/", "224.0.0.1:443", "no receiver"},
		{"https://hooks.example.com/", "192.0.2.1:443", ""},
		{"https://hooks.example.com/", "127.0.0.1:443", ""},
		{"http://localhost/", "127.0.0.1:80", ""},
		{"http://localhost/", "[::1]:80", ""},
	} {
		err := open(t, tt.location).check("tcp", tt.to, nil)
		if (err == nil) != (tt.want == "") || err != nil && !strings.Contains(err.Error(), tt.want) {
			t.Errorf("%s at %s: %v, want %q", tt.location, tt.to, err, tt.want)
		}
	}
}

// No connection and no goroutine stays behind.
func TestConnectionsAreClosed(t *testing.T) {
	closed := make(chan struct{}, 10)
	server := httptest.NewUnstartedServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) {}))
	server.Config.ConnState = func(_ net.Conn, state http.ConnState) {
		if state == http.StateClosed {
			closed <- struct{}{}
		}
	}
	server.Start()
	defer server.Close()
	for range 3 {
		if err := open(t, server.URL).Send(t.Context(), []byte("{}"), nil); err != nil {
			t.Fatal(err)
		}
		<-closed
	}
}
