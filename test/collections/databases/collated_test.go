package databases

import (
	"context"
	"database/sql"
	"strings"
	"testing"

	gocmp "github.com/google/go-cmp/cmp"

	aql "github.com/aqltag/aqltag/runtime"
	"github.com/aqltag/aqltag/runtime/sqlquery"
	"github.com/aqltag/aqltag/test/collections/crates"
)

// folding is a table of items whose texts SQLite compares without regard to case, beside columns that are left to the
// runtime.
func folding(t *testing.T, d *database, inMemory ...string) source {
	t.Helper()
	mapped := d.mapped("")
	for name, column := range map[string]string{"item_id": "item_id", "maker.name": "maker_name"} {
		mapped[name] = sqlquery.Column{Expr: column + " COLLATE NOCASE", Collated: true}
	}
	for _, name := range inMemory {
		mapped[name] = sqlquery.Column{InMemory: true}
	}
	return source{"Collated", sessionOf(t, d.answers(t, "items", "", mapped, d)), nil}
}

// A page beside summaries is that of the request without them: the pages behind it may be asked for in either way. A
// Collated identifier that only breaks ties keeps no order from the runtime.
func TestCollatedOrdersBesideSummaries(t *testing.T) {
	d := newDatabase(t, kinds[0])
	all := newRandom(t).items(60)[:6]
	for i := range all {
		all[i].ItemID, all[i].Maker.Name = string("aBcDeF"[i]), string("fEdCbA"[i])
		all[i].Title = "one"
	}
	d.load(t, all)
	s := folding(t, d)
	for _, tt := range []struct {
		sort map[string]any
		want string
	}{
		{nil, "aBcDeF"},
		{map[string]any{"field": "maker.name"}, "FeDcBa"},
		{map[string]any{"field": "maker.name", "order": "desc"}, "aBcDeF"},
		{map[string]any{"field": "title"}, "aBcDeF"},
	} {
		cursor, got := "", ""
		for page := range 3 {
			query := map[string]any{}
			if tt.sort != nil {
				query["sort"] = tt.sort
			}
			if page != 1 { // the second page is asked for without summaries
				query["aggregate"], query["include_items"] = map[string]any{"n": map[string]any{"count": true}}, true
			}
			p := s.ask(t, paged(query, 2, true, cursor))
			for _, item := range p.Data.Items {
				got += item["item_id"].(string)
			}
			if n := string(encode(t, p.Data.Aggregations["n"])); page != 1 && !strings.Contains(n, "6") {
				t.Errorf("%v: %s items are counted", tt.sort, n)
			}
			cursor = p.Data.PageInfo.EndCursor
		}
		if got != tt.want {
			t.Errorf("%v: the items are %s, want %s", tt.sort, got, tt.want)
		}
	}
	if got := len(folding(t, d, "title").ask(t, paged(map[string]any{"sort": map[string]any{"field": "title"}}, 9, true,
		"")).Data.Items); got != 6 {
		t.Errorf("in the order of a field that is left to the runtime there are %d items", got)
	}
}

// A condition on a Collated column is never compared by its bytes: a request that needs that is refused.
func TestCollatedConditionsAreNotLeft(t *testing.T) {
	db := openSQLite(t)
	for _, statement := range []string{
		`CREATE TABLE c (part_id TEXT, lot INTEGER, title TEXT COLLATE NOCASE, minutes INTEGER)`,
		`INSERT INTO c VALUES ('a', 1, 'MILK', 1), ('b', 1, 'milk', 2)`,
	} {
		if _, err := db.ExecContext(t.Context(), statement); err != nil {
			t.Fatal(err)
		}
	}
	table := sqlquery.Must(sqlquery.New[crates.Crate](sqlquery.SQLite, "c", sqlquery.Columns{
		"title": {Collated: true}, "sold_at": {InMemory: true}, "tags": {InMemory: true}, "minutes": {InMemory: true},
	}))
	depot := &crates.Depot{Answer: func(
		ctx context.Context, q *aql.Query[crates.Crate],
	) (*aql.Page[crates.Crate], error) {
		return sqlquery.Query(ctx, db, table.Take(q), func(rows *sql.Rows) (c crates.Crate, err error) {
			err = rows.Scan(&c.PartID, &c.Lot, &c.Title, &c.Minutes)
			return c, err
		})
	}}
	adapter, err := aql.New(crates.NewRegistry(depot, &crates.Scale{}), aql.Options{Name: "c", Version: "1"})
	if err != nil {
		t.Fatal(err)
	}
	got := map[string]int{}
	want := map[string]int{
		`{"title":"milk"}`: 2, `{"title":"milk","_computed.same_title":"none"}`: 0,
		`{"_or":[{"title":"milk"},{"_computed.same_title":"none"}]}`: -1,
		`{"_or":[{"title":"milk"},{"minutes":7}]}`:                   -1,
	}
	for filter := range want {
		var p page
		decode(t, adapter.NewSession().Call(t.Context(), "mcp_aql_read",
			[]byte(`{"operation":"list_crates","params":{"filter":`+filter+`}}`)).JSON, &p)
		if got[filter] = len(p.Data.Items); !p.Success {
			got[filter] = -1
		}
	}
	if diff := gocmp.Diff(want, got); diff != "" {
		t.Errorf("items, or -1 for a refusal (-want +got):\n%s", diff)
	}
}

// In the order of a Collated column an offset passes over the elements that match what is left to the runtime.
func TestCollatedOrdersWithOffsets(t *testing.T) {
	d := newDatabase(t, kinds[0])
	all := newRandom(t).items(60)[:6]
	for i := range all {
		all[i].ItemID, all[i].Maker.Name = string("aBcDeF"[i]), string("aBcDeF"[i])
		all[i].Title = string("xyxxyx"[i])
	}
	d.load(t, all)
	p := folding(t, d, "title").call(t, "skip_items", map[string]any{
		"sort": map[string]any{"field": "maker.name"}, "filter": map[string]any{"title": "x"}, "limit": 2, "offset": 1,
	})
	if diff := gocmp.Diff([]any{"c", "D"}, []any{p.Data.Items[0]["item_id"], p.Data.Items[1]["item_id"]}); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}
