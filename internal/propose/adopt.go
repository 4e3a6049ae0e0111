package propose

import (
	"bytes"
	"errors"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"go/types"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/aqltag/aqltag/internal/atomicfile"
	"github.com/aqltag/aqltag/internal/plainfile"
	"github.com/aqltag/aqltag/internal/scan/gotype"
)

// Adopt writes the candidates of each package as //aql:adopt directives into a file of its own in dir, a folder of
// another package, and returns the files that it wrote, sorted. The package in dir is made if there is none. A file
// that exists and differs is an error, and then nothing is written.
func (p Proposals) Adopt(dir string) ([]string, error) {
	home, err := readHome(dir)
	if err != nil {
		return nil, err
	}
	content, taken := make(map[string][]byte), make(map[string]bool)
	var order []string
	var faults []error
	for _, pkg := range p.Packages {
		if len(pkg.Candidates) == 0 {
			continue
		}
		file := adoptFile(dir, pkg.Name, taken)
		taken[file] = true
		text := home.adoptions(file, pkg)
		if err := plainfile.Replaceable(file); err != nil {
			faults = append(faults, fmt.Errorf("writing directives: %w", err))
			continue
		}
		old, err := os.ReadFile(file)
		switch {
		case err == nil && !bytes.Equal(old, text):
			faults = append(faults, fmt.Errorf("%s exists already, and is kept as it is; "+
				"move it away to write what is proposed now", file))
			continue
		case err == nil:
			continue
		case !errors.Is(err, fs.ErrNotExist):
			faults = append(faults, fmt.Errorf("writing directives: %w", err))
			continue
		}
		content[file] = text
		order = append(order, file)
	}
	if err := errors.Join(faults...); err != nil {
		return nil, err
	}
	for i, file := range order {
		if err := atomicfile.Write(file, content[file], 0o644); err != nil {
			return order[:i], fmt.Errorf("writing directives: %w", err)
		}
	}
	slices.Sort(order)
	return order, nil
}

// adoptFile is the name of the file for a package, which no other one of this run has.
func adoptFile(dir, name string, taken map[string]bool) string {
	for i := 1; ; i++ {
		file := filepath.Join(dir, "adopt_"+name+".go")
		if i > 1 {
			file = filepath.Join(dir, fmt.Sprintf("adopt_%s%d.go", name, i))
		}
		if !taken[file] {
			return file
		}
	}
}

// home is the package that directives are written into.
type home struct {
	name  string
	files map[string]bool // and whether a //go:generate comment in it runs aql-tag
}

// readHome reads the package in a folder.
func readHome(dir string) (home, error) {
	entries, err := os.ReadDir(dir)
	if err != nil {
		return home{}, fmt.Errorf("reading the package at hand: %w", err)
	}
	h := home{files: make(map[string]bool)}
	for _, entry := range entries {
		path := filepath.Join(dir, entry.Name())
		if filepath.Ext(path) != ".go" || strings.HasSuffix(path, "_test.go") {
			continue
		}
		mode := parser.ParseComments | parser.SkipObjectResolution
		if plainfile.Readable(path) != nil {
			continue
		}
		file, _ := parser.ParseFile(token.NewFileSet(), path, nil, mode)
		if file == nil || file.Name == nil || file.Name.Name == "" {
			continue
		}
		h.name = file.Name.Name
		if ast.IsGenerated(file) {
			continue
		}
		h.files[path] = runsGenerator([]*ast.File{file})
	}
	if h.name == "" {
		h.name = packageName(filepath.Base(dir))
	}
	return h, nil
}

// beside reports whether there are files beside one, and whether one of them runs aql-tag.
func (h home) beside(file string) (others, generates bool) {
	for name, runs := range h.files {
		others, generates = others || name != file, generates || name != file && runs
	}
	return others, generates
}

