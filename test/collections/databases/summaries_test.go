package databases

import (
	"maps"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/aqltag/aqltag/test/collections/databases/items"
	"github.com/aqltag/aqltag/test/collections/internal/reference"
)

// REQ-AG-01, REQ-AG-02, REQ-AG-03, REQ-AG-04: whatever a request wants to know of the items that match, memory and
// databases answer as an evaluator does that knows nothing but the JSON of the items, beside a page too.
func TestSummariesAgree(t *testing.T) {
	for _, k := range kinds {
		t.Run(k.name, func(t *testing.T) {
			d, r := newDatabase(t, k), newRandom(t)
			agreeOnSummaries(t, r, []source{
				inMemory(t)[0], d.source(t), d.partial(t, r, "some columns"), d.collated(t), d.encoded(t),
			})
		})
	}
}

// agreeOnSummaries asks sources for random summaries.
func agreeOnSummaries(t *testing.T, r random, sources []source) {
	t.Helper()
	n := *rounds
	if testing.Short() {
		n = min(n, shortRounds)
	}
	var all []reference.Element
	for round := range n {
		if round%25 == 0 {
			kept := r.items(r.IntN(60))
			all = elementsOf(t, kept)
			for _, s := range sources {
				s.load(t, kept)
			}
		}
		query := randomQuery(t, r)
		if r.IntN(3) == 0 {
			delete(query, "filter")
		}
		if r.IntN(3) == 0 {
			query["query"] = schema.Query(r.Rand)
		}
		found := selected(t, all, query)
		aggregate, want := schema.Aggregate(r.Rand), map[string]any{}
		for label, expression := range aggregate {
			want[label] = schema.Summary(t, found, expression.(map[string]any))
		}
		params := maps.Clone(query)
		params["aggregate"] = aggregate
		size := 1 + r.IntN(5)
		beside := r.IntN(2) == 0
		if beside {
			params = paged(params, size, true, "")
			params["include_items"] = true
		}
		for _, s := range sources {
			p := s.ask(t, params)
			if diff := cmp.Diff(want, p.Data.Aggregations); diff != "" {
				t.Fatalf("round %d: %s: %s (-want +got):\n%s", round, s.name, encode(t, params), diff)
			}
			if !beside {
				continue
			}
			if diff := cmp.Diff(identities(found[:min(size, len(found))]), identities(p.Data.Items)); diff != "" {
				t.Fatalf("round %d: %s: %s: the page (-want +got):\n%s", round, s.name, encode(t, params), diff)
			}
			if total := p.Data.PageInfo.TotalCount; total == nil || *total != len(found) {
				t.Fatalf("round %d: %s: %s: the total is not %d: %+v", round, s.name, encode(t, params), len(found),
					p.Data.PageInfo)
			}
		}
	}
}

// collated is the same table as a source that has some texts compared as the database does, where that is by bytes too.
func (d *database) collated(t *testing.T) source {
	t.Helper()
	mapped := d.mapped("")
	for _, name := range []string{"title", "note", "grade", "former", "address"} {
		column := mapped[name]
		column.Collated, column.Name, column.Expr = true, "", d.byBytes(d.quote(column.Name))
		mapped[name] = column
	}
	return source{"Collated", sessionOf(t, d.answers(t, "items", "", mapped, d)), func(*testing.T, []items.Item) {}}
}

// byBytes is a column that the database compares by its bytes.
func (d *database) byBytes(column string) string {
	switch d.kind.name {
	case "SQLite":
		return column + " COLLATE BINARY"
	case "PostgreSQL":
		return column + ` COLLATE "C"`
	default:
		return column + " COLLATE utf8mb4_nopad_bin"
	}
}

// encoded is the same table as a source that keeps some values in another way.
func (d *database) encoded(t *testing.T) source {
	t.Helper()
	mapped := d.mapped("")
	for name, encode := range map[string]func(value any) any{
		"minutes": func(value any) any { return value },
		"share":   func(value any) any { return value },
		"checked": func(value any) any { return value },
	} {
		column := mapped[name]
		column.Encode = encode
		mapped[name] = column
	}
	return source{"Encode", sessionOf(t, d.answers(t, "items", "", mapped, d)), func(*testing.T, []items.Item) {}}
}

// Groups, and the least and the greatest texts, are told apart by their bytes: also where the database compares a
// column in another way.
func TestSummariesOfCollatedColumns(t *testing.T) {
	for _, k := range kinds {
		t.Run(k.name, func(t *testing.T) {
			d, r := newDatabase(t, k), newRandom(t)
			mapped := d.mapped("")
			for _, name := range []string{"title", "note", "grade", "former", "maker.name", "address"} {
				column := mapped[name]
				if column.Collated = true; k.name == "SQLite" {
					column.Expr, column.Name = d.quote(column.Name)+" COLLATE NOCASE", ""
				}
				mapped[name] = column
			}
			s := source{k.name, sessionOf(t, d.answers(t, "items", "", mapped, d)), nil}
			for range 5 {
				kept := r.items(40)
				d.load(t, kept)
				all := elementsOf(t, kept)
				for range 30 {
					aggregate, want := schema.Aggregate(r.Rand), map[string]any{}
					for label, expression := range aggregate {
						want[label] = schema.Summary(t, all, expression.(map[string]any))
					}
					got := s.ask(t, map[string]any{"aggregate": aggregate}).Data.Aggregations
					if diff := cmp.Diff(want, got); diff != "" {
						t.Fatalf("%s (-want +got):\n%s", encode(t, aggregate), diff)
					}
				}
			}
		})
	}
}
