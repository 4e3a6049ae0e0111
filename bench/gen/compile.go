package main

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"

	"github.com/aqltag/aqltag/test/proxy"
)

// variant is a module with generated code, or one without.
type variant struct {
	module
	lines  int   // of generated code
	binary int64 // bytes of the stripped server

	compiles, starts *command
}

// compilation measures what the generated code of one large package costs: to compile, in the binary, and when the
// server starts and makes its adapter.
func compilation(dir string, served *proxy.Proxy, t tools, ops, runs int) error {
	with, err := newVariant(filepath.Join(dir, "with"), served, t, ops, (*variant).count)
	if err != nil {
		return err
	}
	without, err := newVariant(filepath.Join(dir, "without"), served, t, ops, func(v *variant) error { return v.keep() })
	if err != nil {
		return err
	}
	commands := []*command{with.compiles, without.compiles, with.starts, without.starts}
	if err := measure(commands, runs); err != nil {
		return err
	}
	fmt.Printf("\n## Compiling and starting one package of %d operations\n\n", ops)
	table(commands)
	operations := float64(ops)
	compiler := float64(with.compiles.cpu()) / float64(without.compiles.cpu())
	verdict("compiler CPU with generated code to without", compiler, 1.7)
	verdict("stripped binary per operation in KB", float64(with.binary-without.binary)/1000/operations, 3)
	verdict("generated lines per operation", float64(with.lines)/operations, 40)
	verdict("CPU of a start per 1,000 operations in ms", ms(with.starts.cpu()-without.starts.cpu())*1000/operations, 40)
	return nil
}

// newVariant writes a module, generates, changes it, and links its server.
func newVariant(dir string, served *proxy.Proxy, t tools, ops int, change func(*variant) error) (*variant, error) {
	v := &variant{module: module{dir: dir, env: served.Env(), version: served.Version, ops: ops, packages: 1}}
	if err := v.write(); err != nil {
		return nil, err
	}
	run := func(name string, args ...string) error {
		c := &command{name: name, dir: v.dir, args: args, env: v.env}
		_, err := c.run()
		return err
	}
	if err := run("generating", t.aqltag, "gen", "-q", "./..."); err != nil {
		return nil, err
	}
	if err := change(v); err != nil {
		return nil, err
	}
	server := filepath.Join(v.dir, "server")
	if err := run("linking", "go", "build", "-ldflags=-s -w", "-o", server, "./cmd/server"); err != nil {
		return nil, err
	}
	info, err := os.Stat(server)
	if err != nil {
		return nil, err
	}
	v.binary = info.Size()
	kind := filepath.Base(dir) + " generated code"
	v.compiles = &command{
		name: "compiling " + kind, dir: v.dir, args: []string{"go", "build", "./svc00"}, env: v.env,
		prepare: func() error { return v.edit(1) },
	}
	v.starts = &command{name: "starting " + kind, dir: v.dir, args: []string{server}}
	return v, nil
}

// count counts the lines of generated code.
func (v *variant) count() error {
	for i := range v.packages {
		text, err := os.ReadFile(filepath.Join(v.dir, v.name(i), "aql_gen.go"))
		if err != nil {
			return err
		}
		v.lines += bytes.Count(text, []byte("\n"))
	}
	return nil
}
