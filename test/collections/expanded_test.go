package collections_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	aql "github.com/aqltag/aqltag/runtime"
	"github.com/aqltag/aqltag/runtime/audit"
	"github.com/aqltag/aqltag/runtime/policy"
	"github.com/aqltag/aqltag/runtime/quota"
	"github.com/aqltag/aqltag/test/collections/library"
)

// shelf has three books of two authors, who are each other's mentor, and one that nobody has written.
func shelf() *library.Library {
	two := "b2"
	return &library.Library{
		Books: []*library.Book{
			{BookID: "b1", Title: "One", AuthorID: "ann", EditorID: "bob", SequelID: &two, PublisherID: 7},
			{BookID: "b2", Title: "Two", AuthorID: "ann", PublisherID: 7},
			{BookID: "b3", Title: "Three", AuthorID: "bob", EditorID: "cid"},
			{BookID: "b4", Title: "Four", PublisherID: 9},
		},
		Authors: []*library.Author{
			{AuthorID: "ann", Name: "Ann", Email: "ann@example.com", MentorID: "bob",
				Home: &library.Place{City: "Ulm", Street: "Weg 1"}},
			{AuthorID: "bob", Name: "Bob", Email: "bob@example.com", MentorID: "ann"},
			{AuthorID: "cid", Name: "Cid", Email: "cid@example.com", MentorID: "cid"},
		},
		Publishers: []*library.Publisher{{ID: 7, Name: "Seven", Phone: "77"}},
	}
}

func libraryAdapter(t testing.TB, l *library.Library, options aql.Options) *aql.Adapter {
	t.Helper()
	options.Name, options.Version = "library", "1"
	adapter, err := aql.New(library.NewRegistry(l), options)
	if err != nil {
		t.Fatal(err)
	}
	return adapter
}

// keys is a call of a loader.
func keys(loader string, list ...any) library.Load { return library.Load{Loader: loader, Keys: list} }

// read sends a READ request and returns its answer as text.
func read(t testing.TB, s *aql.Session, request string) string {
	t.Helper()
	return string(s.Call(t.Context(), "mcp_aql_read", []byte(request)).JSON)
}

// A relation is a field that is loaded when it is selected and at no other time.
func TestSelectedRelations(t *testing.T) {
	const book = `{"operation":"get_book","params":{"book_id":"b1","fields":%s}}`
	const books = `{"operation":"list_books","params":{"fields":%s,"sort":{"field":"title"}}}`
	for _, test := range []struct {
		name, request, fields, want string
		loads                       []library.Load
	}{
		{
			"a field of what one resource is related to", book, `["title","author.name"]`,
			`{"title":"One","author":{"name":"Ann"}}`, []library.Load{keys("authors", "ann")},
		},
		{
			"all of it, without its own relations", book, `["publisher"]`,
			`{"publisher":{"id":7,"name":"Seven","phone":"77"}}`, []library.Load{keys("publishers", int64(7))},
		},
		{
			"something within it", book, `["author.home.city"]`, `{"author":{"home":{"city":"Ulm"}}}`,
			[]library.Load{keys("authors", "ann")},
		},
		{
			"what that is related to", book, `["author.mentor.name","author.name"]`,
			`{"author":{"name":"Ann","mentor":{"name":"Bob"}}}`,
			[]library.Load{keys("authors", "ann"), keys("authors", "bob")},
		},
		{
			"a cycle, which ends with the path", book, `["author.mentor.mentor.name"]`,
			`{"author":{"mentor":{"mentor":{"name":"Ann"}}}}`,
			[]library.Load{keys("authors", "ann"), keys("authors", "bob"), keys("authors", "ann")},
		},
		{
			"a whole resource with one of its relations", book, `["publisher","sequel.publisher.name","sequel"]`,
			`{"sequel":{"book_id":"b2","title":"Two","author_id":"ann","publisher_id":7,` +
				`"publisher":{"name":"Seven"}},"publisher":{"id":7,"name":"Seven","phone":"77"}}`,
			[]library.Load{
				keys("books", "b2"), keys("publishers", int64(7)),
			},
		},
		{
			"many of one", book, `["author.books.title"]`, `{"author":{"books":[{"title":"One"},{"title":"Two"}]}}`,
			[]library.Load{keys("authors", "ann"), keys("books of", "ann")},
		},
		{
			"beside a computed field", book, `["_computed.shouted","author.name"]`,
			`{"author":{"name":"Ann"},"_computed":{"shouted":"One!"}}`, []library.Load{keys("authors", "ann")},
		},
		{"a preset that the directive names", book, `"credits"`, `{"book_id":"b1","editor":{"author_id":"bob","name":"Bob",` +
			`"email":"bob@example.com","mentor_id":"ann"}}`, []library.Load{keys("authors", "bob")}},
		{"no other preset", book, `"standard"`, `{"book_id":"b1","title":"One"}`, nil},
		{
			"of a page, each key once", books, `["book_id","author.name","publisher.name"]`,
			`{"items":[{"book_id":"b4","author":null,"publisher":null},` +
				`{"book_id":"b1","author":{"name":"Ann"},"publisher":{"name":"Seven"}},` +
				`{"book_id":"b3","author":{"name":"Bob"},"publisher":null},` +
				`{"book_id":"b2","author":{"name":"Ann"},"publisher":{"name":"Seven"}}]`,
			[]library.Load{keys("authors", "ann", "bob"), keys("publishers", int64(9), int64(7))},
		},
	} {
		t.Run(test.name, func(t *testing.T) {
			l := shelf()
			s := libraryAdapter(t, l, aql.Options{}).NewSession()
			got := read(t, s, fmt.Sprintf(test.request, test.fields))
			if !strings.HasPrefix(got, `{"success":true,"data":`+test.want) {
				t.Errorf("got  %s\nwant %s", got, test.want)
			}
			if diff := cmp.Diff(test.loads, l.Loads()); diff != "" {
				t.Errorf("loads (-want +got):\n%s", diff)
			}
		})
	}
}

