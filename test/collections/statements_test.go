package collections_test

import (
	"context"
	"database/sql/driver"
	"flag"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	aql "github.com/aqltag/aqltag/runtime"
	"github.com/aqltag/aqltag/runtime/sqlquery"
)

var update = flag.Bool("update", false, "rewrite the golden files")

// What requests ask of a collection, as statements of each database.
func TestStatements(t *testing.T) {
	var got strings.Builder
	for _, tt := range []struct{ operation, params string }{
		{"list_taken", `{}`},
		{"list_taken", `{"last":3}`},
		{"list_taken", `{"filter":{"title":"a","minutes":{"gte":2,"lt":9}},"sort":{"field":"made_at","order":"desc"}}`},
		{"list_taken", `{"filter":{"title":{"in":["a","b"]},"checked":true},"sort":{"field":"title"},"first":10,"after":C}`},
		{"list_taken", `{"sort":{"field":"minutes","order":"desc"},"last":10,"before":C}`},
		{"list_taken", `{"filter":{"note":{"ne":"a"},"sold_at":{"gt":"2026-01-02T03:04:05.0000005Z","null":false}}}`},
		{"list_taken", `{"sort":{"field":"sold_at"},"first":2}`},
		{"list_taken", `{"sort":{"field":"sold_at"},"first":2,"after":C}`},
		{"list_taken", `{"sort":{"field":"sold_at"},"last":2,"before":C}`},
		{"list_taken", `{"sort":{"field":"grade"},"first":2,"after":C}`},
		{"list_taken", `{"filter":{"title":{"contains":"MilK","starts":"m"}}}`},
		{"list_taken", `{"filter":{"tags":{"contains":"x","all":["a","b"]},"counts":{"in":[1,2]},"grades":"fair"}}`},
		{"list_taken", `{"filter":{"tags":{"all":[]},"counts":{"in":[]},"lot":{"in":[]}}}`},
		{"list_taken", `{"filter":{"_or":[{"title":"a","lot":1},{"lot":2}],"_not":{"note":{"starts":"x"},"_or":[{}]}}}`},
		{"list_taken", `{"filter":{"serial":{"gte":18446744073709551615,"in":[1,18446744073709551615]}}}`},
		{"list_taken", `{"filter":{"address":"10.0.0.1","plan.due_at":{"lt":"2026-01-02T03:04:05Z"}}}`},
		{"list_taken", `{"filter":{"reserve":{"gt":1},"title":"a"}}`},
		{"list_taken", `{"sort":{"field":"reserve"},"filter":{"title":"a"}}`},
		{"list_offset", `{"from":"taken","offset":20,"limit":5,"sort":{"field":"sold_at","order":"desc"}}`},
		{"list_numbered", `{"from":"taken","page":3,"filter":{"_or":[{"lot":1},{"reserve":1}]}}`},
		{"search_taken", `{"query":"milk \"brown bread\""}`},
		{"list_taken", `{"filter":{"title":"a"},"aggregate":{"n":{"count":true},` +
			`"m":{"sum":"small","avg":"serial","max":"title"}}}`},
		{"list_taken", `{"aggregate":{"a":{"group_by":"note","min":"checked"},"b":{"group_by":"grade","max":"minutes"}}}`},
		{"list_taken", `{"filter":{"lot":1},"aggregate":{"a":{"min":"grade"},"b":{"group_by":"stock","max":"sold_at"}}}`},
		{"list_taken", `{"aggregate":{"a":{"group_by":"grade","count":true}},"include_items":true,"first":2}`},
		{"list_taken", `{"aggregate":{"a":{"count":true},"b":{"sum":"weight"}}}`},
	} {
		fmt.Fprintf(&got, "\n%s %s\n", tt.operation, tt.params)
		for _, d := range dialects {
			s, r := recording(t, d.Dialect, d.tags, sqlquery.Where("tenant = ? AND x <> '?'", "T"), sqlquery.Counted())
			params := strings.Replace(tt.params, "C", "%q", 1)
			if params != tt.params { // the cursor is that of the first page
				first := regexp.MustCompile(`,"(after|before)":C`).ReplaceAllString(tt.params, "")
				first = strings.Replace(first, `"filter":{"title":{"in":["a","b"]},"checked":true},`, "", 1)
				cursor := firstCursor(t, s, tt.operation, strings.ReplaceAll(first, "last", "first"))
				params = strings.Replace(params, `"filter":{"title":{"in":["a","b"]},"checked":true},`, "", 1)
				params = fmt.Sprintf(params, cursor)
			}
			if answer := send(t, s, tt.operation, params); answer["success"] != true {
				t.Errorf("%s: %s: %v", d.Dialect, params, answer)
			}
			for i, statement := range r.statements {
				fmt.Fprintf(&got, "%-10s %s\n           %s\n", d.Dialect, shortened.ReplaceAllString(statement, "fold($1)"),
					written(r.args[i]))
				if n := placeholders(d.Dialect, statement); n != len(r.args[i]) {
					t.Errorf("%s: %d placeholders and %d values: %s", d.Dialect, n, len(r.args[i]), statement)
				}
			}
		}
	}
	file := filepath.Join("testdata", "statements.txt")
	if *update {
		if err := os.WriteFile(file, []byte(got.String()[1:]), 0o644); err != nil {
			t.Fatal(err)
		}
		return
	}
	want, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(string(want), got.String()[1:]); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

// shortened matches how texts are folded in MySQL.
var shortened = regexp.MustCompile(`(?:REPLACE\(){26}([^,]*)(?:,'[A-Z]','[a-z]'\)){26}`)

// firstCursor is the last cursor of the first page of a query, from memory.
func firstCursor(t *testing.T, s *aql.Session, operation, params string) string {
	t.Helper()
	ctx := context.WithValue(t.Context(), inMemory{}, true)
	var answer map[string]any
	decoded(t, s.Call(ctx, "mcp_aql_read", fmt.Appendf(nil, `{"operation":%q,"params":%s}`, operation, params)).JSON,
		&answer)
	return endCursor(answer)
}

func written(args []driver.NamedValue) string {
	all := make([]string, len(args))
	for i, a := range args {
		switch v := a.Value.(type) {
		case time.Time:
			all[i] = v.Format(time.RFC3339Nano)
		default:
			all[i] = fmt.Sprintf("%#v", v)
		}
	}
	return "[" + strings.Join(all, ", ") + "]"
}

// placeholders counts those of a statement, and fails where those of PostgreSQL are not numbered in turn.
func placeholders(d sqlquery.Dialect, statement string) int {
	statement = regexp.MustCompile(`'[^']*'`).ReplaceAllString(statement, "")
	if d != sqlquery.PostgreSQL {
		return strings.Count(statement, "?")
	}
	found := regexp.MustCompile(`\$[0-9]+`).FindAllString(statement, -1)
	for i, p := range found {
		if p != fmt.Sprint("$", i+1) {
			return -1
		}
	}
	return len(found)
}

// target is a database that is asked for statements.
type target struct {
	*aql.Session
	*recorder
	sqlquery.Dialect
}

func targets(t testing.TB) (all []target) {
	t.Helper()
	for _, d := range dialects {
		s, r := recording(t, d.Dialect, d.tags)
		all = append(all, target{s, r, d.Dialect})
	}
	return all
}

// authors matches what in statements may have quotation marks: names, and constants of enums and of this package.
var authors = regexp.MustCompile("COLLATE \"C\"|[\"`][a-z_ ]+[\"`]|" +
	"'(?:poor|fair|great|array|text|integer|real|\\.0|\\[\\]|\\$\\[\\*\\]|\\$|[A-Za-z])'")

// check sends a request. If it is accepted it becomes statements: they have no part of the request in their text, and
// as many placeholders as values.
func (d target) check(t *testing.T, request string) {
	t.Helper()
	d.statements, d.args = nil, nil
	reply := string(d.Call(t.Context(), "mcp_aql_read", []byte(request)).JSON)
	if accepted := strings.Contains(reply, `"success":true`); accepted != (d.statements != nil) ||
		strings.Contains(reply, "INTERNAL_ERROR") {
		t.Errorf("%s: %s: %s", d.Dialect, request, reply)
	}
	for i, statement := range d.statements {
		if n := placeholders(d.Dialect, statement); n != len(d.args[i]) {
			t.Errorf("%s: %d placeholders and %d values: %s", d.Dialect, n, len(d.args[i]), statement)
		}
		rest := authors.ReplaceAllString(statement, "")
		if strings.ContainsAny(rest, "'\"`;\\") || strings.Contains(rest, "--") {
			t.Errorf("%s: %s: where is %q from?", d.Dialect, statement, rest)
		}
	}
}

func listing(t testing.TB, filter, by string) string {
	return fmt.Sprintf(`{"operation":"list_taken","params":{"filter":%s,"sort":{"field":%s}}}`, filter, encoded(t, by))
}

// REQ-CQ-05, REQ-AG-01: every filter, search, order and summary becomes statements, or is left to the runtime.
func TestRandomStatements(t *testing.T) {
	m := newMaker(t, 8)
	all := targets(t)
	for range 300 {
		by := ""
		for by == "" || kinds[by] != elementKind(kinds[by]) {
			by = names[m.IntN(len(names))]
		}
		request := listing(t, string(encoded(t, m.filter(0))), by)
		summaries := string(encoded(t, map[string]any{"operation": "list_taken", "params": map[string]any{
			"filter": m.filter(0), "aggregate": schema.Aggregate(m.Rand), "include_items": m.IntN(2) == 0,
		}}))
		search := string(encoded(t, map[string]any{"operation": "search_taken", "params": map[string]any{
			"filter": m.filter(0), "query": schema.Query(m.Rand),
		}}))
		for _, d := range all {
			d.check(t, request)
			d.check(t, summaries)
			d.check(t, search)
		}
	}
}

// summing is a request for summaries with a label, by a field and of it.
func summing(t testing.TB, filter, by, label, function string) string {
	return fmt.Sprintf(`{"operation":"list_taken","params":{"filter":%s,"aggregate":{%s:{"group_by":%s,%q:%s}}}}`, filter,
		encoded(t, label), encoded(t, by), function, encoded(t, by))
}

// FuzzStatements sends any text as a filter, as a field to sort, group and sum up by, and as the words of a search or
// the label of a summary.
func FuzzStatements(f *testing.F) {
	m := maker{rand.New(rand.NewPCG(1, 7))}
	for range 30 {
		f.Add(string(encoded(f, m.filter(0))), "title", "par; -- '\"")
	}
	f.Add(`{"title":"'; DROP TABLE parts; --"}`, "note", `" OR 1=1 --`)
	for _, by := range schema.Groupable {
		f.Add(`{"note":{"ne":"a'b"}}`, by, "by '"+by)
	}
	all := targets(f)
	f.Fuzz(func(t *testing.T, filter, by, words string) {
		search := map[string]any{"operation": "search_taken", "params": map[string]any{"query": words}}
		for _, d := range all {
			d.check(t, listing(t, filter, by))
			d.check(t, string(encoded(t, search)))
			d.check(t, summing(t, filter, by, words, "max"))
			d.check(t, summing(t, filter, by, words, "avg"))
		}
	})
}
