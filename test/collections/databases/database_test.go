package databases

import (
	"database/sql"
	"encoding/json"
	"fmt"
	"net/netip"
	"net/url"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/stdlib"
	_ "modernc.org/sqlite" // the driver

	aql "github.com/aqltag/aqltag/runtime"
	"github.com/aqltag/aqltag/runtime/store/postgres/postgrestest"
	"github.com/aqltag/aqltag/test/collections/databases/items"
	"github.com/aqltag/aqltag/test/collections/databases/mariadbtest"
)

// database is a database of one test, with a table of items.
type database struct {
	*sql.DB
	kind kind
}

// kind is what differs between the databases.
type kind struct {
	name    string
	open    func(t *testing.T) *sql.DB
	types   map[string]string // of columns, by those of SQLite
	numbers bool              // placeholders have numbers
	micros  bool              // times are kept as microseconds
	arrays  bool              // lists of texts are kept as arrays, and not as JSON
}

// columns are those of the table in the order of values, with the paths of their fields and types of SQLite.
var columns = []struct{ name, field, kind string }{
	{"item_id", "item_id", "KEY NOT NULL"}, {"lot", "lot", "INTEGER NOT NULL"}, {"title", "title", "TEXT NOT NULL"},
	{"note", "note", "TEXT"}, {"grade", "grade", "TEXT NOT NULL"}, {"former", "former", "TEXT"},
	{"minutes", "minutes", "INTEGER NOT NULL"}, {"stock", "stock", "INTEGER"}, {"weight", "weight", "REAL NOT NULL"},
	{"share", "share", "REAL"}, {"ratio", "ratio", "REAL NOT NULL"}, {"checked", "checked", "BOOLEAN NOT NULL"},
	{"sealed", "sealed", "BOOLEAN"}, {"made_at", "made_at", "TIME NOT NULL"}, {"sold_at", "sold_at", "TIME"},
	{"tags", "tags", "TAGS"}, {"counts", "counts", "JSON"}, {"maker_name", "maker.name", "TEXT NOT NULL"},
	{"maker_rank", "maker.rank", "INTEGER"},
	{"plan_due_at", "plan.due_at", "TIME"}, {"serial", "serial", "INTEGER NOT NULL"},
	{"address", "address", "TEXT NOT NULL"}, {"seen_at", "seen_at", "TIME"}, {"reserve", "reserve", "REAL"},
	{"marks", "marks", "TAGS"}, {"parts", "parts", "JSON"}, {"flags", "flags", "JSON"},
}

var kinds = []kind{
	{
		name: "SQLite", open: openSQLite, micros: true,
		types: map[string]string{"KEY": "TEXT", "TIME": "INTEGER", "TAGS": "TEXT", "JSON": "TEXT"},
	},
	{
		name: "PostgreSQL", open: openPostgres, numbers: true, arrays: true,
		types: map[string]string{
			"KEY": "TEXT", "INTEGER": "BIGINT", "REAL": "DOUBLE PRECISION", "TIME": "TIMESTAMPTZ", "TAGS": "TEXT[]",
			"JSON": "JSONB",
		},
	},
	{
		name: "MariaDB", open: openMariaDB,
		types: map[string]string{
			"KEY": "VARCHAR(50) COLLATE utf8mb4_nopad_bin", "TEXT": "VARCHAR(200)", "INTEGER": "BIGINT", "REAL": "DOUBLE",
			"TIME": "DATETIME(6)", "TAGS": "JSON",
		},
	},
}

func openSQLite(t *testing.T) *sql.DB {
	t.Helper()
	options := url.Values{
		"_pragma": {"journal_mode(WAL)", "synchronous(OFF)", "busy_timeout(60000)"}, "_txlock": {"immediate"},
	}
	db, err := sql.Open("sqlite", "file:"+filepath.Join(t.TempDir(), "items.db")+"?"+options.Encode())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = db.Close() })
	return db
}

