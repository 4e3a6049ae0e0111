package github_test

import (
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strconv"
	"strings"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"
	client "github.com/google/go-github/v75/github"

	aql "github.com/aqltag/aqltag/runtime"
	"github.com/aqltag/aqltag/test/adopted/agent"
	"github.com/aqltag/aqltag/test/adopted/github"
)

// api is as much of the real API as the tests need: one repository whose issues are kept in memory.
type api struct {
	mu     sync.Mutex
	issues []map[string]any
	query  url.Values // of the last list
}

func registry(t *testing.T) (*aql.Registry, *api) {
	t.Helper()
	served := new(api)
	server := httptest.NewServer(served.routes())
	t.Cleanup(server.Close)
	connected, err := client.NewClient(server.Client()).WithEnterpriseURLs(server.URL, server.URL)
	if err != nil {
		t.Fatal(err)
	}
	return github.NewRegistry(connected.Repositories, connected.Issues), served
}

func (a *api) routes() http.Handler {
	routes := http.NewServeMux()
	handle := func(pattern string, answer func(r *http.Request) (status int, body any)) {
		routes.HandleFunc(pattern, func(w http.ResponseWriter, r *http.Request) {
			a.mu.Lock()
			defer a.mu.Unlock()
			status, body := answer(r)
			w.Header().Set("Content-Type", "application/json")
			w.WriteHeader(status)
			if body != nil {
				_ = json.NewEncoder(w).Encode(body)
			}
		})
	}
	const issues = "/api/v3/repos/acme/shop/issues"
	numbered := func(r *http.Request) map[string]any {
		n, err := strconv.Atoi(r.PathValue("number"))
		if err != nil || n < 1 || n > len(a.issues) {
			return nil
		}
		return a.issues[n-1]
	}
	change := func(issue map[string]any, r *http.Request) {
		var sent map[string]any
		_ = json.NewDecoder(r.Body).Decode(&sent)
		for name, value := range sent {
			issue[name] = value
		}
	}
	handle("GET /api/v3/repos/acme/shop", func(*http.Request) (int, any) {
		return http.StatusOK, map[string]any{"id": 1296269, "name": "shop", "pushed_at": "2026-02-04T10:30:00Z"}
	})
	handle("GET "+issues, func(r *http.Request) (int, any) {
		a.query = r.URL.Query()
		return http.StatusOK, a.issues
	})
	handle("POST "+issues, func(r *http.Request) (int, any) {
		issue := map[string]any{
			"number": len(a.issues) + 1, "state": "open", "created_at": "2026-02-04T10:30:00Z",
		}
		change(issue, r)
		a.issues = append(a.issues, issue)
		return http.StatusCreated, issue
	})
	handle("GET "+issues+"/{number}", func(r *http.Request) (int, any) {
		if issue := numbered(r); issue != nil {
			return http.StatusOK, issue
		}
		return http.StatusNotFound, map[string]any{"message": "Not Found"}
	})
	handle("PATCH "+issues+"/{number}", func(r *http.Request) (int, any) {
		issue := numbered(r)
		change(issue, r)
		return http.StatusOK, issue
	})
	handle("DELETE "+issues+"/comments/{id}", func(*http.Request) (int, any) { return http.StatusNoContent, nil })
	return routes
}

// Methods (T, *Response, error) of a client that cannot be edited are operations by one line each (B4): arguments and
// request structs are parameters, the body of a CREATE is required (B6), and what stands before the body of an UPDATE
// identifies the resource (B7).
func TestMethodsOfTheClientAreOperations(t *testing.T) {
	registry, _ := registry(t)
	got := agent.New(t, registry).Operations()
	want := map[string]string{
		"get_repository":  "READ owner* repo*",
		"list_issues":     "READ owner* repo* opts",
		"get_issue":       "READ owner* repo* number*",
		"create_issue":    "CREATE owner* repo* issue*",
		"edit_issue":      "UPDATE owner* repo* number* input*",
		"create_comment":  "CREATE owner* repo* number* comment*",
		"delete_comment":  "DELETE owner* repo* comment_id* confirmation_token",
		"list_milestones": "READ owner* repo* opts",
		"remove_label":    "DELETE owner* repo* number* label*",
		"lock_issue":      "EXECUTE owner* repo* number* opts",
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("operations (-want +got):\n%s", diff)
	}
	agent.HoldLines(t, ".", len(got))
}

// Times that wrap time.Time and optional fields travel as the API has them.
func TestAnAgentWorksWithIssues(t *testing.T) {
	registry, served := registry(t)
	a := agent.Connect(t, registry)
	a.Want("read", "get_repository", `{"owner":"acme","repo":"shop"}`,
		`{"id":1296269,"name":"shop","pushed_at":"2026-02-04T10:30:00Z"}`)
	const open = `{"number":1,"state":"open","title":"Late parcel","body":"Since Monday",` +
		`"created_at":"2026-02-04T10:30:00Z"}`
	a.Want("create", "create_issue",
		`{"owner":"acme","repo":"shop","issue":{"title":"Late parcel","body":"Since Monday"}}`, open)
	closed := strings.Replace(open, "open", "closed", 1)
	a.Want("update", "edit_issue", `{"owner":"acme","repo":"shop","number":1,"input":{"state":"closed"}}`,
		closed)
	a.Want("read", "list_issues", `{"owner":"acme","repo":"shop","opts":{"state":"all","since":"2026-02-01T00:00:00Z"}}`,
		`{"items":[`+closed+`]}`)
	if got := served.query.Get("state") + " " + served.query.Get("since"); got != "all 2026-02-01T00:00:00Z" {
		t.Errorf("the API was asked for %q", got)
	}
	a.Refused("create", "create_issue", `{"owner":"acme","repo":"shop"}`, "VALIDATION_MISSING_PARAM")
	a.Refused("update", "edit_issue", `{"owner":"acme","repo":"shop","number":1,"input":{"titel":"x"}}`,
		"VALIDATION_UNKNOWN_FIELD")
	a.Refused("delete", "delete_comment", `{"owner":"acme","repo":"shop","comment_id":7}`, "CONFIRMATION_REQUIRED")
}
