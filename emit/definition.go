package emit

import (
	"reflect"
	"strings"

	"github.com/aqltag/aqltag/model"
)

// registry writes NewRegistry.
func (g *generator) registry() []byte {
	var p printer
	aql := g.names.use(pathAQL, "aql")
	var params, names []string
	for _, r := range g.receivers {
		params = append(params, r.param+" "+r.star()+r.typeName)
		names = append(names, r.param)
	}
	by := ""
	if len(names) > 0 {
		by = ", carried out by " + enumerate(names)
	}
	p.comment("NewRegistry returns the operations of package " + g.pkg.Name + by + ".")
	p.open("func NewRegistry(", strings.Join(params, ", "), ") *", aql, ".Registry {")
	p.open("return ", aql, ".NewRegistry([]", aql, ".Operation{")
	for _, c := range g.calls {
		literal := "return &" + c.typeName + "{}"
		if c.receiver != nil {
			literal = "return &" + c.typeName + "{" + c.receiver.param + ": " + c.receiver.param + "}"
		}
		newCall := g.functionLiteral(aql, literal, p.indent+1)
		p.open("{")
		p.columns([]column{{"Definition:", c.definition + "()"}, {"NewCall:", newCall}}, ",")
		p.shut("},")
	}
	p.shut("}, ", g.typesName(), ")")
	p.shut("}")
	return p.text
}

// functionLiteral is a function of one statement, on one line where gofmt would leave it there.
func (g *generator) functionLiteral(aql, statement string, indent int) string {
	const widest = 100
	head := "func() " + aql + ".Call"
	if len(head)+len(statement) <= widest {
		return head + " { " + statement + " }"
	}
	p := printer{indent: indent}
	p.open(head, " {")
	p.line(statement)
	p.shut("}")
	return p.cut()
}

func (g *generator) typesName() string {
	if len(g.pkg.Types) == 0 {
		return "nil"
	}
	return g.wireTypes + "()"
}

func enumerate(names []string) string {
	if len(names) == 1 {
		return names[0]
	}
	return strings.Join(names[:len(names)-1], ", ") + " and " + names[len(names)-1]
}

// definition writes the function that returns an operation's definition. It is a function rather than a variable, so that
// nothing is built before it is asked for.
func (g *generator) definition(p *printer, c *call) {
	g.at = c.handler.Func
	p.open("func ", c.definition, "() ", g.names.use(pathModel, "model"), ".Operation {")
	p.line("return ", g.modelLiteral(reflect.ValueOf(c.handler.Operation), p.indent, true))
	p.shut("}")
	p.line()
	g.at = ""
}

// types writes the function that returns the types the operations mention.
func (g *generator) types() []byte {
	if len(g.pkg.Types) == 0 {
		return nil
	}
	var p printer
	name := g.names.use(pathModel, "model")
	p.open("func ", g.wireTypes, "() []", name, ".Type {")
	p.open("return []", name, ".Type{")
	for i := range g.pkg.Types {
		p.line(g.typeLiteral(&g.pkg.Types[i], p.indent), ",")
	}
	p.shut("}")
	p.shut("}")
	return p.text
}

// typeLiteral is the literal of a wire type. The values of an enum are mentioned as the constants they come from.
func (g *generator) typeLiteral(t *model.Type, indent int) string {
	sh := g.enumTypes[t.Name]
	if sh == nil || len(t.Values) == 0 {
		return g.modelLiteral(reflect.ValueOf(*t), indent, false)
	}
	bare := *t
	bare.Values, bare.Fields, bare.Members = nil, nil, nil
	rows := []column{
		{"Name:", quote(bare.Name)},
		{"Kind:", g.modelLiteral(reflect.ValueOf(bare.Kind), indent, true)},
	}
	if bare.Description != "" {
		rows = append(rows, column{"Description:", quote(bare.Description)})
	}
	p := printer{indent: indent + 1}
	p.open("[]", g.names.use(pathModel, "model"), ".EnumValue{")
	for _, value := range t.Values {
		fields := []column{{"Value:", quote(value.Value)}}
		if constant, ok := g.enumConstant(sh, value.Value); ok {
			fields[0].right = "string(" + constant + ")"
		}
		if value.Description != "" {
			fields = append(fields, column{"Description:", quote(value.Description)})
		}
		p.line(inline("", fields, p.indent), ",")
	}
	p.shut("}")
	rows = append(rows, column{"Values:", p.cut()})
	out := printer{indent: indent}
	out.open("{")
	out.columns(rows, ",")
	out.shut("}")
	return out.cut()
}