// The same loader is called once for a level, though several paths lead to it.
func TestLevelsAreLoadedOnce(t *testing.T) {
	l := shelf()
	s := libraryAdapter(t, l, aql.Options{}).NewSession()
	read(t, s, `{"operation":"list_books","params":{"fields":["author.mentor.name","editor.mentor.name"]}}`)
	want := []library.Load{
		keys("authors", "ann", "bob"), keys("authors", "bob", "cid"), // the relations differ
		keys("authors", "bob", "ann", "cid"),
	}
	if diff := cmp.Diff(want, l.Loads()); diff != "" {
		t.Errorf("-want +got:\n%s", diff)
	}
}

// failure returns the code and the message of a failure.
func failure(t testing.TB, answer string) string {
	t.Helper()
	var a struct {
		Error struct {
			Code, Message string
			Details       map[string]any
		}
	}
	decoded(t, []byte(answer), &a)
	text := a.Error.Code + ": " + a.Error.Message
	for _, name := range []string{"valid_fields", "suggestions", "expected_type", "hint"} {
		if value, has := a.Error.Details[name]; has {
			text += fmt.Sprint("; ", name, ": ", value)
		}
	}
	return text
}

func TestRefusedPathsOfRelations(t *testing.T) {
	for _, test := range []struct{ name, fields, want string }{
		{
			"a field that the related resource does not have", `["author.nme"]`,
			"VALIDATION_UNKNOWN_FIELD: Unknown field(s) in 'fields' for operation 'get_book': author.nme; valid_fields: " +
				"[author.author_id author.name author.email author.mentor_id author.home author.mentor author.books]; " +
				"suggestions: map[author.nme:author.name]",
		},
		{
			"one of another resource", `["authr.name"]`,
			"VALIDATION_UNKNOWN_FIELD: Unknown field(s) in 'fields' for operation 'get_book': authr.name; valid_fields: " +
				"[book_id title author_id editor_id sequel_id publisher_id marks author editor sequel publisher " +
				"_computed.shouted]",
		},
		{
			"four relations", `["author.mentor.mentor.mentor.name"]`,
			"VALIDATION_INVALID_TYPE: Parameter 'fields' expected 'path of at most 3 relations', got 'string'; expected_type: " +
				"path of at most 3 relations; hint: Shorten 'author.mentor.mentor.mentor.name', and ask for the rest by another " +
				"operation",
		},
		{
			"the fourth is not offered", `["author.mentor.mentor.x"]`,
			"VALIDATION_UNKNOWN_FIELD: Unknown field(s) in 'fields' for operation 'get_book': author.mentor.mentor.x; " +
				"valid_fields: [author.mentor.mentor.author_id author.mentor.mentor.name author.mentor.mentor.email " +
				"author.mentor.mentor.mentor_id author.mentor.mentor.home]; " +
				"suggestions: map[author.mentor.mentor.x:author.mentor.mentor.name]",
		},
		{
			"a computed field of what it is related to", `["sequel._computed.shouted"]`,
			"VALIDATION_UNKNOWN_FIELD: Unknown field(s) in 'fields' for operation 'get_book': sequel._computed.shouted; " +
				"valid_fields: [sequel.book_id sequel.title sequel.author_id sequel.editor_id sequel.sequel_id " +
				"sequel.publisher_id sequel.marks sequel.author sequel.editor sequel.sequel sequel.publisher]",
		},
		{"a field in what has none", `["author.name.first"]`, "VALIDATION_UNKNOWN_FIELD: Unknown field(s) in 'fields' for " +
			"operation 'get_book': author.name.first; valid_fields: [author.author_id author.name author.email " +
			"author.mentor_id author.home author.mentor author.books]"},
	} {
		l := shelf()
		s := libraryAdapter(t, l, aql.Options{}).NewSession()
		answer := read(t, s, `{"operation":"get_book","params":{"book_id":"b1","fields":`+test.fields+`}}`)
		if diff := cmp.Diff(test.want, failure(t, answer)); diff != "" {
			t.Errorf("%s (-want +got):\n%s", test.name, diff)
		}
		if loads := l.Loads(); loads != nil {
			t.Errorf("%s: %v was loaded", test.name, loads)
		}
	}
}

