package scan

import (
	"cmp"
	"context"
	"go/ast"
	"go/token"
	"go/types"
	"slices"
	"strings"

	"golang.org/x/tools/go/packages"

	"github.com/aqltag/aqltag/internal/diag"
	"github.com/aqltag/aqltag/internal/load"
	"github.com/aqltag/aqltag/internal/scan/naming"
	"github.com/aqltag/aqltag/internal/scan/shapes"
	"github.com/aqltag/aqltag/internal/scan/source"
	"github.com/aqltag/aqltag/internal/scan/tags"
	"github.com/aqltag/aqltag/internal/scan/wiretype"
	"github.com/aqltag/aqltag/model"
	"github.com/aqltag/aqltag/tagparse"
)

// Exploration is a set of loaded packages whose functions can be tried as operations.
type Exploration struct {
	Roots          []*packages.Package // sorted by import path
	Diagnostics    []diag.Diagnostic   // syntax errors
	FallbackReason error               // as in Result

	Adopts bool // as Options.Adopt

	program    *source.Program
	tags       *tags.Reader
	functions  map[*packages.Package][]Function
	directives map[*packages.Package]directives
	readers    map[*packages.Package]*readers // of the operations that there are, and of those that Assume added
}

// Function is a function or method of an explored package.
type Function struct {
	Decl    *ast.FuncDecl
	Func    *types.Func
	Marked  bool          // it has a tag or directive of an operation
	Handler bool          // it is the handler of an operation
	Loads   bool          // it loads a relation
	Name    string        // of the operation, if the function is marked
	Request types.Type    // the request struct, if the function is marked and has one
	Misfit  *shapes.Fault // why a marked function cannot be a handler; nil: it can

	operation operation
}

// Attempt is the result of building a function as an operation.
type Attempt struct {
	model.Handler
	Request     *shapes.Shape // the parameters as a struct; nil: they have no shape
	Result      *shapes.Shape // nil: the handler returns only an error
	Misfit      *shapes.Fault
	Diagnostics []diag.Diagnostic
	OK          bool     // the types can be carried
	Replaces    bool     // an update that empties what its input leaves out
	InPath      []string // of a handler of a web framework: the parameters in the path of its request
	Getter      string   // the READ operation that reads what such an update changes; empty: none is sure to
}

// Explore loads the packages that match opts.Patterns and passes them to do. If the source of a dependency changed
// since its export data was made, do is called again and the second call counts. The error is that of Load or of do.
func Explore(ctx context.Context, opts Options, do func(*Exploration) error) error {
	return retried(opts, func(loader load.Loader, reason error) (*source.Program, error) {
		opts.Loader = loader
		p, roots, err := loadProgram(ctx, opts, reason)
		if err == nil {
			x := newExploration(p, roots)
			x.Adopts = opts.Adopt
			err = do(x)
		}
		return p, err
	})
}

func newExploration(p *source.Program, roots []*packages.Package) *Exploration {
	slices.SortFunc(roots, func(a, b *packages.Package) int { return cmp.Compare(a.PkgPath, b.PkgPath) })
	for _, root := range roots {
		p.ReportSyntax(root, "")
	}
	x := &Exploration{
		Roots: roots, Diagnostics: diag.Sort(p.Diagnostics), FallbackReason: p.Loaded.FallbackReason,
		program: p, tags: tags.NewReader(p),
		functions:  make(map[*packages.Package][]Function),
		directives: make(map[*packages.Package]directives),
		readers:    make(map[*packages.Package]*readers),
	}
	find := &scanner{Program: p, tags: x.tags}
	var marked []operation
	for _, root := range roots {
		marked = append(marked, find.findOperations(root)...)
	}
	chosen := find.choose(roots, marked)
	for _, root := range roots {
		if root.Types != nil {
			x.directives[root] = readDirectives(p, root.Types)
			x.readers[root] = newReaders(nil, x.readerBuilder(root))
		}
	}
	for _, o := range chosen {
		x.readers[o.pkg].add(o)
	}
	p.Diagnostics = nil
	for _, root := range roots {
		if root.Types != nil {
			x.functions[root] = functionsOf(p, root, marked, chosen)
		}
	}
	return x
}

