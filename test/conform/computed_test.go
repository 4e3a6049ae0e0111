package conform_test

import (
	"strings"
	"testing"

	"github.com/aqltag/aqltag/conform"
)

// TestComputed checks what is said of computed fields, on an adapter with one that is neither for filters nor for
// orders, and on ones that are broken in one way each.
func TestComputed(t *testing.T) {
	const path = "_computed.shouted"
	for _, tt := range []struct {
		name   string
		broken mutated
		red    []string
	}{
		{name: "as it is"},
		{name: "with errors that are texts", broken: textErrors()},
		{
			name: "a computed field that is listed is refused", red: []string{"fields/computed"},
			broken: before("list_books", func(r request) request {
				if selects(r, path) {
					return r.with("fields", []any{"_computed.whispered"})
				}
				return r
			}),
		},
		{
			name: "a computed field is beside _computed", red: []string{"fields/computed"},
			broken: after("list_books", func(r request, a answer) answer {
				eachItem(a, func(item map[string]any) {
					if under, ok := item["_computed"].(map[string]any); ok {
						item["shouted"] = under["shouted"]
						delete(item, "_computed")
					}
				})
				return a
			}),
		},
		{
			name: "a computed field comes with stored ones", red: []string{"fields/computed"},
			broken: after("list_books", func(r request, a answer) answer {
				if selects(r, path) {
					eachItem(a, func(item map[string]any) { item["title"] = "Dune" })
				}
				return a
			}),
		},
		{
			name: "a computed field comes where nobody asked for it", red: []string{"fields/computed"},
			broken: after("list_books", func(r request, a answer) answer {
				eachItem(a, func(item map[string]any) { item["_computed"] = map[string]any{"shouted": "!"} })
				return a
			}),
		},
		{
			name: "a computed field that is not listed is passed over", red: []string{"fields/computed-unknown"},
			broken: before("list_books", func(r request) request {
				if selects(r, "_computed.no_such_field") {
					return r.with("fields", []any{path})
				}
				return r
			}),
		},
		{
			name: "a filter by a computed field is passed over", red: []string{"collections/computed"},
			broken: before("list_books", func(r request) request {
				if filter, ok := r.params["filter"].(map[string]any); ok && filter[path] != nil {
					return r.with("filter", nil)
				}
				return r
			}),
		},
		{
			name: "an order by a computed field is passed over", red: []string{"collections/computed"},
			broken: before("list_books", func(r request) request {
				if by, ok := r.params["sort"].(map[string]any); ok && by["field"] == path {
					return r.with("sort", nil)
				}
				return r
			}),
		},
	} {
		t.Run(tt.name, func(t *testing.T) {
			tt.broken.Server = newLibrary(t)
			expectRed(t, &tt.broken, tt.red, "collections/computed", "fields/computed", "fields/computed-unknown")
		})
	}
}

// eachItem changes the items of an answer.
func eachItem(a answer, change func(item map[string]any)) {
	items, _ := a.data()["items"].([]any)
	for _, item := range items {
		change(item.(map[string]any))
	}
}

// textErrors makes the errors of all operations but introspect texts without codes, as servers have them that know
// nothing of those of the protocol.
func textErrors() mutated {
	return after("", func(r request, a answer) answer {
		if message, ok := a.failure()["message"]; ok && r.operation != "introspect" {
			a.root["error"] = message
		}
		return a
	})
}

// What introspection does not announce is not judged, and the report says why.
func TestNothingToComputeOrToFollow(t *testing.T) {
	report, err := conform.Run(t.Context(), newTodo(t, ""), conform.Options{})
	if err != nil {
		t.Fatal(err)
	}
	for _, r := range report.Results() {
		if _, what, _ := strings.Cut(r.Name, "/"); strings.HasPrefix(what, "computed") ||
			strings.HasPrefix(r.Name, "relationships/") {
			if r.Verdict != conform.Skip || r.Reason == "" {
				t.Errorf("%s is %s: %q", r.Name, r.Verdict, r.Reason)
			}
		}
	}
}
