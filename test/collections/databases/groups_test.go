package databases

import (
	"context"
	"database/sql"
	"encoding/json"
	"fmt"
	"math"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	aql "github.com/aqltag/aqltag/runtime"
	"github.com/aqltag/aqltag/runtime/sqlquery"
	"github.com/aqltag/aqltag/test/collections/databases/items"
)

// Summaries that a database can answer exactly read no rows, and those of times one for each group. Any other makes
// all of them read rows.
func TestSummariesReadGroups(t *testing.T) {
	for _, k := range kinds {
		t.Run(k.name, func(t *testing.T) {
			d, r := newDatabase(t, k), newRandom(t)
			var kept []items.Item
			for i, grade := range []items.Grade{items.Poor, items.Fair, items.Poor, items.Poor} {
				one := r.itemOf(string(rune('a' + i)))
				one.Grade, one.SoldAt, one.Note = grade, &one.MadeAt, nil
				kept = append(kept, one)
			}
			d.load(t, kept)
			made := sqlquery.Must(sqlquery.New[items.Item](dialects[k.name], "items", d.mapped("")))
			through, scans := &recorder{Querier: d}, 0
			s := source{k.name, sessionOf(t, func(
				ctx context.Context, q *aql.Query[items.Item],
			) (*aql.Page[items.Item], error) {
				return sqlquery.Query(ctx, through, made.Take(q), func(rows *sql.Rows) (items.Item, error) {
					scans++
					return d.scan(rows)
				}, sqlquery.Reading(d.selected("")))
			}), nil}
			for _, tt := range []struct {
				params            string
				statements, scans int
			}{
				{`{"aggregate":{"n":{"count":true}}}`, 1, 0},
				{`{"aggregate":{"n":{"count":true},"m":{"sum":"minutes","avg":"stock","min":"title","max":"checked"}}}`, 1, 0},
				{`{"aggregate":{"a":{"group_by":"grade","count":true},"b":{"group_by":"grade","avg":"lot"}}}`, 1, 0},
				{`{"aggregate":{"a":{"group_by":"grade","count":true},"b":{"group_by":"title","sum":"serial"}}}`, 2, 0},
				{`{"filter":{"lot":{"gt":-100}},"aggregate":{"a":{"group_by":"note","count":true}}}`, 1, 0},
				{`{"aggregate":{"n":{"min":"made_at"}}}`, 2, 1},
				{`{"aggregate":{"n":{"min":"made_at","max":"grade"}}}`, 3, 2},
				{`{"aggregate":{"n":{"group_by":"grade","max":"sold_at"}}}`, 2, 2},
				{`{"include_items":true,"first":3,"aggregate":{"n":{"group_by":"grade","count":true}}}`, 2, 4},
				{`{"aggregate":{"n":{"count":true},"m":{"sum":"weight"}}}`, 1, 4},
				{`{"aggregate":{"n":{"avg":"ratio"}}}`, 1, 4},
				{`{"aggregate":{"n":{"group_by":"tags","count":true}}}`, 1, 4},
			} {
				through.all, scans = nil, 0
				var params map[string]any
				decode(t, []byte(tt.params), &params)
				s.ask(t, params)
				if len(through.all) != tt.statements || scans != tt.scans {
					t.Errorf("%s: %d statements and %d rows, want %d and %d", tt.params, len(through.all), scans, tt.statements,
						tt.scans)
				}
			}
		})
	}
}

// bounded are the answers of a table under bounds of collections.
func (d *database) bounded(t *testing.T, a answer, bounds aql.Collections) source {
	t.Helper()
	adapter, err := aql.New(items.NewRegistry(&items.Service{Answer: a}),
		aql.Options{Name: "items", Version: "1", Collections: bounds})
	if err != nil {
		t.Fatal(err)
	}
	return source{d.kind.name, adapter.NewSession(), nil}
}

