package scan

import (
	"go/constant"
	"go/types"
	"slices"

	"github.com/aqltag/aqltag/model"
)

// constantsOf lists the typed string constants of t that the package being generated can name, in declaration order,
// one for each value: they make t an enum.
func (s *shaper) constantsOf(t types.Type) []model.EnumConst {
	var out []model.EnumConst
	seen := make(map[string]bool)
	for _, c := range s.constants(t) {
		if value := constant.StringVal(c.Val()); !seen[value] {
			seen[value] = true
			out = append(out, model.EnumConst{Name: c.Name(), Value: value})
		}
	}
	return out
}

// enumValues is constantsOf with the constants' docs, as introspection shows them.
func (s *shaper) enumValues(t types.Type) []model.EnumValue {
	var out []model.EnumValue
	seen := make(map[string]bool)
	for _, c := range s.constants(t) {
		value := constant.StringVal(c.Val())
		if seen[value] {
			continue
		}
		seen[value] = true
		doc := describe(s.valueDoc(c), c.Name())
		out = append(out, model.EnumValue{Value: value, Description: doc})
	}
	return out
}

// constants finds the constants of type t in the package that declares t.
func (s *shaper) constants(t types.Type) []*types.Const {
	named, ok := t.(*types.Named)
	if !ok || named.Obj().Pkg() == nil {
		return nil
	}
	pkg := named.Obj().Pkg()
	var found []*types.Const
	scope := s.scopeOf(pkg)
	for _, name := range scope.Names() {
		c, ok := scope.Lookup(name).(*types.Const)
		if !ok || !types.Identical(c.Type(), t) || c.Val().Kind() != constant.String {
			continue
		}
		if pkg == s.own || c.Exported() {
			found = append(found, c)
		}
	}
	slices.SortFunc(found, func(a, b *types.Const) int { return s.before(a.Pos(), b.Pos()) })
	return found
}

// typeDoc is the description of a named type.
func (s *shaper) typeDoc(t types.Type) string {
	named, ok := t.(*types.Named)
	if !ok || named.Obj().Pkg() == nil {
		return ""
	}
	object := named.Origin().Obj()
	return describe(s.typeSyntax(object).doc, object.Name())
}
