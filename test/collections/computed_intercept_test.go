package collections_test

import (
	"context"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"

	aql "github.com/aqltag/aqltag/runtime"
	"github.com/aqltag/aqltag/test/collections/crates"
)

// What an interceptor changes in the result, without making another one, is computed again.
func TestComputedFieldsAreThoseOfAResultThatIsChangedInPlace(t *testing.T) {
	change := func(ctx context.Context, _ aql.Invocation, next aql.Next) (any, error) {
		result, err := next(ctx)
		switch result := result.(type) {
		case *aql.Page[crates.Crate]:
			slices.Reverse(result.Items)
		case [][]*crates.Crate:
			for _, shelf := range result {
				shelf[0].Title += "!"
			}
		case crates.Crate:
			result.Title = "other"
			return result, err
		}
		return result, err
	}
	for operation, want := range map[string][]string{
		"list_crates": {"B B", "A A"}, "list_shelves": {"A! A!", "B! B!"}, "get_crate": {"other other"},
	} {
		depot := &crates.Depot{Crates: []crates.Crate{{PartID: "a", Title: "A"}, {PartID: "b", Title: "B"}}}
		session := crateAdapter(t, depot, aql.Options{Intercept: []aql.Interceptor{change}}).NewSession()
		params := `{"fields":["title","_computed.same_title"]}`
		if operation == "get_crate" {
			params = `{"at":0,"fields":["title","_computed.same_title"]}`
		}
		answer := send(t, session, operation, params)
		list := items(answer)
		if operation == "get_crate" {
			list = []any{at(answer, "data")}
		}
		var got []string
		for _, item := range list {
			if shelf, is := item.([]any); is {
				item = shelf[0]
			}
			title, _ := at(item, "title").(string)
			same, _ := at(item, "_computed", "same_title").(string)
			got = append(got, title+" "+same)
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("%s (-want +got):\n%s\n%v", operation, diff, answer)
		}
	}
}
