package openapi_test

import (
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/aqltag/aqltag/test/adopted/agent"
	"github.com/aqltag/aqltag/test/adopted/openapi"
	"github.com/aqltag/aqltag/test/adopted/services/pets"
)

// A strict server of oapi-codegen is an adapter by one line an operation (B8): parameters are those of the path, the
// query and the body, responses of a success are the result, and the others failures with their status and message.
func TestAStrictServerIsAnAdapterAsItStands(t *testing.T) {
	a := agent.Connect(t, openapi.NewRegistry(new(pets.Server)))
	got := a.Operations()
	want := map[string]string{
		"list_pets":  "READ tag page_size",
		"create_pet": "CREATE food* name* tags",
		"get_pet":    "READ pet_id*",
		"update_pet": "UPDATE pet_id* input*",
		"delete_pet": "DELETE pet_id* confirmation_token",
		"adopt_pet":  "EXECUTE pet_id* city keeper",
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("operations (-want +got):\n%s", diff)
	}
	agent.HoldLines(t, ".", len(got))

	a.Want("create", "create_pet", `{"name":"Rex","tags":["dog"],"food":[{"what":"meat","grams":200}]}`,
		`{"id":1,"name":"Rex","tags":["dog"]}`)
	a.Want("read", "get_pet", `{"petId":1}`, `{"id":1,"name":"Rex","tags":["dog"]}`)
	a.Want("read", "list_pets", `{"tag":"cat"}`, `{"items":[]}`)
	a.Want("update", "update_pet", `{"pet_id":1,"input":{"name":"Max"}}`, `{"id":1,"name":"Max","tags":["dog"]}`)
	a.Want("update", "update_pet", `{"pet_id":1,"input":{}}`, `null`)
	a.Want("execute", "adopt_pet", `{"pet_id":1,"keeper":"Pat"}`, `null`)
	a.Want("read", "get_pet", `{"pet_id":1}`, `{"id":1,"name":"Max","tags":["dog"],"keeper":"Pat"}`)

	// The spec demands them, and the server relies on it.
	a.Refused("create", "create_pet", `{"name":"Tom"}`, "VALIDATION_MISSING_PARAM")
	a.Refused("create", "create_pet", `{"name":"Tom","food":[{"grams":5}]}`, "VALIDATION_MISSING_PARAM")
	// Agents send neither headers nor cookies.
	a.Refused("read", "list_pets", `{"session":"s"}`, "VALIDATION_UNKNOWN_PARAM")
	// Responses with the status of a failure.
	a.Refused("read", "get_pet", `{"pet_id":7}`, "NOT_FOUND_RESOURCE")
	a.Refused("create", "create_pet", `{"name":"Max","food":[]}`, "CONFLICT_ALREADY_EXISTS")
	a.Refused("update", "update_pet", `{"pet_id":7,"input":{"name":"Max"}}`, "NOT_FOUND_RESOURCE")
	details := a.Refused("execute", "adopt_pet", `{"pet_id":1}`, "VALIDATION_INVALID_TYPE")
	a.Check("the text of a failure", details["upstream_error"], `"keeper is missing"`)
	a.Refused("execute", "adopt_pet", `{"pet_id":1,"city":"nowhere"}`, "INTERNAL_ERROR")
	a.Confirmed("delete", "delete_pet", `{"pet_id":1}`, "")
}

// An adapter returns what the HTTP server writes, and fails where that answers with the status of a failure (B8).
func TestAnAdapterReturnsWhatTheServerDoes(t *testing.T) {
	calls := []struct{ tool, operation, params, method, path, body string }{
		{"create", "create_pet", `{"name":"Rex","food":[]}`, "POST", "/pets", `{"name":"Rex","food":[]}`},
		{"create", "create_pet", `{"name":"Rex","food":[]}`, "POST", "/pets", `{"name":"Rex","food":[]}`},
		{"create", "create_pet", `{"name":"Tom","tags":["cat"],"food":[]}`,
			"POST", "/pets", `{"name":"Tom","tags":["cat"],"food":[]}`},
		{"read", "get_pet", `{"pet_id":2}`, "GET", "/pets/2", ""},
		{"read", "get_pet", `{"pet_id":9}`, "GET", "/pets/9", ""},
		{"read", "get_pet", `{"pet_id":"x"}`, "GET", "/pets/x", ""},
		{"update", "update_pet", `{"pet_id":2,"input":{"tags":[]}}`, "PATCH", "/pets/2", `{"tags":[]}`},
		{"update", "update_pet", `{"pet_id":2,"input":{}}`, "PATCH", "/pets/2", `{}`},
		{"update", "update_pet", `{"pet_id":9,"input":{"name":"A"}}`, "PATCH", "/pets/9", `{"name":"A"}`},
		{"execute", "adopt_pet", `{"pet_id":1}`, "POST", "/pets/1/adoption", `{}`},
		{"execute", "adopt_pet", `{"pet_id":1,"keeper":"Pat"}`, "POST", "/pets/1/adoption", `{"keeper":"Pat"}`},
		{"read", "get_pet", `{"pet_id":1}`, "GET", "/pets/1", ""},
		{"read", "list_pets", `{"page_size":101}`, "GET", "/pets?pageSize=101", ""},
	}
	server := pets.Handler(pets.NewStrictHandler(new(pets.Server), nil))
	a := agent.New(t, openapi.NewRegistry(new(pets.Server)))
	for _, call := range calls {
		request := httptest.NewRequestWithContext(t.Context(), call.method, call.path, strings.NewReader(call.body))
		response := httptest.NewRecorder()
		server.ServeHTTP(response, request)
		data, ok, answer := a.Try(call.tool, call.operation, call.params)
		if succeeded := response.Code < http.StatusBadRequest; succeeded != ok {
			t.Errorf("%s %s: the server answers with status %d %s, the adapter with %s", call.method, call.path,
				response.Code, response.Body, answer)
			continue
		}
		if !ok {
			continue
		}
		want := response.Body.String()
		if want == "" {
			want = "null"
		}
		a.Check(call.method+" "+call.path, data, want)
	}
}
