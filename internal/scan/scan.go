// Package scan finds the operations of an MCP-AQL adapter in Go source, and returns them as model.Package: handlers,
// request structs, the types that they mention, comments and constants.
//
// It never reads generated code, and never has the go command compile anything. It reports everything that is wrong in
// one run, each mistake at the bytes that it is about. A package that does not type-check is scanned all the same; an
// error counts only if it affects the types of an operation.
//
// The stages are packages of their own: source finds declarations in loaded packages, tags reads struct tags, shapes
// turns Go types into types as JSON carries them, params makes parameters of fields, and wiretype names and describes
// the types that operations mention.
package scan

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"go/types"
	"slices"
	"strings"

	"golang.org/x/tools/go/packages"

	"github.com/aqltag/aqltag/internal/diag"
	"github.com/aqltag/aqltag/internal/load"
	"github.com/aqltag/aqltag/internal/scan/source"
	"github.com/aqltag/aqltag/internal/scan/tags"
	"github.com/aqltag/aqltag/model"
)

// Options selects what to load.
type Options struct {
	Dir      string   // directory the patterns are relative to; empty: the current one
	Patterns []string // package patterns as the go command takes them; none: the package in Dir
	Tags     []string // build tags
	Env      []string // NAME=value, added to the environment of the go command
	Lint     bool     // also warns of what could serve agents better
	Loader   load.Loader
	Cache    string // directory for what can be made again; empty: aql-tag in the user's cache directory; "off": none
	Inputs   bool   // fill in Result.Inputs
	Places   bool   // fill in Package.Places
	Adopt    bool   // explore functions as //aql:adopt makes operations of them
}

// Result is the result of a scan.
type Result struct {
	Packages    []model.Package   // those with operations, sorted by import path
	Diagnostics []diag.Diagnostic // sorted by file, line and column
	Empty       []EmptyPackage    // matched packages without operations, sorted by import path
	// Inputs is all that was read; nil if Options.Inputs was not set, or if go/packages loaded the packages.
	Inputs *load.Inputs
	// FallbackReason is why go/packages loaded the packages, which takes longer; nil: it did not, or was chosen.
	FallbackReason error
}

// EmptyPackage is a package without operations. It must not have a generated file.
type EmptyPackage struct {
	Path string // import path
	Dir  string // absolute directory
}

// HasErrors reports whether the source has errors. A package with errors must not be generated.
func (r Result) HasErrors() bool {
	return slices.ContainsFunc(r.Diagnostics, func(d diag.Diagnostic) bool { return d.Severity == diag.Error })
}

// Load scans the packages that match opts.Patterns, without their tests. Mistakes in the source are diagnostics; the
// error means that nothing could be loaded, because there is no go command or a pattern matches nothing.
func Load(ctx context.Context, opts Options) (Result, error) {
	var result Result
	err := retried(opts, func(loader load.Loader, reason error) (*source.Program, error) {
		opts.Loader = loader
		p, roots, err := loadProgram(ctx, opts, reason)
		if err == nil {
			result = (&scanner{Program: p, tags: tags.NewReader(p), opts: opts}).scan(roots)
			result.Inputs, result.FallbackReason = p.Loaded.Inputs, p.Loaded.FallbackReason
		}
		return p, err
	})
	if err != nil {
		return Result{}, err
	}
	return result, nil
}

// errChanged is why a load is repeated without export data.
var errChanged = errors.New("the source of a dependency is not as it was when its export data was made")

// retried calls do with a loader. If that needed the source of a dependency which changed since its export data was
// made, it calls do again with go/packages, and with the reason.
func retried(opts Options, do func(loader load.Loader, reason error) (*source.Program, error)) error {
	p, err := do(opts.Loader, nil)
	if err == nil && p.Uncertain && opts.Loader == load.Auto {
		p, err = do(load.GoPackages, errChanged)
	}
	if err == nil && p.Uncertain {
		return fmt.Errorf("loading packages: %w", errChanged)
	}
	return err
}

// loadProgram loads the packages that match opts.Patterns. reason is why go/packages loads them, nil if the loader is
// to find out.
func loadProgram(ctx context.Context, opts Options, reason error) (*source.Program, []*packages.Package, error) {
	loaded, err := load.Load(ctx, load.Options{
		Dir: opts.Dir, Patterns: opts.Patterns, Tags: opts.Tags, Env: opts.Env, Loader: opts.Loader, Cache: opts.Cache,
		Inputs: opts.Inputs,
	})
	if err != nil {
		return nil, nil, err
	}
	if err := loadable(loaded.Roots, opts.Patterns); err != nil {
		return nil, nil, err
	}
	if reason != nil {
		loaded.FallbackReason = reason
	}
	return source.New(loaded), loaded.Roots, nil
}

// loadable returns an error if there is nothing to scan: a root without files, with an error that is not about a file.
func loadable(roots []*packages.Package, patterns []string) error {
	if len(roots) == 0 {
		return fmt.Errorf("loading packages: no packages match %s", strings.Join(patterns, " "))
	}
	var faults []error
	for _, root := range roots {
		if len(root.GoFiles) > 0 {
			continue
		}
		for _, e := range root.Errors {
			if _, ok := source.ErrorPosition(e); !ok || e.Kind != packages.ParseError {
				faults = append(faults, fmt.Errorf("loading %s: %s", root.ID, strings.TrimSpace(e.Msg)))
			}
		}
	}
	return errors.Join(faults...)
}

// scanner finds the operations of loaded packages.
type scanner struct {
	*source.Program
	tags *tags.Reader
	opts Options

	computed map[*types.Package][]*computation // functions that compute fields, by the package that declares them
	loaders  []loader                          // of relations, of all packages
}

// scan finds the operations of the loaded packages.
func (s *scanner) scan(roots []*packages.Package) Result {
	slices.SortFunc(roots, func(a, b *packages.Package) int { return cmp.Compare(a.PkgPath, b.PkgPath) })
	for _, root := range roots {
		s.ReportSyntax(root, "")
		s.checkOverwritten(root)
	}
	var found []operation
	for _, root := range roots {
		found = append(found, s.findOperations(root)...)
	}
	found = s.choose(roots, found)

	var result Result
	byPackage := make(map[*packages.Package][]operation)
	for _, o := range found {
		byPackage[o.pkg] = append(byPackage[o.pkg], o)
	}
	for _, root := range roots {
		if len(byPackage[root]) > 0 {
			s.checkControls(root)
		}
		pkg, ok := s.buildPackage(root, byPackage[root])
		s.Forget(root.Types)
		if !ok {
			result.Empty = append(result.Empty, EmptyPackage{Path: root.PkgPath, Dir: load.Directory(root)})
			continue
		}
		result.Packages = append(result.Packages, pkg)
	}
	s.noteSharedNames(result.Packages)
	s.tags.WarnUnused(roots)
	s.silence(roots)
	s.reportGuesses(found)
	result.Diagnostics = diag.Sort(s.Diagnostics)
	return result
}
