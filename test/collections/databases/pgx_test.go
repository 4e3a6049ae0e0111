package databases

import (
	"context"
	"errors"
	"net/netip"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"
	"github.com/jackc/pgx/v5/stdlib"

	aql "github.com/aqltag/aqltag/runtime"
	"github.com/aqltag/aqltag/runtime/sqlquery"
	"github.com/aqltag/aqltag/runtime/sqlquery/pgxquery"
	"github.com/aqltag/aqltag/test/collections/databases/items"
)

// pool connects to a PostgreSQL database by pgx, with statements that are sent in one of the ways in which pgx does.
func (d *database) pool(t *testing.T, mode pgx.QueryExecMode) *pgxpool.Pool {
	t.Helper()
	config, err := pgxpool.ParseConfig("")
	if err != nil {
		t.Fatal(err)
	}
	conn, err := d.Conn(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = conn.Close() }()
	if err := conn.Raw(func(driver any) error {
		config.ConnConfig = driver.(*stdlib.Conn).Conn().Config()
		return nil
	}); err != nil {
		t.Fatal(err)
	}
	config.ConnConfig.DefaultQueryExecMode = mode
	pool, err := pgxpool.NewWithConfig(t.Context(), config)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(pool.Close)
	return pool
}

// pgxAnswers are the answers of the table of items through pgx.
func (d *database) pgxAnswers(t *testing.T, mapped sqlquery.Columns, db pgxquery.Querier) answer {
	t.Helper()
	made, err := sqlquery.New[items.Item](sqlquery.PostgreSQL, "items", mapped)
	if err != nil {
		t.Fatal(err)
	}
	if err := pgxquery.Check(t.Context(), db, made); err != nil {
		t.Fatal(err)
	}
	var names []string
	for _, c := range columns {
		names = append(names, d.quote(c.name))
	}
	reading, where := sqlquery.Reading(strings.Join(names, ", ")), sqlquery.Where("lot > ?", -100)
	return func(ctx context.Context, q *aql.Query[items.Item]) (*aql.Page[items.Item], error) {
		return pgxquery.Query(ctx, db, made.Take(q), scanRow, reading, where, sqlquery.Counted())
	}
}

// scanRow reads an item by pgx, which knows arrays and JSON.
func scanRow(row pgx.CollectableRow) (one items.Item, err error) {
	var address string
	var due, seen *time.Time
	var reserve *float64
	err = row.Scan(&one.ItemID, &one.Lot, &one.Title, &one.Note, &one.Grade, &one.Former, &one.Minutes, &one.Stock,
		&one.Weight, &one.Share, &one.Ratio, &one.Checked, &one.Sealed, &one.MadeAt, &one.SoldAt, &one.Tags, &one.Counts,
		&one.Maker.Name, &one.Maker.Rank, &due, &one.Serial, &address, &seen, &reserve, &one.Marks, &one.Parts, &one.Flags)
	if err != nil {
		return one, err
	}
	one.MadeAt = one.MadeAt.UTC()
	if one.SoldAt != nil {
		*one.SoldAt = one.SoldAt.UTC()
	}
	if due != nil {
		one.Plan = &items.Plan{DueAt: due.UTC()}
	}
	if seen != nil {
		one.SeenAt = seen.UTC()
	}
	if one.Reserve = aql.Null[float64](); reserve != nil {
		one.Reserve = aql.Some(*reserve)
	}
	one.Address, err = netip.ParseAddr(address)
	return one, err
}

// throughPgx are sources of the table of items that reach it by pgx: a pool, a transaction on its only connection, and
// one whose statements have their values in them.
func (d *database) throughPgx(t *testing.T, r random) []source {
	t.Helper()
	keep := func(*testing.T, []items.Item) {}
	pool, simple := d.pool(t, pgx.QueryExecModeCacheStatement), d.pool(t, pgx.QueryExecModeSimpleProtocol)
	tx, err := d.pool(t, pgx.QueryExecModeDescribeExec).BeginTx(t.Context(), pgx.TxOptions{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = tx.Rollback(context.WithoutCancel(t.Context())) })
	some := d.mapped("")
	for _, c := range columns {
		if r.IntN(4) == 0 {
			some[c.field] = sqlquery.Column{InMemory: true}
		}
	}
	return []source{
		{"a pool of pgx", sessionOf(t, d.pgxAnswers(t, d.mapped(""), pool)), keep},
		{"a transaction of pgx", sessionOf(t, d.pgxAnswers(t, d.mapped(""), tx)), keep},
		{"the simple protocol", sessionOf(t, d.pgxAnswers(t, d.mapped(""), simple)), keep},
		{"some columns by pgx", sessionOf(t, d.pgxAnswers(t, some, pool)), keep},
	}
}