// Items of a batch share what they load, until one changes something.
func TestBatchesRememberRelations(t *testing.T) {
	const book = `{"operation":"get_book","params":{"book_id":%q,"fields":["author.name"]}}`
	ask := func(id string) string { return fmt.Sprintf(book, id) }
	call := `{"operation":"call_author","params":{"author_id":"ann","name":"Anna"}}`
	authors := func(list ...any) library.Load { return keys("authors", list...) }
	same := func(ctx context.Context, _ aql.Invocation, next aql.Next) (any, error) { return next(ctx) }
	for _, test := range []struct {
		name    string
		items   []string
		options aql.Options
		want    []library.Load
		name2   string
	}{
		{"reads", []string{ask("b1"), ask("b2"), ask("b3")}, aql.Options{}, []library.Load{authors("ann"), authors("bob")},
			`{"author":{"name":"Ann"}}`},
		{"a change between them", []string{ask("b1"), call, ask("b2")}, aql.Options{},
			[]library.Load{authors("ann"), authors("ann")}, `{"author":{"name":"Anna"}}`},
		{"interceptors, whose contexts may differ", []string{ask("b1"), ask("b2")},
			aql.Options{Intercept: []aql.Interceptor{same}}, []library.Load{authors("ann"), authors("ann")},
			`{"author":{"name":"Ann"}}`},
	} {
		l := shelf()
		test.options.Mode = aql.ModeSingle
		s := libraryAdapter(t, l, test.options).NewSession()
		answer := string(s.Call(t.Context(), "mcp_aql", []byte(`{"operations":[`+strings.Join(test.items, ",")+`]}`)).JSON)
		if diff := cmp.Diff(test.want, l.Loads()); diff != "" {
			t.Errorf("%s: loads (-want +got):\n%s", test.name, diff)
		}
		if !strings.Contains(answer, test.name2) || strings.Contains(answer, `"success":false`) {
			t.Errorf("%s: %s", test.name, answer)
		}
	}
}

// Many resources of one are cut at 25, and the answer says which operation has the rest.
func TestManyRelatedAreCut(t *testing.T) {
	l := shelf()
	for i := range 30 {
		l.Books = append(l.Books, &library.Book{BookID: fmt.Sprint("c", i), Title: "C", AuthorID: "cid"})
	}
	s := libraryAdapter(t, l, aql.Options{}).NewSession()
	answer := read(t, s, `{"operation":"list_authors","params":{"fields":["name","books.book_id"]}}`)
	if got := strings.Count(answer, `"book_id"`); got != 2+1+25 {
		t.Errorf("%d books: %s", got, answer)
	}
	var a map[string]any
	decoded(t, []byte(answer), &a)
	want := []string{"VALIDATION_TRUNCATED_WARNING: Relation 'author.books' has no more than 25 of each element; " +
		"operation 'list_books_of' has the rest"}
	if diff := cmp.Diff(want, warningCodes(a)); diff != "" {
		t.Errorf("-want +got:\n%s", diff)
	}
}

