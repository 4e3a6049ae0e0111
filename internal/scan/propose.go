package scan

import (
	"cmp"
	"context"
	"fmt"
	"go/ast"
	"go/types"
	"os"
	"slices"
	"strings"

	"golang.org/x/tools/go/packages"

	"github.com/aqltag/aqltag/internal/load"
	"github.com/aqltag/aqltag/model"
	"github.com/aqltag/aqltag/runtime/gen"
)

// Proposals is what the functions of some packages could be to agents (design §4, aql-tag init).
type Proposals struct {
	Packages    []ProposedPackage // sorted by import path
	Diagnostics []Diagnostic      // syntax errors: what they hide is not proposed

	sources map[string][]byte // of the files that candidates are in, as they were read
}

// ProposedPackage is what one package holds.
type ProposedPackage struct {
	Path       string // import path
	Name       string // of the package clause
	Dir        string // absolute
	Generates  bool   // a //go:generate comment runs aql-tag already
	Candidates []Candidate
	Existing   []Existing
	Rejected   []Rejection
}

// Candidate is a function that could be the handler of an operation.
type Candidate struct {
	Function    string         // "List" or "Store.List"
	Position    model.Position // of the function's name
	Operation   string         // proposed name on the wire
	Category    gen.Category
	Danger      gen.Danger // never below what the scanner would infer
	Params      []string   // wire names
	Identifiers []string   // those of them that say which resource it is about
	Directives  []string   // the comment lines that make it this operation, such as "//aql:op category=READ,danger=safe"
	Checks      []string   // what a person should look at first; none: name and signature leave no doubt
	Locked      string     // why Write leaves its file alone; empty: it does not

	site site
}

// Existing is a function that is an operation already.
type Existing struct {
	Function  string
	Position  model.Position
	Operation string // name on the wire
}

// Rejection is a function that cannot be an operation as it stands, or should not.
type Rejection struct {
	Function   string
	Position   model.Position // of what the reason is about: an argument, a field of its request, or the name
	Reason     string
	Suggestion string // what would help; may be empty
	Unexported bool   // that is the reason
}

// Propose reads the packages that match opts.Patterns and tells for each of their functions whether it could be an operation,
// and which one. Every candidate has been built the way Load builds operations: with its directives, Load reports no error
// about it. The error is that of Load. Nothing is written.
func Propose(ctx context.Context, opts Options) (Proposals, error) {
	var out Proposals
	err := certainly(opts, func(loader load.Loader) (*program, error) {
		opts.Loader = loader
		p, roots, err := loadIndexed(ctx, opts)
		if err == nil {
			out, err = p.proposals(ctx, roots)
		}
		return p, err
	})
	return out, err
}

func (p *program) proposals(ctx context.Context, roots []*packages.Package) (Proposals, error) {
	slices.SortFunc(roots, func(a, b *packages.Package) int { return cmp.Compare(a.PkgPath, b.PkgPath) })
	for _, root := range roots {
		p.reportSyntax(root, "")
	}
	out := Proposals{Diagnostics: sortDiagnostics(p.diagnostics), sources: make(map[string][]byte)}
	p.diagnostics = nil
	find := &finder{p, newTagReader(p)}
	found := make([][]operation, len(roots))
	var all []operation
	for i, root := range roots {
		found[i] = find.findOperations(root)
		all = append(all, found[i]...)
	}
	chosen := find.choose(roots, all)
	for i, root := range roots {
		if root.Types == nil {
			continue
		}
		if err := ctx.Err(); err != nil {
			return Proposals{}, fmt.Errorf("proposing operations: %w", err)
		}
		out.Packages = append(out.Packages, p.propose(root, find.tags, found[i], chosen))
	}
	noteShared(out.Packages)
	return out, out.place()
}

// proposer looks at the functions of one package.
type proposer struct {
	*program
	tags     *tagReader
	root     *packages.Package
	out      ProposedPackage
	existing []*draft // of functions that are operations already
	drafts   []*draft
}

// draft is a function on its way to becoming a candidate.
type draft struct {
	o      operation
	trial  trial  // as an EXECUTE operation, which every signature that works at all can be
	name   string // of the operation
	checks []string
}

