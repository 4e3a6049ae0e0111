package load_test

import (
	"bytes"
	"context"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"
	"golang.org/x/tools/txtar"

	"github.com/aqltag/aqltag/internal/load"
)

const app = `
-- go.mod --
module example.com/app

go 1.26
-- app.go --
package app

import (
	"time"

	"example.com/app/sub"
)

type T struct {
	sub.S
	C time.Month
}

func (t T) Body() { undefined() }
-- sub/sub.go --
package sub

type S struct{ A, B string }
-- sub/deep/deep.go --
package deep
-- sub/testdata/no.go --
package no
-- sub/_hidden/no.go --
package no
-- only/only_test.go --
package only
-- other/other_plan9.go --
package other
-- nested/go.mod --
module example.com/nested
-- nested/nested.go --
package nested
`

var plain = []string{"GOWORK=off", "GOFLAGS=", "GOPROXY=off"}

// write materialises a txtar archive; later files replace earlier ones of the same name.
func write(t *testing.T, archives ...string) string {
	t.Helper()
	dir, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	for _, archive := range archives {
		for _, file := range txtar.Parse([]byte(archive)).Files {
			name := filepath.Join(dir, filepath.FromSlash(file.Name))
			if err := os.MkdirAll(filepath.Dir(name), 0o755); err != nil {
				t.Fatal(err)
			}
			if err := os.WriteFile(name, file.Data, 0o644); err != nil {
				t.Fatal(err)
			}
		}
	}
	return dir
}

func paths(p *load.Program) []string {
	var out []string
	for _, root := range p.Roots {
		out = append(out, root.PkgPath)
	}
	slices.Sort(out)
	return out
}

// Patterns name the same packages to both loaders.
func TestPatterns(t *testing.T) {
	dir := write(t, app)
	tests := map[string]struct {
		in       string // directory below the module's
		patterns []string
		want     []string // nil: the own loader leaves it to go/packages
	}{
		"none":                {"", nil, []string{""}},
		"dot":                 {"", []string{"."}, []string{""}},
		"all below":           {"", []string{"./..."}, []string{"", "/only", "/sub", "/sub/deep"}},
		"one":                 {"", []string{"./sub"}, []string{"/sub"}},
		"trailing slash":      {"", []string{"./sub/"}, []string{"/sub"}},
		"below one":           {"", []string{"./sub/..."}, []string{"/sub", "/sub/deep"}},
		"two":                 {"", []string{"./sub/deep", "."}, []string{"", "/sub/deep"}},
		"overlapping":         {"", []string{"./sub/...", "./sub"}, []string{"/sub", "/sub/deep"}},
		"from a subdirectory": {"sub", []string{"./..."}, []string{"/sub", "/sub/deep"}},
		"parent":              {"sub/deep", []string{".."}, []string{"/sub"}},
		"import path":         {"", []string{"example.com/app/sub"}, []string{"/sub"}},
		"import paths below":  {"sub", []string{"example.com/app/..."}, []string{"", "/only", "/sub", "/sub/deep"}},
		"tests alone":         {"", []string{"./only"}, []string{"/only"}},
		"middle":              {"", []string{"./.../deep"}, nil},
		"file":                {"", []string{"app.go"}, nil},
		"relative file":       {"", []string{"./app.go"}, nil},
		"standard library":    {"", []string{"fmt"}, nil},
		"everything":          {"", []string{"all"}, nil},
		"absolute":            {"", []string{dir}, nil},
		"nested module":       {"", []string{"./nested"}, nil},
		"outside":             {"", []string{"../..."}, nil},
		"nothing there":       {"", []string{"./nowhere"}, nil},
		"other system":        {"", []string{"./other"}, nil},
		"hidden":              {"", []string{"./sub/testdata"}, nil},
		"query":               {"", []string{"file=app.go"}, nil},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			options := load.Options{
				Dir: filepath.Join(dir, tt.in), Patterns: tt.patterns, Env: plain, Loader: load.Own, Cache: cacheDir,
			}
			for i, path := range tt.want {
				tt.want[i] = "example.com/app" + path
			}
			sameByBoth(t, options, tt.want)
		})
	}
}

// sameByBoth loads packages with both loaders and demands that they are those of the paths, with the same sources.
// Where want is nil the own loader has to leave them to go/packages.
func sameByBoth(t *testing.T, options load.Options, want []string) {
	t.Helper()
	own, err := load.Load(t.Context(), options)
	if want == nil {
		if err == nil {
			t.Fatalf("the own loader took %q: %v", options.Patterns, paths(own))
		}
		return
	}
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(want, paths(own)); diff != "" {
		t.Errorf("own loader (-want +got):\n%s", diff)
	}
	options.Loader = load.GoPackages
	other, err := load.Load(t.Context(), options)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(paths(other), paths(own)); diff != "" {
		t.Errorf("packages (-go/packages +own):\n%s", diff)
	}
	if diff := cmp.Diff(factsOf(other), factsOf(own)); diff != "" {
		t.Errorf("sources (-go/packages +own):\n%s", diff)
	}
}

