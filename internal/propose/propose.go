// Package propose suggests operations for packages that were not written for agents: which functions could be one, with
// which category and danger level. It can write the directives that make them operations.
package propose

import (
	"context"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"go/types"
	"os"
	"slices"
	"strings"

	"golang.org/x/tools/go/packages"

	"github.com/aqltag/aqltag/internal/diag"
	"github.com/aqltag/aqltag/internal/load"
	"github.com/aqltag/aqltag/internal/scan"
	"github.com/aqltag/aqltag/internal/scan/naming"
	"github.com/aqltag/aqltag/model"
	"github.com/aqltag/aqltag/runtime/gen"
)

// Proposals are the operations that the functions of some packages could be.
type Proposals struct {
	Packages       []Package         // sorted by import path
	Diagnostics    []diag.Diagnostic // syntax errors; functions near them may be missing
	FallbackReason error             // as in scan.Result
	Adopts         bool              // Adopt writes the candidates, and Write does not

	sources map[string][]byte // content of the candidates' files when they were read
}

// Package is the proposals for one package.
type Package struct {
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
	Danger      gen.Danger // never below what the name of the operation stands for
	Guessed     bool       // the directives say so, and lint and check report it until a person removes it
	Params      []string   // wire names
	Identifiers []string   // those of Params that identify the resource
	Directives  []string   // comment lines that make it the operation: "//aql:op category=READ,danger=safe"
	Checks      []string   // what a person should check first
	Target      string     // how //aql:adopt names the function in another package; empty: it is not to be adopted
	Locked      string     // why Write does not change its file; empty: it does

	site site
}

// Existing is a function that is already the handler of an operation.
type Existing struct {
	Function  string
	Position  model.Position
	Operation string // name on the wire
}

// Rejection is a function that is not proposed.
type Rejection struct {
	Function   string
	Position   model.Position // of what the reason is about: an argument, a field, or the function's name
	Reason     string
	Suggestion string // what would help; may be empty
	Unexported bool   // the reason is that it is not exported
}

// Operations suggests operations for the functions of the packages that match opts.Patterns. Each candidate was built
// as scan.Load builds operations, so with its directives scan.Load reports no error about it. only chooses functions by
// the name that the operation has or would have, or by their own, such as Store.List; nil chooses all. The error is
// that of scan.Load. Nothing is written.
func Operations(ctx context.Context, opts scan.Options, only func(operation, function string) bool) (Proposals, error) {
	if only == nil {
		only = func(string, string) bool { return true }
	}
	var out Proposals
	err := scan.Explore(ctx, opts, func(x *scan.Exploration) (err error) {
		out, err = proposals(ctx, x, only)
		return err
	})
	return out, err
}

func proposals(
	ctx context.Context, x *scan.Exploration, only func(operation, function string) bool,
) (Proposals, error) {
	out := Proposals{
		Diagnostics: x.Diagnostics, FallbackReason: x.FallbackReason, Adopts: x.Adopts, sources: make(map[string][]byte),
	}
	for _, root := range x.Roots {
		if root.Types == nil {
			continue
		}
		if err := ctx.Err(); err != nil {
			return Proposals{}, fmt.Errorf("proposing operations: %w", err)
		}
		out.Packages = append(out.Packages, propose(x, root, only))
	}
	noteShared(out.Packages)
	return out, out.checkEditable()
}

// proposer looks at the functions of one package.
type proposer struct {
	*scan.Exploration
	only     func(operation, function string) bool
	root     *packages.Package
	bodies   *Bodies
	out      Package
	existing []*draft // of functions that are operations already
	drafts   []*draft

	interfaces map[*types.Named]*types.TypeName // that types implement, for targets; nil: none
}

// draft is a function on its way to becoming a candidate.
type draft struct {
	fn     scan.Function
	trial  trial  // as an EXECUTE operation, which any signature that can be an operation fits
	name   string // of the operation
	checks []string

	judgment Judgment
}

