package propose_test

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/aqltag/aqltag/internal/propose"
	"github.com/aqltag/aqltag/internal/scan"
	"github.com/aqltag/aqltag/internal/scantest"
)

func TestMain(m *testing.M) { scantest.Main(m) }

// proposals proposes operations for the packages in dir.
func proposals(t *testing.T, dir string, patterns ...string) propose.Proposals {
	t.Helper()
	got, err := propose.Operations(context.Background(), scan.Options{
		Dir: dir, Patterns: patterns, Env: []string{"GOWORK=off", "GOFLAGS=", "GOPROXY=off"},
	}, nil)
	if err != nil {
		t.Fatal(err)
	}
	return got
}

// shops writes a package for each text, which follows the types that most of them need, and proposes operations for
// all.
func shops(t *testing.T, functions ...string) ([]propose.Package, string) {
	t.Helper()
	var archive strings.Builder
	for i, text := range functions {
		fmt.Fprintf(&archive, "-- p%02d/shop.go --\n%s%s\n", i, shopTypes, text)
	}
	dir := scantest.Write(t, archive.String())
	got := proposals(t, dir, "./...")
	if len(got.Diagnostics) > 0 || len(got.Packages) != len(functions) {
		t.Fatalf("got %d packages, diagnostics %v", len(got.Packages), got.Diagnostics)
	}
	return got.Packages, dir
}

// bare is shops for one package that imports nothing.
func bare(t *testing.T, functions string) ([]propose.Package, string) {
	t.Helper()
	dir := scantest.Write(t,
		"-- shop.go --\npackage shop\n\ntype Item struct{ ID int64 }\n\ntype Store struct{ n int }\n\n"+
			"type Users struct{}\n"+functions)
	return proposals(t, dir).Packages, dir
}

const shopTypes = `package shop

import (
	"context"
	"database/sql"
	"io"
	"iter"
	"net/http"
	"testing"
	"time"
)

var (
	_ context.Context
	_ *sql.DB
	_ io.Writer
	_ iter.Seq[int]
	_ http.Handler
	_ *testing.T
	_ time.Time
)

type Item struct {
	ID    int64
	Title string
	Price int
}

type ItemChange struct {
	Title *string
	Price *int
}

type Color string

const Red Color = "red"

type hidden struct{ n int }

type Store struct{ db *sql.DB }

type Users struct{}

type Option func(*Store)

`