// propose looks at every function of a package. found are its functions that are meant to be operations, chosen those that are.
func (p *program) propose(root *packages.Package, tags *tagReader, found, chosen []operation) ProposedPackage {
	q := &proposer{program: p, tags: tags, root: root, out: ProposedPackage{
		Path: root.PkgPath, Name: root.Name, Dir: directory(root), Generates: generates(root),
	}}
	taken := make(map[string]bool)
	for _, o := range p.functionsOf(root) {
		i := slices.IndexFunc(found, func(other operation) bool { return other.fn == o.fn })
		switch {
		case i >= 0 && slices.ContainsFunc(chosen, func(other operation) bool { return other.fn == o.fn }):
			name := operationName(found[i])
			taken[name] = true
			q.existing = append(q.existing, &draft{o: o, trial: q.build(found[i])})
			q.out.Existing = append(q.out.Existing, Existing{Function: functionName(o.fn), Position: p.position(o.decl.Name.Pos()), Operation: name})
		case i >= 0:
			q.reject(o, misfitRefusal(found[i]))
		default:
			q.consider(o)
		}
	}
	q.refuseResources()
	q.assignNames(taken)
	for _, d := range q.drafts {
		q.finish(d)
	}
	slices.SortStableFunc(q.out.Rejected, func(a, b Rejection) int { return comparePositions(a.Position, b.Position) })
	return q.out
}

// functionsOf lists the functions and methods of a package, in source order.
func (p *program) functionsOf(root *packages.Package) []operation {
	functions := declaredFunctions(root.Types)
	var list []operation
	for _, file := range root.Syntax {
		for _, decl := range file.Decls {
			if decl, ok := decl.(*ast.FuncDecl); ok {
				if fn := functions[decl.Name.Pos()]; fn != nil {
					list = append(list, operation{pkg: root, decl: decl, fn: fn})
				}
			}
		}
	}
	slices.SortFunc(list, func(a, b operation) int { return p.before(a.decl.Pos(), b.decl.Pos()) })
	return list
}

// consider makes a draft of a function, or tells why it is no operation.
func (q *proposer) consider(o operation) {
	if name := o.name(); o.fn.Signature().Recv() == nil && (name == "main" || name == "init") {
		return
	}
	if fault := refuse(o.fn); fault != nil {
		q.reject(o, *fault)
		return
	}
	d := &draft{o: o}
	d.trial = q.try(o, []string{"//aql:op op=candidate,category=EXECUTE"})
	if fault := d.trial.refusal(); fault != nil {
		q.reject(o, *fault)
		return
	}
	q.drafts = append(q.drafts, d)
}

// finish makes a candidate of a draft.
func (q *proposer) finish(d *draft) {
	choice := d.classify()
	if !isWireName(d.name) {
		q.reject(d.o, refusal{message: fmt.Sprintf("its name gives %q, which no operation may be called", d.name), suggestion: "rename it"})
		return
	}
	c := Candidate{
		Function: functionName(d.o.fn), Position: q.position(d.o.decl.Name.Pos()), Operation: d.name,
		Category: choice.category, Identifiers: d.identifiers(choice.category), Params: d.trial.params(), Checks: append(d.checks, choice.checks...),
	}
	c.Directives = d.directives(&c)
	result := q.try(d.o, c.Directives)
	if fault := result.refusal(); fault != nil && c.Category == gen.Update {
		c.Category = gen.Execute
		c.Checks = append(c.Checks, "its name says UPDATE, but nothing says which resource it would change, or to what")
		c.Directives = d.directives(&c)
		result = q.try(d.o, c.Directives)
	}
	if fault := result.refusal(); fault != nil {
		q.reject(d.o, *fault)
		return
	}
	if c.Category == gen.Update && !slices.ContainsFunc(c.Identifiers, func(id string) bool { return isIdentifier(id) || isOwnIdentifier(id, d.entities()) }) {
		c.Checks = append(c.Checks, "is "+strings.Join(c.Identifiers, " and ")+" what identifies the resource?")
	}
	if _, pattern := inferDanger(c.Operation, c.Category); pattern != "" {
		c.Checks = append(c.Checks, fmt.Sprintf("it is %s because its name matches %s", c.Danger, pattern))
	}
	c.Checks = append(c.Checks, result.remarks()...)
	c.Locked = q.locked(d.o)
	c.site = siteOf(d.o, c.Position)
	q.out.Candidates = append(q.out.Candidates, c)
}

