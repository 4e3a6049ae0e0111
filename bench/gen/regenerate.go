package main

import (
	"fmt"
	"path/filepath"
	"slices"
	"strconv"
	"time"

	"github.com/aqltag/aqltag/test/proxy"
)

// packagesOf returns how many packages a module of so many operations has.
func packagesOf(ops int) int { return min(10, max(1, ops/10)) }

// regeneration measures the generator on one size of module and returns how long it takes when every package is edited.
func regeneration(dir string, served *proxy.Proxy, t tools, ops, runs int) (time.Duration, error) {
	env := served.Env()
	m := &module{
		dir: filepath.Join(dir, "module"), env: env, version: served.Version, ops: ops, packages: packagesOf(ops),
	}
	p := &peers{dir: filepath.Join(dir, "peers"), items: ops}
	if err := m.write(); err != nil {
		return 0, err
	}
	if err := p.write(); err != nil {
		return 0, err
	}
	inModule := func(name string, env []string, args ...string) *command {
		return &command{name: name, dir: m.dir, args: args, env: env}
	}
	editing := func(packages int, c *command) *command {
		c.prepare = func() error { return m.edit(packages) }
		return c
	}
	cached := func(name string) []string {
		return append(env[:len(env):len(env)], "XDG_CACHE_HOME="+filepath.Join(dir, "cache", name))
	}
	fresh := inModule("aql-tag gen, nothing cached", nil, t.aqltag, "gen", "-q", "./...")
	caches := 0
	fresh.prepare = func() error {
		caches++
		fresh.env = cached(strconv.Itoa(caches))
		return nil
	}
	warm := cached("warm")
	var (
		all        = editing(m.packages, inModule("aql-tag gen, every package edited", warm, t.aqltag, "gen", "-q", "./..."))
		one        = editing(1, inModule("aql-tag gen, one package edited", warm, t.aqltag, "gen", "-q", "./..."))
		unchanged  = inModule("aql-tag gen, unchanged", warm, t.aqltag, "gen", "-q", "./...")
		check      = inModule("aql-tag check, unchanged", warm, t.aqltag, "check", "./...")
		list       = inModule("go list ./...", env, "go", "list", "./...")
		export     = inModule("go list -deps -export ./..., unchanged", env, "go", "list", "-deps", "-export", "./...")
		stale      = editing(m.packages, inModule("go list -deps -export ./..., every package edited", env, export.args...))
		build      = inModule("go build, unchanged", env, "go", "build", "-o", filepath.Join(dir, "server"), "./cmd/server")
		controller = &command{
			name: "controller-gen object, as many structs, edited", dir: p.controllerDir(), prepare: p.edit,
			args: []string{t.controller, "object", "paths=./..."},
		}
	)
	inWorkspace := editing(m.packages, inModule("the same, in a workspace", cached("workspace"), all.args...))
	inWorkspace.env = append(inWorkspace.env, "GOWORK="+filepath.Join(dir, "go.work"))
	if err := writeFiles(dir, map[string]string{"go.work": "go 1.26.0\n\nuse ./module\n"}); err != nil {
		return 0, err
	}
	var stringers []*command
	for _, c := range constantInputs {
		stringers = append(stringers, &command{
			name: c.title, dir: filepath.Join(p.dir, c.name), prepare: p.edit,
			args: []string{t.stringer, "-type=" + c.typeList(ops), "-output=generated.go"},
		})
	}
	// Generate, and let the go command fill its cache, before anything is measured.
	if err := measure([]*command{inWorkspace, all, build, stale}, 1); err != nil {
		return 0, err
	}
	for _, c := range []*command{inWorkspace, all, build, stale} {
		c.samples = nil
	}
	// What finds nothing changed comes after the command that saw the last edit.
	turns := slices.Concat([]*command{stale, export, build, list}, stringers,
		[]*command{controller, fresh, inWorkspace, all, one, unchanged, check})
	if err := measure(turns, runs); err != nil {
		return 0, err
	}
	fmt.Printf("\n## %d operations in %d packages\n\n", ops, m.packages)
	table(slices.Concat([]*command{fresh, all, inWorkspace, one, unchanged, check, list, export, stale, build}, stringers,
		[]*command{controller}))
	verdict("unchanged gen to go list", ratio(unchanged, list), 0.5)
	verdict("unchanged check to go list", ratio(check, list), 0.5)
	if ops == 10 {
		verdict("full regeneration to go list -deps -export", ratio(all, export), 0.5)
	}
	if ops == 1000 {
		verdict("CPU of a full regeneration to "+stringers[0].name, cpuRatio(all, stringers[0]), 1)
		for _, other := range stringers[1:] {
			fmt.Printf("- CPU of a full regeneration to %s: %.2f\n", other.name, cpuRatio(all, other))
		}
		verdict("CPU in a workspace to that of the module alone", cpuRatio(inWorkspace, all), 1.25)
		verdict("memory in a workspace in MB", float64(inWorkspace.memory())/1e6, 60)
		verdict("memory of a full regeneration in MB", float64(all.memory())/1e6, 60)
	}
	return all.wall(), nil
}
