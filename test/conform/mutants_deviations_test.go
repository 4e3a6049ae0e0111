package conform_test

import (
	"context"
	"encoding/json"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/aqltag/aqltag/conform"
)

// rename gives a member of an object another name.
func rename(d map[string]any, from, to string) {
	if value, there := d[from]; there {
		delete(d, from)
		d[to] = value
	}
}

// eachEntry changes each entry in the list of operations.
func eachEntry(change func(d map[string]any)) mutated {
	return list(func(data map[string]any) {
		for _, o := range data["operations"].([]any) {
			change(o.(map[string]any))
		}
	})
}

// renamed is the example under the tool and the endpoint family query in place of read.
type renamed struct{ conform.Server }

var toQuery = strings.NewReplacer("mcp_aql_read", "mcp_aql_query", `"endpoint":"read"`, `"endpoint":"query"`,
	`"expected_endpoint":"READ"`, `"expected_endpoint":"QUERY"`, "READ endpoint", "QUERY endpoint",
	`"expected_endpoint":"read"`, `"expected_endpoint":"query"`, "read endpoint", "query endpoint")

func (r renamed) Tools(ctx context.Context) ([]conform.Tool, error) {
	all, err := r.Server.Tools(ctx)
	for i := range all {
		all[i].Name = toQuery.Replace(all[i].Name)
		all[i].Description = toQuery.Replace(all[i].Description)
	}
	return all, err
}

func (r renamed) Call(ctx context.Context, tool string, arguments json.RawMessage) (conform.Reply, error) {
	reply, err := r.Server.Call(ctx, strings.ReplaceAll(tool, "mcp_aql_query", "mcp_aql_read"), arguments)
	reply.Text = toQuery.Replace(reply.Text)
	return reply, err
}

// A14: the example with one deviation has exactly the violations of that deviation, and the rest is judged as before:
// the deviation is named, and the checks that it keeps from being judged are known.
func TestOneDeviation(t *testing.T) {
	for _, tt := range []struct {
		what   string
		broken mutated
		base   func(t *testing.T) conform.Server
		name   string // of the deviation; empty: it is none
		red    []string
		open   []string
	}{
		{what: "entries are named by operation", name: "entry-name", red: []string{"introspect/list-shape"},
			broken: eachEntry(func(d map[string]any) { rename(d, "name", "operation") })},
		{what: "entries are named by element_name", name: "entry-name", red: []string{"introspect/list-shape"},
			broken: eachEntry(func(d map[string]any) { rename(d, "name", "element_name") })},
		{what: "the category is written in camelCase", name: "member-names",
			red: []string{"introspect/details-shape", "introspect/list-shape"},
			broken: mutated{call: chain(
				eachEntry(func(d map[string]any) { rename(d, "semantic_category", "semanticCategory") }).call,
				after("introspect", func(_ request, a answer) answer {
					if d, ok := a.data()["operation"].(map[string]any); ok {
						rename(d, "semantic_category", "semanticCategory")
					}
					return a
				}).call)}},
		{what: "errors are plain text", name: "error-text",
			red: []string{
				"batch/shape", "endpoints/right-tool", "errors/codes", "errors/shape", "introspect/unknown-query",
			},
			open: []string{"endpoints/first", "errors/details", "errors/not-found", "limits/depth", "params/order"},
			broken: after("", func(_ request, a answer) answer {
				if !a.ok() {
					a.root["error"] = a.failure()["message"]
				}
				return a
			})},
		{what: "success is true around failures", name: "failure-in-success",
			red: []string{"batch/malformed", "batch/summary", "errors/shape"},
			broken: after("", func(_ request, a answer) answer {
				if !a.ok() {
					return success(map[string]any{"error": a.failure()})
				}
				return a
			})},
		{what: "unknown parameters are ignored", red: []string{"params/unknown"}, open: []string{"params/no-effect"},
			broken: before("", func(r request) request {
				return r.with("no_such_parameter", nil).with("another_unknown", nil)
			})},
		{what: "a tool is listed twice", name: "tool-twice", red: []string{"tools/names"},
			broken: mutated{tools: func(all []conform.Tool) []conform.Tool { return append(all, all[0]) }}},
		{what: "there is text around the JSON of introspection", name: "text-around-json", red: []string{"errors/shape"},
			broken: mutated{text: func(arguments string, next func(string) string) string {
				text := next(arguments)
				if strings.Contains(arguments, `"introspect"`) && !strings.Contains(arguments, `"operations":[`) {
					return "Here {it} is:\n```json\n" + text + "\n```\n"
				}
				return text
			}}},
		{what: "query is optional", red: []string{"params/required"}, open: []string{"params/top-level"},
			broken: before("introspect", func(r request) request {
				if _, there := r.params["query"]; !there {
					return r.with("query", "operations")
				}
				return r
			})},
		{what: "families have other names", base: func(t *testing.T) conform.Server { return renamed{newTodo(t, "")} }},
		{what: "there are no batches, and none are claimed", red: []string{"batch/supported"},
			broken: mutated{
				call: protocol(func(d map[string]any) { d["capabilities"].(map[string]any)["batch"] = false }).call,
				batch: func(answer) answer {
					return failed("VALIDATION_MISSING_PARAM", "Missing required parameter 'operation'",
						map[string]any{"param_name": "operation"})
				}}},
		{what: "a default of 64 bits is rounded", red: []string{"params/defaults"}, base: newOffsets,
			broken: mutated{call: chain(
				parameter("list_todos", "limit", func(d map[string]any) {
					d["default"] = json.Number("9007199254740993")
					delete(d, "maximum")
				}).call,
				after("list_todos", func(r request, a answer) answer {
					if page, ok := a.data()["pagination"].(map[string]any); ok && r.params["limit"] == nil {
						page["limit"] = json.Number("9007199254740992")
					}
					return a
				}).call)}},
	} {
		t.Run(tt.what, func(t *testing.T) {
			t.Parallel()
			broken := tt.broken
			if broken.Server = conform.Server(newTodo(t, "")); tt.base != nil {
				broken.Server = tt.base(t)
			}
			report, err := conform.Run(t.Context(), &broken, conform.Options{})
			if err != nil {
				t.Fatal(err)
			}
			var red, open, names, wantNames []string
			for _, r := range report.Results() {
				switch r.Verdict {
				case conform.Fail, conform.Warn:
					red = append(red, r.Name)
					t.Logf("%s: %s", r.Name, runError(r))
				case conform.NotJudged:
					open = append(open, r.Name)
					t.Logf("%s: %s", r.Name, r.Reason)
				}
			}
			for _, d := range report.Deviations {
				names = append(names, d.Name)
			}
			if tt.name != "" {
				wantNames = []string{tt.name}
			}
			slices.Sort(red)
			slices.Sort(open)
			for what, diff := range map[string]string{
				"red": cmp.Diff(tt.red, red), "not judged": cmp.Diff(tt.open, open), "deviations": cmp.Diff(wantNames, names),
			} {
				if diff != "" {
					t.Errorf("%s (-want +got):\n%s", what, diff)
				}
			}
		})
	}
}