// What name and signature of a function say about its operation (REQ-EP-13, REQ-NM-02, REQ-NM-03, REQ-DL-02,
// REQ-DL-08).
func TestProposals(t *testing.T) {
	tests := []struct {
		name, function string
		directives     string // joined by " + "
		identifiers    string
		doubtful       bool
	}{
		{"a verb of the protocol tells the category",
			"// F.\nfunc (s *Store) GetItem(ctx context.Context, id int64) (*Item, error) { return nil, nil }",
			"//aql:op category=READ,danger=safe + //aql:param id string", "id", false},
		{"a function without receiver",
			"// F.\nfunc GetItem(id int64) (*Item, error) { return nil, nil }",
			"//aql:op category=READ,danger=safe + //aql:param id string", "id", false},
		{"a request struct without tags",
			"// F.\nfunc (s *Store) CreateItem(ctx context.Context, item Item) (*Item, error) { return nil, nil }",
			"//aql:op category=CREATE,danger=reversible + //aql:param id string", "id", false},
		{"a value receiver and a pointer to the request",
			"// F.\nfunc (u Users) CreateUser(item *Item) error { return nil }",
			"//aql:op category=CREATE,danger=reversible + //aql:param id string", "id", false},
		{"no request at all",
			"// F.\nfunc (s *Store) ListItems(ctx context.Context) ([]Item, error) { return nil, nil }",
			"//aql:op category=READ,danger=safe,query", "", false},
		{"a list that is cut already is not queried",
			"// F.\nfunc (s *Store) ListItems(limit int) ([]Item, error) { return nil, nil }",
			"//aql:op category=READ,danger=safe", "", false},
		{"a list of what nothing identifies is not queried",
			"// F.\nfunc (s *Store) ListPages() ([]struct{ Title string }, error) { return nil, nil }",
			"//aql:op category=READ,danger=safe", "", false},
		{"a list with a parameter of the name of one of a query is not queried",
			"// F.\nfunc (s *Store) ListItems(sort string) ([]Item, error) { return nil, nil }",
			"//aql:op category=READ,danger=safe", "", false},
		{"a verb alone gets the entity of the receiver",
			"// F.\nfunc (u Users) Get(id string) (Item, error) { return Item{}, nil }",
			"//aql:op op=get_user,category=READ,danger=safe", "id", false},
		{"a verb alone on a plain store gets what it returns, in the plural if it returns many",
			"// F.\nfunc (s *Store) List() ([]Item, error) { return nil, nil }",
			"//aql:op op=list_items,category=READ,danger=safe,query", "", false},
		{"a verb alone that returns nothing gets the package's name",
			"// F.\nfunc (s *Store) Delete(id string) error { return nil }",
			"//aql:op op=delete_shop,category=DELETE,danger=destructive", "id", false},
		{"B12 a verb alone about all that a service has stays alone",
			"// F.\nfunc (u Users) Migrate(ctx context.Context) error { return nil }",
			"//aql:op category=EXECUTE,danger=destructive", "", true},
		{"B12 the package is no entity of what takes and returns nothing",
			"// F.\nfunc (s *Store) Rebuild() error { return nil }",
			"//aql:op category=EXECUTE,danger=reversible", "", false},
		{"a deletion that does not say of what is dangerous",
			"// F.\nfunc (s *Store) DeleteExpired(before time.Time) (int, error) { return 0, nil }",
			"//aql:op category=DELETE,danger=dangerous", "", true},
		{"a deletion of all below something is dangerous",
			"// F.\nfunc (s *Store) RemoveAllItems(listID string) error { return nil }",
			"//aql:op category=DELETE,danger=dangerous", "list_id", false},
		{"a deletion of a list of ids is dangerous",
			"// F.\nfunc (s *Store) DeleteItems(ids []string) error { return nil }",
			"//aql:op category=DELETE,danger=dangerous", "", true},
		{"a name pattern raises the danger",
			"// F.\nfunc (s *Store) DropTable(name string) error { return nil }",
			"//aql:op category=DELETE,danger=forbidden", "name", true},
		{"a name pattern counts for the function's own name too",
			"// F.\nfunc (s *Store) ResetAll() error { return nil }",
			"//aql:op category=EXECUTE,danger=forbidden", "", true},
		{"how it is done is no verb",
			"// F.\nfunc (s *Store) BulkDeleteItems(listID string) error { return nil }",
			"//aql:op category=DELETE,danger=dangerous", "list_id", true},
		{"an update of plain arguments names its identifier and demands the rest",
			"// F.\nfunc (s *Store) UpdateItem(ctx context.Context, id int64, title string, price *int) error { return nil }",
			"//aql:op category=UPDATE,danger=reversible,ids=id + //aql:param title required + " +
				"//aql:param id string", "id", false},
		{"an update in a folder has two identifiers",
			"// F.\nfunc (s *Store) RenameItem(listID, itemID, title string) error { return nil }",
			"//aql:op category=UPDATE,danger=reversible,ids=list_id|item_id + //aql:param title required", "list_id item_id",
			false},
		{"what an item is moved to is no identifier of it",
			"// F.\nfunc (s *Store) MoveItem(itemID, listID string) error { return nil }",
			"//aql:op category=UPDATE,danger=reversible,ids=item_id + //aql:param list_id required", "item_id", false},
		{"an update with an id and a struct has that struct for its input",
			"// F.\nfunc (s *Store) UpdateItem(ctx context.Context, id int64, change ItemChange) error { return nil }",
			"//aql:op category=UPDATE,danger=reversible,ids=id + //aql:param id string", "id", false},
		{"B7 all that stands in front of the body of an update identifies",
			"// F.\nfunc (s *Store) EditItem(ctx context.Context, account, ledger string, number int, body *ItemChange) error " +
				"{ return nil }",
			"//aql:op category=UPDATE,danger=reversible,ids=account|ledger|number",
			"account ledger number", false},
		{"B7 whatever it is called",
			"// F.\nfunc (s *Store) EditItem(owner, repo string, input *ItemChange) error { return nil }",
			"//aql:op category=UPDATE,danger=reversible,ids=owner|repo", "owner repo", false},
		{"B6 the body of a creation is required, its options are not",
			"// F.\nfunc (s *Store) CreateItem(shop string, item *Item, opts *ItemChange) (*Item, error) { return nil, nil }",
			"//aql:op category=CREATE,danger=reversible + //aql:param item required", "", false},
		{"an argument named input is the input",
			"// F.\nfunc (s *Store) UpdateItem(ctx context.Context, id int64, input ItemChange) error { return nil }",
			"//aql:op category=UPDATE,danger=reversible,ids=id + //aql:param id string", "id", false},
		{"A6 an update of a flat struct names its identifier, and is destructive: its plain fields are replaced",
			"// F.\nfunc (s *Store) UpdateItem(ctx context.Context, item Item) error { return nil }",
			"//aql:op category=UPDATE,danger=destructive,ids=id + //aql:param id string", "id", true},
		{"an update identified by a name is worth a look",
			"// F.\nfunc (s *Store) SetQuota(name string, bytes int) error { return nil }",
			"//aql:op category=UPDATE,danger=reversible,ids=name + //aql:param bytes required", "name", true},
		{"an update of nothing in particular is carried out instead",
			"// F.\nfunc (s *Store) SetVolume(level int) error { return nil }",
			"//aql:op category=EXECUTE,danger=destructive,guessed", "", true},
		{"B1 a function with an unknown verb may do anything",
			"// F.\nfunc (s *Store) Revenue(since time.Time) (int, error) { return 0, nil }",
			"//aql:op category=EXECUTE,danger=destructive,guessed", "", true},
		{"B1 unless its body only reads",
			"// F.\nfunc (s *Store) Revenue(prices []int) (int, error) { return len(prices), nil }",
			"//aql:op category=READ,danger=safe", "", true},
		{"B1 a command with an unknown verb may do anything",
			"// F.\nfunc (s *Store) Frobnicate(id string) error { return nil }",
			"//aql:op category=EXECUTE,danger=destructive,guessed", "id", true},
		{"B1 what reads has a result",
			"// F.\nfunc (s *Store) CheckItem(id string) error { return nil }",
			"//aql:op category=EXECUTE,danger=destructive,guessed", "id", true},
		{"a function that does two things has the category of the worse",
			"// F.\nfunc (s *Store) FindOrCreateItem(id string) (*Item, error) { return nil, nil }",
			"//aql:op category=CREATE,danger=reversible", "id", true},
		{"B1 what cannot be taken back is destructive, and worth a look",
			"// F.\nfunc (s *Store) SendInvoice(orderID string) error { return nil }",
			"//aql:op category=EXECUTE,danger=destructive", "order_id", true},
		{"a function without doc comment is worth a look",
			"func (s *Store) GetItem(id int64) (*Item, error) { return nil, nil }",
			"//aql:op category=READ,danger=safe + //aql:param id string", "id", true},
		{"a name that the protocol keeps gets a number",
			"// F.\nfunc Introspect() (string, error) { return \"\", nil }",
			"//aql:op op=introspect_2,category=EXECUTE,danger=destructive,guessed", "", true},
		{"REQ-EL-09 the status of what runs is read",
			"// F.\nfunc (s *Store) GetRunStatus(id string) (string, error) { return \"\", nil }",
			"//aql:op category=READ,danger=safe", "id", false},
		{"REQ-EL-09 what runs is cancelled by an execution",
			"// F.\nfunc (s *Store) CancelRun(id string) error { return nil }",
			"//aql:op category=EXECUTE,danger=destructive", "id", true},
		{"REQ-EL-09 and so it is paused",
			"// F.\nfunc (s *Store) PauseRun(id string) error { return nil }",
			"//aql:op category=EXECUTE,danger=reversible", "id", false},
		{"REQ-EL-09 and resumed",
			"// F.\nfunc (s *Store) ResumeRun(id string) error { return nil }",
			"//aql:op category=EXECUTE,danger=reversible", "id", false},
		{"variadic values are a list",
			"// F.\nfunc (s *Store) AddTags(itemID string, tags ...string) error { return nil }",
			"//aql:op category=CREATE,danger=reversible", "item_id", false},
		{"a method that is called like one of the standard library's and is another",
			"// F.\nfunc (u Users) Close(ctx context.Context, id string) error { return nil }",
			"//aql:op op=close_user,category=EXECUTE,danger=destructive", "id", true},
	}
	var functions []string
	for _, tt := range tests {
		functions = append(functions, tt.function)
	}
	packages, dir := shops(t, functions...)
	for i, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			pkg := packages[i]
			if len(pkg.Candidates) != 1 {
				t.Fatalf("got %d candidates, rejected: %+v", len(pkg.Candidates), pkg.Rejected)
			}
			c := pkg.Candidates[0]
			if got := strings.Join(c.Directives, " + "); got != tt.directives {
				t.Errorf("directives:\n got %s\nwant %s", got, tt.directives)
			}
			if got := strings.Join(c.Identifiers, " "); got != tt.identifiers {
				t.Errorf("identifiers %q, want %q", got, tt.identifiers)
			}
			doubts := slices.DeleteFunc(c.Checks,
				func(check string) bool { return strings.Contains(check, "one adapter cannot have both") })
			if got := len(doubts) > 0; got != tt.doubtful {
				t.Errorf("checks: %q, want some: %v", doubts, tt.doubtful)
			}
		})
	}
	accord(t, dir, "./...")
}

