package dns_test

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strconv"
	"strings"
	"sync"
	"testing"

	"github.com/digitalocean/godo"
	"github.com/google/go-cmp/cmp"

	aql "github.com/aqltag/aqltag/runtime"
	"github.com/aqltag/aqltag/test/adopted/agent"
	"github.com/aqltag/aqltag/test/adopted/dns"
)

// api is as much of the real API as the tests need: one domain whose records are kept in memory.
type api struct {
	mu      sync.Mutex
	records map[int]godo.DomainRecord
	last    int
	queries []string // of lists of domains
}

// registry is that of a client whose requests go to api.
func registry(t *testing.T) (*aql.Registry, *api) {
	t.Helper()
	served := &api{records: make(map[int]godo.DomainRecord)}
	server := httptest.NewServer(served.routes())
	t.Cleanup(server.Close)
	client := godo.NewClient(server.Client())
	base, err := url.Parse(server.URL + "/")
	if err != nil {
		t.Fatal(err)
	}
	client.BaseURL = base
	domains, ok := client.Domains.(*godo.DomainsServiceOp)
	if !ok {
		t.Fatalf("the client's domains are a %T", client.Domains)
	}
	return dns.NewRegistry(domains), served
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
	missing := map[string]any{"id": "not_found", "message": "The resource you were accessing could not be found."}
	domain := map[string]any{"name": "example.com", "ttl": 1800, "zone_file": "$ORIGIN example.com."}
	handle("GET /v2/domains", func(r *http.Request) (int, any) {
		a.queries = append(a.queries, r.URL.RawQuery)
		return http.StatusOK, map[string]any{"domains": []any{domain}}
	})
	handle("POST /v2/domains", func(*http.Request) (int, any) {
		return http.StatusUnprocessableEntity,
			map[string]any{"id": "unprocessable_entity", "message": "Name 'example.com' already exists"}
	})
	handle("GET /v2/domains/{name}", func(r *http.Request) (int, any) {
		if r.PathValue("name") != "example.com" {
			return http.StatusNotFound, missing
		}
		return http.StatusOK, map[string]any{"domain": domain}
	})
	handle("DELETE /v2/domains/{name}", func(*http.Request) (int, any) {
		return http.StatusInternalServerError, map[string]any{"id": "server_error", "message": "disk /var/lib/zones is full"}
	})
	handle("POST /v2/domains/example.com/records", func(r *http.Request) (int, any) {
		var record godo.DomainRecord
		body, _ := io.ReadAll(r.Body)
		_ = json.Unmarshal(body, &record)
		a.last++
		record.ID = a.last
		a.records[record.ID] = record
		return http.StatusCreated, map[string]any{"domain_record": record}
	})
	handle("/v2/domains/example.com/records/{id}", func(r *http.Request) (int, any) {
		id, _ := strconv.Atoi(r.PathValue("id"))
		record, ok := a.records[id]
		switch {
		case !ok:
			return http.StatusNotFound, missing
		case r.Method == http.MethodDelete:
			delete(a.records, id)
			return http.StatusNoContent, nil
		case r.Method == http.MethodPut:
			record = godo.DomainRecord{}
			body, _ := io.ReadAll(r.Body)
			_ = json.Unmarshal(body, &record)
			record.ID = id
			a.records[id] = record
		}
		return http.StatusOK, map[string]any{"domain_record": record}
	})
	return routes
}

func TestOptionAndRequestStructsOfTheClientAreParameters(t *testing.T) {
	registry, served := registry(t)
	a := agent.New(t, registry)
	want := map[string]string{
		"list_domains":  "READ page per_page with_projects deployed public_only usecases",
		"get_domain":    "READ name*",
		"create_domain": "CREATE name ip_address",
		"delete_domain": "DELETE name* confirmation_token",
		"list_records":  "READ domain* opt",
		"get_record":    "READ domain* id*",
		"create_record": "CREATE domain* create_request*",
		"update_record": "UPDATE domain* id* input*",
		"delete_record": "DELETE domain* id* confirmation_token",
	}
	got := a.Operations()
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("operations (-want +got):\n%s", diff)
	}
	agent.HoldLines(t, ".", len(got))
	a.Want("read", "list_domains", `{"per_page":2,"usecases":["a","b"]}`,
		`{"items":[{"name":"example.com","ttl":1800,"zone_file":"$ORIGIN example.com."}]}`)
	if diff := cmp.Diff([]string{"per_page=2&usecases=a&usecases=b"}, served.queries); diff != "" {
		t.Errorf("what the API was asked (-want +got):\n%s", diff)
	}
}

func TestRecordsAreCreatedChangedAndDeleted(t *testing.T) {
	registry, _ := registry(t)
	a := agent.New(t, registry)
	a.Want("create", "create_record",
		`{"domain":"example.com","create_request":`+
			`{"type":"MX","name":"@","data":"mail.example.com.","priority":10,"ttl":1800}}`,
		`{"id":1,"type":"MX","name":"@","data":"mail.example.com.","priority":10,"port":0,"ttl":1800,"weight":0,"flags":0}`)
	a.Want("update", "update_record", `{"domain":"example.com","id":1,"input":{"data":"mx.example.com."}}`,
		`{"id":1,"type":"MX","name":"@","data":"mx.example.com.","priority":10,"port":0,"ttl":1800,"weight":0,"flags":0}`)
	a.Confirmed("delete", "delete_record", `{"domain":"example.com","id":1}`, "Delete record 1 of 'example.com'?")
	a.Refused("delete", "update_record", `{"domain":"example.com","id":1,"input":{}}`, "VALIDATION_ENDPOINT_MISMATCH")
	a.Refused("update", "update_record", `{"domain":"example.com","id":1,"input":{"ttl":60}}`, "NOT_FOUND_RESOURCE")
}

func TestRefusals(t *testing.T) {
	registry, served := registry(t)
	a := agent.New(t, registry)
	details := a.Refused("read", "list_domains", `{"perpage":2}`, "VALIDATION_UNKNOWN_PARAM")
	a.Check("suggestion", details["suggestions"], `{"perpage":"per_page"}`)
	a.Refused("create", "create_record", `{"domain":"example.com"}`, "VALIDATION_MISSING_PARAM")
	a.Refused("create", "create_record", `{"domain":"example.com","create_request":{"prio":10}}`,
		"VALIDATION_UNKNOWN_FIELD")
	a.Refused("create", "create_record", `{"domain":"example.com","create_request":{"ttl":"long"}}`,
		"VALIDATION_INVALID_TYPE")
	if len(served.queries)+len(served.records) != 0 {
		t.Errorf("the API was asked %v and has %v", served.queries, served.records)
	}
	a.Refused("read", "get_domain", `{"name":"nowhere.example"}`, "NOT_FOUND_RESOURCE")
	a.Refused("create", "create_domain", `{"name":"example.com"}`, "VALIDATION_INVALID_TYPE")

	details = a.Refused("delete", "delete_domain", `{"name":"example.com"}`, "CONFIRMATION_REQUIRED")
	token, _ := details["confirmation_token"].(string)
	masked := a.Refused("delete", "delete_domain", `{"name":"example.com","confirmation_token":"`+token+`"}`,
		"INTERNAL_ERROR")
	if text := fmt.Sprint(masked); len(masked) != 3 || strings.Contains(text, "zones") {
		t.Errorf("the API's own error came through: %s", text)
	}
}