// reject notes why a function is no operation.
func (q *proposer) reject(o operation, fault refusal) {
	r := Rejection{
		Function: functionName(o.fn), Position: q.position(o.decl.Name.Pos()), Reason: fault.message, Suggestion: fault.suggestion,
		Unexported: fault.unexported,
	}
	switch {
	case fault.position.Line > 0:
		r.Position = fault.position
	case fault.at.IsValid():
		r.Position = q.position(fault.at)
	}
	q.out.Rejected = append(q.out.Rejected, r)
}

// locked tells why a candidate's file must not be edited.
func (q *proposer) locked(o operation) string {
	if !inMainModule(q.root) {
		return "it belongs to another module; write a thin tagged layer that calls it"
	}
	for _, file := range q.root.Syntax {
		if file.FileStart <= o.decl.Pos() && o.decl.Pos() < file.FileEnd && ast.IsGenerated(file) {
			return "its file is generated and would lose the directive; write a thin tagged layer that calls it"
		}
	}
	return ""
}

// place reads the files of the candidates and finds out which of them Write could not edit.
func (p *Proposals) place() error {
	parsed := make(map[string]*editable)
	for i := range p.Packages {
		for j := range p.Packages[i].Candidates {
			c := &p.Packages[i].Candidates[j]
			if c.Locked != "" {
				continue
			}
			file := c.Position.File
			if parsed[file] == nil {
				source, err := os.ReadFile(file)
				if err != nil {
					return fmt.Errorf("reading the source of candidates: %w", err)
				}
				p.sources[file], parsed[file] = source, parseEditable(source)
			}
			if _, err := parsed[file].insertion(c.site, c.Directives); err != nil {
				c.Locked = err.Error()
			}
		}
	}
	return nil
}

// noteShared marks candidates whose name another package uses too: the two cannot be joined into one adapter.
func noteShared(all []ProposedPackage) {
	owner := make(map[string]string)
	for i := range all {
		pkg := &all[i]
		for _, existing := range pkg.Existing {
			if owner[existing.Operation] == "" {
				owner[existing.Operation] = pkg.Path
			}
		}
		for j := range pkg.Candidates {
			c := &pkg.Candidates[j]
			if other := owner[c.Operation]; other != "" && other != pkg.Path {
				c.Checks = append(c.Checks, fmt.Sprintf("package %s has an operation %s too; one adapter cannot have both", other, c.Operation))
				continue
			}
			owner[c.Operation] = pkg.Path
		}
	}
}

// generates reports whether a package has a //go:generate comment that runs aql-tag.
func generates(root *packages.Package) bool {
	for _, file := range root.Syntax {
		for _, group := range file.Comments {
			for _, comment := range group.List {
				if strings.HasPrefix(comment.Text, "//go:generate ") && strings.Contains(comment.Text, "aql-tag") {
					return true
				}
			}
		}
	}
	return false
}

// functionName is a function with its receiver's type in front.
func functionName(fn *types.Func) string {
	if receiver := receiverName(fn); receiver != "" {
		return receiver + "." + fn.Name()
	}
	return fn.Name()
}

// receiverName is the name of the type that a method belongs to, empty for a function.
func receiverName(fn *types.Func) string {
	if named := receiverType(fn); named != nil {
		return named.Obj().Name()
	}
	return ""
}

// receiverType is the type that a method belongs to, nil for a function.
func receiverType(fn *types.Func) *types.Named {
	recv := fn.Signature().Recv()
	if recv == nil {
		return nil
	}
	t := types.Unalias(recv.Type())
	if pointer, ok := t.(*types.Pointer); ok {
		t = types.Unalias(pointer.Elem())
	}
	named, _ := t.(*types.Named)
	return named
}

// operationName is the name on the wire of an operation that is one already.
func operationName(o operation) string {
	if item, ok := findItem(o.items, "op"); ok {
		return item.Value
	}
	return snakeCase(o.name())
}
