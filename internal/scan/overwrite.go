package scan

import (
	"path/filepath"

	"golang.org/x/tools/go/packages"

	"github.com/aqltag/aqltag/internal/diag"
	"github.com/aqltag/aqltag/internal/load"
	"github.com/aqltag/aqltag/model"
)

// checkOverwritten reports a file in the place of the generated file of a package that somebody else wrote. The
// scan leaves it out, and the generator would overwrite or remove it.
func (s *scanner) checkOverwritten(root *packages.Package) {
	dir := load.Directory(root)
	if dir == "" {
		return
	}
	filename, err := load.Foreign(dir)
	if err != nil || filename == "" {
		return // who writes the file reports the error
	}
	s.Diagnostics = append(s.Diagnostics, diag.Diagnostic{
		Severity: diag.Error, Code: diag.CodeName, Position: model.Position{File: filename, Line: 1, Column: 1},
		Message:    filepath.Base(filename) + " was not written by aql-tag, which overwrites the file of that name",
		Suggestion: "give it another name; if it can go, delete it",
	})
}
