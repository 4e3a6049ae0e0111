package scan

import (
	"bytes"
	"go/ast"
	"os"
	"slices"
	"strings"

	"golang.org/x/tools/go/packages"

	"github.com/aqltag/aqltag/internal/diag"
	"github.com/aqltag/aqltag/internal/scan/source"
)

const nolintPrefix = "//aql:nolint"

// silence removes the warnings and notes on lines that an //aql:nolint comment covers, and warns of comments that cover
// none. Errors stay, since a package with errors is not generated; but for secrets in results, which are errors of lint
// alone.
func (s *scanner) silence(roots []*packages.Package) {
	for _, root := range roots {
		for _, file := range root.Syntax {
			for _, group := range file.Comments {
				for _, comment := range group.List {
					if strings.HasPrefix(comment.Text, nolintPrefix+" ") {
						s.silenceBy(group, comment)
					}
				}
			}
		}
	}
}

// silenceBy applies one comment. Behind code it covers its line; otherwise its group of comments and the line below.
func (s *scanner) silenceBy(group *ast.CommentGroup, comment *ast.Comment) {
	at := s.Position(comment.Pos())
	first, last := at.Line, at.Line
	if s.startsLine(at.File, comment) {
		first, last = s.Position(group.Pos()).Line, s.Position(group.End()).Line+1
	}
	before := len(s.Diagnostics)
	s.Diagnostics = slices.DeleteFunc(s.Diagnostics, func(d diag.Diagnostic) bool {
		return (d.Severity != diag.Error || d.Kind == diag.KindSecret) && d.Position.File == at.File &&
			first <= d.Position.Line && d.Position.Line <= last
	})
	if len(s.Diagnostics) == before {
		s.Report(source.SpanOf(comment), diag.Diagnostic{
			Severity: diag.Warning, Code: diag.CodeUnresolved,
			Message:    "//aql:nolint silences nothing: there is no warning on the line it is for",
			Suggestion: "remove it, or put it right above the line or behind it",
		})
	}
}

// startsLine reports whether only white space precedes a comment on its line.
func (s *scanner) startsLine(filename string, comment *ast.Comment) bool {
	source, err := os.ReadFile(filename)
	offset := s.Fset.PositionFor(comment.Pos(), false).Offset
	if err != nil || offset > len(source) {
		return true
	}
	line := source[bytes.LastIndexByte(source[:offset], '\n')+1 : offset]
	return len(bytes.TrimSpace(line)) == 0
}