// propose looks at every function of a package.
func propose(x *scan.Exploration, root *packages.Package, only func(operation, function string) bool) Package {
	q := &proposer{
		Exploration: x, only: only, root: root, interfaces: make(map[*types.Named]*types.TypeName),
		out: Package{Path: root.PkgPath, Name: root.Name, Dir: load.Directory(root), Generates: generates(root)},
	}
	q.bodies = readBodies(x, root)
	taken := make(map[string]bool)
	for _, fn := range x.Functions(root) {
		switch {
		case fn.Handler:
			taken[fn.Name] = true
			q.existing = append(q.existing, &draft{fn: fn, trial: trial{x.Build(fn), root.Types}})
			q.out.Existing = append(q.out.Existing, Existing{
				Function: functionName(fn.Func), Position: x.Position(fn.Decl.Name.Pos()), Operation: fn.Name,
			})
		case fn.Marked:
			q.reject(fn, misfitRefusal(fn))
		case fn.Loads: // agents reach it through a relation
		default:
			q.consider(fn)
		}
	}
	q.refuseResources()
	q.assignNames(taken) // the same names as without a choice
	q.drafts = slices.DeleteFunc(q.drafts, func(d *draft) bool { return !only(d.name, functionName(d.fn.Func)) })
	for _, d := range q.drafts {
		d.judgment = q.bodies.Judge(d.fn.Func, d.fn.Decl)
	}
	// The handlers that read come first: updates name them.
	reads := func(d *draft) bool { return d.classify().Category == gen.Read }
	for _, readers := range []bool{true, false} {
		for _, d := range q.drafts {
			if reads(d) == readers {
				q.finish(d)
			}
		}
	}
	slices.SortStableFunc(q.out.Candidates, func(a, b Candidate) int {
		return diag.ComparePositions(a.Position, b.Position)
	})
	slices.SortStableFunc(q.out.Rejected,
		func(a, b Rejection) int { return diag.ComparePositions(a.Position, b.Position) })
	return q.out
}

// consider makes a draft of a function, or rejects it.
func (p *proposer) consider(fn scan.Function) {
	if name := fn.Func.Name(); fn.Func.Signature().Recv() == nil && (name == "main" || name == "init") {
		return
	}
	if fault := refuse(fn.Func, p.Adopts); fault != nil {
		p.reject(fn, *fault)
		return
	}
	d := &draft{fn: fn, trial: p.try(fn, []string{"//aql:op op=candidate,category=EXECUTE"})}
	if fault := d.trial.refusal(); fault != nil {
		p.reject(fn, *fault)
		return
	}
	p.drafts = append(p.drafts, d)
}

// finish makes a candidate of a draft.
func (p *proposer) finish(d *draft) {
	choice := d.classify()
	if !naming.IsValid(d.name) {
		p.reject(d.fn, refusal{
			message: fmt.Sprintf("its name gives %q, which no operation may be called", d.name), suggestion: "rename it",
		})
		return
	}
	c := Candidate{
		Function: functionName(d.fn.Func), Position: p.Position(d.fn.Decl.Name.Pos()), Operation: d.name,
		Category: choice.Category, Identifiers: d.identifiers(choice.Category), Params: d.trial.params(),
		Checks: append(d.checks, choice.Reasons...), Guessed: choice.Guessed,
	}
	c.Directives = d.directives(&c)
	result := p.try(d.fn, c.Directives)
	if fault := result.refusal(); fault != nil && c.Category == gen.Update {
		c.Category, c.Guessed = gen.Execute, true
		d.judgment.raise(gen.Destructive)
		c.Checks = append(c.Checks, "its name says UPDATE, but nothing says which resource it would change, or to what")
		c.Directives = d.directives(&c)
		result = p.try(d.fn, c.Directives)
	}
	if fault := result.refusal(); fault != nil {
		p.reject(d.fn, *fault)
		return
	}
	if result.Replaces {
		result = p.merged(d, &c, result)
	}
	if c.Category == gen.Read && scan.QueryFits(result.Request, result.Result) {
		result = p.queried(d, &c, result)
	}
	if c.Category == gen.Read {
		p.Assume(d.fn, c.Directives)
	}
	if c.Category == gen.Update && len(d.before()) == 0 && len(d.trial.InPath) == 0 &&
		!slices.ContainsFunc(c.Identifiers,
			func(id string) bool { return isIdentifier(id) || isOwnIdentifier(id, d.entities()) }) {
		c.Checks = append(c.Checks, "is "+strings.Join(c.Identifiers, " and ")+" what identifies the resource?")
	}
	if _, pattern := naming.InferDanger(c.Operation, c.Category); pattern != "" {
		c.Checks = append(c.Checks, fmt.Sprintf("it is %s because its name matches %s", c.Danger, pattern))
	}
	c.asksWhoseRows(d.trial.Result)
	c.Checks = append(c.Checks, result.remarks()...)
	if p.Adopts {
		c.Target = p.target(d.fn.Func)
	} else {
		c.Locked = p.locked(d.fn.Decl)
	}
	c.site = siteOf(d.fn.Decl, c.Position)
	p.out.Candidates = append(p.out.Candidates, c)
}

