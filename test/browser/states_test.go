package browser

import (
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/aqltag/aqltag/internal/scratch"
)

// rarely are states of pages that the other tests do not bring about in a browser: what is wrong, refused or gone.
var rarely = []string{
	"agent-broken-log", "agent-has-gone", "agent-of-no-log", "audit-broken", "audit-found-none", "audit-no-time",
	"calls-of-replicas", "code-without-passphrase", "execution-asks", "execution-cancelled",
	"executions-unreachable", "inbox-unreadable", "item-expired", "item-mistyped", "item-somebody-was-faster",
	"item-too-early", "item-used", "login-nobody", "login-too-many", "passkeys-elsewhere", "passkeys-full",
	"policy-confirmed", "policy-faulty", "quotas-failed", "quotas-none", "state-fails", "whole-not-kept",
}

// F63: pages in states that are rare, as the tests of the console keep them, are as accessible as the others, with the
// headers that the console sends.
func TestRareStates(t *testing.T) {
	root, err := scratch.Root()
	if err != nil {
		t.Fatal(err)
	}
	console := filepath.Join(root, "runtime", "console")
	answer, err := http.Get(newSite(t).url + "login") //nolint:noctx // it ends with the test
	if err != nil {
		t.Fatal(err)
	}
	answer.Body.Close()
	answer.Header.Del("Content-Length")
	assets := http.FileServer(http.Dir(console))
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		switch {
		case strings.HasPrefix(r.URL.Path, "/assets/"):
			assets.ServeHTTP(w, r)
		case strings.HasSuffix(r.URL.Path, "/events"): // nothing happens
			w.Header().Set("Content-Type", "text/event-stream")
			_ = http.NewResponseController(w).Flush() // the browser is gone
			<-r.Context().Done()
		default:
			text, err := os.ReadFile(filepath.Join(console, "testdata", "pages", filepath.Base(r.URL.Path)))
			if err != nil {
				http.NotFound(w, r)
				return
			}
			for name, values := range answer.Header {
				w.Header()[name] = values
			}
			_, _ = w.Write(text) // the browser is gone
		}
	}))
	t.Cleanup(server.Close)
	var all []state
	for _, name := range rarely {
		all = append(all, state{name, func(b *tab) {
			b.visit(server.URL + "/" + name + ".html")
			b.waitFor("main h1")
		}})
	}
	lookAtAll(t, all)
}
