package todo_test

import (
	"context"
	"database/sql"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/aqltag/aqltag/examples/todo/todo"
	aql "github.com/aqltag/aqltag/runtime"
)

func open(t *testing.T, path string) *todo.Service {
	t.Helper()
	service, err := todo.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := service.Close(); err != nil {
			t.Error(err)
		}
	})
	return service
}

// create adds a todo and fails the test if that fails.
func create(t *testing.T, service *todo.Service, req todo.CreateTodoRequest) *todo.Todo {
	t.Helper()
	if req.Priority == "" {
		req.Priority = todo.Medium
	}
	created, err := service.CreateTodo(t.Context(), req)
	if err != nil {
		t.Fatal(err)
	}
	return created
}

// update sends an update_todo request, since a patch comes only from a request, and returns the data or the error code.
func update(ctx context.Context, session *aql.Session, id, ifMatch, input string) (*todo.Todo, string, error) {
	params := map[string]any{"todo_id": id, "input": json.RawMessage(input)}
	if ifMatch != "" {
		params["if_match"] = ifMatch
	}
	request, err := json.Marshal(map[string]any{"operation": "update_todo", "params": params})
	if err != nil {
		return nil, "", err
	}
	var response struct {
		Data  *todo.Todo
		Error struct{ Code string }
	}
	err = json.Unmarshal(session.Call(ctx, "mcp_aql_update", request).JSON, &response)
	return response.Data, response.Error.Code, err
}

func newSession(t *testing.T, service *todo.Service) *aql.Session {
	t.Helper()
	adapter, err := aql.New(todo.NewRegistry(service), aql.Options{Name: "todo", Version: "1.0.0", SupportsETag: true})
	if err != nil {
		t.Fatal(err)
	}
	session := adapter.NewSession()
	t.Cleanup(session.Close)
	return session
}

func isNotFound(err error) bool {
	var failure *aql.Error
	return errors.As(err, &failure) && failure.Code == "NOT_FOUND_RESOURCE"
}

func TestCreatedTodoReadsBackTheSame(t *testing.T) {
	due := time.Date(2026, 3, 1, 9, 0, 0, 123456000, time.FixedZone("", 3600))
	tests := map[string]todo.CreateTodoRequest{
		"the least": {Title: "Buy milk", Priority: todo.Medium},
		"everything": {
			Title: "Write 'the' report \u2603", Notes: "line 1\nline 2", Priority: todo.High, DueAt: &due,
			Tags:     []string{"work", `a "quoted" tag`},
			Metadata: todo.Metadata{Color: "red", EstimateMinutes: new(90), Labels: map[string]string{"team": "core"}},
		},
		"a date far away": {Title: "Later", Priority: todo.Low, DueAt: new(time.Date(9999, 12, 31, 23, 59, 59, 0, time.UTC))},
	}
	for name, req := range tests {
		t.Run(name, func(t *testing.T) {
			service := open(t, todo.Memory)
			before := time.Now()
			created := create(t, service, req)
			want := &todo.Todo{
				Title: req.Title, Notes: req.Notes, Priority: req.Priority, Status: todo.StatusOpen, DueAt: req.DueAt,
				Tags: req.Tags, Metadata: req.Metadata, ETag: `W/"1"`,
				TodoID: created.TodoID, CreatedAt: created.CreatedAt, UpdatedAt: created.CreatedAt,
			}
			if diff := cmp.Diff(want, created); diff != "" {
				t.Errorf("created (-want +got):\n%s", diff)
			}
			if !regexp.MustCompile(`^todo_[a-z2-7]{26}$`).MatchString(created.TodoID) {
				t.Errorf("todo_id is %q", created.TodoID)
			}
			if at := created.CreatedAt; at.Before(before.Truncate(time.Second)) || at.After(time.Now()) {
				t.Errorf("created_at is %v, before %v or in the future", at, before)
			}
			read, err := service.GetTodo(t.Context(), todo.GetTodoRequest{TodoID: created.TodoID})
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(created, read); diff != "" {
				t.Errorf("read (-created +read):\n%s", diff)
			}
		})
	}
}

func TestWhatIsNotThereIsNotFound(t *testing.T) {
	service := open(t, todo.Memory)
	_, getError := service.GetTodo(t.Context(), todo.GetTodoRequest{TodoID: "todo_none"})
	_, completeError := service.CompleteTodo(t.Context(), todo.CompleteTodoRequest{TodoID: "todo_none"})
	deleteError := service.DeleteTodo(t.Context(), todo.DeleteTodoRequest{TodoID: "todo_none"})
	for name, err := range map[string]error{"get": getError, "complete": completeError, "delete": deleteError} {
		if !isNotFound(err) {
			t.Errorf("%s: %v", name, err)
		}
	}
	if _, code, err := update(t.Context(), newSession(t, service), "todo_none", "",
		`{"title":"x"}`); code != "NOT_FOUND_RESOURCE" || err != nil {
		t.Errorf("update: %s, %v", code, err)
	}
}

