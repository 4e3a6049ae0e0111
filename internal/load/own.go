package load

import (
	"context"
	"errors"
	"fmt"
	"go/token"
	"go/types"
	"path"
	"runtime"
	"slices"
	"strings"
	"sync"

	"golang.org/x/tools/go/packages"
)

// session is one load by the own loader.
type session struct {
	ctx     context.Context
	opts    Options
	env     *environment
	modules *modules
	sizes   types.Sizes
	program *Program
	inputs  *Inputs
	foreign *externals
	gate    chan struct{} // bounds the files that are read and parsed at once
	pending sync.WaitGroup

	mu       sync.Mutex
	dirs     map[string]*directory // by import path
	resolved map[string]*resolution
	err      error
}

// resolution is where an import leads: to a package that is read from source, or if module is nil to one from export
// data.
type resolution struct {
	module *module
	dir    string
}

func loadOwn(ctx context.Context, opts Options) (*Program, error) {
	env, err := readEnvironment(ctx, opts)
	if err != nil {
		return nil, err
	}
	mods, err := readModules(env)
	if err != nil {
		return nil, err
	}
	targets, walks, err := mods.match(env.dir, opts.Patterns)
	if err != nil {
		return nil, err
	}
	program := &Program{Fset: token.NewFileSet(), Generated: make(map[string]bool), goroot: sources(env.goroot)}
	program.demand = newDemand(program.Fset, program.goroot)
	s := &session{
		ctx: ctx, opts: opts, env: env, modules: mods, program: program, sizes: types.SizesFor("gc", env.context.GOARCH),
		gate: make(chan struct{}, max(runtime.GOMAXPROCS(0), 2)), dirs: make(map[string]*directory),
		resolved: make(map[string]*resolution),
	}
	if opts.Inputs {
		s.inputs = newInputs(mods, walks)
	}
	if s.foreign, err = newExternals(s); err != nil {
		return nil, err
	}
	roots, err := s.parse(targets)
	if foreignErr := s.foreign.finish(); err == nil {
		err = foreignErr
	}
	if err != nil {
		return nil, err
	}
	if err := s.check(); err != nil {
		return nil, err
	}
	s.collect(roots)
	return program, nil
}

// parse reads the directories of the targets and of all they import, and returns the paths of the targets' packages.
func (s *session) parse(targets []target) ([]string, error) {
	literal := make(map[string]bool)
	var roots []string
	for _, t := range targets {
		importPath, err := t.module.importPath(t.dir)
		if err != nil {
			return nil, err
		}
		if s.modules.standard(importPath) {
			return nil, unusual("%s is a package of the standard library too", importPath)
		}
		roots, literal[importPath] = append(roots, importPath), t.literal
	}
	for i, t := range targets {
		s.visit(roots[i], t.module, t.dir, true)
	}
	s.pending.Wait()
	if s.err != nil {
		return nil, s.err
	}
	for _, d := range s.dirs {
		if d.pkg == nil && (literal[d.path] || !slices.Contains(roots, d.path)) {
			return nil, unusual("%s has no files to build", d.dir)
		}
		for _, importPath := range d.imports {
			if imported := s.dirs[importPath]; imported != nil && (imported.pkg == nil || imported.pkg.Name == "main") {
				return nil, unusual("%s cannot be imported", importPath)
			}
		}
	}
	roots = slices.DeleteFunc(roots, func(importPath string) bool {
		if s.dirs[importPath].pkg != nil {
			return false
		}
		delete(s.dirs, importPath)
		return true
	})
	if len(roots) == 0 {
		return nil, unusual("no packages")
	}
	return roots, nil
}

// visit reads a package and those it imports, in the background.
func (s *session) visit(importPath string, module *module, dir string, root bool) {
	s.mu.Lock()
	known := s.dirs[importPath] != nil
	d := &directory{path: importPath, dir: dir, module: module}
	if !known {
		s.dirs[importPath] = d
	}
	failed := s.err != nil
	s.mu.Unlock()
	if known || failed {
		return
	}
	s.pending.Go(func() {
		if err := s.readDirectory(d, root); err != nil {
			s.fail(err)
		}
	})
}

func (s *session) readDirectory(d *directory, root bool) error {
	if err := d.list(root); err != nil {
		return err
	}
	var files sync.WaitGroup
	for _, f := range d.files {
		files.Go(func() {
			s.gate <- struct{}{}
			defer func() { <-s.gate }()
			if s.ctx.Err() != nil {
				s.fail(s.ctx.Err())
				return
			}
			if err := s.read(f); err != nil {
				s.fail(err)
			}
		})
	}
	files.Wait()
	if s.failed() {
		return nil
	}
	ok, err := d.assemble(s.sizes)
	if err != nil {
		return err
	}
	if !ok {
		d.pkg = nil
	}
	for _, importPath := range d.imports {
		if err := s.follow(d, importPath); err != nil {
			return err
		}
	}
	return nil
}

