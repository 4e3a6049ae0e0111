package collections_test

import (
	"database/sql"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	aql "github.com/aqltag/aqltag/runtime"
	"github.com/aqltag/aqltag/runtime/gen"
	"github.com/aqltag/aqltag/runtime/sqlquery"
	"github.com/aqltag/aqltag/test/collections/crates"
	"github.com/aqltag/aqltag/test/collections/library"
	"github.com/aqltag/aqltag/test/collections/parts"
	"github.com/aqltag/aqltag/test/collections/spellings"
	"github.com/aqltag/aqltag/test/collections/verbatim"
)

// What identifies elements of a table is what identifies them in the definitions that the generator makes of their
// type, however Go and JSON spell the names of its fields. Names of the sort parameter are those of the table, too.
func TestTablesKnowWhatIdentifies(t *testing.T) {
	ofParts, ofCrates := parts.NewRegistry(&parts.Store{}, &parts.Tasks{}), crates.NewRegistry(nil, nil)
	spelled, kept := spellings.NewRegistry(&spellings.Desk{}), verbatim.NewRegistry(&verbatim.Desk{})
	identifies[parts.Part](t, ofParts, "Part", "part_id", "lot")
	identifies[parts.Task](t, ofParts, "Task", "task_id")
	identifies[crates.Crate](t, ofCrates, "Crate", "part_id", "lot")
	identifies[library.Book](t, library.NewRegistry(nil), "Book", "book_id")
	identifies[spellings.Case](t, spelled, "Case", "case_id")
	identifies[spellings.Claim](t, spelled, "Claim", "claim_id")
	identifies[spellings.Note](t, spelled, "Note", "id")
	identifies[spellings.Reply](t, spelled, "Reply", "reply_id")
	identifies[spellings.Label](t, spelled, "Label", "label_id")
	identifies[spellings.Seal](t, spelled, "Seal", "seal_number", "seal_series")
	identifies[spellings.Letter](t, spelled, "Letter", "id")
	identifies[verbatim.Case](t, kept, "Case", "caseId")
	identifies[verbatim.Claim](t, kept, "Claim", "claim_id")
}

// identifies compares the identifiers of a type of a registry with those of a table, which are in its first index.
func identifies[T any](t *testing.T, registry *gen.Registry, name string, want ...string) {
	t.Helper()
	definitions := registry.Definitions()
	resource, _ := definitions.Type(name)
	var defined []string
	columns := sqlquery.Columns{}
	for _, field := range offeredBy(&definitions, name) {
		columns[field] = sqlquery.Column{InMemory: true}
	}
	for _, i := range gen.Identifiers(resource.Fields) {
		field := resource.Fields[i].Name
		defined = append(defined, field)
		columns[field] = sqlquery.Column{Name: field}
	}
	table, err := sqlquery.New[T](sqlquery.MySQL, "t", columns)
	if err != nil {
		t.Errorf("%s: %v", name, err)
		return
	}
	if diff := cmp.Diff(want, defined); diff != "" {
		t.Errorf("%s is defined with other identifiers (-want +got):\n%s", name, diff)
	}
	index := "CREATE INDEX `t_identity` ON t (`" + strings.Join(want, "`, `") + "`)"
	if diff := cmp.Diff(index, table.Indexes()[0]); diff != "" {
		t.Errorf("%s has other identifiers in a table (-want +got):\n%s", name, diff)
	}
}

// offeredBy returns the stored fields by which agents may filter and sort elements of a type.
func offeredBy(d *gen.Definitions, name string) (fields []string) {
	if filter, ok := d.Type(name + "Filter"); ok {
		for i := range filter.Fields {
			fields = append(fields, filter.Fields[i].Name)
		}
	}
	if sort, ok := d.Type(name + "Sort"); ok {
		for i := range sort.Fields {
			if sort.Fields[i].Name == "field" {
				fields = append(fields, sort.Fields[i].Enum...)
			}
		}
	}
	if resource, ok := d.Type(name); ok {
		for i := range resource.Fields {
			if p := &resource.Fields[i]; p.Filter != nil {
				fields = append(fields, p.Name)
			}
		}
	}
	return stored(fields)
}

// stored leaves computed fields out, and what combines conditions.
func stored(fields []string) (left []string) {
	for _, field := range fields {
		if !strings.HasPrefix(field, "_") {
			left = append(left, field)
		}
	}
	return left
}

