package scan

import (
	"cmp"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"maps"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"golang.org/x/tools/go/packages"

	"github.com/aqltag/aqltag/internal/diag"
	"github.com/aqltag/aqltag/internal/load"
	"github.com/aqltag/aqltag/internal/scan/comment"
	"github.com/aqltag/aqltag/internal/scan/naming"
	"github.com/aqltag/aqltag/internal/scan/shapes"
	"github.com/aqltag/aqltag/internal/scan/source"
	"github.com/aqltag/aqltag/internal/scan/wiretype"
	"github.com/aqltag/aqltag/model"
	"github.com/aqltag/aqltag/runtime/gen"
	"github.com/aqltag/aqltag/runtime/words"
)

// buildPackage makes the model of a package from its operations. It returns false if there are none.
func (s *scanner) buildPackage(root *packages.Package, operations []operation) (model.Package, bool) {
	if len(operations) == 0 {
		return model.Package{}, false
	}
	b := newBuilder(s.Program, s.tags, root.Types)
	b.linting, b.computations = s.opts.Lint, s.computed[root.Types]
	w := wiretype.NewSet(s.Program, root.Types)
	build := b.buildOnce()
	b.readers = newReaders(operations, build)
	handlers, kept := make([]handled, 0, len(operations)), make([]operation, 0, len(operations))
	for _, o := range operations {
		h, ok := build(o)
		if ok {
			handlers, kept = append(handlers, *h), append(kept, o)
		}
		w.AddHandler(h.request, h.result)
	}
	if len(handlers) == 0 {
		return model.Package{}, false
	}
	for resource := range b.computed {
		w.AddComputed(resource)
	}
	b.directives.report(s.Program)
	b.warnUncomputed()
	b.checkOperationNames(handlers, kept)
	b.checkExecutionNames(handlers, kept)
	b.checkReserved(root, handlers)
	b.noteFoldedNames()
	b.noteLeftOut()
	if slices.ContainsFunc(s.loaders, func(l loader) bool { return l.pkg == root }) {
		w.ReserveRelationships()
	}
	for i := range handlers {
		if handlers[i].Run {
			w.ReserveExecutions(&handlers[i].Operation)
		}
	}
	w.AssignNames()
	for _, h := range handlers {
		w.Complete(h.request)
		w.Complete(h.result)
	}
	relations := s.buildRelations(b, root, handlers, w)
	b.setOperators()
	b.warnUnqueried(root, handlers)
	if b.linting {
		b.lintNames(handlers, kept)
	}
	out := model.Package{
		Path: root.PkgPath, Name: root.Name, Dir: load.Directory(root), Guards: guards(b.speller, handlers),
		Messages:  haveMessages(handlers),
		Handlers:  make([]model.Handler, 0, len(handlers)),
		Relations: relations,
	}
	out.Description = s.descriptionOf(root)
	out.Taken, out.Imported = s.taken(root)
	for _, h := range handlers {
		h.Operation.Params = slices.Grow([]gen.Param(nil), len(h.request.Fields))
		for _, field := range h.request.Fields {
			h.Operation.Params = append(h.Operation.Params, h.paramOf(field))
		}
		h.Operation.Returns = w.Returns(h.result)
		h.Operation.Returns.Nullable = h.result != nil && h.result.Kind == shapes.Pointer
		out.Handlers = append(out.Handlers, h.Handler)
	}
	out.Types, out.Constants = w.Definitions(), w.ConstantNames
	out.Computed = b.modelComputed(w)
	if s.opts.Places {
		out.Places = placesOf(out.Dir, w, handlers)
	}
	return out, true
}

// descriptionOf returns what a package is by its comment: that in doc.go, or else in the first file that says it.
func (s *scanner) descriptionOf(root *packages.Package) string {
	said := make(map[string]string)
	for _, file := range root.Syntax {
		if text := comment.Package(file.Doc, root.Name); text != "" && !ast.IsGenerated(file) {
			said[filepath.Base(s.Fset.PositionFor(file.FileStart, false).Filename)] = text
		}
	}
	names := slices.Sorted(maps.Keys(said))
	if len(names) == 0 {
		return ""
	}
	return cmp.Or(said["doc.go"], said[names[0]])
}

