package conform_test

import (
	"io"
	"net/http"
	"net/http/httptest"
	"net/url"
	"regexp"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/aqltag/aqltag/conform"
	"github.com/aqltag/aqltag/conform/mcpclient"
)

// C4: neither the bearer token nor a request reaches another origin, wherever in the run the server redirects to it,
// and by whatever status.
func TestTokenStaysWithTheOrigin(t *testing.T) {
	const token = "secret-token"
	var reached atomic.Int64
	elsewhere := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		reached.Add(1)
		t.Errorf("%s %s with the authorization %q and %d bytes reached another origin", r.Method, r.URL,
			r.Header.Get("Authorization"), len(body))
	}))
	defer elsewhere.Close()
	target, err := url.Parse(serve(t))
	if err != nil {
		t.Fatal(err)
	}
	for _, status := range []int{301, 302, 303, 307, 308} {
		for _, after := range []int64{0, 12} { // at once, and in the middle of the run
			var calls atomic.Int64
			proxy := forwardTo(t, target.String())
			server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				if r.Method == http.MethodPost && calls.Add(1) > after {
					http.Redirect(w, r, elsewhere.URL+"/mcp", status)
					return
				}
				r.Host = target.Host
				proxy.ServeHTTP(w, r)
			}))
			client, err := mcpclient.URL(t.Context(), server.URL+"/mcp", mcpclient.Options{Bearer: token, Timeout: time.Minute})
			var said string
			if err != nil {
				said = err.Error()
			} else {
				report, err := conform.Run(t.Context(), client, conform.Options{CallTimeout: time.Minute})
				client.Close()
				if err != nil {
					t.Fatal(err)
				}
				said = string(text(report))
			}
			if !strings.Contains(said, "redirects to "+elsewhere.URL) {
				t.Errorf("status %d after %d calls: %.2000s", status, after, said)
			}
			server.Close()
		}
	}
	if n := reached.Load(); n > 0 {
		t.Errorf("%d requests left the origin", n)
	}
}

// C4: a redirect within the origin is followed, and is a finding.
func TestRedirects(t *testing.T) {
	target, err := url.Parse(serve(t))
	if err != nil {
		t.Fatal(err)
	}
	proxy := forwardTo(t, target.String())
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path == "/old" {
			http.Redirect(w, r, "/mcp", http.StatusTemporaryRedirect)
			return
		}
		r.Host = target.Host
		proxy.ServeHTTP(w, r)
	}))
	defer server.Close()
	for path, want := range map[string]conform.Verdict{"/mcp": conform.Pass, "/old": conform.Warn} {
		client, err := mcpclient.URL(t.Context(), server.URL+path, mcpclient.Options{Timeout: time.Minute})
		if err != nil {
			t.Fatal(err)
		}
		defer client.Close()
		report, err := conform.Run(t.Context(), client, conform.Options{Run: regexp.MustCompile("^tools/redirects$")})
		if err != nil {
			t.Fatal(err)
		}
		r := report.Results()[0]
		if r.Verdict != want {
			t.Errorf("%s: %s", path, r.Verdict)
		}
		if want == conform.Warn && r.Findings[0].Message != server.URL+"/old redirects to "+server.URL+"/mcp" {
			t.Errorf("%+v", r.Findings)
		}
	}
}
