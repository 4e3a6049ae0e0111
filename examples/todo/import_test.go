package main

import (
	"context"
	"database/sql"
	"encoding/json"
	"fmt"
	"path/filepath"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/aqltag/aqltag/internal/scratch"
	"github.com/aqltag/aqltag/runtime/approve"
	"github.com/aqltag/aqltag/runtime/identity"
	"github.com/aqltag/aqltag/runtime/store/sqlite"
)

// execution is what agents are told of one.
type execution struct {
	ID       string `json:"execution_id"`
	Status   string
	Attempt  int
	Version  string
	Progress struct {
		Current, Total int
		Message        string
	}
	Result struct{ Added, Overwritten, Kept int }
}

// data makes a call that must succeed, and decodes what it returns.
func data[T any](t *testing.T, a *adapter, tool, request string) (decoded T) {
	t.Helper()
	result, err := a.CallTool(t.Context(), &mcp.CallToolParams{Name: tool, Arguments: json.RawMessage(request)})
	if err != nil {
		t.Fatal(err)
	}
	var answer struct {
		Success bool
		Data    *T
	}
	answer.Data = &decoded
	text := result.Content[0].(*mcp.TextContent).Text
	if err := json.Unmarshal([]byte(text), &answer); err != nil || !answer.Success {
		t.Fatalf("%s: %v %s", request, err, text)
	}
	return decoded
}

// follow asks for an execution, each time for a change of what the answer before has told, until it is as wanted.
func (a *adapter) follow(t *testing.T, e execution, wanted func(execution) bool) execution {
	t.Helper()
	for !wanted(e) {
		switch e.Status {
		case "completed", "failed", "cancelled":
			t.Fatalf("the execution has ended otherwise: %+v", e)
		}
		e = data[execution](t, a, "mcp_aql_read", fmt.Sprintf(
			`{"operation":"get_execution","params":{"execution_id":%q,"wait_ms":1000,"after_version":%q}}`, e.ID, e.Version))
	}
	return e
}

func has(status string) func(execution) bool {
	return func(e execution) bool { return e.Status == status }
}

// approveAll approves what waits for a person, as another process does.
func approveAll(ctx context.Context, t *testing.T, path string) {
	t.Helper()
	state, err := sqlite.Open(ctx, path)
	if err != nil {
		t.Fatal(err)
	}
	defer state.Close()
	inbox := approve.New(state)
	items, err := inbox.List(ctx)
	if err != nil || len(items) != 1 {
		t.Fatalf("one question was to wait: %+v, %v", items, err)
	}
	vote := approve.Vote{By: identity.Caller{Subject: "ann"}, Channel: "test", Approve: true, At: time.Now()}
	if _, err := inbox.Vote(ctx, items[0].ID, vote); err != nil {
		t.Fatal(err)
	}
}

// An import goes on in another process where it was killed: each of its todos is written once, and a person is asked
// once.
func TestImportSurvivesAKill(t *testing.T) {
	if _, err := scratch.Root(); err != nil { // the program below is built from it
		t.Fatal(err)
	}
	binary := filepath.Join(t.TempDir(), "todo")
	run(t, "go", "build", "-o", binary, ".")

	const request = `{"operation":"import_todos","params":{"request_key":"k","todos":[{"title":"Pay the rent"},` +
		`{"title":"Buy bread","notes":"Rye"},{"title":"Water the plants"},{"title":"Buy milk"},{"title":"Call Ann"}]}}`
	for name, tt := range map[string]struct {
		slow bool
		// kill kills a process whose import waits for a person, in whatever state it is to be found by the next one.
		kill func(t *testing.T, a *adapter, db, state string, paused execution)
		// resume makes the next process go on.
		resume func(t *testing.T, state string)
	}{
		"while it waits for a person": {
			kill:   func(t *testing.T, a *adapter, _, _ string, _ execution) { a.kill(t) },
			resume: func(t *testing.T, state string) { approveAll(t.Context(), t, state) },
		},
		"in the middle of a step": {
			slow: true,
			kill: func(t *testing.T, a *adapter, db, state string, paused execution) {
				unlock := lock(t, db) // the next step waits for its turn to write
				approveAll(t.Context(), t, state)
				a.follow(t, paused, func(e execution) bool {
					return e.Status == "running" && e.Progress.Current == 3 && e.Progress.Message == "Importing Buy bread"
				})
				a.kill(t)
				unlock()
			},
			resume: func(*testing.T, string) {},
		},
	} {
		t.Run(name, func(t *testing.T) {
			if tt.slow && testing.Short() {
				t.Skip("waits until a process that was killed is given up")
			}
			dir := t.TempDir()
			db, state := filepath.Join(dir, "todo.db"), filepath.Join(dir, "state.db")
			flags := []string{"-db", db, "-state", state}
			first := start(t, binary, flags...)
			for _, title := range []string{"Buy milk", "Buy bread", "Sleep"} {
				first.call(t, "mcp_aql_create", `{"operation":"create_todo","params":{"title":"`+title+`"}}`)
			}
			started := data[execution](t, first, "mcp_aql_execute", request)
			paused := first.follow(t, started, has("paused"))
			if paused.Progress.Current != 3 || paused.Progress.Total != 5 {
				t.Errorf("it waits at %+v", paused.Progress)
			}
			tt.kill(t, first, db, state, paused)

			second := start(t, binary, flags...)
			if again := data[execution](t, second, "mcp_aql_execute", request); again.ID != started.ID {
				t.Errorf("the same key starts another import: %s, %s", started.ID, again.ID)
			}
			tt.resume(t, state)
			ended := second.follow(t, paused, has("completed"))
			if r := ended.Result; r.Added != 3 || r.Overwritten != 2 || r.Kept != 0 {
				t.Errorf("%+v", ended)
			}

			type item struct {
				Title, Notes string
				ETag         string `json:"_etag"`
			}
			list := data[struct{ Items []item }](t, second, "mcp_aql_read",
				`{"operation":"list_todos","params":{"sort":{"field":"title","order":"asc"},"fields":["title","notes","_etag"]}}`)
			want := []item{
				{"Buy bread", "Rye", `W/"2"`}, {"Buy milk", "", `W/"2"`}, {"Call Ann", "", `W/"1"`},
				{"Pay the rent", "", `W/"1"`}, {"Sleep", "", `W/"1"`}, {"Water the plants", "", `W/"1"`},
			}
			if diff := cmp.Diff(want, list.Items); diff != "" {
				t.Errorf("todos (-want +got):\n%s", diff)
			}
		})
	}
}

func (a *adapter) kill(t *testing.T) {
	t.Helper()
	if err := a.command.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	_ = a.Close() // it has ended by then
}

// lock keeps everybody from writing to a database, until unlock is called.
func lock(t *testing.T, path string) (unlock func()) {
	t.Helper()
	db, err := sql.Open("sqlite", path)
	if err != nil {
		t.Fatal(err)
	}
	db.SetMaxOpenConns(1)
	if _, err := db.ExecContext(t.Context(), "BEGIN IMMEDIATE"); err != nil {
		t.Fatal(err)
	}
	return func() {
		if err := db.Close(); err != nil {
			t.Fatal(err)
		}
	}
}