// What the own loader is not sure of goes to go/packages, which loads it as ever.
func TestUnusual(t *testing.T) {
	tests := map[string]struct {
		files string
		env   []string
	}{
		"vendor directory":        {"-- vendor/modules.txt --\n", nil},
		"nested vendor directory": {"-- sub/vendor/x/x.go --\npackage x\n", nil},
		"cgo":                     {"-- c.go --\npackage app\n\nimport \"C\"\n", []string{"CGO_ENABLED=1"}},
		"cgo in a dependency":     {"-- sub/c.go --\npackage sub\n\nimport \"C\"\n", []string{"CGO_ENABLED=0"}},
		"overlay":                 {"-- overlay.json --\n{}\n", []string{"GOFLAGS=-overlay=overlay.json"}},
		"other go.mod": {
			"-- other.mod --\nmodule example.com/app\n\ngo 1.26\n", []string{"GOFLAGS=-modfile=other.mod"},
		},
		"race detector":        {"", []string{"GOFLAGS=-race"}},
		"old Go":               {"-- go.mod --\nmodule example.com/app\n\ngo 1.16\n", nil},
		"ignored directories":  {"-- go.mod --\nmodule example.com/app\n\ngo 1.26\n\nignore ./only\n", nil},
		"driver":               {"", []string{"GOPACKAGESDRIVER=nowhere"}},
		"import of nothing":    {"-- x.go --\npackage app\n\nimport _ \"example.com/nowhere\"\n", nil},
		"import of no package": {"-- x.go --\npackage app\n\nimport _ \"example.com/app/gone\"\n", nil},
		"import of main": {"-- x.go --\npackage app\n\nimport _ \"example.com/app/cmd\"\n-- cmd/main.go --\n" +
			"package main\n", nil},
		"import of internals":     {"-- x.go --\npackage app\n\nimport _ \"internal/abi\"\n", nil},
		"import cycle":            {"-- sub/x.go --\npackage sub\n\nimport _ \"example.com/app\"\n", nil},
		"two packages":            {"-- x.go --\npackage other\n", nil},
		"broken imports":          {"-- x.go --\npackage app\n\nimport (\n", nil},
		"experiment":              {"-- x.go --\n//go:build goexperiment.synctest\n\npackage app\n", nil},
		"unexported foreign name": {"-- x.go --\npackage app\n\nimport \"time\"\n\ntype X struct{ time.daysIn }\n", nil},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			dir := write(t, app, tt.files)
			options := load.Options{
				Dir: dir, Env: append(slices.Clone(plain), tt.env...), Patterns: []string{"./..."}, Loader: load.Own,
				Cache: cacheDir,
			}
			if own, err := load.Load(t.Context(), options); err == nil {
				t.Fatalf("the own loader took it: %v", paths(own))
			}
			if slices.Contains(tt.env, "GOPACKAGESDRIVER=nowhere") || slices.Contains(tt.env, "GOFLAGS=-modfile=other.mod") {
				return // fails in its own way
			}
			options.Loader = load.Auto
			auto, err := load.Load(t.Context(), options)
			if err != nil {
				t.Fatal(err)
			}
			if auto.IsOwn() {
				t.Error("the own loader took it")
			}
		})
	}
}

// A symbolic link on the way to the module or in it is left to go/packages.
func TestSymbolicLinks(t *testing.T) {
	dir := write(t, app)
	link := filepath.Join(t.TempDir(), "link")
	if err := os.Symlink(dir, link); err != nil {
		t.Skip(err)
	}
	own := func(dir string, patterns ...string) error {
		_, err := load.Load(t.Context(), load.Options{
			Dir: dir, Patterns: patterns, Env: plain, Loader: load.Own, Cache: cacheDir,
		})
		return err
	}
	if own(link) == nil {
		t.Error("a module behind a link was loaded")
	}
	if err := os.Symlink(filepath.Join(dir, "sub"), filepath.Join(dir, "linked")); err != nil {
		t.Fatal(err)
	}
	if own(dir, "./...") == nil || own(dir, "./linked") == nil {
		t.Error("a linked directory was loaded")
	}
}

// No run of either loader starts a compiler: with an empty build cache, nothing compiled is in it afterwards.
func TestNothingIsCompiled(t *testing.T) {
	dir := write(t, app)
	for _, which := range []load.Loader{load.Own, load.GoPackages} {
		built := t.TempDir()
		options := load.Options{
			Dir: dir, Env: append(slices.Clone(plain), "GOCACHE="+built), Patterns: []string{"./..."}, Loader: which,
			Cache: t.TempDir(),
		}
		for range 2 {
			if _, err := load.Load(t.Context(), options); err != nil {
				t.Fatal(err)
			}
		}
		err := filepath.WalkDir(built, func(name string, entry fs.DirEntry, err error) error {
			if err != nil || !entry.Type().IsRegular() {
				return err
			}
			content, err := os.ReadFile(name)
			if bytes.HasPrefix(content, []byte("!<arch>")) || bytes.Contains(content, []byte("go object ")) {
				t.Errorf("loader %d: a compiler wrote %s", which, filepath.Base(name))
			}
			return err
		})
		if err != nil {
			t.Fatal(err)
		}
	}
}

