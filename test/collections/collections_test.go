package collections_test

import (
	"bytes"
	"database/sql"
	"encoding/json"
	"flag"
	"fmt"
	"math/rand/v2"
	"net/netip"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	aql "github.com/aqltag/aqltag/runtime"
	"github.com/aqltag/aqltag/test/collections/internal/reference"
	"github.com/aqltag/aqltag/test/collections/parts"
)

var (
	rounds = flag.Int("rounds", 1500, "random queries")
	seed   = flag.Uint64("seed", 0, "of random choices; 0: another one each time")
)

// newMaker returns what makes all choices of a test, which has a stream of its own, and prints its seed.
func newMaker(t *testing.T, stream uint64) maker {
	t.Helper()
	if *seed == 0 {
		*seed = rand.Uint64()
	}
	t.Logf("-seed %d", *seed)
	return maker{rand.New(rand.NewPCG(*seed, stream))}
}

// fixedKey makes cursors those of every run.
var fixedKey = aql.Options{StateKey: make([]byte, 32)}

// maker makes random elements.
type maker struct{ *rand.Rand }

func (m maker) text() string      { return reference.Texts[m.IntN(len(reference.Texts))] }
func (m maker) moment() time.Time { return time.Unix(int64(m.IntN(5)), int64(m.IntN(3))).UTC() }
func (m maker) grade() parts.Grade {
	return []parts.Grade{parts.Poor, parts.Fair, parts.Great}[m.IntN(3)]
}
func (m maker) half() float64 { return float64(m.IntN(9)-4) / 4 }

func pointer[T any](m maker, v T) *T {
	if m.IntN(3) == 0 {
		return nil
	}
	return &v
}

func list[T any](m maker, element func() T) (all []T) {
	for range m.IntN(4) {
		all = append(all, element())
	}
	return all
}

func (m maker) parts(n int) []parts.Part {
	all := make([]parts.Part, n)
	for i := range all {
		p := &all[i]
		p.Country, p.PartID, p.Lot = m.text(), fmt.Sprint("p", i/3), int8(i%3-1)
		p.Title, p.Note, p.Grade, p.Minutes = m.text(), pointer(m, m.text()), m.grade(), m.IntN(7)-3
		p.Serial, p.Small = uint64(m.IntN(3))<<62, uint8(m.IntN(2)*255)
		p.Weight, p.Ratio, p.Checked = m.half(), float32(m.IntN(4))/10, m.IntN(2) == 0
		p.MadeAt, p.SoldAt = m.moment(), pointer(m, m.moment())
		if m.IntN(2) == 0 {
			p.SeenAt = m.moment()
		}
		p.Address = netip.AddrFrom4([4]byte{10, 0, 0, byte(m.IntN(12))})
		p.Stock = sql.Null[int64]{V: int64(m.IntN(4)), Valid: m.IntN(3) > 0}
		p.Reserve = []aql.Optional[float64]{{}, aql.Null[float64](), aql.Some(m.half())}[m.IntN(3)]
		p.Tags = list(m, m.text)
		p.Counts = list(m, func() int { return m.IntN(4) })
		p.Grades = list(m, m.grade)
		deep := pointer(m, m.IntN(3))
		p.Deep = pointer(m, deep)
		p.Maker = parts.Maker{Name: m.text(), Rank: pointer(m, m.IntN(3))}
		p.Maker.Codes = list(m, func() int32 { return int32(m.IntN(4)) })
		p.Plan = pointer(m, parts.Plan{DueAt: m.moment()})
		if p.Plan != nil && m.IntN(4) > 0 {
			p.Plan.Step = aql.Some(pointer(m, parts.Step{Grade: m.grade(), Count: uint16(m.IntN(4))}))
		}
	}
	m.Shuffle(n, func(i, j int) { all[i], all[j] = all[j], all[i] })
	return all
}

// page is an answer.
type page struct {
	Success bool
	Data    struct {
		Items    []element
		PageInfo struct {
			HasNextPage, HasPreviousPage bool
			StartCursor, EndCursor       string
			TotalCount                   int
		}
	}
	Error json.RawMessage
}

// decoded decodes JSON and keeps numbers as they are.
func decoded(t testing.TB, text []byte, into any) {
	t.Helper()
	d := json.NewDecoder(bytes.NewReader(text))
	d.UseNumber()
	if err := d.Decode(into); err != nil {
		t.Fatalf("%v: %s", err, text)
	}
}

func encoded(t testing.TB, v any) []byte {
	t.Helper()
	text, err := json.Marshal(v)
	if err != nil {
		t.Fatal(err)
	}
	return text
}

func newSession(t testing.TB, store *parts.Store) *aql.Session {
	t.Helper()
	adapter, err := aql.New(parts.NewRegistry(store, &parts.Tasks{}), aql.Options{Name: "parts", Version: "1"})
	if err != nil {
		t.Fatal(err)
	}
	return adapter.NewSession()
}

// ask sends a request and returns the page that it answers.
func ask(t *testing.T, s *aql.Session, operation string, params map[string]any) page {
	t.Helper()
	request := encoded(t, map[string]any{"operation": operation, "params": params})
	var p page
	reply := s.Call(t.Context(), "mcp_aql_read", request).JSON
	if decoded(t, reply, &p); !p.Success {
		t.Fatalf("%s is refused: %s", request, reply)
	}
	return p
}

