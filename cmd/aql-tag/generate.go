package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"sync"

	"github.com/aqltag/aqltag/emit"
	"github.com/aqltag/aqltag/internal/diag"
	"github.com/aqltag/aqltag/internal/load"
	"github.com/aqltag/aqltag/internal/runcache"
	"github.com/aqltag/aqltag/internal/scan"
)

// output is one generated file beside what stands on disk.
type output struct {
	path          string // absolute
	content, disk []byte // nil: the file should not exist, or does not
}

func (o output) stale() bool {
	return (o.content == nil) != (o.disk == nil) || !bytes.Equal(o.content, o.disk)
}

// generation is what a run is about to write, or finds written.
type generation struct {
	outputs []output
	inputs  *load.Inputs // nil: not to be remembered
	note    note
}

// note is what a run says beside its outputs; an unchanged run says it again.
type note struct {
	Diagnostics []plainDiagnostic
	Packages    int // with operations
}

// plainDiagnostic is a diagnostic that JSON writes as it is and not as -json prints it.
type plainDiagnostic diag.Diagnostic

// generate scans the packages and makes their files in memory, unless nothing changed since the last run that remember
// noted. verify: nothing is taken for unchanged unless its content says so. A code other than -1 ends the command; by then
// everything has been said.
func generate(ctx context.Context, env *environment, f flags, verify bool) (generation, int) {
	var g generation
	command := f.command(env)
	if names, ok := runcache.Unchanged(command, verify, &g.note); ok {
		for _, name := range names {
			g.outputs = append(g.outputs, output{path: name})
		}
		return g, g.say(env, f)
	}
	result, code := g.scan(ctx, env, f, false)
	if code >= 0 {
		return g, code
	}
	if code := g.say(env, f); code >= 0 {
		return g, code
	}
	return g, g.emit(env, result)
}

// scan scans the packages. places: and notes where everything is declared.
func (g *generation) scan(ctx context.Context, env *environment, f flags, places bool) (scan.Result, int) {
	options := scan.Options{Dir: env.dir, Patterns: f.packages, Tags: f.command(env).Tags, Cache: env.cache, Inputs: true, Places: places}
	result, err := scan.Load(ctx, options)
	if err != nil {
		fmt.Fprintf(env.stderr, "aql-tag: %v\n", err)
		return result, exitUsage
	}
	g.note = note{Packages: len(result.Packages)}
	for _, d := range result.Diagnostics {
		g.note.Diagnostics = append(g.note.Diagnostics, plainDiagnostic(d))
	}
	return result, -1
}

// emit makes the files of the packages in memory and reads what stands on disk.
func (g *generation) emit(env *environment, result scan.Result) int {
	g.outputs = make([]output, len(result.Packages))
	faults := make([]error, len(result.Packages))
	var wait sync.WaitGroup
	for i := range result.Packages {
		wait.Go(func() {
			pkg := &result.Packages[i]
			g.outputs[i].path = filepath.Join(pkg.Dir, emit.FileName)
			g.outputs[i].content, faults[i] = emit.File(pkg)
		})
	}
	wait.Wait()
	for i, err := range faults {
		if err != nil {
			fmt.Fprintf(env.stderr, "aql-tag: writing code for %s: %v\n", result.Packages[i].Path, err)
			return exitEmit
		}
	}
	for _, empty := range result.Empty {
		g.outputs = append(g.outputs, output{path: filepath.Join(empty.Dir, emit.FileName)})
	}
	for i := range g.outputs {
		disk, err := os.ReadFile(g.outputs[i].path)
		switch {
		case errors.Is(err, fs.ErrNotExist):
		case err != nil:
			fmt.Fprintf(env.stderr, "aql-tag: reading the generated file: %v\n", err)
			return exitIO
		default:
			g.outputs[i].disk = disk
		}
	}
	g.inputs = result.Inputs
	return -1
}

// say prints the diagnostics, and help where there is nothing to generate. The code is -1 unless they end the command.
func (g *generation) say(env *environment, f flags) int {
	var diagnostics []diag.Diagnostic
	for _, d := range g.note.Diagnostics {
		diagnostics = append(diagnostics, diag.Diagnostic(d))
	}
	if err := report(env, f, diagnostics); err != nil {
		fmt.Fprintf(env.stderr, "aql-tag: %v\n", err)
		return exitIO
	}
	if (scan.Result{Diagnostics: diagnostics}).HasErrors() {
		return exitSource
	}
	if g.note.Packages == 0 && !f.quiet && !f.json {
		fmt.Fprintf(env.stderr, "aql-tag: no operations in %s.\n"+
			"An operation is a function whose request struct has a field like\n\n"+
			"\t_ struct{} `aql:\"category=READ\"`\n\n"+
			"or a function with a directive like //aql:op category=READ.\n", strings.Join(f.packages, " "))
	}
	return -1
}

// remember notes that the outputs on disk are what this run makes.
func (g *generation) remember(env *environment, f flags) {
	var outputs []runcache.Output
	for _, o := range g.outputs {
		outputs = append(outputs, runcache.Output{Name: o.path, Content: o.content})
	}
	if err := runcache.Save(f.command(env), g.inputs, outputs, g.note); err != nil && f.verbose {
		fmt.Fprintf(env.stderr, "aql-tag: the next run will be no faster: %v\n", err)
	}
}

// command is what the flags ask for, as manifests know it.
func (f flags) command(env *environment) runcache.Command {
	command := runcache.Command{Dir: env.dir, Patterns: f.packages, Cache: env.cache}
	if f.tags != "" {
		command.Tags = strings.Split(f.tags, ",")
	}
	return command
}

// report prints the diagnostics, all of them, sorted.
func report(env *environment, f flags, diagnostics []diag.Diagnostic) error {
	if f.json {
		if diagnostics == nil {
			diagnostics = []diag.Diagnostic{}
		}
		encoder := json.NewEncoder(env.stdout)
		encoder.SetEscapeHTML(false)
		encoder.SetIndent("", "  ")
		return encoder.Encode(diagnostics)
	}
	for _, d := range diagnostics {
		if f.quiet && d.Severity != diag.Error {
			continue
		}
		if err := d.Write(env.stderr, env.dir, env.color); err != nil {
			return fmt.Errorf("writing diagnostics: %w", err)
		}
	}
	return nil
}

// shown is a path as a person at dir would type it.
func shown(dir, path string) string {
	if relative, err := filepath.Rel(dir, path); err == nil && len(relative) < len(path) {
		return relative
	}
	return path
}
