package scan

import (
	"fmt"
	"go/ast"
	"go/token"
	"go/types"
	"reflect"
	"strings"

	"github.com/aqltag/aqltag/internal/diag"
	"github.com/aqltag/aqltag/internal/scan/shapes"
	"github.com/aqltag/aqltag/internal/scan/source"
	"github.com/aqltag/aqltag/internal/scan/tags"
	"github.com/aqltag/aqltag/tagparse"
)

// isAboutTypes reports whether a directive is about a type or field, for all operations of its package. It may stand
// anywhere in a file.
func isAboutTypes(name string) bool { return name == "type" || name == "hide" }

// typeDirectives are the //aql:type and //aql:hide directives of a package, with the mistakes in them.
type typeDirectives struct {
	shapes.Directives
	mistakes []func()
}

// readTypeDirectives reads the directives of a package about types. It reports nothing yet.
func readTypeDirectives(p *source.Program, own *types.Package) *typeDirectives {
	found := &typeDirectives{Directives: shapes.Directives{
		Types: make(map[*types.TypeName]*shapes.TypeDirective), Hidden: make(map[*types.Var]*shapes.HideDirective),
	}}
	root := p.Packages[own]
	if root == nil {
		return found
	}
	for _, file := range root.Syntax {
		for _, group := range file.Comments {
			for _, comment := range group.List {
				if strings.HasPrefix(comment.Text, "//aql:type") || strings.HasPrefix(comment.Text, "//aql:hide") {
					found.read(&resolver{p, own, file}, comment)
				}
			}
		}
	}
	return found
}

// read reads one directive.
func (t *typeDirectives) read(r *resolver, comment *ast.Comment) {
	place := func(i int) token.Pos { return comment.Pos() + 2 + token.Pos(i) }
	d, problems, ok := tagparse.ParseDirective(strings.TrimPrefix(comment.Text, "//"))
	if !ok || !isAboutTypes(d.Name) {
		return
	}
	for _, problem := range problems {
		t.mistakes = append(t.mistakes, func() { r.ReportProblem(diag.Error, problem, "", place) })
	}
	if len(problems) > 0 {
		return
	}
	at := source.SpanOf(comment)
	target := source.Span{Start: place(d.TextOffset), End: place(d.TextOffset + len(d.About))}
	mistake := func(code, message, suggestion string) {
		t.mistakes = append(t.mistakes, func() {
			r.Report(target, diag.Diagnostic{Code: code, Actual: d.About, Message: message, Suggestion: suggestion})
		})
	}
	name, field := d.About, ""
	if d.Name == "hide" {
		last := strings.LastIndexByte(name, '.')
		name, field = name[:last], name[last+1:]
	}
	object, message, suggestion := r.find(name)
	if object == nil {
		mistake(diag.CodeUnresolved, fmt.Sprintf("//aql:%s: %s", d.Name, message), suggestion)
		return
	}
	if d.Name == "type" {
		if t.Types[object] != nil {
			mistake(diag.CodeDuplicate, fmt.Sprintf("there is more than one //aql:type of %s", name), "say all in one of them")
			return
		}
		t.Types[object] = &shapes.TypeDirective{Items: tags.Place(d.Items, place), At: at}
		return
	}
	v, names := r.field(object, field)
	if v == nil {
		mistake(diag.CodeUnresolved, fmt.Sprintf("//aql:hide: %s has no field %s", name, field),
			diag.DidYouMean(field, names))
		return
	}
	t.Hidden[v] = &shapes.HideDirective{At: at}
}

// report reports the mistakes, and the directives that are about nothing that the operations mention.
func (t *typeDirectives) report(p *source.Program) {
	for _, mistake := range t.mistakes {
		mistake()
	}
	unused := func(at source.Span, used bool, message string) {
		if !used {
			p.Report(at, diag.Diagnostic{
				Severity: diag.Warning, Code: diag.CodeUnresolved, Message: message, Suggestion: "remove it",
			})
		}
	}
	for object, d := range t.Types {
		unused(d.At, d.Used, fmt.Sprintf("//aql:type has no effect: no operation of the package mentions %s", object.Name()))
	}
	for v, d := range t.Hidden {
		unused(d.At, d.Used, fmt.Sprintf("//aql:hide has no effect: no operation of the package mentions a type with %s",
			v.Name()))
	}
}

// resolver finds the types that comments in a file name.
type resolver struct {
	*source.Program
	own  *types.Package
	file *ast.File
}

