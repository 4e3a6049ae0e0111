package scan_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/aqltag/aqltag/model"
	"github.com/aqltag/aqltag/runtime/gen"
)

const todo = `package app

import (
	"context"
	"time"

	aql "github.com/aqltag/aqltag/runtime"
)

// Priority is how urgent a todo is.
type Priority string

const (
	// Low can wait.
	Low    Priority = "low"
	Medium Priority = "medium" // As usual
	High   Priority = "high"
)

// Todo is a thing to do.
type Todo struct {
	TodoID    string    ` + "`json:\"todo_id\" aql:\"id\"`" + `
	Title     string    ` + "`json:\"title\" aql:\"required,minlen=1,maxlen=200\"`" + ` // What has to be done
	Priority  Priority  ` + "`json:\"priority\" aql:\"default=medium\"`" + `
	Metadata  Metadata  ` + "`json:\"metadata,omitzero\"`" + `
	CreatedAt time.Time ` + "`json:\"created_at\" aql:\"readonly\"`" + `
	ETag      string    ` + "`json:\"_etag\"`" + `
}

type Metadata struct {
	Color  string            ` + "`json:\"color,omitempty\"`" + `
	Labels map[string]string ` + "`json:\"labels,omitempty\"`" + `
}

type Service struct{}

// CreateTodoRequest describes the todo to add.
type CreateTodoRequest struct {
	_        struct{}   ` + "`aql:\"category=CREATE\"`" + `
	Title    string     ` + "`json:\"title\" aql:\"required,minlen=1,maxlen=200\"`" + ` // What has to be done
	Priority Priority   ` + "`json:\"priority,omitempty\" aql:\"default=medium\"`" + `
	DueAt    *time.Time ` + "`json:\"due_at,omitempty\"`" + `
	Tags     []string   ` + "`json:\"tags,omitempty\" aql:\"maxitems=20\"`" + `
}

// CreateTodo adds a todo.
//
//aql:example {"title":"Buy milk"} The shortest request
func (s *Service) CreateTodo(ctx context.Context, req CreateTodoRequest) (*Todo, error) { return nil, nil }

// UpdateTodoRequest names a todo and what changes in it.
type UpdateTodoRequest struct {
	_      struct{}        ` + "`aql:\"category=UPDATE,danger=reversible\"`" + `
	TodoID string          ` + "`json:\"todo_id\" aql:\"required\"`" + `
	Input  aql.Patch[Todo] ` + "`json:\"input\"`" + `
}

// UpdateTodo changes a todo; what is absent from input stays as it was.
func (s *Service) UpdateTodo(ctx context.Context, req UpdateTodoRequest) (*Todo, error) { return nil, nil }

// DeleteTodoRequest names the todo to remove.
type DeleteTodoRequest struct {
	_      struct{} ` + "`aql:\"category=DELETE,danger=destructive\"`" + `
	TodoID string   ` + "`json:\"todo_id\" aql:\"required\"`" + `
}

// DeleteTodo removes a todo for good.
//
//aql:reason Removes the todo and its history
//aql:confirm Delete todo '{todo_id}'? This cannot be undone.
func (s *Service) DeleteTodo(ctx context.Context, req DeleteTodoRequest) error { return nil }

// ListTodosRequest selects todos.
type ListTodosRequest struct {
	_ struct{} ` + "`aql:\"category=READ\"`" + `
}

// ListTodos lists the todos.
func (s *Service) ListTodos(req *ListTodosRequest) ([]Todo, error) { return nil, nil }
`

