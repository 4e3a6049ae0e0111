package todo_test

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"

	"github.com/aqltag/aqltag/examples/todo/todo"
	aql "github.com/aqltag/aqltag/runtime"
	"github.com/aqltag/aqltag/runtime/approve"
	"github.com/aqltag/aqltag/runtime/aqltest"
	"github.com/aqltag/aqltag/runtime/identity"
	"github.com/aqltag/aqltag/runtime/store"
)

// importer is an adapter whose executions run, and what people decide with.
type importer struct {
	*testing.T
	session *aqltest.Session
	inbox   approve.Inbox
	// What happens before the person decides, if anything does
	meanwhile func()
}

func newImporter(t *testing.T) importer {
	t.Helper()
	state := new(store.Memory)
	adapter, err := aql.New(todo.NewRegistry(open(t, todo.Memory)), aql.Options{
		Name: "todo", State: state, Confirmation: aql.Confirmation{Inbox: approve.New},
	})
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	ended := make(chan error, 1)
	go func() { ended <- adapter.Work(ctx) }()
	t.Cleanup(func() {
		cancel()
		if err := <-ended; err != nil {
			t.Error(err)
		}
	})
	return importer{T: t, session: aqltest.NewSession(t, adapter), inbox: approve.New(state)}
}

// imported imports todos, and returns the result. A person decides if they are asked.
func (i importer) imported(todos string, decide *approve.Vote) (result todo.ImportResult) {
	i.Helper()
	var e struct {
		ID      string `json:"execution_id"`
		Status  string
		Version string
		Result  *todo.ImportResult
	}
	i.session.Call("import_todos", `{"todos":`+todos+`}`).Decode(i.T, &e)
	for e.Result == nil {
		if e.Status == "paused" && decide != nil {
			items, err := i.inbox.List(i.Context())
			if err != nil || len(items) != 1 {
				i.Fatalf("%+v, %v", items, err)
			}
			if i.meanwhile != nil {
				i.meanwhile()
			}
			if _, err := i.inbox.Vote(i.Context(), items[0].ID, *decide); err != nil {
				i.Fatal(err)
			}
			decide = nil
		}
		if e.Status == "failed" {
			i.Fatalf("the import has failed: %+v", e)
		}
		params := fmt.Sprintf(`{"execution_id":%q,"wait_ms":1000,"after_version":%q}`, e.ID, e.Version)
		i.session.Call("get_execution", params).Decode(i.T, &e)
	}
	return *e.Result
}

func vote(approves bool, reason string) *approve.Vote {
	return &approve.Vote{
		By: identity.Caller{Subject: "eve"}, Channel: "test", Approve: approves, Reason: reason, At: time.Now(),
	}
}

// An import adds what is new. It asks a person before it overwrites open todos, and heeds the answer; those that were
// done are no reason to ask.
func TestImport(t *testing.T) {
	const imported = `[{"title":"Pay the rent"},{"title":"Buy bread","notes":"Rye","priority":"high","tags":["shop"]},` +
		`{"title":"Call Ann"}]`
	type bread struct {
		Notes    string
		Priority string
		Tags     []string
		Metadata map[string]any
	}
	was := bread{"White", "low", []string{"home"}, map[string]any{"color": "red"}}
	for name, tt := range map[string]struct {
		todos  string
		decide *approve.Vote
		want   todo.ImportResult
		bread  bread
	}{
		"nothing is there yet":        {`[{"title":"Pay the rent"}]`, nil, todo.ImportResult{Added: 1}, was},
		"what is there is done":       {`[{"title":"Call Ann"}]`, nil, todo.ImportResult{Added: 1}, was},
		"the title is not quite that": {`[{"title":"buy bread"}]`, nil, todo.ImportResult{Added: 1}, was},
		"a person agrees": {
			imported, vote(true, ""), todo.ImportResult{Added: 2, Overwritten: 1},
			bread{"Rye", "high", []string{"shop"}, was.Metadata},
		},
		"a person does not agree": {
			imported, vote(false, "White is fine"), todo.ImportResult{Added: 2, Kept: 1, Reason: "White is fine"}, was,
		},
	} {
		t.Run(name, func(t *testing.T) {
			i := newImporter(t)
			var before, done todo.Todo
			i.session.Call("create_todo", `{"title":"Buy bread","notes":"White","priority":"low","tags":["home"],`+
				`"metadata":{"color":"red"}}`).Decode(t, &before)
			i.session.Call("create_todo", `{"title":"Call Ann"}`).Decode(t, &done)
			i.session.Call("complete_todo", `{"todo_id":"`+done.TodoID+`"}`).Succeeds(t)

			if diff := cmp.Diff(tt.want, i.imported(tt.todos, tt.decide)); diff != "" {
				t.Errorf("result (-want +got):\n%s", diff)
			}
			var after bread
			i.session.Call("get_todo", `{"todo_id":"`+before.TodoID+`"}`).Decode(t, &after)
			if diff := cmp.Diff(tt.bread, after); diff != "" {
				t.Errorf("the bread (-want +got):\n%s", diff)
			}
			var list struct{ PageInfo struct{ TotalCount int } }
			i.session.Call("list_todos", `{}`).Decode(t, &list)
			if want := 2 + tt.want.Added; list.PageInfo.TotalCount != want {
				t.Errorf("%d todos, want %d", list.PageInfo.TotalCount, want)
			}
		})
	}
}

