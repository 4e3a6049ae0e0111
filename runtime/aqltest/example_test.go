package aqltest_test

import (
	"context"
	"fmt"
	"regexp"
	"testing"

	"github.com/aqltag/aqltag/conform"
	aql "github.com/aqltag/aqltag/runtime"
	"github.com/aqltag/aqltag/runtime/aqltest"
)

// t stands for the *testing.T of a test. It prints the failures of the test.
var t printer

type printer struct{ testing.TB }

func (printer) Helper()                           {}
func (printer) Cleanup(func())                    {}
func (printer) Context() context.Context          { return context.Background() }
func (printer) Errorf(format string, args ...any) { fmt.Printf(format+"\n", args...) }
func (printer) Fatalf(format string, args ...any) { panic(fmt.Sprintf(format, args...)) }

// newAdapter returns an adapter of a service that keeps notes. Destructive operations require confirmation.
func newAdapter() *aql.Adapter {
	adapter, err := aql.New(aqltest.NewNotesRegistry(), aql.Options{Name: "notes"})
	if err != nil {
		panic(err)
	}
	return adapter
}

// A test calls operations as agents do. The last line fails the test.
func ExampleCall() {
	adapter := newAdapter()
	var created struct {
		NoteID string `json:"note_id"`
	}
	aqltest.Call(t, adapter, "create_note", `{"title":"Milk"}`).Decode(t, &created)
	aqltest.Call(t, adapter, "get_note", map[string]string{"note_id": created.NoteID}).Succeeds(t)
	aqltest.Call(t, adapter, "get_note", `{"note_id":"nowhere"}`).Fails(t, "NOT_FOUND_RESOURCE")

	aqltest.Call(t, adapter, "get_note", `{"note_id":"nowhere"}`).Succeeds(t)
	// Output:
	// {"operation":"get_note","params":{"note_id":"nowhere"}}
	// fails with NOT_FOUND_RESOURCE: Resource 'Note' not found: 'nowhere'
	// {"resource_type":"Note","resource_id":"nowhere"}
}

// The first call of a destructive operation does nothing. Confirmed sends it again with the token.
func ExampleConfirmed() {
	session := aqltest.NewSession(t, newAdapter())
	session.Call("create_note", `{"title":"Milk"}`).Succeeds(t)

	session.Call("delete_note", `{"note_id":"nMilk"}`).Fails(t, "CONFIRMATION_REQUIRED")
	session.Call("get_note", `{"note_id":"nMilk"}`).Succeeds(t)
	session.Confirmed("delete_note", `{"note_id":"nMilk"}`).Succeeds(t)
	fmt.Println(session.Call("get_note", `{"note_id":"nMilk"}`).Code)
	// Output: NOT_FOUND_RESOURCE
}

// The file testdata/agent.golden holds what agents see in both endpoint modes. AQL_UPDATE=1 go test writes it.
func ExampleGolden() {
	aqltest.Golden(t, aqltest.NewNotesRegistry(), "testdata/agent.golden",
		aql.Options{Name: "notes"}, aql.Options{Name: "notes", Mode: "single"})
	// Output:
}

// Conform runs all checks of the level, or those that Run matches. A broken rule fails the test with the report.
func ExampleConform() {
	report := aqltest.Conform(t, newAdapter(), conform.Options{
		Level: 1, AllowDestructive: true, Run: regexp.MustCompile("^(confirm|errors)/"),
	})
	for _, category := range report.Categories {
		fmt.Println(category.Name, category.Status)
	}
	// Output:
	// Error Quality pass
	// Level 2 Features pass
}

// A session can send a batch, and call operations as a caller.
func ExampleSession_Batch() {
	adapter, err := aql.New(aqltest.NewNotesRegistry(), aql.Options{Name: "notes", Mode: "single"})
	if err != nil {
		panic(err)
	}
	session := aqltest.NewSession(t, adapter).As(aql.Caller{Subject: "ada"})
	batch := session.Batch(
		aqltest.Request{Operation: "create_note", Params: `{"title":"Milk"}`},
		aqltest.Request{Operation: "get_note", Params: `{"note_id":"nowhere"}`},
	)
	for _, answer := range batch.Results {
		fmt.Println(answer.Success, answer.Code, string(answer.Data))
	}
	// Output:
	// true  {"note_id":"nMilk","title":"Milk","owner":"ada"}
	// false NOT_FOUND_RESOURCE
}
