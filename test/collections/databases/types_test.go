package databases

import (
	"context"
	"fmt"
	"strings"
	"testing"
	"time"

	gocmp "github.com/google/go-cmp/cmp"

	aql "github.com/aqltag/aqltag/runtime"
	"github.com/aqltag/aqltag/runtime/sqlquery"
	"github.com/aqltag/aqltag/test/collections/databases/items"
)

const (
	firstID  = "0b5c4a2e-7d1f-4c55-9a3e-1f2d3c4b5a69"
	secondID = "f47ac10b-58cc-4372-a567-0e02b2c3d479"
)

// typed is a database of PostgreSQL with two items in columns of its own types: a uuid, an enum and an inet.
func typed(t *testing.T) *database {
	t.Helper()
	d := newDatabase(t, kinds[1])
	for _, statement := range []string{
		"CREATE TYPE grade AS ENUM ('poor', 'fair', 'great')",
		"ALTER TABLE items ALTER grade TYPE grade USING grade::grade, ALTER address TYPE inet USING address::inet",
		"ALTER TABLE items ALTER item_id TYPE uuid USING item_id::uuid",
	} {
		d.run(t, statement)
	}
	all := newRandom(t).items(60)[:2]
	all[0].ItemID, all[0].Grade = firstID, items.Great
	all[1].ItemID, all[1].Grade = secondID, items.Poor
	d.load(t, all)
	return d
}

// tableOf is the table of items with some columns that are kept in another way.
func (d *database) tableOf(t *testing.T, others sqlquery.Columns) *sqlquery.Table[items.Item] {
	t.Helper()
	mapped := d.mapped("")
	for name, column := range others {
		mapped[name] = column
	}
	made, err := sqlquery.New[items.Item](dialects[d.kind.name], "items", mapped)
	if err != nil {
		t.Fatal(err)
	}
	return made
}

// asText keeps the columns so that agents may ask by them whatever they may ask of texts.
var asText = sqlquery.Columns{
	"item_id": {Expr: "item_id::text"}, "grade": {Expr: "grade::text"}, "address": {Expr: "host(address)"},
}

// A column that is no text answers all that agents may ask of a field that is, by an expression that is a text. What is
// no uuid is equal to none.
func TestTypesOfPostgreSQLAsTexts(t *testing.T) {
	d := typed(t)
	made := d.tableOf(t, asText)
	if err := made.Check(t.Context(), d); err != nil {
		t.Fatal(err)
	}
	for _, statement := range made.Indexes() { // those of an enum's texts PostgreSQL would refuse
		d.run(t, statement)
	}
	s := source{"PostgreSQL", sessionOf(t, d.typedAnswers(made)), nil}
	for _, tt := range []struct {
		query map[string]any
		want  []any
	}{
		{map[string]any{"sort": map[string]any{"field": "item_id", "order": "desc"}}, []any{secondID, firstID}},
		{map[string]any{"sort": map[string]any{"field": "grade", "order": "desc"}}, []any{firstID, secondID}},
		{map[string]any{"filter": map[string]any{"item_id": secondID}}, []any{secondID}},
		{map[string]any{"filter": map[string]any{"item_id": "x"}}, nil},
		{map[string]any{"filter": map[string]any{"item_id": map[string]any{"starts": "0b5"}}}, []any{firstID}},
		{map[string]any{"filter": map[string]any{"grade": "great"}}, []any{firstID}},
	} {
		if diff := gocmp.Diff(tt.want, s.ids(t, tt.query)); diff != "" {
			t.Errorf("%v (-want +got):\n%s", tt.query, diff)
		}
	}
}

// Collated keeps the type of a column, for fields whose values are all of it: identifiers that agents do not filter by,
// enums, and types that read their own text, which refuse what is none.
func TestTypesOfPostgreSQLThatAreCollated(t *testing.T) {
	type ticket struct {
		ItemID string `json:"item_id" aql:"id"`
		Lot    int    `json:"lot" aql:"filter"`
	}
	d := typed(t)
	tickets := sqlquery.Must(sqlquery.New[ticket](sqlquery.PostgreSQL, "items", sqlquery.Columns{
		"item_id": {Collated: true},
	}))
	made := d.tableOf(t, sqlquery.Columns{
		"item_id": asText["item_id"], "grade": {Collated: true}, "address": {Collated: true},
	})
	for _, err := range []error{tickets.Check(t.Context(), d), made.Check(t.Context(), d)} {
		if err != nil {
			t.Error(err)
		}
	}
	for _, statement := range made.Indexes() {
		d.run(t, statement)
	}
	s := source{"PostgreSQL", sessionOf(t, d.typedAnswers(made)), nil}
	for _, sort := range []string{"grade", "address"} {
		query := map[string]any{"sort": map[string]any{"field": sort}}
		first := s.ask(t, paged(query, 1, true, ""))
		second := s.ask(t, paged(query, 1, true, first.Data.PageInfo.EndCursor))
		if got := len(second.Data.Items); got != 1 || second.Data.Items[0]["item_id"] == first.Data.Items[0]["item_id"] {
			t.Errorf("by %s there are %d items on the second page: %v", sort, got, second.Data.Items)
		}
	}
	address := s.ask(t, nil).Data.Items[1]["address"]
	if got := s.ids(t, map[string]any{"filter": map[string]any{"address": address, "grade": "poor"}}); len(got) != 1 {
		t.Errorf("%v is the address of %v", address, got)
	}
	reply := string(s.session.Call(t.Context(), "mcp_aql_read",
		[]byte(`{"operation":"list_items","params":{"filter":{"address":"x"}}}`)).JSON)
	if !strings.Contains(reply, `"VALIDATION_`) {
		t.Errorf("a text that is no address: %s", reply)
	}
}