// What PostgreSQL answers through pgx is what it answers through database/sql, and what memory does.
func TestPgxAgrees(t *testing.T) {
	d, r := newDatabase(t, kinds[1]), newRandom(t)
	sources := append([]source{inMemory(t)[0], d.source(t)}, d.throughPgx(t, r)...)
	t.Run("pages", func(t *testing.T) { agree(t, r, sources) })
	t.Run("summaries", func(t *testing.T) { agreeOnSummaries(t, r, sources) })
}

// named is an element whose columns pgx finds by their names.
type named struct {
	ItemID string `db:"item_id"`
	Lot    int8   `db:"lot"`
	Title  string `db:"title"`
}

// A row is what pgx makes of it.
func TestPgxReadsStructs(t *testing.T) {
	d := newDatabase(t, kinds[1])
	d.load(t, newRandom(t).items(40)[:3])
	pool := d.pool(t, pgx.QueryExecModeCacheStatement)
	made := sqlquery.Must(sqlquery.New[items.Item](sqlquery.PostgreSQL, "items", d.mapped("")))
	toStruct := pgx.RowToStructByName[named]
	s := source{"pgx", sessionOf(t, func(
		ctx context.Context, q *aql.Query[items.Item],
	) (*aql.Page[items.Item], error) {
		return pgxquery.Query(ctx, pool, made.Take(q), func(row pgx.CollectableRow) (items.Item, error) {
			one, err := toStruct(row)
			return items.Item{ItemID: one.ItemID, Lot: one.Lot, Title: one.Title}, err
		}, sqlquery.Reading("item_id, lot, title"))
	}), nil}
	if n := len(s.ask(t, map[string]any{"filter": map[string]any{"lot": map[string]any{"gt": -100}}}).Data.Items); n != 3 {
		t.Errorf("there are %d items", n)
	}
}

// What the database refuses is an error of the answer, and Check names the field.
func TestPgxFails(t *testing.T) {
	d := newDatabase(t, kinds[1])
	d.load(t, newRandom(t).items(40)[:3])
	pool := d.pool(t, pgx.QueryExecModeCacheStatement)
	mapped := d.mapped("")
	mapped["title"] = sqlquery.Column{Name: "name"}
	made := sqlquery.Must(sqlquery.New[items.Item](sqlquery.PostgreSQL, "items", mapped))
	if err := pgxquery.Check(t.Context(), pool, made); err == nil || !strings.Contains(err.Error(), "title: ") {
		t.Errorf("there is no column name: %v", err)
	}
	broken := errors.New("broken")
	scan := func(pgx.CollectableRow) (items.Item, error) { return items.Item{}, broken }
	for _, params := range []string{`{"filter":{"title":"a"}}`, `{"aggregate":{"a":{"max":"title"}}}`, `{}`} {
		var failed error
		s := sessionOf(t, func(ctx context.Context, q *aql.Query[items.Item]) (*aql.Page[items.Item], error) {
			page, err := pgxquery.Query(ctx, pool, made.Take(q), scan)
			failed = err
			return page, err
		})
		s.Call(t.Context(), "mcp_aql_read", []byte(`{"operation":"list_items","params":`+params+`}`))
		if failed == nil || (params == "{}") != errors.Is(failed, broken) {
			t.Errorf("%s: %v", params, failed)
		}
	}
	if diff := cmp.Diff(int32(0), pool.Stat().AcquiredConns()); diff != "" {
		t.Errorf("connections that are still in use (-want +got):\n%s", diff)
	}
}
