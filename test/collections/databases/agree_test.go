// Package databases holds collections against databases: SQLite, PostgreSQL and MariaDB answer queries as Go does.
package databases

import (
	"encoding/json"
	"flag"
	"fmt"
	"math/rand/v2"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/aqltag/aqltag/test/collections/internal/reference"
)

var (
	rounds = flag.Int("rounds", 1500, "random queries")
	seed   = flag.Uint64("seed", 0, "of random choices; 0: another one each time")
)

// newRandom returns what makes all choices of a test, and prints its seed.
func newRandom(t *testing.T) random {
	t.Helper()
	if *seed == 0 {
		*seed = rand.Uint64()
	}
	t.Logf("-seed %d", *seed)
	return random{rand.New(rand.NewPCG(*seed, 1))}
}

// REQ-CQ-01, REQ-CQ-05, REQ-CQ-06, REQ-PG-01, REQ-PG-03, REQ-PG-05: whatever a request asks of a collection, memory and
// databases give the answer of an evaluator that knows nothing but the JSON of the items: on every page, forward and
// backward. Pages forward are all that there is, one behind the other, and pages backward are the same from the end.
func TestSourcesAgree(t *testing.T) {
	t.Run("memory", func(t *testing.T) { agree(t, newRandom(t), inMemory(t)) })
	for _, k := range kinds {
		t.Run(k.name, func(t *testing.T) {
			d, r := newDatabase(t, k), newRandom(t)
			agree(t, r, append([]source{
				inMemory(t)[0], d.source(t), d.partial(t, r, "some columns"), d.partial(t, r, "other columns"),
			}, d.listed(t)...))
		})
	}
}

// REQ-CQ-05: every operator of every field compares as the evaluator does, alone and under a negation.
func TestOperatorsAgree(t *testing.T) {
	for _, k := range kinds {
		t.Run(k.name, func(t *testing.T) {
			d, r := newDatabase(t, k), newRandom(t)
			kept := r.items(60)
			all := elementsOf(t, kept)
			d.load(t, kept)
			s := d.source(t)
			for _, name := range schema.Names() {
				for _, operator := range schema.Operators(name) {
					for range shortRounds / 5 {
						params := map[string]any{"filter": map[string]any{
							name: map[string]any{operator: schema.Operand(r.Rand, name, operator)},
						}}
						if r.IntN(4) == 0 {
							params["filter"] = map[string]any{"_not": params["filter"]}
						}
						var query map[string]any
						decode(t, encode(t, params), &query)
						want := identities(schema.Select(t, all, query["filter"].(map[string]any), "", false))
						if diff := cmp.Diff(want, identities(s.ask(t, paged(query, 100, true, "")).Data.Items)); diff != "" {
							t.Errorf("%s (-want +got):\n%s", encode(t, query), diff)
						}
					}
				}
			}
		})
	}
}

// REQ-PG-10: databases pass over as many items as memory does, whatever a request asks.
func TestOffsetsAgree(t *testing.T) {
	for _, k := range kinds {
		t.Run(k.name, func(t *testing.T) {
			d, r := newDatabase(t, k), newRandom(t)
			kept := r.items(60)
			all := elementsOf(t, kept)
			d.load(t, kept)
			sources := []source{d.source(t), d.partial(t, r, "some columns"), d.partial(t, r, "other columns")}
			for range shortRounds {
				query := randomQuery(t, r)
				want := identities(selected(t, all, query))
				offset, limit := r.IntN(len(want)+2), 1+r.IntN(20)
				from := min(offset, len(want))
				to := min(from+limit, len(want))
				query["offset"], query["limit"] = offset, limit
				for _, s := range sources {
					p := s.call(t, "skip_items", query)
					if diff := cmp.Diff(want[from:to], identities(p.Data.Items)); diff != "" {
						t.Fatalf("%s: %s (-want +got):\n%s", s.name, encode(t, query), diff)
					}
					if more := p.Data.Pagination["has_more"]; more != (to < len(want)) {
						t.Fatalf("%s: %s: there are more: %v", s.name, encode(t, query), more)
					}
					if total := p.Data.Pagination["total_items"]; total != nil && total != json.Number(fmt.Sprint(len(want))) {
						t.Fatalf("%s: %s: the total is %v of %d", s.name, encode(t, query), total, len(want))
					}
				}
			}
		})
	}
}

