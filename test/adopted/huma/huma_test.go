package huma_test

import (
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	framework "github.com/danielgtaylor/huma/v2"
	"github.com/danielgtaylor/huma/v2/adapters/humago"
	"github.com/google/go-cmp/cmp"

	"github.com/aqltag/aqltag/test/adopted/agent"
	"github.com/aqltag/aqltag/test/adopted/huma"
	"github.com/aqltag/aqltag/test/adopted/services/recipes"
)

const soup = `{"title":"Soup","ingredients":[{"name":"Leek","grams":300}],"course":"starter"}`

// Handlers of huma are operations by one line each (B8): parameters are those of the path, the query and the body, and
// the result is the body of the response.
func TestHandlersAreOperationsAsTheyStand(t *testing.T) {
	a := agent.Connect(t, huma.NewRegistry(new(recipes.Server)))
	got := a.Operations()
	want := map[string]string{
		"list":   "READ limit course",
		"get":    "READ number*",
		"create": "CREATE title* serves ingredients* course*",
		"rename": "UPDATE number* input*",
		"delete": "DELETE number* confirmation_token",
		"stats":  "READ",
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("operations (-want +got):\n%s", diff)
	}
	agent.HoldLines(t, ".", len(got))

	const stored = `{"number":1,"title":"Soup","serves":2,"ingredients":[{"name":"Leek","grams":300}],"course":"starter"}`
	a.Want("create", "create", soup, stored)
	a.Want("read", "get", `{"number":1}`, stored)
	a.Want("read", "list", `{"course":"dessert"}`, `{"items":[]}`)
	a.Want("read", "stats", `{}`, `{"count":1}`)
	a.Want("update", "rename", `{"number":1,"input":{"title":"Leek soup"}}`,
		strings.Replace(stored, "Soup", "Leek soup", 1))
	a.Confirmed("delete", "delete", `{"number":1}`, "")

	// What huma refuses before the handler is refused here, too.
	a.Refused("create", "create", `{"title":"Cake","ingredients":[]}`, "VALIDATION_MISSING_PARAM")
	a.Refused("create", "create", `{"title":"Cake","ingredients":[{"name":"Flour"}],"course":"dessert"}`,
		"VALIDATION_MISSING_PARAM")
	a.Refused("read", "list", `{"limit":51}`, "VALIDATION_OUT_OF_RANGE")
	// An agent sends no headers.
	a.Refused("read", "list", `{"trace_id":"7"}`, "VALIDATION_UNKNOWN_PARAM")
	// Statuses are codes: those of errors of huma, and the one in an output.
	a.Refused("read", "get", `{"number":7}`, "NOT_FOUND_RESOURCE")
	a.Want("create", "create", soup, strings.Replace(stored, `"number":1`, `"number":2`, 1))
	a.Refused("create", "create", soup, "CONFLICT_ALREADY_EXISTS")
}

// An adapter accepts the bodies that huma accepts, and returns what huma writes (B8).
func TestAnAdapterAcceptsAndReturnsWhatHumaDoes(t *testing.T) {
	bodies := []string{
		soup,
		`{"title":"Cake","serves":4,"ingredients":[{"name":"Flour","grams":500,"note":"sifted"}],"course":"dessert"}`,
		`{}`,
		`{"title":"","ingredients":[{"name":"Leek","grams":300}],"course":"starter"}`,
		`{"title":"A","ingredients":[{"name":"Leek"}],"course":"starter"}`,
		`{"title":"B","ingredients":[{"name":"Leek","grams":0}],"course":"starter"}`,
		`{"title":"C","ingredients":[{"name":"","grams":1}],"course":"starter"}`,
		`{"title":"D","ingredients":[],"course":"starter"}`,
		`{"title":"E","ingredients":[{"name":"Leek","grams":1}],"course":"snack"}`,
		`{"title":"F","ingredients":[{"name":"Leek","grams":1}],"course":"main","stars":5}`,
		`{"title":"G","ingredients":[{"name":"Leek","grams":1}]}`,
		`{"title":"H","serves":0,"ingredients":[{"name":"Leek","grams":1}],"course":"main"}`,
		`{"title":7,"ingredients":[{"name":"Leek","grams":1}],"course":"main"}`,
	}
	routes := http.NewServeMux()
	config := framework.DefaultConfig("Recipes", "1.0.0")
	config.CreateHooks = nil // they add a link to the schema to each body
	api := humago.New(routes, config)
	framework.Post(api, "/recipes", new(recipes.Server).Create)
	a := agent.New(t, huma.NewRegistry(new(recipes.Server)))
	accepted := 0
	for _, body := range bodies {
		request := httptest.NewRequestWithContext(t.Context(), http.MethodPost, "/recipes", strings.NewReader(body))
		request.Header.Set("Content-Type", "application/json")
		response := httptest.NewRecorder()
		routes.ServeHTTP(response, request)
		data, ok, answer := a.Try("create", "create", body)
		if succeeded := response.Code < http.StatusBadRequest; succeeded != ok {
			t.Errorf("%s: huma answers with status %d %s, the adapter with %s", body, response.Code, response.Body, answer)
			continue
		}
		if ok {
			accepted++
			a.Check(body, data, response.Body.String())
		}
	}
	if accepted != 2 {
		t.Errorf("%d bodies were accepted, want 2", accepted)
	}
}
