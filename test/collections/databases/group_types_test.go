package databases

import (
	"fmt"
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

// Sums, and the least and greatest values, are those of a column that holds what the field can be. Of any other, rows
// tell what is to be read of it, or that nothing is.
func TestNumbersInColumnsOfOtherTypes(t *testing.T) {
	types := map[int][]string{
		0: {"BLOB"}, 1: {"NUMERIC", "NUMERIC(20,1)", "DOUBLE PRECISION", "REAL", "NUMERIC(20)", "SMALLINT"},
		2: {"DECIMAL(20,1)", "DECIMAL(20)", "DOUBLE", "FLOAT", "VARCHAR(20)", "BIGINT UNSIGNED", "SMALLINT"},
	}
	for k, types := range types {
		d := newDatabase(t, kinds[k])
		kept := newRandom(t).items(60)[:2]
		for i := range kept {
			kept[i].ItemID, kept[i].Minutes, kept[i].Stock, kept[i].Serial = string("ab"[i]), 1, new(int64(1)), 1
		}
		for n, typ := range types {
			table := fmt.Sprint("numbers", n) // prepared statements know the types of each one
			d.createTable(t, table, "")
			d.loadTable(t, table, kept)
			set := 0
			for _, column := range []string{"minutes", "stock", "serial"} {
				switch k {
				case 1:
					d.run(t, "ALTER TABLE "+table+" ALTER "+column+" TYPE "+typ)
				case 2:
					d.run(t, "ALTER TABLE "+table+" MODIFY "+column+" "+typ)
				}
			}
			for _, values := range [][2]string{
				{"1", "2"}, {"0.5", "0.5"}, {"1.5", "3"}, {"9", "10"}, {"1", "'abc'"}, {"2", "x'31'"},
			} {
				if !d.sets(t, table, values) {
					continue
				}
				set++
				d.asRows(t, table, `{"sum":"minutes"}`, `{"avg":"stock"}`, `{"sum":"serial"}`, `{"min":"minutes"}`,
					`{"max":"minutes"}`, `{"group_by":"minutes","count":true}`, `{"group_by":"checked","sum":"stock"}`)
			}
			if set < 2 {
				t.Errorf("%s keeps %d pairs of values in columns of type %s", d.kind.name, set, typ)
			}
		}
	}
}

// sets updates the numbers of two items, and reports whether the columns keep such values.
func (d *database) sets(t *testing.T, table string, values [2]string) bool {
	t.Helper()
	for i, id := range []string{"a", "b"} {
		v := values[i]
		update := "UPDATE " + table + " SET minutes = " + v + ", stock = " + v + ", serial = " + v
		update += " WHERE item_id = '" + id + "'"
		if _, err := d.ExecContext(t.Context(), update); err != nil {
			return false
		}
	}
	return true
}

// An integer that has no room in the type of its field, and so cannot be read of its row, is added up as what it is.
func TestSumsDoNotWrap(t *testing.T) {
	d := newDatabase(t, kinds[2])
	kept := newRandom(t).items(60)[:1]
	kept[0].Minutes = 1
	d.load(t, kept)
	d.run(t, "ALTER TABLE items MODIFY minutes BIGINT UNSIGNED")
	d.run(t, "UPDATE items SET minutes = 18446744073709551615")
	s := source{d.kind.name, sessionOf(t, d.answers(t, "items", "", d.mapped(""), d)), nil}
	var params map[string]any
	decode(t, []byte(`{"aggregate":{"a":{"sum":"minutes"}}}`), &params)
	if got := s.ask(t, params).Data.Aggregations["a"]; got != "18446744073709551615" {
		t.Errorf("the sum is %v", got)
	}
}