// The example of the design (§3) is found whole.
func TestDesignExample(t *testing.T) {
	pkg := one(t, todo)
	title := gen.Param{
		Name: "title", Type: "string", Required: true, Description: "What has to be done", MinLength: 1, MaxLength: 200,
	}
	levels := []string{"low", "medium", "high"}
	var operations []gen.Operation
	for _, handler := range pkg.Handlers {
		operations = append(operations, handler.Operation)
	}
	want := []gen.Operation{
		{
			Name: "create_todo", Category: gen.Create, Description: "Adds a todo.",
			Danger: gen.Reversible, DangerSource: gen.DangerFromCategory,
			Params: []gen.Param{
				title,
				{Name: "priority", Type: "Priority", Default: `"medium"`, Enum: levels},
				{Name: "due_at", Type: "string", Format: "date-time"},
				{Name: "tags", Type: "array", MaxItems: 20, Items: &gen.Param{Type: "string"}},
			},
			Returns:  gen.Returns{Name: "Todo", Kind: gen.KindObject, Description: "A thing to do.", Nullable: true},
			Examples: []gen.Example{{Params: `{"title":"Buy milk"}`, Description: "The shortest request"}},
			Source:   "app.go:49",
		},
		{
			Name: "update_todo", Category: gen.Update,
			Description: "Changes a todo; what is absent from input stays as it was.",
			Danger:      gen.Reversible, DangerSource: gen.DangerFromTag,
			Params: []gen.Param{
				{Name: "todo_id", Type: "string", Required: true},
				{Name: "input", Type: "TodoPatch", Required: true},
			},
			Returns: gen.Returns{Name: "Todo", Kind: gen.KindObject, Description: "A thing to do.", Nullable: true},
			Source:  "app.go:59",
		},
		{
			Name: "delete_todo", Category: gen.Delete, Description: "Removes a todo for good.",
			Danger: gen.Destructive, DangerSource: gen.DangerFromTag,
			Reasons: []string{"Removes the todo and its history"},
			Confirm: "Delete todo '{todo_id}'? This cannot be undone.",
			Params:  []gen.Param{{Name: "todo_id", Type: "string", Required: true}},
			Returns: gen.Returns{Name: "Nothing", Kind: gen.KindScalar, Description: "No data (null)."},
			Source:  "app.go:71",
		},
		{
			Name: "list_todos", Category: gen.Read, Description: "Lists the todos.",
			Danger: gen.Safe, DangerSource: gen.DangerFromCategory,
			Returns: gen.Returns{Name: "TodoList", Kind: gen.KindObject, Description: "List of Todo in items."},
			Source:  "app.go:79",
		},
	}
	if diff := cmp.Diff(want, operations, ignoreGo); diff != "" {
		t.Errorf("operations (-want +got):\n%s", diff)
	}

	priority := gen.Param{Name: "priority", Type: "Priority", Default: `"medium"`, Enum: levels}
	color := gen.Param{Name: "color", Type: "string"}
	labels := gen.Param{Name: "labels", Type: "object", Items: &gen.Param{Type: "string"}}
	updatable, metadata := priority, gen.Param{Name: "metadata", Type: "Metadata"}
	updatable.Default, updatable.Nullable = "", true
	newColor, newLabels := color, labels
	newColor.Nullable, newLabels.Nullable, newLabels.Items = true, true, &gen.Param{Type: "string", Nullable: true}
	optionalTitle := title
	optionalTitle.Required = false
	types := []gen.Type{
		{Name: "Metadata", Kind: gen.KindObject, Fields: []gen.Param{color, labels}},
		{
			Name: "MetadataPatch", Kind: gen.KindObject, Fields: []gen.Param{newColor, newLabels},
			Description: "Changes to a Metadata. Absent fields keep their value, objects merge, arrays replace whole, null " +
				"removes what may be null.",
		},
		{Name: "Nothing", Kind: gen.KindScalar, Description: "No data (null)."},
		{
			Name: "Priority", Kind: gen.KindEnum, Description: "How urgent a todo is.",
			Values: []gen.EnumValue{
				{Value: "low", Description: "Can wait."}, {Value: "medium", Description: "As usual"}, {Value: "high"},
			},
		},
		{
			Name: "Todo", Kind: gen.KindObject, Description: "A thing to do.",
			Fields: []gen.Param{
				{Name: "todo_id", Type: "string", ID: true}, title, priority, metadata,
				{Name: "created_at", Type: "string", Format: "date-time", ReadOnly: true},
				{Name: "_etag", Type: "string", ReadOnly: true},
			},
		},
		{
			Name: "TodoList", Kind: gen.KindObject, Description: "List of Todo in items.",
			Fields: []gen.Param{
				{Name: "items", Type: "array", Required: true, Description: "The elements.", Items: &gen.Param{Type: "Todo"}},
			},
		},
		{
			Name: "TodoPatch", Kind: gen.KindObject,
			Description: "Changes to a Todo. Absent fields keep their value, objects merge, arrays replace whole, null " +
				"removes what may be null. Read-only: created_at, _etag.",
			Fields: []gen.Param{optionalTitle, updatable, {Name: "metadata", Type: "MetadataPatch", Nullable: true}},
		},
	}
	if diff := cmp.Diff(types, pkg.Types, ignoreGo); diff != "" {
		t.Errorf("types (-want +got):\n%s", diff)
	}
}

// The handlers say how the generated code calls them.
func TestHandlerCalls(t *testing.T) {
	type call struct {
		Func     string
		Receiver model.Receiver
		Context  bool
		Pointer  bool
		Request  string
		Result   string
	}
	var got []call
	for _, handler := range one(t, todo).Handlers {
		c := call{
			Func: handler.Func, Receiver: *handler.Receiver, Context: handler.Context, Pointer: handler.RequestPointer,
			Request: handler.Request.Text, Result: handler.Result.Text,
		}
		got = append(got, c)
	}
	service := model.Receiver{Type: "Service", Pointer: true}
	want := []call{
		{"CreateTodo", service, true, false, "CreateTodoRequest", "*Todo"},
		{"UpdateTodo", service, true, false, "UpdateTodoRequest", "*Todo"},
		{"DeleteTodo", service, true, false, "DeleteTodoRequest", ""},
		{"ListTodos", service, false, true, "ListTodosRequest", "[]Todo"},
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("calls (-want +got):\n%s", diff)
	}
}
