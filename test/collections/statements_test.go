package collections_test

import (
	"context"
	"database/sql/driver"
	"errors"
	"flag"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	aql "github.com/aqltag/aqltag/runtime"
	"github.com/aqltag/aqltag/runtime/sqlquery"
	"github.com/aqltag/aqltag/test/collections/parts"
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
	} {
		fmt.Fprintf(&got, "\n%s %s\n", tt.operation, tt.params)
		for _, d := range dialects {
			s, r := recording(t, d.Dialect, d.tags, sqlquery.Where("tenant = ? AND x <> '?'", "T"), sqlquery.Counted())
			cursor := ""
			params := strings.Replace(tt.params, "C", "%q", 1)
			if params != tt.params { // the cursor is that of the first page
				first := regexp.MustCompile(`,"(after|before)":C`).ReplaceAllString(tt.params, "")
				first = strings.Replace(first, `"filter":{"title":{"in":["a","b"]},"checked":true},`, "", 1)
				cursor = firstCursor(t, s, tt.operation, strings.ReplaceAll(first, "last", "first"))
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

// A statement has no part of a request in its text: it has as many placeholders as values, and what stands in quotation
// marks is the author's.
func FuzzStatements(f *testing.F) {
	m := maker{rand.New(rand.NewPCG(1, 7))}
	for range 30 {
		f.Add(string(encoded(f, m.filter(0))), "title", "par; -- '\"")
	}
	f.Add(`{"title":"'; DROP TABLE parts; --"}`, "note", `" OR 1=1 --`)
	type target struct {
		*aql.Session
		*recorder
		sqlquery.Dialect
	}
	var targets []target
	for _, d := range dialects {
		s, r := recording(f, d.Dialect, d.tags)
		targets = append(targets, target{s, r, d.Dialect})
	}
	known := regexp.MustCompile(`COLLATE "C"|"the title"|["` + "`" + `][a-z_]+["` + "`" + `]|'(?:poor|fair|great|array|\[\]|\$\[\*\]|\$|[A-Za-z])'`)
	f.Fuzz(func(t *testing.T, filter, by, words string) {
		for _, d := range targets {
			for _, request := range []string{
				fmt.Sprintf(`{"operation":"list_taken","params":{"filter":%s,"sort":{"field":%q}}}`, filter, by),
				string(encoded(t, map[string]any{"operation": "search_taken", "params": map[string]any{"query": words}})),
			} {
				d.statements, d.recorder.args = nil, nil
				reply := d.Call(t.Context(), "mcp_aql_read", []byte(request)).JSON
				if strings.Contains(string(reply), "INTERNAL_ERROR") {
					t.Errorf("%s: %s: %s", d.Dialect, request, reply)
				}
				for i, statement := range d.statements {
					if n := placeholders(d.Dialect, statement); n != len(d.recorder.args[i]) {
						t.Errorf("%s: %d placeholders and %d values: %s", d.Dialect, n, len(d.recorder.args[i]), statement)
					}
					rest := strings.ReplaceAll(statement, "`the title`", "")
					if rest = known.ReplaceAllString(rest, ""); strings.ContainsAny(rest, "'\"`;\\") || strings.Contains(rest, "--") {
						t.Errorf("%s: %s: what is %q of?", d.Dialect, statement, rest)
					}
				}
			}
		}
	})
}

// REQ-CQ-05: what introspection offers is what the database does: a table has to say of each field by which agents may
// ask what holds it.
func TestTablesAreWhole(t *testing.T) {
	type Inner struct {
		Name string `json:"name" aql:"filter"`
	}
	type Tagged struct {
		ID    string    `json:"id" aql:"id"`
		Title string    `json:"title" aql:"filter=eq|in,desc='a, sort'" db:"t"`
		Due   time.Time `json:"due" aql:"sort"`
		Tags  []string  `json:"tags" aql:"search" gorm:"type:text;column:labels"`
		Other string    `json:"other" aql:"desc='x, filter, y'"`
		Inner *Inner    `json:"inner"`
	}
	type Plain struct {
		ID     string   `json:"id" db:"plain_id"`
		Name   string   `json:"name"`
		Secret string   `json:"secret" aql:"sensitive"`
		Tags   []string `json:"tags"`
		Hidden string   `json:"-"`
		Inner  Inner2   `json:"inner"`
		Count  int
	}
	for _, tt := range []struct {
		what string
		err  error
		want []string // in the error; empty: there is none
	}{
		{"all fields", newError(sqlquery.New[parts.Part](sqlquery.SQLite, "parts", columnsOf(sqlquery.SQLite, sqlquery.JSON))),
			nil},
		{"nothing said", newError(sqlquery.New[Tagged](sqlquery.SQLite, "tagged", nil)),
			[]string{"due: SQLite has no times", "tags: it is a list", "inner.name: it has no column"}},
		{"all that is needed", newError(sqlquery.New[Tagged](sqlquery.SQLite, "tagged", sqlquery.Columns{
			"due": {InMemory: true}, "tags": {List: sqlquery.JSON}, "inner.name": {Expr: "i.name"},
		})), nil},
		{"a field without a tag", newError(sqlquery.New[Tagged](sqlquery.PostgreSQL, "tagged", sqlquery.Columns{
			"other": {}, "tags": {List: sqlquery.Array}, "inner.name": {Name: "n"},
		})), []string{"other: agents can neither filter, sort nor search by a field of this name"}},
		{"no tags at all", newError(sqlquery.New[Plain](sqlquery.PostgreSQL, "plain", nil)),
			[]string{"name: it has no column", "Count: it has no column"}},
		{"no tags, all mapped", newError(sqlquery.New[Plain](sqlquery.PostgreSQL, "plain", sqlquery.Columns{
			"name": {}, "Count": {InMemory: true},
		})), nil},
		{"arrays elsewhere", newError(sqlquery.New[Tagged](sqlquery.MySQL, "tagged", sqlquery.Columns{
			"tags": {List: sqlquery.Array}, "inner.name": {Name: "n"},
		})), []string{"tags: MySQL has no arrays"}},
		{"two columns in one", newError(sqlquery.New[Tagged](sqlquery.MySQL, "tagged", sqlquery.Columns{
			"tags": {List: "SELECT 1"}, "inner.name": {Name: "n", Expr: "n"}, "title": {List: sqlquery.JSON},
		})), []string{"tags: its List is json", "inner.name: it has a Name and an Expr", "title: it is no list"}},
		{"no dialect", newError(sqlquery.New[Tagged](0, "tagged", nil)), []string{"needs a dialect"}},
		{"no struct", newError(sqlquery.New[string](sqlquery.MySQL, "tagged", nil)), []string{"are no structs"}},
	} {
		text := fmt.Sprint(tt.err)
		if (tt.err == nil) != (tt.want == nil) {
			t.Errorf("%s: %s", tt.what, text)
		}
		for _, want := range tt.want {
			if !strings.Contains(text, want) {
				t.Errorf("%s: the error lacks %q: %s", tt.what, want, text)
			}
		}
		if n := strings.Count(text, ";") + 1; tt.want != nil && strings.Count(text, "; name one")+len(tt.want) < n {
			t.Errorf("%s: the error names more: %s", tt.what, text)
		}
	}
}

// Inner2 is a struct without tags.
type Inner2 struct {
	Name string `json:"name"`
}

func newError[T any](_ *sqlquery.Table[T], err error) error { return err }

// The indexes in which pages are found, as each database spells them.
func TestIndexes(t *testing.T) {
	for d, want := range map[sqlquery.Dialect]string{
		sqlquery.SQLite:     "CREATE INDEX `tasks_title` ON tasks (`title` COLLATE BINARY, `task_id` COLLATE BINARY)",
		sqlquery.PostgreSQL: `CREATE INDEX "tasks_title" ON tasks ("title" COLLATE "C", "task_id" COLLATE "C")`,
		sqlquery.MySQL:      "CREATE INDEX `tasks_minutes` ON tasks (`minutes`, `task_id`)",
	} {
		columns := sqlquery.Columns{
			"tags": {List: sqlquery.JSON}, "due_at": {Encode: sqlquery.UnixMicro}, "created_at": {Encode: sqlquery.UnixMicro},
		}
		table := sqlquery.Must(sqlquery.New[parts.Task](d, "tasks", columns))
		if got := table.Indexes(); !slices.Contains(got, want) {
			t.Errorf("%s: %q lacks %q", d, got, want)
		}
		joined := sqlquery.Must(sqlquery.New[parts.Task](d, "tasks JOIN users USING (user_id)", columns))
		if got := joined.Indexes(); got != nil {
			t.Errorf("%s: the indexes of a join are %q", d, got)
		}
	}
}

// Check says which fields the database refuses.
func TestCheck(t *testing.T) {
	for _, d := range dialects {
		_, r := recording(t, d.Dialect, d.tags)
		table := sqlquery.Must(sqlquery.New[parts.Part](d.Dialect, "parts", columnsOf(d.Dialect, d.tags)))
		db := opened(t, r)
		if err := table.Check(t.Context(), db); err != nil {
			t.Errorf("%s: %v", d.Dialect, err)
		}
		r.refuse = func(statement string) error {
			if strings.Contains(statement, "the title") || strings.Contains(statement, "p.due_at") {
				return errors.New("no such column")
			}
			return nil
		}
		err := table.Check(t.Context(), db)
		for _, want := range []string{"title: no such column", "plan.due_at: no such column"} {
			if !strings.Contains(fmt.Sprint(err), want) {
				t.Errorf("%s: the error lacks %q: %v", d.Dialect, want, err)
			}
		}
		if strings.Contains(fmt.Sprint(err), "minutes") {
			t.Errorf("%s: the error names what is sound: %v", d.Dialect, err)
		}
		for i, statement := range r.statements {
			if n := placeholders(d.Dialect, statement); n != len(r.args[i]) {
				t.Errorf("%s: %d placeholders and %d values: %s", d.Dialect, n, len(r.args[i]), statement)
			}
		}
	}
}

// What the database compares in its own way is not compared by bytes where a part of a condition is left to the
// runtime.
func TestCollatedColumnsAreNotLeft(t *testing.T) {
	s, r := recording(t, sqlquery.PostgreSQL, sqlquery.Array)
	for params, want := range map[string]bool{
		`{"filter":{"address":"10.0.0.1","reserve":1}}`:                true,
		`{"filter":{"_or":[{"address":"10.0.0.1"},{"reserve":1}]}}`:    false,
		`{"filter":{"_not":{"_or":[{"address":"10.0.0.1","lot":1}]}}}`: true,
		`{"filter":{"_not":{"address":"10.0.0.1","maker.codes":[]}}}`:  false,
		`{"filter":{"_or":[{"title":"a"},{"reserve":1}]}}`:             true,
		`{"sort":{"field":"address"},"filter":{"_not":{"reserve":1}}}`: true,
	} {
		params = strings.Replace(params, "[]}", `{"all":[]}}`, 1)
		r.statements = nil
		answer := send(t, s, "list_taken", params)
		if answer["success"] != want || want != (r.statements != nil) {
			t.Errorf("%s: %v, after %q", params, answer, r.statements)
		}
	}
}

// REQ-PG-09: an offset is what the database passes over, so it is bounded.
func TestFarOffsets(t *testing.T) {
	s, r := recording(t, sqlquery.SQLite, sqlquery.JSON)
	for offset, code := range map[int]any{10_000: nil, 10_001: "VALIDATION_PAYLOAD_TOO_LARGE"} {
		answer := send(t, s, "list_offset", fmt.Sprintf(`{"from":"taken","offset":%d}`, offset))
		if got := at(answer, "error", "code"); got != code {
			t.Errorf("an offset of %d: %v", offset, answer)
		}
	}
	if len(r.statements) != 1 {
		t.Errorf("the statements are %q", r.statements)
	}
}

// An author's condition with too many or too few arguments is an error, and not another condition.
func TestWhere(t *testing.T) {
	for _, tt := range []struct {
		option sqlquery.Option
		sound  bool
	}{
		{sqlquery.Where("tenant = ?", 1), true},
		{sqlquery.Where("name = '?' AND \"a?\" = ?", 1), true},
		{sqlquery.Where("deleted IS NULL"), true},
		{sqlquery.Where("tenant = ?"), false},
		{sqlquery.Where("tenant = 1", 1), false},
		{sqlquery.Where("tenant = '?'", 1), false},
		{sqlquery.Where(" "), false},
	} {
		for _, d := range dialects {
			s, r := recording(t, d.Dialect, d.tags, tt.option, sqlquery.Reading("part_id"))
			answer := send(t, s, "list_taken", `{"filter":{"_or":[{"lot":1},{"lot":2}]}}`)
			if answer["success"] != tt.sound || tt.sound != (len(r.statements) == 1) {
				t.Errorf("%s: %v, after %q", d.Dialect, answer, r.statements)
			}
		}
	}
}
