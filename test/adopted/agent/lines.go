package agent

import (
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// HoldLines fails the test if a person wrote more than one line an operation, and more than 15 beside, in the folder
// dir and those in it.
func HoldLines(t *testing.T, dir string, operations int) {
	t.Helper()
	const besides = 15 // for main and the imports
	written := Lines(t, dir)
	if limit := operations + besides; operations == 0 || written > limit {
		t.Errorf("a person wrote %d lines for %d operations, want at most %d", written, operations, limit)
	}
	t.Logf("a person wrote %d lines for %d operations", written, operations)
}

// Lines counts what a person wrote in the folder dir and those in it. Blank lines, comments for people, closing
// brackets, tests and generated files do not count; directives do.
func Lines(t *testing.T, dir string) (written int) {
	t.Helper()
	err := filepath.WalkDir(dir, func(path string, entry fs.DirEntry, err error) error {
		if err != nil || entry.IsDir() || filepath.Ext(path) != ".go" || strings.HasSuffix(path, "_test.go") {
			return err
		}
		text, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		file, err := parser.ParseFile(token.NewFileSet(), path, text, parser.ParseComments|parser.PackageClauseOnly)
		if err != nil {
			return err
		}
		if ast.IsGenerated(file) {
			return nil
		}
		for line := range strings.Lines(string(text)) {
			line = strings.TrimSpace(line)
			if strings.Trim(line, ")}") != "" && (!strings.HasPrefix(line, "//") || strings.HasPrefix(line, "//aql:")) {
				written++
			}
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return written
}
