package aql

import (
	"strings"
	"testing"
)

// What is suggested in place of a name that is none is what was probably meant, and nothing where that is unknown.
func TestLikely(t *testing.T) {
	paged := []string{"execution_id", "wait_ms", "first", "after", "list_id", "list_name"}
	for name, want := range map[string]string{
		"limit": "first", "page_size": "first", "page": "after", "cursor": "after", "wait": "wait_ms",
		"execution":  "execution_id",
		"parameters": "", "id": "", "name": "list_name",
	} {
		if got := likely(name, paged); got != want {
			t.Errorf("%q stands for %q, want %q", name, got, want)
		}
	}
	if got := likely("id", paged[:4]); got != "execution_id" {
		t.Errorf("the only id is not suggested, but %q", got)
	}
	valid := []string{"title", "status", "metadata.color", "_computed.age", "_or", "_not"}
	for name, want := range map[string]string{
		"titel": "title", "Status": "status", "age": "_computed.age", "color": "metadata.color",
		"metadata": "metadata.color", "items.title": "title", "metadata.colour": "metadata.color",
		"or": "_or", "$or": "_or", "NOT": "_not", "notes": "", "org": "", "": "", ".": "", "due": "",
	} {
		if got := likely(name, valid); got != want {
			t.Errorf("%q stands for %q, want %q", name, got, want)
		}
	}
}

// Parameters under another name than params are suggested to be in params, unless the request has those.
func TestSuggestionOfParams(t *testing.T) {
	o := &operation{params: []string{"title"}}
	for name, want := range map[string]string{"parameters": "params", "arguments": "params", "param": "params"} {
		v := &invalid{operation: o, unknown: []string{name}, unwrapped: true}
		if got := asJSON(failure("X", "", v.suggestions()...)); !strings.Contains(got, `"`+name+`":"`+want+`"`) {
			t.Errorf("%s: %s", name, got)
		}
		if v.unwrapped = false; v.suggestions() != nil {
			t.Errorf("%s within params: %v", name, v.suggestions())
		}
	}
}
