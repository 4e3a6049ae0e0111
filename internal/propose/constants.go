package propose

import (
	"go/ast"
	"go/constant"
	"go/token"
	"go/types"
	"strconv"
)

// assignedOnce returns what each name that a function declares is assigned, nil for a name that may have another value
// at some place: one that is declared or assigned twice, whose address is taken, or that the package declares too.
func (f *frame) assignedOnce() map[string]ast.Expr {
	once := make(map[string]ast.Expr)
	note := func(e ast.Node, value ast.Expr) {
		if name, ok := e.(*ast.Ident); ok {
			if _, again := once[name.Name]; again || f.pkg.Scope().Lookup(name.Name) != nil || f.imports["."] != "" {
				value = nil
			}
			once[name.Name] = value
		}
	}
	ast.Inspect(f.decl, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.Field: // receiver, parameters and results, also those of function literals
			for _, name := range n.Names {
				note(name, nil)
			}
		case *ast.AssignStmt:
			for i, left := range n.Lhs {
				if len(n.Lhs) == len(n.Rhs) && n.Tok == token.DEFINE {
					note(ast.Unparen(left), n.Rhs[i])
				} else {
					note(ast.Unparen(left), nil)
				}
			}
		case *ast.ValueSpec:
			for i, name := range n.Names {
				if len(n.Names) == len(n.Values) {
					note(name, n.Values[i])
				} else {
					note(name, nil)
				}
			}
		case *ast.RangeStmt:
			for _, e := range []ast.Expr{n.Key, n.Value} {
				if e != nil {
					note(ast.Unparen(e), nil)
				}
			}
		case *ast.UnaryExpr:
			if n.Op == token.AND {
				note(ast.Unparen(n.X), nil)
			}
		case *ast.SelectorExpr: // a method may have a pointer receiver
			note(ast.Unparen(n.X), nil)
		}
		return true
	})
	return once
}

// text is the constant text that an expression begins with, and whether that is all of it.
func (f *frame) text(e ast.Expr) (text string, whole bool) {
	switch e := ast.Unparen(e).(type) {
	case *ast.BasicLit:
		if e.Kind == token.STRING {
			text, err := strconv.Unquote(e.Value)
			return text, err == nil
		}
	case *ast.BinaryExpr:
		left, whole := f.text(e.X)
		if !whole || e.Op != token.ADD {
			return left, false
		}
		right, whole := f.text(e.Y)
		return left + right, whole
	case *ast.Ident:
		value, local := f.once[e.Name]
		switch {
		case value != nil && value.End() < e.Pos():
			return f.text(value)
		case local:
			return "", false
		}
		if c, ok := f.pkg.Scope().Lookup(e.Name).(*types.Const); ok && c.Val().Kind() == constant.String {
			return constant.StringVal(c.Val()), true
		}
	}
	return "", false
}
