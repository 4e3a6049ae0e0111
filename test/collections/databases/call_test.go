package databases

import (
	"bytes"
	"context"
	"encoding/json"
	"maps"
	"testing"

	aql "github.com/aqltag/aqltag/runtime"
	"github.com/aqltag/aqltag/test/collections/databases/items"
	"github.com/aqltag/aqltag/test/collections/internal/reference"
)

// source is a way to answer queries.
type source struct {
	name    string
	session *aql.Session
	load    func(t *testing.T, all []items.Item) // replaces what it has
}

// answer ends the query of a request.
type answer = func(ctx context.Context, q *aql.Query[items.Item]) (*aql.Page[items.Item], error)

// sessionOf connects to an adapter that answers so. Adapters of all sources open each other's cursors.
func sessionOf(t testing.TB, a answer) *aql.Session {
	t.Helper()
	adapter, err := aql.New(items.NewRegistry(&items.Service{Answer: a}),
		aql.Options{Name: "items", Version: "1", StateKey: make([]byte, 32)})
	if err != nil {
		t.Fatal(err)
	}
	return adapter.NewSession()
}

// page is an answer. Those of all sources are the same but for the total, which not every one knows.
type page struct {
	Success bool
	Data    struct {
		Items    []reference.Element
		PageInfo pageInfo

		Pagination map[string]any

		Aggregations map[string]any
	}
	Error, Warnings any
}

type pageInfo struct {
	HasNextPage, HasPreviousPage bool
	StartCursor, EndCursor       string
	TotalCount                   *int
}

// ask sends a request and returns the page that it answers.
func (s source) ask(t testing.TB, params map[string]any) page {
	t.Helper()
	if _, searches := params["query"]; searches {
		return s.call(t, "search_items", params)
	}
	return s.call(t, "list_items", params)
}

func (s source) call(t testing.TB, operation string, params map[string]any) page {
	t.Helper()
	request := encode(t, map[string]any{"operation": operation, "params": params})
	var p page
	reply := s.session.Call(t.Context(), "mcp_aql_read", request).JSON
	if decode(t, reply, &p); !p.Success {
		t.Fatalf("%s refuses %s: %s", s.name, request, reply)
	}
	return p
}

// paged returns the parameters of a page of a query.
func paged(query map[string]any, size int, forward bool, cursor string) map[string]any {
	params := maps.Clone(query)
	sizeName, cursorName := "first", "after"
	if !forward {
		sizeName, cursorName = "last", "before"
	}
	params[sizeName] = size
	if cursor != "" {
		params[cursorName] = cursor
	}
	return params
}

// decode decodes JSON and keeps numbers as they are.
func decode(t testing.TB, text []byte, into any) {
	t.Helper()
	d := json.NewDecoder(bytes.NewReader(text))
	d.UseNumber()
	if err := d.Decode(into); err != nil {
		t.Fatalf("%v: %s", err, text)
	}
}

func encode(t testing.TB, v any) []byte {
	t.Helper()
	text, err := json.Marshal(v)
	if err != nil {
		t.Fatal(err)
	}
	return text
}
