package collections_test

import (
	"bytes"
	"context"
	"fmt"
	"log/slog"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	aql "github.com/aqltag/aqltag/runtime"
	"github.com/aqltag/aqltag/runtime/policy/policyfile"
	"github.com/aqltag/aqltag/test/collections/parts"
)

// answerWith makes the operations that take parts answer so, and returns a session with them and their log.
func answerWith(
	t *testing.T, s *parts.Store, answer func(context.Context, *aql.Query[parts.Part]) (*aql.Page[parts.Part], error),
) (*aql.Session, *bytes.Buffer) {
	t.Helper()
	var log bytes.Buffer
	s.Answer = answer
	return adapterOf(t, s, aql.Options{Logger: slog.New(slog.NewTextHandler(&log, nil))}).NewSession(), &log
}

func asked(field string, op aql.Op, value any) aql.Condition {
	return aql.Condition{Field: field, Op: op, Value: value}
}

// Take returns the conditions that it removes, with values of Go; it removes nothing that it does not return.
func TestTake(t *testing.T) {
	for _, tt := range []struct {
		what, filter, field string
		ops                 []aql.Op
		want                []aql.Condition
	}{
		{"a value", `{"title":"a"}`, "title", []aql.Op{aql.OpEq}, []aql.Condition{asked("title", aql.OpEq, "a")}},
		{"any operator", `{"minutes":{"gte":2}}`, "minutes", nil, []aql.Condition{asked("minutes", aql.OpGte, int64(2))}},
		{"two conditions", `{"minutes":{"lt":9,"gte":2}}`, "minutes", []aql.Op{aql.OpGte, aql.OpLt},
			[]aql.Condition{asked("minutes", aql.OpGte, int64(2)), asked("minutes", aql.OpLt, int64(9))}},
		{"another operator", `{"minutes":{"lt":9,"gte":2}}`, "minutes", []aql.Op{aql.OpGte}, nil},
		{"no such operator", `{"minutes":1}`, "minutes", []aql.Op{"like"}, nil},
		{"another field", `{"title":"a"}`, "minutes", nil, nil},
		{"no filter", `{}`, "title", nil, nil},
		{"inside _or", `{"title":"a","_or":[{"title":"b"},{"minutes":1}]}`, "title", nil, nil},
		{"inside _not", `{"title":"a","_not":{"_or":[{"title":"b"}]}}`, "title", nil, nil},
		{"beside another's _not", `{"title":"a","_not":{"minutes":1}}`, "title", nil,
			[]aql.Condition{asked("title", aql.OpEq, "a")}},
		{"several values", `{"lot":{"in":[1,2]}}`, "lot", nil,
			[]aql.Condition{asked("lot", aql.OpIn, []any{int64(1), int64(2)})}},
		{"natural numbers", `{"serial":{"in":[1,18446744073709551615]}}`, "serial", nil,
			[]aql.Condition{asked("serial", aql.OpIn, []any{int64(1), uint64(1<<64 - 1)})}},
		{"a number below those of its field", `{"small":{"gt":-1}}`, "small", nil,
			[]aql.Condition{asked("small", aql.OpGt, int64(-1))}},
		{"a boolean", `{"checked":true}`, "checked", nil, []aql.Condition{asked("checked", aql.OpEq, true)}},
		{"a missing value", `{"note":{"null":true}}`, "note", nil, []aql.Condition{asked("note", aql.OpNull, true)}},
		{"an element", `{"tags":"A"}`, "tags", nil, []aql.Condition{asked("tags", aql.OpContains, "A")}},
		{"a part of a text", `{"title":{"contains":"MÄ"}}`, "title", nil,
			[]aql.Condition{asked("title", aql.OpContains, "mÄ")}},
		{"a path", `{"maker.name":"a"}`, "maker.name", nil, []aql.Condition{asked("maker.name", aql.OpEq, "a")}},
	} {
		s, _ := answerWith(t, manyParts(1), func(
			ctx context.Context, q *aql.Query[parts.Part],
		) (*aql.Page[parts.Part], error) {
			got, ok := q.Take(tt.field, tt.ops...)
			if diff := cmp.Diff(tt.want, got); diff != "" || ok != (tt.want != nil) {
				t.Errorf("%s: ok is %v (-want +got):\n%s", tt.what, ok, diff)
			}
			if again, ok := q.Take(tt.field, tt.ops...); ok {
				t.Errorf("%s: taken again: %v", tt.what, again)
			}
			return q.Slice(ctx, nil)
		})
		if answer := send(t, s, "list_taken", `{"filter":`+tt.filter+`}`); answer["success"] != true {
			t.Errorf("%s: %v", tt.what, answer)
		}
	}
}

