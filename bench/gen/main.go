// Command gen measures the generator on synthetic modules, beside the go command and two generators that people know,
// in the same run; and what the generated code costs those who compile it. It prints tables of medians with the targets
// beside. A missed target is printed, not an error: machines are noisy.
package main

import (
	"bytes"
	"context"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"github.com/aqltag/aqltag/test/proxy"
)

func main() {
	sizes := flag.String("sizes", "10,100,1000,5000", "numbers of operations")
	runs := flag.Int("runs", 5, "runs of each command")
	compile := flag.Int("compile", 1000, "operations of the package whose compilation is measured; 0: none")
	flag.Parse()
	if err := run(*sizes, *runs, *compile); err != nil {
		fmt.Fprintln(os.Stderr, "gen:", err)
		os.Exit(1)
	}
}

func run(sizes string, runs, compile int) error {
	root, err := filepath.Abs("../..")
	if err != nil {
		return err
	}
	dir, err := os.MkdirTemp("", "bench-gen")
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir)
	tools, err := buildTools(dir, root)
	if err != nil {
		return err
	}
	served, err := proxy.New(context.Background(), root, filepath.Join(dir, "proxy"))
	if err != nil {
		return err
	}
	fmt.Println("Targets are in brackets. Memory is that of the largest process.")
	thousand := time.Duration(0)
	for text := range strings.SplitSeq(sizes, ",") {
		ops, err := strconv.Atoi(text)
		if err != nil {
			return fmt.Errorf("-sizes: %w", err)
		}
		regenerated, err := size(filepath.Join(dir, text), served, tools, ops, runs)
		if err != nil {
			return err
		}
		switch ops {
		case 1000:
			thousand = regenerated
		case 5000:
			if thousand > 0 {
				fmt.Printf("\nregenerating 5,000 operations takes %.1f times as long as 1,000 [≤ 5]\n", float64(regenerated)/float64(thousand))
			}
		}
	}
	if compile > 0 {
		return compilation(filepath.Join(dir, "compile"), served, tools, compile, runs)
	}
	return nil
}

// tools are the programs that are measured.
type tools struct{ aqltag, stringer, controller string }

func buildTools(dir, root string) (tools, error) {
	t := tools{filepath.Join(dir, "aql-tag"), filepath.Join(dir, "stringer"), filepath.Join(dir, "controller-gen")}
	for _, b := range []struct{ in, out, pkg string }{
		{root, t.aqltag, "./cmd/aql-tag"}, // in the workspace, where it finds the runtime
		{".", t.stringer, "golang.org/x/tools/cmd/stringer"},
		{".", t.controller, "sigs.k8s.io/controller-tools/cmd/controller-gen"},
	} {
		build := exec.Command("go", "build", "-o", b.out, b.pkg)
		build.Dir = b.in
		build.Env = os.Environ()
		if b.in == "." {
			build.Env = append(build.Env, "GOWORK=off")
		} else {
			build.Env = append(build.Env, "GOWORK=")
		}
		if out, err := build.CombinedOutput(); err != nil {
			return t, fmt.Errorf("building %s: %w\n%s", b.pkg, err, out)
		}
	}
	return t, nil
}

// packagesOf is how many packages a module of so many operations has.
func packagesOf(ops int) int { return min(10, max(1, ops/10)) }

