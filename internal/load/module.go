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

// module is a module whose packages are read from source: a main module, or one that a directory replaces.
type module struct {
	path, dir string
	info      *packages.Module
}

// modules are the modules of the build, as far as go.work and go.mod files name them.
type modules struct {
	current *module   // the main module that the directory is in
	mains   []*module // all main modules: more than one only in a workspace
	local   []*module // the main modules, and those that a directory replaces
	remote  []string  // paths of all others
	goroot  string
	files   []File // go.work, go.mod and go.sum files, present or not

	mu       sync.Mutex
	listings map[string]Listing // directories that resolve looked at
}

// readModules reads the go.mod files of the build, and in a workspace its go.work file.
func readModules(e *environment) (*modules, error) {
	m := &modules{goroot: e.goroot, listings: make(map[string]Listing)}
	b := &buildList{modules: m, versions: make(map[string]string)}
	var err error
	if e.work == "" {
		err = b.addMain(e.mod)
	} else {
		err = b.addWorkspace(e.work)
	}
	if err != nil {
		return nil, err
	}
	for _, main := range m.mains {
		if main.info.GoMod == e.mod {
			m.current = main
		}
	}
	if m.current == nil {
		return nil, unusual("%s is not in go.work", e.mod)
	}
	return m, b.addRequired()
}

// buildList collects what go.work and go.mod files require and replace.
type buildList struct {
	*modules
	required []string          // paths, in the order in which they are found
	versions map[string]string // of required modules: the highest that a main module requires
	replaced []replacement     // of main modules
	overrule []replacement     // of go.work; they go first
}

// replacement is a replace directive with the directory of its file.
type replacement struct {
	*modfile.Replace
	base string
}

// dir is the directory that takes the place of a module, empty if another module does.
func (r replacement) dir() string {
	if r.New.Version != "" {
		return ""
	}
	dir := filepath.FromSlash(r.New.Path)
	if !filepath.IsAbs(dir) {
		dir = filepath.Join(r.base, dir)
	}
	return filepath.Clean(dir)
}

// addMain adds a main module, with what it requires and replaces.
func (b *buildList) addMain(modFile string) error {
	dir := filepath.Dir(modFile)
	if err := plainDirectory(dir); err != nil {
		return err
	}
	file, err := b.readModFile(modFile)
	if err != nil {
		return err
	}
	if err := b.noteFile(filepath.Join(dir, "go.sum")); err != nil {
		return err
	}
	if file.Go == nil || semver.Compare("v"+file.Go.Version, "v1.17") < 0 {
		return unusual("%s is for a Go version before 1.17, so it need not name every module", modFile)
	}
	if len(file.Ignore) > 0 {
		return unusual("%s has ignore directives", modFile)
	}
	if err := b.refuseVendor(dir); err != nil {
		return err
	}
	path := file.Module.Mod.Path
	if path == "std" || path == "cmd" {
		return unusual("the module is the Go distribution itself")
	}
	main := &module{
		path: path, dir: dir,
		info: &packages.Module{Path: path, Main: true, Dir: dir, GoMod: modFile, GoVersion: file.Go.Version},
	}
	b.mains, b.local = append(b.mains, main), append(b.local, main)
	for _, required := range file.Require {
		path, version := required.Mod.Path, required.Mod.Version
		if _, known := b.versions[path]; !known {
			b.required = append(b.required, path)
		}
		if semver.Compare(version, b.versions[path]) > 0 || b.versions[path] == "" {
			b.versions[path] = version
		}
	}
	for _, replace := range file.Replace {
		b.replaced = append(b.replaced, replacement{replace, dir})
	}
	return nil
}

// refuseVendor returns an error if a directory has a vendor directory.
func (m *modules) refuseVendor(dir string) error {
	if err := m.look(dir); err != nil {
		return err
	}
	if _, err := os.Lstat(filepath.Join(dir, "vendor")); !os.IsNotExist(err) {
		return unusual("a vendor directory")
	}
	return nil
}

// addRequired adds the modules that the main modules require.
func (b *buildList) addRequired() error {
	for _, path := range b.required {
		if slices.ContainsFunc(b.mains, func(main *module) bool { return main.path == path }) {
			continue
		}
		r, err := b.replacementOf(path)
		if err != nil {
			return err
		}
		if r == nil {
			b.remote = append(b.remote, path)
			continue
		}
		replaced, err := b.replacedModule(path, r)
		if err != nil {
			return err
		}
		b.local = append(b.local, replaced)
	}
	return nil
}

// replacementOf returns the replace directive that puts a directory in the place of a required module, nil if there is
// none.
func (b *buildList) replacementOf(path string) (*replacement, error) {
	list := b.overrule
	if !slices.ContainsFunc(list, func(r replacement) bool { return r.Old.Path == path }) {
		list = b.replaced
	}
	var found *replacement
	for _, r := range list {
		switch {
		case r.Old.Path != path || r.dir() == "" && len(b.mains) == 1:
		case found != nil && found.dir() == r.dir() && found.Old == r.Old && found.New.Version == r.New.Version:
		case found != nil:
			return nil, unusual("%s is replaced more than once", path)
		default:
			found = &r
		}
	}
	if found == nil || found.dir() == "" {
		return nil, nil
	}
	if found.Old.Version != "" && (found.Old.Version != b.versions[path] || len(b.mains) > 1) {
		return nil, unusual("one version of %s is replaced", path)
	}
	return found, nil
}

// replacedModule is the module in a directory that takes the place of another.
func (b *buildList) replacedModule(path string, r *replacement) (*module, error) {
	dir := r.dir()
	if err := plainDirectory(dir); err != nil {
		return nil, err
	}
	modFile := filepath.Join(dir, "go.mod")
	file, err := b.readModFile(modFile)
	if err != nil {
		return nil, err
	}
	if file.Go == nil {
		return nil, unusual("%s has no go directive", dir)
	}
	if len(file.Ignore) > 0 {
		return nil, unusual("%s has ignore directives", dir)
	}
	return &module{path: path, dir: dir, info: &packages.Module{
		Path: path, Version: b.versions[path], Dir: dir, GoMod: modFile, GoVersion: file.Go.Version,
		Replace: &packages.Module{Path: r.New.Path, Dir: dir, GoMod: modFile, GoVersion: file.Go.Version},
	}}, nil
}

// noteFile adds the state of a file, which need not exist.
func (m *modules) noteFile(name string) error {
	state, err := ReadFile(name)
	if err == nil {
		m.files = append(m.files, state)
	}
	return err
}

func (m *modules) readModFile(name string) (*modfile.File, error) {
	if err := m.noteFile(name); err != nil { // before it is parsed, so that a change in between shows
		return nil, err
	}
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

// resolve finds the directory of an import. The module is nil for a package that is read from export data.
func (m *modules) resolve(importPath string) (*module, string, error) {
	if path.Clean(importPath) != importPath || path.IsAbs(importPath) || importPath == "C" ||
		strings.HasPrefix(importPath, ".") {
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

// standard reports whether the standard library has a package of this path, which would take precedence.
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

// holds reports whether a module has a package at rest: a directory with Go files that belongs to no module below it.
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

// look adds the state of a directory. It comes before any conclusion from the directory.
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
