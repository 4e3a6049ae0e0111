package scan

import (
	"fmt"
	"go/ast"
	"go/token"

	"golang.org/x/tools/go/packages"

	"github.com/aqltag/aqltag/internal/diag"
	"github.com/aqltag/aqltag/internal/scan/source"
	"github.com/aqltag/aqltag/runtime/words"
)

// checkControls reports characters in comments and struct tags that make source look like another one, or hide text in
// it: agents would read what reviewers do not see. The Go compiler accepts them. Comments in the bodies of functions
// describe nothing.
func (s *scanner) checkControls(root *packages.Package) {
	for _, file := range root.Syntax {
		ast.Inspect(file, func(node ast.Node) bool {
			if field, ok := node.(*ast.Field); ok && field.Tag != nil {
				s.checkText(field.Tag.Pos(), field.Tag.Value, "struct tag")
			}
			return true
		})
		groups := file.Comments
		for i, decl := range file.Decls {
			function, ok := decl.(*ast.FuncDecl)
			if !ok {
				continue
			}
			next := file.FileEnd
			if i+1 < len(file.Decls) {
				next = startOf(file.Decls[i+1])
			}
			groups = s.checkComments(groups, function.Type.End())
			for len(groups) > 0 && groups[0].Pos() < next { // one of the loaders drops the body
				groups = groups[1:]
			}
		}
		s.checkComments(groups, file.FileEnd)
	}
}

// startOf is where a declaration starts, with its comment.
func startOf(decl ast.Decl) token.Pos {
	switch decl := decl.(type) {
	case *ast.FuncDecl:
		if decl.Doc != nil {
			return decl.Doc.Pos()
		}
	case *ast.GenDecl:
		if decl.Doc != nil {
			return decl.Doc.Pos()
		}
	}
	return decl.Pos()
}

// checkComments checks the comments that start before a place, and returns the others.
func (s *scanner) checkComments(groups []*ast.CommentGroup, before token.Pos) []*ast.CommentGroup {
	for len(groups) > 0 && groups[0].Pos() < before {
		for _, comment := range groups[0].List {
			s.checkText(comment.Pos(), comment.Text, "comment")
		}
		groups = groups[1:]
	}
	return groups
}

// checkText reports the first such character of each line of a text in source.
func (s *scanner) checkText(at token.Pos, text, what string) {
	reported := false
	for i, r := range text {
		switch {
		case r == '\n':
			reported = false
		case words.IsControl(r) && r != '\r' && !reported:
			reported = true
			start := at + token.Pos(i)
			s.Report(source.Span{Start: start, End: start + token.Pos(len(string(r)))}, diag.Diagnostic{
				Code:       diag.CodeName,
				Message:    fmt.Sprintf("the %s has the character %U, which hides text or changes how it looks", what, r),
				Suggestion: "remove it",
			})
		}
	}
}