// functionsOf lists the functions and methods of a package, in source order.
func functionsOf(p *source.Program, root *packages.Package, marked, chosen []operation) []Function {
	declared := declaredFunctions(root.Types)
	var list []Function
	for _, file := range root.Syntax {
		for _, decl := range file.Decls {
			decl, ok := decl.(*ast.FuncDecl)
			if !ok || declared[decl.Name.Pos()] == nil {
				continue
			}
			fn := declared[decl.Name.Pos()]
			f := Function{Decl: decl, Func: fn, operation: operation{pkg: root, decl: decl, fn: fn}}
			f.Loads = decl.Doc != nil && slices.ContainsFunc(decl.Doc.List, func(c *ast.Comment) bool {
				return strings.HasPrefix(c.Text, "//aql:relation ")
			})
			same := func(o operation) bool { return o.fn == fn }
			if i := slices.IndexFunc(marked, same); i >= 0 {
				f.operation = marked[i]
				f.Marked, f.Misfit, f.Request, f.Name = true, marked[i].misfit, marked[i].request, naming.SnakeCase(fn.Name())
				if item, ok := tags.Find(marked[i].items, "op"); ok {
					f.Name = item.Value
				}
				f.Handler = slices.ContainsFunc(chosen, same)
			}
			list = append(list, f)
		}
	}
	slices.SortFunc(list, func(a, b Function) int { return p.Before(a.Decl.Pos(), b.Decl.Pos()) })
	return list
}

// Functions lists the functions and methods of a package, in source order; none where the package has no types.
func (x *Exploration) Functions(root *packages.Package) []Function { return x.functions[root] }

// Position is the place of pos in its file.
func (x *Exploration) Position(pos token.Pos) model.Position { return x.program.Position(pos) }

// Try builds a function as the operation that directives, whole comment lines, would make of it.
func (x *Exploration) Try(f Function, directives []string) Attempt {
	return x.attempt(func() Attempt {
		o, misfit := x.directed(f, directives)
		if misfit != nil {
			return Attempt{Misfit: misfit}
		}
		return x.build(o)
	})
}

// Assume lets later attempts name a function as the operation that directives make of it.
func (x *Exploration) Assume(f Function, directives []string) {
	x.attempt(func() Attempt {
		if o, misfit := x.directed(f, directives); misfit == nil {
			x.readers[o.pkg].add(o)
		}
		return Attempt{}
	})
}

// directed returns the operation that directives would make of a function, or why it cannot be one.
func (x *Exploration) directed(f Function, directives []string) (operation, *shapes.Fault) {
	o := f.operation
	o.directives = directivesOf(x.program, o.decl)
	place := func(int) token.Pos { return o.at().Start }
	for _, line := range directives {
		parsed, problems, _ := tagparse.ParseDirective(strings.TrimPrefix(line, "//"))
		for _, problem := range problems {
			x.program.ReportProblem(diag.Error, problem, o.name(), place)
		}
		d := directive{Directive: parsed, at: o.at(), text: o.at(), items: tags.Place(parsed.Items, place)}
		if parsed.Name == "op" {
			o.items, o.itemsAt = d.items, d.at
		}
		o.directives = append(o.directives, d)
	}
	if x.Adopts {
		o.adopted = adoptionOf(o)
		return o, checkAdopted(&o)
	}
	misfit := checkSignature(x.program, &o)
	return o, misfit
}

// Build builds a marked function as the operation that it is.
func (x *Exploration) Build(f Function) Attempt {
	return x.attempt(func() Attempt { return x.build(f.operation) })
}

// attempt collects the diagnostics of one attempt.
func (x *Exploration) attempt(build func() Attempt) Attempt {
	x.program.Diagnostics = nil
	a := build()
	a.Diagnostics = diag.Sort(x.program.Diagnostics)
	x.program.Diagnostics = nil
	return a
}

// build builds an operation with a builder of its own, so that a fault in a type that several operations share is
// reported for each of them.
func (x *Exploration) build(o operation) Attempt {
	b := x.directives[o.pkg].builder(x.program, x.tags, o.pkg.Types)
	b.readers = x.readers[o.pkg]
	h, ok := b.buildHandler(o)
	wiretype.NewSet(x.program, o.pkg.Types).AddHandler(h.request, h.result)
	a := Attempt{Handler: h.Handler, Request: h.request, Result: h.result, OK: ok, Replaces: h.replaces, InPath: h.inPath}
	if h.replaces {
		a.Getter = b.fittingGetter(&h)
	}
	return a
}

// readerBuilder returns a function that builds operations of a package that others mention, each once. Their faults are
// not those of the others.
func (x *Exploration) readerBuilder(root *packages.Package) func(o operation) (*handled, bool) {
	var build func(o operation) (*handled, bool)
	return func(o operation) (*handled, bool) {
		before := x.program.Diagnostics
		if build == nil {
			build = x.directives[root].builder(x.program, x.tags, root.Types).buildOnce()
		}
		h, ok := build(o)
		x.program.Diagnostics = before
		return h, ok
	}
}
