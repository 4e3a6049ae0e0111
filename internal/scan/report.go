package scan

import (
	"fmt"
	"go/ast"
	"go/token"
	"maps"
	"slices"
	"strings"

	"github.com/aqltag/aqltag/model"
	"golang.org/x/tools/go/packages"
)

// span is the bytes a diagnostic is about.
type span struct{ start, end token.Pos }

// report adds d, placed at s.
func (p *program) report(s span, d Diagnostic) {
	d.Position = p.position(s.start)
	if s.end > s.start {
		d.EndColumn = d.Position.Column + int(s.end-s.start)
	}
	if d.Severity == "" {
		d.Severity = SeverityError
	}
	p.diagnostics = append(p.diagnostics, d)
}

// related makes a Related placed at pos.
func (p *program) related(pos token.Pos, message string) Related {
	return Related{Position: p.position(pos), Message: message}
}

// position is the place of pos in its file, whatever //line directives say, except those that cgo writes.
func (p *program) position(pos token.Pos) model.Position {
	pos, _, err := p.loaded.Real(pos)
	if err != nil {
		p.uncertain = true
	}
	at := p.fset.PositionFor(pos, false)
	if strings.HasSuffix(at.Filename, ".cgo1.go") { // what cgo made of a file of the user's
		at = p.fset.PositionFor(pos, true)
	}
	return model.Position{File: at.Filename, Line: at.Line, Column: at.Column}
}

// reportSyntax reports the syntax errors of a package's own files, the first of each file: the others follow from it.
// With a file name it reports that file alone.
func (p *program) reportSyntax(pkg *packages.Package, only string) {
	faults := make(map[string]Diagnostic)
	for _, e := range pkg.Errors {
		position, ok := errorPosition(e)
		if !ok || e.Kind != packages.ParseError || p.isGenerated(position.File) || only != "" && position.File != only {
			continue
		}
		if first, taken := faults[position.File]; !taken || comparePositions(position, first.Position) < 0 {
			faults[position.File] = Diagnostic{
				Severity: SeverityError, Code: codeType, Position: position, Message: "syntax error: " + strings.TrimSpace(e.Msg),
			}
		}
	}
	for _, file := range slices.Sorted(maps.Keys(faults)) {
		p.diagnostics = append(p.diagnostics, faults[file])
	}
}

// errorPosition reads the place of a load error, `file:line:col` or `file:line`.
func errorPosition(e packages.Error) (model.Position, bool) {
	file, line, column := e.Pos, 0, 0
	for range 2 {
		rest, number, ok := cutLast(file, ":")
		n := 0
		if _, err := fmt.Sscanf(number, "%d", &n); !ok || err != nil {
			break
		}
		file, line, column = rest, n, line
	}
	if line == 0 {
		return model.Position{}, false
	}
	return model.Position{File: file, Line: line, Column: max(column, 1)}, true
}

func cutLast(s, sep string) (before, after string, found bool) {
	if i := strings.LastIndex(s, sep); i >= 0 {
		return s[:i], s[i+len(sep):], true
	}
	return s, "", false
}

// endOf is the place after a name.
func endOf(pos token.Pos, name string) token.Pos { return pos + token.Pos(len(name)) }

// spanOf is where an expression stands.
func spanOf(node ast.Node) span {
	if node == nil {
		return span{token.NoPos, token.NoPos}
	}
	return span{node.Pos(), node.End()}
}
