package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"path/filepath"
	"strings"

	"github.com/aqltag/aqltag/internal/diag"
	"github.com/aqltag/aqltag/internal/generate"
	"github.com/aqltag/aqltag/internal/plainfile"
	"github.com/aqltag/aqltag/runtime/gen"
)

// fail prints why a command ends, and returns its exit code.
func fail(env *environment, code int, err error) int {
	fmt.Fprintf(env.stderr, "aql-tag: %v\n", err)
	return code
}

// failIn is fail with the name of the command in front.
func failIn(env *environment, command string, code int, err error) int {
	fmt.Fprintf(env.stderr, "aql-tag %s: %v\n", command, err)
	return code
}

// generate makes the generated files of the packages in memory, unless nothing changed since they were last made. Where
// verify is set, only content tells that. A code other than -1 ends the command; the reason has been printed.
func (f *flags) generate(ctx context.Context, env *environment, verify bool) (*generate.Run, int) {
	if run, ok := generate.Unchanged(f.command(env), verify); ok {
		return run, f.reportRun(env, run)
	}
	run, code := f.scan(ctx, env, false)
	if code >= 0 {
		return nil, code
	}
	if code := f.reportRun(env, run); code >= 0 {
		return nil, code
	}
	return run, f.emit(env, run)
}

// scan scans the packages. With places it notes where everything is declared.
func (f *flags) scan(ctx context.Context, env *environment, places bool) (*generate.Run, int) {
	run, err := generate.Scan(ctx, f.command(env), places)
	switch {
	case errors.Is(err, plainfile.ErrNotFile):
		return nil, fail(env, exitIO, err)
	case err != nil:
		return nil, fail(env, exitUsage, err)
	}
	f.reportLoader(env, run.FallbackReason)
	return run, -1
}

// emit makes the files of scanned packages.
func (f *flags) emit(env *environment, run *generate.Run) int {
	err := run.Emit()
	if emitted := (*generate.EmitError)(nil); errors.As(err, &emitted) {
		return fail(env, exitEmit, err)
	}
	if err != nil {
		return fail(env, exitIO, err)
	}
	return -1
}

// remember keeps a run whose files are on disk for the next one.
func (f *flags) remember(env *environment, run *generate.Run) {
	if err := run.Remember(); err != nil && f.verbose {
		fmt.Fprintf(env.stderr, "aql-tag: the next run will take as long: %v\n", err)
	}
}

// reportRun prints the diagnostics of a run, and help where there is nothing to generate.
func (f *flags) reportRun(env *environment, run *generate.Run) int {
	if err := f.report(env, run.Diagnostics); err != nil {
		return fail(env, exitIO, err)
	}
	if run.HasErrors() {
		return exitSource
	}
	if !run.Operations && !f.quiet && !f.json {
		fmt.Fprintf(env.stderr, "aql-tag: no operations in %s.\n"+
			"An operation is a function whose request struct has a field like\n\n"+
			"\t_ struct{} `aql:\"category=READ\"`\n\n"+
			"or a function with a directive like //aql:op category=READ.\n", strings.Join(f.packages, " "))
	}
	return -1
}

// report prints all diagnostics, sorted.
func (f *flags) report(env *environment, diagnostics []diag.Diagnostic) error {
	if f.json {
		return writeJSON(env, append([]diag.Diagnostic{}, diagnostics...))
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

// reportLoader prints with -v why loading the packages took longer than usual.
func (f *flags) reportLoader(env *environment, reason error) {
	if reason != nil && f.verbose {
		text, _, _ := strings.Cut(reason.Error(), "\n")
		fmt.Fprintf(env.stderr, "aql-tag: loaded with go/packages, which takes longer: %s\n", text)
	}
}

// adapter scans the packages and joins their operations and types.
func (f *flags) adapter(ctx context.Context, env *environment) (*gen.Definitions, int) {
	run, code := f.scan(ctx, env, false)
	if code >= 0 {
		return nil, code
	}
	if run.HasErrors() {
		if err := f.report(env, run.Diagnostics); err != nil {
			return nil, fail(env, exitIO, err)
		}
		return nil, exitSource
	}
	return f.adapterOf(env, run)
}

// adapterOf joins the operations and types of scanned packages.
func (f *flags) adapterOf(env *environment, run *generate.Run) (*gen.Definitions, int) {
	adapter, err := generate.Adapter(run.Packages)
	if err == nil && len(adapter.Operations) == 0 {
		err = fmt.Errorf("no operations in %s", strings.Join(f.packages, " "))
	}
	if err != nil {
		return nil, fail(env, exitUsage, err)
	}
	return adapter, -1
}

// writeJSON prints v as -json asks for.
func writeJSON(env *environment, v any) error {
	encoder := json.NewEncoder(env.stdout)
	encoder.SetEscapeHTML(false)
	encoder.SetIndent("", "  ")
	return encoder.Encode(v)
}

// shown is a path as a person at dir would type it.
func shown(dir, path string) string {
	if relative, err := filepath.Rel(dir, path); err == nil && len(relative) < len(path) {
		return relative
	}
	return path
}
