package load

import (
	"fmt"
	"maps"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
)

// target is a directory that a pattern names.
type target struct {
	dir     string
	module  *module // the main module that it is in
	literal bool    // a pattern names it; otherwise it was found below a "..." pattern
}

// walk is a directory tree below a "..." pattern.
type walk struct {
	root     string
	dirs     []string  // every directory that belongs to the tree, in walking order
	listings []Listing // the same with their state, and directories that begin another module
}

// match finds the directories that the patterns name, sorted.
func (m *modules) match(dir string, patterns []string) ([]target, []walk, error) {
	if len(patterns) == 0 {
		patterns = []string{"."}
	}
	found := make(map[string]target)
	var walks []walk
	for _, pattern := range patterns {
		main, base, below, err := m.directoryOf(dir, pattern)
		if err != nil {
			return nil, nil, err
		}
		if !below {
			found[base] = target{base, main, true}
			continue
		}
		w := walk{root: base}
		if err := w.into(base); err != nil {
			return nil, nil, err
		}
		walks = append(walks, w)
		for _, below := range w.dirs {
			if _, known := found[below]; !known {
				found[below] = target{below, main, false}
			}
		}
	}
	targets := slices.SortedFunc(maps.Values(found), func(a, b target) int { return strings.Compare(a.dir, b.dir) })
	return targets, walks, nil
}

// directoryOf returns the directory in a main module that a pattern names. below means that the pattern also names all
// directories below it.
func (m *modules) directoryOf(dir, pattern string) (main *module, base string, below bool, err error) {
	rest, below := strings.CutSuffix(pattern, "/...")
	switch {
	case rest == "", path.IsAbs(rest), filepath.IsAbs(rest), strings.HasSuffix(rest, ".go"),
		strings.Contains(rest, "..."), strings.ContainsAny(rest, `=@\*?[`):
		return nil, "", false, unusual("pattern %q", pattern)
	case rest == "." || rest == ".." || strings.HasPrefix(rest, "./") || strings.HasPrefix(rest, "../"):
		base = filepath.Join(dir, filepath.FromSlash(rest))
	default:
		main = m.mainOf(rest)
		if main == nil || path.Clean(rest) != rest || m.standard(rest) || below && m.shares(main, rest) {
			return nil, "", false, unusual("pattern %q", pattern)
		}
		inner, _ := within(rest, main.path)
		base = filepath.Join(main.dir, filepath.FromSlash(inner))
	}
	named := main
	if main = m.mainAt(base); main == nil || named != nil && named != main {
		return nil, "", false, unusual("pattern %q leaves the main module", pattern)
	}
	if base == main.dir {
		return main, base, below, nil
	}
	relative, err := filepath.Rel(main.dir, base)
	if err != nil {
		return nil, "", false, fmt.Errorf("looking for packages: %w", err)
	}
	inner := main.dir
	for element := range strings.SplitSeq(filepath.ToSlash(relative), "/") {
		inner = filepath.Join(inner, element)
		info, err := os.Lstat(inner)
		if err != nil || !info.IsDir() || hidden(element) || element == "vendor" {
			return nil, "", false, unusual("pattern %q", pattern)
		}
		if _, err := os.Lstat(filepath.Join(inner, "go.mod")); err == nil {
			return nil, "", false, unusual("pattern %q enters another module", pattern)
		}
	}
	return main, base, below, nil
}

// mainAt is the main module whose directory is the nearest at or above dir, nil if there is none.
func (m *modules) mainAt(dir string) *module {
	var nearest *module
	for _, main := range m.mains {
		relative, err := filepath.Rel(main.dir, dir)
		if err != nil || relative == ".." || strings.HasPrefix(relative, ".."+string(filepath.Separator)) {
			continue
		}
		if nearest == nil || len(main.dir) > len(nearest.dir) {
			nearest = main
		}
	}
	return nearest
}

// mainOf is the main module whose path is the longest that an import path begins with, nil if there is none.
func (m *modules) mainOf(importPath string) *module {
	var longest *module
	for _, main := range m.mains {
		if _, ok := within(importPath, main.path); ok && (longest == nil || len(main.path) > len(longest.path)) {
			longest = main
		}
	}
	return longest
}

// shares reports whether another module than main has packages that a "..." pattern on an import path would match.
func (m *modules) shares(main *module, importPath string) bool {
	for _, other := range m.local {
		if other != main && overlaps(other.path, importPath) {
			return true
		}
	}
	return slices.ContainsFunc(m.remote, func(other string) bool { return overlaps(other, importPath) })
}

func overlaps(a, b string) bool {
	_, above := within(a, b)
	_, below := within(b, a)
	return above || below
}

// hidden reports whether "..." patterns skip a directory.
func hidden(name string) bool {
	return strings.HasPrefix(name, ".") || strings.HasPrefix(name, "_") || name == "testdata"
}

// into adds dir and all directories below it that "..." matches.
func (w *walk) into(dir string) error {
	entries, err := os.ReadDir(dir)
	if err != nil {
		return fmt.Errorf("looking for packages: %w", err)
	}
	w.listings = append(w.listings, listing(dir, true, entries))
	if dir != w.root && slices.ContainsFunc(entries, func(e os.DirEntry) bool { return e.Name() == "go.mod" }) {
		return nil
	}
	w.dirs = append(w.dirs, dir)
	for _, entry := range entries {
		switch {
		case hidden(entry.Name()):
		case entry.Name() == "vendor":
			return unusual("a vendor directory")
		case entry.IsDir():
			if err := w.into(filepath.Join(dir, entry.Name())); err != nil {
				return err
			}
		case entry.Type()&os.ModeSymlink != 0:
			if info, err := os.Stat(filepath.Join(dir, entry.Name())); err == nil && info.IsDir() {
				return unusual("%s is a symbolic link", filepath.Join(dir, entry.Name()))
			}
		}
	}
	return nil
}
