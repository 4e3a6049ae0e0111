package collections_test

import (
	"context"
	"encoding/json"
	"fmt"
	"iter"
	"slices"
	"strconv"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	aql "github.com/aqltag/aqltag/runtime"
	"github.com/aqltag/aqltag/test/collections/internal/reference"
	"github.com/aqltag/aqltag/test/collections/parts"
)

// jsonOf is the JSON value of what a condition or a window has.
func jsonOf(v any) any {
	switch v := v.(type) {
	case int64, uint64:
		return json.Number(fmt.Sprint(v))
	case float64:
		return json.Number(strconv.FormatFloat(v, 'g', -1, 64))
	case time.Time:
		return v.Format(time.RFC3339Nano)
	case []any:
		all := make([]any, len(v))
		for i := range v {
			all[i] = jsonOf(v[i])
		}
		return all
	default:
		return v
	}
}

// pair is an element with its JSON.
type pair struct {
	parts.Part
	element
}

// taker answers queries. It takes parts of them at random, and applies those to the JSON of the elements.
type taker struct {
	maker
	*testing.T
	all   []pair
	pages int // that Page made
}

func (k *taker) answer(ctx context.Context, q *aql.Query[parts.Part]) (*aql.Page[parts.Part], error) {
	left := slices.Clone(k.all)
	eager := k.IntN(2) == 0 // takes all that it can
	for _, name := range names {
		if !eager && k.IntN(2) == 0 {
			continue
		}
		var ops []aql.Op
		for _, op := range operatorsOf(name) {
			if eager || k.IntN(3) > 0 {
				ops = append(ops, aql.Op(op))
			}
		}
		if len(ops) == 0 {
			continue
		}
		conditions, ok := q.Take(name, ops...)
		if ok != (len(conditions) > 0) {
			k.Errorf("Take(%s) returns %v and %v", name, conditions, ok)
		}
		for _, c := range conditions {
			if c.Field != name || !slices.Contains(ops, c.Op) {
				k.Errorf("Take(%s, %v) returns %v", name, ops, c)
			}
			left = slices.DeleteFunc(left, func(p pair) bool {
				return !condition(k.T, p.at(name), kinds[name], string(c.Op), jsonOf(c.Value))
			})
		}
	}
	if eager || k.IntN(2) == 0 {
		if words, ok := q.TakeSearch(); ok {
			left = slices.DeleteFunc(left, func(p pair) bool {
				return !slices.ContainsFunc(words, func(word string) bool {
					return schema.Says(reference.Element(p.element), word)
				})
			})
		}
	}
	if eager || k.IntN(2) == 0 {
		if order, ok := q.TakeSort(); ok {
			slices.SortFunc(left, func(a, b pair) int { return k.compare(order, a.element, b.element) })
			if w, ok := q.TakePage(); ok {
				return k.page(q, left, order, w)
			}
		}
	}
	all := make([]parts.Part, len(left))
	pointers := make([]*parts.Part, len(left))
	for i := range left {
		all[i] = left[i].Part
		pointers[i] = &all[i]
	}
	switch k.IntN(3) {
	case 0:
		return q.Slice(ctx, all)
	case 1:
		return q.Pointers(ctx, pointers)
	default:
		return q.Stream(ctx, streamed(all, nil))
	}
}

// page answers with what a window asks for.
func (k *taker) page(
	q *aql.Query[parts.Part], all []pair, order []aql.Sort, w aql.Window,
) (*aql.Page[parts.Part], error) {
	if k.pages++; w.Backward {
		slices.Reverse(all)
	}
	var fetched []parts.Part
	for _, p := range all {
		if w.After != nil {
			at := element{}
			for i, s := range order {
				at.set(s.Field, jsonOf(w.After[i]))
			}
			if c := k.compare(order, p.element, at); c == 0 || c < 0 != w.Backward {
				continue
			}
		}
		if len(fetched) < w.Limit {
			fetched = append(fetched, p.Part)
		}
	}
	return q.Page(fetched, []int{-1, len(all)}[k.IntN(2)])
}

// set sets the value at a path.
func (e element) set(path string, v any) {
	first, rest, deeper := path, "", false
	for i := range path {
		if path[i] == '.' {
			first, rest, deeper = path[:i], path[i+1:], true
			break
		}
	}
	if !deeper {
		e[first] = v
		return
	}
	inner, _ := e[first].(map[string]any)
	if inner == nil {
		inner = map[string]any{}
		e[first] = inner
	}
	element(inner).set(rest, v)
}

func (k *taker) compare(order []aql.Sort, a, b element) int {
	for _, s := range order {
		va, vb := a.at(s.Field), b.at(s.Field)
		switch {
		case va == nil && vb == nil:
			continue
		case va == nil:
			return 1
		case vb == nil:
			return -1
		}
		if c := compare(k.T, kinds[s.Field], va, vb); c != 0 && s.Descending {
			return -c
		} else if c != 0 {
			return c
		}
	}
	return 0
}

// streamed yields elements and counts them.
func streamed(all []parts.Part, read *int) iter.Seq2[parts.Part, error] {
	return func(yield func(parts.Part, error) bool) {
		for _, p := range all {
			if read != nil {
				*read++
			}
			if !yield(p, nil) {
				return
			}
		}
	}
}

// REQ-CQ-02, REQ-CQ-05, REQ-CQ-06, REQ-PG-05: whichever parts of a query a handler takes and applies, the pages are the
// same.
func TestTakenParts(t *testing.T) {
	k := &taker{maker: newMaker(t, 5), T: t}
	var all []parts.Part
	var elements []element
	store := &parts.Store{Answer: k.answer}
	session := newSession(t, store)
	n := *rounds
	if testing.Short() {
		n = min(n, 200)
	}
	for round := range n {
		if round%50 == 0 {
			all = k.parts(k.IntN(40))
			elements, k.all = elementsOf(t, all), nil
			for i := range all {
				k.all = append(k.all, pair{all[i], elements[i]})
			}
		}
		filter := k.filter(0)
		params := map[string]any{"filter": filter}
		by, descending := "", k.IntN(2) == 0
		for by == "" || kinds[by] != elementKind(kinds[by]) {
			by = names[k.IntN(len(names))]
		}
		params["sort"] = map[string]any{"field": by, "order": map[bool]string{false: "asc", true: "desc"}[descending]}
		left, operation := elements, "list_taken"
		if k.IntN(3) == 0 {
			words := schema.Query(k.Rand)
			params["query"], left, operation = words, having(t, elements, words), "search_taken"
		}
		want := identities(expected(t, left, decodedFilter(t, filter), by, descending))
		size := 1 + k.IntN(10)
		for _, forward := range []bool{true, false} {
			got := walk(t, session, operation, params, size, -1, forward)
			if diff := cmp.Diff(want, got); diff != "" || t.Failed() {
				t.Fatalf("round %d: %s by %d, forward: %v (-want +got):\n%s",
					round, encoded(t, params), size, forward, diff)
			}
		}
	}
	if k.pages == 0 {
		t.Error("no query was taken as a whole")
	}
}
