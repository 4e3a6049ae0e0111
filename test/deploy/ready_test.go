//go:build unix

package deploy

import (
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"
	"time"
)

// The proxies send calls to an adapter while it is ready, and not while it only serves: one whose state is away gets
// none, and gets them again when it is back.
func TestProxiesAskWhetherAdaptersAreReady(t *testing.T) {
	need(t, "haproxy", "haproxy")
	for _, name := range []string{"haproxy.cfg", "haproxy-fleet.cfg"} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var ready atomic.Bool
			adapter := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				if r.URL.Path == "/readyz" && !ready.Load() {
					w.WriteHeader(http.StatusServiceUnavailable)
				}
			}))
			t.Cleanup(adapter.Close)
			address := strings.TrimPrefix(adapter.URL, "http://")
			dir := open(t)
			trusted := certify(t, dir, "todo.example.org")
			var pem []byte
			for _, part := range []string{"fullchain.pem", "privkey.pem"} {
				text, err := os.ReadFile(filepath.Join(dir, part))
				if err != nil {
					t.Fatal(err)
				}
				pem = append(pem, text...)
			}
			write(t, dir, 0o600, map[string]string{"todo.pem": string(pem)})
			places := []string{
				"/etc/haproxy/", dir + "/", "/run/haproxy", dir, "127.0.0.1:8080", address,
				" adapter-1:8080", " " + address, " adapter-2:8080", " " + address, " adapter-3:8080", " " + address,
			}
			p := startProxy(t, filepath.Join(repository(t), "deploy", name), dir, places)
			client := p.client(trusted)
			for _, want := range []int{http.StatusServiceUnavailable, http.StatusOK} {
				ready.Store(want == http.StatusOK)
				until(t, func() bool {
					request, err := http.NewRequestWithContext(t.Context(), http.MethodGet, "https://todo.example.org/mcp", nil)
					if err != nil {
						t.Fatal(err)
					}
					reply, err := client.Do(request)
					if err != nil { // the proxy may not listen yet
						return false
					}
					reply.Body.Close()
					return reply.StatusCode == want
				})
			}
		})
	}
}

// until waits for a condition, which the test's own deadline bounds.
func until(t *testing.T, holds func() bool) {
	t.Helper()
	for !holds() {
		if t.Context().Err() != nil {
			t.Fatal(t.Context().Err())
		}
		time.Sleep(20 * time.Millisecond)
	}
}
