package scan

import (
	"go/types"
	"maps"
	"slices"

	"github.com/aqltag/aqltag/model"
)

// guard spells a struct field by field, or returns nil where generated code could not repeat it: unexported fields or
// types of another package.
func (s *shaper) guard(st *types.Struct) []model.GuardField {
	fields := make([]model.GuardField, 0, st.NumFields())
	for field := range st.Fields() {
		if !field.Exported() && field.Pkg() != s.own {
			return nil
		}
		text, ok := s.goType(field.Type())
		if !ok {
			return nil
		}
		fields = append(fields, model.GuardField{Name: field.Name(), Embedded: field.Embedded(), Type: text})
	}
	return fields
}

// goType spells t for the package being generated; not ok where that is impossible.
func (s *shaper) goType(t types.Type) (model.GoType, bool) {
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
		return t.Empty()
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
