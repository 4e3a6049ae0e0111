package emit_test

import (
	"fmt"
	"go/ast"
	"go/format"
	"go/parser"
	"go/token"
	"go/types"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/aqltag/aqltag/emit"
	"github.com/aqltag/aqltag/model"
	"github.com/aqltag/aqltag/runtime/gen"
	"github.com/google/go-cmp/cmp"
)

// stubs are as much of the packages that generated code imports as it takes to type-check it. Package gen is the real
// one, but for the bodies of its functions. What else that imports of the standard library is empty.
var stubs = map[string]string{
	"context": `package context; type Context interface{ Done() }`,
	"iter":    `package iter; type (Seq[V any] func(func(V) bool); Seq2[K, V any] func(func(K, V) bool))`,
	"reflect": `package reflect; type Type interface{}`,
	"time": `package time; type (Duration int64; Time struct{})
const (Nanosecond, Millisecond, Second, Minute, Hour Duration = 1, 1, 1, 1, 1)`,
	"sync": `package sync; type Mutex struct{}; func (*Mutex) Lock() {}; func (*Mutex) Unlock() {}`,
	"example.com/kinds": `package kinds; type (Status string; Point struct{ X int })
const (Open Status = "open"; Shut Status = "shut")`,
	"example.com/time": `package time; type Zone string`,
}

// stubImporter imports from stubs.
type stubImporter struct {
	fset *token.FileSet
	done map[string]*types.Package
}

func (s *stubImporter) Import(path string) (*types.Package, error) {
	if s.done[path] != nil {
		return s.done[path], nil
	}
	var files []*ast.File
	parse := func(name string, source any) error {
		file, err := parser.ParseFile(s.fset, name, source, parser.SkipObjectResolution)
		files = append(files, file)
		return err
	}
	stub, ok := stubs[path]
	if inLibrary := !strings.Contains(path, "."); inLibrary && !ok {
		stub, ok = "package "+path[strings.LastIndex(path, "/")+1:], true
	}
	if ok {
		if err := parse(path, stub); err != nil {
			return nil, err
		}
	} else if path != "github.com/aqltag/aqltag/runtime/gen" {
		return nil, fmt.Errorf("there is no stub for %s", path)
	} else {
		names, err := filepath.Glob("../runtime/gen/*.go")
		if err != nil {
			return nil, err
		}
		for _, name := range names {
			if strings.HasSuffix(name, "_test.go") {
				continue
			}
			if err := parse(name, nil); err != nil {
				return nil, err
			}
		}
	}
	pkg, err := (&types.Config{Importer: s, IgnoreFuncBodies: true}).Check(path, s.fset, files, nil)
	s.done[path] = pkg
	return pkg, err
}

// generate generates, and fails unless the result is as gofmt writes it and compiles together with the user's own
// source.
func generate(t *testing.T, user string, pkg *model.Package) string {
	t.Helper()
	content, err := emit.File(pkg)
	if err != nil {
		t.Fatal(err)
	}
	formatted, err := format.Source(content)
	if err != nil {
		t.Fatalf("%v\n%s", err, content)
	}
	if diff := cmp.Diff(string(formatted), string(content)); diff != "" {
		t.Errorf("not as gofmt writes it (-gofmt +generated):\n%s", diff)
	}
	again, err := emit.File(pkg)
	if err != nil || string(again) != string(content) {
		t.Errorf("generating again gives something else: %v", err)
	}
	fset := token.NewFileSet()
	var files []*ast.File
	for name, text := range map[string]string{
		"user.go": "package " + pkg.Name + "\n" + user, emit.FileName: string(content),
	} {
		file, err := parser.ParseFile(fset, name, text, parser.SkipObjectResolution)
		if err != nil {
			t.Fatal(err)
		}
		files = append(files, file)
	}
	config := types.Config{
		Importer: &stubImporter{fset, map[string]*types.Package{}},
		Error:    func(err error) { t.Errorf("does not compile: %v\n%s", err, content) },
	}
	_, _ = config.Check(pkg.Path, fset, files, nil)
	return string(content)
}

