package todo

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

// A step whose process is killed between its write and its result is done again. It reports what it did, writes no
// second version, and undoes nothing that somebody has done since, whatever that is. Another import that was to
// overwrite the same has not.
func TestImportTodoAgain(t *testing.T) {
	due := time.Date(2026, 3, 1, 0, 0, 0, 0, time.UTC)
	for name, there := range map[string]bool{"added": false, "overwritten": true} {
		for _, imported := range []ImportedTodo{
			{Title: "Buy bread", Priority: Low},
			{Title: "Buy bread", Notes: "Rye", Priority: High, DueAt: &due, Tags: []string{"shop", "\u2028<b>"}},
		} {
			t.Run(name+" "+imported.Notes, func(t *testing.T) {
				service := openTest(t)
				p := planned{TodoID: newID()}
				if there {
					request := CreateTodoRequest{Title: "Buy bread", Notes: "White", Priority: Medium}
					created, err := service.CreateTodo(t.Context(), request)
					if err != nil {
						t.Fatal(err)
					}
					p = planned{TodoID: created.TodoID, Version: 1}
				}
				read := func() *Todo {
					t.Helper()
					todo, err := service.GetTodo(t.Context(), GetTodoRequest{TodoID: p.TodoID})
					if err != nil {
						t.Fatal(err)
					}
					todo.UpdatedAt = time.Time{} // that of the last write is as good
					return todo
				}

				var first *Todo
				for range 2 {
					if ok, err := service.importTodo(t.Context(), "first", p, &imported); err != nil || !ok {
						t.Fatalf("%v, %v", ok, err)
					}
					if first == nil {
						first = read()
					}
				}
				if diff := cmp.Diff(first, read()); diff != "" {
					t.Errorf("again (-first +second):\n%s", diff)
				}

				if _, err := service.change(t.Context(), p.TodoID, func(todo *Todo) error {
					todo.Notes = "Spelt"
					return nil
				}); err != nil {
					t.Fatal(err)
				}
				changed := read()
				if ok, err := service.importTodo(t.Context(), "first", p, &imported); err != nil || !ok {
					t.Errorf("after a change: %v, %v", ok, err)
				}
				if there {
					if ok, err := service.importTodo(t.Context(), "second", p, &imported); err != nil || ok {
						t.Errorf("another import: %v, %v", ok, err)
					}
				}
				if diff := cmp.Diff(changed, read()); diff != "" {
					t.Errorf("after a change (-before +after):\n%s", diff)
				}
				if err := service.DeleteTodo(t.Context(), DeleteTodoRequest{TodoID: p.TodoID}); err != nil {
					t.Fatal(err)
				}
				if ok, err := service.importTodo(t.Context(), "first", p, &imported); err != nil || !ok {
					t.Errorf("after a deletion: %v, %v", ok, err)
				}
				if _, err := service.GetTodo(t.Context(), GetTodoRequest{TodoID: p.TodoID}); err == nil {
					t.Error("a todo that was deleted is there again")
				}
			})
		}
	}
}
