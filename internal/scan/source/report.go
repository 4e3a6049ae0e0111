package source

import (
	"go/ast"
	"go/token"
	"maps"
	"slices"
	"strconv"
	"strings"

	"golang.org/x/tools/go/packages"

	"github.com/aqltag/aqltag/internal/diag"
	"github.com/aqltag/aqltag/model"
	"github.com/aqltag/aqltag/tagparse"
)

// Span is the bytes that a diagnostic is about.
type Span struct{ Start, End token.Pos }

// Report adds a diagnostic about s. Its severity is Error if it has none.
func (p *Program) Report(s Span, d diag.Diagnostic) {
	d.Position = p.Position(s.Start)
	if s.End > s.Start {
		d.EndColumn = d.Position.Column + int(s.End-s.Start)
	}
	if d.Severity == "" {
		d.Severity = diag.Error
	}
	p.Diagnostics = append(p.Diagnostics, d)
}

// HasErrors reports whether an error was reported in the files of a package. Its operations may lack what they have
// without the mistake, so nobody can say then what is of no use to them.
func (p *Program) HasErrors(pkg *packages.Package) bool {
	return slices.ContainsFunc(p.Diagnostics, func(d diag.Diagnostic) bool {
		return d.Severity == diag.Error && slices.Contains(pkg.GoFiles, d.Position.File)
	})
}

// Related makes a Related placed at pos.
func (p *Program) Related(pos token.Pos, message string) diag.Related {
	return diag.Related{Position: p.Position(pos), Message: message}
}

// Position is the place of pos in its file. Only the //line directives that cgo writes count.
func (p *Program) Position(pos token.Pos) model.Position {
	pos, _, err := p.Loaded.Real(pos)
	if err != nil {
		p.Uncertain = true
	}
	at := p.Fset.PositionFor(pos, false)
	if strings.HasSuffix(at.Filename, ".cgo1.go") { // cgo made it from a file of the user's
		at = p.Fset.PositionFor(pos, true)
	}
	return model.Position{File: at.Filename, Line: at.Line, Column: at.Column}
}

// ReportSyntax reports the first syntax error of each file of a package; the others follow from it. With a file name it
// reports only that of the file.
func (p *Program) ReportSyntax(pkg *packages.Package, only string) {
	faults := make(map[string]diag.Diagnostic)
	for _, e := range pkg.Errors {
		position, ok := ErrorPosition(e)
		if !ok || e.Kind != packages.ParseError || p.IsGenerated(position.File) || only != "" && position.File != only {
			continue
		}
		if first, taken := faults[position.File]; !taken || diag.ComparePositions(position, first.Position) < 0 {
			faults[position.File] = diag.Diagnostic{
				Severity: diag.Error, Code: diag.CodeType, Position: position, Message: "syntax error: " + strings.TrimSpace(e.Msg),
			}
		}
	}
	for _, file := range slices.Sorted(maps.Keys(faults)) {
		p.Diagnostics = append(p.Diagnostics, faults[file])
	}
}

// ErrorPosition reads the place of a load error, `file:line:col` or `file:line`.
func ErrorPosition(e packages.Error) (model.Position, bool) {
	file, line, column := e.Pos, 0, 0
	for range 2 {
		colon := strings.LastIndexByte(file, ':')
		n, err := strconv.Atoi(file[colon+1:])
		if colon < 0 || err != nil {
			break
		}
		file, line, column = file[:colon], n, line
	}
	if line == 0 {
		return model.Position{}, false
	}
	return model.Position{File: file, Line: line, Column: max(column, 1)}, true
}

// EndOf is the place after a name.
func EndOf(pos token.Pos, name string) token.Pos { return pos + token.Pos(len(name)) }

// SpanOf is the span of a node.
func SpanOf(node ast.Node) Span {
	if node == nil {
		return Span{token.NoPos, token.NoPos}
	}
	return Span{node.Pos(), node.End()}
}

// ReportProblem reports a problem that tagparse found.
func (p *Program) ReportProblem(
	severity diag.Severity, problem tagparse.Problem, path string, place func(int) token.Pos,
) {
	p.Report(Span{place(problem.Offset), place(problem.End)}, diag.Diagnostic{
		Severity: severity, Code: problem.Code, Message: problem.Message, Expected: problem.Expected, Actual: problem.Actual,
		Suggestion: problem.Suggestion, FieldPath: path,
	})
}
