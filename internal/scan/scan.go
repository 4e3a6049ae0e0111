// Package scan finds the operations of an MCP-AQL adapter in Go source: handlers, request structs, the types they
// mention, docs and constants, as model.Package. It never reads generated code, never has the go command compile
// anything, and reports all that is wrong in one go, each finding at the byte it is about. A package that does not
// type-check is scanned all the same; an error counts only where it reaches the types of an operation.
package scan

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"golang.org/x/tools/go/packages"

	"github.com/aqltag/aqltag/internal/diag"
	"github.com/aqltag/aqltag/internal/load"
	"github.com/aqltag/aqltag/internal/scan/source"
	"github.com/aqltag/aqltag/internal/scan/tags"
	"github.com/aqltag/aqltag/model"
)

// Options says what to load.
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
}

// Result is what a scan found.
type Result struct {
	Packages    []model.Package   // those with operations, sorted by import path
	Diagnostics []diag.Diagnostic // sorted by file, line and column
	Empty       []EmptyPackage    // matched packages without operations, sorted by import path
	Inputs      *load.Inputs      // all that was read; nil if it was not asked for or is not known
	GaveWay     error             // why go/packages loaded the packages, which takes longer; nil: it did not, or had to
}

// EmptyPackage is a package without operations: a generated file in it is out of date.
type EmptyPackage struct {
	Path string // import path
	Dir  string // absolute directory
}

// HasErrors reports whether the source has errors. A package with errors must not be generated.
func (r Result) HasErrors() bool {
	return slices.ContainsFunc(r.Diagnostics, func(d diag.Diagnostic) bool { return d.Severity == diag.Error })
}

// Load scans the packages that match opts.Patterns, without their tests. The error tells that nothing could be loaded:
// no go command, a pattern that matches nothing. Faults in the source are diagnostics.
func Load(ctx context.Context, opts Options) (Result, error) {
	var result Result
	err := certainly(opts, func(loader load.Loader, reason error) (*source.Program, error) {
		opts.Loader = loader
		p, roots, err := loadIndexed(ctx, opts, reason)
		if err == nil {
			result = (&scanner{Program: p, tags: tags.NewReader(p), opts: opts}).scan(roots)
			result.Inputs, result.GaveWay = p.Loaded.Inputs, p.Loaded.GaveWay
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

// certainly does something with a program. Where that turns out to depend on the source of a dependency that is not as
// it was when its export data was made, it is done once more by go/packages, with that as the reason.
func certainly(opts Options, do func(loader load.Loader, reason error) (*source.Program, error)) error {
	p, err := do(opts.Loader, nil)
	if err == nil && p.Uncertain && opts.Loader == load.Auto {
		p, err = do(load.GoPackages, errChanged)
	}
	if err == nil && p.Uncertain {
		return fmt.Errorf("loading packages: %w", errChanged)
	}
	return err
}

// loadIndexed loads the packages that match opts.Patterns. reason is why they are loaded by go/packages, nil where the
// loader finds out.
func loadIndexed(ctx context.Context, opts Options, reason error) (*source.Program, []*packages.Package, error) {
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
		loaded.GaveWay = reason
	}
	return source.New(loaded), loaded.Roots, nil
}

// loadable tells why there is nothing to scan: a root that has no files and an error that is about no file.
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
}

// scan turns the loaded packages into the result.
func (s *scanner) scan(roots []*packages.Package) Result {
	slices.SortFunc(roots, func(a, b *packages.Package) int { return cmp.Compare(a.PkgPath, b.PkgPath) })
	for _, root := range roots {
		s.ReportSyntax(root, "")
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
		pkg, ok := s.buildPackage(root, byPackage[root])
		if !ok {
			result.Empty = append(result.Empty, EmptyPackage{Path: root.PkgPath, Dir: load.Directory(root)})
			continue
		}
		result.Packages = append(result.Packages, pkg)
	}
	s.noteSharedNames(result.Packages)
	s.tags.WarnUnused(roots)
	s.silence(roots)
	result.Diagnostics = diag.Sort(s.Diagnostics)
	return result
}
