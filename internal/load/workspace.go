package load

import (
	"fmt"
	"go/version"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"golang.org/x/mod/modfile"
)

// addWorkspace adds the modules of a workspace.
func (b *buildList) addWorkspace(workFile string) error {
	dir := filepath.Dir(workFile)
	if err := plainDirectory(dir); err != nil {
		return err
	}
	if err := b.noteFile(workFile); err != nil {
		return err
	}
	content, err := os.ReadFile(workFile)
	if err != nil {
		return fmt.Errorf("reading go.work: %w", err)
	}
	work, err := modfile.ParseWork(workFile, content, nil)
	if err != nil {
		return unusual("%s cannot be read: %v", workFile, err)
	}
	if err := b.refuseVendor(dir); err != nil {
		return err
	}
	for _, use := range work.Use {
		used := filepath.FromSlash(use.Path)
		if !filepath.IsAbs(used) {
			used = filepath.Join(dir, used)
		}
		if err := b.addMain(filepath.Join(used, "go.mod")); err != nil {
			return err
		}
	}
	for _, replace := range work.Replace {
		b.overrule = append(b.overrule, replacement{replace, dir})
	}
	if err := b.checkMains(work); err != nil {
		return err
	}
	return b.addSums(filepath.Join(dir, "go.work.sum"))
}

// checkMains returns an error for workspaces that the go command refuses.
func (b *buildList) checkMains(work *modfile.WorkFile) error {
	oldest := "go1.18"
	if work.Go != nil {
		oldest = "go" + work.Go.Version
	}
	for i, main := range b.mains {
		if version.Compare(oldest, "go"+main.info.GoVersion) < 0 {
			return unusual("%s is for a later Go version than go.work", main.dir)
		}
		if slices.ContainsFunc(b.mains[:i], func(other *module) bool { return other.path == main.path }) {
			return unusual("two modules of go.work are called %s", main.path)
		}
		if slices.ContainsFunc(b.overrule, func(r replacement) bool { return r.Old.Path == main.path }) {
			return unusual("go.work replaces its own module %s", main.path)
		}
	}
	return nil
}

// addSums adds the modules below main modules' paths that only dependencies require. The go command takes a workspace's
// whole module graph into account, and the sum files name all of it.
func (b *buildList) addSums(workSum string) error {
	names := []string{workSum}
	for _, main := range b.mains {
		names = append(names, filepath.Join(main.dir, "go.sum"))
	}
	if err := b.noteFile(workSum); err != nil {
		return err
	}
	for _, name := range names {
		content, err := os.ReadFile(name)
		if err != nil {
			continue // a module need not have one
		}
		for line := range strings.Lines(string(content)) {
			path, _, _ := strings.Cut(line, " ")
			below := func(main *module) bool { _, ok := within(path, main.path); return ok }
			if _, known := b.versions[path]; !known && slices.ContainsFunc(b.mains, below) {
				b.required = append(b.required, path)
				b.versions[path] = ""
			}
		}
	}
	return nil
}
