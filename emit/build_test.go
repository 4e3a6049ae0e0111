package emit_test

import (
	"fmt"
	"go/format"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/aqltag/aqltag/emit"
	"github.com/aqltag/aqltag/model"
)

const testModule = "example.com/emitted"

// Constructors of shapes, so that a hand-made package reads like the Go it stands for.

func text() *model.Shape    { return &model.Shape{Kind: model.ShapeString} }
func boolean() *model.Shape { return &model.Shape{Kind: model.ShapeBool} }
func anything() *model.Shape {
	return &model.Shape{Kind: model.ShapeAny}
}
func bytesShape() *model.Shape { return &model.Shape{Kind: model.ShapeBytes} }
func integer(bits int) *model.Shape {
	return &model.Shape{Kind: model.ShapeInt, Bits: bits}
}
func unsigned(bits int) *model.Shape {
	return &model.Shape{Kind: model.ShapeUint, Bits: bits}
}
func float(bits int) *model.Shape {
	return &model.Shape{Kind: model.ShapeFloat, Bits: bits}
}
func instant() *model.Shape {
	return &model.Shape{Kind: model.ShapeTime, Go: model.GoName{PkgPath: "time", PkgName: "time", Name: "Time"}}
}
func pointer(elem *model.Shape) *model.Shape {
	return &model.Shape{Kind: model.ShapePointer, Elem: elem}
}
func slice(elem *model.Shape) *model.Shape {
	return &model.Shape{Kind: model.ShapeSlice, Elem: elem}
}
func array(n int, elem *model.Shape) *model.Shape {
	return &model.Shape{Kind: model.ShapeArray, Len: n, Elem: elem}
}
func dictionary(elem *model.Shape) *model.Shape {
	return &model.Shape{Kind: model.ShapeMap, Key: text(), Elem: elem}
}
func patch(elem *model.Shape) *model.Shape {
	return &model.Shape{Kind: model.ShapePatch, Elem: elem, Go: model.GoName{
		PkgPath: "github.com/aqltag/aqltag/runtime", PkgName: "aql", Name: "Patch", Args: []*model.Shape{elem},
	}}
}

// named gives a shape the name of a type of package pkg.
func named(pkg, name string, sh *model.Shape) *model.Shape {
	sh.Go = model.GoName{PkgPath: testModule + "/" + pkg, PkgName: pkg, Name: name}
	return sh
}

func object(pkg, name string, fields ...model.Field) *model.Shape {
	return named(pkg, name, &model.Shape{Kind: model.ShapeStruct, Fields: fields})
}

// enum is a string type with constants, given as "Low=low".
func enum(pkg, name string, constants ...string) *model.Shape {
	sh := named(pkg, name, text())
	sh.Wire.Type = name
	for _, constant := range constants {
		goName, value, _ := strings.Cut(constant, "=")
		sh.Enum = append(sh.Enum, model.EnumConst{Name: goName, Value: value})
		sh.Wire.Enum = append(sh.Wire.Enum, value)
	}
	return sh
}

// field is a struct field. selector may lead through embedded structs: "Page.Limit", with * before a pointer.
func field(selector, wireName string, sh *model.Shape, options ...func(*model.Field)) model.Field {
	f := model.Field{Shape: sh, Param: model.Param{Name: wireName, Type: "any", Enum: sh.Wire.Enum}}
	for i, name := range strings.Split(selector, ".") {
		bare, embedded := strings.CutPrefix(name, "*")
		if embedded {
			f.EmbeddedAt = append(f.EmbeddedAt, i)
		}
		f.Selector = append(f.Selector, bare)
	}
	for _, option := range options {
		option(&f)
	}
	return f
}

func required(f *model.Field)   { f.Param.Required = true }
func omitEmpty(f *model.Field)  { f.OmitEmpty = true }
func omitZero(f *model.Field)   { f.OmitZero = true }
func quoted(f *model.Field)     { f.Quoted = true }
func readOnly(f *model.Field)   { f.Param.ReadOnly = true }
func appendOnly(f *model.Field) { f.Param.AppendOnly = true }
func identifier(f *model.Field) { f.Param.ID = true }

func preset(json string) func(*model.Field) {
	return func(f *model.Field) { f.Param.Default = json }
}

func param(change func(p *model.Param)) func(*model.Field) {
	return func(f *model.Field) { change(&f.Param) }
}

// handler is a handler; its operation has the parameters of the request.
func handler(name string, category model.Category, operation string, request, result *model.Shape) model.Handler {
	h := model.Handler{
		Operation: model.Operation{Name: operation, Category: category, Description: "Does " + operation + ".", Danger: model.Safe, DangerSource: model.DangerFromTag, Source: operation + ".go:1"},
		Func:      name, Request: request, Result: result, Context: true,
	}
	for _, f := range request.Fields {
		h.Operation.Params = append(h.Operation.Params, f.Param)
	}
	return h
}

