package collections_test

import (
	"context"
	"database/sql"
	"database/sql/driver"
	"fmt"
	"io"
	"testing"

	aql "github.com/aqltag/aqltag/runtime"
	"github.com/aqltag/aqltag/runtime/sqlquery"
	"github.com/aqltag/aqltag/test/collections/parts"
)

// recorder is a database without rows that records what it is asked.
type recorder struct {
	statements []string
	args       [][]driver.NamedValue
	refuse     func(statement string) error // nil: nothing
}

func (r *recorder) Connect(context.Context) (driver.Conn, error) { return recordingConn{r}, nil }
func (r *recorder) Driver() driver.Driver                        { return nil }

type recordingConn struct{ *recorder }

func (recordingConn) Prepare(string) (driver.Stmt, error) { return nil, driver.ErrSkip }
func (recordingConn) Close() error                        { return nil }
func (recordingConn) Begin() (driver.Tx, error)           { return nil, driver.ErrSkip }

// CheckNamedValue takes every value as it is.
func (recordingConn) CheckNamedValue(*driver.NamedValue) error { return nil }

func (c recordingConn) QueryContext(_ context.Context, query string, args []driver.NamedValue) (driver.Rows, error) {
	c.statements, c.args = append(c.statements, query), append(c.args, args)
	if c.refuse != nil {
		if err := c.refuse(query); err != nil {
			return nil, err
		}
	}
	return noRows{}, nil
}

type noRows struct{}

func (noRows) Columns() []string         { return nil }
func (noRows) Close() error              { return nil }
func (noRows) Next([]driver.Value) error { return io.EOF }

// dialects are the databases, with the column in which each keeps tags.
var dialects = []struct {
	sqlquery.Dialect
	tags string
}{{sqlquery.SQLite, sqlquery.JSON}, {sqlquery.PostgreSQL, sqlquery.Array}, {sqlquery.MySQL, sqlquery.JSON}}

// columnsOf says how parts are kept.
func columnsOf(d sqlquery.Dialect, tags string) sqlquery.Columns {
	columns := sqlquery.Columns{
		"title": {Name: "the title"}, "tags": {List: tags}, "counts": {List: sqlquery.JSON},
		"grades":     {List: "SELECT 1 FROM grades g WHERE g.part_id = parts.part_id AND %s", Expr: "g.grade"},
		"reserve":    {InMemory: true},
		"maker.name": {Name: "maker_name"}, "maker.rank": {Name: "maker_rank"}, "maker.codes": {InMemory: true},
		"plan.due_at": {Expr: "p.due_at", Encode: sqlquery.UnixMicro}, "plan.step.grade": {Expr: "p.grade"},
		"plan.step.count": {Expr: "p.count"},
	}
	if d == sqlquery.SQLite {
		for _, name := range []string{"made_at", "sold_at", "seen_at"} {
			columns[name] = sqlquery.Column{Encode: sqlquery.UnixMicro}
		}
	}
	return columns
}

// recording returns a session whose lists are statements for a dialect, and what records them. The answers are empty,
// but for those of contexts with the key inMemory.
func recording(t testing.TB, d sqlquery.Dialect, tags string, options ...sqlquery.Option) (*aql.Session, *recorder) {
	t.Helper()
	return recordingOf(t, d, columnsOf(d, tags), options...)
}

// recordingOf is recording for parts that are kept so.
func recordingOf(
	t testing.TB, d sqlquery.Dialect, columns sqlquery.Columns, options ...sqlquery.Option,
) (*aql.Session, *recorder) {
	t.Helper()
	r := &recorder{}
	db := opened(t, r)
	table, err := sqlquery.New[parts.Part](d, "parts", columns)
	if err != nil {
		t.Fatal(err)
	}
	scan := func(*sql.Rows) (parts.Part, error) { return parts.Part{}, fmt.Errorf("there are no rows") }
	store := manyParts(30)
	store.Answer = func(ctx context.Context, q *aql.Query[parts.Part]) (*aql.Page[parts.Part], error) {
		if ctx.Value(inMemory{}) != nil {
			return q.Slice(ctx, store.Parts)
		}
		return sqlquery.Query(ctx, db, table.Take(q), scan, options...)
	}
	return adapterOf(t, store, aql.Options{StateKey: make([]byte, 32)}).NewSession(), r
}

// opened opens a recorder.
func opened(t testing.TB, r *recorder) *sql.DB {
	t.Helper()
	db := sql.OpenDB(r)
	t.Cleanup(func() { _ = db.Close() })
	return db
}

// inMemory is the key of contexts with which recording answers from memory.
type inMemory struct{}
