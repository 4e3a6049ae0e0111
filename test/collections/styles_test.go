package collections_test

import (
	"context"
	"fmt"
	"maps"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	aql "github.com/aqltag/aqltag/runtime"
	"github.com/aqltag/aqltag/test/collections/parts"
)

// styledPage is an answer in one of the styles without cursors.
type styledPage struct {
	Data struct {
		Items      []element
		Pagination map[string]any
		PageInfo   any
	}
}

// places are where elements come from.
var places = []string{"slice", "pointers", "stream"}

// askStyled sends a request and returns the page that it answers.
func askStyled(t *testing.T, s *aql.Session, operation string, query, page map[string]any) styledPage {
	t.Helper()
	params := maps.Clone(query)
	maps.Copy(params, page)
	request := encoded(t, map[string]any{"operation": operation, "params": params})
	var answer struct {
		Success bool
		styledPage
	}
	reply := s.Call(t.Context(), "mcp_aql_read", request).JSON
	if decoded(t, reply, &answer); !answer.Success || answer.Data.PageInfo != nil {
		t.Fatalf("%s: %s", request, reply)
	}
	return answer.styledPage
}

// walkStyled walks all pages of a query in one of the styles without cursors, and returns what is on them.
func walkStyled(t *testing.T, s *aql.Session, operation string, query map[string]any, size, total int) []string {
	t.Helper()
	ids := []string{}
	for n := 0; ; n++ {
		page := map[string]any{"page": n + 1, "page_size": size}
		if operation == "list_offset" {
			page = map[string]any{"offset": n * size, "limit": size}
		}
		p := askStyled(t, s, operation, query, page)
		ids = append(ids, identities(p.Data.Items)...)
		more := len(ids) < total
		want := map[string]any{"total_items": number(total), "has_more": more}
		for name, value := range page {
			want[name] = number(value.(int))
		}
		if operation == "list_offset" {
			want["returned"] = number(len(p.Data.Items))
		} else {
			want["total_pages"] = number((total + size - 1) / size)
		}
		if diff := cmp.Diff(want, p.Data.Pagination); diff != "" {
			t.Fatalf("%s %s %s (-want +got):\n%s", operation, encoded(t, query), encoded(t, page), diff)
		}
		if !more {
			return ids
		}
	}
}

// REQ-PG-05, REQ-PG-09, REQ-PG-10: whatever a request asks, the pages by their numbers and those behind offsets hold
// one after the other what a walk by cursors finds, from a slice, from pointers and from an iterator.
func TestStyles(t *testing.T) {
	m := newMaker(t, 5)
	var store parts.Store
	s := newSession(t, &store)
	for round := range min(*rounds, 300) {
		if round%30 == 0 {
			store.Parts = m.parts(m.IntN(40))
		}
		query := map[string]any{"filter": m.filter(0)}
		if by := names[m.IntN(len(names))]; kinds[by] == elementKind(kinds[by]) {
			query["sort"] = map[string]any{"field": by, "order": []string{"asc", "desc"}[m.IntN(2)]}
		}
		size := 1 + m.IntN(10)
		total := ask(t, s, "list_slice", query).Data.PageInfo.TotalCount
		want := walk(t, s, "list_slice", query, size, total, true)
		for _, place := range places {
			query["from"] = place
			for _, operation := range []string{"list_numbered", "list_offset"} {
				if diff := cmp.Diff(want, walkStyled(t, s, operation, query, size, total)); diff != "" {
					t.Fatalf("round %d: %s %s by %d (-want +got):\n%s", round, operation, encoded(t, query), size, diff)
				}
			}
		}
	}
}

