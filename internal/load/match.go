package load

import (
	"fmt"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
)

// target is a directory that a pattern names.
type target struct {
	dir     string
	literal bool // named itself, not found below a "..." pattern
}

// walk is a directory tree that a "..." pattern named, as it was found.
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
	literal := make(map[string]bool)
	var walks []walk
	for _, pattern := range patterns {
		base, below, err := m.directoryOf(dir, pattern)
		if err != nil {
			return nil, nil, err
		}
		if !below {
			literal[base] = true
			continue
		}
		w := walk{root: base}
		if err := w.into(base); err != nil {
			return nil, nil, err
		}
		walks = append(walks, w)
		for _, found := range w.dirs {
			if _, known := literal[found]; !known {
				literal[found] = false
			}
		}
	}
	var targets []target
	for found, named := range literal {
		targets = append(targets, target{found, named})
	}
	slices.SortFunc(targets, func(a, b target) int { return strings.Compare(a.dir, b.dir) })
	return targets, walks, nil
}

// directoryOf is the directory in the main module that a pattern names. below: all below it as well.
func (m *modules) directoryOf(dir, pattern string) (base string, below bool, err error) {
	rest, below := strings.CutSuffix(pattern, "/...")
	switch {
	case rest == "", path.IsAbs(rest), filepath.IsAbs(rest), strings.HasSuffix(rest, ".go"),
		strings.Contains(rest, "..."), strings.ContainsAny(rest, `=@\*?[`):
		return "", false, unusual("pattern %q", pattern)
	case rest == "." || rest == ".." || strings.HasPrefix(rest, "./") || strings.HasPrefix(rest, "../"):
		base = filepath.Join(dir, filepath.FromSlash(rest))
	default:
		inner, ok := within(rest, m.main.path)
		if !ok || path.Clean(rest) != rest || m.standard(rest) || below && m.shares(rest) {
			return "", false, unusual("pattern %q", pattern)
		}
		base = filepath.Join(m.main.dir, filepath.FromSlash(inner))
	}
	relative, err := filepath.Rel(m.main.dir, base)
	if err != nil || relative == ".." || strings.HasPrefix(relative, ".."+string(filepath.Separator)) {
		return "", false, unusual("pattern %q leaves the main module", pattern)
	}
	if base == m.main.dir {
		return base, below, nil
	}
	inner := m.main.dir
	for element := range strings.SplitSeq(filepath.ToSlash(relative), "/") {
		inner = filepath.Join(inner, element)
		info, err := os.Lstat(inner)
		if err != nil || !info.IsDir() || hidden(element) || element == "vendor" {
			return "", false, unusual("pattern %q", pattern)
		}
		if _, err := os.Lstat(filepath.Join(inner, "go.mod")); err == nil {
			return "", false, unusual("pattern %q enters another module", pattern)
		}
	}
	return base, below, nil
}

// shares reports whether another module has packages that a "..." pattern on an import path would match.
func (m *modules) shares(importPath string) bool {
	for _, other := range m.local[1:] {
		if overlaps(other.path, importPath) {
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

// hidden reports whether "..." patterns pass by a directory.
func hidden(name string) bool {
	return strings.HasPrefix(name, ".") || strings.HasPrefix(name, "_") || name == "testdata"
}

// into looks into dir and all below it that "..." matches.
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
