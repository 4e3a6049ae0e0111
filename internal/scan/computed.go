package scan

import (
	"fmt"
	"go/ast"
	"go/types"
	"slices"

	"github.com/aqltag/aqltag/internal/diag"
	"github.com/aqltag/aqltag/internal/scan/gotype"
	"github.com/aqltag/aqltag/internal/scan/shapes"
	"github.com/aqltag/aqltag/internal/scan/source"
)

// computation is a function with an //aql:computed directive.
type computation struct {
	fn        *types.Func
	doc       *ast.CommentGroup
	directive directive
	at        source.Span // the name of the function
	resource  *types.Named
	value     types.Type
	page      bool // it computes the values of a whole page
	context   bool
	used      bool // an operation returns the resource
}

// takeComputed takes the //aql:computed directives of a function, and returns the others.
func (s *scanner) takeComputed(pkg *types.Package, fn *types.Func, decl *ast.FuncDecl, all []directive) []directive {
	isComputed := func(d directive) bool { return d.Name == "computed" }
	at := slices.IndexFunc(all, isComputed)
	if at < 0 {
		return all
	}
	c := &computation{fn: fn, doc: decl.Doc, directive: all[at], at: source.SpanOf(decl.Name)}
	for _, d := range all[at+1:] {
		if isComputed(d) {
			s.Report(d.at, diag.Diagnostic{
				Code: diag.CodeDuplicate, FieldPath: fn.Name(), Message: "there is more than one //aql:computed",
				Suggestion: "remove one of them",
			})
		}
	}
	if op := slices.IndexFunc(all, func(d directive) bool { return d.Name == "op" }); op >= 0 {
		s.Report(c.directive.at, diag.Diagnostic{
			Code: diag.CodeDuplicate, FieldPath: fn.Name(),
			Message:    fmt.Sprintf("%s is an operation, so it cannot be a computed field", fn.Name()),
			Suggestion: "remove one of the two directives",
			Related:    []diag.Related{s.Related(all[op].at.Start, "//aql:op is here")},
		})
	} else if !c.directive.faulty && s.readComputation(c) {
		if s.computed == nil {
			s.computed = make(map[*types.Package][]*computation)
		}
		s.computed[pkg] = append(s.computed[pkg], c)
	}
	return slices.DeleteFunc(slices.Clone(all), isComputed)
}

// readComputation reads the signature of a function that computes a field. It reports one that cannot.
func (s *scanner) readComputation(c *computation) bool {
	fault := c.read()
	if fault != nil {
		s.Report(c.at, diag.Diagnostic{
			Code: diag.CodeType, FieldPath: c.fn.Name(), Suggestion: fault.Suggestion,
			Message: fmt.Sprintf("%s cannot be a computed field: %s", c.fn.Name(), fault.Message),
		})
	}
	return fault == nil
}

// read fills in what the signature of the function says. It returns why the function cannot compute a field.
func (c *computation) read() *shapes.Fault {
	signature := c.fn.Signature()
	wrong := func(message string) *shapes.Fault {
		return &shapes.Fault{
			Message: message, Suggestion: "write a method func (*T) Name([context.Context]) V of the resource T, " +
				"or func Name([context.Context,] []*T) ([]V, error) for all resources of a page",
		}
	}
	if signature.TypeParams().Len() > 0 || signature.RecvTypeParams().Len() > 0 {
		return wrong("it has type parameters, and nothing says what they stand for")
	}
	params := slices.Collect(signature.Params().Variables())
	if len(params) > 0 && gotype.Is(params[0].Type(), "context", "Context") {
		c.context, params = true, params[1:]
	}
	results := slices.Collect(signature.Results().Variables())
	switch {
	case signature.Variadic() || len(params) > 1:
		return wrong("it takes more than the elements of a page")
	case len(params) == 1:
		c.page = true
		slice, isSlice := params[0].Type().Underlying().(*types.Slice)
		if !isSlice {
			return wrong(fmt.Sprintf("it takes %s", gotype.Name(params[0].Type())))
		}
		pointer, isPointer := types.Unalias(slice.Elem()).(*types.Pointer)
		if !isPointer || !c.of(pointer.Elem()) {
			return wrong(fmt.Sprintf("it takes %s, and not pointers to the elements of a page",
				gotype.Name(params[0].Type())))
		}
		if len(results) != 2 || !isError(results[1].Type()) {
			return wrong("it does not return a list of values and an error")
		}
		values, isSlice := types.Unalias(results[0].Type()).(*types.Slice)
		if !isSlice {
			return wrong(fmt.Sprintf("it returns %s, and not a list of values", gotype.Name(results[0].Type())))
		}
		c.value = values.Elem()
	case signature.Recv() == nil:
		return wrong("it takes no elements")
	default:
		if !c.of(gotype.Pointee(types.Unalias(signature.Recv().Type()))) {
			return wrong("its receiver is no struct")
		}
		if len(results) != 1 || isError(results[0].Type()) {
			return wrong("it does not return one value")
		}
		c.value = results[0].Type()
	}
	return nil
}

// of sets the type of the resource. It returns false if that cannot be one.
func (c *computation) of(t types.Type) bool {
	named, ok := types.Unalias(t).(*types.Named)
	if !ok {
		return false
	}
	if _, ok = named.Underlying().(*types.Struct); ok {
		c.resource = named
	}
	return ok
}

// computationsOf returns the functions that compute fields of a resource: those of the package, and the methods of a
// resource that another one declares.
func (b *builder) computationsOf(resource *types.Named) (found []*computation) {
	pkg := resource.Obj().Pkg()
	if pkg != nil && pkg != b.own && b.Editable(pkg) {
		found = b.foreignComputations(resource)
	}
	for _, c := range b.computations {
		if types.Identical(c.resource, resource) {
			c.used = true
			found = append(found, c)
		}
	}
	return found
}

// foreignComputations returns the methods of a resource of another package that compute fields.
func (b *builder) foreignComputations(resource *types.Named) (found []*computation) {
	s := &scanner{Program: b.Program, tags: b.tags}
	for method := range resource.Methods() {
		doc := b.ValueDoc(method)
		if doc == nil || !method.Exported() {
			continue
		}
		directives := directivesIn(b.Program, doc, method.Name())
		at := slices.IndexFunc(directives, func(d directive) bool { return d.Name == "computed" && !d.faulty })
		if at < 0 {
			continue
		}
		start := method.Pos()
		c := &computation{
			fn: method, doc: doc, directive: directives[at],
			at: source.Span{Start: start, End: source.EndOf(start, method.Name())},
		}
		if s.readComputation(c) && !c.page {
			found = append(found, c)
		}
	}
	return found
}

// warnUncomputed warns of directives that no operation makes use of.
func (b *builder) warnUncomputed() {
	for _, c := range b.computations {
		if c.used {
			continue
		}
		b.Report(c.directive.at, diag.Diagnostic{
			Severity: diag.Warning, Code: diag.CodeUnresolved, FieldPath: c.fn.Name(),
			Message: fmt.Sprintf("//aql:computed has no effect: no operation that returns %s takes aql.Fields or aql.Query",
				b.text(c.resource)),
			Suggestion: "embed aql.Fields in the request of an operation that returns it, or remove the directive",
		})
	}
}
