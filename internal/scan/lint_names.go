package scan

import (
	"fmt"
	"slices"
	"strings"

	"github.com/aqltag/aqltag/internal/diag"
	"github.com/aqltag/aqltag/internal/scan/naming"
	"github.com/aqltag/aqltag/internal/scan/shapes"
	"github.com/aqltag/aqltag/runtime/gen"
)

// lintNames warns of names that agents would misread: those that the protocol gives another type, those that mean
// something else in another operation of the package, and operations whose verb comes last.
func (b *builder) lintNames(handlers []handled, operations []operation) {
	seen := make(map[string]sharedParameter)
	for i := range handlers {
		h := &handlers[i]
		b.lintVerb(operations[i], h.Operation.Name)
		for j := range h.request.Fields {
			f := &h.request.Fields[j]
			if f.Param.Name == "input" && h.Operation.Category == gen.Update {
				continue // its type is that of the resource
			}
			if f.Tag.NameAt.Start == 0 || f.Var == nil || !b.Editable(f.Var.Pkg()) {
				continue // among them those of aql.Query, which follow from its elements
			}
			if b.lintStandardName(h, f) {
				continue
			}
			if first, shared := seen[f.Param.Name]; shared {
				b.lintShared(h, f, first)
			} else {
				seen[f.Param.Name] = sharedParameter{h.Operation.Name, f}
			}
		}
	}
}

// standardKinds returns the JSON types of the parameters that mean the same in every adapter (MCP-AQL operations
// §4.4.1); nil for other names.
func standardKinds(name string) []string {
	switch name {
	case "query":
		return []string{"string", "object"}
	case "filter", "sort", "aggregate":
		return []string{"object"}
	case "first", "last", "limit", "offset", "page", "page_size":
		return []string{"integer"}
	case "after", "before":
		return []string{"string", "date-time"}
	case "dry_run":
		return []string{"boolean"}
	}
	return nil
}

// lintStandardName warns of a parameter with a name of the protocol's and another type, and reports whether it did.
func (b *builder) lintStandardName(h *handled, f *shapes.Field) bool {
	kinds, kind := standardKinds(f.Param.Name), kindOf(f)
	if kinds == nil || kind == "any" {
		return false
	}
	if slices.Contains(kinds, kind) {
		b.proposeDryRun(h, f)
		return false
	}
	b.Report(f.Tag.NameAt, diag.Diagnostic{
		Severity: diag.Warning, Code: diag.CodeName, Kind: diag.KindStandard, FieldPath: f.Path, Expected: kinds[0],
		Actual: kind,
		Message: fmt.Sprintf("parameter %s of %s has the type %s; the protocol gives this name the type %s", f.Param.Name,
			h.Operation.Name, kind, kinds[0]),
		Suggestion: "choose another name with name=",
	})
	return true
}

// proposeDryRun proposes the tag of a parameter that by its name asks for a dry run: without the tag, a dry run is
// confirmed like any other call.
func (b *builder) proposeDryRun(h *handled, f *shapes.Field) {
	if f.Param.Name != "dry_run" || f.Param.DryRun || h.Operation.Category == gen.Read {
		return
	}
	b.Report(f.Tag.NameAt, diag.Diagnostic{
		Severity: diag.Note, Code: diag.CodeName, Kind: diag.KindDryRun, FieldPath: f.Path, Expected: "dryrun",
		Message: fmt.Sprintf("nothing says that %s changes nothing if dry_run is true, so a dry run is confirmed like any "+
			"other call", h.Operation.Name),
		Suggestion: "if that is so, add dryrun to the aql tag",
	})
}

// sharedParameter is the first parameter of a name.
type sharedParameter struct {
	operation string
	field     *shapes.Field
}

// lintShared warns of a parameter that has another type or default in another operation (MCP-AQL operations §4.4.4).
func (b *builder) lintShared(h *handled, f *shapes.Field, first sharedParameter) {
	other := first.field
	warn := func(message, suggestion string) {
		b.Report(f.Tag.NameAt, diag.Diagnostic{
			Severity: diag.Warning, Code: diag.CodeType, Kind: diag.KindShared, FieldPath: f.Path, Message: message,
			Suggestion: suggestion,
			Related:    []diag.Related{b.Related(other.Tag.At.Start, "the one of "+first.operation+" is here")},
		})
	}
	switch kind, otherKind := kindOf(f), kindOf(other); {
	case kind != otherKind:
		warn(fmt.Sprintf("parameter %s has the type %s in %s and %s in %s", f.Param.Name, kind, h.Operation.Name, otherKind,
			first.operation), "give one of them another name with name=")
	case f.Param.Default != other.Param.Default && f.Param.Default != "" && other.Param.Default != "":
		warn(fmt.Sprintf("parameter %s has the default %s in %s and %s in %s", f.Param.Name, f.Param.Default,
			h.Operation.Name, other.Param.Default, first.operation), "use one default")
	}
}

// kindOf returns the JSON type of a field's values.
func kindOf(f *shapes.Field) string { return shapes.JSONKind(shapes.Indirect(f.Shape)) }

// lintVerb warns of an operation whose name ends in its verb (MCP-AQL core §8.5.2).
func (b *builder) lintVerb(o operation, name string) {
	if _, _, known := naming.VerbCategory(name); known {
		return
	}
	resource, verb, found := cutLast(name)
	if !found {
		return // operations of the whole service may have no resource
	}
	if _, _, known := naming.VerbCategory(verb); known {
		b.Report(o.at(), diag.Diagnostic{
			Severity: diag.Warning, Code: diag.CodeName, Kind: diag.KindVerb, FieldPath: o.name(), Actual: name,
			Message:    fmt.Sprintf("operation %s has its verb behind the resource", name),
			Suggestion: fmt.Sprintf("name it %s_%s with op=", verb, resource),
		})
	}
}

func cutLast(name string) (before, after string, found bool) {
	at := strings.LastIndexByte(name, '_')
	if at < 0 {
		return name, "", false
	}
	return name[:at], name[at+1:], true
}