// Who agrees to overwrite a todo agrees to that of the question: what has become of it meanwhile stays.
func TestImportKeepsWhatHasChanged(t *testing.T) {
	for name, change := range map[string]func(s *aqltest.Session, id string) aqltest.Answer{
		"renamed": func(s *aqltest.Session, id string) aqltest.Answer {
			return s.Call("update_todo", `{"todo_id":"`+id+`","input":{"title":"Sign the contract"}}`)
		},
		"edited": func(s *aqltest.Session, id string) aqltest.Answer {
			return s.Call("update_todo", `{"todo_id":"`+id+`","input":{"notes":"Spelt"}}`)
		},
		"done": func(s *aqltest.Session, id string) aqltest.Answer {
			return s.Call("complete_todo", `{"todo_id":"`+id+`"}`)
		},
		"deleted": func(s *aqltest.Session, id string) aqltest.Answer {
			return s.Confirmed("delete_todo", `{"todo_id":"`+id+`"}`)
		},
	} {
		t.Run(name, func(t *testing.T) {
			i := newImporter(t)
			var bread todo.Todo
			i.session.Call("create_todo", `{"title":"Buy bread"}`).Decode(t, &bread)
			var changed []byte
			i.meanwhile = func() {
				change(i.session, bread.TodoID).Succeeds(t)
				changed = i.session.Call("list_todos", `{}`).JSON
			}

			result := i.imported(`[{"title":"Buy bread","notes":"Rye"}]`, vote(true, ""))
			if diff := cmp.Diff(todo.ImportResult{Kept: 1}, result); diff != "" {
				t.Errorf("result (-want +got):\n%s", diff)
			}
			if diff := cmp.Diff(string(changed), string(i.session.Call("list_todos", `{}`).JSON)); diff != "" {
				t.Errorf("todos (-when the person agreed +after the import):\n%s", diff)
			}
		})
	}
}

// No todo of an import is lost to another of the same title: each overwrites an open one of its own, or is new.
func TestImportOfOneTitle(t *testing.T) {
	i := newImporter(t)
	for _, notes := range []string{"White", "Grey"} {
		i.session.Call("create_todo", `{"title":"Buy bread","notes":"`+notes+`"}`).Succeeds(t)
	}
	result := i.imported(`[{"title":"Buy bread","notes":"Rye"},{"title":"Buy bread","notes":"Oat"},`+
		`{"title":"Buy bread","notes":"Spelt"}]`, vote(true, ""))
	if diff := cmp.Diff(todo.ImportResult{Added: 1, Overwritten: 2}, result); diff != "" {
		t.Errorf("result (-want +got):\n%s", diff)
	}
	var list struct{ Items []struct{ Notes string } }
	i.session.Call("list_todos", `{"fields":["notes"]}`).Decode(t, &list)
	var notes []string
	for _, item := range list.Items {
		notes = append(notes, item.Notes)
	}
	slices.Sort(notes)
	if diff := cmp.Diff([]string{"Oat", "Rye", "Spelt"}, notes); diff != "" {
		t.Errorf("notes (-want +got):\n%s", diff)
	}
}

// A person is asked about every title that a todo may have, in as many bytes as a question shows.
func TestImportOfLongTitles(t *testing.T) {
	for name, title := range map[string]string{
		"letters of three bytes": strings.Repeat("買", 200),
		"letters of four bytes":  strings.Repeat("🥖", 200),
		"characters to escape":   strings.Repeat("\u2028", 200),
	} {
		t.Run(name, func(t *testing.T) {
			i := newImporter(t)
			i.session.Call("create_todo", `{"title":"`+title+`"}`).Succeeds(t)
			i.meanwhile = func() {
				items, err := i.inbox.List(t.Context())
				if err != nil {
					t.Fatal(err)
				}
				if reason := items[0].Reasons[0]; !utf8.ValidString(reason) || !strings.HasSuffix(reason, "…") {
					t.Errorf("the person is shown %q", reason)
				}
			}
			result := i.imported(`[{"title":"`+title+`"},{"title":"Call Ann"}]`, vote(true, ""))
			if diff := cmp.Diff(todo.ImportResult{Added: 1, Overwritten: 1}, result); diff != "" {
				t.Errorf("result (-want +got):\n%s", diff)
			}
		})
	}
}

// A handler that takes a *aql.Run can be called without one. Nobody agrees then.
func TestImportWithoutAnExecution(t *testing.T) {
	service := open(t, todo.Memory)
	request := todo.ImportTodosRequest{Todos: []todo.ImportedTodo{{Title: "Pay the rent", Priority: todo.Low}}}
	result, err := service.ImportTodos(t.Context(), request, nil)
	if err != nil || result.Added != 1 {
		t.Errorf("%+v, %v", result, err)
	}
	if result, err = service.ImportTodos(t.Context(), request, nil); err != nil || result.Kept != 1 {
		t.Errorf("%+v, %v", result, err)
	}
}
