package collections_test

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	aql "github.com/aqltag/aqltag/runtime"
	"github.com/aqltag/aqltag/runtime/sqlquery"
	"github.com/aqltag/aqltag/test/collections/parts"
)

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
	type Camel struct {
		ID       string    `json:"id"`
		OpenedAt time.Time `json:"openedAt" aql:"filter,sort"`
		Subject  string    `aql:"filter"`
		Old      string    `json:"old" aql:"name=new,filter"`
	}
	type Twins struct {
		ID    string `json:"id"`
		One   string `json:"a_b" aql:"filter"`
		Other string `json:"ab" aql:"filter"`
	}
	type Dated struct {
		ID    string      `json:"id"`
		Dates []time.Time `json:"dates" aql:"filter"`
	}
	type Crate struct {
		CrateID string `json:"crate_id"`
		Title   string `json:"title"`
		Origin  Inner  `json:"origin"`
	}
	for _, tt := range []struct {
		what string
		err  error
		want []string // in the error; empty: there is none
	}{
		{"all fields", newError(sqlquery.New[parts.Part](
			sqlquery.SQLite, "parts", columnsOf(sqlquery.SQLite, sqlquery.JSON))), nil},
		{"nothing said", newError(sqlquery.New[Tagged](sqlquery.SQLite, "tagged", nil)),
			[]string{"due: SQLite has no times", "tags: it is a list", "inner.name: it has no column"}},
		{"all that is needed", newError(sqlquery.New[Tagged](sqlquery.SQLite, "tagged", sqlquery.Columns{
			"due": {InMemory: true}, "tags": {List: sqlquery.JSON}, "inner.name": {Expr: "i.name"},
		})), nil},
		{"a field without a tag", newError(sqlquery.New[Tagged](sqlquery.PostgreSQL, "tagged", sqlquery.Columns{
			"other": {}, "tags": {List: sqlquery.Array}, "inner.name": {Name: "n"},
		})), []string{"other: agents can neither filter, sort nor search by a field of this name"}},
		{"no tags at all", newError(sqlquery.New[Plain](sqlquery.PostgreSQL, "plain", nil)),
			[]string{"name: it has no column", "count: it has no column"}},
		{"no tags, all mapped", newError(sqlquery.New[Plain](sqlquery.PostgreSQL, "plain", sqlquery.Columns{
			"name": {}, "Count": {InMemory: true},
		})), nil},
		{"arrays elsewhere", newError(sqlquery.New[Tagged](sqlquery.MySQL, "tagged", sqlquery.Columns{
			"tags": {List: sqlquery.Array}, "inner.name": {Name: "n"},
		})), []string{"tags: MySQL has no arrays"}},
		{"two columns in one", newError(sqlquery.New[Tagged](sqlquery.MySQL, "tagged", sqlquery.Columns{
			"tags": {List: "SELECT 1"}, "inner.name": {Name: "n", Expr: "n"}, "title": {List: sqlquery.JSON},
		})), []string{"tags: its List is json", "inner.name: it has a Name and an Expr", "title: it is no list"}},
		{"names as agents see them", newError(sqlquery.New[Camel](sqlquery.SQLite, "camels", sqlquery.Columns{
			"opened_at": {Name: "opened", Encode: sqlquery.UnixMicro}, "subject": {Name: "subject"}, "new": {},
		})), nil},
		{"names in camelCase", newError(sqlquery.New[Camel](sqlquery.PostgreSQL, "camels", nil)),
			[]string{"opened_at: it has no column", "subject: it has no column"}},
		{"names that are almost the same", newError(sqlquery.New[Twins](sqlquery.PostgreSQL, "twins", nil)),
			[]string{"ab: but for small letters and underscores, a_b has the same name"}},
		{"tags in a struct only", newError(sqlquery.New[Crate](sqlquery.PostgreSQL, "crates", sqlquery.Columns{
			"crate_id": {}, "title": {}, "origin.name": {Name: "origin"},
		})), nil},
		{"times in JSON", newError(sqlquery.New[Dated](sqlquery.PostgreSQL, "dated", sqlquery.Columns{
			"dates": {List: sqlquery.JSON},
		})), []string{"dates: JSON has no times: say in Encode how they are kept"}},
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

// A table knows the fields that introspection offers, and no others.
func TestTablesKnowWhatIsOffered(t *testing.T) {
	for _, d := range dialects {
		s, r := recording(t, d.Dialect, d.tags)
		inMemory := func(typ string) sqlquery.Columns {
			columns := sqlquery.Columns{}
			for _, name := range offered(t, s, typ) {
				columns[name] = sqlquery.Column{InMemory: true}
			}
			return columns
		}
		ofParts, err := sqlquery.New[parts.Part](d.Dialect, "parts", inMemory("Part"))
		if err != nil {
			t.Fatal(err)
		}
		ofTasks, err := sqlquery.New[parts.Task](d.Dialect, "tasks", inMemory("Task"))
		if err != nil {
			t.Fatal(err)
		}
		db := opened(t, r)
		if err := errors.Join(ofParts.Check(t.Context(), db), ofTasks.Check(t.Context(), db)); err != nil {
			t.Error(err)
		}
		if r.statements != nil { // one for each column, which a field that is not offered would have
			t.Errorf("%s: other fields have columns: %q", d.Dialect, r.statements)
		}
	}
}

// offered returns the fields by which agents may filter and sort elements of a type.
func offered(t *testing.T, s *aql.Session, typ string) (names []string) {
	t.Helper()
	for _, suffix := range []string{"Filter", "Sort"} {
		answer := send(t, s, "introspect", fmt.Sprintf(`{"query":"types","name":%q}`, typ+suffix))
		fields, _ := at(answer, "data", "type", "fields").([]any)
		for _, f := range fields {
			name, _ := at(f, "name").(string)
			switch {
			case name == "field":
				for _, value := range at(f, "enum").([]any) {
					names = append(names, value.(string))
				}
			case name != "order" && !strings.HasPrefix(name, "_"):
				names = append(names, name)
			}
		}
	}
	if len(names) < 10 {
		t.Fatalf("introspection offers %q of %s", names, typ)
	}
	return names
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

// All texts but those that tags call enums have an index, and no two indexes have one name.
func TestIndexesOfTexts(t *testing.T) {
	type Owner string
	type Inner struct {
		B string `json:"b" aql:"sort"`
	}
	type Element struct {
		ID       string `json:"id" aql:"id"`
		Identity string `json:"identity" aql:"sort"`
		AB       string `json:"a_b" aql:"sort"`
		A        Inner  `json:"a"`
		Owner    Owner  `json:"owner" aql:"sort"`
		State    string `json:"state" aql:"sort,enum=open|closed"`
	}
	table := sqlquery.Must(sqlquery.New[Element](sqlquery.MySQL, "t", sqlquery.Columns{"a.b": {Name: "b"}}))
	var got []string
	for _, statement := range table.Indexes() {
		got = append(got, strings.Split(statement, "`")[1])
	}
	if want := []string{"t_identity", "t_identity_2", "t_a_b", "t_a_b_2", "t_owner"}; !slices.Equal(got, want) {
		t.Errorf("the indexes are %q, want %q", got, want)
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
	columns := columnsOf(sqlquery.PostgreSQL, sqlquery.Array)
	columns["address"] = sqlquery.Column{Collated: true}
	s, r := recordingOf(t, sqlquery.PostgreSQL, columns)
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

// A condition that is empty is called so.
func TestEmptyWhere(t *testing.T) {
	_, r := recording(t, sqlquery.SQLite, sqlquery.JSON)
	table := sqlquery.Must(sqlquery.New[parts.Part](sqlquery.SQLite, "parts", columnsOf(sqlquery.SQLite, sqlquery.JSON)))
	for _, condition := range []string{"", " \n"} {
		if err := table.Check(t.Context(), opened(t, r), sqlquery.Where(condition)); err == nil ||
			!strings.Contains(err.Error(), "is empty") {
			t.Errorf("%q: %v", condition, err)
		}
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