// REQ-PG-07, REQ-PG-08, REQ-PG-14: in every style a request without a size gets the usual one, one for more than there
// may be gets so many and a warning, and introspection says both numbers.
func TestSizesOfStyles(t *testing.T) {
	for _, tt := range []struct {
		options       aql.Collections
		standard, max int
	}{
		{aql.Collections{}, 25, 100},
		{aql.Collections{PageSize: 3, MaxPage: 5}, 3, 5},
		{aql.Collections{MaxPage: 1000}, 25, 1000},
	} {
		s := adapterOf(t, manyParts(1200), aql.Options{Collections: tt.options}).NewSession()
		for operation, size := range map[string]string{"list_numbered": "page_size", "list_offset": "limit"} {
			answer := send(t, s, operation, `{}`)
			if got := at(answer, "data", "pagination", size); len(items(answer)) != tt.standard || got != float64(tt.standard) {
				t.Errorf("%+v: a page of %s without a size has %d items, and says %v", tt.options, operation, len(items(answer)),
					got)
			}
			answer = send(t, s, operation, fmt.Sprintf(`{%q:1100}`, size))
			warnings, _ := at(answer, "warnings").([]any)
			if got := at(answer, "data", "pagination", size); len(items(answer)) != tt.max || got != float64(tt.max) ||
				len(warnings) != 1 || at(warnings[0], "code") != "VALIDATION_TRUNCATED_WARNING" {
				t.Errorf("%+v: %s with the %s 1100 has %d items, says %v, and warns with %v", tt.options, operation, size,
					len(items(answer)), got, warnings)
			}
			answer = send(t, s, operation, fmt.Sprintf(`{%q:1100,"filter":{"part_id":"p001"}}`, size))
			if len(items(answer)) != 1 || answer["warnings"] != nil {
				t.Errorf("%+v: a page that has all there is: %v", tt.options, answer)
			}
			details := string(s.Call(t.Context(), "mcp_aql_read",
				[]byte(`{"operation":"introspect","params":{"query":"operations","name":"`+operation+`"}}`)).JSON)
			want := fmt.Sprintf("%d if absent, %d at most", tt.standard, tt.max)
			if !strings.Contains(details, want) {
				t.Errorf("%+v: introspection does not say %q:\n%s", tt.options, want, details)
			}
		}
	}
}

// A page whose number counts pages of another size than the one that was asked for says so, even where it is not full.
func TestClampedPageNumber(t *testing.T) {
	s := adapterOf(t, manyParts(120), aql.Options{}).NewSession()
	answer := send(t, s, "list_numbered", `{"page":2,"page_size":110}`)
	warnings, _ := at(answer, "warnings").([]any)
	if len(items(answer)) != 20 || len(warnings) != 1 {
		t.Errorf("the second page of 110, where 100 is the most: %d items and the warnings %v", len(items(answer)), warnings)
	}
}

// REQ-CQ-07, REQ-PG-11: an operation has the parameters of one style, and refuses those of the others.
func TestStylesAreNotMixed(t *testing.T) {
	s := adapterOf(t, manyParts(3), aql.Options{}).NewSession()
	styles := map[string][]string{
		"list_slice": {"first", "after", "last", "before"}, "list_numbered": {"page", "page_size"},
		"list_offset": {"limit", "offset"},
	}
	for operation := range styles {
		for other, names := range styles {
			for _, name := range names {
				answer := send(t, s, operation, fmt.Sprintf(`{%q:1}`, name))
				if code := at(answer, "error", "code"); other != operation && code != "VALIDATION_UNKNOWN_PARAM" {
					t.Errorf("%s with %s: %v", operation, name, answer)
				}
			}
		}
	}
}

