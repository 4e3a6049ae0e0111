package emit_test

import (
	"time"

	"github.com/aqltag/aqltag/model"
)

const todoSource = `package todo

import (
	"context"
	"time"

	aql "github.com/aqltag/aqltag/runtime"
)

type Priority string

const (
	Low    Priority = "low"
	Medium Priority = "medium"
	High   Priority = "high"
)

type Stamp struct {
	At time.Time
}

type CreateTodoRequest struct {
	_        struct{} ` + "`aql:\"category=CREATE\"`" + `
	Title    string
	Priority Priority
	DueAt    *time.Time
	Tags     []string
	*Stamp
	hidden struct {
		a int
		B string ` + "`json:\"b\"`" + `
	}
}

type Todo struct {
	TodoID   string
	Title    string
	Priority Priority
}

type UpdateTodoRequest struct {
	TodoID string
	Input  aql.Patch[Todo]
}

type DeleteTodoRequest struct {
	TodoID string
}

type Service struct{}

func (s *Service) CreateTodo(ctx context.Context, req CreateTodoRequest) (*Todo, error) {
	return &Todo{TodoID: "t1", Title: req.Title, Priority: req.Priority}, nil
}

func (s *Service) UpdateTodo(ctx context.Context, req UpdateTodoRequest) (*Todo, error) {
	t := &Todo{TodoID: req.TodoID, Title: "old", Priority: Low}
	return t, req.Input.Apply(t)
}

func (s *Service) DeleteTodo(ctx context.Context, req DeleteTodoRequest) error { return nil }

func Registry() *aql.Registry { return NewRegistry(new(Service)) }
`

func guardField(name, text string, imports ...model.Import) model.GuardField {
	return model.GuardField{Name: name, Type: model.GoType{Text: text, Imports: imports}}
}

// todoPackage is the model of todoSource, the example of the design.
func todoPackage() *model.Package {
	timeImport := model.Import{Path: "time", Name: "time"}
	priority := enum("todo", "Priority", "Low=low", "Medium=medium", "High=high")
	todo := object("todo", "Todo",
		field("TodoID", "todo_id", text(), identifier),
		field("Title", "title", text(), required, param(func(p *model.Param) { p.MinLength, p.MaxLength = 1, 200 })),
		field("Priority", "priority", priority, preset(`"medium"`)),
	)
	todo.Guard = []model.GuardField{guardField("TodoID", "string"), guardField("Title", "string"), guardField("Priority", "Priority")}
	create := object("todo", "CreateTodoRequest",
		field("Title", "title", text(), required, param(func(p *model.Param) {
			p.Type, p.MinLength, p.MaxLength, p.Description = "string", 1, 200, "What has to be done"
		})),
		field("Priority", "priority", priority, preset(`"medium"`), param(func(p *model.Param) { p.Type = "Priority" })),
		field("DueAt", "due_at", pointer(instant())),
		field("Tags", "tags", slice(text()), param(func(p *model.Param) {
			p.Type, p.MaxItems, p.Items = "array", 20, &model.Param{Type: "string"}
		})),
	)
	create.Guard = []model.GuardField{
		guardField("_", "struct{}"), guardField("Title", "string"), guardField("Priority", "Priority"),
		guardField("DueAt", "*time.Time", timeImport), guardField("Tags", "[]string"),
		{Name: "Stamp", Embedded: true, Type: model.GoType{Text: "*Stamp"}},
		guardField("hidden", "struct{a int; B string \"json:\\\"b\\\"\"}"),
	}
	update := object("todo", "UpdateTodoRequest", field("TodoID", "todo_id", text(), required), field("Input", "input", patch(todo), required))
	update.Guard = []model.GuardField{
		guardField("TodoID", "string"),
		guardField("Input", "aql.Patch[Todo]", model.Import{Path: "github.com/aqltag/aqltag/runtime", Name: "aql"}),
	}
	remove := object("todo", "DeleteTodoRequest", field("TodoID", "todo_id", text(), required))
	remove.Guard = []model.GuardField{guardField("TodoID", "string")}

	pkg := &model.Package{
		Path: testModule + "/todo", Name: "todo",
		Handlers: []model.Handler{
			handler("CreateTodo", model.Create, "create_todo", create, pointer(todo)),
			handler("UpdateTodo", model.Update, "update_todo", update, pointer(todo)),
			handler("DeleteTodo", model.Delete, "delete_todo", remove, nil),
		},
		Types: []model.Type{
			{Name: "Priority", Kind: model.KindEnum, Values: []model.EnumValue{{Value: "low", Description: "Can wait."}, {Value: "medium"}, {Value: "high"}}},
			{Name: "Todo", Kind: model.KindObject, Fields: []model.Param{{Name: "todo_id", Type: "string", ID: true}, {Name: "priority", Type: "Priority", Enum: priority.Wire.Enum}}},
		},
		Taken: []string{
			"CreateTodoRequest", "DeleteTodoRequest", "High", "Low", "Medium", "Priority", "Registry", "Service", "Stamp", "Todo",
			"UpdateTodoRequest", "aql", "context", "time",
		},
		Imported: []string{"aql", "context", "time"},
	}
	for i := range pkg.Handlers {
		pkg.Handlers[i].Receiver = &model.Receiver{Type: "Service", Pointer: true}
	}
	pkg.Handlers[0].Operation.Examples = []model.Example{{Params: `{"title":"Buy milk"}`, Description: "The shortest request"}}
	pkg.Handlers[2].Operation.Danger = model.Destructive
	pkg.Handlers[2].Operation.Timeout = 90 * time.Second
	pkg.Handlers[2].Operation.Reasons = []string{"Removes the todo and its history"}
	return pkg
}
