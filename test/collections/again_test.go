package collections_test

import (
	"context"
	"errors"
	"testing"

	"github.com/google/go-cmp/cmp"

	aql "github.com/aqltag/aqltag/runtime"
	"github.com/aqltag/aqltag/runtime/sqlquery"
	"github.com/aqltag/aqltag/test/collections/parts"
)

// again runs a handler once more if it fails.
func again(ctx context.Context, _ aql.Invocation, next aql.Next) (any, error) {
	if result, err := next(ctx); err == nil {
		return result, nil
	}
	return next(ctx)
}

// What a run of a handler took of a query is there again when an interceptor has the handler run again.
func TestTakenPartsAreThereAgain(t *testing.T) {
	table, err := sqlquery.New[parts.Part](sqlquery.SQLite, "parts", columnsOf(sqlquery.SQLite, sqlquery.JSON))
	if err != nil {
		t.Fatal(err)
	}
	take := map[string]func(q *aql.Query[parts.Part]){
		"Take":       func(q *aql.Query[parts.Part]) { q.Take("minutes") },
		"TakeSearch": func(q *aql.Query[parts.Part]) { q.TakeSearch() },
		"TakeSort":   func(q *aql.Query[parts.Part]) { q.TakeSort() },
		"all of it": func(q *aql.Query[parts.Part]) {
			q.Take("minutes")
			q.TakeSearch()
			q.TakeSort()
			if _, ok := q.TakePage(); !ok {
				t.Error("the page is not taken")
			}
		},
		"a table": func(q *aql.Query[parts.Part]) { table.Take(q) },
	}
	const params = `{"query":"part","filter":{"minutes":{"in":[1,2,4]}},"sort":{"field":"minutes","order":"desc"},"first":2}`
	store := manyParts(6)
	store.Parts[4].Title = "Other"
	s, _ := answerWith(t, store, func(ctx context.Context, q *aql.Query[parts.Part]) (*aql.Page[parts.Part], error) {
		return q.Slice(ctx, store.Parts)
	})
	want := []any{"p002", "p001"}
	if diff := cmp.Diff(want, identitiesOf(send(t, s, "search_taken", params))); diff != "" {
		t.Fatal(diff)
	}
	for what, took := range take {
		runs := 0
		store.Answer = func(ctx context.Context, q *aql.Query[parts.Part]) (*aql.Page[parts.Part], error) {
			if runs++; runs == 1 {
				took(q)
				return nil, errors.New("connection reset")
			}
			return q.Stream(ctx, streamed(store.Parts, nil))
		}
		s := adapterOf(t, store, aql.Options{Intercept: []aql.Interceptor{again}}).NewSession()
		answer := send(t, s, "search_taken", params)
		if diff := cmp.Diff(want, identitiesOf(answer)); diff != "" || runs != 2 {
			t.Errorf("%s: after %d runs (-want +got):\n%s\n%v", what, runs, diff, answer)
		}
	}
}

func identitiesOf(answer map[string]any) (all []any) {
	for _, item := range items(answer) {
		all = append(all, at(item, "part_id"))
	}
	return all
}