// REQ-CC-02, REQ-CC-03, REQ-CC-04: resources carry an etag, and an update with an outdated if_match writes nothing.
func TestUpdateWithIfMatch(t *testing.T) {
	service := open(t, todo.Memory)
	session := newSession(t, service)
	created := create(t, service, todo.CreateTodoRequest{Title: "Buy milk"})

	changed, code, err := update(t.Context(), session, created.TodoID, created.ETag, `{"title":"Buy oat milk"}`)
	if err != nil || code != "" || changed.Title != "Buy oat milk" || changed.ETag == created.ETag {
		t.Fatalf("with the current etag: %+v, %s, %v", changed, code, err)
	}
	if _, code, err := update(t.Context(), session, created.TodoID, created.ETag,
		`{"title":"Buy soy milk"}`); code != "CONFLICT_VERSION_MISMATCH" || err != nil {
		t.Errorf("with the outdated etag: %s, %v", code, err)
	}
	read, err := service.GetTodo(t.Context(), todo.GetTodoRequest{TodoID: created.TodoID})
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(changed, read, cmpopts.EquateEmpty()); diff != "" {
		t.Errorf("the refused update left a trace (-before +after):\n%s", diff)
	}
}

func TestCompleteIsUndoneByUpdate(t *testing.T) {
	service := open(t, todo.Memory)
	created := create(t, service, todo.CreateTodoRequest{Title: "Buy milk", Notes: "Two"})
	completed, err := service.CompleteTodo(t.Context(), todo.CompleteTodoRequest{TodoID: created.TodoID})
	if err != nil {
		t.Fatal(err)
	}
	want := *created
	want.Status, want.ETag, want.UpdatedAt = todo.StatusDone, `W/"2"`, completed.UpdatedAt
	if diff := cmp.Diff(&want, completed); diff != "" {
		t.Errorf("completed (-want +got):\n%s", diff)
	}
	reopened, code, err := update(t.Context(), newSession(t, service), created.TodoID, "", `{"status":"open"}`)
	if err != nil || code != "" || reopened.Status != todo.StatusOpen {
		t.Fatalf("reopened: %+v, %s, %v", reopened, code, err)
	}
	purged, err := service.PurgeCompleted(t.Context(), todo.PurgeCompletedRequest{})
	if err != nil || purged.Purged != 0 {
		t.Errorf("a purge took the reopened todo: %+v, %v", purged, err)
	}
}

func TestDeleteAndPurge(t *testing.T) {
	service := open(t, todo.Memory)
	open, done, deleted := create(t, service, todo.CreateTodoRequest{Title: "open"}),
		create(t, service, todo.CreateTodoRequest{Title: "done"}),
		create(t, service, todo.CreateTodoRequest{Title: "deleted"})
	if err := service.DeleteTodo(t.Context(), todo.DeleteTodoRequest{TodoID: deleted.TodoID}); err != nil {
		t.Fatal(err)
	}
	if _, err := service.CompleteTodo(t.Context(), todo.CompleteTodoRequest{TodoID: done.TodoID}); err != nil {
		t.Fatal(err)
	}
	for _, step := range []struct{ days, want int }{{1, 0}, {1 << 62, 0}, {0, 1}, {0, 0}} {
		result, err := service.PurgeCompleted(t.Context(), todo.PurgeCompletedRequest{OlderThanDays: step.days})
		if err != nil {
			t.Fatal(err)
		}
		if result.Purged != step.want {
			t.Errorf("older than %d days: %d purged, want %d", step.days, result.Purged, step.want)
		}
	}
	left := list(t, newSession(t, service), "list_todos", `{}`)
	if items := left.Data.Items; len(items) != 1 || items[0].TodoID != open.TodoID {
		t.Errorf("left are %v, want the open one", left.titles())
	}
}

// A call that is given up does not cost the database its todos, although in memory the connection is the database.
func TestMemorySurvivesCancelledCalls(t *testing.T) {
	service := open(t, todo.Memory)
	created := create(t, service, todo.CreateTodoRequest{Title: "Buy milk"})
	cancelled, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := service.CompleteTodo(cancelled, todo.CompleteTodoRequest{TodoID: created.TodoID}); !errors.Is(err,
		context.Canceled) {
		t.Errorf("completing: %v", err)
	}
	for range 20 {
		ctx, cancel := context.WithTimeout(t.Context(), 100*time.Microsecond)
		service.CompleteTodo(ctx, todo.CompleteTodoRequest{TodoID: created.TodoID}) // fails or not
		cancel()
	}
	if _, err := service.GetTodo(t.Context(), todo.GetTodoRequest{TodoID: created.TodoID}); err != nil {
		t.Error(err)
	}
}

