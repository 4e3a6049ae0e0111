package scan

import (
	"go/token"
	"go/types"
	"slices"

	"github.com/aqltag/aqltag/internal/scan/gotype"
	"github.com/aqltag/aqltag/internal/scan/shapes"
	"github.com/aqltag/aqltag/model"
)

// guards lists the structs of requests and results that generated code can name, each once, in the order in which
// operations use them.
func guards(s *gotype.Speller, handlers []handled) []model.Guard {
	var list []model.Guard
	visited := make(map[*shapes.Shape]bool)
	seen := make(map[string]bool)
	var add func(named *types.Named, shape *shapes.Shape)
	add = func(named *types.Named, shape *shapes.Shape) {
		guard, ok := guardOf(s, named, shape)
		if !ok || seen[guard.Type.Text] {
			return
		}
		seen[guard.Type.Text] = true
		list = append(list, guard)
		for _, inner := range embeddedStructs(named) {
			if inner.Obj().Pkg() == s.Own {
				add(inner, shape)
			}
		}
	}
	var visit func(shape *shapes.Shape)
	visit = func(shape *shapes.Shape) {
		if shape == nil || visited[shape] {
			return
		}
		visited[shape] = true
		if named, ok := shape.Type.(*types.Named); ok && shape.Kind == shapes.Struct && !shapes.EmbedsEndlessly(named) &&
			!shapes.IsRuntime(named.Obj().Pkg()) {
			add(named, shape)
		}
		visit(shape.Key)
		visit(shape.Elem)
		for i := range shape.Fields {
			visit(shape.Fields[i].Shape)
		}
		for i := range shape.Computed {
			visit(shape.Computed[i].Shape)
		}
	}
	for _, h := range handlers {
		visit(h.request)
		visit(h.body)
		visit(h.result)
	}
	return list
}

// guardOf lists the fields of a struct as Go declares them. Of a struct of another package, which may gain fields, it
// lists those that are carried.
func guardOf(s *gotype.Speller, named *types.Named, shape *shapes.Shape) (model.Guard, bool) {
	text, ok := s.Spell(named)
	st, isStruct := named.Underlying().(*types.Struct)
	if !ok || !isStruct {
		return model.Guard{}, false
	}
	guard := model.Guard{Type: text, Whole: named.Obj().Pkg() == s.Own}
	for field := range st.Fields() {
		text, ok := s.Spell(field.Type())
		if !ok || !field.Exported() && field.Pkg() != s.Own {
			guard.Whole = false
			continue
		}
		guard.Fields = append(guard.Fields, model.GuardField{Name: field.Name(), Type: text})
	}
	if guard.Whole {
		return guard, true
	}
	guard.Fields = slices.DeleteFunc(guard.Fields, func(f model.GuardField) bool {
		return f.Name == "_" || !slices.ContainsFunc(shape.Fields, func(field shapes.Field) bool {
			return len(field.Selector) > 0 && field.Selector[0] == f.Name
		}) || !token.IsExported(f.Name) && named.Obj().Pkg() != s.Own
	})
	return guard, len(guard.Fields) > 0
}

// embeddedStructs lists the named structs that a struct embeds.
func embeddedStructs(named *types.Named) []*types.Named {
	st, ok := named.Underlying().(*types.Struct)
	if !ok {
		return nil
	}
	var list []*types.Named
	for field := range st.Fields() {
		t := types.Unalias(field.Type())
		if p, ok := t.(*types.Pointer); ok {
			t = types.Unalias(p.Elem())
		}
		inner, ok := t.(*types.Named)
		if !ok || !field.Embedded() {
			continue
		}
		if _, ok := inner.Underlying().(*types.Struct); ok {
			list = append(list, inner)
		}
	}
	return list
}

// haveMessages reports whether requests or results contain messages of protocol buffers.
func haveMessages(handlers []handled) bool {
	visited := make(map[*shapes.Shape]bool)
	var has func(shape *shapes.Shape) bool
	has = func(shape *shapes.Shape) bool {
		if shape == nil || visited[shape] {
			return false
		}
		visited[shape] = true
		return shape.Message || has(shape.Elem) ||
			slices.ContainsFunc(shape.Fields, func(f shapes.Field) bool { return has(f.Shape) }) ||
			slices.ContainsFunc(shape.Computed, func(f shapes.Field) bool { return has(f.Shape) })
	}
	return slices.ContainsFunc(handlers, func(h handled) bool { return has(h.request) || has(h.result) })
}