// REQ-PG-05: a stream that comes in the order of the query ends one element behind the page, also behind a cursor.
func TestStreamInOrder(t *testing.T) {
	store := manyParts(300)
	read := 0
	s, log := answerWith(t, store, func(
		ctx context.Context, q *aql.Query[parts.Part],
	) (*aql.Page[parts.Part], error) {
		if order, ok := q.TakeSort("minutes"); ok {
			t.Errorf("an order by the identifier is taken for one by minutes: %v", order)
		}
		order, ok := q.TakeSort("part_id")
		if !ok || order[0].Field != "part_id" {
			return q.Stream(ctx, streamed(store.Parts, nil))
		}
		all := slices.Clone(store.Parts)
		if order[0].Descending {
			slices.Reverse(all)
		}
		return q.Stream(ctx, streamed(all, &read))
	})
	cursor := ""
	for _, tt := range []struct {
		what, params string
		first        string
		read         int
	}{
		{"the first page", `{"first":10}`, "p000", 11},
		{"the page behind it", `{"first":10,"after":%q}`, "p010", 21},
		{"nothing", `{"first":0}`, "", 1},
		{"the page in front of a cursor", `{"last":3,"before":%q}`, "p016", 20},
		{"the last page", `{"last":3}`, "p297", 300},
		{"what matches", `{"first":2,"filter":{"minutes":6}}`, "p006", 21},
		{"the other direction", `{"first":10,"sort":{"field":"part_id","order":"desc"}}`, "p299", 11},
	} {
		read = 0
		params := tt.params
		if strings.Contains(params, "%q") {
			params = fmt.Sprintf(params, cursor)
		}
		answer := send(t, s, "list_taken", params)
		if answer["success"] != true {
			t.Errorf("%s: %v\n%s", tt.what, answer, log)
			continue
		}
		if all := items(answer); tt.first != "" && at(all[0], "part_id") != tt.first {
			t.Errorf("%s begins with %v, want %s", tt.what, at(all[0], "part_id"), tt.first)
		} else if tt.first != "" {
			cursor = endCursor(answer)
		}
		if read != tt.read {
			t.Errorf("%s: %d elements are read, want %d", tt.what, read, tt.read)
		}
		if total := at(answer, "data", "pageInfo", "totalCount"); (total == nil) == (read == 300) {
			t.Errorf("%s: %d elements are read, and the total is %v", tt.what, read, total)
		}
	}
}

// A part of a query that nobody applied does not reach an answer, and the author's log says which it was.
func TestPartsThatNobodyApplied(t *testing.T) {
	store := manyParts(9)
	for _, tt := range []struct {
		what, operation, params string
		answer                  func(context.Context, *aql.Query[parts.Part]) (*aql.Page[parts.Part], error)
		log                     string
	}{
		{"a page of nothing taken", "list_taken", `{"filter":{"minutes":1,"_not":{"title":"a","lot":1}}}`,
			func(ctx context.Context, q *aql.Query[parts.Part]) (*aql.Page[parts.Part], error) {
				return q.Page(store.Parts, -1)
			}, "conditions on minutes, lot, title; the order; the page"},
		{"a page with a condition left", "list_taken", `{"filter":{"minutes":1,"lot":1}}`,
			func(ctx context.Context, q *aql.Query[parts.Part]) (*aql.Page[parts.Part], error) {
				q.Take("lot")
				q.TakeSort()
				if w, ok := q.TakePage(); ok {
					t.Errorf("a page is taken in front of its conditions: %v", w)
				}
				return q.Page(store.Parts, -1)
			}, "conditions on minutes; the page"},
		{"a page without its order", "list_taken", `{}`,
			func(ctx context.Context, q *aql.Query[parts.Part]) (*aql.Page[parts.Part], error) {
				q.TakePage()
				return q.Page(store.Parts, -1)
			}, "the order; the page"},
		{"a page with its search left", "search_taken", `{"query":"part"}`,
			func(ctx context.Context, q *aql.Query[parts.Part]) (*aql.Page[parts.Part], error) {
				q.TakeSort()
				q.TakePage()
				return q.Page(store.Parts, -1)
			}, "the search; the page"},
		{"a stream in another order", "list_taken", `{}`,
			func(ctx context.Context, q *aql.Query[parts.Part]) (*aql.Page[parts.Part], error) {
				q.TakeSort()
				all := slices.Clone(store.Parts)
				slices.Reverse(all)
				return q.Stream(ctx, streamed(all, nil))
			}, "not in the order that TakeSort returned"},
	} {
		s, log := answerWith(t, store, tt.answer)
		answer := send(t, s, tt.operation, tt.params)
		if code := at(answer, "error", "code"); code != "INTERNAL_ERROR" {
			t.Errorf("%s: %v", tt.what, answer)
		}
		if !strings.Contains(log.String(), tt.log) {
			t.Errorf("%s: the log lacks %q:\n%s", tt.what, tt.log, log)
		}
		if text := string(encoded(t, answer)); strings.Contains(text, "minutes") || strings.Contains(text, "order") {
			t.Errorf("%s: the agent is told: %s", tt.what, text)
		}
	}
}