// What a tag lets agents ask is asked by Check: a uuid that is Collated is compared with no other text.
func TestChecksAskWhatTagsAllow(t *testing.T) {
	d := typed(t)
	type starting struct {
		Lot    int    `json:"lot" aql:"id"`
		ItemID string `json:"item_id" aql:"filter=starts"`
	}
	type equal struct {
		Lot    int    `json:"lot" aql:"id"`
		ItemID string `json:"item_id" aql:"filter=eq|in"`
	}
	type searched struct {
		Lot    int    `json:"lot" aql:"id"`
		ItemID string `json:"item_id" aql:"search"`
	}
	type sorted struct {
		Lot    int    `json:"lot" aql:"id"`
		ItemID string `json:"item_id" aql:"sort"`
	}
	collated := sqlquery.Columns{"item_id": {Collated: true}}
	for _, tt := range []struct {
		name  string
		err   error
		fault string
	}{
		{"starts", checkOf[starting](t, d, collated), "collations are not supported by type uuid"},
		{"search", checkOf[searched](t, d, collated), "collations are not supported by type uuid"},
		{"eq", checkOf[equal](t, d, collated), "::text"},
		{"sort", checkOf[sorted](t, d, collated), ""},
		{"eq of a text", checkOf[equal](t, d, sqlquery.Columns{"item_id": asText["item_id"]}), ""},
	} {
		if (tt.err == nil) != (tt.fault == "") || !strings.Contains(fmt.Sprint(tt.err), tt.fault) {
			t.Errorf("%s: %v, want %q", tt.name, tt.err, tt.fault)
		}
	}
}

// A date is compared with times as the midnight that is read of it, by an expression that has the time of day. Check
// says so.
func TestDatesAreCheckedToBeTimes(t *testing.T) {
	d := newDatabase(t, kinds[1])
	d.run(t, "ALTER TABLE items ALTER made_at TYPE date, ALTER sold_at TYPE timestamp")
	all := newRandom(t).items(60)[:1]
	all[0].MadeAt = time.Date(2026, 7, 4, 0, 0, 0, 0, time.UTC)
	d.load(t, all)
	err := d.tableOf(t, nil).Check(t.Context(), d)
	if err == nil || !strings.Contains(err.Error(), `made_at: its column is a date`) ||
		!strings.Contains(err.Error(), `Expr: "made_at::timestamp"`) || strings.Contains(err.Error(), "sold_at") {
		t.Errorf("made_at is a date: %v", err)
	}
	made := d.tableOf(t, sqlquery.Columns{"made_at": {Expr: "made_at::timestamp"}})
	if err := made.Check(t.Context(), d); err != nil {
		t.Error(err)
	}
	for _, statement := range made.Indexes() {
		d.run(t, statement)
	}
	s := source{"PostgreSQL", sessionOf(t, func(
		ctx context.Context, q *aql.Query[items.Item],
	) (*aql.Page[items.Item], error) {
		return sqlquery.Query(ctx, d, made.Take(q), d.scan, sqlquery.Reading(d.selected("")))
	}), nil}
	for condition, want := range map[[2]string]int{
		{"eq", "00:00"}: 1, {"eq", "12:00"}: 0, {"lt", "12:00"}: 1, {"gte", "12:00"}: 0, {"gt", "00:00"}: 0,
	} {
		got := s.ids(t, map[string]any{"filter": map[string]any{"made_at": map[string]any{
			condition[0]: "2026-07-04T" + condition[1] + ":00Z",
		}}})
		if len(got) != want {
			t.Errorf("%v: there are %d items", condition, len(got))
		}
	}
}

// checkOf holds a table of T against the database.
func checkOf[T any](t *testing.T, d *database, columns sqlquery.Columns) error {
	t.Helper()
	made, err := sqlquery.New[T](sqlquery.PostgreSQL, "items", columns)
	if err != nil {
		t.Fatal(err)
	}
	return made.Check(t.Context(), d)
}

// typedAnswers are the answers of a table of such items.
func (d *database) typedAnswers(made *sqlquery.Table[items.Item]) answer {
	reading := strings.Replace(d.selected(""), d.quote("address"), "host(address)", 1)
	return func(ctx context.Context, q *aql.Query[items.Item]) (*aql.Page[items.Item], error) {
		return sqlquery.Query(ctx, d, made.Take(q), d.scan, sqlquery.Reading(reading))
	}
}

// ids are the identifiers of the items that a query finds.
func (s source) ids(t *testing.T, query map[string]any) (ids []any) {
	t.Helper()
	for _, item := range s.ask(t, query).Data.Items {
		ids = append(ids, item["item_id"])
	}
	return ids
}