func goType(text string, imports ...string) model.GoType {
	out := model.GoType{Text: text}
	for _, path := range imports {
		out.Imports = append(out.Imports, model.Import{Path: path, Name: path[strings.LastIndex(path, "/")+1:]})
	}
	return out
}

func operation(name string, params ...gen.Param) gen.Operation {
	return gen.Operation{
		Name: name, Category: gen.Read, Description: "Does " + name + ".", Danger: gen.Safe, Params: params,
		Returns: gen.Returns{Name: "String", Kind: gen.KindScalar}, Source: "notes/notes.go:1",
	}
}

const notesSource = `
import "context"
type Service struct{}
type GetRequest struct { _ struct{}; ID string }
func (s *Service) Get(ctx context.Context, req *GetRequest) (string, error) { return "", nil }
func Join(separator string, words ...string) (string, error) { return "", nil }
func Ping() error { return nil }
`

func notes() *model.Package {
	get := operation(
		"get_note", gen.Param{Name: "note_id", Go: "ID", Type: "string", Required: true, Description: "Which note"},
	)
	get.Timeout, get.Examples = 90*time.Second, []gen.Example{{Params: `{"note_id":"n1"}`, Description: "A note"}}
	join := operation(
		"join", gen.Param{Name: "separator", Go: "separator", Type: "string"},
		gen.Param{Name: "words", Go: "words", Type: "array", Items: &gen.Param{Type: "string"}},
	)
	ping := operation("ping")
	ping.Returns.Name = "Nothing"
	return &model.Package{
		Path: "example.com/notes", Name: "notes", Taken: []string{
			"GetRequest", "Join", "Ping", "Service", "context",
		}, Imported: []string{"context"},
		Handlers: []model.Handler{
			{
				Operation: get, Func: "Get", Receiver: &model.Receiver{Type: "Service", Pointer: true}, Context: true,
				Request: goType("GetRequest"), RequestPointer: true, Result: goType("string"),
			},
			{
				Operation: join, Func: "Join",
				Arguments: []model.Argument{
					{Field: "separator", Type: goType("string")}, {Field: "words", Type: goType("[]string")},
				},
				Variadic: true, Result: goType("string"),
			},
			{Operation: ping, Func: "Ping"},
		},
		Types: []gen.Type{
			{Name: "Nothing", Kind: gen.KindScalar, Description: "No data (null)."},
			{Name: "String", Kind: gen.KindScalar},
		},
		Guards: []model.Guard{
			{
				Type: goType("GetRequest"), Whole: true,
				Fields: []model.GuardField{{Name: "_", Type: goType("struct{}")}, {Name: "ID", Type: goType("string")}},
			},
		},
	}
}

