package databases

import (
	"context"
	"strings"
	"testing"

	aql "github.com/aqltag/aqltag/runtime"
	"github.com/aqltag/aqltag/runtime/sqlquery"
	"github.com/aqltag/aqltag/test/collections/databases/items"
)

// dialects are those of the kinds of databases.
var dialects = map[string]sqlquery.Dialect{
	"SQLite": sqlquery.SQLite, "PostgreSQL": sqlquery.PostgreSQL, "MariaDB": sqlquery.MySQL,
}

// mapped says how a table of items is kept, the names of whose columns end so.
func (d *database) mapped(suffix string) sqlquery.Columns {
	mapped := sqlquery.Columns{}
	for _, c := range columns {
		column := sqlquery.Column{Name: c.name + suffix}
		switch kind, _, _ := strings.Cut(c.kind, " "); {
		case kind == "TAGS" && d.kind.arrays:
			column.List = sqlquery.Array
		case kind == "TAGS", kind == "JSON":
			column.List = sqlquery.JSON
		case kind == "TIME" && d.kind.micros:
			column.Encode = sqlquery.UnixMicro
		}
		mapped[c.field] = column
	}
	return mapped
}

// answers are the answers of a table of the database, through a connection to it.
func (d *database) answers(
	t *testing.T, table, suffix string, mapped sqlquery.Columns, through sqlquery.Querier,
) answer {
	t.Helper()
	made, err := sqlquery.New[items.Item](dialects[d.kind.name], d.quote(table), mapped)
	if err != nil {
		t.Fatal(err)
	}
	reading := sqlquery.Reading(d.selected(suffix))
	where := sqlquery.Where(d.quote("lot"+suffix)+" > ?", -100)
	return func(ctx context.Context, q *aql.Query[items.Item]) (*aql.Page[items.Item], error) {
		return sqlquery.Query(ctx, through, made.Take(q), d.scan, reading, where, sqlquery.Counted())
	}
}

// source is the table of items as a source.
func (d *database) source(t *testing.T) source {
	t.Helper()
	return source{d.kind.name, sessionOf(t, d.answers(t, "items", "", d.mapped(""), d)), d.load}
}

// listed is the same table as a source that has its lists of texts as JSON, as far as the database has arrays, too.
func (d *database) listed(t *testing.T) []source {
	t.Helper()
	if !d.kind.arrays {
		return nil
	}
	mapped := d.mapped("")
	for name, column := range mapped {
		if column.List == sqlquery.Array {
			mapped[name] = sqlquery.Column{Expr: "to_jsonb(" + d.quote(column.Name) + ")", List: sqlquery.JSON}
		}
	}
	return []source{{"JSON", sessionOf(t, d.answers(t, "items", "", mapped, d)), func(*testing.T, []items.Item) {}}}
}

// partial is the same table as a source that leaves some columns, chosen at random, to the runtime.
func (d *database) partial(t *testing.T, r random, name string) source {
	t.Helper()
	mapped := d.mapped("")
	for _, c := range columns {
		if r.IntN(4) == 0 {
			mapped[c.field] = sqlquery.Column{InMemory: true}
		}
	}
	return source{name, sessionOf(t, d.answers(t, "items", "", mapped, d)), func(*testing.T, []items.Item) {}}
}
