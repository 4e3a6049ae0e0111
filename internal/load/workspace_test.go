package load_test

import (
	"path/filepath"
	"slices"
	"testing"

	"golang.org/x/tools/go/packages"

	"github.com/aqltag/aqltag/internal/load"
)

// workspace has three modules, one of them below another, of which none requires another, and a module that go.work
// puts in the place of a required one.
const workspace = `
-- ws/go.work --
go 1.26

use (
	./app
	./app/inner
	./other
)

replace example.com/replaced v1.2.0 => ./replaced

replace example.com/everywhere => ./everywhere
-- ws/app/go.mod --
module example.com/app

go 1.26

require example.com/everywhere v1.0.0
-- ws/app/app.go --
package app

import (
	"time"

	"example.com/app/inner"
	"example.com/everywhere"
	"example.com/other/deep"
)

type T struct {
	inner.S
	Deep  deep.D
	Every everywhere.E
	Month time.Month
}
-- ws/app/sub/sub.go --
package sub
-- ws/app/inner/go.mod --
module example.com/app/inner

go 1.25
-- ws/app/inner/inner.go --
package inner

type S struct{ A string }
-- ws/app/inner/below/below.go --
package below
-- ws/other/go.mod --
module example.com/other

go 1.26

require example.com/everywhere v1.1.0

replace example.com/everywhere => ../nowhere
-- ws/other/deep/deep.go --
package deep

import "example.com/everywhere"

type D struct{ E everywhere.E }
-- ws/everywhere/go.mod --
module example.com/everywhere

go 1.26
-- ws/everywhere/everywhere.go --
package everywhere

type E int
-- ws/replaced/go.mod --
module example.com/replaced

go 1.26
-- ws/outside/go.mod --
module example.com/outside

go 1.26
-- ws/outside/outside.go --
package outside
`

// inWorkspace is plain with the workspace that the go command finds.
var inWorkspace = []string{"GOWORK=", "GOFLAGS=", "GOPROXY=off"}

// facts are what a scan uses of a package, and of all that it imports from source.
type facts struct {
	Path, Name, Dir, Module, GoVersion string
	Main, Editable                     bool
	Files, Errors                      []string
}

func factsOf(p *load.Program) map[string]facts {
	all := make(map[string]facts)
	packages.Visit(p.Roots, nil, func(pkg *packages.Package) {
		if pkg.Module == nil || !load.InMainModule(pkg) {
			return // from export data, of which the own loader knows only the types
		}
		f := facts{
			Path: pkg.PkgPath, Name: pkg.Name, Dir: load.Directory(pkg), Module: pkg.Module.Path,
			GoVersion: pkg.Module.GoVersion,
			Main:      pkg.Module.Main, Editable: load.InMainModule(pkg), Files: slices.Sorted(slices.Values(pkg.GoFiles)),
		}
		for _, fault := range pkg.Errors {
			f.Errors = append(f.Errors, fault.Error())
		}
		all[pkg.PkgPath] = f
	})
	return all
}

// D7: the own loader reads workspaces. Patterns in one name the same packages to both loaders, from whichever module.
func TestWorkspace(t *testing.T) {
	dir := write(t, workspace)
	tests := map[string]struct {
		in       string // directory
		patterns []string
		want     []string // nil: the own loader leaves it to go/packages
	}{
		"a module":  {"ws/app", []string{"."}, []string{"example.com/app"}},
		"all below": {"ws/app", []string{"./..."}, []string{"example.com/app", "example.com/app/sub"}},
		"the module below": {"ws/app/inner", []string{"./..."}, []string{
			"example.com/app/inner", "example.com/app/inner/below",
		}},
		"into the module below": {"ws/app", []string{"./inner/..."}, []string{
			"example.com/app/inner", "example.com/app/inner/below",
		}},
		"into a module beside": {"ws/app/sub", []string{"../../other/..."}, []string{"example.com/other/deep"}},
		"several modules": {"ws/app", []string{".", "./inner", "../other/deep"}, []string{
			"example.com/app", "example.com/app/inner", "example.com/other/deep",
		}},
		"an import path": {
			"ws/other", []string{"example.com/app/inner/below"}, []string{"example.com/app/inner/below"},
		},
		"import paths below":      {"ws/app", []string{"example.com/other/..."}, []string{"example.com/other/deep"}},
		"import paths of several": {"ws/app", []string{"example.com/app/..."}, nil},
		"a replaced module":       {"ws/app", []string{"example.com/everywhere"}, nil},
		"a module outside":        {"ws/outside", []string{"."}, nil},
		"into a module outside":   {"ws/app", []string{"../outside"}, nil},
		"no module":               {"ws", []string{"./app"}, nil},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			options := load.Options{
				Dir: filepath.Join(dir, tt.in), Patterns: tt.patterns, Env: inWorkspace, Loader: load.Own, Cache: cacheDir,
			}
			sameByBoth(t, options, tt.want)
		})
	}
}