func TestLayout(t *testing.T) {
	got := generate(t, notesSource, notes())
	want := `// Code generated by aql-tag; DO NOT EDIT.
// Definitions: sha256:dd8d1952dc335b59fc2723b37814a16f63fd2e33709f8823b7313d6261bc2673

package notes

import (
	"context"
	"time"

	"github.com/aqltag/aqltag/runtime/gen"
)

// The build breaks here when the generator and the runtime are of versions that do not fit each other.
const _ = gen.Version1_UpdateRuntimeAndRunGoGenerate

// NewRegistry returns the operations of package notes, carried out by service.
func NewRegistry(service *Service) *gen.Registry {
	return gen.NewRegistry(handlers, wireTypes, service)
}

// NewRegistryFor returns the same operations, carried out by what service returns for each call.
func NewRegistryFor(service func(context.Context) (*Service, error)) *gen.Registry {
	return gen.NewRegistryFor(handlers, wireTypes, gen.Choose(service))
}

var handlers = []gen.Handler{
	{Name: "get_note", Category: gen.Read, Danger: gen.Safe, Description: "Does get_note.",
		Params: []gen.Field{
			{Name: "note_id", Go: "ID", Type: "string", Required: true, Description: "Which note"},
		},
		Examples: []gen.Example{
			{Params: ` + "`{\"note_id\":\"n1\"}`" + `, Description: "A note"},
		},
		Timeout: 90 * time.Second,
		Returns: "String", Source: "notes/notes.go:1", Request: (*GetRequest)(nil), Result: (*string)(nil),
		Call: func(ctx context.Context, receivers []any, request any) (any, error) {
			return receivers[0].(*Service).Get(ctx, request.(*GetRequest))
		}},
	{Name: "join", Category: gen.Read, Danger: gen.Safe, Description: "Does join.",
		Params: []gen.Field{
			{Name: "separator", Go: "separator", Type: "string"},
			{Name: "words", Go: "words", Type: "array", Items: &gen.Field{Type: "string"}},
		},
		Returns: "String", Source: "notes/notes.go:1", Request: (*joinArguments)(nil), Result: (*string)(nil), Receivers: []int{},
		Call: func(_ context.Context, _ []any, request any) (any, error) {
			arguments := request.(*joinArguments)
			return Join(arguments.separator, arguments.words...)
		}},
	{Name: "ping", Category: gen.Read, Danger: gen.Safe, Description: "Does ping.",
		Returns: "Nothing", Source: "notes/notes.go:1", Request: (*struct{})(nil), Receivers: []int{},
		Call: func(_ context.Context, _ []any, _ any) (any, error) {
			return nil, Ping()
		}},
}

// joinArguments are the arguments of Join.
type joinArguments struct {
	separator string
	words     []string
}

var wireTypes = []gen.WireType{
	{Name: "Nothing", Kind: gen.KindScalar, Description: "No data (null)."},
	{Name: "String", Kind: gen.KindScalar},
}

// The function below breaks the build when a handler or a struct is no longer what this file was generated from.
// Run go generate then.
func _() {
	var _ func(*Service, context.Context, *GetRequest) (string, error) = (*Service).Get
	var _ func(string, ...string) (string, error) = Join
	var _ func() error = Ping
	_ = GetRequest{struct{}{},
		gen.Exactly[string](&new(GetRequest).ID)}
}
`
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("-want +got:\n%s", diff)
	}
}

// No text that an author may write makes code that gofmt would write otherwise, or that means something else.
func TestTexts(t *testing.T) {
	for _, text := range []string{
		"plain", "with \"quotes\" and \\", "with `backquotes`", "`\"both\"`",
		"äöü 日本語 😀", "line\nbreak\ttab", "\x00\x7f",
		"\u200b\ufeff",
		"broken \xff", "\ufffd", strings.Repeat("long ", 500), "// no comment */", "%s %d", "${x}", "'", "", " ", "a,b|c='d'",
		"\r\n",
	} {
		pkg := notes()
		o := &pkg.Handlers[0].Operation
		o.Description, o.Confirm, o.Deprecated, o.Replacement, o.Family = text, text, text, text, text
		o.Reasons = []string{text, text}
		o.Examples = []gen.Example{{Params: `{"a":` + fmt.Sprintf("%q", text) + `}`, Description: text}}
		o.Params[0].Description, o.Params[0].Pattern, o.Params[0].Enum = text, text, []string{text, "b"}
		pkg.Types[0].Description = text
		pkg.Types = append(pkg.Types, gen.Type{
			Name: "Enum", Kind: gen.KindEnum, Values: []gen.EnumValue{{Value: text, Description: text}},
		},
			gen.Type{Name: "Union", Kind: gen.KindUnion, Members: []string{text}})
		content := generate(t, notesSource, pkg)
		file, err := parser.ParseFile(token.NewFileSet(), "", content, 0)
		if err != nil {
			t.Fatal(err)
		}
		found := 0
		ast.Inspect(file, func(n ast.Node) bool {
			if literal, ok := n.(*ast.BasicLit); ok && literal.Kind == token.STRING && unquoted(t, literal) == text {
				found++
			}
			return true
		})
		if wanted := 11; found < wanted && text != "" {
			t.Errorf("%q is in the file %d times, not %d", text, found, wanted)
		}
	}
}

func unquoted(t *testing.T, literal *ast.BasicLit) string {
	t.Helper()
	tv, err := types.Eval(token.NewFileSet(), nil, token.NoPos, literal.Value)
	if err != nil {
		t.Fatal(err)
	}
	var text string
	if _, err := fmt.Sscanf(tv.Value.ExactString(), "%q", &text); err != nil {
		t.Fatal(err)
	}
	return text
}