// A summary with more groups than may be is refused, and no statement finds more than one of these.
func TestGroupsAreBounded(t *testing.T) {
	for _, k := range kinds {
		t.Run(k.name, func(t *testing.T) {
			d, r := newDatabase(t, k), newRandom(t)
			null := "null"
			var kept []items.Item
			for i := range 9 {
				one := r.itemOf(string(rune('a' + i)))
				one.Minutes = i % 3
				one.Note = []*string{nil, &null, &one.ItemID}[min(i, 2)]
				kept = append(kept, one)
			}
			d.load(t, kept)
			through := &recorder{Querier: d}
			a := d.answers(t, "items", "", d.mapped(""), through)
			for _, tt := range []struct {
				bounds  aql.Collections
				by      string
				refused string // by which bound
				most    int    // rows of the statement
			}{
				{aql.Collections{MaxGroups: 3}, "minutes", "", 4},
				{aql.Collections{MaxGroups: 2}, "minutes", "aggregate_groups", 3},
				{aql.Collections{MaxGroups: 8}, "note", "", 10}, // what has none, and what says null, are one group
				{aql.Collections{MaxGroups: 7}, "note", "aggregate_groups", 9},
				{aql.Collections{MaxScanned: 2}, "minutes", "scanned_items", 3},
				{aql.Collections{MaxScanned: 3}, "minutes", "", 4},
			} {
				through.all = nil
				request := fmt.Appendf(nil, `{"operation":"list_items","params":{"aggregate":{"a":`+
					`{"group_by":%q,"count":true,"max":"made_at"}}}}`, tt.by)
				var p struct {
					Error struct {
						Details struct {
							LimitType string `json:"limit_type"`
						}
					}
				}
				s := d.bounded(t, a, tt.bounds)
				decode(t, s.session.Call(t.Context(), "mcp_aql_read", request).JSON, &p)
				if got := p.Error.Details.LimitType; got != tt.refused {
					t.Errorf("%+v by %s: refused for %q, want %q", tt.bounds, tt.by, got, tt.refused)
				}
				for _, one := range through.all {
					limit := fmt.Sprint(" LIMIT ", tt.most)
					if k.name == "MariaDB" {
						limit = fmt.Sprint(" LIMIT ?", one.args[len(one.args)-1])
						one.text += fmt.Sprint(tt.most)
					}
					if !strings.HasSuffix(one.text, limit) {
						t.Errorf("%+v by %s: %s", tt.bounds, tt.by, one.text)
					}
				}
			}
		})
	}
}

// What a database keeps that its groups do not tell is read of its rows.
func TestSummariesOfUnusualColumns(t *testing.T) {
	const greatest = "18446744073709551615"
	for _, k := range kinds {
		t.Run(k.name, func(t *testing.T) {
			d, r := newDatabase(t, k), newRandom(t)
			d.run(t, "CREATE TABLE copies AS SELECT * FROM items")
			kept := r.items(40)[:5]
			for i := range kept {
				kept[i].Grade, kept[i].MadeAt, kept[i].Serial = items.Fair, kept[0].MadeAt, 1
				kept[i].Weight, kept[i].Ratio, kept[i].Title = float64(float32(0.1)), 0.1, "a"
				kept[i].Minutes, kept[i].Stock = math.MinInt64, new([]int64{1 << 62, 1, -1 << 62, 0, 0}[i])
			}
			kept[4].Grade = items.Poor
			var copies []items.Item
			for _, one := range kept {
				copies = append(copies, one, one, one)
			}
			d.loadTable(t, "copies", copies) // none is identified
			want := map[string]any{
				"max": map[string]any{"fair": json.Number("12"), "poor": json.Number("3")}, "serial": json.Number("15"),
				"title": map[string]any{"a": json.Number("15")}, "weight": encoded(t, kept[0].Weight),
				"ratio": json.Number("0.1"), "minutes": "-138350580552821637120", "mean": json.Number("-9223372036854776000"),
				"stock": json.Number("3"),
			}
			switch k.name {
			case "SQLite":
				d.run(t, `UPDATE copies SET title = CAST(x'ff' AS TEXT) WHERE title = 'a'`)
				d.run(t, `UPDATE copies SET title = CAST(x'fe' AS TEXT) WHERE rowid < 5`)
				d.run(t, `UPDATE copies SET title = CAST(x'fd' AS TEXT) WHERE rowid < 4`)
				d.run(t, `UPDATE copies SET title = '`+"\ufffd"+`' WHERE rowid < 3`)
				want["title"] = map[string]any{"\ufffd": json.Number("15")}
			case "PostgreSQL":
				d.run(t, `ALTER TABLE copies ALTER serial TYPE NUMERIC(20), ALTER weight TYPE REAL, ALTER minutes TYPE NUMERIC`)
				d.run(t, "UPDATE copies SET serial = "+greatest+", share = 'NaN'")
				want["serial"] = "276701161105643274225"
			case "MariaDB":
				d.run(t, "ALTER TABLE copies MODIFY serial BIGINT UNSIGNED, MODIFY weight FLOAT, MODIFY ratio FLOAT")
				d.run(t, "UPDATE copies SET serial = "+greatest)
				want["serial"], want["weight"] = "276701161105643274225", json.Number("0.1") // which has no other digits
			}
			s := d.bounded(t, d.answers(t, "copies", "", d.mapped(""), d), aql.Collections{MaxGroups: 2})
			got := map[string]any{}
			for label, expression := range map[string]string{
				"max": `{"group_by":"grade","count":true,"max":"made_at"}`, "serial": `{"sum":"serial"}`,
				"title": `{"group_by":"title","count":true}`, "weight": `{"max":"weight"}`, "ratio": `{"min":"ratio"}`,
				"minutes": `{"sum":"minutes"}`, "stock": `{"sum":"stock"}`, "mean": `{"avg":"minutes"}`,
			} {
				var params map[string]any
				decode(t, []byte(`{"aggregate":{"`+label+`":`+expression+`}}`), &params)
				got[label] = s.ask(t, params).Data.Aggregations[label]
			}
			counts := map[string]any{}
			for grade, group := range got["max"].(map[string]any) {
				latest, _ := group.(map[string]any)["max"].(string)
				if at, err := time.Parse(time.RFC3339Nano, latest); err != nil || !at.Equal(kept[0].MadeAt) {
					t.Errorf("the latest of %s is %q, want %v", grade, latest, kept[0].MadeAt)
				}
				counts[grade] = group.(map[string]any)["count"]
			}
			got["max"] = counts
			if diff := cmp.Diff(want, got); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
			if k.name == "PostgreSQL" { // memory has numbers that are none behind all others, and JSON has none
				p := s.ask(t, map[string]any{"aggregate": map[string]any{"a": map[string]any{"max": "share"}}})
				if diff := cmp.Diff(map[string]any{"a": nil}, p.Data.Aggregations); diff != "" {
					t.Errorf("(-want +got):\n%s", diff)
				}
			}
		})
	}
}