// cacheDir keeps export data from test to test, apart from the user's own.
var cacheDir string

func TestMain(m *testing.M) {
	dir, err := os.MkdirTemp("", "aql-tag-load")
	if err != nil {
		panic(err)
	}
	cacheDir = dir
	code := m.Run()
	os.RemoveAll(dir)
	os.Exit(code)
}

func entries(t *testing.T, cache string) []string {
	t.Helper()
	names, err := filepath.Glob(filepath.Join(cache, "export", "*", "*"))
	if err != nil {
		t.Fatal(err)
	}
	return names
}

func loadOwn(t *testing.T, dir, cache string) {
	t.Helper()
	p, err := load.Load(t.Context(), load.Options{Dir: dir, Env: plain, Loader: load.Own, Cache: cache})
	if err != nil {
		t.Fatal(err)
	}
	root := p.Roots[0]
	if len(root.Errors) > 0 || root.Imports["time"].Types.Scope().Lookup("Month") == nil {
		t.Errorf("not loaded whole: %v", root.Errors)
	}
}

// A damaged entry of the cache is made again.
func TestDamagedCache(t *testing.T) {
	dir, cache := write(t, app), t.TempDir()
	loadOwn(t, dir, cache)
	names := entries(t, cache)
	if len(names) != 1 {
		t.Fatalf("got %d entries, want the one of time", len(names))
	}
	sound, err := os.ReadFile(names[0])
	if err != nil {
		t.Fatal(err)
	}
	flipped := bytes.Clone(sound)
	flipped[len(flipped)/2] ^= 1
	for name, content := range map[string][]byte{
		"empty": {}, "truncated": sound[:len(sound)-1], "header alone": sound[:30], "garbage": []byte("garbage"),
		"one bit": flipped,
	} {
		t.Run(name, func(t *testing.T) {
			if err := os.WriteFile(names[0], content, 0o644); err != nil {
				t.Fatal(err)
			}
			loadOwn(t, dir, cache)
			if again, err := os.ReadFile(names[0]); err != nil || !bytes.Equal(again, sound) {
				t.Errorf("the entry was not made again: %v", err)
			}
		})
	}
}

// Where the cache cannot be written, loading works without it.
func TestUnwritableCache(t *testing.T) {
	dir := write(t, app)
	file := filepath.Join(t.TempDir(), "file")
	if err := os.WriteFile(file, nil, 0o644); err != nil {
		t.Fatal(err)
	}
	for _, cache := range []string{"off", filepath.Join(file, "below"), os.DevNull} {
		loadOwn(t, dir, cache)
	}
}

// Loads that begin at once with an empty cache do not disturb each other.
func TestConcurrentFirstLoads(t *testing.T) {
	dir, cache := write(t, app), t.TempDir()
	var running sync.WaitGroup
	for range 4 {
		running.Go(func() { loadOwn(t, dir, cache) })
	}
	running.Wait()
	loadOwn(t, dir, cache)
	if names := entries(t, cache); len(names) != 1 {
		t.Errorf("got %q, want one entry and no temporary file", names)
	}
}

// Whatever decides which packages are meant has export data of its own.
func TestCacheKey(t *testing.T) {
	cache := t.TempDir()
	dir := write(t, app)
	keys := func() int {
		names, _ := filepath.Glob(filepath.Join(cache, "export", "*"))
		return len(names)
	}
	with := func(tags []string, env ...string) {
		t.Helper()
		before := keys()
		for range 2 {
			options := load.Options{
				Dir: dir, Env: append(slices.Clone(plain), env...), Tags: tags, Loader: load.Own, Cache: cache,
			}
			if _, err := load.Load(t.Context(), options); err != nil {
				t.Fatal(err)
			}
		}
		if keys() != before+1 {
			t.Errorf("%v %v: %d new keys, want 1", tags, env, keys()-before)
		}
	}
	with(nil)
	with([]string{"extra"})
	with(nil, "GOFLAGS=-tags=other")
	with(nil, "GOOS=plan9")
	with(nil, "GOARCH=arm64")
	with(nil, "CGO_ENABLED=0")
	if err := os.WriteFile(filepath.Join(dir, "go.sum"), []byte("\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	with(nil)
	if err := os.WriteFile(filepath.Join(dir, "go.mod"), []byte("module example.com/app\n\ngo 1.25\n"),
		0o644); err != nil {
		t.Fatal(err)
	}
	with(nil)
}

// A cancelled load ends with the context's error in every loader.
func TestCancelled(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	for _, which := range []load.Loader{load.Auto, load.Own, load.GoPackages} {
		_, err := load.Load(ctx, load.Options{Dir: write(t, app), Env: plain, Loader: which, Cache: cacheDir})
		if !errors.Is(err, context.Canceled) && (err == nil || !strings.Contains(err.Error(), "cancel")) {
			t.Errorf("loader %d: got %v", which, err)
		}
	}
}