// A6, REQ-UP-11: an update that would replace a resource merges through the one function that reads it; without one, or
// with several, it is destructive.
func TestUpdatesAreProposedToMerge(t *testing.T) {
	const update = "\n// U.\nfunc (s *Store) UpdateItem(id int64, item Item) error { return nil }\n"
	const get = "\n// G.\nfunc (s *Store) GetItem(id int64) (*Item, error) { return nil, nil }\n"
	for functions, want := range map[string]string{
		update: "//aql:op category=UPDATE,danger=destructive,ids=id + //aql:param id string",
		update + get: "//aql:op category=UPDATE,danger=reversible,ids=id + //aql:param id string + " +
			"//aql:update get=GetItem",
		update + get + strings.Replace(get, "GetItem", "ReadItem", 1): "//aql:op category=UPDATE,danger=destructive," +
			"ids=id + //aql:param id string",
	} {
		packages, dir := bare(t, functions)
		got := ""
		for _, c := range packages[0].Candidates {
			if c.Category == "UPDATE" {
				got = strings.Join(c.Directives, " + ")
			}
		}
		if got != want {
			t.Errorf("%s\n got %s\nwant %s", functions, got, want)
		}
		accord(t, dir, ".")
	}
}

// accord writes what is proposed for a package and expects the scanner to find exactly that, and init nothing more.
func accord(t *testing.T, dir string, patterns ...string) {
	t.Helper()
	before := proposals(t, dir, patterns...)
	if _, err := before.Write(nil); err != nil {
		t.Fatal(err)
	}
	want, got := make(map[string]string), make(map[string]string)
	for _, pkg := range before.Packages {
		for _, c := range pkg.Candidates {
			if c.Locked == "" {
				want[pkg.Path+" "+c.Operation] = string(c.Category) + " " + string(c.Danger)
			}
		}
		for _, e := range pkg.Existing {
			want[pkg.Path+" "+e.Operation] = "exists"
		}
	}
	result := scantest.Load(t, dir, patterns...)
	if result.HasErrors() {
		t.Errorf("the scanner finds errors:\n%s", scantest.Render(t, dir, result))
	}
	for _, pkg := range result.Packages {
		for _, h := range pkg.Handlers {
			key := pkg.Path + " " + h.Operation.Name
			if got[key] = string(h.Operation.Category) + " " + string(h.Operation.Danger); want[key] == "exists" {
				got[key] = "exists"
			}
		}
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("operations (-proposed +found):\n%s", diff)
	}
	for _, pkg := range proposals(t, dir, patterns...).Packages {
		for _, c := range pkg.Candidates {
			if c.Locked == "" {
				t.Errorf("%s is proposed again: %v", c.Function, c.Directives)
			}
		}
	}
}

