package collections_test

import (
	"fmt"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/aqltag/aqltag/runtime/gen"
	"github.com/aqltag/aqltag/test/collections/parts"
)

// REQ-CQ-01, REQ-CQ-02, REQ-CQ-04: a search finds what has one of the words in one of the texts, or a phrase in
// quotation marks.
func TestSearch(t *testing.T) {
	store := &parts.Store{}
	for i, text := range []string{"Red apple", "green Pear", "apple pie with pear", "plum"} {
		store.Parts = append(store.Parts, parts.Part{PartID: fmt.Sprint("p", i), Title: text, Tags: []string{text, "fruit"}})
	}
	store.Parts[3].Tags = []string{"an APPLE a day"}
	s := newSession(t, store)
	for _, tt := range []struct {
		query string
		want  []string
	}{
		{"", []string{"p0/0", "p1/0", "p2/0", "p3/0"}},
		{"apple", []string{"p0/0", "p2/0", "p3/0"}},
		{"PEAR plum", []string{"p1/0", "p2/0", "p3/0"}},
		{`"apple pie"`, []string{"p2/0"}},
		{`"apple pie" green`, []string{"p1/0", "p2/0"}},
		{`"with`, []string{"p2/0"}},
		{"fruit", []string{"p0/0", "p1/0", "p2/0"}},
		{"nothing", []string{}},
	} {
		p := ask(t, s, "search_parts", map[string]any{"query": tt.query})
		if diff := cmp.Diff(tt.want, identities(p.Data.Items)); diff != "" {
			t.Errorf("%s (-want +got):\n%s", tt.query, diff)
		}
	}
	p := ask(t, s, "search_parts", map[string]any{"query": "apple", "filter": map[string]any{"part_id": "p2"}, "first": 1})
	if len(p.Data.Items) != 1 || p.Data.PageInfo.TotalCount != 1 {
		t.Errorf("a search with a filter finds %+v", p.Data)
	}
	other := send(t, s, "search_parts", fmt.Sprintf(`{"query":"plum","filter":{"part_id":"p2"},"first":1,"after":%q}`,
		p.Data.PageInfo.EndCursor))
	if diff := cmp.Diff(refusal("after"), at(other, "error")); diff != "" {
		t.Errorf("the cursor of another search (-want +got):\n%s", diff)
	}
	many := ""
	for i := range gen.MaxSearchWords + 1 {
		many += fmt.Sprint(" ", i)
	}
	refused := send(t, s, "search_parts", fmt.Sprintf(`{"query":%q}`, many))
	if code := at(refused, "error", "code"); code != "VALIDATION_OUT_OF_RANGE" {
		t.Errorf("a query of 21 words: %v", code)
	}
	if code := at(send(t, s, "list_slice", `{"query":"apple"}`), "error", "code"); code != "VALIDATION_UNKNOWN_PARAM" {
		t.Errorf("a list has no query: %v", code)
	}
}
