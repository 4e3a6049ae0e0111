package source

import (
	"fmt"
	"go/ast"
	"go/types"
	"path"
	"path/filepath"
	"strconv"
	"strings"

	"golang.org/x/tools/go/packages"

	"github.com/aqltag/aqltag/internal/diag"
)

// ReportInvalid reports a type with errors: by the type checker's own message, or by the import that failed. within is
// where the type is written, in package pkg.
func (p *Program) ReportInvalid(pkg *types.Package, within Span, fieldPath string) {
	loaded := p.Packages[pkg]
	if loaded == nil {
		p.Report(within, diag.Diagnostic{Code: diag.CodeUnresolved, Message: "the type is not known", FieldPath: fieldPath})
		return
	}
	if fault, ok := typeErrorIn(loaded, within); ok {
		p.reportTypeError(loaded, fault, within, fieldPath)
		return
	}
	if spec := p.importIn(loaded, within); spec != nil {
		at := Span{spec.Path.Pos(), spec.Path.End()}
		message, suggestion := fmt.Sprintf("could not import %s", spec.Path.Value), ""
		if imported := loaded.Imports[ImportPath(spec)]; imported != nil && len(imported.Errors) > 0 {
			reason, advice, _ := strings.Cut(strings.TrimSpace(imported.Errors[0].Msg), "; to add it:")
			message += ": " + strings.Join(strings.Fields(reason), " ")
			if advice = strings.TrimSpace(advice); advice != "" {
				suggestion = "run " + advice
			}
		}
		p.Report(at, diag.Diagnostic{
			Code: diag.CodeUnresolved, Message: message, Suggestion: suggestion, FieldPath: fieldPath,
			Related: []diag.Related{p.Related(within.Start, "needed here")},
		})
		return
	}
	p.Report(within, diag.Diagnostic{Code: diag.CodeUnresolved, Message: "the type is not known", FieldPath: fieldPath})
}

// reportTypeError reports a type checker's error that affects an operation.
func (p *Program) reportTypeError(loaded *packages.Package, fault types.Error, within Span, fieldPath string) {
	d := diag.Diagnostic{Code: diag.CodeUnresolved, Message: fault.Msg, FieldPath: fieldPath}
	end := fault.Pos
	if name, ok := strings.CutPrefix(fault.Msg, "undefined: "); ok {
		dir := filepath.Dir(p.Position(fault.Pos).File)
		if pkgName, local, qualified := strings.Cut(name, "."); qualified {
			name = local
			if imported := p.importNamed(loaded, within, pkgName); imported != nil && len(imported.GoFiles) > 0 {
				dir = filepath.Dir(imported.GoFiles[0])
			}
		}
		end = EndOf(fault.Pos, name)
		if file := p.declaredInGenerated(dir, name); file != "" {
			d.Suggestion = fmt.Sprintf("%s is declared only in generated code (%s), which is not read; "+
				"declare it in a file of your own",
				name, file)
		}
	}
	p.Report(Span{fault.Pos, end}, d)
}

// typeErrorIn finds the first error that lies within s.
func typeErrorIn(loaded *packages.Package, s Span) (types.Error, bool) {
	for _, fault := range loaded.TypeErrors {
		if fault.Pos >= s.Start && fault.Pos < s.End {
			return fault, true
		}
	}
	return types.Error{}, false
}

// importIn finds an import that a type written within s mentions and that failed.
func (p *Program) importIn(loaded *packages.Package, s Span) *ast.ImportSpec {
	var found *ast.ImportSpec
	for _, file := range loaded.Syntax {
		if s.Start < file.FileStart || s.Start >= file.FileEnd {
			continue
		}
		ast.Inspect(file, func(node ast.Node) bool {
			if node == nil || node.End() <= s.Start || node.Pos() >= s.End {
				return false
			}
			selector, ok := node.(*ast.SelectorExpr)
			if !ok || selector.Pos() < s.Start || found != nil {
				return true
			}
			if name, ok := selector.X.(*ast.Ident); ok {
				if spec := importOf(file, name.Name); spec != nil {
					if _, failed := typeErrorIn(loaded, Span{spec.Path.Pos(), spec.Path.End()}); failed {
						found = spec
					}
				}
			}
			return true
		})
	}
	return found
}

// importNamed finds the package that name means at s.
func (p *Program) importNamed(loaded *packages.Package, s Span, name string) *packages.Package {
	for _, file := range loaded.Syntax {
		if s.Start < file.FileStart || s.Start >= file.FileEnd {
			continue
		}
		if spec := importOf(file, name); spec != nil {
			return loaded.Imports[ImportPath(spec)]
		}
		for _, spec := range file.Imports {
			if imported := loaded.Imports[ImportPath(spec)]; imported != nil && imported.Name == name {
				return imported
			}
		}
	}
	return nil
}

// importOf finds the import that name means, by the last element of the path if the import has no name.
func importOf(file *ast.File, name string) *ast.ImportSpec {
	for _, spec := range file.Imports {
		if spec.Name != nil && spec.Name.Name == name || spec.Name == nil && path.Base(ImportPath(spec)) == name {
			return spec
		}
	}
	return nil
}

// ImportPath returns the path of an import, empty if it is not a valid string.
func ImportPath(spec *ast.ImportSpec) string {
	text, err := strconv.Unquote(spec.Path.Value)
	if err != nil {
		return ""
	}
	return text
}
