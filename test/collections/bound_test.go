package collections_test

import (
	"fmt"
	"testing"

	aql "github.com/aqltag/aqltag/runtime"
)

// REQ-PG-06: a parameter of the author's says which elements there are, also if it is called as one of aql.Fields.
func TestCursorsAreBoundToAPresetOfTheAuthors(t *testing.T) {
	s := adapterOf(t, manyParts(9), aql.Options{}).NewSession()
	cursor := endCursor(send(t, s, "list_own", `{"first":2,"preset":"x"}`))
	next := func(preset string) map[string]any {
		return send(t, s, "list_own", fmt.Sprintf(`{"first":2,"preset":%q,"after":%q}`, preset, cursor))
	}
	if answer := next("x"); len(items(answer)) != 2 {
		t.Errorf("the next page: %v", answer)
	}
	if answer := next("y"); at(answer, "error") == nil {
		t.Errorf("the next page of another preset: %v", answer)
	}
}

// REQ-PG-06: where a parameter is given in params and beside them, under two names, cursors are bound to the value that
// the handler gets.
func TestCursorsAreBoundToTheValueThatWins(t *testing.T) {
	s := adapterOf(t, manyParts(9), aql.Options{}).NewSession()
	call := func(beside, params string) (answer map[string]any) {
		t.Helper()
		decoded(t, s.Call(t.Context(), "mcp_aql_read",
			fmt.Appendf(nil, `{"operation":"list_own",%s"params":{%s"first":2}}`, beside, params)).JSON, &answer)
		return answer
	}
	for _, tt := range []struct{ beside, inside string }{
		{`"how":"lost",`, `"manner":"won",`}, {`"manner":"lost",`, `"how":"won",`}, {`"how":"lost",`, `"how":"won",`},
	} {
		first := call(tt.beside, tt.inside)
		if len(items(first)) != 2 {
			t.Fatalf("the first page: %v", first)
		}
		after := fmt.Sprintf(`"after":%q,`, endCursor(first))
		for _, same := range []string{`"how":"won",`, `"manner":"won",`} {
			if answer := call("", after+same); len(items(answer)) != 2 {
				t.Errorf("%v, then %s: %v", tt, same, answer)
			}
		}
		if answer := call("", after+`"how":"lost",`); at(answer, "error") == nil {
			t.Errorf("%v, then the value that lost: %v", tt, answer)
		}
	}
}