// Why a function is not proposed, one reason for each.
func TestRejections(t *testing.T) {
	tests := []struct{ name, function, reason string }{
		{"unexported", "func get(id string) (string, error) { return id, nil }", "it is not exported"},
		{"no error", "func Get(id string) string { return id }", "its last result is not an error"},
		{"no result", "func Get(id string) {}", "its last result is not an error"},
		{
			"several results", "func Get(id string) (string, bool, error) { return id, true, nil }",
			"it has 2 results beside the error",
		},
		{
			"type parameters", "func Get[T any](id T) (T, error) { return id, nil }",
			"it has type parameters, and nothing says what they stand for",
		},
		{
			"a writer", "func Export(ctx context.Context, w io.Writer) error { return nil }",
			"it takes io.Writer, and agents send values, not streams",
		},
		{
			"a reader as result", "func Download(id string) (io.ReadCloser, error) { return nil, nil }",
			"it returns io.ReadCloser, and agents get values, not streams",
		},
		{
			"a channel as result", "func Watch() (<-chan string, error) { return nil, nil }",
			"it returns a channel (<-chan string), and agents get one answer",
		},
		{"a channel", "func Run(done chan bool) error { return nil }", "it takes a channel (chan bool)"},
		{
			"an iterator", "func All() (iter.Seq[string], error) { return nil, nil }",
			"it returns an iterator, and agents get one answer",
		},
		{"a callback", "func Each(f func(Item) error) error { return nil }", "it takes a function (func(shop.Item) error)"},
		{
			"options that are functions", "func Run(opts ...Option) error { return nil }",
			"it takes options that are functions (...shop.Option)",
		},
		{
			"a transaction", "func Run(tx *sql.Tx, id string) error { return nil }",
			"it takes sql.Tx, which only the program has",
		},
		{
			"a request of HTTP", "func Do(r *http.Request) (string, error) { return \"\", nil }",
			"it takes http.Request, which only the program has",
		},
		{
			"a function as result", "func Get(id string) (func() error, error) { return nil, nil }",
			"it returns a function (func() error)",
		},
		{
			"an HTTP handler", "func Serve(w http.ResponseWriter, r *http.Request) error { return nil }",
			"it answers HTTP requests itself",
		},
		{"a test's own", "func Check(t *testing.T) error { return nil }", "it is for tests"},
		{
			"a constructor", "func NewStore(dsn string) (*Store, error) { return nil, nil }",
			"it makes something for the program, not for agents",
		},
		{"an option", "func WithLimit(n int) (Option, error) { return nil, nil }", "it makes an option"},
		{"the end of a service", "func (s *Store) Close() error { return nil }", "Go calls Close for its own purposes"},
		{
			"a marshaler", "func (u Users) MarshalJSON() ([]byte, error) { return nil, nil }",
			"Go calls MarshalJSON for its own purposes",
		},
		{
			"a context behind", "func Get(id string, ctx context.Context) error { return nil }",
			"the context is not its first parameter",
		},
		{
			"an argument without name", "func Get(string) error { return nil }",
			"its argument 1 of type string has no name, and arguments go by their names",
		},
		{
			"a request without fields", "func Get(h hidden) error { return nil }",
			"it takes hidden, which has no exported field that agents could fill in",
		},
		{
			"an argument without fields", "func Get(id string, h *hidden) error { return nil }",
			"its argument h is hidden, which has no exported field that agents could fill in",
		},
		{
			"a result without fields", "func Get(id string) (*Store, error) { return nil, nil }",
			"it returns Store, which has no exported field that agents could see",
		},
		{
			"a type that cannot be carried", "func Get(z complex128) error { return nil }",
			"argument z: complex128 cannot be carried as JSON",
		},
		{
			"an interface", "func Get(s interface{ Area() int }) error { return nil }",
			"argument s: interface interface{Area() int} cannot be carried as JSON: nothing says which type to decode into",
		},
		{
			"a field that cannot be carried",
			"type R struct {\n\tID string\n\tDone chan bool\n}\n\nfunc Get(r R) error { return nil }",
			"field R.Done: channel chan bool cannot be carried as JSON",
		},
		{
			"several of them", "type R struct {\n\tA, B chan bool\n}\n\nfunc Get(r R) error { return nil }",
			"field R.A: channel chan bool cannot be carried as JSON (and 1 more)",
		},
		{"an unknown type", "type R struct{ A Missing }\n\nfunc Get(r R) error { return nil }", "undefined: Missing"},
	}
	var functions []string
	for _, tt := range tests {
		functions = append(functions, tt.function)
	}
	packages, _ := shops(t, functions...)
	for i, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			pkg := packages[i]
			if len(pkg.Candidates) > 0 || len(pkg.Rejected) != 1 {
				t.Fatalf("got candidates %+v, rejected %+v", pkg.Candidates, pkg.Rejected)
			}
			if r := pkg.Rejected[0]; r.Reason != tt.reason || r.Position.Line == 0 {
				t.Errorf("reason: %q at line %d, want %q", r.Reason, r.Position.Line, tt.reason)
			}
		})
	}
}

