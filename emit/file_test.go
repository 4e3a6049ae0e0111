package emit_test

import (
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/aqltag/aqltag/emit"
	"github.com/aqltag/aqltag/model"
)

func TestTodoAnswersRequests(t *testing.T) {
	replies := run(t, "todo", map[string]string{"todo/todo.go": todoSource, "todo/aql_gen.go": generate(t, todoPackage())}, []string{
		`create_todo {"title":"Buy milk"}`,
		`create_todo {"titel":"Buy milk"}`,
		`create_todo {"title":"x","tags":"not a list"}`,
		`create_todo {"title":"","priority":"urgent"}`,
		`update_todo {"todo_id":"t1","input":{"title":"new"}}`,
		`update_todo {"todo_id":"t1","input":{"priority":null}}`,
		`update_todo {"todo_id":"t1","input":{"todo_id":"t2"}}`,
	})
	wants := []string{
		data(`{"todo_id":"t1","title":"Buy milk","priority":"medium"}`),
		`"code":"VALIDATION_MISSING_PARAM"`,
		`"code":"VALIDATION_INVALID_TYPE"`,
		`"code":"VALIDATION_OUT_OF_RANGE"`,
		data(`{"todo_id":"t1","title":"new","priority":"low"}`),
		data(`{"todo_id":"t1","title":"old","priority":"medium"}`),
		`"code":"VALIDATION_UNKNOWN_FIELD"`,
	}
	for i, want := range wants {
		if !strings.Contains(replies[i], want) {
			t.Errorf("reply %d: got %s, want %s", i, replies[i], want)
		}
	}
}

// The file's parts stand in a fixed order, so that a reader and a diff find them.
func TestOrderOfTheFile(t *testing.T) {
	code := generate(t, todoPackage())
	at := 0
	for _, part := range []string{
		emit.Header + "\n\npackage todo\n\nimport (\n\t\"context\"\n\t\"time\"\n\n\t\"github.com/aqltag/aqltag/model\"\n\taql \"github.com/aqltag/aqltag/runtime\"\n\t\"github.com/aqltag/aqltag/runtime/wire\"\n)\n",
		"// NewRegistry returns the operations of package todo, carried out by service.\nfunc NewRegistry(service *Service) *aql.Registry {",
		"func createTodoDefinition() model.Operation {",
		"func deleteTodoDefinition() model.Operation {",
		"func wireTypes() []model.Type {",
		"type createTodoCall struct {\n\tservice *Service\n\trequest CreateTodoRequest\n\tseen    uint64\n}",
		"type deleteTodoCall struct {",
		"func mergeTodo(r *wire.Reader, v *Todo) {",
		"func writeTodo(w *wire.Writer, v *Todo) {",
		"var priorityValues = []string{string(Low), string(Medium), string(High)}",
		"var todoPatchFields = []string{\"title\", \"priority\"}",
		"var _ func(*Service, context.Context, CreateTodoRequest) (*Todo, error) = (*Service).CreateTodo",
		"}(CreateTodoRequest{})",
		"}(DeleteTodoRequest{})",
	} {
		i := strings.Index(code[at:], part)
		if i < 0 {
			t.Fatalf("no %q after byte %d of\n%s", part, at, code)
		}
		at += i + len(part)
	}
	for _, absent := range []string{"func readTodo", "reflect", "encoding/json", "regexp"} {
		if strings.Contains(code, absent) {
			t.Errorf("the file holds %q, which nothing needs", absent)
		}
	}
}

func TestDefinitionsHoldOnlyWhatIsSet(t *testing.T) {
	code := generate(t, todoPackage())
	want := `func deleteTodoDefinition() model.Operation {
	return model.Operation{
		Name:         "delete_todo",
		Category:     model.Delete,
		Description:  "Does delete_todo.",
		Danger:       model.Destructive,
		DangerSource: model.DangerFromTag,
		Reasons:      []string{"Removes the todo and its history"},
		Params: []model.Param{
			{
				Name:     "todo_id",
				Type:     "any",
				Required: true,
			},
		},
		Timeout: 90 * time.Second,
		Source:  "delete_todo.go:1",
	}
}
`
	_, rest, _ := strings.Cut(code, "func deleteTodoDefinition")
	got, _, _ := strings.Cut("func deleteTodoDefinition"+rest, "\nfunc ")
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("definition (-want +got):\n%s", diff)
	}
	for _, part := range []string{
		"{Value: string(Low), Description: \"Can wait.\"},", "Enum: priorityValues,", "Default: `\"medium\"`,",
		"Params:      `{\"title\":\"Buy milk\"}`,", "Items:    &model.Param{Type: \"string\"},",
	} {
		if !strings.Contains(code, part) {
			t.Errorf("the definitions do not hold %s", part)
		}
	}
}

