package scan_test

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"golang.org/x/mod/module"
	"golang.org/x/mod/zip"
	"golang.org/x/tools/txtar"

	loader "github.com/aqltag/aqltag/internal/load"
	"github.com/aqltag/aqltag/internal/scan"
	"github.com/aqltag/aqltag/internal/scantest"
)

// foreign writes module example.com/app beside module example.com/ext v1.0.0, which a proxy made of files serves. It
// returns the app's directory and the settings with which the go command finds the other module.
func foreign(t *testing.T, archive string) (dir string, env []string) {
	t.Helper()
	root, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	for _, file := range txtar.Parse([]byte(archive)).Files {
		writeFile(t, filepath.Join(root, file.Name), file.Data)
	}
	version := module.Version{Path: "example.com/ext", Version: "v1.0.0"}
	at := filepath.Join(root, "proxy", version.Path, "@v", version.Version)
	writeFile(t, filepath.Join(root, "ext", "go.mod"), []byte("module example.com/ext\n\ngo 1.24\n"))
	writeFile(t, at+".mod", []byte("module example.com/ext\n\ngo 1.24\n"))
	writeFile(t, at+".info", []byte(`{"Version":"v1.0.0"}`))
	archived, err := os.Create(at + ".zip")
	if err != nil {
		t.Fatal(err)
	}
	if err := zip.CreateFromDir(archived, version, filepath.Join(root, "ext")); err != nil {
		t.Fatal(err)
	}
	if err := archived.Close(); err != nil {
		t.Fatal(err)
	}
	dir = filepath.Join(root, "app")
	writeFile(t, filepath.Join(dir, "go.mod"),
		[]byte("module example.com/app\n\ngo 1.26\n\nrequire example.com/ext v1.0.0\n"))
	env = []string{
		"GOWORK=off", "GOFLAGS=-mod=mod -modcacherw", "GOSUMDB=off",
		"GOPROXY=file://" + filepath.ToSlash(filepath.Join(root, "proxy")),
		"GOMODCACHE=" + filepath.Join(root, "modules"),
	}
	download := exec.Command("go", "mod", "download", "example.com/ext")
	download.Dir, download.Env = dir, append(os.Environ(), env...)
	if out, err := download.CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	return dir, env
}

func writeFile(t *testing.T, name string, content []byte) {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(name), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(name, content, 0o644); err != nil {
		t.Fatal(err)
	}
}

// both scans with each loader; the own one must take the work.
func both(t *testing.T, dir string, env []string, patterns ...string) scan.Result {
	t.Helper()
	results := make(map[loader.Loader]scan.Result)
	for _, which := range []loader.Loader{loader.GoPackages, loader.Own} {
		result, err := scan.Load(context.Background(), scan.Options{
			Dir: dir, Patterns: patterns, Env: env, Loader: which, Cache: scantest.Cache,
		})
		if err != nil {
			t.Fatal(err)
		}
		results[which] = result
	}
	if diff := cmp.Diff(results[loader.GoPackages], results[loader.Own]); diff != "" {
		t.Errorf("the two loaders do not agree (-go/packages +own):\n%s", diff)
	}
	return results[loader.Own]
}

// extModule has what is hard to tell from export data: docs, constants in a package that the app does not import,
// several fields and constants on one line, declarations far into a long file, type parameters.
var extModule = `
-- ext/ext.go --
// Package ext is foreign.
package ext

import "example.com/ext/level"

// Resource is a foreign thing.
type Resource struct {
	ID    string      ` + "`json:\"id\" aql:\"id\"`" + `
	Level level.Level ` + "`json:\"level\" aql:\"default=high\"`" + ` // How urgent it is
	Branch level.Name ` + "`json:\"branch\"`" + ` // Where it is
	// Size is how big it is.
	Size struct{ Width, Height int; Unit string ` + "`json:\"unit,omitempty\"`" + ` }
	Far  Far
	Page Page[Far]
	Mark Mark
}

// Page is a part of a list.
type Page[T any] struct {
	Items []T ` + "`json:\"items\"`" + ` // The things
	Next  string
}

// Options are embedded in requests.
type Options struct {
	Verbose bool ` + "`aql:\"default=true\"`" + ` // Say more
	Limit   int  ` + "`json:\"limit\" aql:\"min=1,max=10\"`" + `
}

// Mark is a letter.
type Mark string

const B, A Mark = "b", "a" // Letters

// Wrong has mistakes.
type Wrong struct {
	Channel chan int ` + "`json:\"channel\"`" + `
	Typo    string   ` + "`json:\"typo\" aql:\"requird\"`" + `
	Bad string ` + "`json:\"Bad Name\"`" + `
}
-- ext/far.go --
package ext
` + strings.Repeat("// Every byte counts as a line, and there are more than export data can count.\n", 2200) + `
// Far is far into its file.
type Far struct {
	Name string ` + "`json:\"name\"`" + ` // The name
	Kind Kind   ` + "`json:\"kind\"`" + `
}

// Kind is what it is.
type Kind string

const (
	// Near is close by.
	Near Kind = "near"
	Away Kind = "away" // Not here
)
-- ext/level/level.go --
package level

// Level is how urgent something is.
type Level string

const (
	Low  Level = "low"  // Can wait
	High Level = "high" // Now
)

// ParseLevel reads a level.
func ParseLevel(text string) (Level, error) { return Level(text), nil }

// Name names a branch.
type Name string

// Main is the first.
const Main Name = "main"

// NewName makes a name of any text.
func NewName(text string) Name { return Name(text) }
`

