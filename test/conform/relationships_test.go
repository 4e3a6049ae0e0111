package conform_test

import (
	"encoding/json"
	"testing"

	"github.com/aqltag/aqltag/conform"
	aql "github.com/aqltag/aqltag/runtime"
	"github.com/aqltag/aqltag/test/collections/people"
)

// newOffice returns an adapter with query_relationships, in which two people are the bosses of each other.
func newOffice(t *testing.T, persons ...*people.Person) *session {
	t.Helper()
	adapter, err := aql.New(people.NewRegistry(&people.Office{Persons: persons}),
		aql.Options{Name: "people", Version: "1.0.0"})
	if err != nil {
		t.Fatal(err)
	}
	s := adapter.NewSession()
	t.Cleanup(s.Close)
	return &session{adapter, s}
}

var relationshipChecks = []string{
	"relationships/depth", "relationships/edges", "relationships/include", "relationships/nodes", "relationships/type",
}

// TestRelationships checks what is said of query_relationships, on an adapter as it is, and on ones that are broken in
// one way each.
func TestRelationships(t *testing.T) {
	const operation = "query_relationships"
	graph := func(change func(graph map[string]any)) mutated {
		return after(operation, func(_ request, a answer) answer {
			if g, ok := a.data()["graph"].(map[string]any); ok {
				change(g)
			}
			return a
		})
	}
	for _, tt := range []struct {
		name   string
		broken mutated
		red    []string
	}{
		{name: "as it is"},
		{name: "with errors that are texts", broken: textErrors()},
		{
			name: "with the greatest depth in the capabilities alone",
			broken: details(operation, func(d map[string]any) {
				for _, each := range d["parameters"].([]any) {
					delete(each.(map[string]any), "maximum")
				}
			}),
		},
		{
			name:   "without capabilities",
			broken: details(operation, func(d map[string]any) { delete(d, "relationship_capabilities") }),
		},
		{
			name: "a depth that is too great is cut", red: []string{"relationships/depth"},
			broken: before(operation, func(r request) request {
				if r.params["depth"] == json.Number("4") {
					return r.with("depth", 3)
				}
				return r
			}),
		},
		{
			name: "an unknown type is any type", red: []string{"relationships/type"},
			broken: drop(operation, "relationship", func(value any) bool { return value == "no_such_relationship" }),
		},
		{
			name: "include is passed over", red: []string{"relationships/include"},
			broken: before(operation, func(r request) request { return r.with("include", nil) }),
		},
		{
			name: "a section that include names is left out", red: []string{"relationships/include"},
			broken: after(operation, func(r request, a answer) answer {
				if r.params["include"] != nil {
					delete(a.data(), "relationships")
				}
				return a
			}),
		},
		{
			name: "an element is a node each time that it is met", red: []string{"relationships/nodes"},
			broken: graph(func(g map[string]any) {
				if nodes, ok := g["nodes"].([]any); ok {
					g["nodes"] = append(nodes, nodes[0])
				}
			}),
		},
		{
			name: "an element is a node under two ids", red: []string{"relationships/nodes"},
			broken: graph(func(g map[string]any) {
				if nodes, ok := g["nodes"].([]any); ok {
					first := nodes[0].(map[string]any)
					g["nodes"] = append(nodes, map[string]any{
						"id": "another", "element_type": first["element_type"], "element_name": first["element_name"],
					})
				}
			}),
		},
		{
			name: "the root is no node", red: []string{"relationships/edges"},
			broken: graph(func(g map[string]any) {
				if nodes, ok := g["nodes"].([]any); ok {
					g["nodes"] = nodes[1:]
				}
			}),
		},
		{
			name: "what is last is no node", red: []string{"relationships/edges"},
			broken: graph(func(g map[string]any) {
				if nodes, ok := g["nodes"].([]any); ok {
					g["nodes"] = nodes[:len(nodes)-1]
				}
			}),
		},
	} {
		t.Run(tt.name, func(t *testing.T) {
			tt.broken.Server = newOffice(t, &people.Person{PersonID: "p1", Name: "Ann", BossID: "p2"},
				&people.Person{PersonID: "p2", Name: "Bob", BossID: "p1"})
			expectRed(t, &tt.broken, tt.red, relationshipChecks...)
		})
	}
}

// Where no element leads to another one, the rules for graphs are not judged, and where there is no element, none is.
func TestRelationshipsOfNothing(t *testing.T) {
	for _, tt := range []struct {
		name    string
		persons []*people.Person
		want    map[string]conform.Verdict
	}{
		{"elements without relationships", []*people.Person{{PersonID: "p1", Name: "Ann"}}, map[string]conform.Verdict{
			"relationships/depth": conform.Pass, "relationships/type": conform.Pass, "relationships/include": conform.Pass,
			"relationships/nodes": conform.NotJudged, "relationships/edges": conform.NotJudged,
		}},
		{"no elements", nil, map[string]conform.Verdict{
			"relationships/depth": conform.NotJudged, "relationships/type": conform.NotJudged,
			"relationships/include": conform.NotJudged, "relationships/nodes": conform.NotJudged,
			"relationships/edges": conform.NotJudged,
		}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			report, err := conform.Run(t.Context(), newOffice(t, tt.persons...), conform.Options{})
			if err != nil {
				t.Fatal(err)
			}
			for _, r := range report.Results() {
				if want, ours := tt.want[r.Name]; ours && r.Verdict != want {
					t.Errorf("%s is %s, not %s: %s", r.Name, r.Verdict, want, r.Reason)
				}
			}
		})
	}
}
