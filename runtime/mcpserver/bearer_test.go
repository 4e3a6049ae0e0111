package mcpserver

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	aql "github.com/aqltag/aqltag/runtime"
	"github.com/modelcontextprotocol/go-sdk/mcp"
)

var people = map[string]aql.Caller{
	"ann-token":  {Subject: "ann", Issuer: "test", Scopes: []string{"notes"}},
	"bob-token":  {Subject: "bob", Issuer: "test", Scopes: []string{"notes"}},
	"poor-token": {Subject: "poor", Issuer: "test"}, "nobody-token": {Scopes: []string{"notes"}},
}

func verify(_ context.Context, token string) (aql.Caller, time.Time, error) {
	switch caller, known := people[token]; {
	case token == "old-token":
		return people["ann-token"], time.Now().Add(-time.Minute), nil
	case token == "down-token":
		return aql.Caller{}, time.Time{}, errors.New("dial tcp 10.1.1.1:389: secret")
	case !known:
		return aql.Caller{}, time.Time{}, fmt.Errorf("%w: secret", ErrInvalidToken)
	default:
		return caller, time.Now().Add(time.Hour), nil
	}
}

// withToken adds a bearer token to requests.
type withToken string

func (token withToken) RoundTrip(r *http.Request) (*http.Response, error) {
	r = r.Clone(r.Context())
	r.Header.Set("Authorization", "Bearer "+string(token))
	return http.DefaultTransport.RoundTrip(r)
}

func connectAs(t *testing.T, web *httptest.Server, token, version string) *mcp.ClientSession {
	t.Helper()
	return connect(
		t, &mcp.StreamableClientTransport{Endpoint: web.URL, HTTPClient: &http.Client{Transport: withToken(token)}}, version,
	)
}

// Who has no good token does not get in, and learns nothing but that.
func TestBearerTokens(t *testing.T) {
	web := httpServer(
		t,
		newServer(
			t, Options{Bearer: &Bearer{Verify: verify, Scopes: []string{"notes"}, Resource: "https://notes.example/mcp"}}, nil,
		),
	)
	for token, want := range map[string]int{
		"": http.StatusUnauthorized, "wrong-token": http.StatusUnauthorized, "old-token": http.StatusUnauthorized,
		"poor-token": http.StatusForbidden,
		"down-token": http.StatusInternalServerError, "nobody-token": http.StatusInternalServerError,
	} {
		request, err := http.NewRequestWithContext(t.Context(), http.MethodPost, web.URL, strings.NewReader(`{}`))
		if err != nil {
			t.Fatal(err)
		}
		if token != "" {
			request.Header.Set("Authorization", "Bearer "+token)
		}
		response, err := http.DefaultClient.Do(request)
		if err != nil {
			t.Fatal(err)
		}
		body, err := io.ReadAll(response.Body)
		response.Body.Close()
		if err != nil || response.StatusCode != want || strings.Contains(string(body), "secret") {
			t.Errorf("%q: status %d, want %d: %s, %v", token, response.StatusCode, want, body, err)
		}
		if header := response.Header.Get("WWW-Authenticate"); want == http.StatusUnauthorized &&
			!strings.Contains(header, `resource_metadata="https://notes.example/.well-known/oauth-protected-resource"`) {
			t.Errorf("%q: does not say where tokens come from: %q", token, header)
		}
	}
}

// Handlers, policies and tokens go by the verified caller, on both protocol eras.
func TestCallersOfHTTP(t *testing.T) {
	for _, version := range []string{"", "2025-11-25"} {
		web := httpServer(t, newServer(t, Options{Bearer: &Bearer{Verify: verify}}, nil))
		ann, bob := connectAs(t, web, "ann-token", version), connectAs(t, web, "bob-token", version)
		for name, session := range map[string]*mcp.ClientSession{"ann": ann, "bob": bob} {
			if text, _ := call(
				t, session, "mcp_aql_read", `{"operation":"who_thing"}`,
			); !strings.Contains(text, `"data":"`+name+`"`) {
				t.Errorf("protocol %q: %s is %s", version, name, text)
			}
		}
		asked, _ := call(t, ann, "mcp_aql_delete", `{"operation":"delete_thing"}`)
		confirmed := `{"operation":"delete_thing","_confirmation":"` + token(t, asked) + `"}`
		if text, _ := call(t, bob, "mcp_aql_delete", confirmed); !strings.Contains(text, "TOKEN_INVALID") {
			t.Errorf("protocol %q: bob with ann's token: %s", version, text)
		}
		if text, _ := call(t, ann, "mcp_aql_delete", confirmed); !strings.Contains(text, "deleted") {
			t.Errorf("protocol %q: ann with her own: %s", version, text)
		}
	}
}

// Without verification callers of HTTP are anonymous, and on a pipe it is the owner of the process.
func TestCallersWithoutTokens(t *testing.T) {
	server := newServer(t, Options{}, nil)
	if text, _ := call(
		t, connect(t, &mcp.StreamableClientTransport{Endpoint: httpServer(t, server).URL}, ""), "mcp_aql_read",
		`{"operation":"who_thing"}`,
	); !strings.Contains(text, `"data":""`) {
		t.Errorf("HTTP: %s", text)
	}
	if text, _ := call(
		t, inMemory(t, server, ""), "mcp_aql_read", `{"operation":"who_thing"}`,
	); !strings.Contains(text, `"data":"`+server.sessions.owner.Subject+`"`) {
		t.Errorf("a pipe: %s", text)
	}
}

func TestMetadata(t *testing.T) {
	var none *Bearer
	if none.MetadataHandler() != nil || (&Bearer{}).MetadataHandler() != nil {
		t.Error("there is nothing to tell")
	}
	b := &Bearer{
		Resource: "https://notes.example/mcp", AuthorizationServers: []string{"https://login.example"},
		Scopes: []string{"notes"},
	}
	recorder := httptest.NewRecorder()
	b.MetadataHandler().ServeHTTP(recorder, httptest.NewRequestWithContext(t.Context(), http.MethodGet, MetadataPath, nil))
	for _, want := range []string{
		`"resource":"https://notes.example/mcp"`, `"authorization_servers":["https://login.example"]`,
	} {
		if !strings.Contains(recorder.Body.String(), want) {
			t.Errorf("no %s in %s", want, recorder.Body)
		}
	}
}

// A Bearer without Verify is refused.
func TestBearerWithoutVerification(t *testing.T) {
	if _, err := newServer(t, Options{Bearer: &Bearer{Scopes: []string{"notes"}}}, nil).Handler(); err == nil ||
		!strings.Contains(err.Error(), "Bearer.Verify") {
		t.Errorf("%v", err)
	}
}
