package shapes

import (
	"fmt"
	"go/ast"
	"go/constant"
	"go/types"
	"strings"
)

// messageEnum makes the shape of an enum in a message, whose values travel by the names that they have in the .proto
// file. The generated code keeps those in a map: var Color_value = map[string]int32{"RED": 0}.
func (m *Maker) messageEnum(named *types.Named) (*Shape, *Fault) {
	object := named.Obj()
	if known := m.enums[object]; known != nil {
		return known, nil
	}
	fault := &Fault{
		Message:    fmt.Sprintf("the names of the values of %s are not known", m.text(named)),
		Suggestion: "generate its package with protoc-gen-go",
	}
	if strings.HasPrefix(object.Pkg().Path(), wellKnownPath) { // NullValue, which travels as null
		return nil, &Fault{
			Message: fmt.Sprintf("%s cannot be carried", m.text(named)), Suggestion: "hide the field with //aql:hide",
		}
	}
	variable, ok := m.ScopeOf(object.Pkg()).Lookup(object.Name() + "_value").(*types.Var)
	if !ok {
		return nil, fault
	}
	literal, ok := m.Value(variable).(*ast.CompositeLit)
	if !ok || len(literal.Elts) == 0 {
		return nil, fault
	}
	shape := &Shape{
		Kind: String, Type: named, Message: true,
		Go: GoName{PkgPath: object.Pkg().Path(), PkgName: object.Pkg().Name(), Name: object.Name()},
	}
	constants := m.Constants(named, m.own, constant.Int)
	for _, element := range literal.Elts {
		pair, ok := element.(*ast.KeyValueExpr)
		if !ok {
			return nil, fault
		}
		name, ok := stringLiteral(pair.Key)
		if !ok {
			return nil, fault
		}
		value := EnumConst{Name: object.Name() + "_" + name, Value: name}
		for _, c := range constants {
			if strings.HasSuffix(c.Name(), "_"+name) && (value.Const == nil || len(c.Name()) < len(value.Const.Name())) {
				value.Const = c
			}
		}
		shape.Enum = append(shape.Enum, value)
	}
	m.enums[object] = shape
	return shape, nil
}
