package main

import (
	"strings"

	"golang.org/x/tools/go/analysis/unitchecker"

	"github.com/aqltag/aqltag/aqlvet"
)

// isVettool reports whether the go command drives this process, as `go vet -vettool=aql-tag` does: it asks for the
// version and the flags first, and then names a configuration file for each package.
func isVettool(args []string) bool {
	return len(args) > 0 && (args[0] == "-V=full" || args[0] == "-flags" || strings.HasSuffix(args[len(args)-1], ".cfg"))
}

// runVettool does not return.
func runVettool() { unitchecker.Main(aqlvet.Analyzer) }
