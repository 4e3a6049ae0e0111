// Package generate makes the generated files of packages in memory: it scans the packages, or finds out that nothing
// changed since they were last generated.
package generate

import (
	"context"
	"fmt"
	"path/filepath"
	"sync"

	"github.com/aqltag/aqltag/emit"
	"github.com/aqltag/aqltag/internal/diag"
	"github.com/aqltag/aqltag/internal/load"
	"github.com/aqltag/aqltag/internal/outfile"
	"github.com/aqltag/aqltag/internal/runcache"
	"github.com/aqltag/aqltag/internal/scan"
	"github.com/aqltag/aqltag/model"
)

// Run is one run of the generator.
type Run struct {
	Files          []outfile.File // the generated files, and those that packages without operations must not have
	Diagnostics    []diag.Diagnostic
	Packages       []model.Package // those with operations; none of an unchanged run
	Operations     bool            // there are packages with operations
	Guessed        []string        // operations whose category and danger level nobody has reviewed
	FallbackReason error           // as in scan.Result

	command runcache.Command
	inputs  *load.Inputs // nil: the run is not to be remembered
	empty   []scan.EmptyPackage
}

// note is what the run cache keeps of a run beside its files.
type note struct {
	Diagnostics []plainDiagnostic
	Packages    int // with operations
	Guessed     []string
}

// plainDiagnostic is a diagnostic that JSON writes as it is and not as -json prints it.
type plainDiagnostic diag.Diagnostic

// EmitError is a fault in the writing of code, which is never the user's.
type EmitError struct {
	Path string // import path of the package
	Err  error
}

// Error names the package.
func (e *EmitError) Error() string { return fmt.Sprintf("writing code for %s: %v", e.Path, e.Err) }

// Unwrap returns the fault.
func (e *EmitError) Unwrap() error { return e.Err }

// Unchanged returns the last run of a command if another one would make the same of the same input. Where verify is
// set, nothing is taken for the same unless its content is.
func Unchanged(command runcache.Command, verify bool) (*Run, bool) {
	var n note
	names, ok := runcache.Unchanged(command, verify, &n)
	if !ok {
		return nil, false
	}
	r := &Run{command: command, Operations: n.Packages > 0, Guessed: n.Guessed}
	for _, name := range names {
		r.Files = append(r.Files, outfile.File{Name: name})
	}
	for _, d := range n.Diagnostics {
		r.Diagnostics = append(r.Diagnostics, diag.Diagnostic(d))
	}
	return r, true
}

// Scan scans the packages of a command. With places it notes where everything is declared. The error is that of
// scan.Load.
func Scan(ctx context.Context, command runcache.Command, places bool) (*Run, error) {
	result, err := scan.Load(ctx, scan.Options{
		Dir: command.Dir, Patterns: command.Patterns, Tags: command.Tags, Cache: command.Cache, Inputs: true, Places: places,
	})
	if err != nil {
		return nil, err
	}
	run := &Run{
		Diagnostics: result.Diagnostics, Packages: result.Packages, Operations: len(result.Packages) > 0,
		FallbackReason: result.FallbackReason,
		command:        command, inputs: result.Inputs, empty: result.Empty,
	}
	for i := range result.Packages {
		for j := range result.Packages[i].Handlers {
			if h := &result.Packages[i].Handlers[j]; h.Guessed {
				run.Guessed = append(run.Guessed, h.Operation.Name)
			}
		}
	}
	return run, nil
}

// HasErrors reports whether the source has errors. Its packages cannot be generated then.
func (r *Run) HasErrors() bool { return scan.Result{Diagnostics: r.Diagnostics}.HasErrors() }

// Emit makes the files of the packages and reads those on disk. The error is an EmitError or one of reading a file.
func (r *Run) Emit() error {
	contents := make([][]byte, len(r.Packages))
	faults := make([]error, len(r.Packages))
	var wait sync.WaitGroup
	for i := range r.Packages {
		wait.Go(func() { contents[i], faults[i] = emit.File(&r.Packages[i]) })
	}
	wait.Wait()
	for i, err := range faults {
		if err != nil {
			return &EmitError{r.Packages[i].Path, err}
		}
	}
	for i := range r.Packages {
		if err := r.addFile(r.Packages[i].Dir, contents[i]); err != nil {
			return err
		}
	}
	for _, empty := range r.empty {
		if err := r.addFile(empty.Dir, nil); err != nil {
			return err
		}
	}
	return nil
}

func (r *Run) addFile(dir string, content []byte) error {
	file, err := outfile.New(filepath.Join(dir, emit.FileName), content)
	if err != nil {
		return fmt.Errorf("reading the generated file: %w", err)
	}
	r.Files = append(r.Files, file)
	return nil
}

// Remember notes that the files on disk are what the run makes, for Unchanged. The error means that the next run takes
// as long.
func (r *Run) Remember() error {
	n := note{Packages: len(r.Packages), Guessed: r.Guessed}
	for _, d := range r.Diagnostics {
		n.Diagnostics = append(n.Diagnostics, plainDiagnostic(d))
	}
	var outputs []runcache.Output
	for _, f := range r.Files {
		outputs = append(outputs, runcache.Output{Name: f.Name, Content: f.Content})
	}
	return runcache.Save(r.command, r.inputs, outputs, n)
}
