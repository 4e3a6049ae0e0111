package scan

import (
	"fmt"
	"go/ast"
	"go/token"
	"go/types"
	"slices"
	"strings"

	"golang.org/x/tools/go/packages"

	"github.com/aqltag/aqltag/internal/diag"
	"github.com/aqltag/aqltag/internal/scan/gotype"
	"github.com/aqltag/aqltag/internal/scan/shapes"
	"github.com/aqltag/aqltag/internal/scan/source"
	"github.com/aqltag/aqltag/internal/scan/tags"
	"github.com/aqltag/aqltag/tagparse"
)

// operation is a function that is the handler of an operation, or has a tag or directive of one.
type operation struct {
	pkg        *packages.Package
	decl       *ast.FuncDecl // nil: adopted says what it is
	adopted    *adoption
	fn         *types.Func
	directives []directive
	request    types.Type // the request struct
	pointer    bool       // the function takes a pointer to it
	context    bool
	run        bool         // the last parameter is a *aql.Run: it runs in the background
	http       *httpCall    // of a handler of a web framework
	arguments  []*types.Var // of a handler without a request struct
	result     types.Type   // the result before the error; nil: there is none
	query      types.Type   // aql.Query of what the function lists, which knows nothing of it; nil: it is no such function
	tagged     bool         // the request struct has the tag; otherwise an //aql:op directive made it an operation
	items      []tags.Item
	itemsAt    source.Span // the tag or the directive
	faulty     bool        // the tag or directive has mistakes
	misfit     *shapes.Fault
}

// directive is an aql comment line above a handler.
type directive struct {
	tagparse.Directive
	at     source.Span // the whole line
	text   source.Span
	param  token.Pos // of Param, if there is one
	items  []tags.Item
	faulty bool
}

func (o operation) name() string { return o.fn.Name() }

// at is where the package names the function.
func (o operation) at() source.Span {
	if o.adopted != nil {
		return o.adopted.at
	}
	return source.SpanOf(o.decl.Name)
}

// resultSpan is where the type of the result is written.
func (o operation) resultSpan() source.Span {
	if o.adopted != nil {
		return o.adopted.at
	}
	return source.SpanOf(o.decl.Type.Results.List[0].Type)
}

// doc is the function's comment.
func (o operation) doc() *ast.CommentGroup {
	if o.adopted != nil {
		return o.adopted.doc
	}
	return o.decl.Doc
}

// findOperations returns the operations among the functions of a package, in source order.
func (s *scanner) findOperations(root *packages.Package) []operation {
	if root.Types == nil {
		return nil
	}
	s.reportDetached(root)
	functions := declaredFunctions(root.Types)
	var decls []*ast.FuncDecl
	for _, file := range root.Syntax {
		for _, decl := range file.Decls {
			if fn, ok := decl.(*ast.FuncDecl); ok {
				decls = append(decls, fn)
			}
		}
	}
	slices.SortFunc(decls, func(a, b *ast.FuncDecl) int { return s.Before(a.Pos(), b.Pos()) })

	var found []operation
	for _, decl := range decls {
		directives := directivesOf(s.Program, decl)
		fn := functions[decl.Name.Pos()]
		if fn == nil {
			continue
		}
		directives = s.takeComputed(root.Types, fn, decl, directives)
		o := operation{pkg: root, decl: decl, fn: fn, directives: directives}
		s.noteLoaders(o)
		if s.recognise(&o) {
			found = append(found, o)
			continue
		}
		if len(directives) > 0 && s.standsApart(root, decl) {
			continue // reportDetached says so
		}
		for _, d := range directives {
			// adopt is reported, names is about the package, and a loader need not be a handler
			if d.Name == "nolint" || d.Name == "adopt" || d.Name == "names" || d.Name == "relation" {
				continue
			}
			s.Report(d.at, diag.Diagnostic{
				Severity: diag.Warning, Code: diag.CodeUnresolved,
				Message:    fmt.Sprintf("//aql:%s has no effect: %s is not an operation", d.Name, decl.Name.Name),
				Suggestion: "give its request struct a blank field with an aql tag, or the function an //aql:op directive",
			})
		}
	}
	return append(found, s.findAdoptions(root)...)
}

