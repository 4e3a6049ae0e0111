package databases

import (
	"context"
	"database/sql"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/aqltag/aqltag/runtime/sqlquery"
	"github.com/aqltag/aqltag/test/collections/databases/items"
)

// between is a database in which all items go before a second statement.
type between struct {
	sqlquery.Querier
	delete     func()
	statements int
}

// QueryContext implements sqlquery.Querier.
func (b *between) QueryContext(ctx context.Context, statement string, args ...any) (*sql.Rows, error) {
	if b.statements++; b.statements == 2 {
		b.delete()
	}
	return b.Querier.QueryContext(ctx, statement, args...)
}

// Summaries of which statements find different elements are read again, of rows. In a transaction they find the same.
func TestSummariesAreOfOneMoment(t *testing.T) {
	for _, k := range kinds {
		t.Run(k.name, func(t *testing.T) {
			d := newDatabase(t, k)
			kept := newRandom(t).items(60)[:5]
			for i := range kept {
				kept[i].Checked, kept[i].Grade = true, items.Fair
			}
			for _, aggregate := range []map[string]any{
				{"n": map[string]any{"count": true}, "g": map[string]any{"count": true, "group_by": "checked"}},
				{"g": map[string]any{"count": true, "group_by": "checked", "max": "made_at"}},
				{"n": map[string]any{"count": true, "min": "grade"}},
			} {
				for _, within := range []bool{false, true} {
					d.load(t, kept)
					b := &between{Querier: d, delete: func() { d.run(t, "DELETE FROM items") }}
					found := elementsOf(t, kept)
					if !within {
						found = nil
					} else {
						tx, err := d.BeginTx(t.Context(), &sql.TxOptions{Isolation: sql.LevelRepeatableRead, ReadOnly: true})
						if err != nil {
							t.Fatal(err)
						}
						b.Querier = tx
						defer func() { _ = tx.Rollback() }()
					}
					s := source{k.name, sessionOf(t, d.answers(t, "items", "", d.mapped(""), b)), nil}
					want := map[string]any{}
					for label, expression := range aggregate {
						want[label] = schema.Summary(t, found, expression.(map[string]any))
					}
					got := s.ask(t, map[string]any{"aggregate": aggregate}).Data.Aggregations
					if diff := cmp.Diff(want, got); diff != "" {
						t.Errorf("%s, in a transaction: %t (-want +got):\n%s", encode(t, aggregate), within, diff)
					}
				}
			}
		})
	}
}