// encoded is a number as JSON has it.
func encoded(t *testing.T, v float64) json.Number { return json.Number(encode(t, v)) }

// NULL in the column of a field that cannot be missing is no value, and is told by the rows.
func TestSummariesOfColumnsWithoutValues(t *testing.T) {
	d := newDatabase(t, kinds[0])
	d.run(t, "CREATE TABLE copies AS SELECT * FROM items")
	d.loadTable(t, "copies", newRandom(t).items(40)[:3])
	d.run(t, "UPDATE copies SET minutes = NULL, title = NULL WHERE rowid = 2")
	s := source{"SQLite", sessionOf(t, d.answers(t, "copies", "", d.mapped(""), d)), nil}
	for _, expression := range []string{
		`{"sum":"minutes"}`, `{"avg":"minutes"}`, `{"min":"minutes"}`, `{"max":"title"}`,
		`{"group_by":"title","count":true}`,
	} {
		request := []byte(`{"operation":"list_items","params":{"aggregate":{"a":` + expression + `}}}`)
		var p page
		if decode(t, s.session.Call(t.Context(), "mcp_aql_read", request).JSON, &p); p.Success {
			t.Errorf("%s is answered with %v, though no item can be read of a row", expression, p.Data.Aggregations)
		}
	}
}

// The texts of types of PostgreSQL that have no collation are grouped as they are written, and compared by the runtime.
func TestSummariesOfTypesOfPostgreSQL(t *testing.T) {
	d := newDatabase(t, kinds[1])
	kept := newRandom(t).items(40)[:4]
	for i := range kept {
		kept[i].Title = fmt.Sprintf("%08d-0000-0000-0000-00000000000a", i%3)
		kept[i].Note, kept[i].Maker.Name = new([]string{"poor", "fair", "great", "fair"}[i]), "a"
	}
	d.load(t, kept)
	d.run(t, "CREATE TYPE mood AS ENUM ('poor', 'great', 'fair')")
	d.run(t, "ALTER TABLE items ALTER title TYPE UUID USING title::uuid, ALTER note TYPE mood USING note::mood")
	mapped := d.mapped("")
	mapped["title"], mapped["note"] = sqlquery.Column{Collated: true}, sqlquery.Column{Collated: true}
	s := source{d.kind.name, sessionOf(t, d.answers(t, "items", "", mapped, d)), nil}
	for _, aggregate := range []map[string]any{
		{"a": map[string]any{"group_by": "title", "count": true}, "b": map[string]any{"group_by": "note", "count": true}},
		{"a": map[string]any{"group_by": "note", "min": "title"}, "b": map[string]any{"max": "note"}},
	} {
		want := map[string]any{}
		for label, expression := range aggregate {
			want[label] = schema.Summary(t, elementsOf(t, kept), expression.(map[string]any))
		}
		if diff := cmp.Diff(want, s.ask(t, map[string]any{"aggregate": aggregate}).Data.Aggregations); diff != "" {
			t.Errorf("%s (-want +got):\n%s", encode(t, aggregate), diff)
		}
	}
}
