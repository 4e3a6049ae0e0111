package databases

import (
	"strings"
	"testing"

	"github.com/aqltag/aqltag/runtime/sqlquery"
)

// A statement finds no more rows than may be read, whatever is left to the runtime: drivers read all of them when they
// close one.
func TestStatementsAreBounded(t *testing.T) {
	d := newDatabase(t, kinds[0])
	mapped := d.mapped("")
	mapped["title"] = sqlquery.Column{InMemory: true}
	through := &recorder{Querier: d}
	s := source{"some columns", sessionOf(t, d.answers(t, "items", "", mapped, through)), nil}
	s.ask(t, map[string]any{"aggregate": map[string]any{"n": map[string]any{"count": true}}})
	s.ask(t, map[string]any{"sort": map[string]any{"field": "title"}})
	s.call(t, "skip_items", map[string]any{"filter": map[string]any{"title": "x"}, "offset": 5})
	if len(through.all) != 3 {
		t.Errorf("there are %d statements", len(through.all))
	}
	for _, one := range through.all {
		if !strings.Contains(one.text, " LIMIT ") {
			t.Errorf("there is no bound: %s", one.text)
		}
	}
}