// REQ-CQ-02: a search is taken as its words, unless the caller must not know what one of the fields contains.
func TestTakeSearch(t *testing.T) {
	rules, err := policyfile.Parse("policy.yaml", []byte("version: 1\nrules:\n"+
		"  - {name: x, hide: [Part.title], not: {callers: [ann]}}\n"))
	if err != nil {
		t.Fatal(err)
	}
	store := manyParts(5)
	var words []string
	var ok bool
	store.Answer = func(ctx context.Context, q *aql.Query[parts.Part]) (*aql.Page[parts.Part], error) {
		words, ok = q.TakeSearch()
		return q.Slice(ctx, store.Parts)
	}
	s := adapterOf(t, store, aql.Options{Policy: rules}).NewSession()
	for _, tt := range []struct {
		caller, operation, params string
		words                     []string
		found                     int
	}{
		{"ann", "search_taken", `{"query":"No \"Such Thing\""}`, []string{"no", "such thing"}, 5},
		{"ann", "search_taken", `{"query":" "}`, nil, 5},
		{"ann", "list_taken", `{}`, nil, 5},
		{"ann", "list_taken", `{"filter":{"_or":[{"title":{"contains":"no"}}]}}`, nil, 0},
		{"bob", "search_taken", `{"query":"part"}`, nil, 0},
	} {
		ctx := aql.WithCaller(t.Context(), aql.Caller{Subject: tt.caller})
		var answer map[string]any
		decoded(t, s.Call(ctx, "mcp_aql_read",
			[]byte(`{"operation":"`+tt.operation+`","params":`+tt.params+`}`)).JSON, &answer)
		if diff := cmp.Diff(tt.words, words); diff != "" || ok != (words != nil) || len(items(answer)) != tt.found {
			t.Errorf("%s: %s: ok is %v, %v (-want +got):\n%s", tt.caller, tt.params, ok, answer, diff)
		}
	}
}

// A query that no request brought has nothing to take, and no answer.
func TestTakeOfNoRequest(t *testing.T) {
	var q aql.Query[parts.Part]
	_, conditions := q.Take("title")
	_, order := q.TakeSort()
	_, words := q.TakeSearch()
	_, window := q.TakePage()
	if conditions || order || words || window {
		t.Error("something of a query is taken that no request brought")
	}
	if _, err := q.Page(nil, 0); err == nil {
		t.Error("a query that no request brought has a page")
	}
}

// The log says so, too, where a caller may know none of the fields that are looked into.
func TestASearchOfHiddenFieldsThatNobodyApplied(t *testing.T) {
	rules, err := policyfile.Parse("policy.yaml", []byte("version: 1\nrules:\n"+
		"  - {name: x, hide: [Part.title, Part.tags], not: {callers: [ann]}}\n"))
	if err != nil {
		t.Fatal(err)
	}
	store := manyParts(5)
	store.Answer = func(_ context.Context, q *aql.Query[parts.Part]) (*aql.Page[parts.Part], error) {
		q.TakeSort()
		if words, ok := q.TakeSearch(); ok {
			t.Errorf("%q is taken", words)
		}
		return q.Page(store.Parts, -1)
	}
	var log bytes.Buffer
	s := adapterOf(t, store, aql.Options{Policy: rules, Logger: slog.New(slog.NewTextHandler(&log, nil))}).NewSession()
	answer := send(t, s, "search_taken", `{"query":"part"}`)
	if at(answer, "error", "code") != "INTERNAL_ERROR" || !strings.Contains(log.String(), "applied the search; the page") {
		t.Errorf("%v\n%s", answer, &log)
	}
}
