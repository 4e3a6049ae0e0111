package conform_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/aqltag/aqltag/conform"
	aql "github.com/aqltag/aqltag/runtime"
	"github.com/aqltag/aqltag/test/collections/library"
)

// newLibrary returns an adapter whose resources lead to each other.
func newLibrary(t *testing.T) *session {
	t.Helper()
	adapter, err := aql.New(library.NewRegistry(&library.Library{
		Books: []*library.Book{{BookID: "b1", Title: "Dune", AuthorID: "a1"}, {BookID: "b2", Title: "Ubik", AuthorID: "a2"}},
		Authors: []*library.Author{
			{AuthorID: "a1", Name: "Ann", MentorID: "a2"}, {AuthorID: "a2", Name: "Bob", MentorID: "a1"},
		},
	}), aql.Options{Name: "library", Version: "1.0.0"})
	if err != nil {
		t.Fatal(err)
	}
	s := adapter.NewSession()
	t.Cleanup(s.Close)
	return &session{adapter, s}
}

// selects reports whether a request selects one path, with the prefix.
func selects(r request, prefix string) bool {
	paths, _ := r.params["fields"].([]any)
	if len(paths) != 1 {
		return false
	}
	path, _ := paths[0].(string)
	return strings.HasPrefix(path, prefix)
}

// TestRelated checks what is said of fields to which resources lead, on an adapter with relations as it is, and on ones
// that are broken in one way each.
func TestRelated(t *testing.T) {
	for _, tt := range []struct {
		name   string
		broken mutated
		red    []string
	}{
		{name: "as it is"},
		{
			name: "a relation that is announced is refused", red: []string{"fields/related"},
			broken: mutated{call: func(r request, next call) answer {
				if paths, _ := r.params["fields"].([]any); len(paths) == 1 && paths[0] == "publisher" {
					return next(r.with("fields", []any{"no_publisher"}))
				}
				return next(r)
			}},
		},
		{
			name: "all of a relation is answered where a part is selected", red: []string{"fields/related"},
			broken: before("list_books", func(r request) request {
				if selects(r, "author.author_id") {
					return r.with("fields", []any{"author"})
				}
				return r
			}),
		},
		{
			name: "a relation shows what is not announced", red: []string{"fields/related"},
			broken: after("list_books", func(r request, a answer) answer {
				items, _ := a.data()["items"].([]any)
				for _, item := range items {
					if author, ok := item.(map[string]any)["author"].(map[string]any); ok {
						author["salary"] = 1
					}
				}
				return a
			}),
		},
		{
			name: "an unknown field in a relation is passed over", red: []string{"fields/related-unknown"},
			broken: before("list_books", func(r request) request {
				if selects(r, "author.no_such_field") {
					return r.with("fields", []any{"author"})
				}
				return r
			}),
		},
		{
			name: "a refusal tells of a field that is not announced", red: []string{"fields/related-unknown"},
			broken: after("list_books", func(r request, a answer) answer {
				if details, ok := a.failure()["details"].(map[string]any); ok && selects(r, "author.no_such_field") {
					details["valid_fields"] = append(details["valid_fields"].([]any), "author.salary")
				}
				return a
			}),
		},
		{
			name: "a path goes round as often as it is asked to", red: []string{"fields/related-depth"},
			broken: before("list_books", func(r request) request {
				if selects(r, "author.mentor.mentor.mentor") {
					return r.with("fields", []any{"author.mentor"})
				}
				return r
			}),
		},
	} {
		t.Run(tt.name, func(t *testing.T) {
			tt.broken.Server = newLibrary(t)
			expectRed(t, &tt.broken, tt.red, "fields/related", "fields/related-depth", "fields/related-unknown")
		})
	}
}

// expectRed runs the prober, and fails unless some of the checks that are named, sorted, are red, and the others pass.
func expectRed(t *testing.T, server conform.Server, red []string, checks ...string) {
	t.Helper()
	report, err := conform.Run(t.Context(), server, conform.Options{})
	if err != nil {
		t.Fatal(err)
	}
	var made, are []string
	for _, r := range report.Results() {
		if !slices.Contains(checks, r.Name) {
			continue
		}
		made = append(made, r.Name)
		switch r.Verdict {
		case conform.Pass:
		case conform.Warn, conform.Fail:
			are = append(are, r.Name)
			t.Log(runError(r))
		default:
			t.Errorf("%s is %s: %s", r.Name, r.Verdict, r.Reason)
		}
	}
	if diff := cmp.Diff(red, are); diff != "" {
		t.Errorf("the checks that are red (-want +got):\n%s", diff)
	}
	if diff := cmp.Diff(checks, slices.Sorted(slices.Values(made))); diff != "" {
		t.Errorf("the checks that were made (-want +got):\n%s", diff)
	}
}