// Any change that the compiler can see breaks the build of a package whose code was not generated again (design §1).
func TestGuardsBreakTheBuild(t *testing.T) {
	code := generate(t, todoPackage())
	changes := []struct{ name, old, new string }{
		{"nothing", "", ""},
		{"a tag", "category=CREATE", "category=UPDATE"},
		{"an added field", "\tTags     []string\n", "\tTags     []string\n\tMore     int\n"},
		{"a removed field", "\tDueAt    *time.Time\n", ""},
		{"a renamed field", "\tDueAt    *time.Time\n", "\tDueOn    *time.Time\n"},
		{"a retyped field that still converts", "\tTags     []string\n", "\tTags     Tags\n"},
		{"fields in another order", "\tTodoID   string\n\tTitle    string\n", "\tTitle    string\n\tTodoID   string\n"},
		{"a field that is embedded no longer", "\t*Stamp\n", "\tStamp    *Stamp\n"},
		{"a field that does not travel", "\t\ta int\n", "\t\ta int8\n"},
		{"a removed handler", "func (s *Service) DeleteTodo(", "func (s *Service) dropTodo("},
		{"a handler without a context", "DeleteTodo(ctx context.Context, req", "DeleteTodo(req"},
		{"a handler that takes a pointer", "req DeleteTodoRequest) error", "req *DeleteTodoRequest) error"},
		{"a handler with another result", "DeleteTodo(ctx context.Context, req DeleteTodoRequest) error { return nil }", "DeleteTodo(ctx context.Context, req DeleteTodoRequest) (*Todo, error) { return nil, nil }"},
		{"a removed enum constant", "\tHigh   Priority = \"high\"\n", ""},
	}
	files := make(map[string]string)
	for i, change := range changes {
		source := strings.Replace(todoSource, change.old, change.new, 1) + "\ntype Tags []string\n"
		if i > 0 && !strings.Contains(todoSource, change.old) {
			t.Fatalf("%s: the source does not hold %q", change.name, change.old)
		}
		files[fmt.Sprintf("todo%d/todo.go", i)] = source
		files[fmt.Sprintf("todo%d/aql_gen.go", i)] = code
	}
	out, _ := goCommand(moduleDir(t, files), "build", "./...")
	for i, change := range changes {
		broken := strings.Contains(out, fmt.Sprintf("todo%d/aql_gen.go:", i))
		if want := i > 1; broken != want {
			t.Errorf("%s: breaks the build = %v, want %v\n%s", change.name, broken, want, out)
		}
	}
}

func TestNamesStayClearOfThePackage(t *testing.T) {
	pkg := todoPackage()
	pkg.Taken = []string{"aql", "context", "createTodoCall", "mergeTodo", "model", "service", "time", "wire", "wireTypes"}
	pkg.Imported = []string{"aql", "context", "time"}
	code := generate(t, pkg)
	file, err := parser.ParseFile(token.NewFileSet(), "aql_gen.go", code, 0)
	if err != nil {
		t.Fatal(err)
	}
	declared := make(map[string]bool)
	for _, decl := range file.Decls {
		switch decl := decl.(type) {
		case *ast.FuncDecl:
			if decl.Recv == nil {
				declared[decl.Name.Name] = true
			}
		case *ast.GenDecl:
			for _, spec := range decl.Specs {
				switch spec := spec.(type) {
				case *ast.TypeSpec:
					declared[spec.Name.Name] = true
				case *ast.ValueSpec:
					declared[spec.Names[0].Name] = true
				}
			}
		}
	}
	for _, name := range pkg.Taken {
		if declared[name] {
			t.Errorf("the file declares %s, which the package declares", name)
		}
	}
	for _, part := range []string{
		"\t\"context\"\n\t\"time\"\n", "\taqlmodel \"github.com/aqltag/aqltag/model\"\n", "\taql \"github.com/aqltag/aqltag/runtime\"\n",
		"\taqlwire \"github.com/aqltag/aqltag/runtime/wire\"\n", "func NewRegistry(serviceValue *Service) *aql.Registry {",
		"func mergeTodo2(r *aqlwire.Reader, v *Todo)", "type serviceCreateTodoCall struct", "wireTypes2()",
	} {
		if !strings.Contains(code, part) {
			t.Errorf("the file does not hold %q:\n%s", part, code)
		}
	}
}