// find finds a type by the name that the file has for it, or by the import path of its package. A name with brackets,
// as of a generic type, is not one.
func (r *resolver) find(name string) (object *types.TypeName, message, suggestion string) {
	qualifier, typeName := "", name
	if dot := strings.LastIndexByte(name, '.'); dot >= 0 {
		qualifier, typeName = name[:dot], name[dot+1:]
	}
	pkg := r.own
	if qualifier != "" {
		if pkg = r.imported(qualifier); pkg == nil {
			return nil, fmt.Sprintf("this file imports no package %s that the operations need", qualifier),
				"import it here, or write its whole import path"
		}
	}
	scope := r.ScopeOf(pkg)
	object, _ = scope.Lookup(typeName).(*types.TypeName)
	if object == nil {
		suggestion := diag.DidYouMean(typeName, scope.Names())
		if elsewhere := r.elsewhere(typeName); qualifier == "" && elsewhere != "" {
			suggestion = fmt.Sprintf("did you mean %q?", elsewhere)
		}
		return nil, fmt.Sprintf("package %s has no type %s", pkg.Name(), typeName), suggestion
	}
	named, ok := types.Unalias(object.Type()).(*types.Named)
	if !ok {
		return nil, fmt.Sprintf("%s is no named type", name), "name the type itself"
	}
	return named.Origin().Obj(), "", ""
}

// elsewhere is the name that the file has for a type of a package that it imports; empty: no such package has the type.
func (r *resolver) elsewhere(typeName string) string {
	for _, spec := range r.file.Imports {
		qualifier := importedName(r.Packages[r.own], spec)
		if spec.Name != nil {
			qualifier = spec.Name.Name
		}
		if qualifier == "_" || qualifier == "." {
			qualifier = source.ImportPath(spec)
		}
		pkg := r.imported(qualifier)
		if pkg == nil {
			continue
		}
		if object, ok := r.ScopeOf(pkg).Lookup(typeName).(*types.TypeName); ok && object.Exported() {
			return qualifier + "." + typeName
		}
	}
	return ""
}

// imported finds a package by the name that the file has for it, or by its import path.
func (r *resolver) imported(qualifier string) *types.Package {
	path := qualifier
	for _, spec := range r.file.Imports {
		name := importedName(r.Packages[r.own], spec)
		if spec.Name != nil {
			name = spec.Name.Name
		}
		if name == qualifier {
			path = source.ImportPath(spec)
		}
	}
	for pkg := range r.Packages {
		if pkg.Path() == path {
			return pkg
		}
	}
	return reachable(r.own, path)
}

// reachable finds a package by its import path among those that a package imports, directly or through others; nil: it
// is none of them.
func reachable(from *types.Package, path string) *types.Package {
	visited := map[*types.Package]bool{from: true}
	for queue := []*types.Package{from}; len(queue) > 0; queue = queue[1:] {
		for _, pkg := range queue[0].Imports() {
			if pkg.Path() == path {
				return pkg
			}
			if !visited[pkg] {
				visited[pkg] = true
				queue = append(queue, pkg)
			}
		}
	}
	return nil
}

// field finds a field of a struct type, or of one that it embeds, by its name in Go or in the json tag. names are those
// of the fields.
func (r *resolver) field(object *types.TypeName, name string) (found *types.Var, names []string) {
	if field, _, _ := types.LookupFieldOrMethod(object.Type(), true, object.Pkg(), name); field != nil {
		if v, ok := field.(*types.Var); ok {
			return v.Origin(), nil
		}
	}
	st, ok := object.Type().Underlying().(*types.Struct)
	if !ok {
		return nil, nil
	}
	for i := range st.NumFields() {
		jsonName, _, _ := strings.Cut(reflect.StructTag(st.Tag(i)).Get("json"), ",")
		if names = append(names, st.Field(i).Name()); jsonName == name {
			return st.Field(i).Origin(), nil
		}
	}
	return nil, names
}

// nameFor is how a directive in the file of a place names something of a package: with the name that the file has for
// the package, or with the import path.
func (b *builder) nameFor(pkg *types.Package, name string, at source.Span) string {
	if pkg == b.own {
		return name
	}
	qualifier := pkg.Path()
	for _, file := range b.Packages[b.own].Syntax {
		if at.Start < file.FileStart || file.FileEnd < at.Start {
			continue
		}
		for _, spec := range file.Imports {
			own := importedName(b.Packages[b.own], spec)
			if spec.Name != nil {
				own = spec.Name.Name
			}
			if source.ImportPath(spec) == pkg.Path() && own != "_" && own != "." {
				qualifier = own
			}
		}
	}
	return qualifier + "." + name
}