// REQ-CQ-01, REQ-CQ-02, REQ-CQ-05, REQ-CQ-06, REQ-PG-01, REQ-PG-03, REQ-PG-05: whatever a request asks of a
// collection, a slice, pointers and an iterator answer as an evaluator does that knows nothing but the JSON of the
// elements: on every page, forward and backward.
func TestQueries(t *testing.T) {
	m := newMaker(t, 2)
	if testing.Short() {
		*rounds = min(*rounds, 200)
	}
	var store parts.Store
	var all []element
	session := newSession(t, &store)
	for round := range *rounds {
		if round%50 == 0 {
			store.Parts = m.parts(m.IntN(40))
			all = elementsOf(t, store.Parts)
		}
		filter := m.filter(0)
		params := map[string]any{"filter": filter}
		by, descending := schema.Sort(m.Rand)
		if by != "" {
			params["sort"] = reference.Order(by, descending)
		}
		left, operations := all, []string{"list_slice", "list_pointers", "list_stream"}
		if m.IntN(3) == 0 {
			words := schema.Query(m.Rand)
			params["query"], left = words, having(t, all, words)
			operations = []string{"search_parts", "search_pointers", "search_stream"}
		}
		want := identities(expected(t, left, decodedFilter(t, filter), by, descending))
		size := 1 + m.IntN(10)
		for _, operation := range operations {
			if diff := cmp.Diff(want, walk(t, session, operation, params, size, len(want), true)); diff != "" {
				t.Fatalf("round %d: %s %s by %d forward (-want +got):\n%s", round, operation, encoded(t, params), size, diff)
			}
			if diff := cmp.Diff(want, walk(t, session, operation, params, size, len(want), false)); diff != "" {
				t.Fatalf("round %d: %s %s by %d backward (-want +got):\n%s", round, operation, encoded(t, params), size, diff)
			}
		}
	}
}

// REQ-CQ-05: every operator of every field compares as the evaluator does, alone and under a negation.
func TestOperators(t *testing.T) {
	m := newMaker(t, 3)
	store := &parts.Store{Parts: m.parts(60)}
	all := elementsOf(t, store.Parts)
	session := newSession(t, store)
	for _, name := range names {
		for _, operator := range operatorsOf(name) {
			for range 12 {
				filter := map[string]any{name: map[string]any{operator: m.operandOf(name, operator)}}
				if m.IntN(4) == 0 {
					filter = map[string]any{"_not": filter}
				}
				want := identities(expected(t, all, decodedFilter(t, filter), "", false))
				p := ask(t, session, "list_slice", map[string]any{"filter": filter, "first": 100})
				if diff := cmp.Diff(want, identities(p.Data.Items)); diff != "" {
					t.Errorf("%s (-want +got):\n%s", encoded(t, filter), diff)
				}
			}
		}
	}
}

// elementsOf is the JSON of parts.
func elementsOf(t testing.TB, all []parts.Part) (elements []element) {
	t.Helper()
	decoded(t, encoded(t, all), &elements)
	for i, p := range all { // encoding/json does not know sql.Null
		if elements[i]["stock"] = nil; p.Stock.Valid {
			elements[i]["stock"] = json.Number(fmt.Sprint(p.Stock.V))
		}
	}
	return elements
}

// decodedFilter is a filter as a server reads it.
func decodedFilter(t *testing.T, filter map[string]any) (again map[string]any) {
	t.Helper()
	decoded(t, encoded(t, filter), &again)
	return again
}

func identities(all []element) []string {
	ids := make([]string, len(all))
	for i, e := range all {
		ids[i] = fmt.Sprint(e["part_id"], "/", e["lot"])
	}
	return ids
}

// walk walks all pages of a query, and returns what is on them in the order of the query. total is negative if it is
// not known.
func walk(
	t *testing.T, s *aql.Session, operation string, query map[string]any, size, total int, forward bool,
) []string {
	t.Helper()
	ids := []string{}
	sizeName, cursorName := "first", "after"
	if !forward {
		sizeName, cursorName = "last", "before"
	}
	params := map[string]any{sizeName: size}
	for name, value := range query {
		params[name] = value
	}
	for {
		p := ask(t, s, operation, params)
		info := p.Data.PageInfo
		if total >= 0 && info.TotalCount != total {
			t.Fatalf("%s %s: totalCount %d, want %d", operation, encoded(t, params), info.TotalCount, total)
		}
		_, behind := params[cursorName]
		more, other, cursor := info.HasNextPage, info.HasPreviousPage, info.EndCursor
		if forward {
			ids = append(ids, identities(p.Data.Items)...)
		} else {
			ids = append(identities(p.Data.Items), ids...)
			more, other, cursor = info.HasPreviousPage, info.HasNextPage, info.StartCursor
		}
		if other != behind || len(p.Data.Items) > size || (cursor == "") != (len(p.Data.Items) == 0) ||
			more && len(p.Data.Items) != size {
			t.Fatalf("%s %s: %d items, %+v", operation, encoded(t, params), len(p.Data.Items), info)
		}
		if !more {
			return ids
		}
		params[cursorName] = cursor
	}
}