// declaredFunctions finds the functions and methods of a package by the position of their name.
func declaredFunctions(pkg *types.Package) map[token.Pos]*types.Func {
	functions := make(map[token.Pos]*types.Func)
	for _, name := range pkg.Scope().Names() {
		switch object := pkg.Scope().Lookup(name).(type) {
		case *types.Func:
			functions[object.Pos()] = object
		case *types.TypeName:
			if named, ok := object.Type().(*types.Named); ok {
				for method := range named.Methods() {
					functions[method.Pos()] = method
				}
			}
		}
	}
	return functions
}

// directivesOf reads the aql directives above a function.
func directivesOf(p *source.Program, decl *ast.FuncDecl) []directive {
	if decl.Doc == nil {
		return nil
	}
	return directivesIn(p, decl.Doc, decl.Name.Name)
}

// directivesIn reads the aql directives of a comment. about is what they are about, for messages.
func directivesIn(p *source.Program, group *ast.CommentGroup, about string) []directive {
	var out []directive
	for _, comment := range group.List {
		line, ok := strings.CutPrefix(comment.Text, "//")
		if !ok {
			continue
		}
		place := func(i int) token.Pos { return comment.Pos() + 2 + token.Pos(i) }
		parsed, problems, ok := tagparse.ParseDirective(line)
		if isAboutTypes(parsed.Name) {
			continue // it is not about the function
		}
		for _, problem := range problems {
			severity := diag.Error
			if !ok { // Go takes it for a plain comment
				severity = diag.Warning
			}
			p.ReportProblem(severity, problem, about, place)
		}
		if !ok {
			continue
		}
		out = append(out, directive{
			Directive: parsed, at: source.SpanOf(comment), items: tags.Place(parsed.Items, place), faulty: len(problems) > 0,
			text:  source.Span{Start: place(parsed.TextOffset), End: place(parsed.TextOffset + len(parsed.Text))},
			param: place(parsed.ParamOffset),
		})
	}
	return out
}

// recognise reports whether a function has a tag or directive of an operation, and if so fills in o.
func (s *scanner) recognise(o *operation) bool {
	signature := o.fn.Signature()
	for v := range signature.Params().Variables() {
		t, _ := requestType(v.Type(), signature.Variadic())
		if t == nil {
			continue
		}
		if tag, ok := s.operationTag(t); ok {
			o.request, o.tagged = t, true
			o.items, o.itemsAt, o.faulty = tag.Items, tag.TagAt, tag.Faulty
		}
	}
	for _, d := range o.directives {
		if d.Name != "op" {
			continue
		}
		if o.tagged {
			s.Report(d.at, diag.Diagnostic{
				Code: diag.CodeDuplicate, FieldPath: o.name(),
				Message: fmt.Sprintf("%s is an operation twice: by this directive and by the tag of %s", o.name(),
					gotype.Name(o.request)),
				Suggestion: "remove one of them",
				Related:    []diag.Related{s.Related(o.itemsAt.Start, "the tag is here")},
			})
			continue
		}
		o.items, o.itemsAt, o.faulty = d.items, d.at, d.faulty
		o.misfit = checkSignature(s.Program, o)
		return true
	}
	if !o.tagged {
		return false
	}
	o.misfit = checkSignature(s.Program, o)
	return true
}

// requestType is the named struct that a parameter type is or points to.
func requestType(t types.Type, variadic bool) (request types.Type, pointer bool) {
	t = types.Unalias(t)
	if slice, ok := t.(*types.Slice); ok && variadic {
		t = types.Unalias(slice.Elem())
	}
	if p, ok := t.(*types.Pointer); ok {
		t, pointer = types.Unalias(p.Elem()), true
	}
	if _, ok := t.Underlying().(*types.Struct); !ok {
		return nil, false
	}
	if _, ok := t.(*types.Named); !ok {
		return nil, false
	}
	return t, pointer
}

// operationTag returns the tag of the blank field that makes t a request struct.
func (s *scanner) operationTag(t types.Type) (tags.Tag, bool) {
	st, ok := t.Underlying().(*types.Struct)
	if !ok {
		return tags.Tag{}, false
	}
	for i := range st.NumFields() {
		if v := st.Field(i); v.Name() == "_" && st.Tag(i) != "" {
			if tag := s.tags.Read(v, gotype.Name(t)); tag.HasAQL {
				return tag, true
			}
		}
	}
	return tags.Tag{}, false
}
