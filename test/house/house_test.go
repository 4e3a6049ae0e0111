// Package house_test holds the repository to its own rules: what no compiler and no linter checks.
package house_test

import (
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// files lists the files of the repository, without those that builds and package managers leave.
func files(t *testing.T) []string {
	t.Helper()
	var all []string
	err := fs.WalkDir(os.DirFS(repository(t)), ".", func(file string, entry fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if name := entry.Name(); entry.IsDir() && file != "." {
			if name == "node_modules" || file == "bin" || strings.HasPrefix(name, ".") && name != ".ci" && name != ".github" {
				return filepath.SkipDir
			}
		}
		if entry.Type().IsRegular() {
			all = append(all, file)
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return all
}