// Two packages of one name, and one whose name is that of a variable in generated functions.
func TestImportsOfOtherPackages(t *testing.T) {
	from := func(path, pkg, name string, sh *model.Shape) *model.Shape {
		sh.Go = model.GoName{PkgPath: path, PkgName: pkg, Name: name}
		return sh
	}
	request := object("todo", "Request",
		field("A", "a", from("example.com/one/types", "types", "A", text())),
		field("B", "b", from("example.com/two/types", "types", "B", text())),
		field("C", "c", from("example.com/value", "value", "C", text())),
		field("D", "d", from("gopkg.in/yaml.v3", "yaml", "D", text())),
		field("E", "e", from("example.com/model", "model", "E", text())),
	)
	request.Guard = []model.GuardField{
		guardField("A", "map[types.A]types.A", model.Import{Path: "example.com/one/types", Name: "types"}),
		guardField("B", "func(types.B) struct{}", model.Import{Path: "example.com/two/types", Name: "types"}),
		guardField("C", "value.C", model.Import{Path: "example.com/value", Name: "value"}),
	}
	pkg := &model.Package{Path: testModule + "/todo", Name: "todo", Handlers: []model.Handler{handler("Do", model.Read, "do", request, nil)}}
	code := generate(t, pkg)
	for _, part := range []string{
		"\t\"example.com/one/types\"\n", "\ttypespkg \"example.com/two/types\"\n", "\tvaluepkg \"example.com/value\"\n", "\tyaml \"gopkg.in/yaml.v3\"\n",
		"\tmodelpkg \"example.com/model\"\n", "types.A(s)", "typespkg.B(s)", "valuepkg.C(s)", "yaml.D(s)", "modelpkg.E(s)",
		"\tA map[types.A]types.A\n", "\tB func(typespkg.B) struct{}\n", "\tC valuepkg.C\n",
	} {
		if !strings.Contains(code, part) {
			t.Errorf("the file does not hold %q:\n%s", part, code)
		}
	}
}

// File says which field it cannot write code for, all of them at once.
func TestErrorsNameTheField(t *testing.T) {
	count := field("Count", "count", integer(64), quoted)
	count.Position = model.Position{File: "todo.go", Line: 7, Column: 2}
	request := object("todo", "Request",
		count,
		field("Lists", "lists", slice(&model.Shape{Kind: model.ShapeStruct})),
		field("Keys", "keys", &model.Shape{Kind: model.ShapeMap, Key: integer(0), Elem: text()}),
		field("Odd", "odd", &model.Shape{Kind: "chan"}),
		field("Number", "number", integer(8), preset(`"text"`)),
		field("Tiny", "tiny", unsigned(8), param(func(p *model.Param) { p.Minimum = "300" })),
		field("Data", "data", bytesShape(), param(func(p *model.Param) { p.MinLength = 1 })),
	)
	pkg := &model.Package{
		Path: testModule + "/todo", Name: "todo", Handlers: []model.Handler{handler("Do", model.Read, "do", request, nil)},
		Taken: []string{"NewRegistry", "append"},
	}
	content, err := emit.File(pkg)
	if err == nil {
		t.Fatalf("no error, but\n%s", content)
	}
	for _, part := range []string{
		"todo.go:7:2: Request.Count: ", "Request.Lists: ", "Request.Keys: ", "Request.Odd: ", "Request.Number: ", "Request.Tiny: ",
		"Request.Data: ", "declares NewRegistry", "declares append",
	} {
		if !strings.Contains(err.Error(), part) {
			t.Errorf("the error does not say %q:\n%v", part, err)
		}
	}
}

// gofmt breaks lines by their length in places; names of every length must not surprise the generator.
func TestLayoutForNamesOfEveryLength(t *testing.T) {
	for n := 1; n < 120; n += 3 {
		name := "D" + strings.Repeat("o", n)
		h := handler(name, model.Read, "do", object("todo", "Request", field("F"+strings.Repeat("f", n), "f", text(), preset(`"x"`))), nil)
		h.Receiver = &model.Receiver{Type: "S" + strings.Repeat("s", n/2), Pointer: true}
		bare := handler(name+"Too", model.Read, "do_too", object("todo", "Empty"), nil)
		generate(t, &model.Package{Path: testModule + "/todo", Name: "todo", Handlers: []model.Handler{h, bare}})
	}
}
