package scan

import (
	"fmt"
	"go/ast"
	"go/token"
	"go/types"
	"maps"
	"slices"
	"strings"

	"golang.org/x/tools/go/packages"

	"github.com/aqltag/aqltag/internal/diag"
	"github.com/aqltag/aqltag/internal/scan/shapes"
	"github.com/aqltag/aqltag/internal/scan/source"
	"github.com/aqltag/aqltag/tagparse"
)

// adoption is how an //aql:adopt directive makes an operation of a function as it stands.
type adoption struct {
	at       source.Span       // the function's name in the directive
	doc      *ast.CommentGroup // the function's own comment
	receiver *types.TypeName   // the type in the directive; nil: a plain function
	pointer  bool              // the method needs a pointer, or the directive says one
	value    int               // index of the result that agents get; -1: there is none
	rest     bool              // the variadic argument is left out
}

// findAdoptions returns the operations that the //aql:adopt directives of a package make, in source order.
func (s *scanner) findAdoptions(root *packages.Package) []operation {
	var found []operation
	for _, file := range root.Syntax {
		if s.IsGenerated(s.Fset.PositionFor(file.FileStart, false).Filename) {
			continue
		}
		above := make(map[*ast.CommentGroup]bool) // comments of functions
		for _, decl := range file.Decls {
			if fn, ok := decl.(*ast.FuncDecl); ok && fn.Doc != nil {
				above[fn.Doc] = true
			}
		}
		for _, group := range file.Comments {
			adopts := slices.ContainsFunc(group.List, func(c *ast.Comment) bool { return isAdoption(c.Text) })
			switch {
			case adopts && above[group]:
				s.reportAdoptionAbove(group)
			case adopts:
				found = append(found, s.adoptionsIn(root, file, group)...)
			}
		}
	}
	return found
}

// isAdoption reports whether a comment is an //aql:adopt directive.
func isAdoption(comment string) bool {
	rest, ok := strings.CutPrefix(comment, "//aql:adopt")
	return ok && (rest == "" || rest[0] == ' ' || rest[0] == '\t' || rest[0] == '\r')
}

// reportAdoptionAbove reports an //aql:adopt directive that is part of a function's comment.
func (s *scanner) reportAdoptionAbove(group *ast.CommentGroup) {
	for _, comment := range group.List {
		if isAdoption(comment.Text) {
			s.Report(source.SpanOf(comment), diag.Diagnostic{
				Code: diag.CodeUnresolved, Message: "//aql:adopt stands in the comment of a function, and names another one",
				Suggestion: "put it into a comment of its own, with an empty line below; or use //aql:op for this function",
			})
		}
	}
}

// adoptionsIn returns the operations of one comment. Each //aql:adopt begins one; the directives below it are about it.
func (s *scanner) adoptionsIn(root *packages.Package, file *ast.File, group *ast.CommentGroup) []operation {
	var list []operation
	known := true // what the directives are about
	for _, d := range directivesIn(s.Program, group, "") {
		switch {
		case d.Name == "adopt":
			o, fault := s.adopt(root, file, d)
			if known = fault == nil; known {
				list = append(list, o)
			}
		case d.Name == "nolint" || !known:
		case len(list) == 0:
			s.Report(d.at, diag.Diagnostic{
				Severity: diag.Warning, Code: diag.CodeUnresolved,
				Message:    fmt.Sprintf("//aql:%s has no effect: it stands before the //aql:adopt that it is about", d.Name),
				Suggestion: "move it below",
			})
		case d.Name == "op":
			s.Report(d.at, diag.Diagnostic{
				Code: diag.CodeDuplicate, FieldPath: list[len(list)-1].name(),
				Message:    "the keys of an adopted operation stand in its //aql:adopt",
				Suggestion: "move them behind the name of the function, and remove this line",
			})
		default:
			o := &list[len(list)-1]
			o.directives = append(o.directives, d)
		}
	}
	return list
}