// agree asks sources for all pages of random queries.
func agree(t *testing.T, r random, sources []source) {
	t.Helper()
	n := *rounds
	if testing.Short() {
		n = min(n, shortRounds)
	}
	var all []reference.Element
	found := 0
	for round := range n {
		if round%25 == 0 {
			kept := r.items(r.IntN(60))
			all = elementsOf(t, kept)
			for _, s := range sources {
				s.load(t, kept)
			}
		}
		query := randomQuery(t, r)
		if r.IntN(3) == 0 {
			query["query"] = schema.Query(r.Rand)
		}
		want := identities(selected(t, all, query))
		if len(want) > 0 {
			found++
		}
		size := 1 + r.IntN(12)
		for _, forward := range []bool{true, false} {
			got := walk(t, sources, query, size, forward, len(want))
			if diff := cmp.Diff(want, got); diff != "" {
				t.Fatalf("round %d: %s by %d, forward %t (-want +got):\n%s", round, encode(t, query), size, forward, diff)
			}
		}
	}
	t.Logf("%d rounds, of which %d found something", n, found)
}

// randomQuery makes the parameters filter and sort, as a server reads them.
func randomQuery(t *testing.T, r random) (query map[string]any) {
	t.Helper()
	params := map[string]any{"filter": schema.Filter(r.Rand, 0)}
	if by, descending := schema.Sort(r.Rand); by != "" {
		params["sort"] = reference.Order(by, descending)
	}
	decode(t, encode(t, params), &query)
	return query
}

// selected returns the elements that a query selects, in its order.
func selected(t *testing.T, all []reference.Element, query map[string]any) []reference.Element {
	t.Helper()
	words, _ := query["query"].(string)
	filter, _ := query["filter"].(map[string]any)
	by, descending := orderOf(query)
	return schema.Select(t, schema.Search(t, all, words), filter, by, descending)
}

// orderOf returns the field by which a query sorts, and the direction.
func orderOf(query map[string]any) (by string, descending bool) {
	order, ok := query["sort"].(map[string]any)
	if !ok {
		return "", false
	}
	return order["field"].(string), order["order"] == "desc"
}

// walk walks all pages of a query, asks every source for each of them, and returns what is on them in the order of the
// query.
func walk(t *testing.T, sources []source, query map[string]any, size int, forward bool, total int) []string {
	t.Helper()
	ids := []string{}
	for cursor := ""; ; {
		params := paged(query, size, forward, cursor)
		p := sources[0].ask(t, params)
		if p.Data.PageInfo.TotalCount == nil || *p.Data.PageInfo.TotalCount != total {
			t.Fatalf("%s: the total of %s is not %d: %+v", sources[0].name, encode(t, params), total, p.Data.PageInfo)
		}
		for _, s := range sources[1:] {
			other := s.ask(t, params)
			if n := other.Data.PageInfo.TotalCount; n != nil && *n != total {
				t.Fatalf("%s: the total of %s is %d, want %d", s.name, encode(t, params), *n, total)
			}
			other.Data.PageInfo.TotalCount = p.Data.PageInfo.TotalCount
			if diff := cmp.Diff(p, other); diff != "" {
				t.Fatalf("%s: (-%s +%s):\n%s", encode(t, params), sources[0].name, s.name, diff)
			}
		}
		info, page := p.Data.PageInfo, identities(p.Data.Items)
		more, other, next := info.HasNextPage, info.HasPreviousPage, info.EndCursor
		if forward {
			ids = append(ids, page...)
		} else {
			ids = append(page, ids...)
			more, other, next = info.HasPreviousPage, info.HasNextPage, info.StartCursor
		}
		if other != (cursor != "") || len(page) > size || (next == "") != (len(page) == 0) || more && len(page) != size {
			t.Fatalf("%s: %d items, %+v", encode(t, params), len(page), info)
		}
		if !more {
			return ids
		}
		cursor = next
	}
}