// size measures one size of module and returns how long a full regeneration takes.
func size(dir string, served *proxy.Proxy, t tools, ops, runs int) (time.Duration, error) {
	env := served.Env()
	m := &module{dir: filepath.Join(dir, "module"), env: env, version: served.Version, ops: ops, packages: packagesOf(ops)}
	p := &peers{dir: filepath.Join(dir, "peers"), items: ops}
	if err := m.write(); err != nil {
		return 0, err
	}
	if err := p.write(); err != nil {
		return 0, err
	}
	cache := 0
	fresh := &command{name: "aql-tag gen, nothing cached", dir: m.dir, args: []string{t.aqltag, "gen", "-q", "./..."}}
	fresh.prepare = func() error {
		cache++
		fresh.env = append(env[:len(env):len(env)], "XDG_CACHE_HOME="+filepath.Join(dir, "cache", strconv.Itoa(cache)))
		return nil
	}
	warm := append(env[:len(env):len(env)], "XDG_CACHE_HOME="+filepath.Join(dir, "cache"))
	gen := func(name string, edited int) *command {
		c := &command{name: name, dir: m.dir, args: []string{t.aqltag, "gen", "-q", "./..."}, env: warm}
		if edited > 0 {
			c.prepare = func() error { return m.edit(edited) }
		}
		return c
	}
	all, one, unchanged := gen("aql-tag gen, every package edited", m.packages), gen("aql-tag gen, one package edited", 1), gen("aql-tag gen, unchanged", 0)
	check := &command{name: "aql-tag check, unchanged", dir: m.dir, args: []string{t.aqltag, "check", "./..."}, env: warm}
	list := &command{name: "go list ./...", dir: m.dir, args: []string{"go", "list", "./..."}, env: env}
	stale := &command{name: "go list -deps -export ./..., every package edited", dir: m.dir, args: []string{"go", "list", "-deps", "-export", "./..."}, env: env}
	stale.prepare = func() error { return m.edit(m.packages) }
	export := &command{name: "go list -deps -export ./..., unchanged", dir: m.dir, args: stale.args, env: env}
	build := &command{name: "go build, unchanged", dir: m.dir, args: []string{"go", "build", "-o", filepath.Join(dir, "server"), "./cmd/server"}, env: env}
	stringer := &command{name: "stringer, as many constants, edited", dir: p.stringerDir(), args: []string{t.stringer, "-type=" + p.typeList(), "-output=generated.go"}, prepare: p.edit}
	controller := &command{name: "controller-gen object, as many structs, edited", dir: p.controllerDir(), args: []string{t.controller, "object", "paths=./..."}, prepare: p.edit}

	// Generate, and let the go command fill its cache, before anything is measured.
	for _, c := range []*command{all, build, stale} {
		if c.prepare != nil {
			if err := c.prepare(); err != nil {
				return 0, err
			}
		}
		if _, err := c.run(); err != nil {
			return 0, err
		}
	}
	if err := measure([]*command{stale, export, build, list, stringer, controller, fresh, all, one, unchanged, check}, runs); err != nil {
		return 0, err
	}
	fmt.Printf("\n## %d operations in %d packages\n\n", ops, m.packages)
	table([]*command{fresh, all, one, unchanged, check, list, export, stale, build, stringer, controller})
	verdict("unchanged gen to go list", ratio(unchanged, list), 0.5)
	verdict("unchanged check to go list", ratio(check, list), 0.5)
	if ops == 10 {
		verdict("full regeneration to go list -deps -export", ratio(all, export), 0.5)
	}
	if ops == 1000 {
		verdict("full regeneration to stringer", ratio(all, stringer), 1)
		verdict("memory of a full regeneration in MB", float64(all.memory())/1e6, 60)
	}
	return all.wall(), nil
}

func ratio(a, b *command) float64 { return float64(a.wall()) / float64(b.wall()) }

func verdict(what string, figure, target float64) {
	word := "met"
	if figure > target {
		word = "MISSED"
	}
	fmt.Printf("- %s: %.2f [≤ %g, %s]\n", what, figure, target, word)
}

func table(commands []*command) {
	fmt.Println("| command | wall ms | CPU ms | memory MB |\n|---|---|---|---|")
	for _, c := range commands {
		fmt.Printf("| %s | %.0f | %.0f | %.0f |\n", c.name, ms(c.wall()), ms(c.cpu()), float64(c.memory())/1e6)
	}
	fmt.Println()
}

func ms(d time.Duration) float64 { return float64(d) / float64(time.Millisecond) }

// compilation measures what the generated code of one large package costs: its compiler and its bytes.
func compilation(dir string, served *proxy.Proxy, t tools, ops, runs int) error {
	env := served.Env()
	with := &module{dir: filepath.Join(dir, "with"), env: env, version: served.Version, ops: ops, packages: 1}
	without := &module{dir: filepath.Join(dir, "without"), env: env, version: served.Version, ops: ops, packages: 1}
	var commands []*command
	sizes := make(map[*module]int64)
	lines := 0
	for _, m := range []*module{with, without} {
		if err := m.write(); err != nil {
			return err
		}
		generate := &command{name: "generating", dir: m.dir, args: []string{t.aqltag, "gen", "-q", "./..."}, env: env}
		if _, err := generate.run(); err != nil {
			return err
		}
		if m == with {
			text, err := os.ReadFile(filepath.Join(m.dir, "svc00", "aql_gen.go"))
			if err != nil {
				return err
			}
			lines = bytes.Count(text, []byte("\n"))
		} else if err := m.keep(); err != nil {
			return err
		}
		binary := filepath.Join(m.dir, "server")
		link := &command{name: "linking", dir: m.dir, args: []string{"go", "build", "-ldflags=-s -w", "-o", binary, "./cmd/server"}, env: env}
		if _, err := link.run(); err != nil {
			return err
		}
		info, err := os.Stat(binary)
		if err != nil {
			return err
		}
		sizes[m] = info.Size()
		commands = append(commands, &command{
			name: filepath.Base(m.dir) + " generated code", dir: m.dir, args: []string{"go", "build", "./svc00"}, env: env, prepare: func() error { return m.edit(1) },
		})
	}
	if err := measure(commands, runs); err != nil {
		return err
	}
	fmt.Printf("\n## Compiling one package of %d operations\n\n", ops)
	table(commands)
	verdict("compiler CPU with generated code to without", float64(commands[0].cpu())/float64(commands[1].cpu()), 1.7)
	verdict("stripped binary per operation in KB", float64(sizes[with]-sizes[without])/1000/float64(ops), 3)
	verdict("generated lines per operation", float64(lines)/float64(ops), 40)
	return nil
}
