package scan

import (
	"fmt"
	"go/ast"
	"slices"
	"strings"

	"golang.org/x/tools/go/packages"

	"github.com/aqltag/aqltag/internal/diag"
	"github.com/aqltag/aqltag/internal/scan/source"
	"github.com/aqltag/aqltag/tagparse"
)

// reportDetached reports the directives of a package that are about a function and not in the comment of one.
func (s *scanner) reportDetached(root *packages.Package) {
	for _, file := range root.Syntax {
		for _, group := range file.Comments {
			if slices.ContainsFunc(group.List, func(c *ast.Comment) bool { return isAdoption(c.Text) }) {
				continue
			}
			for _, comment := range group.List {
				if !strings.HasPrefix(comment.Text, "//aql:") {
					continue
				}
				d, _, _ := tagparse.ParseDirective(strings.TrimPrefix(comment.Text, "//"))
				if d.Name == "nolint" || d.Name == "names" || isAboutTypes(d.Name) {
					continue
				}
				if where, suggestion := placeOf(file, group); where != "" {
					s.Report(source.SpanOf(comment), diag.Diagnostic{
						Code: diag.CodeUnresolved, Actual: d.Name,
						Message:    fmt.Sprintf("//aql:%s has no effect: %s", d.Name, where),
						Suggestion: suggestion,
					})
				}
			}
		}
	}
}

// placeOf says where a comment stands, and what to do about it; where is empty if it is the comment of a function.
func placeOf(file *ast.File, group *ast.CommentGroup) (where, suggestion string) {
	const move = "put it into the comment above a function or method"
	for _, decl := range file.Decls {
		switch decl := decl.(type) {
		case *ast.FuncDecl:
			switch {
			case decl.Doc == group:
				return "", ""
			case decl.Pos() <= group.Pos() && group.End() <= decl.End():
				return fmt.Sprintf("it stands inside of %s, and not above it", decl.Name.Name), move
			case group.End() < decl.Pos():
				return fmt.Sprintf("a line that is no comment separates it from %s", decl.Name.Name),
					"remove what is between the two"
			}
		case *ast.GenDecl:
			if decl.Doc != group && (group.Pos() < decl.Pos() || decl.End() < group.End()) {
				if group.End() < decl.Pos() {
					return "no function follows it", move
				}
				continue
			}
			if isInInterface(decl, group) {
				return "a method of an interface has no body to call", "put it above a method of the type that implements it"
			}
			return fmt.Sprintf("it is about a %s, and not about a function", decl.Tok), move
		}
	}
	return "no function follows it", move
}

// isInInterface reports whether a comment is among the methods of an interface.
func isInInterface(decl *ast.GenDecl, group *ast.CommentGroup) bool {
	return slices.ContainsFunc(decl.Specs, func(spec ast.Spec) bool {
		declared, ok := spec.(*ast.TypeSpec)
		if !ok {
			return false
		}
		_, isInterface := declared.Type.(*ast.InterfaceType)
		return isInterface && declared.Type.Pos() <= group.Pos() && group.End() <= declared.Type.End()
	})
}

// standsApart reports whether an //aql:op stands above a function, but not in its comment.
func (s *scanner) standsApart(root *packages.Package, decl *ast.FuncDecl) bool {
	for _, file := range root.Syntax {
		if decl.Pos() < file.FileStart || file.FileEnd <= decl.Pos() {
			continue
		}
		begin := file.Name.End()
		for _, other := range file.Decls {
			if other.End() <= decl.Pos() {
				begin = max(begin, other.End())
			}
		}
		return slices.ContainsFunc(file.Comments, func(group *ast.CommentGroup) bool {
			return begin <= group.Pos() && group.End() <= decl.Pos() && group != decl.Doc &&
				slices.ContainsFunc(group.List, func(c *ast.Comment) bool {
					d, _, _ := tagparse.ParseDirective(strings.TrimPrefix(c.Text, "//"))
					return strings.HasPrefix(c.Text, "//aql:") && d.Name == "op"
				})
		})
	}
	return false
}