// A number or an offset may be as large as an integer is: no product and no sum overflows.
func TestFarPages(t *testing.T) {
	const most = 1<<63 - 1
	s := adapterOf(t, manyParts(30), aql.Options{}).NewSession()
	for _, place := range places {
		for _, tt := range []struct {
			operation string
			page      map[string]any
			items     int
			more      bool
		}{
			{"list_numbered", map[string]any{"page": 3, "page_size": 10}, 10, false},
			{"list_numbered", map[string]any{"page": 4, "page_size": 10}, 0, false},
			{"list_numbered", map[string]any{"page": most, "page_size": 1}, 0, false},
			{"list_numbered", map[string]any{"page": most, "page_size": 100}, 0, false},
			{"list_numbered", map[string]any{"page": most/100 + 2, "page_size": 100}, 0, false},
			{"list_offset", map[string]any{"offset": 29, "limit": 100}, 1, false},
			{"list_offset", map[string]any{"offset": 29, "limit": 0}, 0, true},
			{"list_offset", map[string]any{"offset": 30, "limit": 0}, 0, false},
			{"list_offset", map[string]any{"offset": most, "limit": 0}, 0, false},
			{"list_offset", map[string]any{"offset": most, "limit": 100}, 0, false},
			{"list_offset", map[string]any{"offset": most - 100, "limit": 100}, 0, false},
		} {
			p := askStyled(t, s, tt.operation, map[string]any{"from": place}, tt.page)
			if len(p.Data.Items) != tt.items || p.Data.Pagination["has_more"] != tt.more {
				t.Errorf("%s %s from a %s has %d items, has_more %v", tt.operation, encoded(t, tt.page), place, len(p.Data.Items),
					p.Data.Pagination["has_more"])
			}
		}
	}
}

// An iterator keeps no more elements in front of a page than the options say, and refuses a page that needs more.
func TestSkippedOfStream(t *testing.T) {
	s := adapterOf(t, manyParts(50), aql.Options{Collections: aql.Collections{MaxSkipped: 20}}).NewSession()
	for _, tt := range []struct {
		offset, items int
		from, filter  string
		code          any
	}{
		{20, 5, "stream", `{}`, nil},
		{21, 0, "stream", `{}`, "VALIDATION_PAYLOAD_TOO_LARGE"},
		{21, 5, "slice", `{}`, nil},
		{21, 0, "stream", `{"minutes":0}`, nil},
		{50, 0, "stream", `{}`, nil},
	} {
		answer := send(t, s, "list_offset",
			fmt.Sprintf(`{"limit":5,"offset":%d,"from":%q,"filter":%s}`, tt.offset, tt.from, tt.filter))
		if code := at(answer, "error", "code"); code != tt.code || len(items(answer)) != tt.items {
			t.Errorf("offset %d from a %s: %v", tt.offset, tt.from, answer)
		}
	}
	registry := parts.NewRegistry(&parts.Store{}, &parts.Tasks{})
	if _, err := aql.New(registry, aql.Options{Collections: aql.Collections{MaxSkipped: -1}}); err == nil {
		t.Error("-1 elements may be skipped")
	}
}

// What selects fields applies to the items of each style, and to nothing around them.
func TestSelectionInStyles(t *testing.T) {
	s := adapterOf(t, manyParts(2), aql.Options{}).NewSession()
	for _, operation := range []string{"list_numbered", "list_offset"} {
		answer := send(t, s, operation, `{"fields":["lot"]}`)
		want := []any{map[string]any{"lot": 0.0}, map[string]any{"lot": 0.0}}
		if diff := cmp.Diff(want, items(answer)); diff != "" || at(answer, "data", "pagination") == nil {
			t.Errorf("%s (-want +got):\n%s\n%v", operation, diff, answer)
		}
	}
}