// packageName makes the name of a package of that of its folder.
func packageName(folder string) string {
	name := strings.Map(func(r rune) rune {
		if r >= 'a' && r <= 'z' || r >= '0' && r <= '9' {
			return r
		}
		return -1
	}, strings.ToLower(folder))
	if !token.IsIdentifier(name) {
		return "adapter"
	}
	return name
}

// adoptions is the file that adopts the candidates of a package.
func (h home) adoptions(file string, pkg Package) []byte {
	var b bytes.Buffer
	others, generates := h.beside(file)
	h.files[file] = !generates
	if !others {
		fmt.Fprintf(&b, "// Package %s puts package %s in front of agents.\n", h.name, pkg.Name)
	}
	fmt.Fprintf(&b, "package %s\n\nimport _ %q\n", h.name, pkg.Path)
	if !generates {
		fmt.Fprint(&b, "\n//go:generate go tool aql-tag\n")
	}
	fmt.Fprintln(&b)
	for _, c := range pkg.Candidates {
		for i, line := range c.Directives {
			if i == 0 {
				line = strings.Replace(line, "//aql:op ", "//aql:adopt "+c.Target+" ", 1)
			}
			fmt.Fprintln(&b, line)
		}
	}
	return b.Bytes()
}

// target is how a directive in another package names a function: by the interface of its package that has the methods
// of its type and names their arguments, if there is one, since a program rather has a value of that.
func (p *proposer) target(fn *types.Func) string {
	pkg := fn.Pkg()
	named := receiverType(fn)
	if named == nil {
		return pkg.Name() + "." + fn.Name()
	}
	implemented, known := p.interfaces[named]
	if !known {
		implemented = interfaceOf(named)
		p.interfaces[named] = implemented
	}
	if implemented != nil {
		object, _, _ := types.LookupFieldOrMethod(implemented.Type(), false, pkg, fn.Name())
		if method, ok := object.(*types.Func); ok && namesArguments(method) {
			return fmt.Sprintf("(%s.%s).%s", pkg.Name(), implemented.Name(), fn.Name())
		}
	}
	star := ""
	if _, pointer := types.Unalias(fn.Signature().Recv().Type()).(*types.Pointer); pointer {
		star = "*"
	}
	return fmt.Sprintf("(%s%s.%s).%s", star, pkg.Name(), named.Obj().Name(), fn.Name())
}

// namesArguments reports whether the arguments that would be parameters have names. A context and the struct of an only
// argument need none.
func namesArguments(method *types.Func) bool {
	params := method.Signature().Params()
	first := 0
	if params.Len() > 0 && types.TypeString(params.At(0).Type(), nil) == "context.Context" {
		first = 1
	}
	if params.Len()-first == 1 {
		if _, ok := gotype.Pointee(params.At(first).Type()).Underlying().(*types.Struct); ok {
			return true
		}
	}
	for i := first; i < params.Len(); i++ {
		if name := params.At(i).Name(); name == "" || name == "_" {
			return false
		}
	}
	return true
}

// interfaceOf returns the exported interface in the package of a type that the type implements, and that has more than
// half of the type's exported methods; nil: there is none.
func interfaceOf(named *types.Named) *types.TypeName {
	methods := types.NewMethodSet(types.NewPointer(named))
	exported := 0
	for m := range methods.Methods() {
		if m.Obj().Exported() {
			exported++
		}
	}
	var best *types.TypeName
	most := exported / 2
	scope := named.Obj().Pkg().Scope()
	for _, name := range scope.Names() {
		object, ok := scope.Lookup(name).(*types.TypeName)
		if !ok || !object.Exported() || object.IsAlias() {
			continue
		}
		u, ok := object.Type().Underlying().(*types.Interface)
		if !ok || object.Type().(*types.Named).TypeParams().Len() > 0 || u.NumMethods() <= most ||
			!types.Implements(types.NewPointer(named), u) {
			continue
		}
		best, most = object, u.NumMethods()
	}
	return best
}
