package scan

import (
	"fmt"
	"go/token"
	"go/types"
	"slices"

	"github.com/aqltag/aqltag/internal/diag"
	"github.com/aqltag/aqltag/internal/scan/gotype"
	"github.com/aqltag/aqltag/internal/scan/shapes"
	"github.com/aqltag/aqltag/internal/scan/tags"
	"github.com/aqltag/aqltag/model"
)

// isQueried reports whether an operation is queried though its function knows nothing of queries.
func isQueried(o *operation) bool {
	_, found := tags.Find(o.items, "query")
	return found && !o.tagged
}

// buildQueried applies the key query: the result of the operation is a page of what its function returns.
func (b *builder) buildQueried(o *operation, h *handled) {
	item, found := tags.Find(o.items, "query")
	if !found {
		return
	}
	report := func(message, suggestion string) {
		b.Report(item.At, diag.Diagnostic{
			Code: diag.CodeType, FieldPath: o.name(), Message: message, Suggestion: suggestion,
		})
	}
	if o.tagged {
		report("query is for directives, on functions that know nothing of queries",
			"remove it, and embed aql.Query[T] in the request struct")
		return
	}
	elem, queried := listed(o.result)
	if elem == nil || o.http != nil || h.Adopted.Field != "" {
		report(fmt.Sprintf("query does not apply to %s, which returns %s", o.name(), b.returned(o)),
			"return []T, []*T, iter.Seq[T] or iter.Seq2[T, error] with a named struct T, or remove query")
		if o.result != nil && isFunction(o.result) {
			o.result = nil
		}
		return
	}
	shape, fault := b.shapeOf(elem, "")
	if fault != nil {
		o.result = types.NewSlice(elem) // buildResult reports the element
		return
	}
	if _, named := types.Unalias(elem).(*types.Named); !named || shape.Kind != shapes.Struct || shape.Message {
		report(fmt.Sprintf("query does not apply to %s, which returns %s: agents would see no fields to filter by", o.name(),
			b.returned(o)), "return elements of a named struct, or remove query")
		o.result = types.NewSlice(elem)
		return
	}
	if hasLock(elem, make(map[types.Type]bool)) {
		report(fmt.Sprintf("query does not apply to %s: the items of a page are copies, and %s has a lock", o.name(),
			b.text(elem)), "return elements without one, or remove query")
		return
	}
	text, spellable := b.speller.Spell(elem)
	if !spellable {
		return // buildResult reports it
	}
	query, page := b.queryTypes()
	queried.Elem, queried.Field = text, "Query"
	for _, v := range o.arguments {
		if v.Name() == queried.Field {
			queried.Field = "query"
		}
	}
	o.query, o.result = b.instance(query, elem), types.NewPointer(b.instance(page, elem))
	h.Queried = &queried
}

// instance returns an instance of a generic type.
func (b *builder) instance(generic, argument types.Type) types.Type {
	t, err := types.Instantiate(nil, generic, []types.Type{argument}, false)
	if err != nil {
		panic(err) // one type argument, and no constraint
	}
	return t
}

// returned says what a function returns.
func (b *builder) returned(o *operation) string {
	if o.result == nil {
		return "nothing"
	}
	return b.text(o.result)
}

// hasLock reports whether values of a type have, at any depth, methods Lock and Unlock that need a pointer.
func hasLock(t types.Type, visited map[types.Type]bool) bool {
	if visited[t] {
		return false
	}
	visited[t] = true
	if _, isInterface := t.Underlying().(*types.Interface); !isInterface {
		pointer := types.NewMethodSet(types.NewPointer(t))
		if pointer.Lookup(nil, "Lock") != nil && pointer.Lookup(nil, "Unlock") != nil &&
			types.NewMethodSet(t).Lookup(nil, "Lock") == nil {
			return true
		}
	}
	switch u := t.Underlying().(type) {
	case *types.Array:
		return hasLock(u.Elem(), visited)
	case *types.Struct:
		for field := range u.Fields() {
			if hasLock(field.Type(), visited) {
				return true
			}
		}
	}
	return false
}

// listed returns the type of the elements that a result of type t lists, and how a query takes them; nil: t is no list.
func listed(t types.Type) (elem types.Type, queried model.Queried) {
	if t == nil {
		return nil, queried
	}
	if named, ok := types.Unalias(t).(*types.Named); ok && named.TypeArgs().Len() > 0 {
		switch arguments := named.TypeArgs(); {
		case gotype.Is(t, "iter", "Seq"):
			return arguments.At(0), model.Queried{Method: "Stream", Plain: true}
		case gotype.Is(t, "iter", "Seq2") && isError(arguments.At(1)):
			return arguments.At(0), model.Queried{Method: "Stream"}
		}
	}
	slice, ok := t.Underlying().(*types.Slice)
	if !ok {
		return nil, queried
	}
	if pointer, ok := types.Unalias(slice.Elem()).(*types.Pointer); ok {
		return pointer.Elem(), model.Queried{Method: "Pointers"}
	}
	return slice.Elem(), model.Queried{Method: "Slice"}
}

// addQuery adds the parameters of aql.Query to those of a function that knows nothing of it.
func (b *builder) addQuery(o operation, h *handled) {
	if h.Queried == nil {
		return
	}
	if slices.ContainsFunc(h.request.Fields, isQueryField) {
		item, _ := tags.Find(o.items, "query")
		b.Report(item.At, diag.Diagnostic{
			Code: diag.CodeDuplicate, FieldPath: o.name(),
			Message:    fmt.Sprintf("the request of %s embeds aql.Query, so query says the same twice", o.name()),
			Suggestion: "remove query, and return *aql.Page; or remove aql.Query from the request",
		})
		return
	}
	embedding := types.NewStruct([]*types.Var{types.NewField(token.NoPos, nil, h.Queried.Field, o.query, true)}, nil)
	shape, fault := b.shapeOf(embedding, "")
	if fault != nil {
		return // the result has the same
	}
	h.request = h.request.Clone()
	for _, f := range shape.Fields {
		if !isOfOtherPaging(f, pagingOf(o)) {
			h.request.Fields = append(h.request.Fields, f)
		}
	}
}

// checkAdded reports parameters of a function that have the name of one that the key query adds. A parameter query of
// its own is the one that requests have.
func (b *builder) checkAdded(o operation, h *handled, item tags.Item) bool {
	own := make(map[string]shapes.Field)
	for _, f := range h.request.Fields {
		if isQueryField(f) {
			continue
		}
		for _, name := range append([]string{f.Param.Name}, f.Param.Aliases...) {
			own[name] = f
		}
	}
	h.request = h.request.Clone()
	h.request.Fields = slices.DeleteFunc(h.request.Fields, func(f shapes.Field) bool {
		_, taken := own["query"]
		return taken && isQueryField(f) && f.Param.Name == "query"
	})
	ok := true
	for _, name := range queryParams(o) {
		f, taken := own[name]
		if !taken {
			continue
		}
		ok = false
		what := "another one of this name"
		if f.Param.Name != name {
			what = fmt.Sprintf("the parameter %q with this alias", f.Param.Name)
		}
		b.Report(f.Tag.NameAt, diag.Diagnostic{
			Code: diag.CodeDuplicate, FieldPath: o.name(), Actual: name,
			Message:    fmt.Sprintf("query adds the parameter %q, and %s has %s", name, o.name(), what),
			Suggestion: "rename it, or remove query",
			Related:    []diag.Related{b.Related(item.At.Start, "query is here")},
		})
	}
	return ok
}