// Whatever an author calls things, generated code finds other names for its own.
func TestNamesThatAreTaken(t *testing.T) {
	user := `
import "context"
var gen, model, time, handlers, wireTypes, ctx, receivers, request, arguments, service, joinArguments int
type Service struct{}
type GetRequest struct { _ struct{}; ID string }
type v struct { value int }
type context_ = context.Context
func (s *Service) Get(ctx context_, req *GetRequest) (string, error) { return "", nil }
func Join(separator string, words ...string) (string, error) { return "", nil }
func Ping() error { return nil }
`
	pkg := notes()
	pkg.Taken = append(
		pkg.Taken, "gen", "time", "handlers", "wireTypes", "ctx", "receivers", "request", "arguments", "service",
		"joinArguments", "v", "context_",
	)
	slices.Sort(pkg.Taken)
	pkg.Guards = append(
		pkg.Guards,
		model.Guard{Type: goType("v"), Whole: true, Fields: []model.GuardField{{Name: "value", Type: goType("int")}}},
	)
	content := generate(t, user, pkg)
	for _, wanted := range []string{
		`aqlgen "github.com/aqltag/aqltag/runtime/gen"`, `stdtime "time"`,
		"func NewRegistry(serviceValue *Service) *aqlgen.Registry",
		"aqlgen.NewRegistry(aqlHandlers, aqlWireTypes, serviceValue)", "type joinArguments2 struct", "90 * stdtime.Second",
		"aqlgen.Exactly[int](&new(v).value)",
	} {
		if !strings.Contains(content, wanted) {
			t.Errorf("%s is not in\n%s", wanted, content)
		}
	}
}

// Handlers may have the names of what generated code declares inside of functions.
func TestHandlersNamedLikeLocals(t *testing.T) {
	user := "\nimport \"context\"\n"
	pkg := &model.Package{
		Path: "example.com/locals", Name: "locals", Types: []gen.Type{{Name: "String", Kind: gen.KindScalar}},
	}
	for _, name := range []string{"arguments", "ctx", "receivers", "request"} {
		user += "func " + name + "(ctx context.Context, text string) (string, error) { return text, nil }\n"
		pkg.Taken = append(pkg.Taken, name)
		pkg.Handlers = append(pkg.Handlers, model.Handler{
			Operation: operation(name), Func: name, Context: true, Arguments: []model.Argument{
				{Field: "text", Type: goType("string")},
			}, Result: goType("string"),
		})
	}
	pkg.Taken, pkg.Imported = append(pkg.Taken, "context"), []string{"context"}
	slices.Sort(pkg.Taken)
	generate(t, user, pkg)
}

// Types of other packages are imported once, under their own names where those are free.
func TestImports(t *testing.T) {
	user := `
import ("example.com/kinds"; "time"; zones "example.com/time")
type Request struct { _ struct{}; Status kinds.Status; At time.Time; Zone zones.Zone; Points map[string][]*kinds.Point }
func Get(req Request) (*kinds.Point, error) { return nil, nil }
`
	fields := []model.GuardField{
		{Name: "_", Type: goType("struct{}")}, {
			Name: "Status", Type: goType("kinds.Status", "example.com/kinds"),
		}, {Name: "At", Type: goType("time.Time", "time")},
		{Name: "Zone", Type: goType("time.Zone", "example.com/time")}, {
			Name: "Points", Type: goType("map[string][]*kinds.Point", "example.com/kinds"),
		},
	}
	get := operation("get")
	get.Timeout = time.Hour
	content := generate(t, user, &model.Package{
		Path: "example.com/app", Name: "app", Taken: []string{
			"Get", "Request", "kinds", "time", "zones",
		}, Imported: []string{"kinds", "time", "zones"},
		Handlers: []model.Handler{
			{Operation: get, Func: "Get", Request: goType("Request"), Result: goType("*kinds.Point", "example.com/kinds")},
		},
		Types: []gen.Type{{Name: "Status", Kind: gen.KindEnum, Values: []gen.EnumValue{
			{Value: "open"}, {Value: "hidden"},
		}}},
		Constants: map[model.EnumConstant]model.GoType{
			{Type: "Status", Value: "open"}: goType("kinds.Open", "example.com/kinds"),
		},
		Guards: []model.Guard{
			{Type: goType("Request"), Whole: true, Fields: fields},
			{Type: goType("kinds.Point", "example.com/kinds"), Fields: []model.GuardField{{Name: "X", Type: goType("int")}}},
		},
	})
	for _, wanted := range []string{
		"import (\n\t\"context\"\n\t\"time\"\n\n" +
			"\t\"example.com/kinds\"\n\ttimepkg \"example.com/time\"\n\t\"github.com/aqltag/aqltag/runtime/gen\"\n",
		"{Value: string(kinds.Open)},\n\t\t{Value: \"hidden\"},\n", "1 * time.Hour",
		"gen.Exactly[timepkg.Zone](&new(Request).Zone)",
		"_ = []any{\n\t\tgen.Exactly[int](&new(kinds.Point).X)}\n",
	} {
		if !strings.Contains(content, wanted) {
			t.Errorf("%s is not in\n%s", wanted, content)
		}
	}
}

