package conform_test

import (
	"context"
	"encoding/json"
	"flag"
	"fmt"
	"maps"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/aqltag/aqltag/conform"
	"github.com/aqltag/aqltag/conform/mcpclient"
)

var update = flag.Bool("update", false, "write the sentences of the reports on deviating servers")

// reply is what a deviating server answers: texts, each one content, or an error of JSON-RPC.
type reply struct {
	texts   []string
	isError bool
	err     error
}

// handle answers a request on a tool.
type handle func(tool string, root map[string]any) reply

// addTool adds a tool with a plain handler to a server of the MCP SDK.
func addTool(server *mcp.Server, name, description string, schema map[string]any, answer handle) {
	tool := &mcp.Tool{Name: name, Description: description, InputSchema: schema}
	server.AddTool(tool, func(_ context.Context, r *mcp.CallToolRequest) (*mcp.CallToolResult, error) {
		return answer(name, object(string(r.Params.Arguments))).result()
	})
}

// answering returns a handler that always answers the same.
func answering(a reply) mcp.ToolHandler {
	return func(context.Context, *mcp.CallToolRequest) (*mcp.CallToolResult, error) { return a.result() }
}

func (a reply) result() (*mcp.CallToolResult, error) {
	if a.err != nil {
		return nil, a.err
	}
	result := &mcp.CallToolResult{IsError: a.isError}
	for _, text := range a.texts {
		result.Content = append(result.Content, &mcp.TextContent{Text: text})
	}
	return result, nil
}

// aqlSchema is the input schema of a tool.
func aqlSchema() map[string]any {
	return map[string]any{"type": "object", "required": []string{"operation"}, "properties": map[string]any{
		"operation": map[string]any{"type": "string"}, "params": map[string]any{"type": "object"},
	}}
}

// row is what a deviating server does in what a check is about, and what the report must say of it.
type row struct {
	verdict, truth string
	sentences      []string
}

// A14: the report is true about servers that deviate as real ones do. For each of them, testdata has a table with a row
// for each check: the verdict, what the server truly does, and each sentence of the report. A check without a row
// fails, and so does a sentence, a verdict or a deviation that is another one.
func TestDeviants(t *testing.T) {
	for name, tt := range map[string]struct {
		server  func() *mcp.Server
		options conform.Options
	}{
		"elements": {newElements, conform.Options{AllowDestructive: true}},
		"ledger":   {newLedger, conform.Options{}},
		"plain":    {newPlain, conform.Options{AllowDestructive: true}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			server := tt.server()
			over := httptest.NewServer(mcp.NewStreamableHTTPHandler(func(*http.Request) *mcp.Server { return server }, nil))
			t.Cleanup(over.Close)
			client, err := mcpclient.URL(t.Context(), over.URL, mcpclient.Options{})
			if err != nil {
				t.Fatal(err)
			}
			t.Cleanup(func() { client.Close() })
			report, err := conform.Run(t.Context(), client, tt.options)
			if err != nil {
				t.Fatal(err)
			}
			path := filepath.Join("testdata", name+".txt")
			want := readTable(t, path)
			got := tableOf(report)
			for id, r := range want {
				if found, ok := got[id]; ok {
					found.truth = r.truth
					got[id] = found
				} else {
					t.Errorf("%s has a row for %s, which is not in the report", path, id)
				}
				if r.truth == "" {
					t.Errorf("%s does not say what the server truly does about %s", path, id)
				}
			}
			if diff := cmp.Diff(want, got, cmp.AllowUnexported(row{})); diff != "" && !*update {
				t.Errorf("the report (-want +got):\n%s", diff)
			}
			if *update {
				writeTable(t, path, report, got)
			}
		})
	}
}

// tableOf returns the verdicts and sentences of a report: of its checks, its deviations, and what was not called.
func tableOf(report *conform.Report) map[string]row {
	all := map[string]row{"not-called": {verdict: "list", sentences: report.NotCalled}}
	for _, d := range report.Deviations {
		all["deviation/"+d.Name] = row{verdict: "met", sentences: []string{d.Message}}
	}
	for _, r := range report.Results() {
		each := row{verdict: string(r.Verdict)}
		if r.Reason != "" {
			each.sentences = append(each.sentences, "because: "+r.Reason)
		}
		for _, f := range r.Findings {
			each.sentences = append(each.sentences, "- "+f.Message)
		}
		for _, why := range r.NotJudged {
			each.sentences = append(each.sentences, "also not judged: "+why)
		}
		all[r.Name] = each
	}
	for id, r := range all {
		for i, s := range r.sentences {
			r.sentences[i] = conform.Printable(s)
		}
		if len(r.sentences) == 0 {
			r.sentences = nil
		}
		all[id] = r
	}
	return all
}

// readTable reads rows such as "params/unknown | fail | It ignores …", each followed by its sentences, indented.
func readTable(t *testing.T, path string) map[string]row {
	t.Helper()
	text, err := os.ReadFile(path)
	if err != nil && !*update {
		t.Fatal(err)
	}
	all, id := map[string]row{}, ""
	for line := range strings.Lines(string(text)) {
		line = strings.TrimRight(line, "\n")
		if sentence, ok := strings.CutPrefix(line, "    "); ok {
			r := all[id]
			r.sentences = append(r.sentences, sentence)
			all[id] = r
			continue
		}
		if parts := strings.SplitN(line, " | ", 3); len(parts) == 3 {
			id = parts[0]
			all[id] = row{verdict: parts[1], truth: parts[2]}
		}
	}
	return all
}

func writeTable(t *testing.T, path string, report *conform.Report, rows map[string]row) {
	t.Helper()
	order := []string{"not-called"}
	for _, d := range report.Deviations {
		order = append(order, "deviation/"+d.Name)
	}
	for _, c := range conform.Checks() {
		order = append(order, c.Name)
	}
	var s strings.Builder
	for _, id := range order {
		r, ok := rows[id]
		if !ok {
			continue
		}
		fmt.Fprintf(&s, "%s | %s | %s\n", id, r.verdict, r.truth)
		for _, sentence := range r.sentences {
			fmt.Fprintf(&s, "    %s\n", sentence)
		}
	}
	if err := os.WriteFile(path, []byte(s.String()), 0o644); err != nil {
		t.Fatal(err)
	}
}

// store keeps the records of a deviating server, by their names.
type store struct{ records map[string]map[string]any }

func (s *store) sorted() []any {
	list := []any{}
	for _, name := range slices.Sorted(maps.Keys(s.records)) {
		list = append(list, s.records[name])
	}
	return list
}

// merge merges changes into a record, at every depth; null removes.
func merge(into, changes map[string]any) {
	for name, value := range changes {
		inner, is := value.(map[string]any)
		was, also := into[name].(map[string]any)
		switch {
		case value == nil:
			delete(into, name)
		case is && also:
			merge(was, inner)
		default:
			into[name] = value
		}
	}
}

func indented(value any) string {
	text, err := json.MarshalIndent(value, "", "  ")
	if err != nil {
		panic(err)
	}
	return string(text)
}