// REQ-PG-12: what is left of a page by its number or an offset after parts of the query were taken is the query's, and
// a total that nobody has counted is left out.
func TestTakenStyles(t *testing.T) {
	store := manyParts(50)
	inOrder := func(ctx context.Context, q *aql.Query[parts.Part]) (*aql.Page[parts.Part], error) {
		if _, ok := q.TakeSort("part_id"); !ok {
			t.Error("the order is not taken")
		}
		return q.Stream(ctx, streamed(store.Parts, nil))
	}
	fetched := func(total int) func(context.Context, *aql.Query[parts.Part]) (*aql.Page[parts.Part], error) {
		return func(_ context.Context, q *aql.Query[parts.Part]) (*aql.Page[parts.Part], error) {
			q.TakeSort()
			w, ok := q.TakePage()
			if !ok {
				t.Error("the page is not taken")
			}
			from := min(w.Offset, len(store.Parts))
			return q.Page(store.Parts[from:min(from+w.Limit, len(store.Parts))], total)
		}
	}
	for _, tt := range []struct {
		what      string
		answer    func(context.Context, *aql.Query[parts.Part]) (*aql.Page[parts.Part], error)
		operation string
		params    string
		first     any
		around    map[string]any
	}{
		{"in order", inOrder, "list_numbered", `{"page":3,"page_size":10}`, "p020",
			map[string]any{"page": 3.0, "page_size": 10.0, "has_more": true}},
		{"in order, to the end", inOrder, "list_numbered", `{"page":5,"page_size":10}`, "p040",
			map[string]any{"page": 5.0, "page_size": 10.0, "total_items": 50.0, "total_pages": 5.0, "has_more": false}},
		{"in order, filtered", inOrder, "list_offset", `{"offset":2,"limit":2,"filter":{"minutes":3}}`, "p017",
			map[string]any{"limit": 2.0, "offset": 2.0, "returned": 2.0, "has_more": true}},
		{"in order, behind the end", inOrder, "list_offset", `{"offset":50,"limit":2}`, nil,
			map[string]any{"limit": 2.0, "offset": 50.0, "returned": 0.0, "total_items": 50.0, "has_more": false}},
		{"fetched", fetched(-1), "list_offset", `{"offset":45,"limit":4}`, "p045",
			map[string]any{"limit": 4.0, "offset": 45.0, "returned": 4.0, "has_more": true}},
		{"fetched and counted", fetched(50), "list_numbered", `{"page":7,"page_size":8}`, "p048",
			map[string]any{"page": 7.0, "page_size": 8.0, "total_items": 50.0, "total_pages": 7.0, "has_more": false}},
	} {
		store.Answer = tt.answer
		s := adapterOf(t, store, aql.Options{Collections: aql.Collections{MaxSkipped: 1}}).NewSession()
		params := strings.TrimSuffix(tt.params, "}") + `,"from":"taken"}`
		answer := send(t, s, tt.operation, params)
		var first any
		if all := items(answer); len(all) > 0 {
			first = at(all[0], "part_id")
		}
		if diff := cmp.Diff(tt.around, at(answer, "data", "pagination")); diff != "" || first != tt.first {
			t.Errorf("%s: %s begins with %v (-want +got):\n%s\n%v", tt.what, tt.params, first, diff, answer)
		}
	}
}

// REQ-WA-06: a page that is smaller than what was asked for says how many elements match. Where nobody has counted
// them, it says nothing of that: what was asked for is no count.
func TestTruncatedPagesSayWhatThereIs(t *testing.T) {
	store := manyParts(240)
	store.Answer = func(ctx context.Context, q *aql.Query[parts.Part]) (*aql.Page[parts.Part], error) {
		q.TakeSort("part_id")
		return q.Stream(ctx, streamed(store.Parts, nil))
	}
	s := adapterOf(t, store, aql.Options{}).NewSession()
	for _, tt := range []struct {
		operation, params, severity string
		there                       any
	}{
		{"list_slice", `{"first":500}`, "medium", 240.0},
		{"list_slice", `{"last":500}`, "medium", 240.0},
		{"list_slice", `{"first":500,"filter":{"part_id":{"lt":"p150"}}}`, "low", 150.0},
		{"list_numbered", `{"page":2,"page_size":500}`, "medium", 240.0},
		{"list_offset", `{"limit":500,"from":"taken"}`, "medium", nil},
	} {
		details := map[string]any{"field": "items", "limit": 100.0, "truncated_count": 100.0}
		if tt.there != nil {
			details["original_count"] = tt.there
		}
		want := []any{map[string]any{
			"code": "VALIDATION_TRUNCATED_WARNING", "message": "Response truncated to 100 items", "details": details,
			"severity": tt.severity,
		}}
		if diff := cmp.Diff(any(want), send(t, s, tt.operation, tt.params)["warnings"]); diff != "" {
			t.Errorf("%s %s (-want +got):\n%s", tt.operation, tt.params, diff)
		}
	}
}