func TestRelatedResourcesAreBounded(t *testing.T) {
	for most, want := range map[int]string{
		3: `{"success":true`,
		2: "VALIDATION_PAYLOAD_TOO_LARGE: Payload exceeds related_items limit of 2; ask for fewer items, or for fewer " +
			"relations",
	} {
		l := shelf()
		s := libraryAdapter(t, l, aql.Options{Collections: aql.Collections{MaxRelated: most}}).NewSession()
		answer := read(t, s, `{"operation":"list_books","params":{"fields":["author.name","publisher.name"]}}`)
		if got := failure(t, answer); !strings.HasPrefix(answer, want) && got != want {
			t.Errorf("%d: %s", most, answer)
		}
	}
}

// Rights to a relation are those to the operation that an agent would call instead.
func TestRightsToSelectedRelations(t *testing.T) {
	const request = `{"operation":"list_books","params":{"fields":["book_id","author.name"],"sort":{"field":"title"}}}`
	for _, test := range []struct {
		name     string
		rule     policy.Rule
		want     string
		warnings []string
	}{
		{
			"an operation that is denied", policy.Rule{Name: "r", Effect: policy.Deny, Operations: []string{"get_author"}},
			"PERMISSION_DENIED: Permission denied: 'field \"author\" needs operation \"get_author\", which the policy of this " +
				"adapter does not allow'", nil,
		},
		{
			"one that asks for a confirmation",
			policy.Rule{Name: "r", Effect: policy.Confirm, Operations: []string{"get_author"}},
			"PERMISSION_DENIED: Permission denied: 'field \"author\" needs operation \"get_author\", which asks for a " +
				"confirmation; leave it out, or call that operation itself'", nil,
		},
		{"one that is not needed", policy.Rule{Name: "r", Effect: policy.Deny, Operations: []string{"get_publisher"}},
			`"author":{"name":"Ann"}`, nil},
		{
			"one key",
			policy.Rule{Name: "r", Effect: policy.Deny, Operations: []string{"get_author"}, When: when("author_id", "ann")},
			`{"book_id":"b1","author":null},{"book_id":"b3","author":{"name":"Bob"}},{"book_id":"b2","author":null}`,
			[]string{"PERMISSION_DENIED_WARNING: Relation 'book.author' leaves out what operation 'get_author' does not allow"},
		},
	} {
		l := shelf()
		s := libraryAdapter(t, l, aql.Options{Policy: &policy.Policy{Rules: []policy.Rule{test.rule}}}).NewSession()
		answer := read(t, s, request)
		if got := failure(t, answer); got != test.want && !strings.Contains(answer, test.want) {
			t.Errorf("%s: %s", test.name, answer)
		}
		var a map[string]any
		decoded(t, []byte(answer), &a)
		if diff := cmp.Diff(test.warnings, warningCodes(a)); diff != "" {
			t.Errorf("%s (-want +got):\n%s", test.name, diff)
		}
	}
}

// A relation that is cut and leaves something out has one warning of each.
func TestRelationsThatAreCutAndLeaveOutWarnOnce(t *testing.T) {
	l := shelf()
	for i := range 30 {
		l.Books = append(l.Books, &library.Book{BookID: fmt.Sprint("c", i), Title: "C", AuthorID: "cid"})
	}
	rule := policy.Rule{
		Name: "r", Effect: policy.Deny, Operations: []string{"list_books_of"}, When: when("author_id", "ann"),
	}
	s := libraryAdapter(t, l, aql.Options{Policy: &policy.Policy{Rules: []policy.Rule{rule}}}).NewSession()
	answer := read(t, s, `{"operation":"list_authors","params":{"fields":["name","books.book_id"]}}`)
	var a map[string]any
	decoded(t, []byte(answer), &a)
	want := []string{
		"PERMISSION_DENIED_WARNING: Relation 'author.books' leaves out what operation 'list_books_of' does not allow",
		"VALIDATION_TRUNCATED_WARNING: Relation 'author.books' has no more than 25 of each element; " +
			"operation 'list_books_of' has the rest",
	}
	if diff := cmp.Diff(want, warningCodes(a)); diff != "" {
		t.Errorf("-want +got:\n%s", diff)
	}
	if strings.Contains(answer, "occurrence_count") {
		t.Errorf("a warning is counted twice: %s", answer)
	}
}