// follow starts to read an imported package.
func (s *session) follow(d *directory, importPath string) error {
	if importPath == "unsafe" {
		return nil
	}
	if !MayImport(d.path, importPath) {
		return unusual("%s imports %s, which is internal to others", d.path, importPath)
	}
	s.mu.Lock()
	found := s.resolved[importPath]
	s.mu.Unlock()
	if found == nil {
		module, dir, err := s.modules.resolve(importPath)
		if err != nil {
			return err
		}
		found = &resolution{module, dir}
		s.mu.Lock()
		first := s.resolved[importPath] == nil
		s.resolved[importPath] = found
		s.mu.Unlock()
		if first && module == nil {
			s.foreign.want(importPath)
		}
	}
	if found.module != nil {
		s.visit(importPath, found.module, found.dir, false)
	}
	return nil
}

// MayImport reports whether the rule of internal packages lets importer import a package.
func MayImport(importer, importPath string) bool {
	elements := strings.Split(importPath, "/")
	for i, element := range elements {
		if element != "internal" {
			continue
		}
		parent := path.Join(elements[:i]...)
		if _, ok := within(importer, parent); !ok {
			return false
		}
	}
	return true
}

func (s *session) fail(err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.err == nil {
		s.err = err
	}
}

// failed reports whether the session ended with an error.
func (s *session) failed() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.err != nil
}

// check type-checks the packages that were parsed.
func (s *session) check() error {
	stubs := make(map[string]*packages.Package)
	for _, importPath := range s.foreign.wanted {
		imported := s.foreign.packages[importPath]
		if imported.Name() == "main" {
			return unusual("%s cannot be imported", importPath)
		}
		stubs[importPath] = &packages.Package{ID: importPath, PkgPath: importPath, Name: imported.Name(), Types: imported}
	}
	stubs["unsafe"] = &packages.Package{ID: "unsafe", PkgPath: "unsafe", Name: "unsafe", Types: types.Unsafe}
	var all []*directory
	for _, d := range s.dirs {
		all = append(all, d)
	}
	dependencies := func(d *directory) []*directory {
		var own []*directory
		for _, importPath := range d.imports {
			if imported := s.dirs[importPath]; imported != nil {
				own = append(own, imported)
			}
		}
		return own
	}
	for _, d := range all {
		for _, importPath := range d.imports {
			if imported := s.dirs[importPath]; imported != nil {
				d.pkg.Imports[importPath] = imported.pkg
			} else {
				d.pkg.Imports[importPath] = stubs[importPath]
			}
		}
	}
	if err := inOrder(s.ctx, all, dependencies, s.checkDirectory); err != nil {
		return err
	}
	for _, d := range all {
		for _, fault := range d.pkg.TypeErrors {
			// Export data has no unexported names, so the type checker reports them as undefined.
			name, undefined := strings.CutPrefix(fault.Msg, "undefined: ")
			if _, name, qualified := strings.Cut(name, "."); undefined && qualified && !token.IsExported(name) {
				return unusual("%s refers to an unexported name", d.path)
			}
		}
	}
	return nil
}

func (s *session) checkDirectory(d *directory) {
	pkg := d.pkg
	pkg.Types = types.NewPackage(pkg.PkgPath, pkg.Name)
	config := &types.Config{
		Importer: importerFunc(func(importPath string) (*types.Package, error) {
			if imported := pkg.Imports[importPath]; imported != nil {
				return imported.Types, nil
			}
			return nil, fmt.Errorf("package %s is not loaded", importPath)
		}),
		Error: func(err error) {
			var fault types.Error
			if errors.As(err, &fault) {
				pkg.TypeErrors = append(pkg.TypeErrors, fault)
				pkg.Errors = append(pkg.Errors, packages.Error{
					Pos: fault.Fset.Position(fault.Pos).String(), Msg: fault.Msg, Kind: packages.TypeError,
				})
			}
		},
		IgnoreFuncBodies:         true,
		DisableUnusedImportCheck: true,
		Sizes:                    s.sizes,
		GoVersion:                "go" + d.module.info.GoVersion,
	}
	_ = types.NewChecker(config, s.program.Fset, pkg.Types, nil).Files(pkg.Syntax) // config.Error has seen every error
	pkg.IllTyped = len(pkg.Errors) > 0
	pkg.Fset = s.program.Fset
}

type importerFunc func(importPath string) (*types.Package, error)

func (f importerFunc) Import(importPath string) (*types.Package, error) { return f(importPath) }

// collect fills in the program.
func (s *session) collect(roots []string) {
	for _, importPath := range roots {
		s.program.Roots = append(s.program.Roots, s.dirs[importPath].pkg)
	}
	for _, d := range s.dirs {
		for _, f := range d.files {
			if f.generated {
				s.program.Generated[f.name] = true
			}
		}
	}
	s.program.complete = s.foreign.complete
	if s.inputs != nil {
		s.inputs.add(s.dirs, s.modules)
		s.program.Inputs = s.inputs
	}
}