// openPostgres makes a database that orders texts as people do, and not by their bytes.
func openPostgres(t *testing.T) *sql.DB {
	t.Helper()
	server := postgrestest.Start(t)
	connect := func(database string) *sql.DB {
		config, err := pgx.ParseConfig(server.Location())
		if err != nil {
			t.Fatal(err)
		}
		config.Database = database
		db := stdlib.OpenDB(*config)
		t.Cleanup(func() { _ = db.Close() })
		return db
	}
	const create = `CREATE DATABASE items TEMPLATE template0 ENCODING UTF8 LOCALE_PROVIDER icu ICU_LOCALE 'en-US'
		LOCALE 'C'`
	if _, err := connect("postgres").ExecContext(t.Context(), create); err != nil {
		t.Fatal(err)
	}
	return connect("items")
}

func openMariaDB(t *testing.T) *sql.DB {
	t.Helper()
	return mariadbtest.Start(t).Open(t, "items")
}

// newDatabase makes a database with an empty table.
func newDatabase(t *testing.T, k kind) *database {
	t.Helper()
	d := &database{k.open(t), k}
	d.createTable(t, "items", "")
	return d
}

// createTable creates a table of items, the names of whose columns end so.
func (d *database) createTable(t *testing.T, name, suffix string) {
	t.Helper()
	var definitions []string
	for _, c := range columns {
		first, rest, _ := strings.Cut(c.kind, " ")
		if other, ok := d.kind.types[first]; ok {
			first = other
		}
		definitions = append(definitions, d.quote(c.name+suffix)+" "+first+" "+rest)
	}
	d.run(t, "CREATE TABLE "+d.quote(name)+" ("+strings.Join(definitions, ", ")+
		", PRIMARY KEY ("+d.quote("item_id"+suffix)+", "+d.quote("lot"+suffix)+"))")
}

// quote quotes a name.
func (d *database) quote(name string) string {
	mark := `"`
	if d.kind.name == "MariaDB" {
		mark = "`"
	}
	return mark + strings.ReplaceAll(name, mark, mark+mark) + mark
}

func (d *database) run(t *testing.T, statement string, args ...any) {
	t.Helper()
	if _, err := d.ExecContext(t.Context(), statement, args...); err != nil {
		t.Fatalf("%s: %s: %v", d.kind.name, statement, err)
	}
}

// load replaces what is in the table.
func (d *database) load(t *testing.T, all []items.Item) {
	t.Helper()
	d.loadTable(t, "items", all)
}

func (d *database) loadTable(t *testing.T, table string, all []items.Item) {
	t.Helper()
	tx, err := d.BeginTx(t.Context(), nil)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = tx.Rollback() }()
	if _, err := tx.ExecContext(t.Context(), "DELETE FROM "+d.quote(table)); err != nil {
		t.Fatal(err)
	}
	insert, err := tx.PrepareContext(t.Context(), d.insert(table))
	if err != nil {
		t.Fatal(err)
	}
	for i := range all {
		if _, err := insert.ExecContext(t.Context(), d.values(&all[i])...); err != nil {
			t.Fatalf("%s: %+v: %v", d.kind.name, all[i], err)
		}
	}
	if err := tx.Commit(); err != nil {
		t.Fatal(err)
	}
}

// insert is the statement that inserts values.
func (d *database) insert(table string) string {
	places := make([]string, len(columns))
	for i := range places {
		if places[i] = "?"; d.kind.numbers {
			places[i] = "$" + strconv.Itoa(i+1)
		}
	}
	return "INSERT INTO " + d.quote(table) + " VALUES (" + strings.Join(places, ", ") + ")"
}

