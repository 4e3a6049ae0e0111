package emit

import (
	"strconv"
	"strings"

	"github.com/aqltag/aqltag/model"
	"github.com/aqltag/aqltag/runtime/gen"
)

// pathComputed is the package of the functions that generated code makes of those that compute fields.
const pathComputed = "github.com/aqltag/aqltag/runtime/computed"

// computedReceivers finds the receivers of the functions that compute fields.
func (g *generator) computedReceivers() {
	for i := range g.pkg.Types {
		for _, c := range g.pkg.Computed[g.pkg.Types[i].Name] {
			if c.Receiver != nil {
				g.receiver(c.Receiver)
			}
		}
	}
}

// computedFields returns the member of a type that declares its computed fields, a line for each.
func (g *generator) computedFields(t *gen.Type, indent int) members {
	by := g.pkg.Computed[t.Name]
	if len(t.Computed) == 0 || len(by) != len(t.Computed) {
		return nil
	}
	p := printer{indent: indent}
	p.open("[]", g.gen("Computed"), "{")
	for i := range by {
		m := members{"Field: " + g.gen("Field") + g.field(&t.Computed[i])}
		if by[i].Receiver != nil {
			m.add("Receivers", "[]int{"+strconv.Itoa(g.receiver(by[i].Receiver).index)+"}")
		}
		p.open("{", m.String(), ",")
		g.computation(&p, &by[i])
		p.indent--
	}
	p.shut("}")
	return members{"Computed: " + p.cut()}
}

// computation writes the member with the function that computes a field.
func (g *generator) computation(p *printer, c *model.Computed) {
	element, value := g.goType(c.Element), g.goType(c.Value)
	ctx, receivers, kind := "_", "_", "Method"
	name, returned := g.localName("element"), value
	var function string
	var arguments []string
	if c.Context {
		ctx = g.localName("ctx")
		arguments = append(arguments, ctx)
	}
	params := name + " *" + element
	switch {
	case !c.Page:
		function = name + "." + c.Func
	case c.Receiver != nil:
		r := g.receiver(c.Receiver)
		receivers = g.localName("receivers")
		function = receivers + "[" + strconv.Itoa(r.index) + "].(" + r.asserted() + ")." + c.Func
	default:
		function = c.Func
	}
	if c.Page {
		kind, name, returned = "Page", g.localName("elements"), "([]"+value+", error)"
		params = receivers + " []any, " + name + " []*" + element
		arguments = append(arguments, name)
	}
	p.open("Values: ", g.names.use(pathComputed, "computed"), ".", kind, "[", element, ", ", value, "](func(", ctx, " ",
		g.names.use(pathContext, "context"), ".Context, ", params, ") ", returned, " {")
	p.line("return ", function, "(", strings.Join(arguments, ", "), ")")
	p.shut("})},")
}
