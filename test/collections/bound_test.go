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
