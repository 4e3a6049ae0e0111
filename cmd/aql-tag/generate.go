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
	"github.com/aqltag/aqltag/scan"
)

// output is one generated file beside what stands on disk.
type output struct {
	path          string // absolute
	content, disk []byte // nil: the file should not exist, or does not
}

func (o output) stale() bool {
	return (o.content == nil) != (o.disk == nil) || !bytes.Equal(o.content, o.disk)
}

// scanOptions is what the flags ask the scanner for.
func scanOptions(env *environment, f flags) scan.Options {
	options := scan.Options{Dir: env.dir, Patterns: f.packages}
	if f.tags != "" {
		options.Tags = strings.Split(f.tags, ",")
	}
	return options
}

// load scans the packages and prints the diagnostics. A code other than -1 ends the command; by then everything has been
// said.
func load(ctx context.Context, env *environment, f flags, options scan.Options) (scan.Result, int) {
	result, err := scan.Load(ctx, options)
	if err != nil {
		fmt.Fprintf(env.stderr, "aql-tag: %v\n", err)
		return result, exitUsage
	}
	if err := report(env, f, result); err != nil {
		fmt.Fprintf(env.stderr, "aql-tag: %v\n", err)
		return result, exitIO
	}
	if result.HasErrors() {
		return result, exitSource
	}
	return result, -1
}

// generate scans the packages and makes their files in memory. A code other than -1 ends the command; by then everything
// has been said.
func generate(ctx context.Context, env *environment, f flags) ([]output, int) {
	result, code := load(ctx, env, f, scanOptions(env, f))
	if code >= 0 {
		return nil, code
	}
	outputs := make([]output, len(result.Packages))
	faults := make([]error, len(result.Packages))
	var wait sync.WaitGroup
	for i := range result.Packages {
		wait.Go(func() {
			pkg := &result.Packages[i]
			outputs[i].path = filepath.Join(pkg.Dir, emit.FileName)
			outputs[i].content, faults[i] = emit.File(pkg)
		})
	}
	wait.Wait()
	for i, err := range faults {
		if err != nil {
			fmt.Fprintf(env.stderr, "aql-tag: writing code for %s: %v\n", result.Packages[i].Path, err)
			return nil, exitEmit
		}
	}
	for _, empty := range result.Empty {
		outputs = append(outputs, output{path: filepath.Join(empty.Dir, emit.FileName)})
	}
	for i := range outputs {
		disk, err := os.ReadFile(outputs[i].path)
		switch {
		case errors.Is(err, fs.ErrNotExist):
		case err != nil:
			fmt.Fprintf(env.stderr, "aql-tag: reading the generated file: %v\n", err)
			return nil, exitIO
		default:
			outputs[i].disk = disk
		}
	}
	if len(result.Packages) == 0 && !f.quiet && !f.json {
		fmt.Fprintf(env.stderr, "aql-tag: no operations in %s.\n"+
			"An operation is a function whose request struct has a field like\n\n"+
			"\t_ struct{} `aql:\"category=READ\"`\n\n"+
			"or a function with a directive like //aql:op category=READ.\n", strings.Join(f.packages, " "))
	}
	return outputs, -1
}

// report prints the diagnostics, all of them, sorted.
func report(env *environment, f flags, result scan.Result) error {
	if f.json {
		diagnostics := result.Diagnostics
		if diagnostics == nil {
			diagnostics = []scan.Diagnostic{}
		}
		encoder := json.NewEncoder(env.stdout)
		encoder.SetEscapeHTML(false)
		encoder.SetIndent("", "  ")
		return encoder.Encode(diagnostics)
	}
	for _, d := range result.Diagnostics {
		if f.quiet && d.Severity != scan.SeverityError {
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
