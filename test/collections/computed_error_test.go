package collections_test

import (
	"context"
	"testing"

	aql "github.com/aqltag/aqltag/runtime"
	"github.com/aqltag/aqltag/test/collections/crates"
)

// An interceptor that goes on after an error of a computed field does not make an answer without that field.
func TestAnErrorOfAComputedFieldIsNoResultForInterceptors(t *testing.T) {
	for _, wrong := range []string{"failure", "length"} {
		for name, own := range map[string]bool{"its result": false, "a result of its own": true} {
			var got any
			swallow := func(ctx context.Context, _ aql.Invocation, next aql.Next) (any, error) {
				got, _ = next(context.WithValue(ctx, crates.Wrong{}, wrong))
				if own {
					return [][]*crates.Crate{{{PartID: "own", Minutes: 1}}}, nil
				}
				return got, nil
			}
			depot := &crates.Depot{Crates: []crates.Crate{{PartID: "a", Minutes: 4}}}
			session := crateAdapter(t, depot, aql.Options{Intercept: []aql.Interceptor{swallow}}).NewSession()
			answer := send(t, session, "list_shelves", `{"fields":["part_id","_computed.total"]}`)
			if got != nil {
				t.Errorf("%s: next returned %v beside an error", wrong, got)
			}
			var first any
			if shelves := items(answer); len(shelves) > 0 {
				first = shelves[0].([]any)[0]
			}
			if sum := at(first, "_computed", "total", "sum"); own != (sum == 2.0) || own != (answer["success"] == true) {
				t.Errorf("%s, %s: %v", wrong, name, answer)
			}
		}
	}
}