// A workspace that the go command refuses, or that holds what the own loader does not know, is left to go/packages.
func TestUnusualWorkspace(t *testing.T) {
	tests := map[string]struct {
		files string
		env   []string
	}{
		"vendored":                {"-- ws/vendor/modules.txt --\n## workspace\n", nil},
		"a vendored module":       {"-- ws/app/vendor/modules.txt --\n", nil},
		"a member without go.mod": {"-- ws/go.work --\ngo 1.26\n\nuse (\n\t./app\n\t./nowhere\n)\n", nil},
		"two members of one name": {"-- ws/other/go.mod --\nmodule example.com/app\n\ngo 1.26\n", nil},
		"a member for a later Go": {"-- ws/go.work --\ngo 1.25\n\nuse ./app\n", nil},
		"a member for an old Go":  {"-- ws/other/go.mod --\nmodule example.com/other\n\ngo 1.16\n", nil},
		"a member that is replaced": {"-- ws/go.work --\ngo 1.26\n\nuse (\n\t./app\n\t./app/inner\n\t./other\n)\n\n" +
			"replace example.com/other => ./outside\n", nil},
		"replacements at odds": {
			"-- ws/go.work --\ngo 1.26\n\nuse (\n\t./app\n\t./app/inner\n\t./other\n)\n" +
				"-- ws/app/go.mod --\nmodule example.com/app\n\ngo 1.26\n\nrequire example.com/everywhere v1.0.0\n\n" +
				"replace example.com/everywhere => ../everywhere\n",
			nil,
		},
		"a go.work of another form": {"-- ws/go.work --\nuse \n", nil},
		"-mod=mod":                  {"", []string{"GOFLAGS=-mod=mod"}},
		"a module of the same path that only a dependency has": {
			"-- ws/go.work.sum --\nexample.com/app/sub v1.0.0/go.mod h1:0000000000000000000000000000000000000000000=\n" +
				"-- ws/app/use.go --\npackage app\n\nimport _ \"example.com/app/sub\"\n", nil,
		},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			dir := filepath.Join(write(t, workspace, tt.files), "ws", "app")
			options := load.Options{
				Dir: dir, Env: append(slices.Clone(inWorkspace), tt.env...), Loader: load.Own, Cache: cacheDir,
			}
			if own, err := load.Load(t.Context(), options); err == nil {
				t.Fatalf("the own loader took it: %v", paths(own))
			}
			options.Loader = load.Auto
			if auto, err := load.Load(t.Context(), options); err == nil && (auto.IsOwn() || auto.FallbackReason == nil) {
				t.Errorf("taken by the own loader: %t, reason for leaving it: %v", auto.IsOwn(), auto.FallbackReason)
			}
		})
	}
}

// GOWORK chooses the workspace, as it does for the go command.
func TestChosenWorkspace(t *testing.T) {
	dir := write(t, workspace, "-- elsewhere/go.work --\ngo 1.26\n\nuse (\n\t../ws/outside\n\t../ws/everywhere\n)\n")
	own := func(in string, env ...string) (*load.Program, error) {
		return load.Load(t.Context(), load.Options{
			Dir: filepath.Join(dir, in), Env: append(slices.Clone(inWorkspace), env...), Loader: load.Own, Cache: cacheDir,
		})
	}
	if p, err := own("ws/outside", "GOWORK="+filepath.Join(dir, "elsewhere", "go.work")); err != nil || len(p.Roots) != 1 {
		t.Errorf("a module of another workspace: %v", err)
	}
	if p, err := own("ws/outside", "GOWORK=off"); err != nil || len(p.Roots) != 1 {
		t.Errorf("no workspace: %v", err)
	}
	if p, err := own("ws/app", "GOWORK=off"); err == nil {
		t.Errorf("imports that only the workspace has were found: %v", paths(p))
	}
}

// All modules of a workspace share their export data.
func TestWorkspaceCache(t *testing.T) {
	dir, cache := write(t, workspace), t.TempDir()
	for _, in := range []string{"app", "app/inner", "other/deep"} {
		if _, err := load.Load(t.Context(),
			load.Options{Dir: filepath.Join(dir, "ws", in), Env: inWorkspace, Loader: load.Own, Cache: cache}); err != nil {
			t.Fatal(err)
		}
	}
	if names := entries(t, cache); len(names) != 1 {
		t.Errorf("got %d entries, want the one of time", len(names))
	}
}
