// Package load parses and type-checks the packages that a scan reads. It reads declarations only, leaves the
// generator's own files out, and never runs a compiler.
//
// There are two loaders with the same results. The own loader reads the packages of the main module, or of all modules
// of a workspace, from their directories, and takes all others from a cache of export data that it fills itself. What
// it does not handle (vendor directories, cgo, drivers, overlays, imports that fail, …) is left to go/packages, which
// type-checks every dependency from source each time.
package load

import (
	"context"
	"errors"
	"go/ast"
	"go/token"
	"go/types"
	"os"

	"golang.org/x/tools/go/packages"

	"github.com/aqltag/aqltag/internal/plainfile"
)

// Loader selects one of the two ways to load.
type Loader int

// The loaders.
const (
	Auto       Loader = iota // the own loader, and go/packages for what that does not handle
	GoPackages               // go/packages
	Own                      // the own loader; what it does not handle is an error
)

// Options selects what to load.
type Options struct {
	Dir      string   // directory the patterns are relative to; empty: the current one
	Patterns []string // package patterns as the go command takes them; none: the package in Dir
	Tags     []string // build tags
	Env      []string // NAME=value, added to the environment of the go command
	Loader   Loader
	Cache    string // directory of the export data cache; empty: aql-tag in the user's cache directory; "off": none
	Inputs   bool   // fill in Program.Inputs
}

// Program is a set of loaded packages. It is not safe for concurrent use.
type Program struct {
	Fset *token.FileSet

	// Roots are the packages that match the patterns, each with its imports. The bodies of functions are missing. A
	// package from export data has only PkgPath, Name and Types; its objects have positions that only Real and Place
	// understand.
	Roots []*packages.Package

	// Generated has the absolute names of the generator's own files. They are not part of any package.
	Generated map[string]bool

	// FallbackReason is why the own loader left the work to go/packages. It is nil if it did not, or was not tried.
	FallbackReason error

	// Inputs is everything that the result depends on. It is nil unless Options.Inputs is set and the own loader did the
	// work.
	Inputs *Inputs

	goroot   string
	demand   *demand
	complete func(*types.Package) error // nil: every package is complete
}

// Load loads the packages that match opts.Patterns, without their tests. Mistakes in the source are in the packages;
// the error means that nothing could be loaded. It is plainfile.ErrNotFile where a Go file is a socket, a device or a
// named pipe, which the go command would read for ever. A pattern that matches nothing is not an error.
func Load(ctx context.Context, opts Options) (*Program, error) {
	if opts.Loader == GoPackages {
		return loadPackages(ctx, opts)
	}
	program, reason := loadOwn(ctx, opts)
	if reason == nil || opts.Loader == Own || errors.Is(reason, plainfile.ErrNotFile) {
		return program, reason
	}
	program, err := loadPackages(ctx, opts)
	if err == nil {
		program.FallbackReason = reason
	}
	return program, err
}

// IsOwn reports whether the own loader did the work.
func (p *Program) IsOwn() bool { return p.demand != nil }

// Complete completes the scope of a package with all its exported names. A package from export data that no source file
// imports only has those that others mention. An error means that go/packages must load the program.
func (p *Program) Complete(pkg *types.Package) error {
	if p.complete == nil || pkg.Complete() {
		return nil
	}
	return p.complete(pkg)
}

// Real returns the position in a parsed file that pos stands for, and the file. The file of a position from export data
// is parsed when it is first needed. For any other position Real returns pos itself and no file. An error means that
// go/packages must load the program.
func (p *Program) Real(pos token.Pos) (token.Pos, *ast.File, error) {
	if p.demand == nil {
		return pos, nil, nil
	}
	return p.demand.real(pos)
}

// Place returns the file of pos and the offset in it, without regard to //line directives. It parses nothing.
func (p *Program) Place(pos token.Pos) (filename string, offset int) {
	file := p.Fset.File(pos)
	if file == nil {
		return "", 0
	}
	if name, base, ok := exportedFile(file.Name()); ok {
		return name, base + file.Offset(pos)
	}
	return file.Name(), file.Offset(pos)
}

func environ(opts Options) []string { return append(os.Environ(), opts.Env...) }