// source reads an input package.
func source(t *testing.T, name string) string {
	t.Helper()
	content, err := os.ReadFile(filepath.Join("testdata", filepath.FromSlash(name)))
	if err != nil {
		t.Fatal(err)
	}
	return string(content)
}

// generate is emit.File, with the check that its text is what gofmt makes of it and the same every time.
func generate(t *testing.T, pkg *model.Package) string {
	t.Helper()
	content, err := emit.File(pkg)
	if err != nil {
		t.Fatal(err)
	}
	formatted, err := format.Source(content)
	if err != nil {
		t.Fatalf("the generated code does not parse: %v\n%s", err, content)
	}
	if diff := cmp.Diff(string(formatted), string(content)); diff != "" {
		t.Errorf("the generated code is not as gofmt writes it (-gofmt +generated):\n%s", diff)
	}
	for range 3 {
		again, err := emit.File(pkg)
		if err != nil || string(again) != string(content) {
			t.Fatalf("the same package gave different code (error %v):\n%s", err, cmp.Diff(string(content), string(again)))
		}
	}
	return string(content)
}

// moduleDir writes files into a new module that uses this one.
func moduleDir(t *testing.T, files map[string]string) string {
	t.Helper()
	root, err := filepath.Abs("..")
	if err != nil {
		t.Fatal(err)
	}
	mod, err := os.ReadFile(filepath.Join(root, "go.mod"))
	if err != nil {
		t.Fatal(err)
	}
	sum, err := os.ReadFile(filepath.Join(root, "go.sum"))
	if err != nil {
		t.Fatal(err)
	}
	const ours = "github.com/aqltag/aqltag"
	all := map[string]string{
		"go.mod": strings.Replace(string(mod), "module "+ours, "module "+testModule, 1) +
			fmt.Sprintf("\nrequire %s v0.0.0\n\nreplace %s => %s\n", ours, ours, root),
		"go.sum": string(sum),
	}
	for name, content := range files {
		all[name] = content
	}
	dir := t.TempDir()
	for name, content := range all {
		path := filepath.Join(dir, filepath.FromSlash(name))
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(content), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	return dir
}

func goCommand(dir string, args ...string) (string, error) {
	command := exec.Command("go", args...)
	command.Dir = dir
	command.Env = append(os.Environ(), "GOWORK=off", "GOFLAGS=-mod=mod")
	out, err := command.CombinedOutput()
	return string(out), err
}

// driver answers each line, a request, with the reply of the registry of package %[1]s.
const driver = `package main

import (
	"bufio"
	"context"
	"fmt"
	"os"

	aql "github.com/aqltag/aqltag/runtime"

	"` + testModule + `/%[1]s"
)

func main() {
	adapter, err := aql.New(%[1]s.Registry(), aql.Options{Name: "emitted", Version: "1", Mode: "single"})
	if err != nil {
		fmt.Println(err)
		os.Exit(1)
	}
	session := adapter.NewSession()
	in := bufio.NewScanner(os.Stdin)
	in.Buffer(nil, 1<<24)
	for in.Scan() {
		fmt.Printf("%%s\n", session.Call(context.Background(), adapter.Tools()[0].Name, in.Bytes()).JSON)
	}
}
`

// run builds a module and sends requests, given as `operation params`, to the registry of package pkg.
func run(t *testing.T, pkg string, files map[string]string, requests []string) []string {
	t.Helper()
	files["driver/main.go"] = fmt.Sprintf(driver, pkg)
	dir := moduleDir(t, files)
	if out, err := goCommand(dir, "vet", "./..."); err != nil {
		t.Fatalf("go vet: %v\n%s", err, out)
	}
	binary := filepath.Join(dir, "driver", "driver")
	if out, err := goCommand(dir, "build", "-o", binary, "./driver"); err != nil {
		t.Fatalf("go build: %v\n%s", err, out)
	}
	var input strings.Builder
	for _, request := range requests {
		operation, params, ok := strings.Cut(request, " ")
		if !ok {
			params = "{}"
		}
		fmt.Fprintf(&input, `{"operation":%q,"params":%s}`+"\n", operation, params)
	}
	command := exec.Command(binary)
	command.Stdin = strings.NewReader(input.String())
	out, err := command.CombinedOutput()
	if err != nil {
		t.Fatalf("the driver failed: %v\n%s", err, out)
	}
	replies := strings.Split(strings.TrimSuffix(string(out), "\n"), "\n")
	if len(replies) != len(requests) {
		t.Fatalf("%d replies to %d requests:\n%s", len(replies), len(requests), out)
	}
	return replies
}