// adopt makes the operation of an //aql:adopt directive. It reports a target that cannot be found.
func (s *scanner) adopt(root *packages.Package, file *ast.File, d directive) (operation, *shapes.Fault) {
	t := d.Target
	place := func(offset int, text string) source.Span {
		start := d.text.Start + token.Pos(offset-d.TextOffset)
		return source.Span{Start: start, End: start + token.Pos(len(text))}
	}
	if t.Func == "" {
		return operation{}, &shapes.Fault{Invalid: true} // which is reported
	}
	at := place(t.FuncOffset, t.Func)
	report := func(at source.Span, actual string, fault *shapes.Fault) (operation, *shapes.Fault) {
		s.Report(at, diag.Diagnostic{
			Code: diag.CodeUnresolved, Message: fault.Message, Suggestion: fault.Suggestion, Actual: actual,
		})
		return operation{}, fault
	}
	pkg, typeName := root.Types, t.Type
	switch owner := root.Types.Scope().Lookup(t.Package); {
	case t.Package == "":
	case typeName == "" && owner != nil && !t.Parens && !s.imports(root, file, t.Package):
		typeName, t.TypeOffset = t.Package, t.PackageOffset // Type.Method of this package
	default:
		imported, fault := s.importOf(root, file, t.Package)
		if fault != nil {
			return report(place(t.PackageOffset, t.Package), t.Package, fault)
		}
		pkg = imported
	}
	o := operation{
		pkg: root, items: d.items, itemsAt: d.at, faulty: d.faulty, adopted: &adoption{at: at, value: -1, pointer: t.Pointer},
	}
	var fault *shapes.Fault
	if typeName != "" {
		named, fault := s.adoptedType(pkg, root.Types, typeName, t)
		if fault != nil {
			return report(place(t.TypeOffset, typeName), typeName, fault)
		}
		o.adopted.receiver = named
	}
	if o.fn, fault = s.adoptedFunc(&o, pkg, root.Types, t); fault != nil {
		return report(at, t.Func, fault)
	}
	o.adopted.doc = s.ValueDoc(o.fn)
	o.misfit = checkAdopted(&o)
	return o, nil
}

// importOf returns the package that a name or an import path means in a file.
func (s *scanner) importOf(root *packages.Package, file *ast.File, name string) (*types.Package, *shapes.Fault) {
	byPath := strings.Contains(name, "/")
	found := root.Imports[name]
	if !byPath {
		var ambiguous bool
		if found, ambiguous = s.importCalled(root, file, name); ambiguous {
			return nil, &shapes.Fault{
				Message:    "this file imports several packages called " + name,
				Suggestion: "write the import path, such as (*example.com/" + name + ".Type).Method",
			}
		}
	}
	if found != nil && found.Types != nil && found.Name != "" {
		return found.Types, nil
	}
	advice := "import the package in this file"
	if byPath {
		advice = fmt.Sprintf("import it: import _ %q", name)
	}
	if found != nil {
		return nil, &shapes.Fault{
			Message:    fmt.Sprintf("package %s could not be loaded", name),
			Suggestion: "see what the go command says of its import",
		}
	}
	var names []string
	for _, spec := range file.Imports {
		names = append(names, importName(root, spec))
	}
	if near := diag.DidYouMean(name, names); near != "" && !byPath {
		advice = near
	} else if !byPath {
		advice += fmt.Sprintf(`, such as import _ "example.com/%s"`, name)
	}
	what := "this file imports no package"
	if byPath {
		what = "this package does not import"
	}
	return nil, &shapes.Fault{Message: what + " " + name, Suggestion: advice}
}

// importCalled returns the package that a file imports under a name, or without one and is called so.
// A name that code can use counts before that of a blank import. Of two blank imports that are called alike none is
// meant: ambiguous says so.
func (s *scanner) importCalled(
	root *packages.Package, file *ast.File, name string,
) (found *packages.Package, ambiguous bool) {
	blanks := 0
	for _, spec := range file.Imports {
		if importName(root, spec) != name {
			continue
		}
		if spec.Name == nil || spec.Name.Name != "_" {
			return root.Imports[source.ImportPath(spec)], false
		}
		found, blanks = root.Imports[source.ImportPath(spec)], blanks+1
	}
	if blanks > 1 {
		return nil, true
	}
	return found, false
}

// imports reports whether a file imports a package called so.
func (s *scanner) imports(root *packages.Package, file *ast.File, name string) bool {
	found, ambiguous := s.importCalled(root, file, name)
	return found != nil || ambiguous
}

// importName is the name under which directives mention an import: its own, or that of the package, which a blank
// import has too.
func importName(root *packages.Package, spec *ast.ImportSpec) string {
	if spec.Name != nil && spec.Name.Name != "_" && spec.Name.Name != "." {
		return spec.Name.Name
	}
	return importedName(root, spec)
}

