package shapes

import (
	"go/ast"
	"go/token"
	"go/types"
	"regexp"
	"strconv"

	"github.com/aqltag/aqltag/internal/scan/gotype"
	"github.com/aqltag/aqltag/runtime/gen"
)

// ownForm returns what is known of the JSON of a type that writes and reads itself; nil: nothing. It is known of the
// types of some libraries, of those that write themselves by the methods of a time.Time that they embed, and of those
// whose own schema is written down as a literal. A type that embeds a time.Time and has methods of its own may write
// anything, such as a date or the seconds since 1970.
func (m *Maker) ownForm(t types.Type) *gen.Param {
	named, ok := t.(*types.Named)
	if !ok || named.Obj().Pkg() == nil {
		return nil
	}
	if known, ok := knownForm(named.Obj().Pkg().Path(), named.Obj().Name()); ok {
		return &known
	}
	if writesAsTime(t) {
		return &gen.Param{Type: "string", Format: "date-time"}
	}
	return m.literalForm(t)
}

// writesAsTime reports whether the method that writes the JSON of t is that of a time.Time which t embeds.
func writesAsTime(t types.Type) bool {
	object, _, _ := types.LookupFieldOrMethod(types.NewPointer(t), false, nil, "MarshalJSON")
	method, ok := object.(*types.Func)
	if !ok || method.Signature().Recv() == nil {
		return false
	}
	return gotype.Is(gotype.Pointee(method.Signature().Recv().Type()), "time", "Time")
}

// literalForm reads the schema that a type brings in a method whose body returns a literal: the JSONSchema of
// invopop/jsonschema, or the OpenAPISchemaType and OpenAPISchemaFormat of Kubernetes. Other bodies are code, which
// nothing runs here.
func (m *Maker) literalForm(t types.Type) *gen.Param {
	form := gen.Param{}
	for _, expr := range []ast.Expr{m.returned(t, "JSONSchema"), m.returned(t, "OpenAPISchemaType")} {
		if pointer, ok := expr.(*ast.UnaryExpr); ok && pointer.Op == token.AND {
			expr = pointer.X
		}
		literal, ok := expr.(*ast.CompositeLit)
		if !ok {
			continue
		}
		for _, element := range literal.Elts {
			value, key := element, "Type"
			if pair, ok := element.(*ast.KeyValueExpr); ok {
				name, ok := pair.Key.(*ast.Ident)
				if !ok {
					return nil
				}
				value, key = pair.Value, name.Name
			} else if len(literal.Elts) != 1 { // several types
				return nil
			}
			text, isText := stringLiteral(value)
			switch {
			case key == "Type" && isText:
				form.Type = text
			case key == "Format" && isText:
				form.Format = text
			case key == "Pattern" && isText:
				form.Pattern = text
			case key == "Description" && isText:
				form.Description = text
			case key == "Title", key == "Examples", key == "Default", key == "Version", key == "ID":
			default: // it restricts the values by more than can be told here
				return nil
			}
		}
		break
	}
	if text, ok := stringLiteral(m.returned(t, "OpenAPISchemaFormat")); ok && form.Format == "" {
		form.Format = text
	}
	if _, err := regexp.Compile(form.Pattern); err != nil {
		return nil
	}
	switch form.Type {
	case "string", "integer", "number", "boolean", "array", "object":
		return &form
	default:
		return nil
	}
}

// returned is what a method of a type returns, where its body is one return statement; nil: it is not.
func (m *Maker) returned(t types.Type, method string) ast.Expr {
	object, _, _ := types.LookupFieldOrMethod(types.NewPointer(t), false, nil, method)
	fn, ok := object.(*types.Func)
	if !ok || fn.Signature().Params().Len() != 0 || fn.Signature().Results().Len() != 1 {
		return nil
	}
	body := m.Body(fn)
	if body == nil || len(body.List) != 1 {
		return nil
	}
	statement, ok := body.List[0].(*ast.ReturnStmt)
	if !ok || len(statement.Results) != 1 {
		return nil
	}
	return statement.Results[0]
}

func stringLiteral(expr ast.Expr) (string, bool) {
	literal, ok := expr.(*ast.BasicLit)
	if !ok || literal.Kind != token.STRING {
		return "", false
	}
	text, err := strconv.Unquote(literal.Value)
	return text, err == nil
}
