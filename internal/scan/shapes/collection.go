package shapes

import "go/types"

// packageOf is the package of a named type; nil: it has none.
func packageOf(t types.Type) *types.Package {
	if named, ok := t.(*types.Named); ok {
		return named.Obj().Pkg()
	}
	return nil
}

// protocolDoc describes a type of the aql package to agents.
func protocolDoc(name GoName) string {
	switch name.Name {
	case "Page":
		return "A page of a list."
	case "PageInfo", "Pagination":
		return "What is around a page."
	case "Sort":
		return "An order."
	case "Summary":
		return "What to know of all that matches: one function or more, of each group if there is group_by."
	}
	return ""
}

// fillFilter makes the shape of the parameter filter of aql.Query[T]. The type argument is shaped already.
func (m *Maker) fillFilter(out *Shape) *Fault {
	if len(out.Go.Args) != 1 {
		return &Fault{Message: "aql.Query needs one type argument", Invalid: true}
	}
	if out.Kind, out.Elem = Filter, out.Go.Args[0]; out.Elem.Kind != Struct {
		return &Fault{Message: "aql.Query needs a struct type", Suggestion: "use aql.Query[T] with a named struct T"}
	}
	return nil
}
