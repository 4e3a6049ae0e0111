package databases

import (
	"context"
	"testing"

	aql "github.com/aqltag/aqltag/runtime"
	"github.com/aqltag/aqltag/test/collections/databases/items"
)

// memory is items that are kept by the process, and three ways to list them.
type memory struct{ all []items.Item }

func (m *memory) slice(ctx context.Context, q *aql.Query[items.Item]) (*aql.Page[items.Item], error) {
	return q.Slice(ctx, m.all)
}

func (m *memory) pointers(ctx context.Context, q *aql.Query[items.Item]) (*aql.Page[items.Item], error) {
	pointers := make([]*items.Item, len(m.all))
	for i := range m.all {
		pointers[i] = &m.all[i]
	}
	return q.Pointers(ctx, pointers)
}

func (m *memory) stream(ctx context.Context, q *aql.Query[items.Item]) (*aql.Page[items.Item], error) {
	return q.Stream(ctx, func(yield func(items.Item, error) bool) {
		for _, one := range m.all {
			if !yield(one, nil) {
				return
			}
		}
	})
}

// inMemory are the sources that need no database. The first knows all totals.
func inMemory(t testing.TB) []source {
	t.Helper()
	m := new(memory)
	load := func(_ *testing.T, all []items.Item) { m.all = all }
	return []source{
		{"slice", sessionOf(t, m.slice), load},
		{"pointers", sessionOf(t, m.pointers), load},
		{"stream", sessionOf(t, m.stream), load},
	}
}
