package databases

import (
	"context"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	aql "github.com/aqltag/aqltag/runtime"
	"github.com/aqltag/aqltag/runtime/sqlquery"
	"github.com/aqltag/aqltag/test/collections/databases/items"
	"github.com/aqltag/aqltag/test/collections/internal/reference"
)

// With the indexes that a table asks for, databases look for a page behind a cursor, and in front of one: they neither
// read what is between the edge and the page, nor sort.
func TestPagesAreLookedFor(t *testing.T) {
	for _, k := range kinds {
		t.Run(k.name, func(t *testing.T) {
			d := newDatabase(t, k)
			r := random{rand.New(rand.NewPCG(1, 1))} // plans depend on what is in a table
			mapped := d.mapped("")
			id := mapped["item_id"]
			id.Collated = k.name == "MariaDB" // it looks into no index for bytes, and this column compares bytes by itself
			mapped["item_id"] = id
			made, err := sqlquery.New[items.Item](dialects[k.name], "items", mapped)
			if err != nil {
				t.Fatal(err)
			}
			for _, statement := range made.Indexes() {
				d.run(t, statement)
			}
			var all []items.Item
			for i := range 2000 {
				one := r.itemOf(fmt.Sprint("item", i))
				all = append(all, one)
			}
			d.load(t, all)
			d.run(t, map[string]string{
				"SQLite": "ANALYZE", "PostgreSQL": "ANALYZE items", "MariaDB": "ANALYZE TABLE items",
			}[k.name])
			through := &recorder{Querier: d}
			s := source{k.name, sessionOf(t, func(
				ctx context.Context, q *aql.Query[items.Item],
			) (*aql.Page[items.Item], error) {
				return sqlquery.Query(ctx, through, made.Take(q), d.scan, sqlquery.Reading(d.selected("")))
			}), nil}
			for _, by := range k.indexed() {
				for _, order := range []string{"asc", "desc"} {
					for _, forward := range []bool{true, false} {
						query := map[string]any{"sort": reference.Order(by, order == "desc")}
						info := s.ask(t, paged(query, 5, forward, "")).Data.PageInfo
						cursor := info.EndCursor
						if !forward {
							cursor = info.StartCursor
						}
						through.all = nil
						s.ask(t, paged(query, 5, forward, cursor))
						for _, one := range through.all {
							if plan := d.plan(t, one); !k.looksFor(plan) {
								t.Errorf("%s %s, forward %t: %s\n%s", by, order, forward, one.text, plan)
							}
						}
					}
				}
			}
		})
	}
}

// indexed are the fields whose order is that of an index: no enums, and in MariaDB no texts.
func (k kind) indexed() []string {
	fields := []string{"minutes", "weight", "made_at", "stock", "sold_at", "maker.rank"}
	if k.name != "MariaDB" {
		fields = append(fields, "title", "note", "item_id")
	}
	return fields
}

// looksFor reports whether a statement with such a plan looks for rows in an index, in which they are in order.
func (k kind) looksFor(plan string) bool {
	switch k.name {
	case "SQLite":
		return !strings.Contains(plan, "SCAN") && !strings.Contains(plan, "B-TREE")
	case "PostgreSQL":
		return strings.Contains(plan, "Index Cond") && !strings.Contains(plan, "Sort")
	default:
		return !strings.Contains(plan, " ALL ") && !strings.Contains(plan, "filesort")
	}
}

// plan returns how the database carries out a statement.
func (d *database) plan(t *testing.T, s statement) string {
	t.Helper()
	explain := "EXPLAIN "
	if d.kind.name == "SQLite" {
		explain = "EXPLAIN QUERY PLAN "
	}
	rows, err := d.QueryContext(t.Context(), explain+s.text, s.args...)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = rows.Close() }()
	names, err := rows.Columns()
	if err != nil {
		t.Fatal(err)
	}
	var plan strings.Builder
	for rows.Next() {
		row := make([]any, len(names))
		places := slices.Clone(row)
		for i := range row {
			places[i] = &row[i]
		}
		if err := rows.Scan(places...); err != nil {
			t.Fatal(err)
		}
		for i := range row {
			if text, ok := row[i].([]byte); ok {
				row[i] = string(text)
			}
		}
		fmt.Fprintln(&plan, row...)
	}
	if err := rows.Err(); err != nil {
		t.Fatal(err)
	}
	return plan.String()
}

// A table is held against its database before requests are: what the database lacks is named.
func TestTablesAreChecked(t *testing.T) {
	for _, k := range kinds {
		t.Run(k.name, func(t *testing.T) {
			d := newDatabase(t, k)
			mapped := d.mapped("")
			check := func() error {
				made, err := sqlquery.New[items.Item](dialects[k.name], "items", mapped)
				if err != nil {
					t.Fatal(err)
				}
				return made.Check(t.Context(), d)
			}
			if err := check(); err != nil {
				t.Errorf("the database has all of it: %v", err)
			}
			mapped["minutes"] = sqlquery.Column{Name: "hours"}
			if err := check(); err == nil || !strings.Contains(err.Error(), "minutes") {
				t.Errorf("there is no column hours: %v", err)
			}
		})
	}
}