// What foreign types say is the same whether they are loaded from source or from export data.
func TestForeignTypes(t *testing.T) {
	dir, env := foreign(t, extModule+`
-- app/app.go --
package app

import "example.com/ext"

type GetRequest struct {
	_ struct{} `+"`aql:\"category=READ\"`"+`
	ext.Options
	Mark ext.Mark
}

// Get reads.
func Get(req GetRequest) (*ext.Resource, error) { return nil, nil }
`)
	result := both(t, dir, env)
	clean(t, dir, result)
	var got []string
	for _, typ := range result.Packages[0].Types {
		got = append(got, typ.Name+": "+typ.Description)
		for _, field := range typ.Fields {
			got = append(got, "  "+field.Name+" "+field.Type+" "+field.Default+": "+field.Description)
		}
		for _, value := range typ.Values {
			got = append(got, "  "+value.Value+": "+value.Description)
		}
	}
	want := []string{
		"Far: Is far into its file.", "  name string : The name", "  kind Kind : ",
		"FarPage: A part of a list.", "  items array : The things", "  next string : ",
		"Kind: What it is.", "  near: Is close by.", "  away: Not here",
		"Level: How urgent something is.", "  low: Can wait", "  high: Now",
		"Mark: A letter.", "  b: Letters", "  a: Letters",
		"Resource: A foreign thing.", "  id string : ", `  level Level "high": How urgent it is`,
		"  branch string : Where it is. Known values: main.", "  size ResourceSize : How big it is.",
		"  far Far : ", "  page FarPage : ", "  mark Mark : ",
		"ResourceSize: ", "  width integer : ", "  height integer : ", "  unit string : ",
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("types (-want +got):\n%s", diff)
	}
}

// Diagnostics about foreign types point at the very byte, or at what the user can change: where a type is brought in.
// Names that break the protocol's rule are put right, as nobody here can edit them.
func TestForeignMistakes(t *testing.T) {
	dir, env := foreign(t, extModule+`
-- app/app.go --
package app

import "example.com/ext"

type GetRequest struct {
	_ struct{} `+"`aql:\"category=READ\"`"+`
	ext.Wrong
}

// Get reads.
func Get(req GetRequest) (*ext.Wrong, error) { return nil, nil }
`)
	var got []string
	for _, d := range both(t, dir, env).Diagnostics {
		got = append(got,
			fmt.Sprintf("%s:%d:%d-%d %s", filepath.Base(d.Position.File), d.Position.Line, d.Position.Column, d.EndColumn,
				d.Message))
	}
	want := []string{
		"app.go:7:2-11 field GetRequest.Wrong: ext.Wrong brings in fields of other modules that cannot be carried as " +
			"JSON: Channel (chan int)",
		"app.go:11:27-37 result of Get: *ext.Wrong brings in fields of other modules that cannot be carried as JSON: " +
			"Channel (chan int)",
		`ext.go:38:37-44 there is no key "requird"`,
		"ext.go:39:20-28 agents see and use 1 name only in snake_case: Bad Name is bad_name",
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("diagnostics (-want +got):\n%s", diff)
	}
}

const uses = `
-- app/app.go --
package app

import "example.com/ext"

type GetRequest struct {
	_ struct{} ` + "`aql:\"category=READ\"`" + `
}

// Get reads.
func Get(req GetRequest) (*ext.Resource, error) { return nil, nil }
`