// A relation that only a preset selects does not fail a request: where it may not be loaded, it is left out.
func TestPresetsLeaveOutRelationsThatAreRefused(t *testing.T) {
	const leaves = "PERMISSION_DENIED_WARNING: " +
		"Relation 'book.editor' leaves out what operation 'get_author' does not allow"
	rules := func(effect policy.Effect) aql.Options {
		return aql.Options{Policy: &policy.Policy{Rules: []policy.Rule{{
			Name: "r", Effect: effect, Operations: []string{"get_author"},
		}}}}
	}
	spent := aql.Options{Quota: quota.Options{Limits: []quota.Limit{
		{Operation: "get_author", Limit: 1, Window: quota.Hour},
	}}}
	const book = `{"operation":"get_book","params":{"book_id":"b1"%s}}`
	for _, tt := range []struct {
		name, params string
		options      aql.Options
		want         string // what the answer has
		warnings     []string
	}{
		{"denied", `,"fields":"credits"`, rules(policy.Deny), `"data":{"book_id":"b1","editor":null}`, []string{leaves}},
		{"with a confirmation", `,"fields":"credits"`, rules(policy.Confirm), `"editor":null`, []string{leaves}},
		{"as the default preset of one resource", ``, rules(policy.Deny), `"editor":null`, []string{leaves}},
		{"beside a path", `,"preset":"credits","fields":["title"]`, rules(policy.Deny), `"editor":null`, []string{leaves}},
		{"that a path names, too", `,"preset":"credits","fields":["editor.name"]`, rules(policy.Deny),
			"PERMISSION_DENIED", nil},
		{"with another that a path names", `,"preset":"credits","fields":["author.name"]`, rules(policy.Deny),
			"PERMISSION_DENIED", nil},
		{"within the quota", `,"fields":"credits"`, spent, `"editor":{"author_id":"bob"`, nil},
	} {
		l := shelf()
		s := libraryAdapter(t, l, tt.options).NewSession()
		answer := read(t, s, fmt.Sprintf(book, tt.params))
		if !strings.Contains(answer, tt.want) {
			t.Errorf("%s: %s", tt.name, answer)
		}
		var a map[string]any
		decoded(t, []byte(answer), &a)
		if diff := cmp.Diff(tt.warnings, warningCodes(a)); diff != "" {
			t.Errorf("%s (-want +got):\n%s", tt.name, diff)
		}
		if loads := l.Loads(); (tt.warnings != nil) == (loads != nil) && tt.want != "PERMISSION_DENIED" {
			t.Errorf("%s: %v", tt.name, loads)
		}
	}
	l := shelf()
	s := libraryAdapter(t, l, spent).NewSession()
	read(t, s, `{"operation":"get_author","params":{"author_id":"ann"}}`)
	if answer := read(t, s, fmt.Sprintf(book, `,"fields":"credits"`)); !strings.Contains(answer, `"editor":null`) ||
		!strings.Contains(answer, "book.editor") {
		t.Errorf("no quota is left: %s", answer)
	}
	answer := read(t, libraryAdapter(t, l, rules(policy.Deny)).NewSession(), `{"operations":[`+
		fmt.Sprintf(book, `,"fields":"credits"`)+`,`+fmt.Sprintf(book, `,"fields":["editor.name"]`)+`]}`)
	if !strings.Contains(answer, `"editor":null`) || !strings.Contains(answer, `"PERMISSION_DENIED"`) {
		t.Errorf("what a preset leaves out is refused where it is named: %s", answer)
	}
}

