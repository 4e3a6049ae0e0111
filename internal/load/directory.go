package load

import (
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"go/ast"
	"go/build/constraint"
	"go/parser"
	"go/scanner"
	"go/token"
	"go/types"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"golang.org/x/tools/go/packages"

	"github.com/aqltag/aqltag/internal/plainfile"
)

// sourceFile is a Go file of a main or replaced module.
type sourceFile struct {
	name      string // absolute
	generated bool
	matches   bool // the build context wants it
	test      bool
	ignored   bool // by name
	syntax    *ast.File
	faults    scanner.ErrorList
	input     File
}

// directory is a package of a main or replaced module.
type directory struct {
	path    string // import path
	dir     string
	module  *module
	files   []*sourceFile // sorted by name
	listing Listing
	imports []string // sorted
	pkg     *packages.Package
}

// read reads one file, and parses it if it is part of the package.
func (s *session) read(f *sourceFile) error {
	if s.inputs != nil {
		info, err := os.Stat(f.name) // before the content is read, so that a change in between shows
		if err != nil {
			return fmt.Errorf("reading source: %w", err)
		}
		f.input = File{Name: f.name, Size: info.Size(), Modified: info.ModTime()}
	}
	content, err := os.ReadFile(f.name)
	if err != nil {
		return fmt.Errorf("reading source: %w", err)
	}
	if s.inputs != nil {
		f.input.digest(content)
	}
	if f.ignored {
		return nil
	}
	if IsGenerated(f.name, content) {
		f.generated = true
		return nil
	}
	if f.matches, err = s.matches(f.name, content); err != nil || !f.matches {
		return err
	}
	if f.test {
		f.syntax, _ = parser.ParseFile(token.NewFileSet(), f.name, content, parser.PackageClauseOnly)
		return nil
	}
	f.syntax, err = parseEmptied(s.program.Fset, f.name, content, true)
	if err != nil && !errors.As(err, &f.faults) {
		return fmt.Errorf("parsing %s: %w", f.name, err)
	}
	if len(f.faults) > 0 {
		// The go command has errors of its own for a file whose imports it cannot read.
		if _, err := parser.ParseFile(token.NewFileSet(), f.name, content,
			parser.ImportsOnly|parser.ParseComments); err != nil {
			return unusual("%s: %v", f.name, err)
		}
	}
	if f.syntax.Name.Name == "documentation" {
		return unusual("%s has package clause documentation", f.name)
	}
	return nil
}

// matches applies build constraints, in the file's name and in its content.
func (s *session) matches(filename string, content []byte) (bool, error) {
	context := s.env.context
	context.OpenFile = func(string) (io.ReadCloser, error) { return io.NopCloser(bytes.NewReader(content)), nil }
	ok, err := context.MatchFile(filepath.Split(filename))
	if err != nil {
		return false, unusual("%v", err)
	}
	// Tags like amd64.v3 and goexperiment.x depend on the toolchain.
	if i := bytes.Index(content, []byte("//go:build ")); i >= 0 {
		line, _, _ := bytes.Cut(content[i:], []byte("\n"))
		if expr, err := constraint.Parse(string(bytes.TrimSpace(line))); err == nil && hasToolTag(expr) {
			return false, unusual("%s has a constraint on the toolchain", filename)
		}
	}
	return ok, nil
}

func hasToolTag(expr constraint.Expr) bool {
	switch expr := expr.(type) {
	case *constraint.TagExpr:
		return strings.Contains(expr.Tag, ".") && !strings.HasPrefix(expr.Tag, "go1.")
	case *constraint.NotExpr:
		return hasToolTag(expr.X)
	case *constraint.AndExpr:
		return hasToolTag(expr.X) || hasToolTag(expr.Y)
	case *constraint.OrExpr:
		return hasToolTag(expr.X) || hasToolTag(expr.Y)
	}
	return false
}

// list lists the Go files of a directory. In a root it also lists files that are not part of the build, because
// generated code must not declare their names.
func (d *directory) list(root bool) error {
	if err := plainDirectory(d.dir); err != nil {
		return err
	}
	entries, err := os.ReadDir(d.dir)
	if err != nil {
		return fmt.Errorf("reading a package: %w", err)
	}
	d.listing = listing(d.dir, false, entries)
	for _, entry := range entries {
		name := entry.Name()
		test := strings.HasSuffix(name, "_test.go")
		switch filepath.Ext(name) {
		case ".go":
			ignored := strings.HasPrefix(name, ".") || strings.HasPrefix(name, "_")
			if !entry.Type().IsRegular() {
				if err := plainfile.Readable(filepath.Join(d.dir, name)); err != nil && !entry.IsDir() {
					return fmt.Errorf("loading packages: %w", err)
				}
				return unusual("%s is no regular file", filepath.Join(d.dir, name))
			}
			if root || !test && !ignored {
				d.files = append(d.files, &sourceFile{name: filepath.Join(d.dir, name), test: test, ignored: ignored})
			}
		case ".swig", ".swigcxx":
			return unusual("%s", filepath.Join(d.dir, name))
		}
	}
	return nil
}

// assemble makes the package of the files that were read. ok is false if the directory has no Go files for this build.
func (d *directory) assemble(sizes types.Sizes) (ok bool, err error) {
	d.pkg = &packages.Package{
		ID: d.path, PkgPath: d.path, Dir: d.dir, Module: d.module.info, TypesSizes: sizes,
		Imports: make(map[string]*packages.Package),
	}
	imported := make(map[string]bool)
	tested := ""
	for _, f := range d.files {
		switch {
		case f.generated && !f.test:
			d.pkg.GoFiles = append(d.pkg.GoFiles, f.name)
			continue
		case !f.matches:
			continue
		case f.test:
			if f.syntax != nil && tested == "" {
				tested = strings.TrimSuffix(f.syntax.Name.Name, "_test")
			}
			continue
		}
		d.pkg.GoFiles = append(d.pkg.GoFiles, f.name)
		d.pkg.Syntax = append(d.pkg.Syntax, f.syntax)
		for _, fault := range f.faults {
			d.pkg.Errors = append(d.pkg.Errors, packages.Error{
				Pos: fault.Pos.String(), Msg: fault.Msg, Kind: packages.ParseError,
			})
		}
		if d.pkg.Name == "" {
			d.pkg.Name = f.syntax.Name.Name
		} else if d.pkg.Name != f.syntax.Name.Name {
			return false, unusual("packages %s and %s are in one directory", d.pkg.Name, f.syntax.Name.Name)
		}
		for _, spec := range f.syntax.Imports {
			importPath, err := strconv.Unquote(spec.Path.Value)
			if err != nil || importPath == "C" {
				return false, unusual("import of %s", spec.Path.Value)
			}
			imported[importPath] = true
		}
	}
	if d.pkg.Name == "" {
		d.pkg.Name = cmp.Or(tested, packageNameOf(d.dir, len(d.pkg.GoFiles) > 0))
	}
	d.pkg.CompiledGoFiles = d.pkg.GoFiles
	for importPath := range imported {
		d.imports = append(d.imports, importPath)
	}
	slices.Sort(d.imports)
	return d.pkg.Name != "", nil
}

// packageNameOf is the name of a package that has only generated files.
func packageNameOf(dir string, generated bool) string {
	if !generated {
		return ""
	}
	files, _ := filepath.Glob(filepath.Join(dir, "*.go"))
	return packageName(files)
}