// Methods of what operations take or return are not proposed, before the directives are written and after.
func TestMethodsOfValuesAreNotProposed(t *testing.T) {
	packages, dir := bare(t, `
// GetItem reads an item.
func (s *Store) GetItem(id int64) (*Item, error) { return nil, nil }

// Validate checks an item.
func (i *Item) Validate() error { return nil }
`)
	pkg := packages[0]
	if len(pkg.Candidates) != 1 || len(pkg.Rejected) != 1 ||
		pkg.Rejected[0].Reason != "its receiver Item is a value that Store.GetItem takes or returns, not a service" {
		t.Errorf("got candidates %+v, rejected %+v", pkg.Candidates, pkg.Rejected)
	}
	accord(t, dir, "./...")
}

// Functions of one name on several types get the type's entity (REQ-NM-07), also beside operations that exist.
func TestNamesAreUnique(t *testing.T) {
	packages, dir := bare(t, `
// F.
func (s *Store) ListItems() ([]Item, error) { return nil, nil }

// F.
func (u Users) ListItems(id string) ([]Item, error) { return nil, nil }

// F.
//
//aql:op category=READ,op=count_items
func (s *Store) Tally() (int, error) { return 0, nil }

// F.
func (u Users) CountItems() (int, error) { return 0, nil }
`)
	var got []string
	for _, c := range packages[0].Candidates {
		got = append(got, c.Operation)
	}
	if diff := cmp.Diff([]string{"list_store_items", "list_user_items", "count_user_items"}, got); diff != "" {
		t.Errorf("names (-want +got):\n%s", diff)
	}
	accord(t, dir, "./...")
}

