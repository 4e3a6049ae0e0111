package mcpserver

import (
	"io"
	"net/http"
	"net/http/httptest"
	"testing"

	"github.com/modelcontextprotocol/go-sdk/mcp"
)

// The handler is mounted at any path of a mux, behind middleware of the service's own and beside its other routes,
// which stay as they are.
func TestHandlerInAMux(t *testing.T) {
	server := newServer(t, Options{}, nil)
	handler, err := server.Handler()
	if err != nil {
		t.Fatal(err)
	}
	mux := http.NewServeMux()
	mux.Handle("/agents/mcp", handler)
	mux.Handle("/v2/", http.StripPrefix("/v2", handler))
	mux.HandleFunc("GET /things/{id}", func(w http.ResponseWriter, r *http.Request) {
		io.WriteString(w, "thing "+r.PathValue("id"))
	})
	web := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("X-Service", "things")
		mux.ServeHTTP(w, r)
	}))
	t.Cleanup(web.Close)
	for _, path := range []string{"/agents/mcp", "/v2/mcp", "/v2/"} {
		for _, version := range []string{"", "2025-11-25"} {
			session := connect(t, &mcp.StreamableClientTransport{Endpoint: web.URL + path}, version)
			const want = `{"success":true,"data":"got a"}`
			got, _ := call(t, session, "mcp_aql_read", `{"operation":"get_thing","params":{"id":"a"}}`)
			if got != want {
				t.Errorf("%s %s: %s", path, version, got)
			}
		}
	}
	for path, want := range map[string]string{"/things/7": "200 thing 7", "/agents/other": "404 404 page not found\n"} {
		response, err := http.Get(web.URL + path)
		if err != nil {
			t.Fatal(err)
		}
		body, err := io.ReadAll(response.Body)
		response.Body.Close()
		if response.Header.Get("X-Service") != "things" {
			t.Errorf("%s did not pass the middleware", path)
		}
		if got := response.Status[:4] + string(body); err != nil || got != want {
			t.Errorf("%s: %q, %v", path, got, err)
		}
	}
}
