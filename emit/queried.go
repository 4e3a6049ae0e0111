package emit

import (
	"strings"

	"github.com/aqltag/aqltag/model"
)

// queriedFields returns the fields of the request of a function that is queried, in front of its arguments.
func (g *generator) queriedFields(h *model.Handler) []column {
	query := g.names.use(pathAQL, "aql") + ".Query[" + g.goType(h.Queried.Elem) + "]"
	fields := []column{{left: h.Queried.Field, right: query}}
	if h.Queried.Field == "Query" {
		fields[0] = column{left: query}
	}
	if h.Request.Text != "" {
		fields = append(fields, column{left: wrappedRequest, right: g.goType(h.Request)})
	}
	return fields
}

// queriedCall writes the call of a function that lists a whole collection, and returns the page that is asked for.
func (g *generator) queriedCall(p *printer, h *model.Handler, call string, names map[string]string) {
	if a := h.Adopted; len(a.Results) > 1 {
		targets, value, err := g.targets(a, names["result"], names["err"])
		p.line(strings.Join(targets, ", "), " := ", call)
		if err != "" {
			p.open("if ", err, " != nil {")
			p.line("return nil, ", err)
			p.shut("}")
		}
		call = value
	}
	if h.Queried.Plain {
		call = g.gen("Elements") + "(" + call + ")"
	}
	p.line("return ", names["arguments"], ".", h.Queried.Field, ".", h.Queried.Method, "(", names["ctx"], ", ", call, ")")
}
