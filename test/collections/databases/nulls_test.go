package databases

import (
	"context"
	"strings"
	"testing"

	gocmp "github.com/google/go-cmp/cmp"

	aql "github.com/aqltag/aqltag/runtime"
	"github.com/aqltag/aqltag/runtime/sqlquery"
	"github.com/aqltag/aqltag/test/collections/databases/items"
)

// minutesOf is a table whose field minutes, which cannot be missing, is in a column that may be NULL, where it is read
// as 0. Of its rows the column is NULL, NULL, 1, -1 and NULL.
func minutesOf(t *testing.T, d *database, column sqlquery.Column) (*sqlquery.Table[items.Item], answer) {
	t.Helper()
	all := newRandom(t).items(60)[:5]
	for i, stock := range []*int64{nil, nil, new(int64(1)), new(int64(-1)), nil} {
		all[i].ItemID, all[i].Stock, all[i].Lot = string("abcde"[i]), stock, int8(i%2)
	}
	d.load(t, all)
	mapped := d.mapped("")
	mapped["minutes"] = column
	made, err := sqlquery.New[items.Item](dialects[d.kind.name], "items", mapped)
	if err != nil {
		t.Fatal(err)
	}
	reading := strings.Replace(d.selected(""), d.quote("minutes"), "coalesce(stock, 0)", 1)
	return made, func(ctx context.Context, q *aql.Query[items.Item]) (*aql.Page[items.Item], error) {
		return sqlquery.Query(ctx, d, made.Take(q), d.scan, sqlquery.Reading(reading))
	}
}

// Rows that are not in the order that was asked for, by what was scanned, fail a page: positions among them would lose
// others.
func TestRowsThatAreOutOfOrderFail(t *testing.T) {
	for _, k := range kinds {
		t.Run(k.name, func(t *testing.T) {
			d := newDatabase(t, k)
			var failed error
			_, answer := minutesOf(t, d, sqlquery.Column{Name: "stock"})
			s := sessionOf(t, func(ctx context.Context, q *aql.Query[items.Item]) (*aql.Page[items.Item], error) {
				page, err := answer(ctx, q)
				failed = err
				return page, err
			})
			for _, params := range []string{
				`"sort":{"field":"minutes"}`, `"sort":{"field":"minutes","order":"desc"}`,
				`"sort":{"field":"minutes"},"last":5`, `"sort":{"field":"minutes"},"filter":{"_not":{"title":"none"}}`,
			} {
				reply := string(s.Call(t.Context(), "mcp_aql_read",
					[]byte(`{"operation":"list_items","params":{`+params+`}}`)).JSON)
				if !strings.Contains(reply, "INTERNAL_ERROR") || strings.Contains(reply, "minutes") {
					t.Errorf("%s: %s", params, reply)
				}
				if failed == nil || !strings.Contains(failed.Error(), "coalesce(minutes, 0)") {
					t.Errorf("%s: the log does not say what to do: %v", params, failed)
				}
			}
		})
	}
}

// A table is held against the NULL in its rows: Check names the field and what to do. With it done, no row is lost.
func TestNullBehindFieldsThatCannotBeMissing(t *testing.T) {
	for _, k := range kinds {
		t.Run(k.name, func(t *testing.T) {
			d := newDatabase(t, k)
			made, _ := minutesOf(t, d, sqlquery.Column{Name: "stock"})
			if err := made.Check(t.Context(), d); err == nil ||
				!strings.Contains(err.Error(), `minutes: it cannot be missing`) ||
				!strings.Contains(err.Error(), `Expr: "coalesce(stock, 0)"`) || strings.Count(err.Error(), "missing") > 1 {
				t.Errorf("the column of minutes is NULL in a row: %v", err)
			}
			if err := made.Check(t.Context(), d, sqlquery.Where("stock > ?", -9)); err != nil {
				t.Errorf("no row has NULL for which the author's condition holds: %v", err)
			}
			made, answer := minutesOf(t, d, sqlquery.Column{Expr: "coalesce(stock, 0)"})
			if err := made.Check(t.Context(), d); err != nil {
				t.Error(err)
			}
			s := source{k.name, sessionOf(t, answer), nil}
			for _, tt := range []struct {
				query map[string]any
				want  string
			}{
				{map[string]any{"sort": map[string]any{"field": "minutes"}}, "dabec"},
				{map[string]any{"sort": map[string]any{"field": "minutes", "order": "desc"}}, "cebad"},
				{map[string]any{"filter": map[string]any{"minutes": 0}}, "abe"},
				{map[string]any{"filter": map[string]any{"_not": map[string]any{"minutes": 1}}}, "abde"},
			} {
				got, cursor := "", ""
				for range 5 {
					p := s.ask(t, paged(tt.query, 2, true, cursor))
					for _, item := range p.Data.Items {
						got += item["item_id"].(string)
					}
					if cursor = p.Data.PageInfo.EndCursor; !p.Data.PageInfo.HasNextPage {
						break
					}
				}
				if diff := gocmp.Diff(tt.want, got); diff != "" {
					t.Errorf("%v (-want +got):\n%s", tt.query, diff)
				}
			}
		})
	}
}

// PostgreSQL reads no table for NULL in a column that is declared NOT NULL. The others know that by themselves.
func TestDeclaredColumnsAreNotReadForNull(t *testing.T) {
	d := newDatabase(t, kinds[1])
	made, _ := minutesOf(t, d, sqlquery.Column{})
	through := &recorder{Querier: d}
	if err := made.Check(t.Context(), through); err != nil {
		t.Fatal(err)
	}
	asked := 0
	for _, one := range through.all {
		if !strings.Contains(one.text, " IS NULL AND ") {
			continue
		}
		asked++
		if plan := d.plan(t, one); !strings.Contains(plan, "One-Time Filter") {
			t.Errorf("%s\n%s", one.text, plan)
		}
	}
	if asked < 10 {
		t.Errorf("%d statements ask for NULL", asked)
	}
}
