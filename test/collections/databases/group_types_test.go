package databases

import (
	"testing"

	"github.com/google/go-cmp/cmp"
)

// asRows asks for summaries of a table twice: from groups, and beside one that makes all of them read rows. Both have
// the same answer, or none.
func (d *database) asRows(t *testing.T, table string, expressions ...string) {
	t.Helper()
	s := source{d.kind.name, sessionOf(t, d.answers(t, table, "", d.mapped(""), d)), nil}
	for _, expression := range expressions {
		ask := func(beside string) any {
			request := `{"operation":"list_items","params":{"aggregate":{"a":` + expression + beside + `}}}`
			var p page
			decode(t, s.session.Call(t.Context(), "mcp_aql_read", []byte(request)).JSON, &p)
			if !p.Success {
				return "none"
			}
			return p.Data.Aggregations["a"]
		}
		if diff := cmp.Diff(ask(`,"b":{"avg":"ratio"}`), ask("")); diff != "" {
			t.Errorf("%s: %s (-rows +groups):\n%s", d.kind.name, expression, diff)
		}
	}
}

// Drivers make times of texts in the columns of some types, and so name groups, and the least and greatest texts, in
// another way than their bytes do.
func TestTextsInColumnsOfTimes(t *testing.T) {
	for k, types := range map[int][]string{0: {"DATE", "DATETIME", "timestamp"}, 2: {"DATE", "DATETIME", "TIMESTAMP"}} {
		d := newDatabase(t, kinds[k])
		kept := newRandom(t).items(60)[:4]
		days := []string{"2026-01-02 09:30:00", "2026-01-02", "2026-01-03", "2026-01-03"}
		for i := range kept {
			kept[i].Title, kept[i].Note = days[i], new(days[3-i])
		}
		kept[2].Note = nil
		for _, typ := range types {
			d.run(t, "CREATE TABLE "+typ+"s AS SELECT * FROM items")
			if d.kind.name == "SQLite" {
				d.run(t, "ALTER TABLE "+typ+"s DROP title")
				d.run(t, "ALTER TABLE "+typ+"s ADD title "+typ)
				d.run(t, "ALTER TABLE "+typ+"s DROP note")
				d.run(t, "ALTER TABLE "+typ+"s ADD note "+typ)
			} else {
				d.run(t, "ALTER TABLE "+typ+"s MODIFY title "+typ+" NULL, MODIFY note "+typ+" NULL")
			}
			d.load(t, kept)
			d.run(t, "INSERT INTO "+typ+"s ("+d.selected("")+") SELECT "+d.selected("")+" FROM items")
			d.asRows(t, typ+"s", `{"group_by":"title","count":true}`, `{"group_by":"note","count":true}`,
				`{"min":"title","max":"title"}`, `{"min":"note","max":"note"}`,
				`{"group_by":"title","max":"note"}`, `{"group_by":"title","count":true,"max":"made_at"}`)
		}
	}
}
