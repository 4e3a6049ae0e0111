package shapes

import (
	"fmt"
	"go/types"

	"golang.org/x/tools/go/types/typeutil"

	"github.com/aqltag/aqltag/internal/scan/gotype"
)

// instance is an instance of a generic type within which others are being found.
type instance struct {
	origin  *types.Named
	depth   int       // of its type arguments
	growths int       // how many instances around it have ever deeper type arguments, one within the other
	outer   *instance // nil: there is none
}

// maxGrowths bounds how many instances of one generic type may stand within each other, each with deeper type arguments
// than the one around it. A type that ends repeats an instance before, unless its source spells such arguments out.
const maxGrowths = 4

// within returns t as an instance inside of outer: outer itself if t is not generic. It returns false if the instances
// have no end, as those of
//
//	type Node[T any] struct{ Next *Node[Node[T]] }
//
// The compiler refuses such a type, but the packages that are scanned need not compile.
func within(outer *instance, t types.Type) (*instance, bool) {
	named, ok := t.(*types.Named)
	if !ok || named.TypeArgs().Len() == 0 {
		return outer, true
	}
	inner := &instance{origin: named.Origin(), outer: outer}
	for arg := range named.TypeArgs().Types() {
		inner.depth = max(inner.depth, depthOf(arg))
	}
	for i := outer; i != nil; i = i.outer {
		if i.origin == inner.origin && i.depth < inner.depth {
			inner.growths = max(inner.growths, i.growths+1)
		}
	}
	return inner, inner.growths <= maxGrowths
}

// within is the function within, with the reason why there is no end.
func (m *Maker) within(outer *instance, t types.Type) (*instance, *Fault) {
	inner, ends := within(outer, t)
	if inner == outer {
		return outer, nil
	}
	if !ends {
		m.endless[inner.origin] = true // or each of its other fields would have to grow as deep
	}
	if m.endless[inner.origin] {
		return outer, m.endlessFault(inner.origin)
	}
	return inner, nil
}

// EmbedsEndlessly reports whether the structs that t embeds have no end, nor a search for a promoted field or method.
func EmbedsEndlessly(t types.Type) bool { return embedsEndlessly(nil, t, new(typeutil.Map)) }

func embedsEndlessly(outer *instance, t types.Type, seen *typeutil.Map) bool {
	t = gotype.Pointee(t)
	st, ok := t.Underlying().(*types.Struct)
	if !ok || !embedsAny(st) || seen.At(t) != nil {
		return false
	}
	seen.Set(t, true)
	inner, ends := within(outer, t)
	if !ends {
		return true
	}
	for field := range st.Fields() {
		if field.Embedded() && embedsEndlessly(inner, field.Type(), seen) {
			return true
		}
	}
	return false
}

func embedsAny(st *types.Struct) bool {
	for field := range st.Fields() {
		if field.Embedded() {
			return true
		}
	}
	return false
}

func (m *Maker) endlessFault(origin *types.Named) *Fault {
	return &Fault{
		Message:    fmt.Sprintf("%s contains itself with ever longer type arguments, so it has no end", gotype.Name(origin)),
		Suggestion: "let it contain itself with the type arguments that it has",
	}
}

// depthOf returns how deep the types are nested that t is written with.
func depthOf(t types.Type) int {
	deepest := 0
	inside := func(t types.Type) { deepest = max(deepest, depthOf(t)) }
	tuple := func(list *types.Tuple) {
		for v := range list.Variables() {
			inside(v.Type())
		}
	}
	switch t := types.Unalias(t).(type) {
	case *types.Named:
		for arg := range t.TypeArgs().Types() {
			inside(arg)
		}
	case interface{ Elem() types.Type }:
		inside(t.Elem())
		if dictionary, ok := t.(*types.Map); ok {
			inside(dictionary.Key())
		}
	case *types.Struct:
		for field := range t.Fields() {
			inside(field.Type())
		}
	case *types.Signature:
		tuple(t.Params())
		tuple(t.Results())
	case *types.Interface:
		for method := range t.ExplicitMethods() {
			inside(method.Type())
		}
	default:
		return 0
	}
	return deepest + 1
}

// pointsToItself reports whether a pointer type only leads to itself: `type P *P`, or by an aql.Optional or a sql.Null.
func pointsToItself(t types.Type) bool {
	for range 64 {
		pointer, ok := t.Underlying().(*types.Pointer)
		switch {
		case ok:
			t = pointer.Elem()
		case gotype.Is(t, runtimePath, "Optional"):
			named, ok := types.Unalias(t).(*types.Named)
			if !ok || named.TypeArgs().Len() != 1 {
				return false
			}
			t = named.TypeArgs().At(0)
		case isSQLNull(t):
			t = t.Underlying().(*types.Struct).Field(0).Type()
		default:
			return false
		}
	}
	return true
}