// Generic services keep their type parameters, also when two of them call theirs the same.
func TestGenericReceivers(t *testing.T) {
	user := `
type E struct{}
type Cache[K comparable, V ~string | ~int] struct{ values map[K]V }
type Box[K ~[]E, E any] struct{ value K }
func (c *Cache[Key, Value]) Get(key string) (string, error) { return "", nil }
func (c Cache[K, V]) Len() (int, error) { return 0, nil }
func (b *Box[T, _]) Open() error { return nil }
`
	cache := []model.TypeParam{
		{Name: "K", Constraint: goType("comparable")}, {Name: "V", Constraint: goType("~string | ~int")},
	}
	get, length, open := operation("get"), operation("len"), operation("open")
	content := generate(t, user, &model.Package{
		Path: "example.com/app", Name: "app", Taken: []string{"Box", "Cache", "E"},
		Handlers: []model.Handler{
			{
				Operation: get, Func: "Get", Receiver: &model.Receiver{Type: "Cache", Pointer: true, TypeParams: cache},
				Arguments: []model.Argument{{Field: "key", Type: goType("string")}}, Result: goType("string"),
			},
			{Operation: length, Func: "Len", Receiver: &model.Receiver{Type: "Cache", TypeParams: cache}, Result: goType("int")},
			{
				Operation: open, Func: "Open",
				Receiver: &model.Receiver{
					Type: "Box", Pointer: true,
					TypeParams: []model.TypeParam{{Name: "K", Constraint: goType("~[]E")}, {Name: "E", Constraint: goType("any")}},
				},
			},
		},
	})
	for _, wanted := range []string{
		"NewRegistry[K comparable, V ~string | ~int, BoxK ~[]BoxE, BoxE any](cache *Cache[K, V], box *Box[BoxK, BoxE])",
		"gen.NewRegistry(handlers, nil, cacheMethods(cache), boxMethods(box))",
		"type cacheMethods interface {\n\tGet(string) (string, error)\n\tLen() (int, error)\n}",
		"receivers[0].(cacheMethods).Get(arguments.key)", "receivers[1].(boxMethods).Open()",
		"func NewRegistryFor[K comparable, V ~string | ~int, BoxK ~[]BoxE, BoxE any](" +
			"cache func(context.Context) (*Cache[K, V], error), box func(context.Context) (*Box[BoxK, BoxE], error)) ",
		"gen.NewRegistryFor(handlers, nil, gen.Choose(cache), gen.Choose(box))",
		"Receivers: []int{0},", "Receivers: []int{1},",
	} {
		if !strings.Contains(content, wanted) {
			t.Errorf("%s is not in\n%s", wanted, content)
		}
	}
}

