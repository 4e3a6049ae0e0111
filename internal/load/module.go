package load

import (
	"fmt"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"sync"

	"golang.org/x/mod/modfile"
	"golang.org/x/mod/semver"
	"golang.org/x/tools/go/packages"
)

// module is a module whose packages are read from source: the main one, or one replaced by a directory.
type module struct {
	path, dir string
	info      *packages.Module
}

// modules are the modules of the build, as far as go.mod tells.
type modules struct {
	main   *module
	local  []*module // the main module and those replaced by a directory
	remote []string  // paths of all others
	goroot string
	files  []File // go.mod and go.sum files, present or not

	mu       sync.Mutex
	listings map[string]Listing // directories that resolve looked at
}

func readModules(e *environment) (*modules, error) {
	dir := filepath.Dir(e.mod)
	if err := plainDirectory(dir); err != nil {
		return nil, err
	}
	m := &modules{goroot: e.goroot, listings: make(map[string]Listing)}
	file, err := m.readModFile(e.mod)
	if err != nil {
		return nil, err
	}
	sums, err := ReadFile(filepath.Join(dir, "go.sum"))
	if err != nil {
		return nil, err
	}
	m.files = append(m.files, sums)
	if file.Go == nil || semver.Compare("v"+file.Go.Version, "v1.17") < 0 {
		return nil, unusual("go.mod is for a Go version before 1.17, so it need not name every module")
	}
	if len(file.Ignore) > 0 {
		return nil, unusual("go.mod has ignore directives")
	}
	if err := m.look(dir); err != nil {
		return nil, err
	}
	if _, err := os.Lstat(filepath.Join(dir, "vendor")); !os.IsNotExist(err) {
		return nil, unusual("a vendor directory")
	}
	m.main = &module{
		path: file.Module.Mod.Path, dir: dir,
		info: &packages.Module{Path: file.Module.Mod.Path, Main: true, Dir: dir, GoMod: e.mod, GoVersion: file.Go.Version},
	}
	if m.main.path == "std" || m.main.path == "cmd" {
		return nil, unusual("the module is the Go distribution itself")
	}
	m.local = []*module{m.main}
	for _, required := range file.Require {
		replaced, err := m.replacement(file, required)
		if err != nil {
			return nil, err
		}
		if replaced == nil {
			m.remote = append(m.remote, required.Mod.Path)
			continue
		}
		m.local = append(m.local, replaced)
	}
	return m, nil
}

func (m *modules) readModFile(name string) (*modfile.File, error) {
	state, err := ReadFile(name) // before it is read for good, so that a change in between shows
	if err != nil {
		return nil, err
	}
	m.files = append(m.files, state)
	content, err := os.ReadFile(name)
	if err != nil {
		return nil, fmt.Errorf("reading go.mod: %w", err)
	}
	file, err := modfile.Parse(name, content, nil)
	if err != nil || file.Module == nil {
		return nil, unusual("%s cannot be read: %v", name, err)
	}
	return file, nil
}

// replacement is the directory that replaces a required module, nil if none does.
func (m *modules) replacement(file *modfile.File, required *modfile.Require) (*module, error) {
	for _, replace := range file.Replace {
		if replace.Old.Path != required.Mod.Path || replace.New.Version != "" {
			continue
		}
		if replace.Old.Version != "" && replace.Old.Version != required.Mod.Version {
			return nil, unusual("go.mod replaces another version of %s", required.Mod.Path)
		}
		dir := filepath.FromSlash(replace.New.Path)
		if !filepath.IsAbs(dir) {
			dir = filepath.Join(m.main.dir, dir)
		}
		dir = filepath.Clean(dir)
		if err := plainDirectory(dir); err != nil {
			return nil, err
		}
		inner, err := m.readModFile(filepath.Join(dir, "go.mod"))
		if err != nil {
			return nil, err
		}
		if inner.Go == nil {
			return nil, unusual("%s has no go directive", dir)
		}
		if len(inner.Ignore) > 0 {
			return nil, unusual("%s has ignore directives", dir)
		}
		return &module{path: required.Mod.Path, dir: dir, info: &packages.Module{
			Path: required.Mod.Path, Version: required.Mod.Version, Dir: dir, GoMod: filepath.Join(dir, "go.mod"), GoVersion: inner.Go.Version,
			Replace: &packages.Module{Path: replace.New.Path, Dir: dir, GoMod: filepath.Join(dir, "go.mod"), GoVersion: inner.Go.Version},
		}}, nil
	}
	return nil, nil
}

