package source

import (
	"go/ast"
	"go/token"
	"strings"
)

// ownDoc is the doc comment of specification i of a declaration, nil if it has none that is about it alone. The comment
// of a block in parentheses is about all that is in it. So is one above the first of several lines that have no comment
// of their own, unless it begins with the name of the first.
func (x *Index) ownDoc(decl *ast.GenDecl, i int) *ast.CommentGroup {
	if !decl.Lparen.IsValid() {
		return decl.Doc
	}
	doc, comment, names := commentsOf(decl.Specs[i])
	if doc == nil || i+1 == len(decl.Specs) || comment != nil {
		return doc
	}
	if len(names) == 1 && beginsWith(doc, names[0].Name) {
		return doc
	}
	next := decl.Specs[i+1]
	nextDoc, nextComment, _ := commentsOf(next)
	if nextDoc == nil && nextComment == nil && x.follows(decl.Specs[i], next) {
		return nil
	}
	return doc
}

// commentsOf returns the comments above and behind a specification, and the names that it declares.
func commentsOf(spec ast.Spec) (doc, comment *ast.CommentGroup, names []*ast.Ident) {
	switch spec := spec.(type) {
	case *ast.TypeSpec:
		return spec.Doc, spec.Comment, []*ast.Ident{spec.Name}
	case *ast.ValueSpec:
		return spec.Doc, spec.Comment, spec.Names
	}
	return nil, nil, nil
}

// beginsWith reports whether a comment begins with a name, perhaps behind an article.
func beginsWith(doc *ast.CommentGroup, name string) bool {
	words := strings.Fields(doc.Text())
	if len(words) > 1 && (words[0] == "A" || words[0] == "An" || words[0] == "The") {
		words = words[1:]
	}
	if len(words) == 0 {
		return false
	}
	// Generated code puts the name of the type in front of the name that the .proto file has.
	first := strings.TrimRight(words[0], ".,:;")
	return first == name || strings.HasSuffix(name, "_"+first)
}

// follows reports whether no line is between two specifications.
func (x *Index) follows(spec, next ast.Spec) bool {
	line := func(pos token.Pos) int { return x.fset.PositionFor(pos, false).Line }
	return line(next.Pos()) <= line(spec.End())+1
}