// A page reads as many rows as it has, and one more, however the names of fields are spelled: conditions and orders are
// by the columns.
func TestSpelledFieldsAreTaken(t *testing.T) {
	r := &recorder{}
	db := opened(t, r)
	columns := sqlquery.Columns{"last_sending.via_post": {Name: "via_post"}}
	spelled := sessionOn(t, spellings.NewRegistry(&spellings.Desk{
		Cases: listed[spellings.Case](t, db, nil), Claims: listed[spellings.Claim](t, db, nil),
		Notes: listed[spellings.Note](t, db, nil), Replies: listed[spellings.Reply](t, db, nil),
		Labels: listed[spellings.Label](t, db, nil), Seals: listed[spellings.Seal](t, db, nil),
		Letters: listed[spellings.Letter](t, db, columns),
	}))
	kept := sessionOn(t, verbatim.NewRegistry(&verbatim.Desk{
		Cases: listed[verbatim.Case](t, db, nil), Claims: listed[verbatim.Claim](t, db, nil),
	}))
	for _, tt := range []struct {
		s                       *aql.Session
		operation, params, want string
	}{
		{spelled, "list_cases", `{"first":2}`, "ORDER BY `case_id`"},
		{spelled, "list_cases", `{"first":2,"sort":{"field":"subject"}}`, "ORDER BY `subject`, `case_id`"},
		{spelled, "list_claims", `{"first":2}`, "ORDER BY `claim_id`"},
		{spelled, "list_claims", `{"first":2,"filter":{"policy_id":"p"},"sort":{"field":"opened_at"}}`,
			"WHERE `policy_id` = ? ORDER BY `opened_at`, `claim_id`"},
		{spelled, "list_claims", `{"first":2,"filter":{"opened_at":{"gt":1}}}`,
			"WHERE `opened_at` > ? ORDER BY `claim_id`"},
		{spelled, "list_notes", `{"first":2,"sort":{"field":"case_id"}}`, "ORDER BY `case_id`, `id`"},
		{spelled, "list_replies", `{"first":2,"sort":{"field":"score"}}`, "ORDER BY `score`, `reply_id`"},
		{spelled, "list_labels", `{"first":2,"sort":{"field":"text"}}`, "ORDER BY `text`, `label_id`"},
		{spelled, "list_seals", `{"first":2}`, "ORDER BY `number`, `series`"},
		{spelled, "list_letters", `{"first":2,"sort":{"field":"last_sending.via_post"}}`,
			"ORDER BY `via_post`, `id`"},
		{kept, "list_kept_cases", `{"first":2,"filter":{"opened-at":1},"sort":{"field":"Subject"}}`,
			"WHERE `opened_at` = ? ORDER BY `subject`, `case_id`"},
		{kept, "list_kept_cases", `{"first":2,"sort":{"field":"+1"}}`, "ORDER BY `score`, `case_id`"},
		{kept, "list_kept_claims", `{"first":2}`, "ORDER BY `claim_id`"},
	} {
		r.statements = nil
		answer := send(t, tt.s, tt.operation, tt.params)
		if answer["success"] != true || len(r.statements) != 1 {
			t.Errorf("%s %s: %v after %q", tt.operation, tt.params, answer, r.statements)
			continue
		}
		_, got, _ := strings.Cut(strings.ReplaceAll(r.statements[0], " COLLATE BINARY", ""), " FROM t ")
		if diff := cmp.Diff(tt.want+" LIMIT 3", got); diff != "" {
			t.Errorf("%s %s (-want +got):\n%s", tt.operation, tt.params, diff)
		}
	}
}

// sessionOn returns a session with the operations of a registry.
func sessionOn(t *testing.T, registry *gen.Registry) *aql.Session {
	t.Helper()
	adapter, err := aql.New(registry, aql.Options{Name: "spellings", Version: "1"})
	if err != nil {
		t.Fatal(err)
	}
	return adapter.NewSession()
}

// listed answers queries from a table of SQLite without rows.
func listed[T any](
	t *testing.T, db *sql.DB, columns sqlquery.Columns,
) func(*aql.Query[T]) (*aql.Page[T], error) {
	t.Helper()
	table, err := sqlquery.New[T](sqlquery.SQLite, "t", columns)
	if err != nil {
		t.Fatal(err)
	}
	return func(q *aql.Query[T]) (*aql.Page[T], error) {
		return sqlquery.Query(t.Context(), db, table.Take(q), func(*sql.Rows) (one T, err error) { return one, nil })
	}
}
