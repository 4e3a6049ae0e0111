// Package scan finds the operations of an MCP-AQL adapter in Go source: handlers, request structs, the types they
// mention, docs and constants, as model.Package. It never reads generated code, never has the go command compile anything,
// and reports all that is wrong in one go, each finding at the byte it is about. A package that does not type-check is
// scanned all the same; an error counts only where it reaches the types of an operation.
package scan

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"go/token"
	"maps"
	"os"
	"slices"
	"strings"

	"golang.org/x/tools/go/packages"

	"github.com/aqltag/aqltag/model"
)

// Options says what to load.
type Options struct {
	Dir      string   // directory the patterns are relative to; empty: the current one
	Patterns []string // package patterns as the go command takes them; none: the package in Dir
	Tags     []string // build tags
	Env      []string // NAME=value, added to the environment of the go command
	Lint     bool     // also warns of what could serve agents better
}

// Result is what a scan found.
type Result struct {
	Packages    []model.Package // those with operations, sorted by import path
	Diagnostics []Diagnostic    // sorted by file, line and column
	Empty       []EmptyPackage  // matched packages without operations, sorted by import path
}

// EmptyPackage is a package without operations: a generated file in it is out of date.
type EmptyPackage struct {
	Path string // import path
	Dir  string // absolute directory
}

// HasErrors reports whether the source has errors. A package with errors must not be generated.
func (r Result) HasErrors() bool {
	return slices.ContainsFunc(r.Diagnostics, func(d Diagnostic) bool { return d.Severity == SeverityError })
}

// loadMode leaves NeedTypesInfo out and has NeedDeps: both keep the go command from compiling.
const loadMode = packages.NeedName | packages.NeedFiles | packages.NeedCompiledGoFiles | packages.NeedImports |
	packages.NeedDeps | packages.NeedTypes | packages.NeedTypesSizes | packages.NeedSyntax | packages.NeedModule

// Load scans the packages that match opts.Patterns, without their tests. The error tells that nothing could be loaded:
// no go command, a pattern that matches nothing. Faults in the source are diagnostics.
func Load(ctx context.Context, opts Options) (Result, error) {
	p, roots, err := loadIndexed(ctx, opts)
	if err != nil {
		return Result{}, err
	}
	return p.scan(roots), nil
}

// loadIndexed loads the packages that match opts.Patterns, past generated files that cannot be read.
func loadIndexed(ctx context.Context, opts Options) (*program, []*packages.Package, error) {
	p, roots, err := loadOnce(ctx, opts, nil)
	if err != nil {
		return nil, nil, err
	}
	if broken := brokenGenerated(roots); len(broken) > 0 {
		// The go command gives up on the imports of a package with such a file, so it gets to see a file without content.
		if p, roots, err = loadOnce(ctx, opts, broken); err != nil {
			return nil, nil, err
		}
	}
	if err := loadable(roots, opts.Patterns); err != nil {
		return nil, nil, err
	}
	p.index(roots)
	return p, roots, nil
}

// loadOnce has the go command list the packages, then parses and type-checks them. overlay replaces files by content.
func loadOnce(ctx context.Context, opts Options, overlay map[string][]byte) (*program, []*packages.Package, error) {
	p := newProgram()
	p.linting = opts.Lint
	config := &packages.Config{
		Context:   ctx,
		Mode:      loadMode,
		Dir:       opts.Dir,
		Env:       append(os.Environ(), opts.Env...),
		Fset:      p.fset,
		ParseFile: p.parseFile,
		Overlay:   overlay,
	}
	if len(opts.Tags) > 0 {
		config.BuildFlags = []string{"-tags=" + strings.Join(opts.Tags, ",")}
	}
	roots, err := packages.Load(config, opts.Patterns...)
	if err != nil {
		return nil, nil, fmt.Errorf("loading packages: %w", err)
	}
	return p, roots, nil
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
			if _, ok := errorPosition(e); !ok || e.Kind != packages.ParseError {
				faults = append(faults, fmt.Errorf("loading %s: %s", root.ID, strings.TrimSpace(e.Msg)))
			}
		}
	}
	return errors.Join(faults...)
}

// index notes every package of the load by path.
func (p *program) index(roots []*packages.Package) {
	packages.Visit(roots, nil, func(pkg *packages.Package) {
		if pkg.Types != nil {
			p.packages[pkg.Types] = pkg
		}
	})
}

// scan turns the loaded packages into the result.
func (p *program) scan(roots []*packages.Package) Result {
	slices.SortFunc(roots, func(a, b *packages.Package) int { return cmp.Compare(a.PkgPath, b.PkgPath) })
	for _, root := range roots {
		p.reportSyntax(root, "")
	}
	var found []operation
	for _, root := range roots {
		found = append(found, p.findOperations(root)...)
	}
	found = p.choose(roots, found)

	var result Result
	for _, root := range roots {
		handlers := slices.DeleteFunc(slices.Clone(found), func(o operation) bool { return o.pkg != root })
		pkg, ok := p.buildPackage(root, handlers)
		if !ok {
			result.Empty = append(result.Empty, EmptyPackage{Path: root.PkgPath, Dir: directory(root)})
			continue
		}
		result.Packages = append(result.Packages, pkg)
	}
	p.noteSharedNames(result.Packages)
	p.warnUnusedTags(roots)
	p.silence(roots)
	result.Diagnostics = sortDiagnostics(p.diagnostics)
	return result
}

// reportSyntax reports the syntax errors of a package's own files, the first of each file: the others follow from it.
// With a file name it reports that file alone.
func (p *program) reportSyntax(pkg *packages.Package, only string) {
	faults := make(map[string]Diagnostic)
	for _, e := range pkg.Errors {
		position, ok := errorPosition(e)
		if !ok || e.Kind != packages.ParseError || p.isGenerated(position.File) || only != "" && position.File != only {
			continue
		}
		if first, taken := faults[position.File]; !taken || comparePositions(position, first.Position) < 0 {
			faults[position.File] = Diagnostic{
				Severity: SeverityError, Code: codeType, Position: position, Message: "syntax error: " + strings.TrimSpace(e.Msg),
			}
		}
	}
	for _, file := range slices.Sorted(maps.Keys(faults)) {
		p.diagnostics = append(p.diagnostics, faults[file])
	}
}

// errorPosition reads the place of a load error, `file:line:col` or `file:line`.
func errorPosition(e packages.Error) (model.Position, bool) {
	file, line, column := e.Pos, 0, 0
	for range 2 {
		rest, number, ok := cutLast(file, ":")
		n := 0
		if _, err := fmt.Sscanf(number, "%d", &n); !ok || err != nil {
			break
		}
		file, line, column = rest, n, line
	}
	if line == 0 {
		return model.Position{}, false
	}
	return model.Position{File: file, Line: line, Column: max(column, 1)}, true
}

func cutLast(s, sep string) (before, after string, found bool) {
	if i := strings.LastIndex(s, sep); i >= 0 {
		return s[:i], s[i+len(sep):], true
	}
	return s, "", false
}

// inMainModule reports whether the user can edit a package.
func inMainModule(pkg *packages.Package) bool {
	return pkg != nil && pkg.Module != nil && (pkg.Module.Main || pkg.Module.Replace != nil && pkg.Module.Replace.Version == "")
}

// before orders positions by file name and offset. token.Pos itself depends on which file was parsed first.
func (p *program) before(a, b token.Pos) int {
	x, y := p.fset.PositionFor(a, false), p.fset.PositionFor(b, false)
	return cmp.Or(cmp.Compare(x.Filename, y.Filename), cmp.Compare(x.Offset, y.Offset))
}
