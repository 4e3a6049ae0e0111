// Package gotype writes Go types as text, for messages and for generated code.
package gotype

import (
	"go/types"
	"maps"
	"slices"

	"github.com/aqltag/aqltag/internal/load"
	"github.com/aqltag/aqltag/model"
)

// Speller writes Go types for the generated file of one package.
type Speller struct {
	Own   *types.Package
	known map[types.Type]spelling
}

// spelling is a type in generated code.
type spelling struct {
	text model.GoType
	ok   bool
}

// NewSpeller makes a speller for the generated file of package own.
func NewSpeller(own *types.Package) *Speller {
	return &Speller{Own: own, known: make(map[types.Type]spelling)}
}

// Text returns a Go type as the source of package own writes it, with the names of packages as qualifiers.
func Text(t types.Type, own *types.Package) string {
	return types.TypeString(t, func(pkg *types.Package) string {
		if pkg == own {
			return ""
		}
		return pkg.Name()
	})
}

// canName reports whether generated code may mention a type.
func (s *Speller) canName(object *types.TypeName) bool {
	pkg := object.Pkg()
	if pkg == nil || pkg == s.Own {
		return true
	}
	return object.Exported() && pkg.Name() != "main" && load.MayImport(s.Own.Path(), pkg.Path())
}

// Spell returns a type as generated code mentions it. It returns false if generated code cannot.
func (s *Speller) Spell(t types.Type) (model.GoType, bool) {
	if known, ok := s.known[t]; ok {
		return known.text, known.ok
	}
	text, ok := s.write(t)
	s.known[t] = spelling{text, ok}
	return text, ok
}

func (s *Speller) write(t types.Type) (model.GoType, bool) {
	if !s.spellable(t, make(map[types.Type]bool)) {
		return model.GoType{}, false
	}
	imports := make(map[string]string)
	text := types.TypeString(t, func(pkg *types.Package) string {
		if pkg == s.Own {
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

// spellable reports whether generated code may mention every name in t.
func (s *Speller) spellable(t types.Type, seen map[types.Type]bool) bool {
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
			if !field.Exported() && field.Pkg() != s.Own || !s.spellable(field.Type(), seen) {
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

func (s *Speller) spellableTuple(tuple *types.Tuple, seen map[types.Type]bool) bool {
	for v := range tuple.Variables() {
		if !s.spellable(v.Type(), seen) {
			return false
		}
	}
	return true
}

// Is reports whether t is the named type name of package pkgPath, or an instance of it.
func Is(t types.Type, pkgPath, name string) bool {
	named, ok := types.Unalias(t).(*types.Named)
	if !ok {
		return false
	}
	object := named.Obj()
	return object.Name() == name && object.Pkg() != nil && object.Pkg().Path() == pkgPath
}

// Pointee returns the type that t points to, or t itself if it is no pointer, without aliases.
func Pointee(t types.Type) types.Type {
	t = types.Unalias(t)
	if pointer, ok := t.(*types.Pointer); ok {
		return types.Unalias(pointer.Elem())
	}
	return t
}

// Name returns a type as its own package writes it.
func Name(t types.Type) string {
	if named, ok := t.(*types.Named); ok && named.TypeArgs().Len() == 0 {
		return named.Obj().Name()
	}
	return types.TypeString(t, func(pkg *types.Package) string { return pkg.Name() })
}
