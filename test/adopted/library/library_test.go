package library_test

import (
	"database/sql"
	"os"
	"testing"

	"github.com/google/go-cmp/cmp"
	_ "modernc.org/sqlite" // the driver "sqlite"

	"github.com/aqltag/aqltag/test/adopted/agent"
	"github.com/aqltag/aqltag/test/adopted/library"
	queries "github.com/aqltag/aqltag/test/adopted/services/library"
)

// Code that an SQL generator wrote is an adapter by one line an operation (B4), values or nulls of database/sql
// included (B8); an update merges what it changes into what a query reads (A6), and agents filter, sort and page what
// another one lists.
func TestQueriesAreAnAdapterAsTheyStand(t *testing.T) {
	db, err := sql.Open("sqlite", ":memory:")
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	db.SetMaxOpenConns(1) // each connection has a memory of its own
	schema, err := os.ReadFile("../services/library/schema.sql")
	if err != nil {
		t.Fatal(err)
	}
	if _, err := db.ExecContext(t.Context(), string(schema)); err != nil {
		t.Fatal(err)
	}
	a := agent.Connect(t, library.NewRegistry(queries.New(db)))
	got := a.Operations()
	want := map[string]string{
		"create_author": "CREATE name bio",
		"get_author":    "READ id*",
		"list_authors":  "READ limit offset",
		"update_author": "UPDATE id* input*",
		"delete_author": "DELETE id* confirmation_token",
		"create_book":   "CREATE author_id title pages",
		"list_books":    "READ author_id* filter sort first after last before aggregate include_items",
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("operations (-want +got):\n%s", diff)
	}
	agent.HoldLines(t, ".", len(got))

	a.Want("create", "create_author", `{"name":"Tove Jansson"}`, `{"id":1,"name":"Tove Jansson","bio":null}`)
	a.Want("update", "update_author", `{"id":1,"input":{"bio":"Painter"}}`,
		`{"id":1,"name":"Tove Jansson","bio":"Painter"}`)
	a.Want("update", "update_author", `{"id":1,"input":{"bio":null}}`, `{"id":1,"name":"Tove Jansson","bio":null}`)
	a.Want("create", "create_book", `{"author_id":1,"title":"Sommarboken","pages":160}`,
		`{"id":1,"author_id":1,"title":"Sommarboken","pages":160}`)
	const summer = `{"id":1,"author_id":1,"title":"Sommarboken","pages":160}`
	wantPage(a, `{"author_id":1}`, `{"items":[`+summer+`],"more":false}`)
	a.Want("read", "list_authors", `{}`, `{"items":[{"id":1,"name":"Tove Jansson","bio":null}]}`)
	a.Refused("read", "list_authors", `{"limit":0}`, "VALIDATION_OUT_OF_RANGE")
	a.Refused("read", "get_author", `{"id":7}`, "NOT_FOUND_RESOURCE")
	a.Refused("delete", "delete_author", `{"id":1}`, "CONFIRMATION_REQUIRED")

	const comet = `{"id":2,"author_id":1,"title":"Kometjakten","pages":157}`
	const letters = `{"id":3,"author_id":1,"title":"Brev","pages":null}`
	a.Want("create", "create_book", `{"author_id":1,"title":"Kometjakten","pages":157}`, comet)
	a.Want("create", "create_book", `{"author_id":1,"title":"Brev"}`, letters)
	wantPage(a, `{"author_id":1,"filter":{"pages":{"null":true}}}`, `{"items":[`+letters+`],"more":false}`)
	const thick = `{"author_id":1,"filter":{"pages":{"gte":150}},"sort":{"field":"title"},"first":1`
	cursor := wantPage(a, thick+`}`, `{"items":[`+comet+`],"more":true}`)
	wantPage(a, thick+`,"after":"`+cursor+`"}`, `{"items":[`+summer+`],"more":false}`)
	a.Refused("read", "list_books", `{"author_id":1,"filter":{"shelf":"A"}}`, "VALIDATION_UNKNOWN_FIELD")
}

// wantPage checks the items of a page of list_books and whether there are more, and returns the cursor of its end.
func wantPage(a agent.Agent, params, want string) (end string) {
	a.Helper()
	page, _ := a.Data("read", "list_books", params).(map[string]any)
	info, _ := page["pageInfo"].(map[string]any)
	a.Check("list_books "+params, map[string]any{"items": page["items"], "more": info["hasNextPage"]}, want)
	end, _ = info["endCursor"].(string)
	return end
}
