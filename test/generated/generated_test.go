// Package generated_test compiles and runs what package emit writes: the literals are the definitions that they were
// written from, they run no code when a program starts, and they do not compile with a runtime that they do not fit.
package generated_test

import (
	"encoding/json"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/aqltag/aqltag/emit"
	"github.com/aqltag/aqltag/internal/scratch"
	"github.com/aqltag/aqltag/model"
	"github.com/aqltag/aqltag/runtime/gen"
	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
)

// source is what the author of the package has written.
const source = `package sample

import "context"

type Service struct{}

type Request struct{ _ struct{} }

type Level string

const Low Level = "low"

func (*Service) Do(ctx context.Context, req Request) (*Request, error) { return &req, nil }
`

const program = `package main

import (
	"encoding/json"
	"os"

	"example.com/generated/sample"
)

func main() { json.NewEncoder(os.Stdout).Encode(sample.NewRegistry(nil).Definitions()) }
`

// write makes a module with the sample package and a program that prints its definitions, and returns its folder.
func write(t *testing.T, operations []gen.Operation, types []gen.Type) string {
	t.Helper()
	pkg := &model.Package{
		Path: "example.com/generated/sample", Name: "sample", Types: types,
		Taken:     []string{"Level", "Low", "Request", "Service", "context"},
		Imported:  []string{"context"},
		Constants: map[model.EnumConstant]model.GoType{{Type: "Level", Value: "low"}: {Text: "Low"}},
		Guards: []model.Guard{
			{
				Type: model.GoType{Text: "Request"}, Whole: true,
				Fields: []model.GuardField{{Name: "_", Type: model.GoType{Text: "struct{}"}}},
			},
		},
	}
	for _, o := range operations {
		pkg.Handlers = append(pkg.Handlers, model.Handler{
			Operation: o, Func: "Do", Receiver: &model.Receiver{Type: "Service", Pointer: true}, Context: true,
			Request: model.GoType{Text: "Request"}, Result: model.GoType{Text: "*Request"},
		})
	}
	generated, err := emit.File(pkg)
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	if err := scratch.Write(dir, "example.com/generated"); err != nil {
		t.Fatal(err)
	}
	for name, text := range map[string]string{
		"sample/sample.go": source, "sample/" + emit.FileName: string(generated), "main.go": program,
	} {
		path := filepath.Join(dir, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	return dir
}

func run(t *testing.T, dir string, args ...string) string {
	t.Helper()
	out, err := goCommand(dir, args...)
	if err != nil {
		t.Fatalf("go %s: %v\n%s", strings.Join(args, " "), err, out)
	}
	return out
}

func goCommand(dir string, args ...string) (string, error) {
	command := exec.Command("go", args...)
	command.Dir, command.Env = dir, scratch.Env()
	out, err := command.CombinedOutput()
	return string(out), err
}

// Definitions of every kind, written as literals, compiled and run, are what they were.
func TestLiteralsAreTheDefinitions(t *testing.T) {
	operations, types := definitions(rand.New(rand.NewPCG(1, 2)), 400)
	dir := write(t, operations, types)
	var got gen.Definitions
	if err := json.Unmarshal([]byte(run(t, dir, "run", ".")), &got); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(gen.Definitions{Operations: operations, Types: types}, got, cmpopts.EquateEmpty()); diff != "" {
		t.Errorf("-written +read:\n%s", diff)
	}
	run(t, dir, "vet", "./...")
}

// The linker lays literals out: the package that holds them has no function that runs at the start of a program. It has
// one as soon as a single variable is not laid out, which shows that this test would notice.
func TestNothingRunsAtStart(t *testing.T) {
	operations, types := definitions(rand.New(rand.NewPCG(3, 4)), 100)
	dir := write(t, operations, types)
	initializer := regexp.MustCompile(`(?m) example\.com/generated/sample\.(init|map\.init)(\.\d+)?$`)
	symbols := func() string {
		binary := filepath.Join(dir, "program")
		run(t, dir, "build", "-o", binary, ".")
		symbols := run(t, dir, "tool", "nm", binary)
		if !strings.Contains(symbols, " example.com/generated/sample.handlers\n") {
			t.Fatal("the program has no variable handlers")
		}
		return symbols
	}
	if found := initializer.FindAllString(symbols(), -1); found != nil {
		t.Errorf("code runs at start: %q", found)
	}
	computed := "package sample\n\nimport \"os\"\n\nvar Computed = os.Getpid()\n"
	if err := os.WriteFile(filepath.Join(dir, "sample", "computed.go"), []byte(computed), 0o644); err != nil {
		t.Fatal(err)
	}
	if initializer.FindString(symbols()) == "" {
		t.Error("a variable that is computed at start does not show")
	}
}

// Generated code of a version that the runtime does not have yet, or has no longer, does not compile, and the compiler
// says what to do about it.
func TestVersionsThatDoNotFit(t *testing.T) {
	operations, types := definitions(rand.New(rand.NewPCG(1, 2)), 1)
	dir := write(t, operations, types)
	root, err := scratch.Root()
	if err != nil {
		t.Fatal(err)
	}
	for name, change := range map[string]struct{ file, old, new, want string }{
		"the generator is newer": {
			filepath.Join(dir, "sample", emit.FileName), "gen.Version1_", "gen.Version2_",
			"undefined: gen.Version2_UpdateRuntimeAndRunGoGenerate",
		},
		"the runtime is newer": {
			filepath.Join(
				root, "runtime", "gen", "version.go",
			), "Version1_", "Version2_", "undefined: gen.Version1_UpdateRuntimeAndRunGoGenerate",
		},
	} {
		t.Run(name, func(t *testing.T) {
			text, err := os.ReadFile(change.file)
			if err != nil {
				t.Fatal(err)
			}
			changed := filepath.Join(t.TempDir(), filepath.Base(change.file))
			if err := os.WriteFile(
				changed, []byte(strings.ReplaceAll(string(text), change.old, change.new)), 0o644,
			); err != nil {
				t.Fatal(err)
			}
			overlay, err := json.Marshal(map[string]map[string]string{"Replace": {change.file: changed}})
			if err != nil {
				t.Fatal(err)
			}
			if err := os.WriteFile(filepath.Join(dir, "overlay.json"), overlay, 0o644); err != nil {
				t.Fatal(err)
			}
			out, err := goCommand(dir, "build", "-overlay", "overlay.json", "./sample")
			if err == nil || !strings.Contains(out, change.want) || !strings.Contains(out, emit.FileName) {
				t.Errorf("go build: %v, want %q\n%s", err, change.want, out)
			}
		})
	}
}

// definitions returns n operations and the types they mention.
func definitions(r *rand.Rand, n int) ([]gen.Operation, []gen.Type) {
	d := &random{r}
	types := []gen.Type{
		{Name: "Counts", Kind: gen.KindObject, Items: d.param(0, "")},
		{Name: "Either", Kind: gen.KindUnion, Description: d.text(), Members: []string{"Level", "string"}},
		{
			Name: "Level", Kind: gen.KindEnum,
			Values: []gen.EnumValue{{Value: "low", Description: d.text()}, {Value: "it's \"high\""}},
		},
		{Name: "Nothing", Kind: gen.KindScalar, Description: "No data (null)."},
		{Name: "Thing", Kind: gen.KindObject, Description: d.text(), Fields: d.params()},
	}
	operations := make([]gen.Operation, n)
	for i := range operations {
		t := types[r.IntN(len(types))]
		o := gen.Operation{
			Name: "operation_" + strconv.Itoa(i), Category: pick(d, gen.Categories()), Family: d.text(), Description: d.text(),
			Danger: pick(d, gen.Dangers()), Reasons: d.texts(), Confirm: d.text(), Params: d.params(),
			DangerSource: pick(d, []gen.DangerSource{gen.DangerFromTag, gen.DangerFromPattern, gen.DangerFromCategory}),
			Returns:      gen.Returns{Name: t.Name, Kind: t.Kind, Description: t.Description, Nullable: true},
			Timeout: time.Duration(r.IntN(3)) * pick(
				d, []time.Duration{time.Hour, time.Minute, 1500 * time.Millisecond, 1},
			),
			Deprecated: d.text(), Replacement: d.text(), Source: "sample/sample.go:1",
		}
		for range r.IntN(3) {
			o.Examples = append(o.Examples, gen.Example{Params: `{"a":"b"}`, Description: d.text()})
		}
		operations[i] = o
	}
	return operations, types
}

// random makes definitions.
type random struct{ *rand.Rand }

func pick[T any](r *random, list []T) T { return list[r.IntN(len(list))] }

func (r *random) yes() bool { return r.IntN(4) == 0 }

func (r *random) text() string {
	letters := []string{"a", "it's", ",", "|", "`", `"q"`, "é", "\n", `\`, " x ", "//", "😀", "%s", "\x7f", "\u200b"}
	text := ""
	for range r.IntN(4) {
		text += pick(r, letters)
	}
	return text
}

func (r *random) texts() (list []string) {
	for range r.IntN(3) {
		list = append(list, r.text())
	}
	return list
}

func (r *random) params() []gen.Param {
	var params []gen.Param
	for i := range r.IntN(6) {
		params = append(params, *r.param(0, "p"+strconv.Itoa(i)))
	}
	return params
}

func (r *random) param(depth int, name string) *gen.Param {
	p := &gen.Param{
		Name: name, Type: pick(r, []string{"string", "integer", "any", "Thing", "Level", gen.TypeSelection}),
		Required: r.yes(), Description: r.text(), Default: r.text(), Enum: r.texts(), Minimum: r.text(), Maximum: r.text(),
		MinLength: r.IntN(3), MaxLength: r.IntN(3), MinItems: r.IntN(3), MaxItems: r.IntN(3), Pattern: r.text(),
		Format: r.text(), Sensitive: r.yes(), ReadOnly: r.yes(), AppendOnly: r.yes(), ID: r.yes(), Aliases: r.texts(),
		Presets: r.texts(), OmitEmpty: r.yes(), OmitZero: r.yes(), Quoted: r.yes(), Deprecated: r.text(),
	}
	if name != "" {
		p.Go = pick(r, []string{"", "P", "Page.Limit"})
	}
	if p.Type == "Level" && len(p.Enum) == 0 {
		p.Enum = []string{"low", "it's \"high\""}
	}
	if depth < 3 && r.yes() {
		p.Type, p.Items = pick(r, []string{"array", "object"}), r.param(depth+1, "")
	}
	if p.Type == "object" && r.yes() {
		p.Keys = r.param(depth+1, "")
	}
	p.FormatRule = p.Format != "" && r.yes()
	return p
}
