package shapes

import (
	"go/constant"
	"go/types"
)

// enumOf lists the typed string constants of t that generated code can name, in declaration order, one for each value.
// They make t an enum, unless it is open.
func (m *Maker) enumOf(t types.Type) []EnumConst {
	var out []EnumConst
	seen := make(map[string]bool)
	for _, c := range m.Constants(t, m.own, constant.String) {
		if value := constant.StringVal(c.Val()); !seen[value] {
			seen[value] = true
			out = append(out, EnumConst{Name: c.Name(), Value: value})
		}
	}
	if len(out) > 0 && m.isOpen(t) {
		return nil
	}
	return out
}

// isOpen reports whether a string type of another module has values besides its constants: a function in its package
// makes a value of any string, as func NewBranchName(name string) ReferenceName does. A function that also returns an
// error is a parser.
func (m *Maker) isOpen(t types.Type) bool {
	named, ok := t.(*types.Named)
	if !ok || named.Obj().Pkg() == nil || m.Editable(named.Obj().Pkg()) {
		return false
	}
	scope := m.ScopeOf(named.Obj().Pkg())
	for _, name := range scope.Names() {
		fn, ok := scope.Lookup(name).(*types.Func)
		if !ok || !fn.Exported() {
			continue
		}
		signature := fn.Signature()
		if signature.Results().Len() != 1 || !types.Identical(signature.Results().At(0).Type(), t) {
			continue
		}
		for param := range signature.Params().Variables() {
			if types.Identical(param.Type(), types.Typ[types.String]) {
				return true
			}
		}
	}
	return false
}