// A key that is denied stays so for the rest of a batch, and is warned of, also where the first item has failed.
func TestDeniedKeysAreRemembered(t *testing.T) {
	l := shelf()
	l.Fail = func(_ context.Context, load library.Load) error {
		if load.Loader == "publishers" {
			return errors.New("the publishers are gone")
		}
		return nil
	}
	rule := policy.Rule{Name: "r", Effect: policy.Deny, Operations: []string{"get_author"}, When: when("author_id", "ann")}
	s := libraryAdapter(t, l, aql.Options{Policy: &policy.Policy{Rules: []policy.Rule{rule}}}).NewSession()
	answer := read(t, s, `{"operations":[`+
		`{"operation":"get_book","params":{"book_id":"b1","fields":["author.name","publisher.name"]}},`+
		`{"operation":"get_book","params":{"book_id":"b2","fields":["author.name"]}}]}`)
	var a map[string]any
	decoded(t, []byte(answer), &a)
	want := []string{
		"PERMISSION_DENIED_WARNING: Relation 'book.author' leaves out what operation 'get_author' does not allow",
	}
	if diff := cmp.Diff(want, warningCodes(a)); diff != "" || !strings.Contains(answer, `{"author":null}`) {
		t.Errorf("%s (-want +got):\n%s", answer, diff)
	}
}

// Each load counts as one request of the operation to which the relation leads, and denials are on record as its own.
func TestSelectedRelationsAreRequestsOfTheirOperation(t *testing.T) {
	var log records
	written := audit.New(audit.Options{Sinks: []audit.Sink{&log}})
	s := libraryAdapter(t, shelf(), aql.Options{
		Audit: written,
		Quota: quota.Options{Limits: []quota.Limit{{Operation: "get_author", Limit: 1, Window: quota.Hour}}},
		Policy: &policy.Policy{Rules: []policy.Rule{{
			Name: "r", Effect: policy.Deny, Operations: []string{"get_author"}, When: when("author_id", "cid"),
		}}},
	}).NewSession()
	const request = `{"operation":"get_book","params":{"book_id":"b3","fields":["author.name","editor.name"]}}`
	for i, want := range []string{`"editor":null`, "RATE_LIMIT_EXCEEDED"} { // the keys of two relations are two loads
		if answer := read(t, s, request); !strings.Contains(answer, want) {
			t.Errorf("request %d: %s", i, answer)
		}
	}
	if err := written.Close(t.Context()); err != nil {
		t.Fatal(err)
	}
	first := log.list[0]
	got := fmt.Sprint(first.Operation, " ", first.Event, " ", first.Rule, " ", string(first.Parameters))
	if want := `get_author OPERATION_DENIED r {"author_id":["cid"]}`; got != want {
		t.Errorf("got %s, want %s", got, want)
	}
}

// What a policy hides does not exist within what resources are related to, either, and nothing names it.
func TestHiddenFieldsOfRelatedResources(t *testing.T) {
	for _, test := range []struct{ name, hide, fields, want string }{
		{"a field of the related resource", "Author.email", `["author"]`,
			`"author":{"author_id":"ann","name":"Ann","mentor_id":"bob","home":{"city":"Ulm","street":"Weg 1"}}`},
		{"one within it", "Place.street", `["author.home"]`, `{"author":{"home":{"city":"Ulm"}}}`},
		{"one that is asked for", "Author.email", `["author.email"]`, "valid_fields: [author.author_id author.name " +
			"author.mentor_id author.home author.mentor author.books]"},
		{"behind two relations", "Author.email", `["sequel.author"]`,
			`{"sequel":{"author":{"author_id":"ann","name":"Ann","mentor_id":"bob","home":{"city":"Ulm","street":"Weg 1"}}}}`},
		{"the key", "Book.author_id", `["author.name"]`, "valid_fields: [book_id title editor_id sequel_id publisher_id " +
			"marks editor sequel publisher _computed.shouted]"},
		{"the relation itself", "Book.author", `["author.name"]`, "valid_fields: [book_id title author_id editor_id " +
			"sequel_id publisher_id marks editor sequel publisher _computed.shouted]"},
		{"a preset leaves it out", "Book.editor", `"credits"`, `"data":{"book_id":"b1"}`},
		{"the key of a relation of the related resource", "Author.mentor_id", `["author.mentor.name"]`,
			"valid_fields: [author.author_id author.name author.email author.home author.books]"},
	} {
		l := shelf()
		rules := []policy.Rule{{Name: "r", Hide: []string{test.hide}}}
		adapter := libraryAdapter(t, l, aql.Options{Policy: &policy.Policy{Rules: rules}})
		answer := read(t, adapter.NewSession(), `{"operation":"get_book","params":{"book_id":"b1","fields":`+test.fields+`}}`)
		if !strings.Contains(answer, test.want) && !strings.Contains(failure(t, answer), test.want) {
			t.Errorf("%s: %s", test.name, answer)
		}
	}
}
