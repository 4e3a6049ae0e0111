package databases

import (
	"testing"

	"github.com/google/go-cmp/cmp"
)

// REQ-AG-04: databases summarise the items that match as memory does, and all of them, beside a page too.
func TestSummariesAgree(t *testing.T) {
	for _, k := range kinds {
		t.Run(k.name, func(t *testing.T) {
			d, r := newDatabase(t, k), newRandom(t)
			kept := r.items(60)
			memory := inMemory(t)[0]
			memory.load(t, kept)
			d.load(t, kept)
			for range shortRounds {
				query := randomQuery(t, r)
				query["aggregate"] = map[string]any{
					"n": map[string]any{"count": true}, "all": map[string]any{"count": true, "min": "made_at", "max": "minutes"},
				}
				query["first"], query["include_items"] = 1+r.IntN(5), r.IntN(2) == 0
				request := encode(t, map[string]any{"operation": "list_items", "params": query})
				var answers []any
				for _, s := range []source{memory, d.source(t), d.partial(t, r, "some columns")} {
					var answer struct {
						Success bool
						Data    struct{ Aggregations map[string]any }
					}
					reply := s.session.Call(t.Context(), "mcp_aql_read", request).JSON
					if decode(t, reply, &answer); !answer.Success || len(answer.Data.Aggregations) != 2 {
						t.Fatalf("%s: %s is answered with %s", s.name, request, reply)
					}
					answers = append(answers, answer.Data.Aggregations)
				}
				for _, other := range answers[1:] {
					if diff := cmp.Diff(answers[0], other); diff != "" {
						t.Fatalf("%s (-memory +database):\n%s", request, diff)
					}
				}
			}
		})
	}
}