// A name does not depend on which of the others have been written already.
func TestNamesStayWhenSomeAreWritten(t *testing.T) {
	_, dir := bare(t, `
// F.
func (s *Store) Get(id int64) (*Item, error) { return nil, nil }

// F.
func (s *Store) Delete(id int64) error { return nil }
`)
	if _, err := proposals(t, dir).Write(func(c propose.Candidate) bool { return c.Operation == "get_item" }); err != nil {
		t.Fatal(err)
	}
	left := proposals(t, dir).Packages[0].Candidates
	if len(left) != 1 || left[0].Operation != "delete_item" {
		t.Errorf("left: %+v", left)
	}
}

// A function that loads a relation is no operation of its own: it is neither proposed nor rejected.
func TestLoadersAreNotProposed(t *testing.T) {
	got, _ := bare(t, `
// Get returns an item.
func (s *Store) Get(id int64) (*Item, error) { return nil, nil }

// Load loads items.
//
//aql:relation Item.next by=ID,to=get
func (s *Store) Load(ids []int64) (map[int64]*Item, error) { return nil, nil }
`)
	var names []string
	for _, c := range got[0].Candidates {
		names = append(names, c.Function)
	}
	for _, r := range got[0].Rejected {
		names = append(names, r.Function)
	}
	if diff := cmp.Diff([]string{"Store.Get"}, names); diff != "" {
		t.Errorf("-want +got:\n%s", diff)
	}
}
