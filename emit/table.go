package emit

import (
	"strconv"
	"strings"
	"time"
	"unicode"

	"github.com/aqltag/aqltag/model"
	"github.com/aqltag/aqltag/runtime/gen"
	"github.com/aqltag/aqltag/runtime/gen/table"
)

// constants are the values of package model's string types that have a name there.
var constants = map[any]string{
	gen.Create: "Create", gen.Read: "Read", gen.Update: "Update", gen.Delete: "Delete", gen.Execute: "Execute",
	gen.Safe: "Safe", gen.Reversible: "Reversible", gen.Destructive: "Destructive", gen.Dangerous: "Dangerous",
	gen.Forbidden: "Forbidden", gen.DangerFromTag: "DangerFromTag", gen.DangerFromPattern: "DangerFromPattern",
	gen.DangerFromCategory: "DangerFromCategory", gen.KindEnum: "KindEnum", gen.KindObject: "KindObject",
	gen.KindScalar: "KindScalar", gen.KindUnion: "KindUnion",
}

// constant is a value of one of package model's string types.
func (g *generator) constant(value any, text string) string {
	if name, ok := constants[value]; ok {
		return g.names.use(pathGen, "gen") + "." + name
	}
	if text == "" {
		return ""
	}
	return quote(text)
}

// definition writes the table of one operation: only what is set, a line each.
func (g *generator) definition(p *printer, c *call) {
	o := &c.handler.Operation
	aql := g.names.use(pathAQL, "aql")
	var rows []column
	add := func(name, value string) {
		if value != "" {
			rows = append(rows, column{name + ":", value})
		}
	}
	text := func(name, value string) {
		if value != "" {
			add(name, quote(value))
		}
	}
	text("Name", o.Name)
	add("Category", g.constant(o.Category, string(o.Category)))
	text("Family", o.Family)
	text("Description", o.Description)
	add("Danger", g.constant(o.Danger, string(o.Danger)))
	if o.DangerSource != gen.DangerFromCategory {
		add("DangerSource", g.constant(o.DangerSource, string(o.DangerSource)))
	}
	if len(o.Reasons) > 0 {
		add("Reasons", stringsLiteral(o.Reasons))
	}
	text("Confirm", o.Confirm)
	params := make([]string, len(o.Params))
	for i := range o.Params {
		params[i] = g.row(&o.Params[i])
	}
	add("Params", g.rowsLiteral(params, 1))
	text("Returns", o.Returns.Name)
	examples := make([]string, len(o.Examples))
	for i, example := range o.Examples {
		examples[i] = rowLiteral(quote(example.Params), example.Description)
	}
	add("Examples", g.rowsLiteral(examples, 1))
	add("Timeout", g.duration(o.Timeout))
	text("Deprecated", o.Deprecated)
	text("Replacement", o.Replacement)
	text("Source", o.Source)
	handler, types := g.handler(c, 1)
	add("Types", types)
	if !c.generic() {
		add("Handler", handler)
	}

	p.line()
	p.open("var ", c.definition, " = ", aql, ".Definition{")
	p.columns(rows, ",")
	p.shut("}")
}

// types writes the table of the types the operations mention.
func (g *generator) types(p *printer) {
	if len(g.pkg.Types) == 0 {
		return
	}
	p.open("var ", g.wireTypes, " = []", g.names.use(pathAQL, "aql"), ".Type{")
	for i := range g.pkg.Types {
		g.typeLiteral(p, &g.pkg.Types[i])
	}
	p.shut("}")
}

// typeLiteral writes one type: its name, kind and description on the first line, its rows below. The values of an enum are
// mentioned as the constants they come from, so that the build breaks when one is removed.
func (g *generator) typeLiteral(p *printer, t *gen.Type) {
	head := "Name: " + quote(t.Name) + ", Kind: " + g.constant(t.Kind, string(t.Kind))
	if t.Description != "" {
		head += ", Description: " + quote(t.Description)
	}
	if t.Changes != "" {
		p.line("{", head, ", Changes: ", quote(t.Changes), "},")
		return
	}
	if t.Items != nil {
		head += ", Items: " + g.names.use(pathAQL, "aql") + ".Row" + g.row(t.Items)
	}
	if len(t.Members) > 0 {
		head += ", Members: " + stringsLiteral(t.Members)
	}
	var key string
	var rows []string
	switch {
	case len(t.Values) > 0:
		key = "Values"
		for _, value := range t.Values {
			text := quote(value.Value)
			if constant, ok := g.pkg.Constants[model.EnumConstant{Type: t.Name, Value: value.Value}]; ok {
				text = "string(" + g.goType(constant) + ")"
			}
			rows = append(rows, rowLiteral(text, value.Description))
		}
	case len(t.Fields) > 0:
		key = "Fields"
		for i := range t.Fields {
			rows = append(rows, g.row(&t.Fields[i]))
		}
	default:
		p.line("{", head, "},")
		return
	}
	p.open("{", head, ", ", key, ": []", g.names.use(pathAQL, "aql"), ".Row{")
	for _, row := range rows {
		p.line(row, ",")
	}
	p.shut("}},")
}

// row is the literal of a parameter or field.
func (g *generator) row(param *gen.Param) string {
	row := table.Print(param, g.enumValues)
	return rowLiteral(quote(row[0]), row[1])
}

func rowLiteral(text, description string) string {
	if description == "" {
		return "{" + text + "}"
	}
	return "{" + text + ", " + quote(description) + "}"
}

// rowsLiteral is the literal of a list of rows, whose lines after the first are indented; empty without rows.
func (g *generator) rowsLiteral(rows []string, indent int) string {
	if len(rows) == 0 {
		return ""
	}
	p := printer{indent: indent}
	p.open("[]", g.names.use(pathAQL, "aql"), ".Row{")
	for _, row := range rows {
		p.line(row, ",")
	}
	p.shut("}")
	return p.cut()
}

// enumValues lists the values of a wire type that is an enum.
func (g *generator) enumValues(name string) []string { return g.enums[name] }

// collectEnums notes the values of the wire types that are enums.
func (g *generator) collectEnums() {
	g.enums = make(map[string][]string)
	for i := range g.pkg.Types {
		for _, value := range g.pkg.Types[i].Values {
			g.enums[g.pkg.Types[i].Name] = append(g.enums[g.pkg.Types[i].Name], value.Value)
		}
	}
}

// quote is the Go literal of a string: between backquotes where that spares escapes.
func quote(s string) string {
	plain := !strings.ContainsFunc(s, func(r rune) bool {
		return r == '`' || r == unicode.ReplacementChar || !unicode.IsPrint(r)
	})
	if plain && strings.ContainsAny(s, "\"\\") {
		return "`" + s + "`"
	}
	return strconv.Quote(s)
}

func stringsLiteral(list []string) string {
	quoted := make([]string, len(list))
	for i, s := range list {
		quoted[i] = quote(s)
	}
	return "[]string{" + strings.Join(quoted, ", ") + "}"
}

// duration is the Go expression of a duration, empty for zero.
func (g *generator) duration(d time.Duration) string {
	units := []struct {
		unit time.Duration
		name string
	}{{time.Hour, "Hour"}, {time.Minute, "Minute"}, {time.Second, "Second"}, {time.Millisecond, "Millisecond"}, {1, "Nanosecond"}}
	for _, u := range units {
		if d%u.unit == 0 && d != 0 {
			return strconv.FormatInt(int64(d/u.unit), 10) + " * " + g.names.use(pathTime, "time") + "." + u.name
		}
	}
	return ""
}