// resolve finds the directory of an import. A nil module means that the package is neither the main module's nor one that
// a directory replaces.
func (m *modules) resolve(importPath string) (*module, string, error) {
	if path.Clean(importPath) != importPath || path.IsAbs(importPath) || importPath == "C" || strings.HasPrefix(importPath, ".") {
		return nil, "", unusual("import of %q", importPath)
	}
	var owner *module
	inLocal := false
	for _, candidate := range m.local {
		rest, ok := within(importPath, candidate.path)
		if !ok {
			continue
		}
		inLocal = true
		holds, err := m.holds(candidate, rest)
		if err != nil {
			return nil, "", err
		}
		if !holds {
			continue
		}
		if owner != nil {
			return nil, "", unusual("two modules have %s", importPath)
		}
		owner = candidate
	}
	if !inLocal {
		return nil, "", nil
	}
	inRemote := false
	for _, candidate := range m.remote {
		if _, ok := within(importPath, candidate); ok {
			inRemote = true
		}
	}
	switch {
	case owner == nil && inRemote:
		return nil, "", nil
	case owner == nil:
		return nil, "", unusual("no directory has %s", importPath)
	case inRemote:
		return nil, "", unusual("another module may have %s", importPath)
	}
	if m.standard(importPath) {
		return nil, "", unusual("%s is a package of the standard library too", importPath)
	}
	rest, _ := within(importPath, owner.path)
	return owner, filepath.Join(owner.dir, filepath.FromSlash(rest)), nil
}

// standard reports whether the standard library may have a package of this path, which would go first.
func (m *modules) standard(importPath string) bool {
	first, _, _ := strings.Cut(importPath, "/")
	if strings.Contains(first, ".") {
		return false
	}
	_, err := os.Stat(filepath.Join(m.goroot, "src", filepath.FromSlash(importPath)))
	return err == nil
}

// within is the path below a module's own.
func within(importPath, modulePath string) (string, bool) {
	if importPath == modulePath {
		return "", true
	}
	return strings.CutPrefix(importPath, modulePath+"/")
}

// holds reports whether a module has a package at rest: a directory with Go files that is part of no inner module.
func (m *modules) holds(candidate *module, rest string) (bool, error) {
	dir := candidate.dir
	if rest != "" {
		for element := range strings.SplitSeq(rest, "/") {
			if element == "vendor" {
				return false, unusual("a vendor directory")
			}
			dir = filepath.Join(dir, element)
			info, err := os.Lstat(dir)
			if err != nil {
				return false, nil
			}
			if !info.IsDir() {
				return false, unusual("%s is no directory", dir)
			}
			if err := m.look(dir); err != nil {
				return false, err
			}
			if _, err := os.Lstat(filepath.Join(dir, "go.mod")); err == nil {
				return false, nil
			}
		}
	}
	entries, err := os.ReadDir(dir)
	if err != nil {
		return false, fmt.Errorf("reading a package: %w", err)
	}
	return slices.ContainsFunc(entries, func(e os.DirEntry) bool { return strings.HasSuffix(e.Name(), ".go") }), nil
}

// look notes the state of a directory before anything is concluded from it.
func (m *modules) look(dir string) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	if _, ok := m.listings[dir]; ok {
		return nil
	}
	state, err := Look(dir, false)
	if err == nil {
		m.listings[dir] = state
	}
	return err
}

// importPath is the path of the package in dir, which is below the module's own.
func (m *module) importPath(dir string) (string, error) {
	relative, err := filepath.Rel(m.dir, dir)
	if err != nil {
		return "", fmt.Errorf("finding the import path of %s: %w", dir, err)
	}
	return path.Join(m.path, filepath.ToSlash(relative)), nil
}
