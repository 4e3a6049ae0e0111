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

// lintQuery proposes a query for an operation that by its name lists a collection, and returns all of it.
func (b *builder) lintQuery(o operation, h *handled) {
	op := &h.Operation
	if !strings.HasPrefix(op.Name, "list_") && !strings.HasPrefix(op.Name, "search_") || !QueryFits(h.request, h.result) ||
		op.Category != gen.Read {
		return
	}
	elem, _ := listed(o.result)
	suggestion := "add query to its directive"
	if o.tagged {
		suggestion = fmt.Sprintf("embed aql.Query[%s] in the request, and return its page", b.text(elem))
	}
	b.Report(o.at(), diag.Diagnostic{
		Severity: diag.Note, Code: diag.CodeMissing, Kind: diag.KindQuery, FieldPath: o.name(), Expected: "aql.Query",
		Message:    fmt.Sprintf("agents can neither filter, sort nor page what operation %s lists", op.Name),
		Suggestion: suggestion,
	})
}

// QueryFits reports whether an operation lists all elements of a collection, so that agents could query it: its result
// is a slice of structs with a field that identifies them, and its request has no parameters for that.
func QueryFits(request, result *shapes.Shape) bool {
	if result == nil || result.Kind != shapes.Slice {
		return false
	}
	elem := shapes.Indirect(result.Elem)
	if elem.Kind != shapes.Struct || elem.Message || elem.Go.Name == "" {
		return false
	}
	found := gen.Identifiers(paramsOf(elem))
	if !isIdentified(elem, found) || slices.ContainsFunc(found, func(i int) bool {
		f := &elem.Fields[i]
		return !isComparable(f) || f.Shape.Kind == shapes.Slice
	}) {
		return false
	}
	fits := true
	eachField(request, make(map[*shapes.Shape]bool), func(_ *shapes.Shape, f *shapes.Field) bool {
		fits = fits && !naming.IsPaging(f.Param.Name) && f.Param.Name != "filter" && f.Param.Name != "sort" &&
			f.Param.Name != "aggregate"
		return fits
	})
	return fits
}