// Where the source of a dependency is not what its export data was made from, go/packages tells what it is.
func TestChangedDependency(t *testing.T) {
	dir, env := foreign(t, extModule+uses)
	both(t, dir, env) // fills the cache
	source := filepath.Join(filepath.Dir(dir), "modules", "example.com", "ext@v1.0.0", "ext.go")
	content, err := os.ReadFile(source)
	if err != nil {
		t.Fatal(err)
	}
	moved := strings.Replace(string(content), "// Resource is a foreign thing.", "// Resource was edited where it lies.",
		1)
	if err := os.WriteFile(source, []byte(moved), 0o644); err != nil {
		t.Fatal(err)
	}
	options := scan.Options{Dir: dir, Env: env, Cache: scantest.Cache}
	result, err := scan.Load(context.Background(), options)
	if err != nil {
		t.Fatal(err)
	}
	options.Loader = loader.GoPackages
	want, err := scan.Load(context.Background(), options)
	if err != nil {
		t.Fatal(err)
	}
	if result.FallbackReason == nil || want.FallbackReason != nil {
		t.Errorf("reasons for go/packages: %v, and where it was chosen %v", result.FallbackReason, want.FallbackReason)
	}
	if diff := cmp.Diff(want, result, cmpopts.IgnoreFields(scan.Result{}, "FallbackReason")); diff != "" {
		t.Errorf("result (-want +got):\n%s", diff)
	}
	options.Loader = loader.Own
	if _, err := scan.Load(context.Background(), options); err == nil {
		t.Error("the own loader was sure of it")
	}
}

// A dependency whose exported declarations mention C has types that only cgo knows; one that keeps C to itself does
// not.
func TestForeignCgo(t *testing.T) {
	for source, want := range map[string]bool{
		"func hidden() C.int { return 0 }": true,
		"type Handle C.int":                false,
	} {
		dir, env := foreign(t, extModule+"-- ext/c.go --\npackage ext\n\nimport \"C\"\n\n"+source+"\n"+uses)
		options := scan.Options{Dir: dir, Env: append(env, "CGO_ENABLED=1"), Cache: scantest.Cache, Loader: loader.Own}
		if _, err := scan.Load(context.Background(), options); (err == nil) != want {
			t.Errorf("%s: %v", source, err)
		}
	}
}

// A module that depends on one replaced by a directory has types that exist from source already.
func TestForeignNeedsLocal(t *testing.T) {
	const local = "-- ext/local.go --\npackage ext\n\nimport \"example.com/local\"\n\nvar Local local.T\n"
	dir, env := foreign(t, extModule+local+uses+`
-- local/go.mod --
module example.com/local

go 1.26
-- local/local.go --
package local

type T int
`)
	writeFile(t, filepath.Join(dir, "go.mod"), []byte("module example.com/app\n\ngo 1.26\n\nrequire (\n"+
		"\texample.com/ext v1.0.0\n"+
		"\texample.com/local v1.0.0\n)\n\nreplace example.com/local => ../local\n"))
	options := scan.Options{Dir: dir, Env: env, Cache: scantest.Cache, Loader: loader.Own}
	if _, err := scan.Load(context.Background(), options); err == nil ||
		!strings.Contains(err.Error(), "example.com/local") {
		t.Errorf("got %v", err)
	}
	options.Loader = loader.Auto
	result, err := scan.Load(context.Background(), options)
	if err != nil {
		t.Fatal(err)
	}
	clean(t, dir, result)
}

// Two fields that tie are in neither direction, as encoding/json has it, where nobody can rename them. A type that only
// reads itself as text is written as the string it is, and a name that cannot be put right makes room for the Go name.
func TestForeignTies(t *testing.T) {
	dir, env := foreign(t, `
-- ext/ext.go --
package ext

// Options are those of a list.
type Options struct {
	Cursor
	Numbers
	Plus  int `+"`json:\"+1\"`"+`
	Minus int `+"`json:\"-1\"`"+`
	Level Level
	Image Image
}

// Image is told by its number.
type Image struct{ ID int }

// MarshalJSON writes the number.
func (i Image) MarshalJSON() ([]byte, error) { return nil, nil }

// Cursor turns pages by a mark.
type Cursor struct{ Page, After string }

// Numbers turn pages by counting.
type Numbers struct{ Page int }

// Level is how urgent something is.
type Level string

// UnmarshalText reads a level.
func (l *Level) UnmarshalText(text []byte) error { *l = Level(text); return nil }
-- app/app.go --
package app

import "example.com/ext"

// List lists.
//
//aql:op category=READ
func List(options *ext.Options) (*ext.Options, error) { return options, nil }
`)
	result := both(t, dir, env)
	var got []string
	for _, param := range result.Packages[0].Handlers[0].Operation.Params {
		got = append(got, param.Name+" "+param.Type)
	}
	for _, d := range result.Diagnostics {
		got = append(got,
			fmt.Sprintf("%s:%d: %s: %s", filepath.Base(d.Position.File), d.Position.Line, d.Severity, d.Message))
	}
	want := []string{
		"after string", "plus integer", "minus integer", "level string", "image any",
		"app.go:8: warning: ext.Image writes its own JSON and has no method to read it back, so nothing tells agents what " +
			"to send, and what it does not know passes",
		`ext.go:7: note: agents see and use 2 names only in snake_case: +1 is plus, -1 is minus`, // B2
		`ext.go:23: note: agents see neither Numbers.Page nor Cursor.Page: both are "page", and encoding/json has neither`,
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("parameters and diagnostics (-want +got):\n%s", diff)
	}
}

