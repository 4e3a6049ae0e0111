package databases

import (
	"context"
	"database/sql"
	"strings"
	"testing"

	aql "github.com/aqltag/aqltag/runtime"
	"github.com/aqltag/aqltag/runtime/sqlquery"
	"github.com/aqltag/aqltag/test/collections/crates"
)

// A statement finds no more rows than may be read, whatever is left to the runtime: drivers read all of them when they
// close one.
func TestStatementsAreBounded(t *testing.T) {
	d := newDatabase(t, kinds[0])
	mapped := d.mapped("")
	mapped["title"] = sqlquery.Column{InMemory: true}
	through := &recorder{Querier: d}
	s := source{"some columns", sessionOf(t, d.answers(t, "items", "", mapped, through)), nil}
	s.ask(t, map[string]any{"aggregate": map[string]any{"n": map[string]any{"count": true}}})
	s.ask(t, map[string]any{"sort": map[string]any{"field": "title"}})
	s.call(t, "skip_items", map[string]any{"filter": map[string]any{"title": "x"}, "offset": 5})
	if len(through.all) != 3 {
		t.Errorf("there are %d statements", len(through.all))
	}
	for _, one := range through.all {
		if !strings.Contains(one.text, " LIMIT ") {
			t.Errorf("there is no bound: %s", one.text)
		}
	}
}

// A computed field may ask the database by the only connection to it: no rows are open when elements are compared.
func TestRowsAreClosedBeforeElementsAreCompared(t *testing.T) {
	db := openSQLite(t)
	db.SetMaxOpenConns(1)
	for _, statement := range []string{
		`CREATE TABLE c (part_id TEXT, lot INTEGER, title TEXT, minutes INTEGER)`,
		`INSERT INTO c VALUES ('a', 1, 'x', 1), ('b', 1, 'y', 2), ('c', 1, 'z', 3)`,
	} {
		if _, err := db.ExecContext(t.Context(), statement); err != nil {
			t.Fatal(err)
		}
	}
	table := sqlquery.Must(sqlquery.New[crates.Crate](sqlquery.SQLite, "c", sqlquery.Columns{
		"title": {InMemory: true}, "sold_at": {InMemory: true}, "tags": {InMemory: true}, "checked": {InMemory: true},
	}))
	asked := 0
	depot := &crates.Depot{Answer: func(
		ctx context.Context, q *aql.Query[crates.Crate],
	) (*aql.Page[crates.Crate], error) {
		ctx = context.WithValue(ctx, crates.Asks{}, func() {
			asked++
			if open := db.Stats().InUse; open != 0 {
				t.Errorf("%d connections are in use", open)
			}
		})
		return sqlquery.Query(ctx, db, table.Take(q), func(rows *sql.Rows) (c crates.Crate, err error) {
			err = rows.Scan(&c.PartID, &c.Lot, &c.Title, &c.Minutes)
			return c, err
		})
	}}
	adapter, err := aql.New(crates.NewRegistry(depot, &crates.Scale{}), aql.Options{Name: "c", Version: "1"})
	if err != nil {
		t.Fatal(err)
	}
	for _, params := range []string{
		`{"filter":{"_computed.same_minutes":{"gte":2}}}`,
		`{"filter":{"_computed.same_minutes":{"gte":2}},"sort":{"field":"title"}}`,
	} {
		var p page
		decode(t, adapter.NewSession().Call(t.Context(), "mcp_aql_read",
			[]byte(`{"operation":"list_crates","params":`+params+`}`)).JSON, &p)
		if len(p.Data.Items) != 2 || asked == 0 {
			t.Errorf("%s: %d items, asked %d times: %v", params, len(p.Data.Items), asked, p.Error)
		}
	}
}
