// Package aqlvet is aql-tag's linter as an analyzer for the drivers of golang.org/x/tools/go/analysis: go vet (aql-tag
// itself is the tool for its -vettool flag), multichecker binaries, and golangci-lint by the plugin in the folder
// golangci. It reports what `aql-tag lint` reports.
package aqlvet

import (
	"context"
	"fmt"
	"go/ast"
	"go/token"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"

	"golang.org/x/tools/go/analysis"

	"github.com/aqltag/aqltag/internal/diag"
	"github.com/aqltag/aqltag/internal/scan"
	"github.com/aqltag/aqltag/model"
)

// Analyzer reports mistakes in aql tags and directives, and what could serve agents better.
var Analyzer = newAnalyzer()

func newAnalyzer() *analysis.Analyzer {
	a := &analysis.Analyzer{
		Name: "aqltag",
		Doc: "check aql tags and directives\n\n" +
			"Reports mistakes in aql struct tags and //aql: directives, types that agents cannot be given, and missing " +
			"descriptions and examples: all that `aql-tag lint` reports.",
	}
	tags := a.Flags.String("tags", "", "build tags, comma-separated")
	a.Run = func(pass *analysis.Pass) (any, error) { return nil, run(pass, *tags) }
	return a
}

// run scans the directory of the package. The scanner reads the comments of other packages too, which a pass does not
// have. Packages without aql tags and directives are not scanned.
func run(pass *analysis.Pass, tags string) error {
	files := make(map[string]*token.File)
	dir, mentioned := "", false
	for _, file := range pass.Files {
		if ast.IsGenerated(file) {
			continue
		}
		name := pass.Fset.PositionFor(file.FileStart, false).Filename
		if strings.HasSuffix(name, "_test.go") {
			continue
		}
		files[filepath.Clean(name)] = pass.Fset.File(file.FileStart)
		dir, mentioned = filepath.Dir(name), mentioned || mentions(file)
	}
	if !mentioned {
		return nil
	}
	options := scan.Options{Dir: dir, Lint: true}
	if tags != "" {
		options.Tags = strings.Split(tags, ",")
	}
	result, err := scan.Load(context.Background(), options)
	if err != nil {
		return fmt.Errorf("scanning %s: %w", dir, err)
	}
	for _, d := range result.Diagnostics {
		if file := files[d.Position.File]; file != nil {
			pass.Report(convert(pass, file, files, d))
		}
	}
	return nil
}

// mentions reports whether a file has aql tags or directives.
func mentions(file *ast.File) bool {
	for _, group := range file.Comments {
		for _, comment := range group.List {
			if strings.HasPrefix(comment.Text, "//aql") {
				return true
			}
		}
	}
	found := false
	ast.Inspect(file, func(node ast.Node) bool {
		if field, ok := node.(*ast.Field); ok && field.Tag != nil && strings.Contains(field.Tag.Value, "aql") {
			found = true
		}
		return !found
	})
	return found
}

func convert(
	pass *analysis.Pass, file *token.File, files map[string]*token.File, d diag.Diagnostic,
) analysis.Diagnostic {
	out := analysis.Diagnostic{Pos: place(file, d.Position), Category: d.Code, Message: d.Message}
	if d.EndColumn > d.Position.Column {
		out.End = out.Pos + token.Pos(d.EndColumn-d.Position.Column)
	}
	if d.Suggestion != "" {
		out.Message += " (" + d.Suggestion + ")"
	}
	for _, related := range d.Related {
		if file := files[related.Position.File]; file != nil {
			out.Related = append(out.Related, analysis.RelatedInformation{
				Pos: place(file, related.Position), Message: related.Message,
			})
		}
	}
	if text, ok := replacement(pass, out, d); ok {
		out.SuggestedFixes = []analysis.SuggestedFix{{
			Message:   "replace it by " + strconv.Quote(text),
			TextEdits: []analysis.TextEdit{{Pos: out.Pos, End: out.End, NewText: []byte(text)}},
		}}
	}
	return out
}

func place(file *token.File, at model.Position) token.Pos {
	if at.Line < 1 || at.Line > file.LineCount() {
		return file.Pos(0)
	}
	return min(file.LineStart(at.Line)+token.Pos(at.Column-1), token.Pos(file.Base()+file.Size()))
}

var oneWord = regexp.MustCompile(`^(?:(?:did you mean|use) "([^"]+)"\??|([a-z_]+))$`)

// replacement returns the text to replace what a diagnostic is about, if its suggestion is such a text.
func replacement(pass *analysis.Pass, at analysis.Diagnostic, d diag.Diagnostic) (string, bool) {
	match := oneWord.FindStringSubmatch(d.Suggestion)
	if match == nil || d.Actual == "" || !at.End.IsValid() {
		return "", false
	}
	word := match[1] + match[2]
	source, err := pass.ReadFile(d.Position.File)
	if err != nil {
		return "", false
	}
	file := pass.Fset.File(at.Pos)
	from, to := file.Offset(at.Pos), file.Offset(at.End)
	switch written := string(source[from:to]); written {
	case d.Actual:
		return word, true
	case strconv.Quote(d.Actual):
		return strconv.Quote(word), true
	default:
		return "", false
	}
}