// adoptedType returns the type whose method a directive adopts, or why none of its methods can be.
func (s *scanner) adoptedType(
	pkg, own *types.Package, name string, t tagparse.Target,
) (*types.TypeName, *shapes.Fault) {
	if pkg != own && !token.IsExported(name) {
		return nil, &shapes.Fault{
			Message:    fmt.Sprintf("type %s of package %s is not exported, so generated code cannot name it", name, pkg.Name()),
			Suggestion: "adopt the method of an exported type that embeds it, or of an exported interface that it implements",
		}
	}
	switch object := s.ScopeOf(pkg).Lookup(name).(type) {
	case *types.TypeName:
		if named, ok := types.Unalias(object.Type()).(*types.Named); ok && named.TypeParams().Len() > 0 &&
			named.TypeArgs().Len() == 0 {
			return nil, &shapes.Fault{
				Message: fmt.Sprintf("type %s has type parameters, and nothing says what they stand for", name),
				Suggestion: fmt.Sprintf("declare a type for the ones that agents may use, such as "+
					"type Notes struct{ *%s[Note] }, and adopt its method", qualified(pkg, own, name)),
			}
		}
		if types.IsInterface(object.Type()) && t.Pointer {
			return nil, &shapes.Fault{
				Message:    fmt.Sprintf("type %s is an interface, and a pointer to one has no methods", name),
				Suggestion: fmt.Sprintf("write (%s).%s", qualified(pkg, own, name), t.Func),
			}
		}
		return object, nil
	case nil:
		return nil, &shapes.Fault{
			Message:    fmt.Sprintf("package %s has no type %s", pkg.Name(), name),
			Suggestion: diag.DidYouMean(name, s.namesOf(pkg, own, true)),
		}
	default:
		return nil, &shapes.Fault{
			Message:    fmt.Sprintf("%s of package %s is not a type", name, pkg.Name()),
			Suggestion: "name the type and its method, such as (*client.Notes).List, or a function, such as client.List",
		}
	}
}

// qualified is a name as code of package own writes it.
func qualified(pkg, own *types.Package, name string) string {
	if pkg == own {
		return name
	}
	return pkg.Name() + "." + name
}

// namesOf lists the types of a package, or its functions, that another package can name.
func (s *scanner) namesOf(pkg, own *types.Package, wantTypes bool) []string {
	var names []string
	scope := s.ScopeOf(pkg)
	for _, name := range scope.Names() {
		object := scope.Lookup(name)
		_, isType := object.(*types.TypeName)
		_, isFunc := object.(*types.Func)
		if (pkg == own || object.Exported()) && (isType && wantTypes || isFunc && !wantTypes) {
			names = append(names, name)
		}
	}
	return names
}

// adoptedFunc returns the method or the function that a directive adopts, or why there is none.
func (s *scanner) adoptedFunc(o *operation, pkg, own *types.Package, t tagparse.Target) (*types.Func, *shapes.Fault) {
	if pkg != own && !token.IsExported(t.Func) {
		return nil, &shapes.Fault{
			Message:    fmt.Sprintf("%s is not exported, so generated code cannot call it", t.Func),
			Suggestion: "adopt the exported function that calls it",
		}
	}
	receiver := o.adopted.receiver
	if receiver == nil {
		switch object := s.ScopeOf(pkg).Lookup(t.Func).(type) {
		case *types.Func:
			return object, nil
		case *types.TypeName:
			return nil, &shapes.Fault{
				Message:    fmt.Sprintf("%s of package %s is a type", t.Func, pkg.Name()),
				Suggestion: fmt.Sprintf("name its method, such as (*%s).List", qualified(pkg, own, t.Func)),
			}
		}
		return nil, &shapes.Fault{
			Message:    fmt.Sprintf("package %s has no function %s", pkg.Name(), t.Func),
			Suggestion: diag.DidYouMean(t.Func, s.namesOf(pkg, own, false)),
		}
	}
	of := qualified(receiver.Pkg(), own, receiver.Name())
	base := receiver.Type()
	pointer := types.NewPointer(base)
	object, _, _ := types.LookupFieldOrMethod(base, false, own, t.Func)
	if object == nil {
		object, _, _ = types.LookupFieldOrMethod(pointer, false, own, t.Func)
		if _, isMethod := object.(*types.Func); isMethod && t.Parens && !t.Pointer {
			return nil, &shapes.Fault{
				Message: fmt.Sprintf("%s is a method of *%s", t.Func, of), Suggestion: fmt.Sprintf("write (*%s).%s", of, t.Func),
			}
		}
		o.adopted.pointer = true
	}
	if method, ok := object.(*types.Func); ok {
		return method, nil
	}
	if object != nil {
		return nil, &shapes.Fault{
			Message:    fmt.Sprintf("%s is a field of %s", t.Func, of),
			Suggestion: "adopt a method of the field's type, and pass the field to NewRegistry",
		}
	}
	methods := make(map[string]bool)
	for _, set := range []*types.MethodSet{types.NewMethodSet(base), types.NewMethodSet(pointer)} {
		for method := range set.Methods() {
			if method.Obj().Exported() || method.Obj().Pkg() == own {
				methods[method.Obj().Name()] = true
			}
		}
	}
	return nil, &shapes.Fault{
		Message:    fmt.Sprintf("type %s has no method %s", of, t.Func),
		Suggestion: diag.DidYouMean(t.Func, slices.Sorted(maps.Keys(methods))),
	}
}