func TestFileNamesAreTakenAsTheyAre(t *testing.T) {
	for _, name := range []string{"todo.db", "my todos?.db", "50%20#.db", "mode=memory"} {
		t.Run(name, func(t *testing.T) {
			path := filepath.Join(t.TempDir(), name)
			created := create(t, open(t, path), todo.CreateTodoRequest{Title: "Buy milk"})
			if _, err := os.Stat(path); err != nil {
				t.Fatal(err)
			}
			if _, err := open(t, path).GetTodo(t.Context(), todo.GetTodoRequest{TodoID: created.TodoID}); err != nil {
				t.Error(err)
			}
		})
	}
}

func TestOpenTellsWhichFileCannotBeOpened(t *testing.T) {
	path := filepath.Join(t.TempDir(), "missing", "todo.db")
	if _, err := todo.Open(path); err == nil || !regexp.MustCompile(regexp.QuoteMeta(path)).MatchString(err.Error()) {
		t.Errorf("error is %v", err)
	}
}

func TestOpenRefusesATableThatLacksWhatAgentsAskFor(t *testing.T) {
	path := filepath.Join(t.TempDir(), "todo.db")
	db, err := sql.Open("sqlite", path)
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	if _, err := db.Exec(`CREATE TABLE todos (todo_id, title, notes, priority, status, due_at, tags, created_at,
		updated_at)`); err != nil {
		t.Fatal(err)
	}
	if _, err := todo.Open(path); err == nil || !strings.Contains(err.Error(), "metadata") {
		t.Errorf("error is %v", err)
	}
}

// With these variables set, the test binary is a process that labels a todo, and nothing else.
const fileVariable, todoVariable, writerVariable = "TODO_TEST_FILE", "TODO_TEST_ID", "TODO_TEST_WRITER"

const labelsPerWriter = 20

// label adds labels to a todo, each in an update of its own.
func label(ctx context.Context, session *aql.Session, id, writer string) error {
	for i := range labelsPerWriter {
		input := fmt.Sprintf(`{"metadata":{"labels":{"%s_%d":"set"}}}`, writer, i)
		if _, code, err := update(ctx, session, id, "", input); err != nil || code != "" {
			return fmt.Errorf("writer %s, label %d: %s, %w", writer, i, code, err)
		}
	}
	return nil
}

func TestWriterProcess(t *testing.T) {
	path := os.Getenv(fileVariable)
	if path == "" {
		return // TestWritersOnOneFile runs this test in processes of its own
	}
	if err := label(t.Context(), newSession(t, open(t, path)), os.Getenv(todoVariable),
		os.Getenv(writerVariable)); err != nil {
		t.Fatal(err)
	}
}

// Every MCP client on stdio has an adapter process of its own, and all may share one file (REQ-CC-04): no update is
// lost.
func TestWritersOnOneFile(t *testing.T) {
	path := filepath.Join(t.TempDir(), "todo.db")
	service := open(t, path)
	created := create(t, service, todo.CreateTodoRequest{Title: "Buy milk"})

	const writers = 3 // of each kind
	failures := make(chan error, 2*writers)
	var group sync.WaitGroup
	for n := range writers {
		session := newSession(t, open(t, path))
		group.Go(func() { failures <- label(t.Context(), session, created.TodoID, fmt.Sprintf("connection%d", n)) })
		group.Go(func() {
			command := exec.CommandContext(t.Context(), os.Args[0], "-test.run=^TestWriterProcess$")
			command.Env = append(os.Environ(), fileVariable+"="+path, todoVariable+"="+created.TodoID,
				fmt.Sprintf("%s=process%d", writerVariable, n))
			output, err := command.CombinedOutput()
			if err != nil {
				err = fmt.Errorf("writer process: %w\n%s", err, output)
			}
			failures <- err
		})
	}
	group.Wait()
	close(failures)
	for err := range failures {
		if err != nil {
			t.Error(err)
		}
	}
	read, err := service.GetTodo(t.Context(), todo.GetTodoRequest{TodoID: created.TodoID})
	if err != nil {
		t.Fatal(err)
	}
	const want = 2 * writers * labelsPerWriter
	if got := len(read.Metadata.Labels); got != want {
		t.Errorf("%d labels are left of %d", got, want)
	}
	if wantETag := fmt.Sprintf(`W/"%d"`, 1+want); read.ETag != wantETag {
		t.Errorf("_etag is %s, want %s", read.ETag, wantETag)
	}
}

// Clients start their adapters all at once.
func TestOpeningOneNewFileAtTheSameTime(t *testing.T) {
	path := filepath.Join(t.TempDir(), "todo.db")
	var group sync.WaitGroup
	for range 16 {
		group.Go(func() {
			service, err := todo.Open(path)
			if err != nil {
				t.Error(err)
				return
			}
			defer service.Close()
			if _, err := service.CreateTodo(t.Context(), todo.CreateTodoRequest{Title: "x", Priority: todo.Low}); err != nil {
				t.Error(err)
			}
		})
	}
	group.Wait()
}
