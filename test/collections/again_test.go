package collections_test

import (
	"context"
	"errors"
	"strings"
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
	const params = `{"query":"part","filter":{"minutes":{"in":[1,2,4]}},` +
		`"sort":{"field":"minutes","order":"desc"},"first":2}`
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

// fallbacks answer from memory what a database could not.
var fallbacks = map[string]func(
	ctx context.Context, q *aql.Query[parts.Part], all []parts.Part,
) (*aql.Page[parts.Part], error){
	"Slice": func(ctx context.Context, q *aql.Query[parts.Part], all []parts.Part) (*aql.Page[parts.Part], error) {
		return q.Slice(ctx, all)
	},
	"Pointers": func(ctx context.Context, q *aql.Query[parts.Part], all []parts.Part) (*aql.Page[parts.Part], error) {
		places := make([]*parts.Part, len(all))
		for i := range all {
			places[i] = &all[i]
		}
		return q.Pointers(ctx, places)
	},
	"Stream": func(ctx context.Context, q *aql.Query[parts.Part], all []parts.Part) (*aql.Page[parts.Part], error) {
		return q.Stream(ctx, streamed(all, nil))
	},
}

// failing are the ways in which a table may take a query without an answer.
var failing = map[string]func(ctx context.Context, db sqlquery.Querier, q *aql.Query[parts.Part], t *partsTable) error{
	"Query": func(ctx context.Context, db sqlquery.Querier, q *aql.Query[parts.Part], t *partsTable) error {
		_, err := sqlquery.Query(ctx, db, t.Take(q), nil)
		return err
	},
	"no statement": func(_ context.Context, _ sqlquery.Querier, q *aql.Query[parts.Part], t *partsTable) error {
		t.Take(q)
		return errDown
	},
	"a row in the middle": func(ctx context.Context, _ sqlquery.Querier, q *aql.Query[parts.Part], t *partsTable) error {
		t.Take(q).SQL("*")
		_, err := q.Stream(ctx, func(yield func(parts.Part, error) bool) { yield(parts.Part{}, errDown) })
		return err
	},
}

type partsTable = sqlquery.Table[parts.Part]

var errDown = errors.New("down")

// A handler whose database fails answers with the same pages from memory, though the database had taken the query.
func TestMemoryAnswersWhereADatabaseFails(t *testing.T) {
	r := &recorder{refuse: func(string) error { return errDown }}
	db := opened(t, r)
	table, err := sqlquery.New[parts.Part](sqlquery.SQLite, "parts", columnsOf(sqlquery.SQLite, sqlquery.JSON))
	if err != nil {
		t.Fatal(err)
	}
	store := manyParts(30)
	for _, tt := range []struct{ operation, params string }{
		{"list_taken", `{"filter":{"minutes":3,"reserve":{"null":true}},"sort":{"field":"part_id","order":"desc"}}`},
		{"search_taken", `{"query":"part","filter":{"minutes":{"gte":3}},"sort":{"field":"minutes"}}`},
		{"list_offset", `{"filter":{"minutes":{"in":[1,3]}},"offset":3,"limit":3,"from":"taken"}`},
		{"list_taken", `{"filter":{"minutes":3},"aggregate":{"a":{"count":true}}}`},
	} {
		var params map[string]any
		decoded(t, []byte(tt.params), &params)
		answer := func(fail func(ctx context.Context, q *aql.Query[parts.Part]), from string) (answers []any) {
			store.Answer = func(ctx context.Context, q *aql.Query[parts.Part]) (*aql.Page[parts.Part], error) {
				fail(ctx, q)
				return fallbacks[from](ctx, q, store.Parts)
			}
			s := adapterOf(t, store, aql.Options{StateKey: make([]byte, 32)}).NewSession()
			first := send(t, s, tt.operation, string(encoded(t, params)))
			answers = append(answers, identitiesOf(first), at(first, "data", "aggregations"), at(first, "error"))
			if tt.operation != "list_offset" && params["aggregate"] == nil {
				params["first"], params["after"] = 2, endCursor(send(t, s, tt.operation, string(encoded(t, params))))
				second := send(t, s, tt.operation, string(encoded(t, params)))
				answers = append(answers, identitiesOf(second), at(second, "data", "pageInfo", "totalCount"))
				delete(params, "after")
				delete(params, "first")
			}
			return answers
		}
		want := answer(func(context.Context, *aql.Query[parts.Part]) {}, "Slice")
		for from := range fallbacks {
			for how, fail := range failing {
				got := answer(func(ctx context.Context, q *aql.Query[parts.Part]) {
					if err := fail(ctx, db, q, table); err == nil {
						t.Errorf("%s: the database answers", how)
					}
				}, from)
				if diff := cmp.Diff(want, got); diff != "" {
					t.Errorf("%s, %s from %s (-want +got):\n%s", tt.params, how, from, diff)
				}
			}
		}
	}
}

// What a handler took itself stays its own to apply, before and after a table took of the query, and also where the
// database fails: it may know other elements that match than the query does.
func TestOwnConditionsAreNotAppliedAgain(t *testing.T) {
	db := opened(t, &recorder{refuse: func(string) error { return errDown }})
	table, err := sqlquery.New[parts.Part](sqlquery.SQLite, "parts", columnsOf(sqlquery.SQLite, sqlquery.JSON))
	if err != nil {
		t.Fatal(err)
	}
	store := manyParts(12)
	const filter = `"filter":{"minutes":{"gte":2},"lot":99,"reserve":{"null":true}},"sort":{"field":"part_id"},"first":3`
	mustTake := func(ok bool) {
		if !ok {
			t.Error("nothing is taken")
		}
	}
	for _, tt := range []struct {
		what, operation, params string
		before, after           func(q *aql.Query[parts.Part])
	}{
		{"before the table", "list_taken", `{` + filter + `}`,
			func(q *aql.Query[parts.Part]) { _, ok := q.Take("lot"); mustTake(ok) },
			func(q *aql.Query[parts.Part]) {}},
		{"before and after it", "list_taken", strings.Replace(`{`+filter+`}`, `"null":true`, `"gt":9`, 1),
			func(q *aql.Query[parts.Part]) { _, ok := q.Take("lot"); mustTake(ok) },
			func(q *aql.Query[parts.Part]) { _, ok := q.Take("reserve"); mustTake(ok) }},
		{"words", "search_taken", `{"query":"synonym",` + strings.Replace(filter, `"lot":99,`, "", 1) + `}`,
			func(q *aql.Query[parts.Part]) { _, ok := q.TakeSearch(); mustTake(ok) },
			func(q *aql.Query[parts.Part]) {}},
	} {
		for from := range fallbacks {
			for how, fail := range failing {
				store.Answer = func(ctx context.Context, q *aql.Query[parts.Part]) (*aql.Page[parts.Part], error) {
					tt.before(q)
					table.Take(q)
					tt.after(q)
					if err := fail(ctx, db, q, table); err == nil {
						t.Errorf("%s, %s: the database answers", tt.what, how)
					}
					return fallbacks[from](ctx, q, store.Parts)
				}
				answer := send(t, adapterOf(t, store, aql.Options{}).NewSession(), tt.operation, tt.params)
				want := []any{"p002", "p003", "p004"} // by minutes, which the table took, in the order of the request
				if diff := cmp.Diff(want, identitiesOf(answer)); diff != "" {
					t.Errorf("%s, %s, %s (-want +got):\n%s\n%v", tt.what, how, from, diff, answer)
				}
			}
		}
	}
}

// The rows of a database that is asked once more are not held against what it took.
func TestAnotherDatabaseAnswersWhereOneFails(t *testing.T) {
	down := opened(t, &recorder{refuse: func(string) error { return errDown }})
	r := &recorder{}
	up := opened(t, r)
	table, err := sqlquery.New[parts.Part](sqlquery.SQLite, "parts", columnsOf(sqlquery.SQLite, sqlquery.JSON))
	if err != nil {
		t.Fatal(err)
	}
	s, log := answerWith(t, manyParts(3), func(
		ctx context.Context, q *aql.Query[parts.Part],
	) (*aql.Page[parts.Part], error) {
		taken := table.Take(q)
		if _, err := sqlquery.Query(ctx, down, taken, nil); err == nil {
			t.Error("the database answers")
		}
		return sqlquery.Query(ctx, up, taken, nil)
	})
	send(t, s, "list_taken", `{"filter":{"minutes":3},"first":2}`)
	if len(r.statements) != 1 || !strings.Contains(r.statements[0], "LIMIT 3") {
		t.Errorf("the statements are %q\n%s", r.statements, log)
	}
}

// A slice is cut where the request says, also if its page was taken: it has all elements, and not those of the page.
func TestSliceOfATakenPage(t *testing.T) {
	store := manyParts(6)
	for _, from := range []string{"Slice", "Pointers"} {
		s, _ := answerWith(t, store, func(
			ctx context.Context, q *aql.Query[parts.Part],
		) (*aql.Page[parts.Part], error) {
			q.TakeSort()
			if _, ok := q.TakePage(); !ok {
				t.Error("the page is not taken")
			}
			return fallbacks[from](ctx, q, store.Parts)
		})
		const sort = `"sort":{"field":"part_id","order":"desc"},`
		first := send(t, s, "list_taken", `{`+sort+`"first":2}`)
		second := send(t, s, "list_taken", `{`+sort+`"first":2,"after":"`+endCursor(first)+`"}`)
		want := []any{"p005", "p004", "p003", "p002"}
		if diff := cmp.Diff(want, append(identitiesOf(first), identitiesOf(second)...)); diff != "" {
			t.Errorf("%s (-want +got):\n%s", from, diff)
		}
		if total := at(second, "data", "pageInfo", "totalCount"); total != 6.0 {
			t.Errorf("%s: the total is %v", from, total)
		}
	}
}

// One table takes of a query. What it took would be lost to another one, and so there is no answer.
func TestOneTableTakesOfAQuery(t *testing.T) {
	r := &recorder{}
	db := opened(t, r)
	columns := columnsOf(sqlquery.SQLite, sqlquery.JSON)
	one, err := sqlquery.New[parts.Part](sqlquery.SQLite, "parts", columns)
	if err != nil {
		t.Fatal(err)
	}
	two, err := sqlquery.New[parts.Part](sqlquery.SQLite, "archive", columns)
	if err != nil {
		t.Fatal(err)
	}
	store := manyParts(30)
	for what, answer := range map[string]func(
		ctx context.Context, q *aql.Query[parts.Part], s *sqlquery.Select[parts.Part],
	) (*aql.Page[parts.Part], error){
		"Query": func(ctx context.Context, _ *aql.Query[parts.Part], s *sqlquery.Select[parts.Part],
		) (*aql.Page[parts.Part], error) {
			return sqlquery.Query(ctx, db, s, nil)
		},
		"Slice": func(ctx context.Context, q *aql.Query[parts.Part], _ *sqlquery.Select[parts.Part],
		) (*aql.Page[parts.Part], error) {
			return q.Slice(ctx, store.Parts)
		},
		"Stream": func(ctx context.Context, q *aql.Query[parts.Part], _ *sqlquery.Select[parts.Part],
		) (*aql.Page[parts.Part], error) {
			return q.Stream(ctx, streamed(store.Parts, nil))
		},
		"Page": func(_ context.Context, q *aql.Query[parts.Part], _ *sqlquery.Select[parts.Part],
		) (*aql.Page[parts.Part], error) {
			return q.Page(store.Parts, -1)
		},
	} {
		s, log := answerWith(t, store, func(
			ctx context.Context, q *aql.Query[parts.Part],
		) (*aql.Page[parts.Part], error) {
			one.Take(q)
			return answer(ctx, q, two.Take(q))
		})
		reply := send(t, s, "list_taken", `{"filter":{"minutes":3},"first":2}`)
		if code := at(reply, "error", "code"); code != "INTERNAL_ERROR" ||
			!strings.Contains(log.String(), "the table parts has taken of the query what archive was to take") {
			t.Errorf("%s: %v\n%s", what, reply, log)
		}
	}
	if r.statements != nil {
		t.Errorf("the database is asked: %v", r.statements)
	}
}

func identitiesOf(answer map[string]any) (all []any) {
	for _, item := range items(answer) {
		all = append(all, at(item, "part_id"))
	}
	return all
}
