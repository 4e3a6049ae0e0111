package collections_test

import (
	"fmt"
	"strings"
	"testing"

	aql "github.com/aqltag/aqltag/runtime"
)

// alphabet is what cursors are written in, and what is near it.
const alphabet = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_+/=. \n\u212a"

// forgeries yields the texts that differ from a cursor in one character, that are a part of it, or that have more.
func forgeries(cursor string) func(yield func(string) bool) {
	return func(yield func(string) bool) {
		for i := range cursor {
			for _, c := range alphabet {
				if forged := cursor[:i] + string(c) + cursor[i+1:]; forged != cursor && !yield(forged) {
					return
				}
			}
			if !yield(cursor[:i]) || i > 0 && !yield(cursor[i:]) || !yield(cursor[:i]+cursor[i+1:]) {
				return
			}
		}
		for _, c := range alphabet {
			if !yield(cursor+string(c)) || !yield(string(c)+cursor) {
				return
			}
		}
		yield(cursor + cursor)
	}
}

// REQ-PG-06: of thousands of changes to a cursor none is taken, and every one is refused with the same bytes: they do
// not tell how near it was.
func TestForgedCursors(t *testing.T) {
	m := newMaker(t, 4)
	store := manyParts(0)
	store.Parts = m.parts(12)
	s := adapterOf(t, store, fixedKey).NewSession()
	call := func(name, cursor, order string) string {
		size := map[string]string{"after": "first", "before": "last"}[name]
		return string(s.Call(t.Context(), "mcp_aql_read", fmt.Appendf(nil,
			`{"operation":"list_slice","params":{%q:2,%q:%s%s}}`, size, name, encoded(t, cursor), order)).JSON)
	}
	n := 0
	for _, by := range []string{
		"title", "note", "grade", "minutes", "weight", "checked", "made_at", "sold_at", "address",
	} {
		order := fmt.Sprintf(`,"sort":{"field":%q}`, by)
		cursor := endCursor(send(t, s, "list_slice", `{"first":3`+order+`}`))
		for _, name := range []string{"after", "before"} {
			if reply := call(name, cursor, order); !strings.Contains(reply, `"items":[{`) {
				t.Fatalf("the cursor itself: %s", reply)
			}
			want := call(name, "x", order)
			for forged := range forgeries(cursor) {
				if reply := call(name, forged, order); reply != want {
					t.Fatalf("%s %q, made of %q: %s\nwant %s", name, forged, cursor, reply, want)
				}
				n++
			}
		}
	}
	t.Logf("%d forgeries", n)
}

// REQ-PG-06: a cursor of one query opens in no other: neither in another operation, filter or order, nor in an adapter
// with another key, even if both list the same. Each is refused like what was never a cursor.
func TestCursorsOfOtherQueries(t *testing.T) {
	store := manyParts(9)
	s := adapterOf(t, store, fixedKey).NewSession()
	other := adapterOf(t, store, aql.Options{StateKey: append(make([]byte, 31), 1)}).NewSession()
	type query struct{ operation, params, cursor string }
	var queries []query
	for _, filter := range []string{
		`{}`, `{"minutes":{"gte":0}}`, `{"minutes":{"gte":-1}}`, `{"minutes":{"gt":-1}}`, `{"minutes":{"ne":-1}}`,
		`{"small":{"gte":0}}`, `{"_not":{"minutes":{"lt":0}}}`, `{"_or":[{}]}`, `{"_or":[{},{}]}`, `{"title":"Part"}`,
		`{"title":{"gte":"Part"}}`, `{"title":{"starts":"part"}}`, `{"title":{"contains":"part"}}`,
	} {
		for _, order := range []string{
			`"part_id"`, `"part_id","order":"desc"`, `"lot"`, `"title"`, `"minutes"`, `"minutes","order":"desc"`, `"small"`,
		} {
			for _, operation := range []string{"list_slice", "list_pointers"} {
				q := query{operation: operation, params: `"filter":` + filter + `,"sort":{"field":` + order + `}`}
				q.cursor = endCursor(send(t, s, q.operation, `{"first":2,`+q.params+`}`))
				queries = append(queries, q)
			}
		}
	}
	call := func(s *aql.Session, operation, cursor, params string) string {
		return string(s.Call(t.Context(), "mcp_aql_read", fmt.Appendf(nil,
			`{"operation":%q,"params":{"first":2,"after":%q,%s}}`, operation, cursor, params)).JSON)
	}
	refused := call(s, "list_slice", "x", queries[0].params)
	for i, q := range queries {
		for k, of := range queries {
			if reply := call(s, q.operation, of.cursor, q.params); (reply == refused) == (i == k) {
				t.Fatalf("%s %s with a cursor of %s %s: %s", q.operation, q.params, of.operation, of.params, reply)
			}
		}
		if reply := call(other, q.operation, q.cursor, q.params); reply != refused {
			t.Fatalf("%s %s with another key: %s", q.operation, q.params, reply)
		}
	}
	t.Logf("%d queries", len(queries))
}