// Guards spell what must not change: locks are not copied, structs of other packages may grow, structs without a name
// are laid out as gofmt does.
func TestGuards(t *testing.T) {
	user := `
import "sync"
type Empty struct{}
type Tagged struct{ _ struct{} }
type Locked struct { _ struct{}; _ int; mu sync.Mutex; Name string }
type Unnamed struct {
	One struct { A int "json:\"a\""; LongerName string }
	Many []struct{ B struct{ C bool } }
	Nothing struct{}
	Any interface{ M() }
	Func func(struct{ X int }) error
}
type Pair[A, B any] struct { Left A; Right B }
func Ping() error { return nil }
`
	content := generate(t, user, &model.Package{
		Path: "example.com/app", Name: "app", Taken: []string{
			"Empty", "Locked", "Pair", "Ping", "Tagged", "Unnamed", "sync",
		}, Imported: []string{"sync"},
		Handlers: []model.Handler{{Operation: operation("ping"), Func: "Ping"}},
		Guards: []model.Guard{
			{Type: goType("Empty"), Whole: true},
			{Type: goType("Tagged"), Whole: true, Fields: []model.GuardField{{Name: "_", Type: goType("struct{}")}}},
			{Type: goType("Locked"), Whole: true, Fields: []model.GuardField{
				{Name: "_", Type: goType("struct{}")}, {Name: "_", Type: goType("int")}, {
					Name: "mu", Type: goType("sync.Mutex", "sync"),
				}, {Name: "Name", Type: goType("string")},
			}},
			{Type: goType("Unnamed"), Whole: true, Fields: []model.GuardField{
				{
					Name: "One", Type: goType("struct{A int \"json:\\\"a\\\"\"; LongerName string}"),
				}, {Name: "Many", Type: goType("[]struct{B struct{C bool}}")},
				{Name: "Nothing", Type: goType("struct{}")}, {Name: "Any", Type: goType("interface{M()}")}, {
					Name: "Func", Type: goType("func(struct{X int}) error"),
				},
			}},
			{
				Type: goType("Pair[string, []int]"), Whole: true,
				Fields: []model.GuardField{{Name: "Left", Type: goType("string")}, {Name: "Right", Type: goType("[]int")}},
			},
			{Type: goType("Pair[int, int]"), Fields: []model.GuardField{{Name: "Right", Type: goType("int")}}},
		},
	})
	for _, wanted := range []string{
		"_ = Empty{}\n\t_ = Tagged{struct{}{}}\n\t_ = Locked{struct{}{},\n\t\t*new(int),\n" +
			"\t\tgen.Exactly[sync.Mutex](&new(Locked).mu),\n\t\tgen.Exactly[string](&new(Locked).Name)}\n\t_ = Unnamed{\n",
		"gen.Exactly[interface{ M() }](&new(Unnamed).Any),\n",
		"_ = []any{\n\t\tgen.Exactly[int](&new(Pair[int, int]).Right)}\n",
	} {
		if !strings.Contains(content, wanted) {
			t.Errorf("%s is not in\n%s", wanted, content)
		}
	}
}

func TestErrors(t *testing.T) {
	pkg := notes()
	pkg.Taken = append(pkg.Taken, "NewRegistry", "NewRegistryFor", "any", "error", "false", "new", "nil", "string", "true")
	slices.Sort(pkg.Taken)
	_, err := emit.File(pkg)
	want := `package notes declares any, which generated code needs in its usual meaning
package notes declares error, which generated code needs in its usual meaning
package notes declares false, which generated code needs in its usual meaning
package notes declares new, which generated code needs in its usual meaning
package notes declares nil, which generated code needs in its usual meaning
package notes declares string, which generated code needs in its usual meaning
package notes declares true, which generated code needs in its usual meaning
package notes declares NewRegistry, which is the name of the generated constructor
package notes declares NewRegistryFor, which is the name of the generated constructor`
	if diff := cmp.Diff(want, fmt.Sprint(err)); diff != "" {
		t.Errorf("-want +got:\n%s", diff)
	}
}

func TestTimeouts(t *testing.T) {
	for timeout, want := range map[time.Duration]string{
		48 * time.Hour: "48 * time.Hour", 90 * time.Minute: "90 * time.Minute", 5 * time.Second: "5 * time.Second",
		1500 * time.Millisecond: "1500 * time.Millisecond", time.Microsecond: "1000 * time.Nanosecond",
	} {
		pkg := notes()
		pkg.Handlers[0].Operation.Timeout = timeout
		if content := generate(t, notesSource, pkg); !strings.Contains(content, "Timeout: "+want+",") {
			t.Errorf("%s is not %s in\n%s", timeout, want, content)
		}
	}
}