// values are those of an item, as the database keeps them.
func (d *database) values(one *items.Item) []any {
	moment := func(at *time.Time) any {
		switch {
		case at == nil:
			return nil
		case d.kind.micros:
			return at.UnixMicro()
		}
		return *at
	}
	var tags, marks any = one.Tags, textsOf(one.Marks)
	if !d.kind.arrays {
		tags, marks = jsonOf(one.Tags), jsonOf(one.Marks)
	}
	var due, seen *time.Time
	if one.Plan != nil {
		due = &one.Plan.DueAt
	}
	if !one.SeenAt.IsZero() {
		seen = &one.SeenAt
	}
	var reserve *float64
	if v, ok := one.Reserve.Get(); ok {
		reserve = &v
	}
	return []any{
		one.ItemID, int64(one.Lot), one.Title, one.Note, string(one.Grade), (*string)(one.Former), one.Minutes, one.Stock,
		one.Weight, one.Share, float64(one.Ratio), one.Checked, one.Sealed, moment(&one.MadeAt), moment(one.SoldAt), tags,
		jsonOf(one.Counts), one.Maker.Name, one.Maker.Rank, moment(due), one.Serial, one.Address.String(), moment(seen),
		reserve, marks, jsonOf(one.Parts), jsonOf(one.Flags),
	}
}

// textsOf are the texts of a list; nil: there is none.
func textsOf[T ~string](list []T) (texts []string) {
	if list == nil {
		return nil
	}
	texts = []string{}
	for _, one := range list {
		texts = append(texts, string(one))
	}
	return texts
}

// jsonOf is the text of a list; nil: there is none.
func jsonOf[T any](list []T) any {
	if list == nil {
		return nil
	}
	text, err := json.Marshal(list)
	if err != nil {
		panic(err) // lists of texts and numbers have a text
	}
	return string(text)
}

// selected are the columns as scan reads them.
func (d *database) selected(suffix string) string {
	names := make([]string, len(columns))
	for i, c := range columns {
		names[i] = d.quote(c.name + suffix)
		if d.kind.arrays && c.kind == "TAGS" {
			names[i] = "to_jsonb(" + names[i] + ")"
		}
	}
	return strings.Join(names, ", ")
}

// scan reads an item.
func (d *database) scan(rows *sql.Rows) (one items.Item, err error) {
	var made, sold, due, seen scanned
	var address string
	var reserve *float64
	var tags, counts, marks, parts, flags []byte
	err = rows.Scan(&one.ItemID, &one.Lot, &one.Title, &one.Note, &one.Grade, &one.Former, &one.Minutes, &one.Stock,
		&one.Weight, &one.Share, &one.Ratio, &one.Checked, &one.Sealed, &made, &sold, &tags, &counts, &one.Maker.Name,
		&one.Maker.Rank, &due, &one.Serial, &address, &seen, &reserve, &marks, &parts, &flags)
	if err != nil {
		return one, err
	}
	one.MadeAt, one.SoldAt = *made.at, sold.at
	if due.at != nil {
		one.Plan = &items.Plan{DueAt: *due.at}
	}
	if seen.at != nil {
		one.SeenAt = *seen.at
	}
	if one.Reserve = aql.Null[float64](); reserve != nil {
		one.Reserve = aql.Some(*reserve)
	}
	if one.Address, err = netip.ParseAddr(address); err != nil {
		return one, err
	}
	for _, list := range []struct {
		text []byte
		into any
	}{{tags, &one.Tags}, {counts, &one.Counts}, {marks, &one.Marks}, {parts, &one.Parts}, {flags, &one.Flags}} {
		if list.text == nil {
			continue
		}
		if err := json.Unmarshal(list.text, list.into); err != nil {
			return one, err
		}
	}
	return one, nil
}

// scanned is a time that a database keeps; nil: there is none.
type scanned struct{ at *time.Time }

// Scan implements sql.Scanner.
func (s *scanned) Scan(value any) error {
	var at time.Time
	switch value := value.(type) {
	case nil:
		return nil
	case int64:
		at = time.UnixMicro(value)
	case time.Time:
		at = value
	default:
		return fmt.Errorf("a time is kept as %T", value)
	}
	at = at.UTC()
	s.at = &at
	return nil
}
