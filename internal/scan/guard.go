package scan

import (
	"go/token"
	"go/types"
	"maps"
	"slices"

	"github.com/aqltag/aqltag/model"
)

// guards lists the structs that requests and results consist of and that generated code can name, each once, in the order
// in which they are met.
func (s *shaper) guards(handlers []handled) []model.Guard {
	var list []model.Guard
	visited := make(map[*model.Shape]bool)
	seen := make(map[string]bool)
	var add func(named *types.Named, shape *model.Shape)
	add = func(named *types.Named, shape *model.Shape) {
		guard, ok := s.guard(named, shape)
		if !ok || seen[guard.Type.Text] {
			return
		}
		seen[guard.Type.Text] = true
		list = append(list, guard)
		for _, inner := range embeddedStructs(named) {
			if inner.Obj().Pkg() == s.own {
				add(inner, shape)
			}
		}
	}
	var visit func(shape *model.Shape)
	visit = func(shape *model.Shape) {
		if shape == nil || visited[shape] {
			return
		}
		visited[shape] = true
		if named, ok := s.goTypes[shape].(*types.Named); ok && shape.Kind == model.ShapeStruct {
			add(named, shape)
		}
		visit(shape.Key)
		visit(shape.Elem)
		for i := range shape.Fields {
			visit(shape.Fields[i].Shape)
		}
	}
	for _, h := range handlers {
		visit(h.request)
		visit(h.result)
	}
	return list
}

// guard spells a struct as Go declares it. A struct of another package, which may grow without anybody here noticing, is
// spelled as far as its fields travel.
func (s *shaper) guard(named *types.Named, shape *model.Shape) (model.Guard, bool) {
	text, ok := s.goType(named)
	st, isStruct := named.Underlying().(*types.Struct)
	if !ok || !isStruct {
		return model.Guard{}, false
	}
	guard := model.Guard{Type: text, Whole: named.Obj().Pkg() == s.own}
	for field := range st.Fields() {
		text, ok := s.goType(field.Type())
		if !ok {
			guard.Whole = false
			continue
		}
		guard.Fields = append(guard.Fields, model.GuardField{
			Name: field.Name(), Locks: locks(field.Type(), 0), Type: text,
		})
	}
	if guard.Whole {
		return guard, true
	}
	guard.Fields = slices.DeleteFunc(guard.Fields, func(f model.GuardField) bool {
		return f.Name == "_" || !slices.ContainsFunc(shape.Fields, func(field model.Field) bool {
			return len(field.Selector) > 0 && field.Selector[0] == f.Name
		}) || !token.IsExported(f.Name) && named.Obj().Pkg() != s.own
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

// locks reports whether copying a value would copy a lock, which go vet refuses.
func locks(t types.Type, depth int) bool {
	if depth > 16 {
		return false
	}
	switch u := types.Unalias(t).Underlying().(type) {
	case *types.Array:
		return locks(u.Elem(), depth+1)
	case *types.Struct:
		lock, _, _ := types.LookupFieldOrMethod(types.NewPointer(t), false, nil, "Lock")
		unlock, _, _ := types.LookupFieldOrMethod(types.NewPointer(t), false, nil, "Unlock")
		_, isLock := lock.(*types.Func)
		_, isUnlock := unlock.(*types.Func)
		if isLock && isUnlock {
			return true
		}
		for field := range u.Fields() {
			if locks(field.Type(), depth+1) {
				return true
			}
		}
	}
	return false
}

// goType spells t for the package being generated; not ok where that is impossible.
func (s *shaper) goType(t types.Type) (model.GoType, bool) {
	if known, ok := s.texts[t]; ok {
		return known.text, known.ok
	}
	text, ok := s.spell(t)
	s.texts[t] = typeText{text, ok}
	return text, ok
}

// typeText is what a type is called in generated code.
type typeText struct {
	text model.GoType
	ok   bool
}

func (s *shaper) spell(t types.Type) (model.GoType, bool) {
	if !s.spellable(t, make(map[types.Type]bool)) {
		return model.GoType{}, false
	}
	imports := make(map[string]string)
	text := types.TypeString(t, func(pkg *types.Package) string {
		if pkg == s.own {
			return ""
		}
		imports[pkg.Path()] = pkg.Name()
		return pkg.Name()
	})
	out := model.GoType{Text: text}
	names := make(map[string]bool)
	for _, path := range slices.Sorted(maps.Keys(imports)) {
		if names[imports[path]] {
			return model.GoType{}, false // two packages of one name in one text
		}
		names[imports[path]] = true
		out.Imports = append(out.Imports, model.Import{Path: path, Name: imports[path]})
	}
	return out, true
}

// spellable reports whether every name in t can be said in the package being generated.
func (s *shaper) spellable(t types.Type, seen map[types.Type]bool) bool {
	if seen[t] {
		return true
	}
	seen[t] = true
	each := func(list ...types.Type) bool {
		return !slices.ContainsFunc(list, func(t types.Type) bool { return !s.spellable(t, seen) })
	}
	arguments := func(list *types.TypeList) bool {
		for arg := range list.Types() {
			if !s.spellable(arg, seen) {
				return false
			}
		}
		return true
	}
	switch t := t.(type) {
	case *types.Basic:
		return t.Kind() != types.Invalid
	case *types.Alias:
		return s.canName(t.Obj()) && arguments(t.TypeArgs())
	case *types.Named:
		return s.canName(t.Obj()) && arguments(t.TypeArgs())
	case *types.Pointer:
		return each(t.Elem())
	case *types.Slice:
		return each(t.Elem())
	case *types.Array:
		return each(t.Elem())
	case *types.Chan:
		return each(t.Elem())
	case *types.Map:
		return each(t.Key(), t.Elem())
	case *types.Signature:
		return s.spellableTuple(t.Params(), seen) && s.spellableTuple(t.Results(), seen)
	case *types.Struct:
		for field := range t.Fields() {
			if !field.Exported() && field.Pkg() != s.own || !s.spellable(field.Type(), seen) {
				return false
			}
		}
		return true
	case *types.Interface:
		for method := range t.ExplicitMethods() {
			if !method.Exported() || !s.spellable(method.Type(), seen) {
				return false
			}
		}
		for embedded := range t.EmbeddedTypes() {
			if !s.spellable(embedded, seen) {
				return false
			}
		}
		return true
	case *types.Union:
		for term := range t.Terms() {
			if !s.spellable(term.Type(), seen) {
				return false
			}
		}
		return true
	case *types.TypeParam:
		return true
	}
	return false
}

func (s *shaper) spellableTuple(tuple *types.Tuple, seen map[types.Type]bool) bool {
	for v := range tuple.Variables() {
		if !s.spellable(v.Type(), seen) {
			return false
		}
	}
	return true
}