// merged lets an update that replaces a resource merge, through the candidate that reads it. Where there is none, the
// update is destructive.
func (p *proposer) merged(d *draft, c *Candidate, result trial) trial {
	if result.Getter != "" {
		directives := append(slices.Clone(c.Directives), "//aql:update get="+result.Getter)
		if merged := p.try(d.fn, directives); merged.refusal() == nil {
			c.Directives = directives
			return merged
		}
	}
	if c.Danger.Level() < gen.Destructive.Level() {
		old := ",danger=" + string(c.Danger)
		c.Danger = gen.Destructive
		c.Directives = slices.Clone(c.Directives)
		c.Directives[0] = strings.Replace(c.Directives[0], old, ",danger="+string(c.Danger), 1)
		result = p.try(d.fn, c.Directives)
	}
	c.Checks = append(c.Checks, "it replaces what an update leaves out; //aql:update get=NAME would merge")
	return result
}

// reject notes why a function that is asked for is no operation.
func (p *proposer) reject(fn scan.Function, fault refusal) {
	if !p.only(naming.SnakeCase(fn.Func.Name()), functionName(fn.Func)) {
		return
	}
	r := Rejection{
		Function: functionName(fn.Func), Position: p.Position(fn.Decl.Name.Pos()), Reason: fault.message,
		Suggestion: fault.suggestion,
		Unexported: fault.unexported,
	}
	switch {
	case fault.position.Line > 0:
		r.Position = fault.position
	case fault.at.IsValid():
		r.Position = p.Position(fault.at)
	}
	p.out.Rejected = append(p.out.Rejected, r)
}

// locked returns why a candidate's file must not be edited, empty if it may be.
func (p *proposer) locked(decl *ast.FuncDecl) string {
	if !load.InMainModule(p.root) {
		return "it belongs to another module; write a thin tagged layer that calls it"
	}
	for _, file := range p.root.Syntax {
		if file.FileStart <= decl.Pos() && decl.Pos() < file.FileEnd && ast.IsGenerated(file) {
			return "its file is generated and would lose the directive; write a thin tagged layer that calls it"
		}
	}
	return ""
}

// readBodies parses the files of a package again: those that were loaded have no bodies.
func readBodies(x *scan.Exploration, root *packages.Package) *Bodies {
	var files []*ast.File
	for _, loaded := range root.Syntax {
		name := x.Position(loaded.FileStart).File
		if file, _ := parser.ParseFile(token.NewFileSet(), name, nil, parser.SkipObjectResolution); file != nil {
			files = append(files, file)
		}
	}
	return NewBodies(root.Types, files)
}

// checkEditable reads the files of the candidates, and locks those that Write could not edit.
func (p *Proposals) checkEditable() error {
	parsed := make(map[string]*editable)
	for i := range p.Packages {
		for j := range p.Packages[i].Candidates {
			c := &p.Packages[i].Candidates[j]
			if c.Locked != "" || c.Target != "" {
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

// noteShared marks candidates whose operation has the name of one in another package. The two cannot be part of one
// adapter.
func noteShared(all []Package) {
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
				c.Checks = append(c.Checks,
					fmt.Sprintf("package %s has an operation %s too; one adapter cannot have both", other, c.Operation))
				continue
			}
			owner[c.Operation] = pkg.Path
		}
	}
}

// generates reports whether a package has a //go:generate comment that runs aql-tag.
func generates(root *packages.Package) bool {
	return runsGenerator(root.Syntax)
}

func runsGenerator(files []*ast.File) bool {
	for _, file := range files {
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