// B9: fields of one name in structs that are embedded for the query of a URL do not vanish.
func TestQueryFields(t *testing.T) {
	dir, env := foreign(t, `
-- ext/ext.go --
package ext

// Options are those of a list.
type Options struct {
	State string `+"`url:\"state,omitempty\"`"+`
	Cursor
	Numbers
}

// Cursor turns pages by a mark.
type Cursor struct {
	Page  string `+"`url:\"page,omitempty\"`"+`
	After string `+"`url:\"after,omitempty\"`"+`
}

// Numbers turn pages by counting.
type Numbers struct {
	Page int `+"`url:\"page,omitempty\"`"+`
}
-- app/app.go --
package app

import "example.com/ext"

// List lists.
//
//aql:op category=READ
func List(options *ext.Options) error { return nil }
`)
	result := both(t, dir, env)
	var got []string
	for _, param := range result.Packages[0].Handlers[0].Operation.Params {
		got = append(got, param.Name+" "+param.Go)
	}
	want := []string{"state State", "cursor_page Cursor.Page", "after Cursor.After", "numbers_page Numbers.Page"}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("fields (-want +got):\n%s", diff)
	}
	const note = "agents see Cursor.Page as cursor_page and Numbers.Page as numbers_page, since they have one name"
	if len(result.Diagnostics) != 1 || result.Diagnostics[0].Message != note {
		t.Errorf("got %v, want the note %q", result.Diagnostics, note)
	}
}

// B5, B8: what lint says of types of other modules is of use as it stands: the file may name the package otherwise, or
// not import it.
func TestAdviceAboutForeignTypes(t *testing.T) {
	dir, env := foreign(t, `
-- ext/ext.go --
// Package ext is foreign.
package ext

import "example.com/ext/deep"

// User is somebody.
type User struct {
	Account Account[int] `+"`json:\"account\"`"+`
	Key     deep.Key     `+"`json:\"key\"`"+`
}

// Account is one.
type Account[T any] struct {
	Value        T      `+"`json:\"value\"`"+`
	PasswordHash string `+"`json:\"password_hash\"`"+`
	Balance      Balance `+"`json:\"balance\"`"+`
}

// Balance writes itself.
type Balance struct{ n int }

func (Balance) MarshalJSON() ([]byte, error) { return []byte("1"), nil }
-- ext/deep/deep.go --
package deep

// Key opens something.
type Key struct {
	TokenHash string `+"`json:\"token_hash\"`"+`
	Lock      Lock   `+"`json:\"lock\"`"+`
}

// Lock writes itself.
type Lock struct{ n int }

func (Lock) MarshalJSON() ([]byte, error) { return []byte("1"), nil }
-- app/app.go --
package app

import foreign "example.com/ext"

// GetRequest asks for it.
type GetRequest struct {
	_ struct{} `+"`aql:\"category=READ\"`"+`
}

// Get reads.
//
//aql:example {}
func Get(req GetRequest) (*foreign.User, error) { return nil, nil }
`)
	options := scan.Options{Dir: dir, Env: env, Cache: scantest.Cache, Lint: true}
	for _, options.Loader = range []loader.Loader{loader.GoPackages, loader.Own} {
		result, err := scan.Load(t.Context(), options)
		if err != nil {
			t.Fatal(err)
		}
		var advice []string
		for _, d := range result.Diagnostics {
			advice = append(advice, regexp.MustCompile(`//aql:(type|hide) \S+`).FindString(d.Suggestion))
		}
		slices.Sort(advice)
		want := []string{
			"//aql:hide example.com/ext/deep.Key.TokenHash", "//aql:hide foreign.Account.PasswordHash",
			"//aql:type example.com/ext/deep.Lock", "//aql:type foreign.Balance",
		}
		if diff := cmp.Diff(want, advice); diff != "" {
			t.Fatalf("loader %v: advice (-want +got):\n%s", options.Loader, diff)
		}
		source, err := os.ReadFile(filepath.Join(dir, "app.go"))
		if err != nil {
			t.Fatal(err)
		}
		followed := string(source)
		for _, directive := range want {
			if strings.HasPrefix(directive, "//aql:type") {
				directive += " integer"
			}
			followed += "\n" + directive + "\n"
		}
		writeFile(t, filepath.Join(dir, "app.go"), []byte(followed))
		result, err = scan.Load(t.Context(), options)
		if err != nil {
			t.Fatal(err)
		}
		for _, d := range result.Diagnostics {
			t.Errorf("loader %v, with the advice taken: %s", options.Loader, d.Message)
		}
		writeFile(t, filepath.Join(dir, "app.go"), source)
	}
}
