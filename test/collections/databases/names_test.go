package databases

import (
	"context"
	"database/sql"
	"strings"
	"sync"
	"testing"

	"github.com/aqltag/aqltag/runtime/sqlquery"
	"github.com/aqltag/aqltag/test/collections/internal/reference"
)

// nasty are ends of names that have to be quoted.
var nasty = []string{
	`"`, "`", "'", `' OR 1=1 --`, `"; DROP TABLE items; --`, `\`, "?", "$1", "%s", " ä", "]", "(", "/*",
}

// Names of columns are quoted, whatever they have in them.
func TestNastyNames(t *testing.T) {
	for _, k := range kinds {
		t.Run(k.name, func(t *testing.T) {
			d := newDatabase(t, k)
			r := newRandom(t)
			kept := r.items(40)
			memory := inMemory(t)[0]
			memory.load(t, kept)
			for i, end := range nasty {
				table := "items " + end
				d.createTable(t, table, end)
				d.loadTable(t, table, kept)
				s := source{k.name, sessionOf(t, d.answers(t, table, end, d.mapped(end), d)), nil}
				for range 20 {
					query := randomQuery(t, r)
					by, descending := orderOf(query)
					filter, _ := query["filter"].(map[string]any)
					total := len(schema.Select(t, elementsOf(t, kept), filter, by, descending))
					walk(t, []source{memory, s}, query, 7, i%2 == 0, total)
				}
			}
		})
	}
}

// recorder keeps the statements that it runs.
type recorder struct {
	sqlquery.Querier
	mutex sync.Mutex
	all   []statement
}

type statement struct {
	text string
	args []any
}

// QueryContext implements sqlquery.Querier.
func (r *recorder) QueryContext(ctx context.Context, text string, args ...any) (*sql.Rows, error) {
	r.mutex.Lock()
	defer r.mutex.Unlock()
	r.all = append(r.all, statement{text, args})
	return r.Querier.QueryContext(ctx, text, args...)
}

// mark is in every text of a query, and may be in no statement.
const mark = "\u2620"

// What a request says stands in no statement, only among its values: there are as many of them as placeholders, and
// statements of queries that differ only in texts are the same.
func TestTextsAreValues(t *testing.T) {
	for _, k := range kinds {
		t.Run(k.name, func(t *testing.T) {
			d := newDatabase(t, k)
			d.load(t, newRandom(t).items(20))
			through := &recorder{Querier: d}
			s := source{k.name, sessionOf(t, d.answers(t, "items", "", d.mapped(""), through)), nil}
			var first []string
			for _, text := range append(nasty, reference.Texts...) {
				through.all = nil
				text += mark
				for _, operator := range schema.Operators("title") {
					var operand any = text
					if operator == "in" {
						operand = []any{text, text}
					}
					s.ask(t, map[string]any{"filter": map[string]any{
						"title": map[string]any{operator: operand}, "_not": map[string]any{"note": map[string]any{operator: operand}},
						"_or": []any{map[string]any{"tags": text}, map[string]any{"tags": map[string]any{"all": []any{text}}}},
					}})
				}
				var texts []string
				for _, one := range through.all {
					texts = append(texts, one.text)
					places := strings.Count(one.text, "?")
					if k.numbers {
						places = strings.Count(one.text, "$")
					}
					if strings.Contains(one.text, mark) || places != len(one.args) {
						t.Errorf("%d values of\n%s", len(one.args), one.text)
					}
				}
				if first == nil {
					first = texts
				}
				if strings.Join(texts, "\n") != strings.Join(first, "\n") {
					t.Errorf("%q changes statements:\n%s\n%s", text, strings.Join(first, "\n"), strings.Join(texts, "\n"))
				}
			}
		})
	}
}