// noteFoldedNames notes once a package that wire names differ from those in json tags.
func (b *builder) noteFoldedNames() {
	folded := b.shapes.Folded()
	if len(folded) == 0 {
		return
	}
	var texts []string
	add := func(about string, fields []shapes.Declaration) {
		var pairs []string
		for _, f := range fields[:min(3, len(fields))] {
			pairs = append(pairs, f.Tag.Original+" is "+f.Tag.Name)
		}
		if more := len(fields) - len(pairs); more > 0 {
			pairs = append(pairs, fmt.Sprintf("and %d more", more))
		}
		if len(pairs) > 0 {
			texts = append(texts, fmt.Sprintf(about, words.Count(len(fields), "name"))+": "+strings.Join(pairs, ", "))
		}
	}
	var accepted, others []shapes.Declaration
	seen := make(map[string]bool)
	for _, f := range folded {
		pair := f.Tag.Original + " " + f.Tag.Name
		switch {
		case seen[pair]:
		case naming.IsAlias(f.Tag.Original):
			accepted = append(accepted, f)
		default:
			others = append(others, f)
		}
		seen[pair] = true
	}
	add("agents see %s in snake_case, and may use the camelCase of the json tags too", accepted)
	add("agents see and use %s only in snake_case", others)
	first := folded[0]
	b.Report(first.Tag.NameAt, diag.Diagnostic{
		Severity: diag.Note, Code: diag.CodeName, FieldPath: first.Path, Expected: first.Tag.Name,
		Actual: first.Tag.Original, Message: strings.Join(texts, "; "),
	})
}

// buildOnce returns buildHandler, for operations that others mention before it is their turn.
func (b *builder) buildOnce() func(o operation) (*handled, bool) {
	type built struct {
		handled
		ok bool
	}
	known := make(map[token.Pos]*built) // by where the package names the function: it may adopt one twice
	return func(o operation) (*handled, bool) {
		at := o.at().Start
		if known[at] == nil {
			h, ok := b.buildHandler(o)
			known[at] = &built{h, ok}
		}
		return &known[at].handled, known[at].ok
	}
}

// The fields of the struct that generated code reads a request into, where the handler takes only a part of it.
const (
	wrappedRequest = "request" // what the handler takes
	mergedInput    = "input"   // the changes of an update that merges
)

// paramOf returns the parameter of a field of the request.
func (h *handled) paramOf(field shapes.Field) gen.Param {
	param := field.Param
	switch {
	case h.Merge == nil && (h.Queried == nil || h.Request.Text == "" || isQueryField(field)):
	case h.Merge != nil && param.Name == "input":
		param.Go = mergedInput
	default:
		param.Go = wrappedRequest + "." + param.Go
	}
	return param
}

// taken lists the identifiers that generated code must not declare: those of the other files in the directory, tests
// and files for other systems included, and the names of imports. imported lists those that are only names of imports.
func (s *scanner) taken(root *packages.Package) (all, imported []string) {
	names := make(map[string]bool)
	imports := make(map[string]bool)
	note := func(file *ast.File) {
		for _, name := range source.DeclaredNames(file) {
			names[name] = true
		}
		for _, spec := range file.Imports {
			if spec.Name != nil {
				imports[spec.Name.Name] = true
			} else {
				imports[importedName(root, spec)] = true
			}
		}
	}
	loaded := make(map[string]bool)
	for _, file := range root.Syntax {
		loaded[s.Fset.PositionFor(file.FileStart, false).Filename] = true
		note(file)
	}
	dir := load.Directory(root)
	entries, _ := os.ReadDir(dir)
	for _, entry := range entries {
		filename := filepath.Join(dir, entry.Name())
		if filepath.Ext(filename) != ".go" || loaded[filename] || s.IsGenerated(filename) {
			continue
		}
		file, _ := parser.ParseFile(token.NewFileSet(), filename, nil, parser.SkipObjectResolution)
		if file != nil && file.Name.Name == root.Name {
			note(file)
		}
	}
	for name := range imports {
		if !names[name] && name != "_" && name != "." {
			imported = append(imported, name)
			names[name] = true
		}
	}
	delete(names, "_")
	delete(names, "init")
	slices.Sort(imported)
	return slices.Sorted(maps.Keys(names)), imported
}

// importedName is the name of a package that an import without a name declares.
func importedName(root *packages.Package, spec *ast.ImportSpec) string {
	importPath := source.ImportPath(spec)
	if imported := root.Imports[importPath]; imported != nil && imported.Name != "" {
		return imported.Name
	}
	return path.Base(importPath)
}

// noteSharedNames notes operations of one name in several packages, which cannot be merged into one adapter.
func (s *scanner) noteSharedNames(all []model.Package) {
	first := make(map[string]model.Position)
	owner := make(map[string]string)
	for _, pkg := range all {
		for _, handler := range pkg.Handlers {
			name := handler.Operation.Name
			if other, taken := owner[name]; taken && other != pkg.Path {
				s.Diagnostics = append(s.Diagnostics, diag.Diagnostic{
					Severity: diag.Note, Code: diag.CodeDuplicate, Position: handler.Position,
					EndColumn: handler.Position.Column + len(handler.Func),
					FieldPath: handler.Func, Actual: name,
					Message: fmt.Sprintf("operation name %q is also used in package %s; aql.Merge refuses to join the two", name,
						other),
					Related: []diag.Related{{Position: first[name], Message: "the other one is here"}},
				})
				continue
			}
			if _, taken := owner[name]; !taken {
				first[name], owner[name] = handler.Position, pkg.Path
			}
		}
	}
}
