// Package load parses and type-checks the packages that a scan reads: declarations only, the generator's own files left
// out, and never with a compiler. There are two ways to the same result. Its own loader reads the packages of the main
// module, or of all modules of a workspace, from their directories and takes all others from a cache of export data,
// which it fills itself. What is unusual (vendor directories, cgo, drivers, overlays, imports that fail, …) goes
// through go/packages, which type-checks every dependency from source each time.
package load

import (
	"context"
	"go/ast"
	"go/token"
	"go/types"
	"os"

	"golang.org/x/tools/go/packages"
)

// Loader chooses between the two ways to load.
type Loader int

// The loaders.
const (
	Auto       Loader = iota // the own loader, and go/packages where that is not sure of itself
	GoPackages               // go/packages
	Own                      // the own loader; what it is not sure of is an error
)

// Options says what to load.
type Options struct {
	Dir      string   // directory the patterns are relative to; empty: the current one
	Patterns []string // package patterns as the go command takes them; none: the package in Dir
	Tags     []string // build tags
	Env      []string // NAME=value, added to the environment of the go command
	Loader   Loader
	Cache    string // directory of the export data cache; empty: aql-tag in the user's cache directory; "off": none
	Inputs   bool   // note all that was read in Program.Inputs
}

// Program is a set of loaded packages. It is not safe for concurrent use.
type Program struct {
	Fset *token.FileSet

	// Roots are the packages that match the patterns, each with its imports. Bodies of functions are missing. A package
	// that came from export data has PkgPath, Name and Types alone; its objects have positions that only Real and Place
	// understand.
	Roots []*packages.Package

	// Generated holds the content of the generator's own files by absolute name. None of them took part.
	Generated map[string][]byte

	// FallbackReason is why the own loader left the work to go/packages; nil where it did the work, or was not to try.
	FallbackReason error

	// Inputs is everything the result depends on. It is nil unless Options.Inputs asked for it and the own loader did
	// the work.
	Inputs *Inputs

	goroot   string
	demand   *demand
	complete func(*types.Package) error // nil: every package is complete
}

// Load loads the packages that match opts.Patterns, without their tests. Faults in the source are in the packages; the
// error tells that nothing could be loaded. A pattern that matches nothing is no error here.
func Load(ctx context.Context, opts Options) (*Program, error) {
	if opts.Loader == GoPackages {
		return loadPackages(ctx, opts)
	}
	program, reason := loadOwn(ctx, opts)
	if reason == nil || opts.Loader == Own {
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

// Complete makes sure that the scope of a package has all its exported names. A package from export data that no source
// file imports has only those that others mention. An error means that the program must be loaded by go/packages.
func (p *Program) Complete(pkg *types.Package) error {
	if p.complete == nil || pkg.Complete() {
		return nil
	}
	return p.complete(pkg)
}

// Real is the position in a parsed file that pos stands for, with that file: for a position from export data the file
// is parsed when it is first asked for. For any other position Real returns pos itself and no file. An error means that
// the program must be loaded by go/packages.
func (p *Program) Real(pos token.Pos) (token.Pos, *ast.File, error) {
	if p.demand == nil {
		return pos, nil, nil
	}
	return p.demand.real(pos)
}

// Place is the file and the offset in it that pos stands for, whatever //line directives say. It parses nothing.
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
