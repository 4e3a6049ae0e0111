package databases

import (
	"context"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	aql "github.com/aqltag/aqltag/runtime"
	"github.com/aqltag/aqltag/runtime/sqlquery"
	"github.com/aqltag/aqltag/test/collections/databases/items"
	"github.com/aqltag/aqltag/test/collections/internal/reference"
)

// A page behind a cursor begins where the one before it ended, whatever the digits of a FLOAT that are written as text,
// and texts are compared as UTF-8 in whatever character set they are kept.
func TestColumnsOfMySQL(t *testing.T) {
	k := kinds[2]
	d := newDatabase(t, k)
	all := newRandom(t).items(60)[:5]
	for i := range all {
		all[i].Ratio = float32(16777200 + i*3)
		all[i].Title = string([]rune("éaÿzÀ")[i])
		all[i].Note = &all[i].Title
	}
	d.run(t, "ALTER TABLE items MODIFY ratio FLOAT NOT NULL, MODIFY title VARCHAR(20) CHARACTER SET latin1 NOT NULL")
	d.load(t, all)
	made := sqlquery.Must(sqlquery.New[items.Item](sqlquery.MySQL, "items", d.mapped("")))
	database := source{k.name, sessionOf(t, func(
		ctx context.Context, q *aql.Query[items.Item],
	) (*aql.Page[items.Item], error) {
		return sqlquery.Query(ctx, d, made.Take(q), d.scan, sqlquery.Reading(d.selected("")))
	}), nil}
	memory := inMemory(t)[0]
	memory.load(t, all)
	for _, by := range []string{"ratio", "title"} {
		for _, forward := range []bool{true, false} {
			query := map[string]any{"sort": reference.Order(by, false)}
			if got := walk(t, []source{memory, database}, query, 1, forward, 5); len(got) != 5 {
				t.Errorf("by %s there are %s", by, strings.Join(got, ", "))
			}
		}
	}
	for _, filter := range []map[string]any{
		{"title": "é"}, {"title": map[string]any{"contains": "À"}}, {"title": map[string]any{"in": []any{"ÿ", "z"}}},
	} {
		want, got := memory.ask(t, map[string]any{"filter": filter}), database.ask(t, map[string]any{"filter": filter})
		if len(want.Data.Items) == 0 || len(want.Data.Items) != len(got.Data.Items) {
			t.Errorf("%v: %d items, want %d", filter, len(got.Data.Items), len(want.Data.Items))
		}
	}
}

// Groups are told apart by the whole of their texts: MariaDB itself looks at the beginning of long ones.
func TestGroupsOfLongTexts(t *testing.T) {
	k := kinds[2]
	d := newDatabase(t, k)
	all := newRandom(t).items(60)[:4]
	for i := range all {
		all[i].Title = strings.Repeat("a", 1100) + string("xyxy"[i])
		all[i].Note, all[i].Grade = new(strings.Repeat("ä", i)), items.Fair
	}
	d.run(t, "ALTER TABLE items MODIFY title TEXT NOT NULL")
	d.load(t, all)
	s := source{k.name, sessionOf(t, d.answers(t, "items", "", d.mapped(""), d)), nil}
	for _, aggregate := range []map[string]any{
		{"a": map[string]any{"group_by": "title", "count": true}},
		{"a": map[string]any{"group_by": "title", "max": "made_at"}, "b": map[string]any{"max": "title", "min": "title"}},
		{"a": map[string]any{"group_by": "note", "max": "title"}},
	} {
		want := map[string]any{}
		for label, expression := range aggregate {
			want[label] = schema.Summary(t, elementsOf(t, all), expression.(map[string]any))
		}
		got := s.ask(t, map[string]any{"aggregate": aggregate}).Data.Aggregations
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("%s (-want +got):\n%s", encode(t, aggregate), diff)
		}
	}
}

// Values that are equal in the collation of the connection are told apart wherever conditions combine them: MariaDB
// itself takes the place of one in a text for that of the other.
func TestValuesThatACollationTakesForOne(t *testing.T) {
	for _, k := range kinds {
		t.Run(k.name, func(t *testing.T) {
			d := newDatabase(t, k)
			kept := newRandom(t).items(60)[:5]
			for i := range kept {
				kept[i].Title = []string{"ab", "äb", "a ä", "a", "bä"}[i]
			}
			d.load(t, kept)
			s, all := d.source(t), elementsOf(t, kept)
			for _, filter := range []map[string]any{
				{"title": map[string]any{"starts": "a", "contains": "ä"}},
				{"title": map[string]any{"starts": "ä", "contains": "a"}},
				{"title": map[string]any{"starts": "a", "contains": "a "}},
				{"title": map[string]any{"starts": "a"}, "_not": map[string]any{"title": map[string]any{"contains": "ä"}}},
				{"title": map[string]any{"starts": "a"}, "_not": map[string]any{"title": map[string]any{"starts": "ä"}}},
				{"title": map[string]any{"starts": "a"}, "_or": []any{map[string]any{"title": map[string]any{"starts": "a "}}}},
			} {
				want := identities(schema.Select(t, all, filter, "", false))
				got := identities(s.ask(t, map[string]any{"filter": filter}).Data.Items)
				if diff := cmp.Diff(want, got); diff != "" {
					t.Errorf("%s (-want +got):\n%s", encode(t, filter), diff)
				}
			}
		})
	}
}
